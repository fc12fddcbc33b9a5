//! The source text of the new side, for columns, diffs and code excerpts.
//!
//! In: bytes by path. Out: [`Sources`]. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::RepoPath;

/// The new side's bytes of the files that a report talks about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<RepoPath, Vec<u8>>);

impl Sources {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: RepoPath, bytes: Vec<u8>) {
        self.0.insert(path, bytes);
    }

    /// The bytes as they are on the new side.
    pub fn bytes(&self, path: &RepoPath) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// The text; `None` when the file is unknown or not UTF-8.
    pub fn text(&self, path: &RepoPath) -> Option<&str> {
        self.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Every path, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.keys()
    }
}
