//! One mutant as the document shows it.
//!
//! In: values. Out: [`Mutant`], [`Status`]. I/O: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MutantId, ProjectId, RepoPath, Span, ToolId};

/// What became of a mutant. The order is from detected to unknown and is the order of every table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A test failed.
    Killed,
    /// The tests did not end within the limit.
    Timeout,
    /// The tests passed the memory ceiling.
    OutOfMemory,
    /// Every test that ran passed.
    Survived,
    /// No test reaches the code.
    NoCoverage,
    /// The mutant does not build.
    Unviable,
    /// Left out by the user's own configuration or a comment in the code.
    Ignored,
    /// Planned, but not tested.
    NotRun,
    /// The tool could not judge it.
    Errored,
    /// Judged twice with two answers.
    Flaky,
}

/// How statuses weigh in the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusGroup {
    /// killed, timeout, out of memory.
    Detected,
    /// survived, no coverage.
    Undetected,
    /// unviable, ignored.
    NotScored,
    /// not run, errored, flaky: on a changed line the verdict is inconclusive.
    Unknown,
}

impl Status {
    /// Every status in table order.
    pub const ALL: [Self; 10] = [
        Self::Killed,
        Self::Timeout,
        Self::OutOfMemory,
        Self::Survived,
        Self::NoCoverage,
        Self::Unviable,
        Self::Ignored,
        Self::NotRun,
        Self::Errored,
        Self::Flaky,
    ];

    /// The group that the gate weighs.
    pub fn group(self) -> StatusGroup {
        match self {
            Self::Killed | Self::Timeout | Self::OutOfMemory => StatusGroup::Detected,
            Self::Survived | Self::NoCoverage => StatusGroup::Undetected,
            Self::Unviable | Self::Ignored => StatusGroup::NotScored,
            Self::NotRun | Self::Errored | Self::Flaky => StatusGroup::Unknown,
        }
    }

    /// The word of the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::Survived => "survived",
            Self::NoCoverage => "no_coverage",
            Self::Unviable => "unviable",
            Self::Ignored => "ignored",
            Self::NotRun => "not_run",
            Self::Errored => "errored",
            Self::Flaky => "flaky",
        }
    }
}

/// What kind of change a mutation operator makes, the same words for every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperatorClass {
    /// `+` for `-`, `*` for `/` …
    Arithmetic,
    /// `<` for `<=`, `==` for `!=` …
    Comparison,
    /// `&&` for `||`, negated conditions, `true` for a condition.
    Logical,
    /// `&`, `|`, `^`, shifts.
    Bitwise,
    /// `++` for `--`, `+=` for `-=`.
    Assignment,
    /// `-x` for `x`, `!x` for `x`.
    Unary,
    /// Another number, text, boolean or null.
    Literal,
    /// A fixed value is returned, or the whole body is replaced.
    ReturnValue,
    /// A call, statement or block is removed.
    Removal,
    /// break for continue, loops that do not run.
    ControlFlow,
    /// A library call is exchanged for another.
    Call,
    /// None of these.
    Other,
}

/// The mutation operator: the tool's own name and its class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operator {
    /// As the tool writes it.
    pub name: String,
    /// The same words for every tool.
    pub class: OperatorClass,
}

/// Whether the change made this mutant possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The base does not have it.
    New,
    /// The base has it with the same result: shown, counted, never the reason of a failure by default.
    PreExisting,
    /// Not known.
    Unknown,
}

/// How often and with what a mutant was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// How many replays were made.
    pub replays: u32,
    /// How many of them agreed with the first answer.
    pub agreed: u32,
    /// What was replayed: the tool's own switch, or the shown diff with the baseline command.
    pub with: String,
}

/// Where the answer came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The artifact, relative to the run's work folder, such as `test/0/mutants.out/outcomes.json`.
    pub artifact: String,
    /// Where in it: a JSON pointer, a line, or a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Whether the answer was taken from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Whether an interrupted run had found it out, and this one went on from there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
}

/// One mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mutant {
    /// Stable name.
    pub id: MutantId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The tool that made it.
    pub tool: ToolId,
    /// The adapter's own key; names the mutant in the tool's own terms.
    pub key: String,
    /// The source file; absent where an imported report names none that can be resolved (see `tool_file`).
    pub file: Option<RepoPath>,
    /// The file as the tool wrote it, where it could not be resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_file: Option<String>,
    /// Where in the file; absent where the tool gives no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The enclosing function, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// What kind of change.
    pub operator: Operator,
    /// The text that was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// The text that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// A unified diff from the repository root that `git apply` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The tool's words about the change, where it gives any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What became of it.
    pub status: Status,
    /// The tool's own word for that.
    pub tool_status: String,
    /// More about it: the failing assertion, the tool's reason, why polymut doubts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Tests that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    /// Tests that reach it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covered_by: Vec<String>,
    /// Seconds that its test took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Whether it touches a changed line.
    pub in_scope: bool,
    /// Whether the change made it possible.
    pub origin: Origin,
    /// How it was replayed, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmation>,
    /// Whether it runs once at load time, where the tool says.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    pub is_static: Option<bool>,
    /// Owners of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// The id of the waiver that accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
    /// Where the answer came from.
    pub provenance: Provenance,
}
