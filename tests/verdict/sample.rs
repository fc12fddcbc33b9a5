//! A rich report by hand: several tools, every status, hostile names and words.
//!
//! In: nothing. Out: a judged report and its sources. I/O: none.

use std::collections::BTreeMap;

use polymut::config::Waivers;
use polymut::sources::Sources;
use polymut_schemas::*;

use crate::build::*;

pub(crate) const RUST: &str = "cargo-mutants:services/pricing";
pub(crate) const WEB: &str = "stryker-js:web";
pub(crate) const JAVA: &str = "pit:billing";
pub(crate) const GO: &str = "gremlins:carriers";
pub(crate) const PY: &str = "mutmut:tools/manifest";

pub(crate) const PRICE: &str = "services/pricing/src/discount.rs";
pub(crate) const PAGE: &str = "web/app/(auth)/[id].tsx";
pub(crate) const TAX: &str = "billing/src/main/java/Tax.java";
pub(crate) const RETRY: &str = "carriers/retry.go";

const PRICE_TEXT: &str = "//! Discounts by quantity.

/// The price of `quantity` pieces in cents.
pub fn total(quantity: u32, unit: u64) -> u64 {
    let full = u64::from(quantity) * unit;
    if quantity >= 10 {
        return full - full / 10;
    }
    full
}

/// Whether an order ships today.
pub fn ships_today(hour: u32, stock: u32) -> bool {
    hour < 16 && stock > 0
}
";

const PAGE_TEXT: &str = "export function Greeting({ name }: { name: string }) {
  const safe = name.trim() || \"<script>alert(1)</script>\";
  return safe.length > 20 ? safe.slice(0, 20) + \"…\" : safe;
}
";

/// The sources of the files that have code.
pub(crate) fn sources() -> Sources {
    let mut sources = Sources::default();
    sources.insert(path(PRICE), PRICE_TEXT.as_bytes().to_vec());
    sources.insert(path(PAGE), PAGE_TEXT.as_bytes().to_vec());
    sources
}

/// The judged report.
pub(crate) fn sample() -> Report {
    report(&case())
}

/// What the sample is judged from.
pub(crate) fn case() -> Case {
    let mut mutants = [rust(), web(), java(), go()].concat();
    mutants.sort_by(|a, b| (&a.file, a.span, &a.tool, &a.id).cmp(&(&b.file, b.span, &b.tool, &b.id)));
    let waived =
        mutants.iter().find(|mutant| mutant.key == "waived").map(|mutant| mutant.id.clone()).unwrap();
    let stale = mutants.iter().find(|mutant| mutant.key == "stale").map(|mutant| mutant.id.clone()).unwrap();
    Case {
        mutants,
        runs: vec![rust_run(), web_run(), java_run(), go_run(), python_run()],
        scope: changes(),
        config: polymut::config::Config::default(),
        waivers: Waivers::new([waiver(&waived, Some("2026-12-31")), waiver(&stale, None)]),
    }
}

/// Replaces line, columns, texts and diff of a mutant by those of a real edit of its source.
fn edit(mut mutant: Mutant, text: &str, line: u32, old: &str, new: &str) -> Mutant {
    let before = text.lines().nth(line as usize - 1).unwrap();
    let from = u32::try_from(before[..before.find(old).unwrap()].chars().count()).unwrap() + 1;
    let to = from + u32::try_from(old.chars().count()).unwrap();
    let at = |column| Position { line, column: Some(column) };
    let file = mutant.file.clone().unwrap();
    let after = before.replacen(old, new, 1);
    mutant.span = Some(Span { start: at(from), end: Some(at(to)) });
    mutant.diff = Some(format!("--- a/{file}\n+++ b/{file}\n@@ -{line} +{line} @@\n-{before}\n+{after}\n"));
    mutant.original = Some(old.to_owned());
    mutant.replacement = Some(new.to_owned());
    mutant.operator.name = format!("replace {old} with {new}");
    mutant.id = MutantId::of(&[mutant.project.as_str(), file.as_str(), &line.to_string(), old, new]);
    mutant
}

fn rust() -> Vec<Mutant> {
    let one = |line, status, old, new| edit(mutant(RUST, PRICE, line, status), PRICE_TEXT, line, old, new);
    let owners = vec!["@pricing".to_owned()];
    let survivor = Mutant {
        function: Some("total".to_owned()),
        confirmed: Some(Confirmation { replays: 3, agreed: 3, with: "the shown diff".to_owned() }),
        covered_by: vec!["discount::ten_pieces_cost_less".to_owned()],
        owners: owners.clone(),
        ..one(6, Status::Survived, ">=", ">")
    };
    let body = Mutant { owners: owners.clone(), ..one(7, Status::Survived, "full / 10", "full % 10") };
    let waived = Mutant { key: "waived".to_owned(), owners, ..one(14, Status::Survived, "<", "<=") };
    let slow = Mutant { duration: Some(12.5), ..one(5, Status::Timeout, "*", "+") };
    vec![
        survivor,
        body,
        waived,
        slow,
        one(5, Status::Killed, "*", "/"),
        Mutant { key: "stale".to_owned(), ..one(14, Status::Killed, "&&", "||") },
        one(9, Status::Unviable, "full", "Default::default()"),
    ]
}

fn web() -> Vec<Mutant> {
    let one = |line, status, old, new| edit(mutant(WEB, PAGE, line, status), PAGE_TEXT, line, old, new);
    let script = Mutant {
        description: Some("<img src=x onerror=alert(1)> & \"quotes\" 'too'".to_owned()),
        ..one(2, Status::NoCoverage, "\"<script>alert(1)</script>\"", "\"\"")
    };
    let escape = Mutant {
        detail: Some("\u{1b}[31mExpected\u{1b}[0m 3 \u{202e}desrever\u{7}".to_owned()),
        ..one(3, Status::Errored, ">", ">=")
    };
    let old = Mutant { origin: Origin::PreExisting, ..one(3, Status::Survived, "\"…\"", "\"\"") };
    let outside = Mutant { in_scope: false, ..one(4, Status::Survived, "}", "{}") };
    let ignored = Mutant {
        detail: Some("Stryker disable next-line".to_owned()),
        ..one(1, Status::Ignored, "{ name }", "{}")
    };
    vec![script, escape, old, outside, ignored, one(3, Status::Killed, "20", "21")]
}

fn java() -> Vec<Mutant> {
    let lost = Mutant {
        tool_file: Some("Tax.java".to_owned()),
        file: None,
        diff: None,
        ..mutant(JAVA, TAX, 7, Status::NotRun)
    };
    vec![
        mutant(JAVA, TAX, 3, Status::Killed),
        Mutant {
            span: Some(Span::line(5)),
            original: None,
            replacement: None,
            ..mutant(JAVA, TAX, 5, Status::NotRun)
        },
        lost,
    ]
}

fn go() -> Vec<Mutant> {
    vec![
        mutant(GO, RETRY, 4, Status::Flaky),
        mutant(GO, RETRY, 5, Status::OutOfMemory),
        mutant(GO, RETRY, 6, Status::Killed),
    ]
}

fn rust_run() -> ToolRun {
    let held = |held, by: &str| Reached { held, by: by.to_owned() };
    ToolRun {
        tool_version: Some("27.1.0".to_owned()),
        containment: Some(ContainmentReached {
            level: IsolationLevel::Sealed,
            guarantees: BTreeMap::from([
                (Guarantee::Memory, held(true, "watchdog")),
                (Guarantee::Network, held(true, "network namespace")),
                (Guarantee::Files, held(true, "overlay")),
                (Guarantee::Tree, held(true, "PID namespace")),
            ]),
        }),
        commands: vec![
            command(StageName::List, "list", "cargo mutants --list --json --file src/discount.rs"),
            command(
                StageName::Test,
                "test",
                "cargo mutants --in-place --baseline=skip --timeout 20 --re '<= & \"x\"'",
            ),
        ],
        stages: vec![
            stage(StageName::List, 11, 11, &[("outside the scope", 4)]),
            stage(StageName::Test, 7, 8, &[("not chosen", 1)]),
        ],
        timing: Timing {
            wall: 83.25,
            stages: BTreeMap::from([(StageName::Test, 60.5)]),
            peak_memory: Some(734_003_200),
        },
        environment: Environment {
            versions: BTreeMap::from([("rustc".to_owned(), "1.95.0".to_owned())]),
            lockfiles: BTreeMap::from([(path("services/pricing/Cargo.lock"), "0".repeat(64))]),
        },
        notes: vec!["the tests of two packages were run for each mutant".to_owned()],
        ..run(RUST, &[PRICE])
    }
}

fn web_run() -> ToolRun {
    ToolRun { tool_version: Some("9.6.1".to_owned()), ..run(WEB, &[PAGE]) }
}

fn java_run() -> ToolRun {
    let quote = Quote { text: "the budget of 20m is over".to_owned(), at: "test".to_owned() };
    ToolRun {
        tool_version: Some("1.20.0".to_owned()),
        state: RunState::Partial { quote, cause: Cause::Budget },
        ..run(JAVA, &[TAX])
    }
}

fn go_run() -> ToolRun {
    run(GO, &[RETRY])
}

fn python_run() -> ToolRun {
    let quote = Quote {
        text: "E   ModuleNotFoundError: No module named 'yaml'\n<b>2 failed</b>".to_owned(),
        at: "stdout of baseline".to_owned(),
    };
    let red = BaselineRun { state: BaselineState::Red, duration: Some(0.8), runs: 2, still_green: None };
    ToolRun {
        state: RunState::RedBaseline { quote, cause: Cause::Base },
        baseline: Some(red),
        ..run(PY, &[])
    }
}

fn command(stage: StageName, step: &str, line: &str) -> CommandLine {
    let cwd = RepoDir::new("services/pricing").unwrap();
    CommandLine { stage, step: step.to_owned(), cwd, line: line.to_owned() }
}

fn changes() -> Scope {
    let comments = ScopeFile {
        same_tokens: LineSet::from_lines([3, 4, 5]),
        ..outside("services/pricing/src/lib.rs", OutsideReason::SameTokens)
    };
    let moved = ScopeFile {
        change: FileChange::Renamed,
        old_path: Some(path("carriers/again.go")),
        ..changed(RETRY, GO)
    };
    let some = ScopeFile {
        lines: LineSet::from_lines([5, 6, 7, 9, 14]),
        same_tokens: LineSet::from_lines([1, 2]),
        ..changed(PRICE, RUST)
    };
    scope(vec![
        some,
        comments,
        moved,
        changed(PAGE, WEB),
        changed(TAX, JAVA),
        changed("tools/manifest/manifest.py", PY),
        outside("README.md", OutsideReason::NotSource),
        outside("services/pricing/tests/discount.rs", OutsideReason::Test),
        outside("scripts/<b>deploy</b>.py", OutsideReason::Unclaimed),
    ])
}
