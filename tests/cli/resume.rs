//! A run that dies at any moment goes on where it was, and ends as if it had not died.
//!
//! In: a repository whose tool edits in place. Out: an untouched tree, no process, no mount, the same document. I/O:
//! processes, `/proc`.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use polymut_schemas::{Cause, IsolationLevel, Outcome, Report, RunState};
use serde_json::Value;

use crate::live_stops::nothing_is_left;
use crate::own_command::{essence, words};
use crate::place::{Place, Snapshot};
use crate::program::Ran;

const RUN: [&str; 5] = ["run", "--base", "main", "--format", "json"];

/// Moments that are random, and the same in each run of the tests.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: Duration) -> Duration {
        // The constants of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = u32::try_from(self.0 >> 40).unwrap();
        below.mul_f64(f64::from(part) / f64::from(1_u32 << 24))
    }
}

/// What must be the same after each death.
struct Before {
    tree: Snapshot,
    document: Value,
    code: i32,
    took: Duration,
}

fn start(place: &Place, more: &[&str]) -> Child {
    let mut command = place.command(&RUN);
    command.args(more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Ran {
    Ran::of(&child.wait_with_output().unwrap())
}

/// Kills polymut after `moment`; whether it still ran.
fn dies(place: &Place, more: &[&str], moment: Duration) -> bool {
    let mut child = start(place, more);
    std::thread::sleep(moment);
    let lived = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    lived
}

#[track_caller]
fn left_as_it_was(place: &Place, before: &Before) {
    nothing_is_left(place);
    assert!(place.snapshot() == before.tree, "the working tree has changed");
}

fn reference(place: &Place) -> Before {
    let tree = place.snapshot();
    let begun = Instant::now();
    let ran = ended(start(place, &[]));
    let took = begun.elapsed();
    assert!([0, 1, 3].contains(&ran.code), "{}", ran.err);
    Before { tree, document: essence(&ran.report()), code: ran.code, took }
}

/// Resumes until it is done. A run that died before it wrote down what it is about has left nothing to resume.
#[track_caller]
fn resumed(place: &Place, before: &Before) -> Report {
    let mut ran = ended(start(place, &["--resume"]));
    if ran.code == 2 && ran.err.contains("there is no interrupted run") {
        ran = ended(start(place, &[]));
    }
    let report = ran.ends(before.code).report();
    assert_eq!(essence(&report), before.document);
    report
}

fn killed_at(place: &Place, moments: usize, seed: u64) {
    let before = reference(place);
    left_as_it_was(place, &before);
    let mut random = Moments(seed);
    let mut deaths = 0;
    while deaths < moments {
        if !dies(place, &[], random.next(before.took)) {
            continue;
        }
        deaths += 1;
        left_as_it_was(place, &before);
        if deaths % 3 == 0 {
            dies(place, &["--resume"], random.next(before.took));
            left_as_it_was(place, &before);
        }
        resumed(place, &before);
        left_as_it_was(place, &before);
    }
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_resumed_to_the_same_document() {
    for (level, seed) in [("sealed", 1), ("copy", 2)] {
        let place = words("0.05");
        let walls = format!("[run]\nisolation = \"{level}\"\n\n{}", place.read("polymut.toml"));
        place.write("polymut.toml", walls);
        killed_at(&place, 5, seed);
    }
}

#[test]
#[ignore = "takes minutes: fifty deaths, each with its resumption"]
fn fifty_deaths_leave_the_tree_and_the_document_as_they_were() {
    killed_at(&words("0.05"), 50, 3);
}

#[test]
fn there_is_nothing_to_resume_after_a_run_that_came_to_its_end() {
    let place = words("0");
    place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(2).says("no interrupted run");
    place.polymut(&RUN).ends(1);
    place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(2).says("no interrupted run");
}

/// Waits for a file of this name in polymut's own folder.
fn found(place: &Place, name: &str) -> PathBuf {
    loop {
        if let Some(path) = look_for(place, name) {
            return path;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A file of this name in polymut's own folder.
pub(crate) fn look_for(place: &Place, name: &str) -> Option<PathBuf> {
    let mut open = vec![place.state()];
    while let Some(folder) = open.pop() {
        // Folders come and go while a run is at work.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name() == name {
                return Some(entry.path());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    None
}

/// Interrupts a run while its tool is at work; gives how it ended.
fn interrupted(place: &Place, more: &[&str], signal: Signal) -> Ran {
    let child = start(place, more);
    found(place, "00-0-command.json");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
    ended(child)
}

#[test]
fn an_interrupted_run_says_how_it_goes_on_and_does() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = words("0.2");
        let ran = interrupted(&place, &["--confirm", "1"], signal);
        assert_eq!(ran.code, code, "{}", ran.err);
        let words = "`polymut run --base main --format json --confirm 1 --resume` continues this run";
        assert!(ran.err.contains(words), "{}", ran.err);
        let report = place.polymut(&[&RUN[..], &["--confirm", "1", "--resume"]].concat()).ends(1).report();
        let whole = place.polymut(&[&RUN[..], &["--confirm", "1"]].concat()).ends(1).report();
        assert_eq!(essence(&report), essence(&whole));
    }
}

#[test]
fn what_was_found_out_while_files_were_edited_is_not_taken_over_though_the_edit_is_undone() {
    for edit in ["", "# edited\n"] {
        let place = words("0.2");
        let suite = place.read("suite.sh");
        let child = start(&place, &[]);
        found(&place, "00-0-command.json");
        if !edit.is_empty() {
            place.write("suite.sh", format!("{suite}{edit}"));
        }
        found(&place, "00-0-apply-diff.json");
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
        assert_eq!(ended(child).code, 130);
        if !edit.is_empty() {
            place.write("suite.sh", &suite);
        }
        let report = place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(1).report();
        let is_live =
            report.runs[0].containment.as_ref().is_some_and(|walls| walls.level == IsolationLevel::Sealed);
        let is_kept = report.mutants.iter().any(|mutant| mutant.provenance.resumed);
        assert_eq!(is_kept, edit.is_empty() || !is_live, "{edit:?}");
    }
}

#[test]
fn a_run_whose_budget_ends_is_resumed() {
    let place = words("0.5");
    let ran =
        place.polymut(&[&RUN[..], &["--budget", "1s"]].concat()).ends(3).says("--resume` continues this run");
    assert_ne!(ran.report().verdict.outcome, Outcome::Pass);
    let report = place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(1).report();
    assert_eq!(essence(&report), essence(&words("0.5").run(&[], 1)));
}

/// Takes no hint to end, and neither does its child.
const DEAF: &str =
    "trap '' TERM INT HUP\n(trap '' TERM INT HUP; while :; do sleep 1; done) &\nwhile :; do sleep 1; done\n";

#[test]
fn a_terminated_run_writes_its_document_though_its_tool_does_not_listen() {
    let place = words("0");
    place.write("mutate.sh", DEAF);
    let report = interrupted(&place, &[], Signal::SIGTERM).ends(143).report();
    let [run] = &report.runs[..] else { panic!("{:#?}", report.runs) };
    assert!(matches!(run.state, RunState::Nothing { cause: Cause::Machine, .. }), "{:#?}", run.state);
    assert_eq!(report.verdict.outcome, Outcome::Inconclusive);
    nothing_is_left(&place);
}

/// Says something all the time, and notes it down when nobody listens any more.
const CHATTY: &str =
    "trap '' PIPE\nmkdir -p out\n: > out/chats\nwhile echo word; do :; done 2> out/noise\n: > out/unheard\n";

#[test]
fn a_tool_whose_polymut_dies_does_not_see_its_output_closed() {
    for level in ["sealed", "copy"] {
        let place = words("0");
        place.write("mutate.sh", CHATTY);
        let mut child = start(&place, &["--isolation", level]);
        found(&place, "chats");
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_is_left(&place);
        assert_eq!(look_for(&place, "unheard"), None, "{level}");
    }
}

#[test]
fn what_differs_from_the_interrupted_run_is_named_and_nothing_runs() {
    let place = words("0.2");
    interrupted(&place, &[], Signal::SIGINT);
    let resume = [&RUN[..], &["--resume"]].concat();
    place.write("words.py", "one\ntwo\nthree\nfive\n");
    place.polymut(&resume).ends(2).says("files: words.py");
    place.write("words.py", "one\ntwo\nthree\nfour\n");
    place.polymut(&[&resume[..], &["--confirm", "3"]].concat()).ends(2).says("jobs and options: elements:.");
    place.polymut(&resume).ends(1);
}

#[test]
fn a_damaged_journal_is_an_error_with_its_line_and_a_fresh_run_goes_past_it() {
    let place = words("0.2");
    interrupted(&place, &[], Signal::SIGINT);
    let path = found(&place, "run.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 30;
    bytes[second] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(2).says("run.jsonl:2: ").says("starts afresh");
    place.polymut(&RUN).ends(1);
}

#[test]
fn a_second_run_works_apart_and_says_so() {
    let place = words("0.2");
    let first = start(&place, &[]);
    found(&place, "00-0-command.json");
    place.polymut(&[&RUN[..], &["--resume"]].concat()).ends(2).says("still at work");
    let second = place.polymut(&RUN).ends(1).says("works apart");
    let first = ended(first).ends(1);
    assert!(!first.err.contains("works apart"), "{}", first.err);
    assert_eq!(essence(&first.report()), essence(&second.report()));
    nothing_is_left(&place);
}
