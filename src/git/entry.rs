//! Files of one side: what they are and where their bytes are.
//!
//! In: nothing. Out: [`Entry`]. I/O: none.

use polymut_schemas::RepoPath;

use crate::paths::AbsPath;

/// A file of the new side or of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: RepoPath,
    /// What it is.
    pub kind: EntryKind,
    /// Where its bytes are.
    pub at: EntryAt,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File {
        /// Whether the executable bit is set.
        executable: bool,
    },
    /// A symbolic link; its bytes are the target.
    Symlink,
    /// A commit of another repository; it has no bytes.
    Submodule,
}

/// Where bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryAt {
    /// In the working tree.
    Disk(AbsPath),
    /// In the object database.
    Blob(BlobId),
}

/// The hash of a blob.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlobId(pub(crate) String);

impl EntryKind {
    /// The kind that a mode of git stands for; `None` for a folder.
    pub(crate) fn of_mode(mode: u32) -> Option<Self> {
        match mode {
            0o100_755 => Some(Self::File { executable: true }),
            0o120_000 => Some(Self::Symlink),
            0o160_000 => Some(Self::Submodule),
            0o040_000 | 0 => None,
            // 100644, and 100664 of old repositories.
            _ => Some(Self::File { executable: false }),
        }
    }
}
