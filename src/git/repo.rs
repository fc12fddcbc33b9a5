//! One repository, whichever way it is read.
//!
//! In: a folder. Out: [`Repo`]. I/O: reads the repository and the working tree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use polymut_schemas::{NewSide, RepoPath, Revision};

use super::delta::{Delta, Listed, Place, Side};
use super::entry::{BlobId, Entry, EntryAt, EntryKind};
use super::error::GitError;
use super::library::{Library, NotOpened};
use super::program::Program;
use crate::paths::AbsPath;

/// A repository with a working tree.
pub struct Repo(Reader);

/// Who reads it.
enum Reader {
    Library(Library),
    Program(Program),
}

impl Repo {
    /// Opens the repository around `start`, through the `git` program where libgit2 cannot read it.
    pub fn open(start: &AbsPath) -> Result<Self, GitError> {
        match Library::open(start) {
            Ok(library) => Ok(Self(Reader::Library(library))),
            Err(NotOpened::Final(error)) => Err(error),
            Err(NotOpened::Unsupported(why)) => Self::through_program(start, &why),
        }
    }

    /// Opens the repository through the `git` program; `why` says what libgit2 could not do.
    pub(crate) fn through_program(start: &AbsPath, why: &str) -> Result<Self, GitError> {
        tracing::debug!(why, "reading the repository through the git program");
        Program::open(start, why).map(|program| Self(Reader::Program(program)))
    }

    /// Root of the working tree, symbolic links resolved.
    pub fn root(&self) -> &AbsPath {
        match &self.0 {
            Reader::Library(library) => library.root(),
            Reader::Program(program) => program.root(),
        }
    }

    /// Whether the history is cut off somewhere.
    pub fn is_shallow(&self) -> bool {
        match &self.0 {
            Reader::Library(library) => library.is_shallow(),
            Reader::Program(program) => program.is_shallow(),
        }
    }

    /// Every file of a side, sorted by path: tracked, and for the working tree untracked but not ignored.
    ///
    /// A name that is not UTF-8 has no [`RepoPath`] and is left out; a change of it is in the scope with its reason.
    pub fn files(&self, side: NewSide) -> Result<Vec<Entry>, GitError> {
        let files = match &self.0 {
            Reader::Library(library) => library.listing(side)?,
            Reader::Program(program) => program.listing(side)?,
        };
        Ok(self.entries(files))
    }

    /// Files of the working tree of which git knows that they are as the index has them. The `git` program is not asked:
    /// then there is none.
    pub(super) fn unchanged(&self) -> Result<BTreeMap<RepoPath, BlobId>, GitError> {
        let files = match &self.0 {
            Reader::Library(library) => library.unchanged()?,
            Reader::Program(_) => Vec::new(),
        };
        let blobs = files.into_iter().filter_map(|file| match file.side.at {
            Place::Blob(id) => Some((RepoPath::new(std::str::from_utf8(&file.path).ok()?).ok()?, id)),
            Place::Disk => None,
        });
        Ok(blobs.collect())
    }

    /// Every file of a commit, sorted by path.
    pub fn files_at(&self, commit: &str) -> Result<Vec<Entry>, GitError> {
        let files = match &self.0 {
            Reader::Library(library) => library.listing_at(commit)?,
            Reader::Program(program) => program.listing_at(commit)?,
        };
        Ok(self.entries(files))
    }

    /// The bytes of an entry: of a file its content, of a link its target, of a submodule none.
    pub fn bytes(&self, entry: &Entry) -> Result<Vec<u8>, GitError> {
        let at = match &entry.at {
            EntryAt::Disk(_) => Place::Disk,
            EntryAt::Blob(id) => Place::Blob(id.clone()),
        };
        self.read(entry.path.as_str(), &Side { kind: entry.kind, at })
    }

    /// The bytes of a path in a commit; `None` when the commit has no such file.
    pub fn bytes_at(&self, commit: &str, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let side = match &self.0 {
            Reader::Library(library) => library.side_at(commit, path.as_str().as_bytes())?,
            Reader::Program(program) => program.side_at(commit, path.as_str().as_bytes())?,
        };
        side.map(|side| self.read(path.as_str(), &side)).transpose()
    }

    /// The bytes of one side of `path`.
    pub(super) fn read(&self, path: &str, side: &Side) -> Result<Vec<u8>, GitError> {
        match (&side.at, side.kind) {
            (_, EntryKind::Submodule) => Ok(Vec::new()),
            (Place::Disk, EntryKind::Symlink) => {
                let target = fs_err::read_link(self.root().join(path))?;
                Ok(target.into_os_string().into_encoded_bytes())
            }
            (Place::Disk, EntryKind::File { .. }) => Ok(fs_err::read(self.root().join(path))?),
            (Place::Blob(id), EntryKind::File { .. } | EntryKind::Symlink) => self.blob(id),
        }
    }

    fn blob(&self, id: &BlobId) -> Result<Vec<u8>, GitError> {
        match &self.0 {
            Reader::Library(library) => library.blob(&id.0),
            Reader::Program(program) => program.blob(&id.0),
        }
    }

    /// The full hash of the commit that a name stands for, if there is one.
    pub fn commit(&self, name: &str) -> Option<String> {
        match &self.0 {
            Reader::Library(library) => library.commit(name),
            Reader::Program(program) => program.commit(name),
        }
    }

    /// What a symbolic reference points at, without `refs/remotes/`.
    pub(super) fn symbolic(&self, name: &str) -> Option<String> {
        match &self.0 {
            Reader::Library(library) => library.symbolic(name),
            Reader::Program(program) => program.symbolic(name),
        }
    }

    /// The commit that is checked out; `None` before the first one.
    pub fn head(&self) -> Result<Option<Revision>, GitError> {
        match &self.0 {
            Reader::Library(library) => library.head(),
            Reader::Program(program) => program.head(),
        }
    }

    /// The best common ancestor of two commits.
    pub fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, GitError> {
        match &self.0 {
            Reader::Library(library) => library.merge_base(one, two),
            Reader::Program(program) => program.merge_base(one, two),
        }
    }

    /// Every path that differs between a commit and a side.
    pub(super) fn compare(&self, base: &str, side: NewSide) -> Result<Vec<Delta>, GitError> {
        match &self.0 {
            Reader::Library(library) => library.compare(base, side),
            Reader::Program(program) => program.compare(base, side),
        }
    }

    /// An unmerged path of the index, if there is one.
    pub(super) fn unmerged(&self) -> Result<Option<Vec<u8>>, GitError> {
        match &self.0 {
            Reader::Library(library) => Ok(library.unmerged()?.iter().next().cloned()),
            Reader::Program(program) => Ok(program.unmerged()?.into_iter().next()),
        }
    }

    /// Whether git stores this file with other line endings than the working tree has.
    pub(super) fn folds_line_ends(&self, path: &str) -> bool {
        match &self.0 {
            Reader::Library(library) => library.folds_line_ends(path),
            Reader::Program(program) => program.folds_line_ends(path),
        }
    }

    fn entries(&self, files: Vec<Listed>) -> Vec<Entry> {
        let mut entries: Vec<Entry> =
            files.into_iter().filter_map(|file| self.entry(&file.path, file.side)).collect();
        entries.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        entries.dedup_by(|one, two| one.path == two.path);
        entries
    }

    fn entry(&self, path: &[u8], side: Side) -> Option<Entry> {
        let path = RepoPath::new(std::str::from_utf8(path).ok()?).ok()?;
        let at = match side.at {
            Place::Blob(id) => EntryAt::Blob(id),
            Place::Disk => EntryAt::Disk(self.root().file(&path)),
        };
        Some(Entry { path, kind: side.kind, at })
    }
}

/// What stands at `path` in the working tree, links not followed; `None`: nothing, or a folder.
pub(super) fn kind_on_disk(root: &AbsPath, path: &[u8]) -> Option<EntryKind> {
    let metadata = fs_err::symlink_metadata(root.as_std_path().join(os_path(path))).ok()?;
    if metadata.is_symlink() {
        return Some(EntryKind::Symlink);
    }
    metadata.is_file().then(|| EntryKind::File { executable: is_executable(&metadata) })
}

#[cfg(unix)]
fn os_path(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(path))
}

#[cfg(not(unix))]
fn os_path(path: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(path).into_owned())
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}
