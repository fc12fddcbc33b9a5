//! What the jobs say: how each ended, whether its suite was green, whether its counts add up, whether it saw the
//! changed files, and whether its kills can be believed.
//!
//! In: [`Judgement`]. Out: findings. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{
    BaselineState, Cause, Mutant, ProjectId, ReasonKind, RepoPath, RunState, StageCount, Status,
    StatusCounts, StatusGroup, ToolRun,
};

use super::judge::{Finding, Judgement};
use super::policy::Effective;
use super::scope::changed_files;
use super::words::{count, some};

/// From so many timeouts on, with nothing else detected, nobody knows whether a test ever asserted anything.
const MANY_TIMEOUTS: u64 = 5;

/// Everything that single jobs say.
pub(super) fn findings(input: &Judgement<'_>) -> Vec<Finding> {
    let mut by_project: BTreeMap<&ProjectId, Vec<&Mutant>> = BTreeMap::new();
    for mutant in input.mutants {
        by_project.entry(&mutant.project).or_default().push(mutant);
    }
    let mut findings = Vec::new();
    for run in input.runs {
        let mutants = by_project.get(&run.project).map(Vec::as_slice).unwrap_or_default();
        let changed = changed_files(input.scope, &run.project);
        let effective = input.policy.over(changed.iter().copied());
        findings.extend(Job { run, mutants, changed, effective }.findings());
    }
    findings.extend(strangers(input, &by_project));
    findings
}

/// Mutants of projects that no job names: the document contradicts itself.
fn strangers(input: &Judgement<'_>, by_project: &BTreeMap<&ProjectId, Vec<&Mutant>>) -> Vec<Finding> {
    let run: BTreeSet<&ProjectId> = input.runs.iter().map(|run| &run.project).collect();
    let lone = by_project.iter().filter(|(project, _)| !run.contains(*project));
    lone.map(|(project, mutants)| {
        let effective = input.policy.over(mutants.iter().filter_map(|mutant| mutant.file.as_ref()));
        let message = format!("{} of a project that no job names", count(mutants.len(), "mutant", "mutants"));
        Finding::unknown(&effective, Cause::Machine, ReasonKind::Counts, message).of(project)
    })
    .collect()
}

/// One job with what belongs to it.
struct Job<'a> {
    run: &'a ToolRun,
    mutants: &'a [&'a Mutant],
    changed: Vec<&'a RepoPath>,
    effective: Effective,
}

impl Job<'_> {
    fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.counts().into_iter().collect();
        match &self.run.state {
            RunState::Complete | RunState::NothingToMutate => {
                findings.extend(self.unseen());
                findings.extend(self.suite());
                findings.extend(self.answers());
            }
            RunState::Partial { .. } => {
                findings.extend(self.ended());
                findings.extend(self.suite());
            }
            RunState::Nothing { .. }
            | RunState::RedBaseline { .. }
            | RunState::Broken { .. }
            | RunState::Skipped { .. } => findings.extend(self.ended()),
        }
        findings
    }

    fn unknown(&self, cause: Cause, kind: ReasonKind, message: String) -> Finding {
        Finding::unknown(&self.effective, cause, kind, message).of(&self.run.project)
    }

    fn notice(&self, kind: ReasonKind, message: String) -> Finding {
        Finding::notice(kind, message).of(&self.run.project)
    }

    /// Statuses of the mutants on changed lines.
    fn statuses(&self) -> StatusCounts {
        let mut counts = StatusCounts::default();
        for mutant in self.mutants.iter().filter(|mutant| mutant.in_scope) {
            counts.add(mutant.status);
        }
        counts
    }

    /// The job gave no full answer: in the tool's own words.
    fn ended(&self) -> Option<Finding> {
        let (what, quote, cause) = match &self.run.state {
            RunState::Complete | RunState::NothingToMutate => return None,
            RunState::Partial { quote, cause } => ("some answers are missing", quote, cause),
            RunState::Nothing { quote, cause } => {
                ("no answer where the change touches its code", quote, cause)
            }
            RunState::RedBaseline { quote, cause } => ("the tests fail without any mutant", quote, cause),
            RunState::Broken { quote, cause } => {
                ("the tool broke or its report cannot be read", quote, cause)
            }
            RunState::Skipped { quote, cause } => ("it was not started", quote, cause),
        };
        let words = quote.text.trim();
        let said = if words.is_empty() { "it said nothing" } else { words };
        Some(self.unknown(*cause, ReasonKind::Job, format!("{what}: {said} ({})", quote.at)))
    }

    /// A kill counts only while the suite is known to be green.
    fn suite(&self) -> Option<Finding> {
        let unknown = |cause, message: &str| Some(self.unknown(cause, ReasonKind::Job, message.to_owned()));
        let detected = self.statuses().group(StatusGroup::Detected) > 0;
        let Some(baseline) = &self.run.baseline else {
            return detected
                .then(|| {
                    "kills without a measured baseline: nobody knows whether the suite was green".to_owned()
                })
                .map(|message| self.unknown(Cause::Machine, ReasonKind::Job, message));
        };
        match (baseline.state, baseline.still_green) {
            (BaselineState::Red, _) => unknown(Cause::Change, "the tests fail without any mutant"),
            (BaselineState::Flickers, _) => unknown(
                Cause::Machine,
                "the tests pass and fail without any mutant; name steady ones in `test-command`",
            ),
            (BaselineState::NotRun, _) if detected => unknown(
                Cause::Machine,
                "kills without a measured baseline: nobody knows whether the suite was green",
            ),
            (BaselineState::Green | BaselineState::ByTool | BaselineState::NotRun, Some(false)) => unknown(
                Cause::Machine,
                "the tests failed without any mutant when the job closed; its kills prove nothing",
            ),
            (BaselineState::Green | BaselineState::ByTool | BaselineState::NotRun, Some(true) | None) => None,
        }
    }

    /// Changed files that the tool was not seen to read.
    fn unseen(&self) -> Option<Finding> {
        let seen: BTreeSet<&RepoPath> = self.run.seen.iter().collect();
        let mutated: BTreeSet<&RepoPath> =
            self.mutants.iter().filter_map(|mutant| mutant.file.as_ref()).collect();
        let missed = |path: &&RepoPath| !seen.contains(*path) && !mutated.contains(*path);
        let mut unseen: BTreeSet<&RepoPath> = self.changed.iter().copied().filter(missed).collect();
        unseen.extend(&self.run.unseen);
        (!unseen.is_empty()).then(|| {
            let message = format!("the tool was not seen to read {}", some(&unseen));
            self.unknown(Cause::Machine, ReasonKind::Unseen, message)
        })
    }

    /// Whether the answers of a job that calls itself complete can carry a pass.
    fn answers(&self) -> Option<Finding> {
        let counts = self.statuses();
        let of = |group| counts.group(group);
        let nothing = self.run.state == RunState::NothingToMutate;
        if counts.total() == 0 {
            let files = count(self.changed.len(), "changed file", "changed files");
            let message = format!("nothing to mutate on the changed lines of {files}");
            return Some(self.notice(ReasonKind::NothingToMutate, message));
        }
        if nothing {
            let message = format!(
                "nothing to mutate, but {} in the report",
                count(self.mutants.len(), "mutant", "mutants")
            );
            return Some(self.unknown(Cause::Machine, ReasonKind::Counts, message));
        }
        let scored = of(StatusGroup::Detected) + of(StatusGroup::Undetected) + of(StatusGroup::Unknown);
        if scored == 0 && counts.of(Status::Unviable) > 0 {
            let message = format!("none of {} on changed lines builds: nothing was tested", counts.total());
            return Some(self.unknown(Cause::Machine, ReasonKind::Job, message));
        }
        if scored == 0 {
            let message = format!(
                "all {} mutants on changed lines are left out by configuration or comment",
                counts.total()
            );
            return Some(self.notice(ReasonKind::NothingToMutate, message));
        }
        self.timeouts(&counts)
    }

    fn timeouts(&self, counts: &StatusCounts) -> Option<Finding> {
        let limited = counts.of(Status::Timeout) + counts.of(Status::OutOfMemory);
        let detected = counts.group(StatusGroup::Detected);
        if limited < MANY_TIMEOUTS || limited * 2 <= detected {
            return None;
        }
        if limited == detected && counts.group(StatusGroup::Undetected) == 0 {
            let message =
                format!("all {limited} answers are timeouts: no test was ever seen to fail or to pass");
            return Some(self.unknown(Cause::Machine, ReasonKind::Timeouts, message));
        }
        let message =
            format!("{limited} of {detected} detected mutants ran into a limit: few tests really failed");
        Some(self.notice(ReasonKind::Timeouts, message))
    }

    /// What came into each stage has to come out again.
    fn counts(&self) -> Option<Finding> {
        let complete = matches!(self.run.state, RunState::Complete | RunState::NothingToMutate);
        let wrong = |stage: &&StageCount| !adds_up(stage) || (complete && stage.missing > 0);
        let stage = self.run.stages.iter().find(wrong)?;
        let dropped: u128 = stage.dropped.values().map(|number| u128::from(*number)).sum();
        let planned =
            stage.planned.map_or_else(|| "an unknown number".to_owned(), |number| number.to_string());
        let message = format!(
            "the counts of {:?} do not add up: {planned} planned, {} read, {} reported, {dropped} dropped, {} missing",
            stage.stage, stage.parsed, stage.reported, stage.missing
        );
        Some(self.unknown(Cause::Machine, ReasonKind::Counts, message))
    }
}

fn adds_up(stage: &StageCount) -> bool {
    let dropped: u128 = stage.dropped.values().map(|number| u128::from(*number)).sum();
    let out = u128::from(stage.reported) + dropped;
    let found = u128::from(stage.parsed) + u128::from(stage.missing);
    u128::from(stage.parsed) == out && stage.planned.is_none_or(|planned| u128::from(planned) <= found)
}
