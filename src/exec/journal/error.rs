//! What can be wrong with a journal.
//!
//! In: causes. Out: [`JournalError`]. I/O: none.

use std::io;

/// A journal cannot be written or believed.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("cannot {what}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// Its words.
        source: io::Error,
    },
    /// A line in the middle is not what was written.
    #[error("{file}:{line}: this line of the journal is damaged: {why}")]
    Damaged {
        /// The journal.
        file: String,
        /// The line.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// Bytes that a line names are gone or others.
    #[error("{file}:{line}: {bytes} is not what the journal names: {why}")]
    Bytes {
        /// The journal.
        file: String,
        /// The line.
        line: usize,
        /// The file that holds the bytes.
        bytes: String,
        /// What is wrong with it.
        why: String,
    },
}

impl JournalError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } => None,
            Self::Damaged { .. } | Self::Bytes { .. } => {
                Some("the interrupted run cannot be continued; `polymut run` starts afresh".to_owned())
            }
        }
    }

    pub(super) fn io(what: String) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
