//! `StrykerJS` in a workspace of pnpm, whose packages see nothing but links.
//!
//! In: a small workspace. Out: the mutants of the changed line. I/O: npm, pnpm, `StrykerJS`.

use std::path::Path;
use std::process::{Command, Stdio};

use polymut_schemas::Status;

use super::machine::Live;
use super::repo::Repo;

/// A workspace of two packages, one of which asks for the other.
pub(crate) const FILES: &[(&str, &str)] = &[
    (".gitignore", "node_modules/\nreports/\n"),
    ("package.json", "{\"name\": \"ferry\", \"private\": true}\n"),
    ("pnpm-workspace.yaml", "packages:\n  - packages/*\nonlyBuiltDependencies:\n  - esbuild\n"),
    (
        "packages/hours/package.json",
        r#"{
  "name": "@ferry/hours", "version": "1.0.0", "private": true, "type": "module", "main": "src/hours.ts",
  "dependencies": {"@ferry/clock": "workspace:*"},
  "devDependencies": {
    "@stryker-mutator/core": "9.6.1", "@stryker-mutator/vitest-runner": "9.6.1", "vitest": "3.2.7"
  }
}
"#,
    ),
    (
        "packages/hours/stryker.config.json",
        r#"{"testRunner": "vitest", "plugins": ["@stryker-mutator/vitest-runner"], "coverageAnalysis": "perTest"}
"#,
    ),
    ("packages/hours/vitest.config.ts", "export default {};\n"),
    (
        "packages/hours/src/hours.ts",
        "import { minutes } from '@ferry/clock';\n\nexport function isOpen(time: string): boolean {\n  return minutes(time) >= 480;\n}\n",
    ),
    (
        "packages/hours/test/hours.test.ts",
        "import { expect, it } from 'vitest';\nimport { isOpen } from '../src/hours';\n\nit('opens in the morning', () => {\n  expect(isOpen('07:00')).toBe(false);\n  expect(isOpen('09:30')).toBe(true);\n});\n",
    ),
    (
        "packages/clock/package.json",
        "{\"name\": \"@ferry/clock\", \"version\": \"1.0.0\", \"private\": true, \"type\": \"module\", \"main\": \"src/clock.ts\"}\n",
    ),
    (
        "packages/clock/src/clock.ts",
        "export function minutes(time: string): number {\n  const [hour, minute] = time.split(':');\n  return Number(hour) * 60 + Number(minute);\n}\n",
    ),
];

/// The package with code under test.
pub(crate) const HERE: &str = "packages/hours";

/// Runs a command that must succeed.
pub(crate) fn done(command: &mut Command) {
    let out = command.stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}\n{words}");
}

/// Puts pnpm beside the repository and installs the workspace with it, as its developer does.
fn install(root: &Path) {
    let prefix = root.with_file_name("pnpm");
    let npm = which::which("npm").unwrap();
    done(
        Command::new(npm)
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(&prefix)
            .arg("pnpm@10"),
    );
    let pnpm = prefix.join("node_modules/.bin/pnpm");
    done(Command::new(pnpm).args(["install", "--no-frozen-lockfile"]).current_dir(root));
}

#[test]
fn a_package_of_a_pnpm_workspace_gets_the_mutants_of_its_changed_line() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    if !live.has_toolchain("stryker-js") {
        return;
    }
    let repo = Repo::of(FILES);
    install(&repo.root);
    repo.commit("installed");
    repo.replace(
        "packages/hours/src/hours.ts",
        ("return minutes(time) >= 480;", "return minutes(time) >= 8 * 60;"),
    );
    let ran = repo.run(&["--base=installed"]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.stderr, ran.story());
    assert_eq!(ran.of(HERE).tool.as_str(), "stryker-js");
    // `>` is the survivor: nobody asks at eight o'clock sharp. `<`, `8 / 60`, `true`, `false` and the emptied body die.
    assert_eq!(ran.count(HERE, Status::Survived), 1, "{}", ran.story());
    let judged: usize = [Status::Killed, Status::Survived].map(|status| ran.count(HERE, status)).iter().sum();
    let in_scope = ran.report.mutants.iter().filter(|mutant| mutant.in_scope).count();
    assert!(judged == in_scope && in_scope >= 5, "{}", ran.story());
}
