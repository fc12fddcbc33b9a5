//! The repository as adapters see it: which files there are, and the bytes of manifests.
//!
//! In: a list of paths and bytes. Out: [`Tree`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoDir, RepoPath};

/// Files of the repository on the new side: tracked, and untracked but not ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeSet<RepoPath>,
    bytes: BTreeMap<RepoPath, Vec<u8>>,
}

impl Tree {
    /// A tree of `files`, with the bytes of those that some adapter reads.
    pub fn new(files: impl IntoIterator<Item = RepoPath>, bytes: BTreeMap<RepoPath, Vec<u8>>) -> Self {
        let mut files: BTreeSet<RepoPath> = files.into_iter().collect();
        files.extend(bytes.keys().cloned());
        Self { files, bytes }
    }

    /// Every file, sorted.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter()
    }

    /// Every file in `dir` or below it, sorted.
    pub fn below<'a>(&'a self, dir: &'a RepoDir) -> impl Iterator<Item = &'a RepoPath> + 'a {
        self.files.iter().filter(move |path| dir.contains(path))
    }

    /// Whether the file exists.
    pub fn has(&self, path: &RepoPath) -> bool {
        self.files.contains(path)
    }

    /// Whether `name` exists in `dir`.
    pub fn has_in(&self, dir: &RepoDir, name: &str) -> bool {
        dir.join(name).is_ok_and(|path| self.has(&path))
    }

    /// The bytes of a manifest.
    pub fn bytes(&self, path: &RepoPath) -> Option<&[u8]> {
        self.bytes.get(path).map(Vec::as_slice)
    }

    /// The bytes of the manifest `name` in `dir`.
    pub fn bytes_in(&self, dir: &RepoDir, name: &str) -> Option<&[u8]> {
        dir.join(name).ok().and_then(|path| self.bytes.get(&path)).map(Vec::as_slice)
    }

    /// Every file called `name`, sorted by path.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a RepoPath> + 'a {
        self.files.iter().filter(move |path| path.file_name() == name)
    }

    /// The nearest folder, from `dir` upwards, that has `name`.
    pub fn nearest(&self, dir: &RepoDir, name: &str) -> Option<RepoDir> {
        let mut at = Some(dir.clone());
        while let Some(folder) = at {
            if self.has_in(&folder, name) {
                return Some(folder);
            }
            at = folder.parent();
        }
        None
    }
}
