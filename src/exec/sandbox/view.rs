//! A disposable view of the repository's files that holds the diff's new side: the joint between the executor and
//! the isolation levels.
//!
//! In: the new side's files, an isolation level. Out: [`Sandbox`]. I/O: file system below the sandbox's own folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::time::SystemTime;

use polymut_adapters::WorkPath;
use polymut_schemas::{ContainmentReached, RepoDir, RepoPath};

use super::Remains;
use crate::paths::AbsPath;

/// One disposable view of the repository's files.
///
/// Paths *seen* are those that a process inside uses; they are the repository's own in a sealed sandbox and those of
/// the copy in a copied one. Dropping a sandbox removes its files.
pub trait Sandbox: Send + Sync {
    /// Which containment its processes get.
    fn reached(&self) -> &ContainmentReached;

    /// Absolute path of a repository file or folder as a process inside sees it.
    fn seen(&self, path: &RepoDir) -> AbsPath;

    /// Absolute path in this sandbox's work folder, the same inside and outside.
    fn work(&self, path: &WorkPath) -> AbsPath;

    /// Whether a file or folder exists in the view, ignored and linked ones included (`node_modules/.bin/x`).
    fn exists(&self, path: &RepoDir) -> bool;

    /// Files below `under` in the view, sorted by path; linked dependency folders and `.git` are not entered.
    fn files(&self, under: &RepoDir) -> Result<Vec<SandboxFile>, SandboxError>;

    /// The bytes of a file; `None` when it does not exist.
    fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError>;

    /// Creates or replaces a file, with its folders, in the view only.
    fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), SandboxError>;

    /// Turns a command into what has to be started so that it runs inside the walls of this sandbox.
    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError>;

    /// Whether the command that was started as process `leader` is over its memory ceiling, or was ended for it. Asked
    /// while it runs (a yes makes the executor stop it) and once after it has ended. A sandbox that holds no ceiling
    /// says no.
    fn over_memory(&self, _leader: u32) -> bool {
        false
    }

    /// Why the command behind process `leader` was never started, if it was not: what ended then was not the tool, and
    /// its code means nothing. Asked once, after it has ended.
    fn not_started(&self, _leader: u32) -> Option<NotStarted> {
        None
    }

    /// What the commands of this sandbox took, as far as it was measured.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// Where its files are, for whoever comes after a run that died; `None`: what outlives the run in it may go on
    /// writing without it, so that nothing it leaves can be believed.
    fn remains(&self) -> Option<Remains> {
        None
    }

    /// A new sandbox that starts from this one's present state, with a fresh work folder called `name`.
    fn fork(&self, name: &str) -> Result<Box<dyn Sandbox>, SandboxError>;
}

/// A file of a sandbox's view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFile {
    /// Its path in the view.
    pub path: RepoPath,
    /// Where its bytes are on this machine.
    pub host: AbsPath,
    /// When it was last written.
    pub modified: SystemTime,
}

/// A command to start: argv, folder and the whole environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Absolute path of the program.
    pub program: AbsPath,
    /// Its words, without the program.
    pub args: Vec<OsString>,
    /// Folder to start in.
    pub cwd: AbsPath,
    /// Every variable; nothing else is inherited.
    pub env: BTreeMap<OsString, OsString>,
    /// Whether the network stays on (Fetch steps, or a project that opted out).
    pub network: bool,
    /// Ceiling of resident memory of the whole tree in bytes.
    pub memory: Option<u64>,
    /// Where downloads go.
    pub caches: CacheUse,
}

/// What a command does with the toolchains' caches of the user (crates, packages, modules).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheUse {
    /// Reads them; what it writes stays in the sandbox, where that can be had.
    #[default]
    Private,
    /// Writes into them, so that the next run need not download again: Fetch steps, before any mutant exists.
    Shared,
}

/// Resources that commands took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Highest memory use of one command's whole tree in bytes.
    pub peak: Option<u64>,
    /// How many processes the kernel ended for memory, among them those whose tool went on without them.
    pub memory_kills: u64,
}

/// Why a command was never started inside its walls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotStarted {
    /// The walls could not be built.
    Walls(String),
    /// Its program does not exist inside, or cannot be run there.
    Program(String),
}

/// A sandbox cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The file system refused.
    #[error("{what}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// Its words.
        source: io::Error,
    },
    /// A file went away while it was copied.
    #[error("{path} vanished while it was copied")]
    Vanished {
        /// The file.
        path: String,
    },
    /// The run was stopped meanwhile.
    #[error("polymut was stopped while a sandbox was filled")]
    Stopped,
    /// Not enough room.
    #[error("{folder} has {free} bytes free; the sandbox needs about {needed}")]
    NoSpace {
        /// The folder.
        folder: String,
        /// Free bytes.
        free: u64,
        /// Wanted bytes.
        needed: u64,
    },
    /// The walls could not be built, though they could when this was tried first.
    #[error("the walls around a tool cannot be built: {why}")]
    Walls {
        /// What failed.
        why: String,
    },
    /// A guarantee that `--require` demands does not hold here.
    #[error("{guarantee} containment is required, but does not hold here: {why}")]
    Required {
        /// Which.
        guarantee: String,
        /// Why not.
        why: String,
        /// The one line that lifts it, where it is known.
        lift: Option<String>,
    },
}

impl SandboxError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } | Self::Stopped => None,
            Self::Vanished { .. } => {
                Some("something else is writing in the tree; run again when it is still".to_owned())
            }
            Self::NoSpace { folder, .. } => {
                Some(format!("free some room in {folder}, or set POLYMUT_STATE to a larger disk"))
            }
            Self::Required { lift: Some(lift), .. } => Some(format!("this lifts it: {lift}")),
            Self::Walls { .. } | Self::Required { lift: None, .. } => {
                Some("`polymut doctor` says what would lift the level here".to_owned())
            }
        }
    }
}
