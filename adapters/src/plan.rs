//! A stage as steps: commands, generated files and expected artifacts, with placeholders instead of machine paths.
//!
//! In: an adapter's decisions. Out: [`Plan`]. I/O: none.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use camino::Utf8PathBuf;
use polymut_schemas::{PathError, RepoDir, RepoPath};

use crate::Key;

/// A path below the job's private work folder (outside the sandbox's repository), `/` between parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkPath(Utf8PathBuf);

/// A path below a tool's folder in the private store. The first part is the tool's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(Utf8PathBuf);

macro_rules! scratch_path {
    ($name:ident) => {
        impl $name {
            /// Checks `text`: relative, no `..`; the empty path is the folder itself.
            pub fn new(text: impl AsRef<str>) -> Result<Self, PathError> {
                RepoDir::new(text).map(|dir| Self(dir.as_path().to_path_buf()))
            }

            /// The path as text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
scratch_path!(WorkPath);
scratch_path!(StorePath);

/// The steps of one stage and what to gather afterwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In order; a step starts when the one before ended with an exit code of its `go_on`. After another end nothing
    /// starts any more, except that steps about one mutant do not decide for others: the steps about other mutants
    /// still run (a mutant that hangs in Confirm leaves the rest to be settled).
    pub steps: Vec<Step>,
    /// Artifacts to read when the last step has ended, however it ended.
    pub gather: Vec<Gather>,
    /// How finely the tool itself follows the scope.
    pub fit: ScopeFit,
}

/// How finely a tool follows the scope by itself; polymut filters the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeFit {
    /// Exactly the chosen mutants.
    Mutant,
    /// Lines.
    Line,
    /// Functions.
    Function,
    /// Files or classes.
    File,
    /// The whole project.
    Project,
}

/// One process.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Unique within the plan; names logs.
    pub name: String,
    /// The mutant that this step is about, in Confirm and Replay.
    pub about: Option<Key>,
    /// What kind of work.
    pub role: Role,
    /// Written before the step starts.
    pub files: Vec<NewFile>,
    /// The command.
    pub command: CommandSpec,
    /// Exits after which the next step starts; what an end means is `parse`'s to say.
    pub go_on: &'static [i32],
    /// Wall limit; `None`: the job's.
    pub limit: Option<Duration>,
}

/// What kind of work a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Brings dependencies; the only one with network.
    Fetch,
    /// Builds.
    Build,
    /// Runs the suite without mutants: timed, run `--baseline-runs` times.
    Baseline,
    /// Anything else.
    Work,
}

/// A file that is written before a step. No machine path inside: use argv or environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Where.
    pub at: Place,
    /// What.
    pub bytes: Vec<u8>,
}

/// A place that polymut resolves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the sandbox's repository; the root is `RepoDir::root()`.
    Sandbox(RepoDir),
    /// In the job's work folder, fresh for each sandbox.
    Work(WorkPath),
}

/// A command with placeholders. argv only, no shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Where to look for the program; the first found wins.
    pub program: Vec<Find>,
    /// Each word is joined from pieces.
    pub args: Vec<Vec<Piece>>,
    /// Folder of the sandbox's repository to start in.
    pub cwd: RepoDir,
    /// Set on top of the scrubbed environment.
    pub env: BTreeMap<String, Vec<Piece>>,
}

/// Where to look for a file or program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Find {
    /// On `PATH` (the `PATH` of this command's `env`, when it sets one).
    OnPath(&'static str),
    /// As a user writes it: with a `/` relative to the command's folder, else on `PATH`.
    Named(String),
    /// In this folder of the repository and each one above, for example `node_modules/.bin/stryker`.
    Upward(RepoDir, &'static str),
    /// In the private store.
    Store(StorePath),
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// Absolute path in the sandbox's repository.
    Sandbox(RepoDir),
    /// Absolute path in the work folder.
    Work(WorkPath),
    /// Absolute path in the store.
    Store(StorePath),
    /// Value of a variable of the user's environment; empty when unset.
    Inherit(&'static str),
    /// The step's core budget; outside the plan hash.
    Cores,
}

impl Piece {
    /// A word that is only text.
    pub fn word(text: impl Into<String>) -> Vec<Self> {
        vec![Self::Text(text.into())]
    }

    /// A path in the sandbox's repository as a word.
    pub fn sandbox(path: &RepoPath) -> Vec<Self> {
        vec![Self::Sandbox(RepoDir::from(path))]
    }
}

/// What to read after the stage.
#[derive(Debug, Clone, PartialEq)]
pub enum Gather {
    /// Files below a place that match a glob (`**` crosses folders).
    Files {
        /// The folder to search.
        under: Place,
        /// The glob over the path relative to it.
        glob: String,
        /// Only files that this stage wrote (mtime at or after its start).
        fresh: bool,
    },
    /// The nearest file found; given to `parse` as [`Place`] of where it was found.
    Nearest(Find),
}
