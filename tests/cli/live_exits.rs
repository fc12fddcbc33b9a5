//! Every exit code of a run, one test per cause, with the real cargo-mutants.
//!
//! In: small crates with a change. Out: exit codes and verdicts. I/O: processes.

use polymut_schemas::{Cause, Outcome, Report, RunState, Status};

use crate::crates::{fare, weakly_tested, well_tested, with_a_hanging_mutant};
use crate::place::Place;
use crate::program::{CargoMutants, Ran, path_with};

/// One measured suite, no replay: the quickest whole run.
const QUICK: &[&str] = &["--baseline-runs", "1", "--confirm", "0"];

fn count(report: &Report, status: Status) -> u64 {
    report.summary.total.statuses.of(status)
}

/// The only cause of an inconclusive verdict.
#[track_caller]
fn cause(report: &Report) -> Cause {
    assert_eq!(report.verdict.outcome, Outcome::Inconclusive, "{:#?}", report.verdict);
    let mut causes: Vec<Cause> = report.verdict.reasons.iter().filter_map(|reason| reason.cause).collect();
    // A job that was cut and its mutants without an answer have the same.
    causes.dedup();
    let [cause] = causes.as_slice() else { panic!("{:#?}", report.verdict) };
    *cause
}

/// The crate's tool is nowhere: neither in the store nor on PATH.
fn without_the_tool(place: &Place, words: &[&str]) -> Ran {
    let mut command = place.command(words);
    command
        .env("PATH", path_with(&place.beside(&format!("bin{}", words.len())), &["cargo", "rustc", "git"]))
        .env("POLYMUT_TOOLS", place.beside("no-tools"));
    Ran::of(&command.output().unwrap())
}

#[test]
fn a_change_whose_every_mutant_dies_ends_with_0() {
    if CargoMutants::get().is_none() {
        return;
    }
    let report = well_tested().run(QUICK, 0);
    assert_eq!(report.verdict.outcome, Outcome::Pass);
    assert!(count(&report, Status::Killed) > 0, "{report:#?}");
    assert_eq!(count(&report, Status::Survived), 0);
}

#[test]
fn a_survivor_ends_with_1_and_so_does_its_report_at_the_gate() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = weakly_tested();
    let ran =
        place.polymut(&["run", "--base", "main", "--format", "json=r.json", "--format", "text"]).ends(1);
    let ran = ran.shows("FAIL (exit 1)").shows("survived");
    let text = fs_err::read_to_string(place.root().join("r.json")).unwrap();
    let report: Report = serde_json::from_str(&text).unwrap();
    assert!(count(&report, Status::Survived) > 0, "{}", ran.out);
    let proved = report.mutants.iter().filter(|mutant| mutant.status == Status::Survived);
    for mutant in proved {
        let confirmed = mutant.confirmed.as_ref().unwrap();
        assert_eq!((confirmed.replays, confirmed.agreed), (1, 1), "{}", mutant.id);
    }
    place.polymut(&["gate", "r.json"]).ends(1).shows("FAIL (exit 1)");
    place.polymut(&["gate", "r.json", "--no-fail"]).ends(0).shows("FAIL");
    place.polymut(&["report", "r.json"]).ends(0).shows("FAIL");
    place.write("polymut.toml", "[gate]\nmode = \"advisory\"\n");
    place.polymut(&["gate", "r.json"]).ends(0).shows("the gate is advisory here: exit 0 in spite of it");
    place.write("polymut.toml", "[gate]\nmode = \"off\"\n");
    place.polymut(&["gate", "r.json"]).ends(0).shows("the gate is off here: exit 0 in spite of it");
}

#[test]
fn no_fail_lowers_a_failed_gate_and_nothing_else() {
    if CargoMutants::get().is_none() {
        return;
    }
    let words = [QUICK, &["--no-fail"]].concat();
    let report = weakly_tested().run(&words, 0);
    assert_eq!(report.verdict.outcome, Outcome::Fail);
    let words = ["run", "--base", "main", "--no-fail"];
    without_the_tool(&weakly_tested(), &words).ends(3);
}

#[test]
fn a_survivor_beside_a_project_that_could_not_run_ends_with_1() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = weakly_tested();
    let go = ("shuttle/go.mod", "module example.test/shuttle\n\ngo 1.21\n");
    place.write(go.0, go.1);
    place.write("shuttle/seats.go", "package shuttle\n\nfunc Free(n int) bool { return n > 3 }\n");
    let mut command = place.command(&["run", "--base", "main", "--format", "json"]);
    let bin = path_with(&place.beside("bin"), &["cargo", "rustc", "git", "cc", "ld"]);
    let ran = Ran::of(&command.args(QUICK).env("PATH", bin).output().unwrap()).ends(1);
    let report = ran.report();
    assert_eq!(report.verdict.outcome, Outcome::Fail);
    let skipped = report.runs.iter().filter(|run| matches!(run.state, RunState::Skipped { .. }));
    assert_eq!(skipped.map(|run| run.dir.as_str()).collect::<Vec<_>>(), ["shuttle"], "{:#?}", report.runs);
}

#[test]
fn a_suite_that_the_change_made_red_ends_with_3_and_blames_the_change() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = fare();
    place.edit("src/lib.rs", "age < 16", "age < 15");
    let report = place.run(QUICK, 3);
    assert_eq!(cause(&report), Cause::Change);
    let said = &report.verdict.reasons[0].message;
    assert!(said.contains("the tests fail without any mutant"), "{said}");
    assert!(said.contains("children_pay_half"), "the suite's own words are missing: {said}");
}

#[test]
fn a_suite_that_was_red_before_ends_with_3_and_blames_the_base() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = fare();
    place.edit("src/lib.rs", "age < 16", "age < 15");
    place.commit("red");
    place.git(&["branch", "-f", "main"]);
    place.edit("src/lib.rs", "{ 300 }", "{ 2 * 150 }");
    assert_eq!(cause(&place.run(QUICK, 3)), Cause::Base);
}

#[test]
fn a_change_that_does_not_compile_ends_with_3_and_blames_the_change() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = fare();
    place.edit("src/lib.rs", "{ 300 }", "{ three_euros }");
    let report = place.run(QUICK, 3);
    assert_eq!(cause(&report), Cause::Change);
    assert!(report.verdict.reasons[0].message.contains("three_euros"), "{:#?}", report.verdict);
}

#[test]
fn a_missing_tool_ends_with_3_and_blames_the_machine() {
    let place = well_tested();
    let ran = without_the_tool(&place, &["run", "--base", "main", "--format", "json"]).ends(3);
    let report = ran.report();
    assert_eq!(cause(&report), Cause::Machine);
    let said = &report.verdict.reasons[0].message;
    assert!(said.contains("polymut tools install cargo-mutants"), "{said}");
}

#[test]
fn a_soft_gate_ends_with_0_where_nothing_could_be_run_and_says_so() {
    for mode in ["advisory", "off"] {
        let place = well_tested();
        place.write("polymut.toml", format!("[gate]\nmode = \"{mode}\"\n"));
        let ran = without_the_tool(&place, &["run", "--base", "main"]).ends(0);
        ran.shows(&format!("the gate is {mode} here: exit 0 in spite of it")).shows("INCONCLUSIVE");
    }
}

#[test]
fn a_budget_that_runs_out_ends_with_3_and_blames_the_budget() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = with_a_hanging_mutant();
    let report = place.run(&[QUICK, &["--budget", "1s"]].concat(), 3);
    assert_eq!(cause(&report), Cause::Budget);
}
