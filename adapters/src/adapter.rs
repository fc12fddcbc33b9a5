//! The joint between polymut and a tool: [`Adapter`] and what it is given.
//!
//! In: a project, its changed lines, settings, facts and past rounds. Out: plans and raw mutants. I/O: none.

use std::collections::BTreeMap;
use std::time::Duration;

use polymut_schemas::{
    LineSet, Mutant, OperatorClass, ProjectId, RepoDir, RepoPath, ScopeWidth, StageName, ToolId,
};

use crate::{Doubt, Key, ParseError, Parsed, Piece, Plan, PlanError, Ran, StorePath, Tick, ToolInfo, Tree};

/// One mutation tool: data plus pure functions over bytes. No file system, process, clock or environment.
pub trait Adapter: Sync {
    /// What is known of the tool beforehand.
    fn info(&self) -> &'static ToolInfo;

    /// The projects of the tree that this tool can run in. Deterministic, sorted by folder.
    fn detect(&self, tree: &Tree) -> Vec<Project>;

    /// The commands of one stage; `None`: this tool, at this version, has no such stage.
    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError>;

    /// What the stage left, however it ended. Called once per sandbox; the pipeline unites them by [`Key`].
    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError>;

    /// Whether `path`, a file of `project`, is test code by the language's conventions: never mutated, and named as
    /// such when only tests changed.
    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        let _ = (project, path);
        false
    }

    /// Progress from one line of a running step's output; lines end at `\n` or `\r`.
    fn watch(&self, _step: &str, _line: &str) -> Option<Tick> {
        None
    }

    /// Reports that the tool wrote elsewhere, each with its file name, without repository or source:
    /// one raw mutant per reported mutant, statuses counted exactly (`polymut import`).
    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        let _ = files;
        Err(ParseError::NoImport { tool: self.info().id })
    }
}

/// One folder that one tool can run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The tool.
    pub tool: ToolId,
    /// Where the tool starts: workspace, reactor, module.
    pub dir: RepoDir,
    /// Folders whose files belong to the project; the deepest claim of a tool on a file wins.
    pub owns: Vec<RepoDir>,
    /// What the adapter wants to remember from detection. The key [`Project::CONFIGURED`] is read by the planner.
    pub memo: BTreeMap<String, Vec<String>>,
}

impl Project {
    /// Memo key: present when the project has this tool's own configuration. Where two tools claim one file, the
    /// configured one runs.
    pub const CONFIGURED: &'static str = "configured";

    /// Memo key: the words of the project's own command. Such a project wins every file that it claims.
    pub const OWN: &'static str = "own command";

    /// Whether the project runs a command of its own.
    pub fn is_own(&self) -> bool {
        self.memo.contains_key(Self::OWN)
    }

    /// Whether the project has this tool's own configuration.
    pub fn is_configured(&self) -> bool {
        self.memo.contains_key(Self::CONFIGURED)
    }

    /// The project's name in the document.
    pub fn id(&self) -> ProjectId {
        ProjectId::of(&self.tool, &self.dir)
    }
}

/// Which mutation operators a project asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OperatorSet {
    /// Conditions, comparisons and returned values only.
    Logic,
    /// The tool's own default.
    #[default]
    Default,
    /// Everything the tool can do.
    All,
}

impl OperatorSet {
    /// Whether a mutant of this class is asked for, where the tool itself cannot leave the others out. With
    /// [`OperatorSet::Logic`] a mutant whose class is not known is not.
    pub fn takes(self, class: Option<OperatorClass>) -> bool {
        match (self, class) {
            (Self::Default | Self::All, _) => true,
            (Self::Logic, Some(class)) => matches!(
                class,
                OperatorClass::Comparison | OperatorClass::Logical | OperatorClass::ReturnValue
            ),
            (Self::Logic, None) => false,
        }
    }
}

/// What `polymut.toml` says of a project, merged with the command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectSettings {
    /// Wanted version of the tool.
    pub version: Option<String>,
    /// More words for the tool.
    pub args: Vec<String>,
    /// More environment variables.
    pub env: BTreeMap<String, String>,
    /// The project's own test command, for tools that take one and for replays.
    pub test_command: Option<Vec<String>>,
    /// Which operators.
    pub operators: OperatorSet,
}

/// A command of the project's own whose reports are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// The words.
    pub command: Vec<String>,
    /// Globs below the project folder for the reports that it writes.
    pub reports: Vec<String>,
    /// The tool whose format the reports have.
    pub format: String,
}

/// The new side of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Changed lines in scope.
    pub lines: LineSet,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Whether the file is new, so that every line counts.
    pub added: bool,
}

/// The changed source files that a project owns: only those with lines in scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// By path.
    pub files: BTreeMap<RepoPath, ChangedFile>,
    /// How far a changed line reaches.
    pub width: ScopeWidth,
}

/// What Probe and later stages learned, by name: `tool.version`, `node.version`, `plugin.vitest` …
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts(pub BTreeMap<String, Vec<String>>);

impl Facts {
    /// The first value of `name`.
    pub fn one(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|values| values.first()).map(String::as_str)
    }

    /// Every value of `name`.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Sets `name` to one value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), vec![value.into()]);
    }

    /// Takes over every value of `other`.
    pub fn absorb(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// What a baseline measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaselineLimits {
    /// Wall time of the slowest baseline step.
    pub wall: Duration,
}

/// How long a mutant's test may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Multiple of the baseline.
    pub factor: f64,
    /// Least limit.
    pub floor: Duration,
    /// Measured in Prepare; `None` before.
    pub baseline: Option<BaselineLimits>,
}

impl Limits {
    /// `factor × baseline + floor`, once a baseline is known.
    pub fn test(&self) -> Option<Duration> {
        self.baseline.map(|baseline| baseline.wall.mul_f64(self.factor) + self.floor)
    }
}

/// A stage that this job has already run. Several entries with the same stage are several rounds or sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    /// The stage.
    pub stage: StageName,
    /// Round within the stage, from 0.
    pub round: u32,
    /// Sandbox within the round, from 0.
    pub sandbox: u32,
}

/// Everything an adapter may look at.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The project.
    pub project: &'a Project,
    /// Files of the repository (new side) and the bytes of manifests.
    pub tree: &'a Tree,
    /// What the user set.
    pub settings: &'a ProjectSettings,
    /// New side of the diff: lines and bytes of the files this project owns.
    pub changed: &'a Changed,
    /// Learned by Probe and later stages.
    pub facts: &'a Facts,
    /// Factor, floor, and the baseline measured in Prepare.
    pub limits: &'a Limits,
    /// Every round this job has run, bytes included.
    pub past: &'a [(Round, Ran)],
}

impl<'a> Job<'a> {
    /// The rounds of `stage`, oldest first.
    pub fn rounds(&self, stage: StageName) -> impl Iterator<Item = &'a Ran> + use<'a> {
        self.past.iter().filter(move |(round, _)| round.stage == stage).map(|(_, ran)| ran)
    }

    /// Which round of `stage` is being planned or parsed: how many rounds of it are in the past.
    pub fn round(&self, stage: StageName) -> u32 {
        self.past
            .iter()
            .filter(|(round, _)| round.stage == stage)
            .map(|(round, _)| round.round + 1)
            .max()
            .unwrap_or(0)
    }
}

/// What is planned or parsed.
#[derive(Clone, Copy)]
pub enum Stage<'a> {
    /// Version commands; files outside git.
    Probe,
    /// Fetch, build, baseline.
    Prepare,
    /// Name every mutant of the changed files.
    List,
    /// Run at least these; anything reported beyond them is dropped as "not chosen", counted.
    Test(&'a Units),
    /// Settle doubtful kills, survivors, timeouts: one step each.
    Confirm(&'a [Suspect]),
    /// One mutant active; the last step is its test. `None`: apply the diff, run the baseline command.
    Replay(&'a Mutant),
}

impl Stage<'_> {
    /// The stage's name in the document.
    pub fn name(self) -> StageName {
        match self {
            Self::Probe => StageName::Probe,
            Self::Prepare => StageName::Prepare,
            Self::List => StageName::List,
            Self::Test(_) => StageName::Test,
            Self::Confirm(_) => StageName::Confirm,
            Self::Replay(_) => StageName::Replay,
        }
    }
}

/// What the test stage must run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Units {
    /// Whole files, where the tool has no list stage.
    Files(Vec<RepoPath>),
    /// Exactly these mutants.
    Mutants(Vec<Key>),
}

/// A mutant whose answer is doubted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The mutant.
    pub key: Key,
    /// Why.
    pub why: Doubt,
}

/// A word of a command that names something in the store.
pub fn in_store(path: StorePath) -> Vec<Piece> {
    vec![Piece::Store(path)]
}
