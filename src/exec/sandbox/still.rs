//! Whether the user's files were left alone while a run read them.
//!
//! In: the new side's files. Out: those that changed since. I/O: reads times and sizes.
//!
//! A sealed sandbox reads the working tree itself: an edit in the middle of a run means that some mutants were tested
//! on other code than the report shows.

use std::collections::BTreeMap;
use std::time::SystemTime;

use fs_err as fs;
use polymut_schemas::RepoPath;

use super::{SourceBytes, SourceEntry};
use crate::paths::AbsPath;

/// The files on disk as they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Still {
    root: AbsPath,
    seen: BTreeMap<RepoPath, Option<Stamp>>,
}

/// What changes with every write: time and length.
type Stamp = (SystemTime, u64);

impl Still {
    /// Notes how the files on disk are now. Files that git alone has cannot move.
    pub fn note(root: &AbsPath, entries: &[SourceEntry]) -> Self {
        let seen = entries
            .iter()
            .filter(|entry| entry.at == SourceBytes::Disk)
            .map(|entry| (entry.path.clone(), stamp(root, &entry.path)))
            .collect();
        Self { root: root.clone(), seen }
    }

    /// When the last of the files was written.
    pub fn youngest(&self) -> SystemTime {
        self.seen.values().flatten().map(|(time, _)| *time).max().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Files that were written, removed or made since; sorted.
    pub fn moved(&self) -> Vec<RepoPath> {
        self.seen
            .iter()
            .filter(|(path, was)| stamp(&self.root, path) != **was)
            .map(|(path, _)| path.clone())
            .collect()
    }
}

fn stamp(root: &AbsPath, path: &RepoPath) -> Option<Stamp> {
    let meta = fs::symlink_metadata(root.file(path)).ok()?;
    // A submodule's folder changes its time with every build output; its own files are not ours to watch.
    if meta.is_dir() {
        return None;
    }
    Some((meta.modified().ok()?, meta.len()))
}

#[cfg(test)]
mod tests {
    use super::super::SourceKind;
    use super::*;

    #[test]
    fn an_edit_and_a_removal_are_named_and_a_read_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let root = AbsPath::new(temp.path().to_str().unwrap()).unwrap();
        let entries = ["a", "b", "c"].map(|path| SourceEntry {
            path: RepoPath::new(path).unwrap(),
            kind: SourceKind::File,
            at: SourceBytes::Disk,
        });
        for entry in &entries {
            fs::write(root.file(&entry.path), "one").unwrap();
        }
        let still = Still::note(&root, &entries);
        fs::read(root.join("a")).unwrap();
        assert_eq!(still.moved(), []);
        fs::write(root.join("b"), "longer").unwrap();
        fs::remove_file(root.join("c")).unwrap();
        let moved: Vec<String> = still.moved().iter().map(ToString::to_string).collect();
        assert_eq!(moved, ["b", "c"]);
    }
}
