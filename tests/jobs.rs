//! One job from probe to close with a small fake tool: what its answers, silences and deaths make of the job.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may stop at the first surprise, and starts the program as a user does"
)]

#[path = "support/fake.rs"]
mod fake;

use std::time::Duration;

use fake::{play, scene};
use polymut::job::JobOutcome;
use polymut_schemas::{BaselineState, Cause, IsolationLevel, Origin, RunState, StageName, Status};

fn status(outcome: &JobOutcome, key: &str) -> Status {
    outcome.mutants.iter().find(|mutant| mutant.key == key).map(|mutant| mutant.status).unwrap()
}

/// At every stage parsed = reported + dropped, and every chosen mutant is in the document.
fn assert_counts(outcome: &JobOutcome) {
    for stage in &outcome.run.stages {
        assert_eq!(stage.parsed, stage.reported + stage.dropped.values().sum::<u64>(), "{stage:?}");
    }
    if let Some(test) = outcome.run.stages.iter().find(|stage| stage.stage == StageName::Test) {
        assert_eq!(test.planned, Some(u64::try_from(outcome.mutants.len()).unwrap()));
        assert_eq!(test.planned, Some(test.reported + test.missing));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_run_is_complete_and_its_survivor_was_replayed() {
    let outcome = play(scene()).await;
    assert_eq!(outcome.run.state, RunState::Complete, "{:?}", outcome.run.notes);
    assert_counts(&outcome);
    assert_eq!(status(&outcome, "a"), Status::Killed);
    assert_eq!(status(&outcome, "c"), Status::Timeout);
    let survivor = outcome.mutants.iter().find(|mutant| mutant.key == "b").unwrap();
    assert_eq!(survivor.status, Status::Survived);
    assert_eq!(survivor.confirmed.as_ref().map(|proof| (proof.replays, proof.agreed)), Some((1, 1)));
    assert!(survivor.diff.as_ref().is_some_and(|diff| diff.contains("-two\n+MUTATED\n")));
    let baseline = outcome.run.baseline.unwrap();
    assert_eq!((baseline.state, baseline.runs, baseline.still_green), (BaselineState::Green, 2, Some(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_level_of_isolation_gives_the_same_answers() {
    for level in [IsolationLevel::Sealed, IsolationLevel::Copied, IsolationLevel::BestEffort] {
        let outcome = play(fake::Scene { isolation: Some(level), ..scene() }).await;
        assert_eq!(outcome.run.state, RunState::Complete, "{level:?}: {:?}", outcome.run.notes);
        let statuses = ["a", "b", "c"].map(|key| status(&outcome, key));
        assert_eq!(statuses, [Status::Killed, Status::Survived, Status::Timeout], "{level:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutant_without_an_answer_is_not_run_and_the_job_is_partial() {
    let mut scene = scene();
    scene.tool = "case $1 in\nversion) ;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2;;\ntest) echo mutant a 1 killed;;\nesac\n";
    let outcome = play(scene).await;
    assert_eq!(status(&outcome, "b"), Status::NotRun);
    assert!(
        matches!(outcome.run.state, RunState::Partial { cause: Cause::Machine, .. }),
        "{:?}",
        outcome.run.state
    );
    assert_counts(&outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_dies_keeps_what_it_reached() {
    let mut scene = scene();
    scene.tool = "case $1 in\nversion) ;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2;;\ntest) echo mutant b 2 survived; kill -9 $$;;\nesac\n";
    scene.options.confirm = 0;
    let outcome = play(scene).await;
    assert_eq!(status(&outcome, "b"), Status::Survived);
    assert_eq!(status(&outcome, "a"), Status::NotRun);
    assert!(matches!(outcome.run.state, RunState::Partial { .. }), "{:?}", outcome.run.state);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_word_breaks_the_job_instead_of_passing() {
    let mut scene = scene();
    scene.tool = "case $1 in\nversion) ;;\nlist) echo seen source.txt; echo mutant a 1;;\ntest) echo mutant a 1 CAUGHT;;\nesac\n";
    let outcome = play(scene).await;
    let RunState::Broken { quote, .. } = &outcome.run.state else { panic!("{:?}", outcome.run.state) };
    assert!(quote.text.contains("CAUGHT"), "{quote:?}");
    assert_eq!(status(&outcome, "a"), Status::NotRun);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_chosen_is_dropped_and_counted() {
    let mut scene = scene();
    scene.changed = vec![1];
    scene.tool = "case $1 in\nversion) ;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2;;\ntest) echo mutant a 1 killed; echo mutant b 2 survived;;\nesac\n";
    let outcome = play(scene).await;
    assert_eq!(outcome.mutants.len(), 1);
    assert_eq!(outcome.run.state, RunState::Complete);
    let test = outcome.run.stages.iter().find(|stage| stage.stage == StageName::Test).unwrap();
    assert_eq!(test.dropped.get("not chosen"), Some(&1), "{test:?}");
    assert_counts(&outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_mutants_pass_only_when_the_file_was_seen() {
    let mut blind = scene();
    blind.tool = "true\n";
    let outcome = play(blind).await;
    assert!(matches!(outcome.run.state, RunState::Nothing { .. }), "{:?}", outcome.run.state);
    assert_eq!(outcome.run.unseen.len(), 1);
    let mut seen = scene();
    seen.tool = "case $1 in list) echo seen source.txt;; esac\n";
    let outcome = play(seen).await;
    assert_eq!(outcome.run.state, RunState::NothingToMutate);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_suite_is_the_changes_fault_only_when_the_base_is_green() {
    let mut change = scene();
    change.suite = "echo expected 3, got ${SHOP_API_TOKEN:-4} >&2; exit 1\n";
    change.base = Some(("true\n", "one\n"));
    let outcome = play(change).await;
    let RunState::RedBaseline { quote, cause } = &outcome.run.state else {
        panic!("{:?}", outcome.run.state)
    };
    assert_eq!(*cause, Cause::Change);
    assert!(quote.text.contains("expected 3, got 4"));
    // It may have been red for want of it: named, and neither given nor shown.
    let withheld = outcome.run.notes.iter().find(|note| note.contains("SHOP_API_TOKEN"));
    assert!(withheld.is_some_and(|note| note.contains("allow-env") && !note.contains("s3cr3t")));
    let mut base = scene();
    base.suite = "exit 1\n";
    base.base = Some(("exit 1\n", "one\n"));
    let outcome = play(base).await;
    assert!(
        matches!(outcome.run.state, RunState::RedBaseline { cause: Cause::Base, .. }),
        "{:?}",
        outcome.run.state
    );
    assert!(outcome.mutants.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_that_fails_once_is_not_said_to_need_what_walls_take_away() {
    let mut flips = scene();
    flips.isolation = Some(IsolationLevel::Sealed);
    flips.options.baseline_runs = 1;
    // The first run in a sandbox fails, and none after it.
    flips.suite = "test -e ran || { touch ran; exit 1; }\n";
    let outcome = play(flips).await;
    let RunState::RedBaseline { quote, cause: Cause::Machine } = &outcome.run.state else {
        panic!("{:?}", outcome.run.state)
    };
    assert!(quote.text.contains("gave different results"), "{quote:?}");
    assert!(!quote.text.contains("network"), "{quote:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_that_passes_and_fails_is_no_baseline() {
    let mut scene = scene();
    scene.suite = "if [ -e ran ]; then echo flaky; exit 1; fi; touch ran\n";
    let outcome = play(scene).await;
    assert!(matches!(outcome.run.state, RunState::RedBaseline { .. }), "{:?}", outcome.run.state);
    assert_eq!(outcome.run.baseline.map(|baseline| baseline.state), Some(BaselineState::Flickers));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_that_dies_when_replayed_is_flaky_never_blamed() {
    let mut scene = scene();
    scene.suite = "grep -q two source.txt\n";
    let outcome = play(scene).await;
    let mutant = outcome.mutants.iter().find(|mutant| mutant.key == "b").unwrap();
    assert_eq!(mutant.status, Status::Flaky);
    assert_eq!(mutant.confirmed.as_ref().map(|proof| proof.agreed), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_without_a_test_run_is_no_survivor_until_confirmed() {
    let mut open = scene();
    open.tool =
        "case $1 in\nlist) echo seen source.txt; echo mutant b 2;;\ntest) echo mutant b 2 untested;;\nesac\n";
    let outcome = play(open).await;
    assert_eq!(status(&outcome, "b"), Status::Errored);
    let mut settled = scene();
    settled.tool = "case $1 in\nlist) echo seen source.txt; echo mutant b 2;;\ntest) echo mutant b 2 untested;;\nconfirm) echo mutant b 2 killed;;\nesac\n";
    let outcome = play(settled).await;
    assert_eq!(status(&outcome, "b"), Status::Killed);
    // What no test reaches is no survivor.
    let mut unreached = scene();
    unreached.tool = "case $1 in\nlist) echo seen source.txt; echo mutant b 2;;\ntest) echo mutant b 2 untested;;\nconfirm) echo mutant b 2 unreached;;\nesac\n";
    let outcome = play(unreached).await;
    assert_eq!(status(&outcome, "b"), Status::NoCoverage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_is_tried_again_alone() {
    let mut scene = scene();
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant c 3;;\ntest) shift; for key; do case $key in a) echo mutant a 1 timeout;; c) echo mutant c 3 timeout;; esac; done;;\nconfirm) case $2 in a) echo mutant a 1 killed;; c) echo mutant c 3 hung;; esac;;\nesac\n";
    let outcome = play(scene).await;
    assert_eq!((status(&outcome, "a"), status(&outcome, "c")), (Status::Killed, Status::Timeout));
    assert_eq!(outcome.run.state, RunState::Complete, "{:?}", outcome.run.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_that_only_the_tool_can_replay_come_along_when_it_confirms_a_doubt() {
    let mut scene = scene();
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant secret-b 2; echo mutant secret-c 3;;\ntest) shift; for key; do case $key in a) echo mutant a 1 timeout;; *b) echo mutant $key 2 survived;; *c) echo mutant $key 3 survived;; esac; done;;\nconfirm) case $2 in a) echo mutant a 1 hung;; *b) echo mutant $2 2 survived;; *c) echo mutant $2 3 killed;; esac;;\nesac\n";
    let outcome = play(scene).await;
    let statuses = ["a", "secret-b", "secret-c"].map(|key| status(&outcome, key));
    assert_eq!(statuses, [Status::Timeout, Status::Survived, Status::Flaky]);
    let stages = outcome.run.stages.iter().filter(|stage| stage.stage == StageName::Confirm);
    assert_eq!(stages.map(|stage| stage.planned).collect::<Vec<_>>(), [Some(3)]);
    let proof = |key: &str| outcome.mutants.iter().find(|mutant| mutant.key == key)?.confirmed.clone();
    assert_eq!(proof("secret-b").map(|proof| (proof.replays, proof.agreed)), Some((1, 1)));
    // Once each: what came along is not replayed again, and what disagreed is not asked until it agrees.
    let confirms = outcome.run.commands.iter().filter(|command| command.stage == StageName::Confirm);
    assert_eq!(confirms.count(), 3, "{:?}", outcome.run.commands);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_gave_no_answer_is_asked_for_again() {
    let mut scene = scene();
    scene.options.confirm = 1;
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant secret-b 2;;\ntest) echo mutant a 1 timeout; echo mutant secret-b 2 survived;;\nconfirm) case $2 in a) echo mutant a 1 hung;; esac;;\nesac\n";
    let outcome = play(scene).await;
    assert_eq!(status(&outcome, "secret-b"), Status::Survived);
    let notes = &outcome.run.notes;
    assert!(notes.iter().any(|note| note.contains("survivors of fake are not replayed")), "{notes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_that_comes_along_counts_among_the_replays() {
    let mut scene = scene();
    scene.options.confirm = 1;
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant secret-b 2; echo mutant secret-c 3;;\ntest) echo mutant a 1 timeout; echo mutant secret-b 2 survived; echo mutant secret-c 3 survived;;\nconfirm) case $2 in a) echo mutant a 1 hung;; *b) echo mutant $2 2 survived;; *c) echo mutant $2 3 survived;; esac;;\nesac\n";
    let outcome = play(scene).await;
    let proved = outcome.mutants.iter().filter(|mutant| mutant.key != "a" && mutant.confirmed.is_some());
    assert_eq!(proved.count(), 1, "{:?}", outcome.mutants);
    assert!(outcome.run.notes.contains(&"1 of 2 survivors were replayed (--confirm)".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_ends_judges_what_was_reached() {
    let mut scene = scene();
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2;;\ntest) for key; do case $key in b) echo mutant b 2 survived;; a) sleep 600;; esac; done;;\nesac\n";
    scene.budget = Some(Duration::from_secs(2));
    let outcome = play(scene).await;
    assert_eq!((status(&outcome, "a"), status(&outcome, "b")), (Status::NotRun, Status::Survived));
    assert!(
        matches!(outcome.run.state, RunState::Partial { cause: Cause::Budget, .. }),
        "{:?}",
        outcome.run.state
    );
}

/// Six mutants on three lines; `test` does this with each.
fn six(each: &str) -> &'static str {
    let list = ["a", "b", "c", "d", "e", "f"].iter().enumerate();
    let list: Vec<String> = list.map(|(at, key)| format!("echo mutant {key} {}", at % 3 + 1)).collect();
    format!(
        "case $1 in\nlist) echo seen source.txt; {};;\ntest) shift; for key; do case $key in a|d) line=1;; b|e) line=2;; *) line=3;; esac; {each}; done;;\nesac\n",
        list.join("; ")
    )
    .leak()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutant_that_hangs_keeps_one_core_and_no_other_mutant_waiting() {
    let mut scene = scene();
    scene.isolation = Some(IsolationLevel::Sealed);
    scene.options.confirm = 0;
    scene.tool = six("case $key in a) sleep 600;; *) echo mutant $key $line killed;; esac");
    scene.budget = Some(Duration::from_secs(8));
    let outcome = play(scene).await;
    assert_counts(&outcome);
    let statuses = ["a", "b", "c", "d", "e", "f"].map(|key| status(&outcome, key));
    assert_eq!(statuses[0], Status::NotRun);
    assert_eq!(statuses[1..], [Status::Killed; 5], "{:?}", outcome.run.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_that_the_end_overtakes_take_no_answer_away() {
    let mut scene = scene();
    scene.isolation = Some(IsolationLevel::Sealed);
    scene.options.confirm = 0;
    // Two cores: the first two shares hang, and no third one begins.
    scene.tool = six(
        "case $key in a|b) echo mutant $key $line survived; sleep 600;; *) echo mutant $key $line killed;; esac",
    );
    scene.budget = Some(Duration::from_secs(8));
    let outcome = play(scene).await;
    assert_counts(&outcome);
    let statuses = ["a", "b", "c", "d", "e", "f"].map(|key| status(&outcome, key));
    assert_eq!(statuses[..2], [Status::Survived; 2], "{:?}", outcome.run.notes);
    assert_eq!(statuses[2..], [Status::NotRun; 4], "{:?}", outcome.run.notes);
    assert!(
        matches!(outcome.run.state, RunState::Partial { cause: Cause::Budget, .. }),
        "{:?}",
        outcome.run.state
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_do_not_count_when_the_suite_is_red_at_the_end() {
    let mut scene = scene();
    // The suite goes red for good once the tool has run: a filled disk, a lost port.
    scene.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1;;\ntest) echo mutant a 1 killed; touch \"$TMPDIR/../../../../gone\" 2>/dev/null;;\nesac\n";
    scene.suite = "[ ! -e ran3 ] || exit 1; if [ -e ran2 ]; then touch ran3; elif [ -e ran ]; then touch ran2; else touch ran; fi\n";
    scene.options.baseline_runs = 3;
    scene.options.confirm = 0;
    let outcome = play(scene).await;
    assert_eq!(status(&outcome, "a"), Status::Errored);
    assert!(
        matches!(outcome.run.state, RunState::RedBaseline { cause: Cause::Machine, .. }),
        "{:?}",
        outcome.run.state
    );
    assert_eq!(outcome.run.baseline.and_then(|baseline| baseline.still_green), Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_that_does_not_load_the_mutated_file_proves_nothing() {
    let mut scene = scene();
    scene.tool =
        "case $1 in\nlist) echo seen source.txt; echo mutant a 1;;\ntest) echo mutant a 1 killed;;\nesac\n";
    scene.suite = "true\n";
    let outcome = play(scene).await;
    assert_eq!(status(&outcome, "a"), Status::Errored);
    assert!(matches!(outcome.run.state, RunState::Broken { .. }), "{:?}", outcome.run.state);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_that_the_base_had_is_pre_existing() {
    let mut old = scene();
    old.changed = vec![1, 2];
    old.tool = "case $1 in\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2;;\ntest) shift; for key; do case $key in a) echo mutant a 1 survived;; b) echo mutant b 2 survived;; esac; done;;\nesac\n";
    old.source = "  two\nnew\n";
    old.suite = "true\n";
    old.base = Some(("true\n", "two\ngone\n"));
    let outcome = play(old).await;
    let origin =
        |key: &str| outcome.mutants.iter().find(|mutant| mutant.key == key).map(|mutant| mutant.origin);
    assert_eq!(origin("b"), Some(Origin::New));
    assert_eq!(origin("a"), Some(Origin::PreExisting), "{:?}", outcome.run.notes);
}
