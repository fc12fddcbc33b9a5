//! The oldest and the newest version of a tool that a package registry serves, where the example itself has another.
//!
//! In: small changes. Out: versions and verdicts. I/O: real tools.

use polymut_schemas::Status;

use super::machine::Live;
use super::pnpm::{FILES, HERE, done};
use super::repo::{Repo, is_complete, projects, words};

/// Folder and version; the folder is a project's in `polymut.toml`.
const OLDEST: &[(&str, &str)] =
    &[("services/ledger", "1.22.1"), ("tools/manifest", "3.7.0"), ("tools/labels", "8.4.6")];

#[test]
fn the_oldest_versions_that_polymut_drives_are_installed_and_give_the_same_answers() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    let repo = Repo::new();
    for (folder, version) in OLDEST {
        let tool = match *folder {
            "tools/manifest" => "tool = \"mutmut\"\n",
            "tools/labels" => "tool = \"cosmic-ray\"\n",
            _ => "",
        };
        let entry = format!("path = \"{folder}\"\nversion = \"{version}\"\n");
        let old = format!("path = \"{folder}\"\n{tool}");
        let known = fs_err::read_to_string(repo.root.join("polymut.toml")).unwrap();
        let new = if known.contains(&old) {
            known.replace(&old, &format!("{entry}{tool}"))
        } else {
            format!("{known}\n[[project]]\n{entry}")
        };
        fs_err::write(repo.root.join("polymut.toml"), new).unwrap();
    }
    // mutmut 3.7.0 reads a field of pytest's that 9.2.0 no longer has.
    repo.replace("tools/manifest/requirements-dev.txt", ("pytest==9.2.0", "pytest==8.4.2"));
    repo.commit("versions");
    let mut here = projects(&live);
    here.retain(|edits| OLDEST.iter().any(|(folder, _)| *folder == edits.folder));
    for edits in &here {
        repo.replace(edits.source, edits.clean);
    }
    let list = words(&here);
    let all: Vec<&str> = list.iter().map(String::as_str).chain(["--base=versions"]).collect();
    let ran = repo.run(&all);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.story());
    for edits in here {
        let run = ran.of(edits.folder);
        let wanted = OLDEST.iter().find(|(folder, _)| *folder == edits.folder).map(|(_, version)| *version);
        assert_eq!(run.tool_version.as_deref(), wanted, "{}", ran.story());
        assert!(is_complete(&run.state) && ran.count(edits.folder, Status::Killed) >= 2, "{}", ran.story());
    }
}

/// `StrykerJS` 10 wants a Node that many machines do not have: the project brings its own.
#[test]
fn the_newest_stryker_js_runs_on_the_node_that_its_project_brings() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    if !live.has_toolchain("stryker-js") {
        return;
    }
    let newest = |text: &str| {
        let text = text.replace("9.6.1", "10.1.1").replace("\"workspace:*\"", "\"*\"");
        text.replace("\"devDependencies\": {", "\"devDependencies\": {\n    \"node\": \"24\",")
    };
    let mut files: Vec<(&str, String)> = FILES.iter().map(|(path, text)| (*path, newest(text))).collect();
    for (path, text) in &mut files {
        if *path == "package.json" {
            "{\"name\": \"ferry\", \"private\": true, \"workspaces\": [\"packages/*\"]}\n".clone_into(text);
        }
    }
    files.retain(|(path, _)| *path != "pnpm-workspace.yaml");
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let repo = Repo::of(&files);
    let npm = which::which("npm").unwrap();
    done(
        std::process::Command::new(npm).args(["install", "--no-audit", "--no-fund"]).current_dir(&repo.root),
    );
    repo.commit("installed");
    repo.replace("packages/hours/src/hours.ts", ("minutes(time) >= 480;", "minutes(time) >= 8 * 60;"));
    let ran = repo.run(&["--base=installed"]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.stderr, ran.story());
    assert_eq!(ran.of(HERE).tool_version.as_deref(), Some("10.1.1"), "{}", ran.story());
    assert!(is_complete(&ran.of(HERE).state), "{}", ran.story());
    assert_eq!(ran.count(HERE, Status::Survived), 1, "{}", ran.story());
}
