//! The document against the tool's own report, and against a second run of itself.
//!
//! In: a change with every outcome. Out: claims about mutants, counts and bytes. I/O: processes.

use std::collections::BTreeMap;

use polymut_schemas::{LineRange, Mutant, Report, Status};
use serde_json::Value;

use crate::crates::with_every_outcome;
use crate::place::Place;
use crate::program::{CargoMutants, Ran, start};

/// One suite, one replay: every stage, as short as it gets.
const RUN: &[&str] = &["run", "--base", "main", "--format", "json", "--baseline-runs", "1", "--confirm", "1"];

/// Where the workspace is in the repository.
const WORKSPACE: &str = "services/rating";

/// What the tool itself says of the mutants on the lines of git's own diff: its name of each, and its word.
fn by_hand(tool: &CargoMutants, place: &Place) -> BTreeMap<String, String> {
    let diff = place.beside("hand.diff");
    let relative = format!("--relative={WORKSPACE}/");
    let text = place.git(&["diff", &relative, "main", "--", "*.rs"]);
    fs_err::write(&diff, text + "\n").unwrap();
    let mut command = start(&tool.program, &place.root().join(WORKSPACE));
    command.args(["mutants", "--in-diff", diff.to_str().unwrap(), "--timeout", "4", "--no-times"]);
    let ran = Ran::of(&command.arg("--output").arg(place.beside("hand")).output().unwrap());
    // 3: at least one mutant ran into the limit.
    ran.ends(3);
    let outcomes = fs_err::read_to_string(place.beside("hand/mutants.out/outcomes.json")).unwrap();
    let outcomes: Value = serde_json::from_str(&outcomes).unwrap();
    let all = outcomes["outcomes"].as_array().unwrap();
    let named = all.iter().filter_map(|outcome| {
        let name = outcome["scenario"]["Mutant"]["name"].as_str()?;
        Some((name.to_owned(), outcome["summary"].as_str().unwrap().to_owned()))
    });
    named.collect()
}

/// The document's word for the tool's.
fn status(word: &str) -> Status {
    match word {
        "CaughtMutant" => Status::Killed,
        "MissedMutant" => Status::Survived,
        "Timeout" => Status::Timeout,
        "Unviable" => Status::Unviable,
        other => panic!("{other}"),
    }
}

/// The tool's name for a mutant of the document, made from what the document says of it.
fn name(mutant: &Mutant) -> String {
    let file = mutant.file.as_ref().unwrap().as_str().strip_prefix(&format!("{WORKSPACE}/")).unwrap();
    let start = mutant.span.unwrap().start;
    format!("{file}:{}:{}: {}", start.line, start.column.unwrap(), mutant.description.as_ref().unwrap())
}

#[test]
fn every_mutant_on_a_changed_line_has_the_tool_s_own_answer_and_a_second_run_the_same_bytes() {
    let Some(tool) = CargoMutants::get() else { return };
    let place = with_every_outcome();
    let before = place.snapshot();
    let ran = place.polymut(RUN).ends(1);
    let report = ran.report();
    agrees(&report, &by_hand(tool, &place));
    assert!(place.snapshot() == before, "the working tree has changed");

    // Again as a hook of another repository, with settings that bend every diff.
    for setting in ["diff.noprefix", "diff.mnemonicPrefix", "core.quotePath"] {
        place.git(&["config", setting, "true"]);
    }
    place.git(&["config", "color.ui", "always"]);
    let mut command = place.command(RUN);
    command.env("GIT_DIR", place.beside("elsewhere")).env("GIT_INDEX_FILE", place.beside("index"));
    let again = Ran::of(&command.output().unwrap()).ends(1);
    same_lines(&timeless(&ran.out), &timeless(&again.out));
}

fn agrees(report: &Report, wanted: &BTreeMap<String, String>) {
    let found: BTreeMap<String, Status> =
        report.mutants.iter().map(|mutant| (name(mutant), mutant.status)).collect();
    assert_eq!(found.len(), report.mutants.len(), "two mutants of one name");
    let expected: BTreeMap<String, Status> =
        wanted.iter().map(|(name, word)| (name.clone(), status(word))).collect();
    assert_eq!(found, expected);
    for wanted in [Status::Killed, Status::Survived, Status::Timeout, Status::Unviable] {
        assert!(found.values().any(|status| *status == wanted), "no mutant is {wanted:?}");
        let count = found.values().filter(|status| **status == wanted).count();
        assert_eq!(report.summary.total.statuses.of(wanted), u64::try_from(count).unwrap());
    }
    for mutant in &report.mutants {
        let (file, span) = (mutant.file.as_ref().unwrap(), mutant.span.unwrap());
        let last = span.end.unwrap().line;
        let changed = &report.scope.file(file).unwrap().lines;
        assert!(
            mutant.in_scope && changed.touches(LineRange { first: span.start.line, last }),
            "{mutant:#?}"
        );
    }
}

/// The document without what a clock says: durations, the time of each stage, the peak of memory, and the limits in
/// the command lines, which are multiples of measured times. Nothing else may differ from run to run.
fn timeless(text: &str) -> String {
    let mut report: Value = serde_json::from_str(text).unwrap();
    for run in report["runs"].as_array_mut().unwrap() {
        run["timing"] = Value::Null;
        run["baseline"]["duration"] = Value::Null;
        for command in run["commands"].as_array_mut().unwrap() {
            let words: Vec<&str> = command["line"].as_str().unwrap().split(' ').collect();
            let limits = ["--timeout", "--build-timeout"];
            let limited = |at: usize| at > 0 && limits.contains(&words[at - 1]);
            let blank = |(at, word): (usize, &&str)| if limited(at) { "N" } else { *word }.to_owned();
            let line: Vec<String> = words.iter().enumerate().map(blank).collect();
            command["line"] = Value::String(line.join(" "));
        }
    }
    for mutant in report["mutants"].as_array_mut().unwrap() {
        mutant["duration"] = Value::Null;
    }
    serde_json::to_string_pretty(&report).unwrap()
}

/// Equal, or the first line that differs.
#[track_caller]
fn same_lines(one: &str, other: &str) {
    let lines = one.lines().zip(other.lines()).enumerate();
    for (at, (one, other)) in lines {
        assert_eq!(one, other, "line {at}");
    }
    assert_eq!(one.lines().count(), other.lines().count());
}
