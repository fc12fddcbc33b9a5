//! A run that is stopped: Ctrl-C, SIGTERM, and death without a word.
//!
//! In: a run in its test stage. Out: exit codes, an untouched tree, no process left. I/O: processes, `/proc`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use polymut_schemas::{Report, Status};

use crate::crates::with_a_hanging_mutant;
use crate::place::Place;
use crate::program::CargoMutants;

/// What the program says when the tool is at work on mutants, one of which hangs for at least the limit's floor.
const TESTING: &str = "testing mutants";

/// Long past anything that a loaded machine needs.
const PATIENCE: Duration = Duration::from_mins(2);

/// Starts a run and returns once it tests mutants.
pub(crate) fn testing(place: &Place, words: &[&str]) -> Child {
    let mut command = place.command(&["run", "--base", "main", "--baseline-runs", "1"]);
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let reached = lines.by_ref().any(|line| line.unwrap().contains(TESTING));
    assert!(reached, "the run ended before it tested anything");
    // Whoever reads on keeps the pipe open, so that the program never writes to a closed one.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// Processes that were started for the runs of this folder: their arguments, environment or folder name it.
fn left_over(state: &Path) -> Vec<String> {
    let mark = state.as_os_str().as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok())
            && (holds(&read("cmdline")) || holds(&read("environ")) || holds(cwd.as_os_str().as_bytes()))
        {
            found.push(String::from_utf8_lossy(&read("cmdline")).replace('\0', " "));
        }
    }
    found
}

#[track_caller]
pub(crate) fn nothing_is_left(place: &Place) {
    nothing_is_left_of(&place.state());
}

/// No process and no mount of the runs whose state is in this folder. A process may need a moment to end.
#[track_caller]
pub(crate) fn nothing_is_left_of(state: &Path) {
    let started = Instant::now();
    loop {
        let left = left_over(state);
        if left.is_empty() {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "still running: {left:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(state.to_str().unwrap()), "{mounts}");
}

fn interrupted(first: Signal, code: i32) {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = with_a_hanging_mutant();
    let before = place.snapshot();
    let mut child = testing(&place, &["--format", "json"]);
    signal(&child, first);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code));
    // What was reached is written, and nobody takes it for an answer.
    let report: Report = serde_json::from_str(&text).unwrap();
    assert!(report.summary.total.statuses.of(Status::NotRun) > 0, "{:#?}", report.summary);
    assert_ne!(report.verdict.outcome, polymut_schemas::Outcome::Pass);
    assert!(place.snapshot() == before, "the working tree has changed");
    nothing_is_left(&place);
}

#[test]
fn ctrl_c_ends_with_130_and_keeps_what_was_reached() {
    interrupted(Signal::SIGINT, 130);
}

#[test]
fn a_termination_ends_with_143_and_keeps_what_was_reached() {
    interrupted(Signal::SIGTERM, 143);
}

#[test]
fn a_run_that_is_killed_leaves_the_tree_and_the_next_run_as_they_were() {
    if CargoMutants::get().is_none() {
        return;
    }
    for level in ["sealed", "copy"] {
        let place = with_a_hanging_mutant();
        // Uncommitted work in the mutated file, an untracked file, a mode bit: all of it the user's alone.
        place.commit("change");
        place.edit("src/lib.rs", "{ 300 }", "{ 2 * 150 }");
        place.write("notes.txt", "mine\n");
        place.git(&["update-index", "--chmod=+x", "Cargo.toml"]);
        let (before, status) = (place.snapshot(), place.git(&["status", "--porcelain=v2"]));
        let mut child = testing(&place, &["--isolation", level]);
        signal(&child, Signal::SIGKILL);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert!(place.snapshot() == before, "the working tree has changed ({level})");
        let report = place.run(&["--isolation", level, "--baseline-runs", "1", "--confirm", "0"], 0);
        assert_eq!(report.summary.total.statuses.of(Status::NotRun), 0);
        assert!(report.summary.total.statuses.of(Status::Timeout) > 0, "{:#?}", report.summary);
        nothing_is_left(&place);
        assert!(place.snapshot() == before, "the working tree has changed ({level})");
        assert_eq!(place.git(&["status", "--porcelain=v2"]), status);
    }
}
