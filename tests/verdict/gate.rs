//! The gate, rule by rule.
//!
//! In: cases built by hand. Out: assertions. I/O: none.

use polymut::config::Waivers;
use polymut::exit::Exit;
use polymut::gate::GatePolicy;
use polymut_schemas::*;

use crate::build::*;

fn outcome(case: &Case) -> Outcome {
    case.judge().outcome
}

#[test]
fn a_killed_mutant_passes_without_a_word() {
    let verdict = Case::new().judge();
    assert_eq!((verdict.outcome, verdict.mode), (Outcome::Pass, GateMode::Block));
    assert_eq!(lines(&verdict), Vec::<String>::new());
}

#[test]
fn a_survivor_or_an_unreached_mutant_on_a_changed_line_fails_and_is_named() {
    for status in [Status::Survived, Status::NoCoverage] {
        let case = Case::new().with(status, 2);
        let verdict = case.judge();
        assert_eq!(verdict.outcome, Outcome::Fail);
        let ids: Vec<_> = case.mutants[1..].iter().map(|mutant| mutant.id.clone()).collect();
        assert_eq!(verdict.reasons[0].mutants, ids);
        assert_eq!(Exit::of(&verdict), Exit::GateFailed);
    }
}

#[test]
fn a_survivor_outside_the_scope_or_known_at_the_base_does_not_fail() {
    let mut case = Case::new().with(Status::Survived, 1);
    case.mutants[1].in_scope = false;
    assert_eq!(outcome(&case), Outcome::Pass);
    case.mutants[1].in_scope = true;
    case.mutants[1].origin = Origin::PreExisting;
    assert_eq!(
        lines(&case.judge()),
        ["pass pre_existing: 1 survivor that the base had as well; the policy allows it"]
    );
    assert_eq!(outcome(&case.config("[gate]\npre-existing = \"fail\"\n")), Outcome::Fail);
}

#[test]
fn a_mutant_of_unknown_origin_is_held_against_the_change() {
    let mut case = Case::new().with(Status::Survived, 1);
    case.mutants[1].origin = Origin::Unknown;
    assert_eq!(outcome(&case), Outcome::Fail);
}

#[test]
fn timeouts_are_detected_unless_the_policy_forbids_them() {
    let case = Case::new().with(Status::Timeout, 1).with(Status::OutOfMemory, 1);
    assert_eq!(outcome(&case), Outcome::Pass);
    assert_eq!(outcome(&case.config("[gate]\ntimeouts = \"fail\"\n")), Outcome::Fail);
}

#[test]
fn timeouts_alone_are_never_plain_green() {
    let only = Case::new().empty().with(Status::Timeout, 5);
    assert_eq!(outcome(&only), Outcome::Inconclusive);
    assert_eq!(outcome(&Case::new().empty().with(Status::Timeout, 4)), Outcome::Pass);
    let most = Case::new().with(Status::Timeout, 6).judge();
    assert_eq!(most.outcome, Outcome::Pass);
    assert_eq!(
        lines(&most),
        ["pass timeouts: 6 of 7 detected mutants ran into a limit: few tests really failed"]
    );
    let few = Case::new().with(Status::Killed, 9).with(Status::Timeout, 5).judge();
    assert_eq!(lines(&few), Vec::<String>::new());
}

#[test]
fn an_unknown_on_a_changed_line_is_inconclusive_and_says_whose_fault() {
    for status in [Status::NotRun, Status::Errored, Status::Flaky] {
        let verdict = Case::new().with(status, 1).judge();
        assert_eq!(
            (verdict.outcome, verdict.reasons[0].cause),
            (Outcome::Inconclusive, Some(Cause::Machine))
        );
        assert_eq!(Exit::of(&verdict), Exit::Inconclusive);
    }
    let stopped = RunState::Partial { quote: quote("20m are over"), cause: Cause::Budget };
    let verdict = Case::new().with(Status::NotRun, 1).state(stopped).judge();
    let causes: Vec<_> = verdict.reasons.iter().map(|reason| reason.cause).collect();
    assert_eq!(causes, [Some(Cause::Budget), Some(Cause::Budget)]);
}

#[test]
fn a_proved_survivor_fails_whatever_else_broke() {
    let broken = RunState::Broken { quote: quote("segmentation fault"), cause: Cause::Machine };
    assert_eq!(outcome(&Case::new().with(Status::Survived, 1).state(broken)), Outcome::Fail);
}

#[test]
fn every_way_of_ending_short_is_inconclusive_with_its_cause_and_the_tools_words() {
    let cause = Cause::Base;
    let quote = || quote("no such test runner");
    let states = [
        RunState::Partial { quote: quote(), cause },
        RunState::Nothing { quote: quote(), cause },
        RunState::RedBaseline { quote: quote(), cause },
        RunState::Broken { quote: quote(), cause },
        RunState::Skipped { quote: quote(), cause },
    ];
    for state in states {
        let verdict = Case::new().state(state.clone()).judge();
        assert_eq!(
            (verdict.outcome, verdict.reasons[0].cause),
            (Outcome::Inconclusive, Some(cause)),
            "{state:?}"
        );
        assert!(verdict.reasons[0].message.contains("no such test runner (stderr of test)"));
        let raised = Case::new().state(state).config("[gate]\ninconclusive = { base = \"fail\" }\n").judge();
        assert_eq!((raised.outcome, raised.reasons[0].cause), (Outcome::Fail, Some(cause)));
    }
}

#[test]
fn a_suite_that_was_not_green_proves_no_kill() {
    let with = |baseline: Option<BaselineRun>| {
        let mut case = Case::new();
        case.runs[0].baseline = baseline;
        outcome(&case)
    };
    let base = |state, still_green| Some(BaselineRun { state, duration: None, runs: 2, still_green });
    assert_eq!(with(base(BaselineState::Green, None)), Outcome::Pass);
    assert_eq!(with(base(BaselineState::ByTool, None)), Outcome::Pass);
    assert_eq!(with(base(BaselineState::Green, Some(false))), Outcome::Inconclusive);
    assert_eq!(with(base(BaselineState::Red, Some(true))), Outcome::Inconclusive);
    assert_eq!(with(base(BaselineState::Flickers, None)), Outcome::Inconclusive);
    assert_eq!(with(base(BaselineState::NotRun, None)), Outcome::Inconclusive);
    assert_eq!(with(None), Outcome::Inconclusive);
}

#[test]
fn a_project_whose_mutants_are_all_unviable_is_inconclusive() {
    let none = Case::new().empty();
    assert_eq!(outcome(&none.clone().with(Status::Unviable, 3)), Outcome::Inconclusive);
    assert_eq!(
        outcome(&none.clone().with(Status::Unviable, 1).with(Status::Ignored, 1)),
        Outcome::Inconclusive
    );
    assert_eq!(outcome(&none.clone().with(Status::Unviable, 3).with(Status::Killed, 1)), Outcome::Pass);
    assert_eq!(
        lines(&none.with(Status::Ignored, 2).judge()),
        ["pass nothing_to_mutate: all 2 mutants on changed lines are left out by configuration or comment"]
    );
}

#[test]
fn no_mutants_are_explained_only_when_every_changed_file_was_seen() {
    let mut case = Case::new().empty();
    assert_eq!(
        lines(&case.judge()),
        ["pass nothing_to_mutate: nothing to mutate on the changed lines of 1 changed file"]
    );
    case.runs[0].seen.clear();
    for state in [RunState::Complete, RunState::NothingToMutate] {
        let verdict = case.clone().state(state).judge();
        assert_eq!(verdict.outcome, Outcome::Inconclusive);
        assert_eq!(lines(&verdict)[0], format!("inconclusive unseen: the tool was not seen to read {FILE}"));
    }
}

#[test]
fn a_second_changed_file_that_the_tool_never_read_is_noticed() {
    let mut case = Case::new();
    case.scope = scope(vec![changed(FILE, CORE), changed("core/src/tax.rs", CORE)]);
    assert_eq!(outcome(&case), Outcome::Inconclusive);
    case.runs[0].seen.push(path("core/src/tax.rs"));
    assert_eq!(outcome(&case), Outcome::Pass);
    case.runs[0].unseen.push(path("core/src/tax.rs"));
    assert_eq!(outcome(&case), Outcome::Inconclusive);
}

#[test]
fn counts_that_do_not_add_up_are_inconclusive() {
    let with = |count: StageCount| {
        let mut case = Case::new();
        case.runs[0].stages = vec![count];
        outcome(&case)
    };
    let good = || stage(StageName::Test, 5, 8, &[("not chosen", 3)]);
    assert_eq!(with(good()), Outcome::Pass);
    assert_eq!(with(StageCount { reported: 6, ..good() }), Outcome::Inconclusive);
    assert_eq!(with(StageCount { planned: Some(9), ..good() }), Outcome::Inconclusive);
    assert_eq!(with(StageCount { planned: Some(9), missing: 1, ..good() }), Outcome::Inconclusive);
    assert_eq!(with(StageCount { planned: None, ..good() }), Outcome::Pass);
    let flood = [("a".to_owned(), u64::MAX), ("b".to_owned(), 4)].into();
    assert_eq!(with(StageCount { dropped: flood, ..good() }), Outcome::Inconclusive);
}

#[test]
fn a_document_that_contradicts_itself_is_inconclusive() {
    let stranger = mutant("beta:web", "web/a.ts", 1, Status::Killed);
    let mut case = Case::new();
    case.mutants.push(stranger);
    assert_eq!(outcome(&case), Outcome::Inconclusive);
    let silent = Case::new().state(RunState::NothingToMutate);
    assert_eq!(outcome(&silent), Outcome::Inconclusive);
}

#[test]
fn a_changed_source_file_that_nobody_looked_at_is_inconclusive() {
    for reason in [OutsideReason::Unclaimed, OutsideReason::NameNotUtf8] {
        let mut case = Case::new();
        case.scope = scope(vec![changed(FILE, CORE), outside("scripts/tool.py", reason)]);
        assert_eq!(outcome(&case), Outcome::Inconclusive, "{reason:?}");
        let off = case.config("[[gate.rule]]\npaths = [\"scripts/**\"]\nmode = \"off\"\n").judge();
        assert_eq!(
            (off.outcome, off.mode, Exit::of(&off)),
            (Outcome::Inconclusive, GateMode::Off, Exit::Pass)
        );
    }
    let mut case = Case::new();
    case.scope = scope(vec![changed(FILE, CORE), changed("web/a.ts", "beta:web")]);
    assert_eq!(lines(&case.judge()), ["inconclusive unseen: no job looked at web/a.ts"]);
}

#[test]
fn a_change_with_nothing_to_mutate_passes_and_says_what_changed() {
    let mut case = Case::new().empty();
    case.runs.clear();
    let mut said = |files| {
        case.scope = scope(files);
        let verdict = case.judge();
        assert_eq!(verdict.outcome, Outcome::Pass);
        lines(&verdict).remove(0)
    };
    assert!(said(vec![]).ends_with("the diff is empty: nothing to mutate"));
    let tests = vec![outside("core/tests/a.rs", OutsideReason::Test)];
    assert!(said(tests).ends_with("only tests changed: nothing to mutate, so nothing is proved about them"));
    let mixed = vec![
        outside("README.md", OutsideReason::NotSource),
        outside("core/tests/a.rs", OutsideReason::Test),
        outside("core/tests/b.rs", OutsideReason::Test),
    ];
    let said = said(mixed);
    assert!(
        said.ends_with(
            "nothing to mutate: 1 file of documentation, data or configuration, 2 files of test code"
        ),
        "{said}"
    );
}

#[test]
fn what_the_user_left_out_is_named_beside_the_verdict() {
    let mut case = Case::new();
    case.scope = scope(vec![changed(FILE, CORE), outside("web/a.ts", OutsideReason::NotChosen)]);
    assert_eq!(lines(&case.judge()), ["pass unseen: left out by --project or --tool: web/a.ts"]);
}

#[test]
fn a_soft_mode_keeps_the_outcome_and_changes_the_exit_code_alone() {
    let case = Case::new().with(Status::Survived, 1);
    for mode in ["advisory", "off"] {
        let verdict = case.clone().config(&format!("[gate]\nmode = \"{mode}\"\n")).judge();
        assert_eq!((verdict.outcome, Exit::of(&verdict)), (Outcome::Fail, Exit::Pass));
    }
    let soft = GatePolicy::new(&case.config.gate).advisory();
    let verdict = polymut::gate::judge(&polymut::gate::Judgement {
        mutants: &case.mutants,
        runs: &case.runs,
        scope: &case.scope,
        policy: &soft,
        waivers: &case.waivers,
        today: today(),
    });
    assert_eq!((verdict.outcome, verdict.mode), (Outcome::Fail, GateMode::Advisory));
}

#[test]
fn rules_roll_the_gate_out_path_by_path_and_the_last_match_wins() {
    let text = "[gate]\nmode = \"advisory\"\n\
        [[gate.rule]]\npaths = [\"core/**\"]\nmode = \"block\"\n\
        [[gate.rule]]\npaths = [\"core/src/legacy\"]\nno-coverage = \"allow\"\n";
    let with = |file: &str, status| {
        let mut case = Case::new().config(text);
        case.mutants.push(mutant(CORE, file, 30, status));
        Exit::of(&case.judge())
    };
    assert_eq!(with("core/src/price.rs", Status::NoCoverage), Exit::GateFailed);
    assert_eq!(with("core/src/legacy/old.rs", Status::NoCoverage), Exit::Pass);
    assert_eq!(with("core/src/legacy/old.rs", Status::Survived), Exit::GateFailed);
    assert_eq!(with("web/a.ts", Status::Survived), Exit::Pass);
}

#[test]
fn an_advisory_survivor_does_not_take_the_word_from_a_blocking_unknown() {
    let text = "[[gate.rule]]\npaths = [\"web\"]\nmode = \"advisory\"\n";
    let mut case = Case::new().with(Status::Flaky, 1).config(text);
    case.mutants.push(mutant(CORE, "web/a.ts", 3, Status::Survived));
    let verdict = case.judge();
    assert_eq!((verdict.outcome, verdict.mode), (Outcome::Inconclusive, GateMode::Block));
    assert!(lines(&verdict)[0].ends_with("(the gate is advisory here)"));
}

#[test]
fn the_least_score_counts_the_diff_only_and_spares_what_is_waived_or_old() {
    let text = "[gate]\nsurvivors-in-diff = \"allow\"\nmin-score = 0.75\n";
    let case = Case::new().with(Status::Killed, 2).with(Status::Survived, 1).config(text);
    assert_eq!(outcome(&case), Outcome::Pass);
    let mut low = case.with(Status::Survived, 1);
    assert_eq!(
        lines(&low.judge())[0],
        "fail score: 60.0 % of the mutants on changed lines were detected; the policy wants 75.0 %"
    );
    low.mutants[3].origin = Origin::PreExisting;
    assert_eq!(outcome(&low), Outcome::Pass);
    low.mutants[3].origin = Origin::New;
    low.waivers = Waivers::new([waiver(&low.mutants[3].id, None)]);
    assert_eq!(outcome(&low), Outcome::Pass);
}

#[test]
fn a_waiver_accepts_until_its_last_day_and_is_named_when_it_is_over_or_stale() {
    let mut case = Case::new().with(Status::Survived, 1);
    let (killed, survivor) = (case.mutants[0].id.clone(), case.mutants[1].id.clone());
    case.waivers = Waivers::new([waiver(&survivor, Some("2026-02-01"))]);
    let verdict = case.judge();
    assert_eq!((verdict.outcome, verdict.reasons[0].kind), (Outcome::Pass, ReasonKind::Waiver));
    case.waivers = Waivers::new([waiver(&survivor, Some("2026-01-31"))]);
    assert_eq!(outcome(&case), Outcome::Fail);
    let uses = report(&case).waivers;
    assert_eq!(uses.iter().map(|used| used.state).collect::<Vec<_>>(), [WaiverState::Expired]);
    case.waivers = Waivers::new([waiver(&survivor, None), waiver(&killed, None)]);
    assert_eq!(outcome(&case), Outcome::Pass);
    assert!(lines(&case.judge()).iter().any(|line| line.contains("is no survivor any more")));
    assert_eq!(report(&case).mutants[1].waiver, Some(survivor.to_string()));
    assert_eq!(outcome(&case.config("[gate]\nwaivers = \"fail\"\n")), Outcome::Fail);
}
