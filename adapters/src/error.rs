//! What can go wrong in planning and parsing. The `Display` text is the message; [`PlanError::hint`] and
//! [`ParseError::hint`] say what the user can do.
//!
//! In: causes. Out: errors. I/O: none.

/// A stage cannot be planned: the job is skipped and the gate sees why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The tool or its runtime is of a version that the adapter cannot drive.
    #[error("{tool} {found} cannot be driven: {why}")]
    Version {
        /// The tool or runtime.
        tool: &'static str,
        /// The version that was found.
        found: String,
        /// Why not.
        why: String,
        /// How to get a good one.
        remedy: String,
    },
    /// The project's own configuration would do harm or cannot be read.
    #[error("{file}: {why}")]
    UserConfig {
        /// Path in the repository.
        file: String,
        /// What is wrong.
        why: String,
        /// What to write instead.
        remedy: String,
    },
    /// Something that the plan needs is not there.
    #[error("{missing} is missing")]
    Missing {
        /// What.
        missing: String,
        /// How to get it.
        remedy: String,
    },
    /// A setting that this tool cannot follow.
    #[error("{tool} cannot follow `{setting}`: {why}")]
    Setting {
        /// The tool.
        tool: &'static str,
        /// The setting of `polymut.toml` or the command line.
        setting: String,
        /// Why not.
        why: String,
    },
}

impl PlanError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Version { remedy, .. } | Self::UserConfig { remedy, .. } | Self::Missing { remedy, .. } => {
                Some(remedy.clone())
            }
            Self::Setting { .. } => None,
        }
    }
}

/// An artifact cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A status word that this adapter does not know.
    #[error("{at}: unknown status `{word}` of {tool}")]
    UnknownStatus {
        /// The tool.
        tool: &'static str,
        /// The word.
        word: String,
        /// Artifact and place.
        at: String,
    },
    /// The artifact is not of the expected form.
    #[error("{at}: {why}")]
    Malformed {
        /// Artifact and place (`target/pit-reports/mutations.xml:812`).
        at: String,
        /// What is wrong.
        why: String,
    },
    /// The artifact ends in the middle.
    #[error("{at}: the file ends in the middle ({why})")]
    Truncated {
        /// Artifact and place.
        at: String,
        /// What was being read.
        why: String,
    },
    /// The bytes are not text that this reader takes.
    #[error("{at}: {found}")]
    Encoding {
        /// Artifact.
        at: String,
        /// What was found: `a UTF-16 file`, `a Git LFS pointer` …
        found: String,
        /// What to do.
        remedy: String,
    },
    /// The report is of a version that this adapter does not read.
    #[error("{at}: version {found} of the format is not one that this polymut reads")]
    FormatVersion {
        /// Artifact.
        at: String,
        /// What it says.
        found: String,
    },
    /// An expected artifact is not there.
    #[error("{what} is missing among the given files")]
    MissingArtifact {
        /// Which.
        what: String,
    },
    /// This tool's reports cannot be imported.
    #[error("reports of {tool} cannot be imported")]
    NoImport {
        /// The tool.
        tool: &'static str,
    },
}

impl ParseError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Encoding { remedy, .. } => Some(remedy.clone()),
            Self::UnknownStatus { tool, .. } => {
                Some(format!("a newer {tool} may have added it; run a supported version, or report the word"))
            }
            Self::Truncated { .. } => {
                Some("the tool was stopped or the disk was full: run it again".to_owned())
            }
            Self::Malformed { .. }
            | Self::FormatVersion { .. }
            | Self::MissingArtifact { .. }
            | Self::NoImport { .. } => None,
        }
    }
}
