//! The scope of a change: which base, which files, which lines. Station 1 of 8.
//!
//! In: [`ScopeRequest`], [`Repo`]. Out: [`Scope`]. I/O: reads both sides through [`Repo`].

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use polymut_schemas::{
    FileChange, NewSide, OutsideReason, Revision, Scope, ScopeFile, ScopeSource, ScopeWidth,
};

use super::delta::Delta;
use super::entry::EntryKind;
use super::error::GitError;
use super::repo::Repo;
use super::weigh::{Texts, Weighed, named, outside, weigh, whole};
use super::{base, diff_file, rename};

/// So many files wait for a free core at most.
const WAITING: usize = 64;

/// What to find the changed lines of.
#[derive(Debug, Clone)]
pub struct ScopeRequest {
    /// `--base`.
    pub base: Option<String>,
    /// Which state of the files is tested.
    pub side: NewSide,
    /// `--diff-file`.
    pub diff_file: Option<DiffFile>,
    /// `--all`: every line of every text file.
    pub all: bool,
    /// How far a changed line reaches.
    pub width: ScopeWidth,
    /// The environment of the caller, for the variables of CI systems.
    pub env: BTreeMap<String, String>,
}

/// A diff that somebody else made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffFile {
    /// Its name, for messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The changed lines of the request.
pub fn scope(repo: &Repo, request: &ScopeRequest) -> Result<Scope, GitError> {
    let head = repo.head()?;
    if request.side == NewSide::Index
        && let Some(path) = repo.unmerged()?
    {
        return Err(GitError::Unmerged { path: String::from_utf8_lossy(&path).into_owned() });
    }
    let mut scope = Scope {
        source: ScopeSource::All,
        new_side: request.side,
        width: request.width,
        base: None,
        head: head.clone(),
        merge_base: None,
        files: Vec::new(),
    };
    match (&request.diff_file, request.all) {
        (Some(diff), _) => {
            scope.source = ScopeSource::DiffFile;
            scope.files =
                diff_file::files(repo, request.side, &diff.bytes).map_err(|error| error.named(&diff.name))?;
        }
        (None, true) => scope.files = everything(repo, request.side)?,
        (None, false) => compare(repo, request, head, &mut scope)?,
    }
    scope.files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    Ok(scope)
}

/// Merge base of base and HEAD against the new side.
fn compare(
    repo: &Repo,
    request: &ScopeRequest,
    head: Option<Revision>,
    scope: &mut Scope,
) -> Result<(), GitError> {
    let head = head.ok_or(GitError::NoCommit)?;
    let base = base::find(repo, request.base.as_deref(), &request.env)?;
    let Some(merge_base) = repo.merge_base(&base.commit, &head.commit)? else {
        return Err(GitError::NoMergeBase { base: base.name, shallow: repo.is_shallow() });
    };
    let deltas = rename::join(repo, repo.compare(&merge_base, request.side)?)?;
    scope.files = weigh_all(repo, &deltas)?;
    scope.source = ScopeSource::Git;
    scope.base = Some(base);
    scope.merge_base = Some(merge_base);
    Ok(())
}

/// Reads both sides of each path here, while the other cores compare the lines of those that differ.
fn weigh_all(repo: &Repo, deltas: &[Delta]) -> Result<Vec<ScopeFile>, GitError> {
    let (texts, waiting) = sync_channel(WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..cores)
            .map(|_| {
                let waiting = Arc::clone(&waiting);
                threads.spawn(move || compare_waiting(&waiting))
            })
            .collect();
        // From here on only workers hold the queue: with none left, `send` fails and does not wait.
        drop(waiting);
        let known = read_all(repo, deltas, texts);
        let compared: Vec<_> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let mut files = known?;
        for share in compared {
            files.extend(share?);
        }
        Ok(files)
    })
}

/// What is known without a look at lines; the rest goes to the queue, which closes at the end.
fn read_all(repo: &Repo, deltas: &[Delta], texts: SyncSender<Texts>) -> Result<Vec<ScopeFile>, GitError> {
    let mut files = Vec::new();
    for delta in deltas {
        match weigh(repo, delta)? {
            Weighed::Known(file) => files.extend(file),
            Weighed::Texts(pair) => {
                if texts.send(pair).is_err() {
                    break;
                }
            }
        }
    }
    drop(texts);
    Ok(files)
}

/// Compares what waits until the queue is closed and empty.
fn compare_waiting(waiting: &Mutex<Receiver<Texts>>) -> Result<Vec<ScopeFile>, GitError> {
    let mut files = Vec::new();
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(texts) => files.push(texts.lines()?),
            Err(RecvError) => return Ok(files),
        }
    }
}

/// Every text file with all of its lines, and the rest with the reason why not.
fn everything(repo: &Repo, side: NewSide) -> Result<Vec<ScopeFile>, GitError> {
    let mut files = Vec::new();
    for entry in repo.files(side)? {
        let Some(file) = named(entry.path.as_str().as_bytes(), None, FileChange::Whole) else { continue };
        files.push(match entry.kind {
            EntryKind::Submodule => outside(file, OutsideReason::Submodule),
            EntryKind::Symlink => outside(file, OutsideReason::Symlink),
            EntryKind::File { .. } => whole(file, &repo.bytes(&entry)?),
        });
    }
    Ok(files)
}
