//! What became of the waivers: used, stale or expired.
//!
//! In: mutants and the ledger. Out: [`WaiverUse`], findings. I/O: none.

use jiff::civil::Date;
use polymut_schemas::{GateMode, Mutant, Outcome, ReasonKind, StatusGroup, WaiverState, WaiverUse};

use super::judge::{Finding, Judgement};
use super::words::{count, some};
use crate::config::{Decision, Waivers};

/// Writes on each accepted mutant which waiver accepts it, and says what became of every waiver that met one.
pub fn apply(mutants: &mut [Mutant], waivers: &Waivers, today: Date) -> Vec<WaiverUse> {
    for mutant in mutants.iter_mut() {
        let accepted = mutant.in_scope && open(mutant);
        let waiver = if accepted { waivers.accepting(&mutant.id, today) } else { None };
        mutant.waiver = waiver.map(|waiver| waiver.id.to_string());
    }
    uses(mutants, waivers, today)
}

/// Whether there is anything to accept: a survivor, or no answer.
fn open(mutant: &Mutant) -> bool {
    match mutant.status.group() {
        StatusGroup::Undetected | StatusGroup::Unknown => true,
        StatusGroup::Detected | StatusGroup::NotScored => false,
    }
}

fn uses(mutants: &[Mutant], waivers: &Waivers, today: Date) -> Vec<WaiverUse> {
    let mut uses = Vec::new();
    for mutant in mutants.iter().filter(|mutant| mutant.in_scope) {
        for waiver in waivers.of(&mutant.id) {
            let state = if !open(mutant) {
                WaiverState::Stale
            } else if crate::config::counts(waiver, today) {
                WaiverState::Used
            } else {
                WaiverState::Expired
            };
            uses.push(WaiverUse { waiver: waiver.clone(), state });
        }
    }
    uses.sort_by(|a, b| (&a.waiver.id, a.state).cmp(&(&b.waiver.id, b.state)));
    uses.dedup();
    uses
}

/// Stale and expired waivers are findings; used ones are named beside the verdict.
pub(super) fn findings(input: &Judgement<'_>) -> Vec<Finding> {
    let ledger = uses(input.mutants, input.waivers, input.today);
    let of = |state| ledger.iter().filter(move |used| used.state == state);
    let mut findings = Vec::new();
    for (state, words) in [(WaiverState::Stale, "is no survivor any more"), (WaiverState::Expired, "is over")]
    {
        for used in of(state) {
            let mutant = input.mutants.iter().find(|mutant| mutant.id == used.waiver.id);
            let effective = input.policy.at(mutant.and_then(|mutant| mutant.file.as_ref()));
            let (outcome, mode) = match effective.waivers {
                Decision::Allow => (Outcome::Pass, GateMode::Block),
                Decision::Fail => (Outcome::Fail, effective.mode),
            };
            let subject = if state == WaiverState::Stale { "the mutant of waiver" } else { "the waiver" };
            let message = format!("{subject} {} {words} ({})", used.waiver.id, used.waiver.reason.trim());
            findings.push(
                Finding::new(mode, outcome, ReasonKind::Waiver, message).about([used.waiver.id.clone()]),
            );
        }
    }
    let accepted: Vec<_> = of(WaiverState::Used).map(|used| used.waiver.id.clone()).collect();
    if !accepted.is_empty() {
        let message = format!(
            "{} by waiver: {}",
            count(accepted.len(), "mutant is accepted", "mutants are accepted"),
            some(&accepted)
        );
        findings.push(Finding::notice(ReasonKind::Waiver, message).about(accepted));
    }
    findings
}
