//! Changes that cost nobody anything, and changes that break a suite.
//!
//! In: the example with one small edit per project. Out: verdicts. I/O: real tools.

use polymut_schemas::{Cause, Outcome, OutsideReason, RunState, Status};

use super::machine::Live;
use super::repo::{Ran, Repo, is_complete, projects, words};

fn run(repo: &Repo, base: &str, live: &Live) -> Ran {
    let words = words(&projects(live));
    let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
    let base = format!("--base={base}");
    all.push(&base);
    repo.run(&all)
}

/// Tests and comments are no job at all; then the same repository gets a change whose every mutant dies.
#[test]
fn tests_and_comments_are_nobody_s_mutants_and_a_tested_change_passes() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    let repo = Repo::new();
    for edits in projects(&live) {
        repo.replace(edits.tests, edits.tested);
    }
    let tested = run(&repo, "surcharges", &live);
    assert_eq!(tested.code, 0, "{}\n{}", tested.stderr, tested.story());
    assert!(tested.report.runs.is_empty() && tested.report.mutants.is_empty(), "{}", tested.story());
    for edits in projects(&live) {
        assert_eq!(outside(&tested, edits.tests), Some(OutsideReason::Test), "{}", edits.tests);
    }
    repo.commit("tests");
    for edits in projects(&live) {
        repo.append(edits.source, edits.comment);
    }
    let commented = run(&repo, "tests", &live);
    assert_eq!(commented.code, 0, "{}\n{}", commented.stderr, commented.story());
    assert!(commented.report.runs.is_empty() && commented.report.mutants.is_empty(), "{}", commented.story());
    for edits in projects(&live) {
        assert_eq!(outside(&commented, edits.source), Some(OutsideReason::SameTokens), "{}", edits.source);
    }
    repo.commit("comments");
    clean(&repo, &live);
}

/// Why the document says that this file holds no changed line.
fn outside(ran: &Ran, path: &str) -> Option<OutsideReason> {
    ran.report.scope.files.iter().find(|file| file.path.as_str() == path).unwrap().outside
}

fn clean(repo: &Repo, live: &Live) {
    for edits in projects(live) {
        repo.replace(edits.source, edits.clean);
    }
    let before = repo.bytes();
    let ran = run(repo, "comments", live);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.story());
    assert_eq!(ran.report.verdict.outcome, Outcome::Pass, "{}", ran.story());
    for edits in projects(live) {
        assert!(is_complete(&ran.of(edits.folder).state), "{}", ran.story());
        assert!(ran.count(edits.folder, Status::Killed) > 0, "{}: {}", edits.folder, ran.story());
    }
    assert_eq!(repo.bytes(), before);
}

/// The suites that this change broke are the change's fault; the one that was red before is the base's.
#[test]
fn a_red_suite_judges_nothing_and_names_whose_fault_it_is() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    let repo = Repo::new();
    let mut others = projects(&live);
    // Go is needed by two projects: if any can run, this one can.
    let at = others.iter().position(|edits| edits.folder == "services/tracking");
    let Some(first) = at.map(|at| others.remove(at)) else { return };
    repo.replace(first.source, first.red);
    repo.commit("red-before");
    repo.replace(first.source, first.clean);
    for edits in &others {
        repo.replace(edits.source, edits.red);
    }
    let ran = run(&repo, "red-before", &live);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stderr, ran.story());
    for (edits, wanted) in others.iter().map(|edits| (edits, Cause::Change)).chain([(&first, Cause::Base)]) {
        let state = &ran.of(edits.folder).state;
        let RunState::RedBaseline { quote, cause } = state else {
            panic!("{}: {state:?}\n{}", edits.folder, ran.story())
        };
        assert_eq!(*cause, wanted, "{}: {}", edits.folder, ran.story());
        assert!(
            quote.text.contains(edits.said),
            "{}: the suite's own words are missing: {quote:?}",
            edits.folder
        );
    }
    assert!(ran.report.mutants.is_empty(), "{}", ran.story());
}
