//! One path that differs between the merge base and the new side, before anybody looked at its bytes.
//!
//! In: nothing. Out: [`Delta`], [`Side`], [`Listed`]. I/O: none.

use super::entry::{BlobId, EntryKind};

/// A path and its two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delta {
    /// Path on the new side, or the old one when it is gone. Bytes: a name need not be UTF-8.
    pub(crate) path: Vec<u8>,
    /// Path before a rename.
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) old: Option<Side>,
    pub(crate) new: Option<Side>,
}

/// What stands on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) kind: EntryKind,
    pub(crate) at: Place,
}

/// Where the bytes of a side are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the working tree, at the path.
    Disk,
    /// In the object database; for a submodule, the commit.
    Blob(BlobId),
}

/// A file of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) path: Vec<u8>,
    pub(crate) side: Side,
}

impl Side {
    pub(crate) fn disk(kind: EntryKind) -> Self {
        Self { kind, at: Place::Disk }
    }

    pub(crate) fn blob(kind: EntryKind, id: impl Into<String>) -> Self {
        Self { kind, at: Place::Blob(BlobId(id.into())) }
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::File { .. })
    }
}
