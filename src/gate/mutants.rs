//! What the mutants on changed lines say: survivors, gaps, limits, unknowns, and the score.
//!
//! In: [`Judgement`]. Out: findings. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{
    Cause, GateMode, Mutant, Origin, Outcome, ProjectId, ReasonKind, RepoPath, RunState, Status,
    StatusCounts, StatusGroup, ToolRun,
};

use super::judge::{Finding, Judgement};
use super::policy::Effective;
use super::words::{by_status, count};
use crate::config::{Decision, Score};

/// Mutants that make one reason together.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bin<'a> {
    kind: ReasonKind,
    outcome: Outcome,
    cause: Option<Cause>,
    mode: GateMode,
    project: &'a ProjectId,
}

/// Everything that single mutants say.
pub(super) fn findings(input: &Judgement<'_>) -> Vec<Finding> {
    let mut policies = Policies { input, known: BTreeMap::new() };
    let mut bins: BTreeMap<Bin<'_>, Vec<&Mutant>> = BTreeMap::new();
    let mut scores: BTreeMap<usize, Floor> = BTreeMap::new();
    for mutant in input.mutants.iter().filter(|mutant| mutant.in_scope) {
        let effective = policies.at(mutant.file.as_ref());
        let waived = input.waivers.accepting(&mutant.id, input.today).is_some();
        if let Some(bin) = (!waived).then(|| bin(input, mutant, &effective)).flatten() {
            bins.entry(bin).or_default().push(mutant);
        }
        if let Some((rule, least)) = effective.min_score.filter(|_| scored(mutant, &effective, waived)) {
            let floor = scores.entry(rule).or_insert_with(|| Floor::new(least, effective.mode));
            floor.mode = floor.mode.min(effective.mode);
            floor.counts.add(mutant.status);
        }
    }
    let singles = bins.into_iter().map(|(bin, mutants)| finding(&bin, &mutants));
    singles.chain(scores.into_values().filter_map(|floor| floor.finding())).collect()
}

/// Policies by file, so that a hundred thousand mutants do not ask a hundred thousand times.
struct Policies<'a> {
    input: &'a Judgement<'a>,
    known: BTreeMap<Option<&'a RepoPath>, Effective>,
}

impl<'a> Policies<'a> {
    fn at(&mut self, file: Option<&'a RepoPath>) -> Effective {
        *self.known.entry(file).or_insert_with(|| self.input.policy.at(file))
    }
}

fn bin<'a>(input: &Judgement<'_>, mutant: &'a Mutant, effective: &Effective) -> Option<Bin<'a>> {
    let (kind, outcome, cause) = match (mutant.status, mutant.origin) {
        (Status::Killed | Status::Unviable | Status::Ignored, _) => return None,
        (Status::Survived | Status::NoCoverage, Origin::PreExisting) => {
            (ReasonKind::PreExisting, decided(effective.pre_existing), None)
        }
        (Status::Survived, Origin::New | Origin::Unknown) => {
            (ReasonKind::Survivors, decided(effective.survivors), None)
        }
        (Status::NoCoverage, Origin::New | Origin::Unknown) => {
            (ReasonKind::NoCoverage, decided(effective.no_coverage), None)
        }
        (Status::Timeout | Status::OutOfMemory, _) => match effective.timeouts {
            Decision::Allow => return None,
            Decision::Fail => (ReasonKind::Timeouts, Outcome::Fail, None),
        },
        (Status::NotRun | Status::Errored | Status::Flaky, _) => {
            let cause = cause(input.runs, mutant);
            (ReasonKind::Unknown, effective.unknown(cause), Some(cause))
        }
    };
    let mode = if outcome == Outcome::Pass { GateMode::Block } else { effective.mode };
    Some(Bin { kind, outcome, cause, mode, project: &mutant.project })
}

fn decided(decision: Decision) -> Outcome {
    match decision {
        Decision::Allow => Outcome::Pass,
        Decision::Fail => Outcome::Fail,
    }
}

/// Whose fault it is that a mutant has no answer: what stopped its job, else the machine.
fn cause(runs: &[ToolRun], mutant: &Mutant) -> Cause {
    let mut own = runs.iter().filter(|run| run.project == mutant.project && mutant.status == Status::NotRun);
    own.find_map(|run| stopped_by(&run.state)).unwrap_or(Cause::Machine)
}

fn stopped_by(state: &RunState) -> Option<Cause> {
    match state {
        RunState::Complete | RunState::NothingToMutate => None,
        RunState::Partial { cause, .. }
        | RunState::Nothing { cause, .. }
        | RunState::RedBaseline { cause, .. }
        | RunState::Broken { cause, .. }
        | RunState::Skipped { cause, .. } => Some(*cause),
    }
}

fn finding(bin: &Bin<'_>, mutants: &[&Mutant]) -> Finding {
    let n = mutants.len();
    let allowed = if bin.outcome == Outcome::Pass { "; the policy allows it" } else { "" };
    let message = match bin.kind {
        ReasonKind::Survivors => {
            format!("{} on changed lines{allowed}", count(n, "mutant survived", "mutants survived"))
        }
        ReasonKind::NoCoverage => {
            format!("no test reaches {} on changed lines{allowed}", count(n, "mutant", "mutants"))
        }
        ReasonKind::PreExisting => {
            format!("{} that the base had as well{allowed}", count(n, "survivor", "survivors"))
        }
        ReasonKind::Timeouts => format!(
            "{} on changed lines ran into a limit ({})",
            count(n, "mutant", "mutants"),
            by_status(mutants)
        ),
        ReasonKind::Unknown
        | ReasonKind::Score
        | ReasonKind::Job
        | ReasonKind::Unseen
        | ReasonKind::Counts
        | ReasonKind::Waiver
        | ReasonKind::NothingToMutate => format!(
            "{} on changed lines without an answer ({})",
            count(n, "mutant", "mutants"),
            by_status(mutants)
        ),
    };
    let mut finding = Finding::new(bin.mode, bin.outcome, bin.kind, message);
    finding.reason.cause = bin.cause;
    finding.of(bin.project).about(mutants.iter().map(|mutant| mutant.id.clone()))
}

/// Whether a mutant counts for `min-score`: what is waived, or old and allowed, is not held against the change.
fn scored(mutant: &Mutant, effective: &Effective, waived: bool) -> bool {
    let old = mutant.origin == Origin::PreExisting && effective.pre_existing == Decision::Allow;
    match mutant.status.group() {
        StatusGroup::Detected => true,
        StatusGroup::Undetected => !waived && !old,
        StatusGroup::NotScored | StatusGroup::Unknown => false,
    }
}

/// The mutants under one `min-score`.
struct Floor {
    least: Score,
    mode: GateMode,
    counts: StatusCounts,
}

impl Floor {
    fn new(least: Score, mode: GateMode) -> Self {
        Self { least, mode, counts: StatusCounts::default() }
    }

    fn finding(&self) -> Option<Finding> {
        let score = self.counts.score().filter(|score| *score + 1e-9 < self.least.value())?;
        let message = format!(
            "{:.1} % of the mutants on changed lines were detected; the policy wants {:.1} %",
            score * 100.0,
            self.least.value() * 100.0
        );
        Some(Finding::new(self.mode, Outcome::Fail, ReasonKind::Score, message))
    }
}
