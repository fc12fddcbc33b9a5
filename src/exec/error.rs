//! What can go wrong while running things. The `Display` text is the message; [`ExecError::hint`] is the help.
//!
//! In: causes. Out: [`ExecError`]. I/O: none.

use std::io;
use std::time::Duration;

use polymut_schemas::PathError;

use super::SandboxError;
use crate::paths::AbsPath;

/// A recipe's command failed.
#[derive(Debug, thiserror::Error)]
#[error("installing {tool} {version} failed: `{command}` {ended}{}", quoted(quote))]
pub struct InstallError {
    /// The tool.
    pub tool: String,
    /// The pinned version.
    pub version: String,
    /// The command.
    pub command: String,
    /// How it ended.
    pub ended: String,
    /// The last lines that it wrote.
    pub quote: String,
    /// What a person would do by hand.
    pub by_hand: String,
}

/// A stage could not be run to its end, or what it left could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A disk is full, or nearly so.
    #[error("no room left in {folder}{}", free.map(|free| format!(" ({} MiB free)", free >> 20)).unwrap_or_default())]
    NoSpace {
        /// The folder.
        folder: String,
        /// Free bytes, where known.
        free: Option<u64>,
    },
    /// The operating system refused.
    #[error("cannot {what}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// Its words.
        source: io::Error,
    },
    /// A program that exists could not be started.
    #[error("step {step}: {program} cannot be started in {cwd}")]
    Spawn {
        /// The step.
        step: String,
        /// The program.
        program: String,
        /// The folder it was to start in.
        cwd: String,
        /// Its words.
        source: io::Error,
    },
    /// A glob of a plan is not one.
    #[error("`{glob}` is not a glob")]
    Glob {
        /// The glob.
        glob: String,
        /// Why.
        source: globset::Error,
    },
    /// A plan wants something gathered that cannot be named in the document.
    #[error("`{what}` cannot be gathered: only files of the repository and of the work folder can")]
    Gather {
        /// What was asked for.
        what: String,
    },
    /// A plan names a place that cannot be written.
    #[error("`{place}` cannot be written by a plan")]
    Place {
        /// The place.
        place: String,
        /// Why.
        source: PathError,
    },
    /// An artifact is larger than polymut reads.
    #[error("{file} has {size} bytes; polymut reads artifacts up to {cap}")]
    TooLarge {
        /// The artifact.
        file: String,
        /// Its size.
        size: u64,
        /// The most that is read.
        cap: u64,
    },
    /// A path of this machine is not UTF-8.
    #[error("{0} is not UTF-8")]
    NotUtf8(String),
    /// There is no folder for polymut's state.
    #[error("no folder for polymut's state: neither POLYMUT_STATE nor a home folder is set")]
    NoState,
    /// A recipe's command failed.
    #[error(transparent)]
    Install(Box<InstallError>),
    /// Somebody asked polymut to stop.
    #[error("stopped while {doing}")]
    Stopped {
        /// What was being done.
        doing: String,
    },
    /// Somebody else holds a lock for too long.
    #[error("{lock} is held by another polymut for more than {} s", waited.as_secs())]
    Locked {
        /// The lock file.
        lock: String,
        /// How long polymut waited.
        waited: Duration,
    },
}

impl ExecError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Sandbox(SandboxError::Io { source, .. }) if is_full(source) => {
                Some("free some room there, or set POLYMUT_STATE to a folder on a larger disk".to_owned())
            }
            Self::Sandbox(error) => error.hint(),
            Self::NoSpace { folder, .. } => {
                Some(format!("free some room in {folder}, or set POLYMUT_STATE to a folder on a larger disk"))
            }
            Self::NoState => Some("set POLYMUT_STATE to a folder that polymut may write".to_owned()),
            Self::Install(error) => Some(format!("by hand: {}", error.by_hand)),
            Self::TooLarge { .. } => Some("narrow the scope or turn the tool's extra reports off".to_owned()),
            Self::Locked { lock, .. } => Some(format!("if no other polymut runs, remove {lock}")),
            Self::Spawn { .. } => {
                Some("is the file executable, and does its first line name an interpreter?".to_owned())
            }
            Self::Io { .. }
            | Self::Glob { .. }
            | Self::Gather { .. }
            | Self::Place { .. }
            | Self::NotUtf8(_)
            | Self::Stopped { .. } => None,
        }
    }

    /// An operating-system error while doing `what` in `folder`; a full disk is told apart.
    pub(crate) fn io(what: impl Into<String>, folder: &AbsPath, source: io::Error) -> Self {
        if is_full(&source) {
            Self::NoSpace { folder: folder.to_string(), free: None }
        } else {
            Self::Io { what: what.into(), source }
        }
    }
}

fn quoted(quote: &str) -> String {
    if quote.is_empty() { String::new() } else { format!(", and said:\n{quote}") }
}

/// Whether the error says that a disk or quota is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_and_names_its_folder() {
        let folder = AbsPath::new("/var/state").unwrap();
        let error = ExecError::io("write", &folder, io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(error.to_string(), "no room left in /var/state");
        assert!(error.hint().unwrap().contains("/var/state"));
        let other = ExecError::io("write x", &folder, io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(other.to_string(), "cannot write x");
    }
}
