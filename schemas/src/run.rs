//! How each tool ran: command lines, containment, baseline, counts per stage, and how it ended.
//!
//! In: values. Out: [`ToolRun`]. I/O: none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cause, ProjectId, RepoDir, RepoPath, ToolId};

/// A stage of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// Versions of tool and runtime; facts outside git.
    Probe,
    /// Fetch, build, baseline.
    Prepare,
    /// Name every mutant of the changed files.
    List,
    /// Run the chosen mutants.
    Test,
    /// Settle doubtful answers.
    Confirm,
    /// One mutant active.
    Replay,
    /// Close the job: is the suite still green?
    Close,
}

/// Somebody's own words and where they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// The words, shortened to what a reader needs.
    pub text: String,
    /// Where they stand: `stderr of list`, `mutants.out/outcomes.json`.
    pub at: String,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RunState {
    /// Everything that was chosen has an answer.
    Complete,
    /// The tool provably saw the changed files and has nothing to mutate on the changed lines.
    NothingToMutate,
    /// Some answers are missing.
    Partial {
        /// Why.
        quote: Quote,
        /// Whose fault.
        cause: Cause,
    },
    /// No answer at all where the diff touches the project's code.
    Nothing {
        /// Why.
        quote: Quote,
        /// Whose fault.
        cause: Cause,
    },
    /// The tests fail without any mutant.
    RedBaseline {
        /// The failing test's words.
        quote: Quote,
        /// `change` when the merge base is green, `base` when it is red as well.
        cause: Cause,
    },
    /// The tool crashed or wrote what cannot be read.
    Broken {
        /// Its words.
        quote: Quote,
        /// Whose fault.
        cause: Cause,
    },
    /// Never started.
    Skipped {
        /// Why, and what to do.
        quote: Quote,
        /// Whose fault.
        cause: Cause,
    },
}

/// How far polymut could wall the tool in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// Namespaces and an overlay over the repository at its own path.
    Sealed,
    /// A copy of the repository's files, a process group and a watchdog.
    Copied,
    /// The sandbox only; walls were dropped by request.
    BestEffort,
}

/// One promise of containment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// A memory ceiling for the whole process tree.
    Memory,
    /// No network beyond loopback.
    Network,
    /// The user's files cannot change.
    Files,
    /// No process outlives the run.
    Tree,
}

/// How a guarantee is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// Whether it was tried and held.
    pub held: bool,
    /// By what: `cgroup v2`, `watchdog`, `network namespace`, `copy` …
    pub by: String,
}

/// What containment a run had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContainmentReached {
    /// The level as a whole.
    pub level: IsolationLevel,
    /// Each guarantee.
    pub guarantees: BTreeMap<Guarantee, Reached>,
}

/// Whether the suite passes without mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineState {
    /// Passed each time.
    Green,
    /// Failed each time.
    Red,
    /// Passed and failed.
    Flickers,
    /// The tool measures its own baseline and polymut has only its word.
    ByTool,
    /// Not measured.
    NotRun,
}

/// The suite without mutants, measured under the same containment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineRun {
    /// What came out.
    pub state: BaselineState,
    /// Seconds of the slowest run of the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// How many runs were made.
    pub runs: u32,
    /// Whether the suite still passed when the job closed; absent when that was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_green: Option<bool>,
}

/// What came into a stage, what went out, and why the rest did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageCount {
    /// The stage.
    pub stage: StageName,
    /// How many mutants were expected; absent where the tool does not say beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// How many records the artifacts held.
    pub parsed: u64,
    /// How many of them count in this stage.
    pub reported: u64,
    /// How many do not, by reason. `parsed == reported + sum(dropped)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u64>,
    /// How many were planned but not reported: they are in `mutants` as `not_run`.
    pub missing: u64,
}

/// A command as it was run, with placeholders instead of machine paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandLine {
    /// The stage it belongs to.
    pub stage: StageName,
    /// The step's name.
    pub step: String,
    /// Folder it starts in.
    pub cwd: RepoDir,
    /// The words, quoted for a shell to read.
    pub line: String,
}

/// Seconds and peaks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Wall seconds of the job.
    pub wall: f64,
    /// Wall seconds per stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<StageName, f64>,
    /// Highest resident memory of the process tree in bytes, where measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
}

/// What the run depended on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Versions of runtimes and plugins by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// SHA-256 of lock files, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lockfiles: BTreeMap<RepoPath, String>,
}

/// One tool on one project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRun {
    /// The project.
    pub project: ProjectId,
    /// Where the tool started.
    pub dir: RepoDir,
    /// The tool.
    pub tool: ToolId,
    /// Its version, as it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// How the job ended.
    pub state: RunState,
    /// What was run.
    pub commands: Vec<CommandLine>,
    /// What containment was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentReached>,
    /// The suite without mutants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineRun>,
    /// Counts per stage.
    pub stages: Vec<StageCount>,
    /// Changed files that the tool provably read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<RepoPath>,
    /// Changed files of the project that the tool was not seen to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<RepoPath>,
    /// Seconds and peaks.
    pub timing: Timing,
    /// What it depended on.
    pub environment: Environment,
    /// What a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
