//! Laws of the gate that hold for every report: nothing bad ever makes a verdict better.
//!
//! In: random reports. Out: assertions. I/O: none.

use polymut_schemas::*;
use proptest::prelude::*;

use crate::build::*;

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

fn case() -> impl Strategy<Value = Case> {
    let mutants = prop::collection::vec((status(), any::<bool>(), any::<bool>()), 0..12);
    (mutants, any::<bool>()).prop_map(|(mutants, seen)| {
        let mut case = Case::new().empty();
        for (line, (status, in_scope, old)) in (1..).zip(mutants) {
            let mut mutant = mutant(CORE, FILE, line, status);
            mutant.in_scope = in_scope;
            mutant.origin = if old { Origin::PreExisting } else { Origin::New };
            case.mutants.push(mutant);
        }
        if !seen {
            case.runs[0].seen.clear();
        }
        case
    })
}

fn short() -> impl Strategy<Value = RunState> {
    let cause = prop::sample::select(vec![Cause::Change, Cause::Base, Cause::Machine, Cause::Budget]);
    (cause, 0..5).prop_map(|(cause, which)| {
        let quote = quote("stopped");
        match which {
            0 => RunState::Partial { quote, cause },
            1 => RunState::Nothing { quote, cause },
            2 => RunState::RedBaseline { quote, cause },
            3 => RunState::Broken { quote, cause },
            _ => RunState::Skipped { quote, cause },
        }
    })
}

proptest! {
    #[test]
    fn a_survivor_on_a_changed_line_always_fails(case in case()) {
        prop_assert_eq!(case.with(Status::Survived, 1).judge().outcome, Outcome::Fail);
    }

    #[test]
    fn a_job_that_ended_short_never_passes(case in case(), state in short()) {
        let before = case.judge().outcome;
        let after = case.state(state).judge().outcome;
        prop_assert_ne!(after, Outcome::Pass);
        prop_assert!(before != Outcome::Fail || after == Outcome::Fail);
    }

    #[test]
    fn an_unknown_on_a_changed_line_never_passes(case in case(), status in prop::sample::select(vec![Status::NotRun, Status::Errored, Status::Flaky])) {
        prop_assert_ne!(case.with(status, 1).judge().outcome, Outcome::Pass);
    }

    #[test]
    fn a_job_that_is_missing_never_passes(case in case()) {
        let mut case = case;
        case.runs.clear();
        prop_assert_ne!(case.judge().outcome, Outcome::Pass);
    }

    #[test]
    fn the_order_of_the_mutants_does_not_matter(case in case()) {
        let mut back = case.clone();
        back.mutants.reverse();
        let sorted = |verdict: Verdict| {
            let mut reasons = verdict.reasons;
            for reason in &mut reasons {
                reason.mutants.sort();
            }
            (verdict.outcome, reasons)
        };
        prop_assert_eq!(sorted(case.judge()), sorted(back.judge()));
    }
}
