//! Station 2 of 8: the repository as adapters see it, and the text that the scope needs.
//!
//! In: the repository. Out: [`Tree`], [`Sources`]. I/O: through `git`.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobSet, GlobSetBuilder};
use polymut_adapters::{Adapter, Tree};
use polymut_schemas::{RepoPath, Scope};

use crate::git::{Entry, EntryKind, GitError, Repo};
use crate::hash::sha256;
use crate::sources::Sources;

/// Names of lock files whose hashes the document holds.
const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "go.sum",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "pdm.lock",
    "packages.lock.json",
    "gradle.lockfile",
];

/// Files, and the bytes of those that some adapter reads.
pub fn tree(repo: &Repo, entries: &[Entry], adapters: &[&'static dyn Adapter]) -> Result<Tree, GitError> {
    let wanted = names(adapters);
    let mut bytes = BTreeMap::new();
    for entry in entries.iter().filter(|entry| is_file(entry) && wanted.is_match(entry.path.file_name())) {
        bytes.insert(entry.path.clone(), repo.bytes(entry)?);
    }
    Ok(Tree::new(
        entries.iter().filter(|entry| entry.kind != EntryKind::Submodule).map(|entry| entry.path.clone()),
        bytes,
    ))
}

fn names(adapters: &[&'static dyn Adapter]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for name in adapters.iter().flat_map(|adapter| adapter.info().reads) {
        // Names of the registry are checked by its tests.
        if let Ok(glob) = Glob::new(name) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry.kind, EntryKind::File { .. })
}

/// The new side's text of every changed file, and of files that share a changed file's name: a bare file name in a
/// report is told apart by their `package` lines.
pub fn sources(repo: &Repo, entries: &[Entry], scope: &Scope) -> Result<Sources, GitError> {
    let changed: BTreeSet<&RepoPath> =
        scope.files.iter().filter(|file| file.outside.is_none()).map(|file| &file.path).collect();
    let names: BTreeSet<&str> = changed.iter().map(|path| path.file_name()).collect();
    let declares = |path: &RepoPath| matches!(path.extension(), Some("java" | "kt" | "scala" | "groovy"));
    let mut sources = Sources::default();
    for entry in entries.iter().filter(|entry| is_file(entry)) {
        let same_name = declares(&entry.path) && names.contains(entry.path.file_name());
        if changed.contains(&entry.path) || same_name {
            sources.insert(entry.path.clone(), repo.bytes(entry)?);
        }
    }
    Ok(sources)
}

/// The merge base's text of every changed file, by its path there.
pub fn base_sources(repo: &Repo, scope: &Scope) -> Result<Sources, GitError> {
    let mut sources = Sources::default();
    let Some(commit) = &scope.merge_base else { return Ok(sources) };
    for file in scope.files.iter().filter(|file| file.outside.is_none() && !file.lines.is_empty()) {
        let path = file.old_path.as_ref().unwrap_or(&file.path);
        if let Some(bytes) = repo.bytes_at(commit, path)? {
            sources.insert(path.clone(), bytes);
        }
    }
    Ok(sources)
}

/// SHA-256 of each lock file.
pub fn lockfiles(repo: &Repo, entries: &[Entry]) -> Result<BTreeMap<RepoPath, String>, GitError> {
    let mut hashes = BTreeMap::new();
    for entry in entries.iter().filter(|entry| is_file(entry) && LOCKFILES.contains(&entry.path.file_name()))
    {
        hashes.insert(entry.path.clone(), sha256(&repo.bytes(entry)?));
    }
    Ok(hashes)
}
