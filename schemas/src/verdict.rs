//! Pass, fail or inconclusive, with reasons that name ids.
//!
//! In: values. Out: [`Verdict`]. I/O: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MutantId, ProjectId};

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing that the policy forbids was found, and everything was looked at.
    Pass,
    /// The policy forbids what was found.
    Fail,
    /// Something could not be judged.
    Inconclusive,
}

/// Whose fault an unknown is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Red because of this diff.
    Change,
    /// Already so at the merge base.
    Base,
    /// The machine: a tool missing, memory, network, a crash.
    Machine,
    /// Time ran out: n of m judged.
    Budget,
}

/// What the gate does with its findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateMode {
    /// Findings decide the exit code.
    #[default]
    Block,
    /// Findings are shown; the exit code is 0 and the verdict says so.
    Advisory,
    /// The gate does not judge.
    Off,
}

/// What a reason is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// Survivors on changed lines.
    Survivors,
    /// Mutants on changed lines that no test reaches.
    NoCoverage,
    /// Timeouts on changed lines, where the policy forbids them.
    Timeouts,
    /// Survivors that the base had as well, where the policy forbids them.
    PreExisting,
    /// The diff's own score is under the policy's floor.
    Score,
    /// A job gave no full answer.
    Job,
    /// Mutants on changed lines without an answer.
    Unknown,
    /// A changed source file that no project claims, or that its tool did not see.
    Unseen,
    /// A stage's counts do not add up.
    Counts,
    /// A waiver is stale or expired.
    Waiver,
    /// There was nothing to mutate; stands beside a pass.
    NothingToMutate,
}

/// One reason of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What this reason alone would make of the verdict.
    pub outcome: Outcome,
    /// What it is about.
    pub kind: ReasonKind,
    /// Whose fault, for inconclusive reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The project, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// One sentence for a reader.
    pub message: String,
    /// The mutants it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<MutantId>,
}

/// The answer and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The answer.
    pub outcome: Outcome,
    /// The mode that the gate ran in; `advisory` and `off` end with exit 0 whatever the outcome.
    pub mode: GateMode,
    /// Why, worst first.
    pub reasons: Vec<Reason>,
}
