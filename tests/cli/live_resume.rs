//! Interrupted runs of the real cargo-mutants: the answers that it had given are taken over, the rest is run.
//!
//! In: a crate, the shipped example. Out: the same documents as without an interruption. I/O: processes.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use polymut_schemas::Report;
use serde_json::Value;

use crate::crates::slowly_tested;
use crate::live_stops::{nothing_is_left, nothing_is_left_of, signal};
use crate::own_command::essence;
use crate::place::{Place, snapshot};
use crate::program::{CargoMutants, Ran, polymut};
use crate::resume::look_for;

/// Starts a run, and interrupts it once cargo-mutants has given answers but not all of them.
fn interrupted(place: &Place, words: &[&str], by: Signal) {
    let mut command = place.command(&["run", "--base", "main", "--jobs", "1"]);
    let mut child = command.args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("testing mutants")), "nothing was tested");
    std::thread::spawn(move || lines.for_each(drop));
    // The tool writes one line per mutant that was caught.
    while look_for(place, "caught.txt")
        .and_then(|path| std::fs::read_to_string(path).ok())
        .is_none_or(|text| text.lines().count() < 2)
    {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, by);
    child.wait().unwrap();
    nothing_is_left(place);
}

fn resumed(report: &Report) -> usize {
    report.mutants.iter().filter(|mutant| mutant.provenance.resumed).count()
}

#[test]
fn answers_of_a_run_that_died_in_the_middle_are_kept_and_the_rest_is_run() {
    if CargoMutants::get().is_none() {
        return;
    }
    let whole = slowly_tested().run(&["--jobs", "1"], 1);
    assert_eq!(resumed(&whole), 0);
    for (level, by) in [("sealed", Signal::SIGKILL), ("copy", Signal::SIGKILL), ("sealed", Signal::SIGINT)] {
        let place = slowly_tested();
        let before = place.snapshot();
        interrupted(&place, &["--isolation", level], by);
        assert!(place.snapshot() == before, "the working tree has changed ({level})");
        let report = place.run(&["--jobs", "1", "--isolation", level, "--resume"], 1);
        let kept = resumed(&report);
        assert!(
            kept > 1 && kept < report.mutants.len(),
            "{kept} of {} ({level}, {by})",
            report.mutants.len()
        );
        let (mut is, mut was) = (essence(&report), essence(&whole));
        // Levels differ, and only they may.
        for document in [&mut is, &mut was] {
            document["runs"][0].as_object_mut().unwrap().remove("containment");
        }
        assert_eq!(is, was, "{level}, {by}");
        assert!(place.snapshot() == before, "the working tree has changed ({level})");
    }
}

/// The document that a run of the example wrote, without the words of its suites: they tell times, and sets in any order.
fn document(page: &Path) -> (Report, Value) {
    let report: Report = serde_json::from_slice(&std::fs::read(page).unwrap()).unwrap();
    let mut essence = essence(&report);
    for mutant in essence["mutants"].as_array_mut().unwrap() {
        mutant.as_object_mut().unwrap().remove("detail");
    }
    (report, essence)
}

#[test]
#[ignore = "takes half an hour: the whole example ten times, with the real tools"]
fn the_example_killed_at_eight_moments_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (state, page, into) = (top.join("state"), top.join("page.json"), top.join("demo"));
    let repo = into.join("parcelwright");
    let format = format!("json={}", page.display());
    let start = |words: &[&str]| {
        let mut command = polymut(&top, &state);
        command.args(words).args(["--format", &format]).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let run = ["-C", repo.to_str().unwrap(), "run", "--base", "main", "--provision"];
    // The first one installs what is missing.
    start(&["demo", "--into", into.to_str().unwrap()]).output().unwrap();
    let tree = snapshot(&repo);
    let begun = Instant::now();
    let first = Ran::of(&start(&run).output().unwrap());
    let mut took = begun.elapsed();
    let whole = document(&page).1;
    let mut deaths = 0;
    while deaths < 8 {
        let mut child = start(&run).spawn().unwrap();
        std::thread::sleep(took * (deaths + 1) / 9);
        if child.try_wait().unwrap().is_some() {
            // The machine is quicker by now.
            took = took * 4 / 5;
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        deaths += 1;
        nothing_is_left_of(&state);
        assert!(snapshot(&repo) == tree, "death {deaths} has changed the working tree");
        let again = Ran::of(&start(&[&run[..], &["--resume"]].concat()).output().unwrap());
        let (report, essence) = document(&page);
        assert_eq!(again.code, first.code, "death {deaths}: {}", again.err);
        assert!(essence == whole, "death {deaths}: {} answers were kept", resumed(&report));
        nothing_is_left_of(&state);
        assert!(snapshot(&repo) == tree, "the working tree has changed after death {deaths}");
    }
}
