//! A mutant as the tool wrote it, before paths, columns and scope are settled.
//!
//! In: an artifact's contents. Out: [`Parsed`]. I/O: none.

use polymut_schemas::{OperatorClass, Quote, RepoDir, Status};

use crate::Facts;

/// The adapter's own name for a mutant, equal in every stage for equal source and tool version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub String);

/// What one stage left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// How the stage ended.
    pub finish: Finish,
    /// Plan this stage again, with this round now in `job.past`.
    pub more: bool,
    /// What was learned.
    pub facts: Facts,
    /// The suite without mutants, where this stage ran it.
    pub baseline: Option<Baseline>,
    /// How many mutants were to be expected.
    pub promised: Promised,
    /// Files that the tool provably read.
    pub seen: Vec<RawPath>,
    /// Mutants.
    pub mutants: Vec<RawMutant>,
    /// What a reader should know.
    pub notes: Vec<Note>,
}

/// How a stage ended, as the adapter reads it.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Finish {
    /// Everything that was asked for was done.
    #[default]
    Complete,
    /// Some of it.
    Partial(Quote),
    /// Nothing of it.
    Nothing(Quote),
    /// The tests fail without a mutant.
    RedBaseline(Quote),
    /// The tool crashed, or its report cannot be believed.
    Broken(Quote),
}

/// The suite without mutants, as this stage saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Whether it passed.
    pub green: bool,
    /// Seconds, where known.
    pub seconds: Option<f64>,
}

/// How many mutants were to be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promised {
    /// The stage's own list has this many.
    Listed(u64),
    /// The tool printed this total.
    Announced(u64),
    /// The tool does not say, for this reason. Needs [`Finish::Complete`] and is shown.
    Unknown(&'static str),
}

impl Default for Promised {
    fn default() -> Self {
        Self::Unknown("this stage reports no mutants")
    }
}

/// A sentence for the run's notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note(pub String);

/// One mutant in the tool's own terms.
#[derive(Debug, Clone, PartialEq)]
pub struct RawMutant {
    /// The adapter's name for it.
    pub key: Key,
    /// Its file.
    pub path: RawPath,
    /// Its place.
    pub span: RawSpan,
    /// What became of it; `None`: only listed.
    pub status: Option<Status>,
    /// The tool's word for the status (or `listed`).
    pub word: String,
    /// Why the answer is doubted, if it is.
    pub doubt: Option<Doubt>,
    /// The change.
    pub change: Change,
    /// Tests.
    pub tests: Tests,
    /// Enclosing function, as the tool names it.
    pub function: Option<String>,
    /// More about the status: assertion, reason.
    pub detail: Option<String>,
    /// Seconds.
    pub duration: Option<f64>,
    /// Whether it runs once at load time.
    pub is_static: Option<bool>,
    /// Where in the artifact it stands: a JSON pointer, `line 12`, `row 3`.
    pub pointer: Option<String>,
    /// The artifact's path.
    pub artifact: String,
}

/// A file as the tool names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RawPath {
    /// Relative to the project's folder.
    FromProject(String),
    /// Relative to the repository root.
    FromRepo(String),
    /// As the tool saw it in its sandbox.
    Absolute(String),
    /// A bare file name of a package below one of these source roots (PIT).
    Declared {
        /// Source roots.
        roots: Vec<RepoDir>,
        /// Package, dots between parts; empty for the default package.
        package: String,
        /// File name.
        file: String,
    },
}

/// What a column counts. Lines are always 1-based; columns are 1-based unless the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Unicode scalar values from 1 (cargo-mutants).
    Chars,
    /// UTF-16 code units from 1 (Stryker family).
    Utf16,
    /// Bytes from 1 (gremlins).
    Bytes,
    /// Unicode scalar values from 0 (cosmic-ray, mutmut).
    CharsFromZero,
    /// The tool gives lines only.
    None,
}

/// A position in the tool's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawPosition {
    /// 1-based line.
    pub line: u32,
    /// Column in the span's unit.
    pub column: Option<u32>,
}

/// A span in the tool's own unit; `end` exclusive. A start line of 0 means that the tool gives no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawSpan {
    /// First character.
    pub start: RawPosition,
    /// First character after it.
    pub end: Option<RawPosition>,
    /// What columns count.
    pub unit: ColumnUnit,
}

/// What the mutant changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The tool's name of the operator.
    pub operator: String,
    /// Its class.
    pub class: Option<OperatorClass>,
    /// The text that is replaced, when the tool says it; else the normaliser takes it from span and source.
    pub original: Option<String>,
    /// The text that replaces it, as valid in the source (parenthesised where needed).
    pub replacement: Option<String>,
    /// A unified diff with `a/` and `b/` paths relative to the project folder, when the adapter has a better one than
    /// span and replacement give.
    pub diff: Option<String>,
    /// The tool's words about the change.
    pub description: Option<String>,
}

/// Tests that the tool names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tests {
    /// Those that failed.
    pub killed_by: Vec<String>,
    /// Those that reach the mutant.
    pub covered_by: Vec<String>,
}

/// Why an answer is doubted; the confirm stage settles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Survived, and no test was run.
    NoTestRun,
    /// Survived, though the tool loads the code before it switches the mutant on.
    LoadedBefore,
    /// Killed, though a build error looks the same to the tool.
    MaybeBuildError,
    /// Killed by a failure of the environment as likely as by a test.
    MaybeEnvironment,
    /// Timed out, which load can do as well.
    Load,
    /// A verdict that is known to flip between runs.
    Flips,
    /// The process died without saying why.
    Died,
}

/// Progress of a running step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// Mutants done so far.
    pub done: Option<u64>,
    /// Mutants in all.
    pub total: Option<u64>,
    /// A word for the progress line.
    pub word: Option<String>,
}
