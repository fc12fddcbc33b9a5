//! The policy as it holds for one file or one project.
//!
//! In: `[gate]` of `polymut.toml`. Out: [`GatePolicy`], [`Effective`]. I/O: none.

use polymut_schemas::{Cause, GateMode, Outcome, RepoPath};

use crate::config::{Causes, Decision, GateConfig, GateRule, Raise, Score};

/// What fails a change, path by path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GatePolicy {
    config: GateConfig,
    softened: bool,
}

/// The settings that hold for one file, or for one project.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effective {
    /// Whether findings decide the exit code.
    pub(super) mode: GateMode,
    /// Survivors on changed lines.
    pub(super) survivors: Decision,
    /// Mutants that no test reaches.
    pub(super) no_coverage: Decision,
    /// Mutants that ran into a limit.
    pub(super) timeouts: Decision,
    /// Survivors that the base had as well.
    pub(super) pre_existing: Decision,
    /// Stale and expired waivers.
    pub(super) waivers: Decision,
    /// Per inconclusive cause.
    pub(super) causes: Causes,
    /// Least score, and the number of the rule that says so (0: `[gate]` itself).
    pub(super) min_score: Option<(usize, Score)>,
}

impl GatePolicy {
    /// The policy that `[gate]` writes down.
    pub fn new(config: &GateConfig) -> Self {
        Self { config: config.clone(), softened: false }
    }

    /// The same policy with exit 0 in any case (`--no-fail`).
    #[must_use]
    pub fn advisory(self) -> Self {
        Self { softened: true, ..self }
    }

    /// The mode where no rule says otherwise.
    pub(super) fn mode(&self) -> GateMode {
        self.base().mode
    }

    /// What holds for `file`: for each setting the last rule that matches and has it, else `[gate]`.
    pub(super) fn at(&self, file: Option<&RepoPath>) -> Effective {
        let mut effective = self.base();
        for (number, rule) in self.config.rules.iter().enumerate() {
            if file.is_some_and(|file| rule.paths.iter().any(|glob| glob.covers(file))) {
                effective.overlay(rule, number + 1);
            }
        }
        if self.softened {
            effective.mode = effective.mode.max(GateMode::Advisory);
        }
        effective
    }

    /// What holds for something that concerns several files: the strictest of what holds for each.
    pub(super) fn over<'a>(&self, files: impl IntoIterator<Item = &'a RepoPath>) -> Effective {
        let each = files.into_iter().map(|file| self.at(Some(file)));
        each.reduce(Effective::stricter).unwrap_or_else(|| self.at(None))
    }

    fn base(&self) -> Effective {
        let gate = &self.config;
        let mode = gate.mode.unwrap_or_default();
        Effective {
            mode: if self.softened { mode.max(GateMode::Advisory) } else { mode },
            survivors: gate.survivors_in_diff.unwrap_or(Decision::Fail),
            no_coverage: gate.no_coverage.unwrap_or(Decision::Fail),
            timeouts: gate.timeouts.unwrap_or(Decision::Allow),
            pre_existing: gate.pre_existing.unwrap_or(Decision::Allow),
            waivers: gate.waivers.unwrap_or(Decision::Allow),
            causes: gate.inconclusive,
            min_score: gate.min_score.map(|score| (0, score)),
        }
    }
}

impl Effective {
    /// What an unknown with `cause` makes of the verdict.
    pub(super) fn unknown(&self, cause: Cause) -> Outcome {
        match raise(self.causes, cause) {
            Some(Raise::Fail) => Outcome::Fail,
            Some(Raise::Inconclusive) | None => Outcome::Inconclusive,
        }
    }

    fn overlay(&mut self, rule: &GateRule, number: usize) {
        self.mode = rule.mode.unwrap_or(self.mode);
        self.survivors = rule.survivors_in_diff.unwrap_or(self.survivors);
        self.no_coverage = rule.no_coverage.unwrap_or(self.no_coverage);
        self.timeouts = rule.timeouts.unwrap_or(self.timeouts);
        self.pre_existing = rule.pre_existing.unwrap_or(self.pre_existing);
        self.waivers = rule.waivers.unwrap_or(self.waivers);
        self.causes = both(rule.inconclusive, self.causes, Option::or);
        self.min_score = rule.min_score.map(|score| (number, score)).or(self.min_score);
    }

    fn stricter(self, other: Self) -> Self {
        Self {
            mode: self.mode.min(other.mode),
            survivors: self.survivors.max(other.survivors),
            no_coverage: self.no_coverage.max(other.no_coverage),
            timeouts: self.timeouts.max(other.timeouts),
            pre_existing: self.pre_existing.max(other.pre_existing),
            waivers: self.waivers.max(other.waivers),
            causes: both(self.causes, other.causes, Option::max),
            min_score: self.min_score.or(other.min_score),
        }
    }
}

fn raise(causes: Causes, cause: Cause) -> Option<Raise> {
    match cause {
        Cause::Change => causes.change,
        Cause::Base => causes.base,
        Cause::Machine => causes.machine,
        Cause::Budget => causes.budget,
    }
}

fn both(a: Causes, b: Causes, pick: fn(Option<Raise>, Option<Raise>) -> Option<Raise>) -> Causes {
    Causes {
        change: pick(a.change, b.change),
        base: pick(a.base, b.base),
        machine: pick(a.machine, b.machine),
        budget: pick(a.budget, b.budget),
    }
}
