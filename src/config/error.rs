//! What can be wrong with a file that a person wrote.
//!
//! In: causes. Out: [`ConfigError`]. I/O: none.

use std::io;

/// A configuration file cannot be used. Always exit 2.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file system refused.
    #[error("{file} cannot be read")]
    Read {
        /// The file, relative to the repository root.
        file: String,
        /// Its words.
        source: io::Error,
    },
    /// The bytes are not UTF-8.
    #[error("{file} is not UTF-8 text")]
    Encoding {
        /// The file.
        file: String,
    },
    /// Something in the file is wrong.
    #[error("{at}: {why}")]
    Wrong {
        /// File, line and column: `polymut.toml:3:5`.
        at: String,
        /// What is wrong.
        why: String,
        /// What to write instead.
        help: Option<String>,
    },
}

impl ConfigError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => None,
            Self::Encoding { .. } => Some("save it as UTF-8".to_owned()),
            Self::Wrong { help, .. } => help.clone(),
        }
    }
}
