//! What every file of a side holds, as one hash each: to know a side again.
//!
//! In: entries. Out: hashes by path. I/O: reads files of which git does not know that they are as it has them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use git2::{ObjectType, Oid};
use polymut_schemas::RepoPath;

use super::entry::{BlobId, Entry, EntryAt, EntryKind};
use super::error::GitError;
use super::repo::Repo;

/// The kind and the blob's hash of each entry. Git's own records answer for the files that have not changed; the others
/// are read, by every core: nobody waits for this in a large repository.
pub fn contents(repo: &Repo, entries: &[Entry]) -> Result<BTreeMap<String, String>, GitError> {
    let known = repo.unchanged()?;
    let next = AtomicUsize::new(0);
    let read = || {
        let mut found = Vec::new();
        while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((entry.path.to_string(), content(entry, &known)));
        }
        found
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<_> = std::thread::scope(|threads| {
        let workers: Vec<_> = (0..cores).map(|_| threads.spawn(read)).collect();
        let shares = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        shares.map(|share| share.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    Ok(found.into_iter().flatten().collect())
}

/// A file that is gone meanwhile is another one than before.
fn content(entry: &Entry, known: &BTreeMap<RepoPath, BlobId>) -> String {
    let bytes = match (&entry.at, entry.kind, known.get(&entry.path)) {
        (EntryAt::Blob(id), _, _) | (EntryAt::Disk(_), EntryKind::File { .. }, Some(id)) => {
            return format!("{:?} {}", entry.kind, id.0);
        }
        (EntryAt::Disk(_), EntryKind::Submodule, _) => Ok(Vec::new()),
        (EntryAt::Disk(path), EntryKind::Symlink, _) => {
            fs_err::read_link(path.as_std_path()).map(|target| target.into_os_string().into_encoded_bytes())
        }
        (EntryAt::Disk(path), EntryKind::File { .. }, None) => fs_err::read(path.as_std_path()),
    };
    let hash = bytes.ok().and_then(|bytes| Oid::hash_object(ObjectType::Blob, &bytes).ok());
    hash.map_or_else(|| format!("{:?} gone", entry.kind), |hash| format!("{:?} {hash}", entry.kind))
}
