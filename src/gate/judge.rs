//! Gathers every finding and makes one verdict of them.
//!
//! In: [`Judgement`]. Out: [`Verdict`]. I/O: none.

use std::cmp::Reverse;

use jiff::civil::Date;
use polymut_schemas::{
    Cause, GateMode, Mutant, MutantId, Outcome, ProjectId, Reason, ReasonKind, Scope, ToolRun, Verdict,
};

use super::policy::Effective;
use super::{GatePolicy, mutants, runs, scope, waivers};
use crate::config::Waivers;

/// Everything that the gate looks at.
#[derive(Debug, Clone, Copy)]
pub struct Judgement<'a> {
    /// Every mutant that was chosen.
    pub mutants: &'a [Mutant],
    /// Every job.
    pub runs: &'a [ToolRun],
    /// The changed lines.
    pub scope: &'a Scope,
    /// What fails a change.
    pub policy: &'a GatePolicy,
    /// Accepted survivors.
    pub waivers: &'a Waivers,
    /// The day on which waivers must count.
    pub today: Date,
}

/// A reason, and whether it may decide the exit code.
pub(super) struct Finding {
    pub(super) reason: Reason,
    pub(super) mode: GateMode,
}

impl Finding {
    /// A finding without a cause.
    pub(super) fn new(mode: GateMode, outcome: Outcome, kind: ReasonKind, message: String) -> Self {
        let reason = Reason { outcome, kind, cause: None, project: None, message, mutants: Vec::new() };
        Self { reason, mode }
    }

    /// Something that could not be judged.
    pub(super) fn unknown(effective: &Effective, cause: Cause, kind: ReasonKind, message: String) -> Self {
        let mut finding = Self::new(effective.mode, effective.unknown(cause), kind, message);
        finding.reason.cause = Some(cause);
        finding
    }

    /// Something that stands beside a pass.
    pub(super) fn notice(kind: ReasonKind, message: String) -> Self {
        Self::new(GateMode::Block, Outcome::Pass, kind, message)
    }

    /// Names the project.
    pub(super) fn of(mut self, project: &ProjectId) -> Self {
        self.reason.project = Some(project.clone());
        self
    }

    /// Names the mutants.
    pub(super) fn about(mut self, ids: impl IntoIterator<Item = MutantId>) -> Self {
        self.reason.mutants = ids.into_iter().collect();
        self
    }
}

/// Judges a report. Adding a finding never makes the outcome better.
pub fn judge(input: &Judgement<'_>) -> Verdict {
    let mut findings = mutants::findings(input);
    findings.extend(runs::findings(input));
    findings.extend(scope::findings(input));
    findings.extend(waivers::findings(input));
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    let (outcome, mode) = decide(&findings, input.policy.mode());
    let reasons = findings.into_iter().map(shown).collect();
    Verdict { outcome, mode, reasons }
}

/// The worst outcome of the strictest mode that has one: what is only advisory never hides behind a pass, and never
/// takes the word from what blocks.
fn decide(findings: &[Finding], mode: GateMode) -> (Outcome, GateMode) {
    for mode in [GateMode::Block, GateMode::Advisory, GateMode::Off] {
        let own =
            findings.iter().filter(|finding| finding.mode == mode).map(|finding| finding.reason.outcome);
        match own.max_by_key(|outcome| severity(*outcome)) {
            Some(worst @ (Outcome::Fail | Outcome::Inconclusive)) => return (worst, mode),
            Some(Outcome::Pass) | None => {}
        }
    }
    (Outcome::Pass, mode)
}

fn severity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Pass => 0,
        Outcome::Inconclusive => 1,
        Outcome::Fail => 2,
    }
}

/// Worst first; what blocks before what is advisory.
fn order(finding: &Finding) -> (Reverse<u8>, GateMode, ReasonKind, Option<&ProjectId>, &str) {
    let reason = &finding.reason;
    (Reverse(severity(reason.outcome)), finding.mode, reason.kind, reason.project.as_ref(), &reason.message)
}

fn shown(finding: Finding) -> Reason {
    let mut reason = finding.reason;
    let note = match (finding.mode, reason.outcome) {
        (GateMode::Block, _) | (_, Outcome::Pass) => "",
        (GateMode::Advisory, Outcome::Fail | Outcome::Inconclusive) => " (the gate is advisory here)",
        (GateMode::Off, Outcome::Fail | Outcome::Inconclusive) => " (the gate is off here)",
    };
    reason.message.push_str(note);
    reason
}
