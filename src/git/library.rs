//! The repository as libgit2 reads it.
//!
//! In: a folder. Out: [`Delta`]s, [`Listed`] files, bytes. I/O: reads `.git`, walks the working tree; writes nothing.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use camino::Utf8PathBuf;
use git2::RepositoryOpenFlags;
use git2::{AttrCheckFlags, AttrValue, ErrorCode, Oid, Repository};
use polymut_schemas::{NewSide, Revision};

use super::delta::{Delta, Listed, Side};
use super::entry::EntryKind;
use super::error::GitError;
use super::library_delta::{entry_of, mode, on_disk, options, stored};
use super::repo::kind_on_disk;
use crate::paths::AbsPath;

/// Flag of an index entry whose file a sparse checkout leaves out.
const SKIP_WORKTREE: u16 = 1 << 14;
/// Flag of an index entry that only announces a file (`git add -N`).
const INTENT_TO_ADD: u16 = 1 << 13;
/// Bits of an index entry that are set while it is unmerged.
const STAGE: u16 = 3 << 12;

/// A repository that libgit2 can read.
pub(super) struct Library {
    repository: Repository,
    root: AbsPath,
    /// The index; read once.
    index: OnceCell<Indexed>,
    /// The working tree against the index; walked once.
    worktree: OnceCell<Vec<Delta>>,
}

/// What the index holds.
#[derive(Default)]
struct Indexed {
    /// Every file, in the order of the index. An unmerged one is there several times.
    files: Vec<Listed>,
    /// Announced by `git add -N`, without content yet.
    announced: BTreeSet<Vec<u8>>,
    /// Left out of the working tree by a sparse checkout.
    absent: BTreeSet<Vec<u8>>,
    unmerged: BTreeSet<Vec<u8>>,
}

/// Why libgit2 did not open a repository.
pub(super) enum NotOpened {
    /// Nobody can.
    Final(GitError),
    /// The git program may.
    Unsupported(String),
}

/// What libgit2 says, with what was being done.
fn failed(doing: &str) -> impl FnOnce(git2::Error) -> GitError + '_ {
    move |error| GitError::Library { doing: doing.to_owned(), words: error.message().to_owned() }
}

impl Library {
    /// Searches upwards from `start`. The environment is not asked.
    pub(super) fn open(start: &AbsPath) -> Result<Self, NotOpened> {
        // Objects are read as git reads them: the hash of each is `git fsck`'s business, and costs a fifth of the time.
        git2::opts::strict_hash_verification(false);
        let none: [&OsStr; 0] = [];
        let repository = Repository::open_ext(start.as_std_path(), RepositoryOpenFlags::empty(), none)
            .map_err(|error| match error.code() {
                ErrorCode::NotFound => {
                    NotOpened::Final(GitError::NotARepository { start: start.to_string() })
                }
                ErrorCode::Owner => NotOpened::Final(GitError::Owner { path: start.to_string() }),
                _ => NotOpened::Unsupported(error.message().to_owned()),
            })?;
        let Some(folder) = repository.workdir() else {
            let path = repository.path().display().to_string();
            return Err(NotOpened::Final(GitError::Bare { path }));
        };
        let root = root_of(folder).map_err(NotOpened::Final)?;
        let library = Self { repository, root, index: OnceCell::new(), worktree: OnceCell::new() };
        library.check().map_err(NotOpened::Unsupported)?;
        Ok(library)
    }

    /// What opens, but cannot be read: promised objects that are not here, an index of a kind of its own.
    fn check(&self) -> Result<(), String> {
        let words = |error: git2::Error| error.message().to_owned();
        let config = self.repository.config().and_then(|mut config| config.snapshot()).map_err(words)?;
        let mut promisors = config.entries(Some("remote\\..*\\.promisor")).map_err(words)?;
        if promisors.next().is_some() {
            return Err("it is a partial clone".to_owned());
        }
        self.repository.index().map(|_| ()).map_err(words)
    }

    pub(super) fn root(&self) -> &AbsPath {
        &self.root
    }

    pub(super) fn is_shallow(&self) -> bool {
        self.repository.is_shallow()
    }

    /// The commit that a name stands for.
    pub(super) fn commit(&self, name: &str) -> Option<String> {
        let object = self.repository.revparse_single(name).ok()?;
        object.peel_to_commit().ok().map(|commit| commit.id().to_string())
    }

    /// What a symbolic reference points at, without `refs/remotes/`.
    pub(super) fn symbolic(&self, name: &str) -> Option<String> {
        let reference = self.repository.find_reference(name).ok()?;
        let target = reference.symbolic_target().ok()??.to_owned();
        Some(target.strip_prefix("refs/remotes/").map(str::to_owned).unwrap_or(target))
    }

    pub(super) fn head(&self) -> Result<Option<Revision>, GitError> {
        let head = match self.repository.head() {
            Ok(head) => head,
            Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(failed("reading HEAD")(error)),
        };
        let commit = head.peel_to_commit().map_err(failed("reading HEAD"))?.id().to_string();
        let name = head.shorthand().unwrap_or("HEAD").to_owned();
        Ok(Some(Revision { name, commit, found_by: "HEAD".to_owned() }))
    }

    pub(super) fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, GitError> {
        let (one, two) = (oid(one)?, oid(two)?);
        match self.repository.merge_base(one, two) {
            Ok(base) => Ok(Some(base.to_string())),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            // A cut history ends in a parent that is not here.
            Err(_) if self.is_shallow() => Ok(None),
            Err(error) => Err(failed("searching the merge base")(error)),
        }
    }

    pub(super) fn blob(&self, id: &str) -> Result<Vec<u8>, GitError> {
        let blob = self.repository.find_blob(oid(id)?).map_err(failed("reading a blob"))?;
        Ok(blob.content().to_vec())
    }

    /// The side of one path in a commit.
    pub(super) fn side_at(&self, commit: &str, path: &[u8]) -> Result<Option<Side>, GitError> {
        Ok(entry_of(&self.tree(commit)?, path))
    }

    fn tree(&self, commit: &str) -> Result<git2::Tree<'_>, GitError> {
        let commit = self.repository.find_commit(oid(commit)?).map_err(failed("reading a commit"))?;
        commit.tree().map_err(failed("reading a tree"))
    }

    /// Every path that differs between a commit and a side.
    pub(super) fn compare(&self, base: &str, side: NewSide) -> Result<Vec<Delta>, GitError> {
        let tree = self.tree(base)?;
        let mut options = options();
        match side {
            NewSide::Head => {
                let Some(head) = self.head()? else { return Err(GitError::NoCommit) };
                let head = self.tree(&head.commit)?;
                let diff = self.repository.diff_tree_to_tree(Some(&tree), Some(&head), Some(&mut options));
                Ok(stored(&diff.map_err(failed("comparing commits"))?))
            }
            NewSide::Index => self.staged(&tree),
            NewSide::WorkingTree => {
                let staged = self.staged(&tree)?;
                self.combine(&tree, staged)
            }
        }
    }

    fn staged(&self, tree: &git2::Tree<'_>) -> Result<Vec<Delta>, GitError> {
        let diff = self.repository.diff_tree_to_index(Some(tree), None, Some(&mut options()));
        let mut deltas = stored(&diff.map_err(failed("comparing with the index"))?);
        let announced = &self.index()?.announced;
        deltas.retain(|delta| !announced.contains(&delta.path));
        Ok(deltas)
    }

    fn index(&self) -> Result<&Indexed, GitError> {
        if let Some(known) = self.index.get() {
            return Ok(known);
        }
        let index = self.repository.index().map_err(failed("reading the index"))?;
        let mut read = Indexed { files: Vec::with_capacity(index.len()), ..Indexed::default() };
        for entry in index.iter() {
            for (flag, paths) in [(INTENT_TO_ADD, &mut read.announced), (SKIP_WORKTREE, &mut read.absent)] {
                if entry.flags_extended & flag != 0 {
                    paths.insert(entry.path.clone());
                }
            }
            if entry.flags & STAGE != 0 {
                read.unmerged.insert(entry.path.clone());
            }
            if let Some(kind) = EntryKind::of_mode(entry.mode) {
                let side = Side::blob(kind, entry.id.to_string());
                read.files.push(Listed { path: entry.path, side });
            }
        }
        Ok(self.index.get_or_init(|| read))
    }

    /// Unmerged paths of the index.
    pub(super) fn unmerged(&self) -> Result<&BTreeSet<Vec<u8>>, GitError> {
        Ok(&self.index()?.unmerged)
    }

    /// Commit to index, then index to working tree, as one comparison.
    fn combine(&self, tree: &git2::Tree<'_>, staged: Vec<Delta>) -> Result<Vec<Delta>, GitError> {
        let absent = &self.index()?.absent;
        let mut joined: BTreeMap<Vec<u8>, Delta> = BTreeMap::new();
        for mut delta in staged {
            if let Some(new) = &mut delta.new
                && new.kind != EntryKind::Submodule
                && !absent.contains(&delta.path)
            {
                *new = Side::disk(new.kind);
            }
            joined.insert(delta.path.clone(), delta);
        }
        for delta in self.worktree()? {
            match joined.get_mut(&delta.path) {
                Some(known) => known.new.clone_from(&delta.new),
                None => {
                    joined.insert(delta.path.clone(), delta.clone());
                }
            }
        }
        for path in self.unmerged()? {
            let (old, new) = (entry_of(tree, path), kind_on_disk(&self.root, path).map(Side::disk));
            joined.insert(path.clone(), Delta { path: path.clone(), old_path: None, old, new });
        }
        Ok(joined.into_values().filter(|delta| delta.old.is_some() || delta.new.is_some()).collect())
    }

    /// The index against the working tree, untracked files as well.
    fn worktree(&self) -> Result<&Vec<Delta>, GitError> {
        if let Some(known) = self.worktree.get() {
            return Ok(known);
        }
        let mut options = options();
        options.include_untracked(true).recurse_untracked_dirs(true).ignore_submodules(true);
        let diff = self.repository.diff_index_to_workdir(None, Some(&mut options));
        let diff = diff.map_err(failed("comparing the working tree"))?;
        let absent = &self.index()?.absent;
        let mut found: Vec<Delta> = diff.deltas().filter_map(|delta| on_disk(&delta)).collect();
        found.retain(|delta| delta.new.is_some() || !absent.contains(&delta.path));
        found.extend(self.moved_submodules()?);
        Ok(self.worktree.get_or_init(|| found))
    }

    /// Submodules whose checked-out commit is not the one of the index.
    fn moved_submodules(&self) -> Result<Vec<Delta>, GitError> {
        let mut moved = Vec::new();
        for file in self.index()?.files.iter().filter(|file| file.side.kind == EntryKind::Submodule) {
            let Ok(path) = std::str::from_utf8(&file.path) else { continue };
            // A submodule that is not checked out has no commit of its own.
            let commit = Repository::open(self.root.join(path).as_std_path())
                .and_then(|inner| inner.head()?.peel_to_commit().map(|commit| commit.id()));
            let new = commit.map(|commit| Side::blob(EntryKind::Submodule, commit.to_string()));
            if let Ok(new) = new
                && new != file.side
            {
                let (path, old) = (file.path.clone(), Some(file.side.clone()));
                moved.push(Delta { path, old_path: None, old, new: Some(new) });
            }
        }
        Ok(moved)
    }

    /// Every file of a side.
    pub(super) fn listing(&self, side: NewSide) -> Result<Vec<Listed>, GitError> {
        match side {
            NewSide::Head => match self.head()? {
                Some(head) => self.listing_at(&head.commit),
                None => Ok(Vec::new()),
            },
            NewSide::Index => {
                let index = self.index()?;
                let files = index.files.iter().filter(|file| !index.announced.contains(&file.path));
                Ok(files.cloned().collect())
            }
            NewSide::WorkingTree => self.on_disk(),
        }
    }

    /// Every file of the working tree.
    fn on_disk(&self) -> Result<Vec<Listed>, GitError> {
        let index = self.index()?;
        let changed: BTreeMap<&[u8], &Delta> =
            self.worktree()?.iter().map(|delta| (delta.path.as_slice(), delta)).collect();
        let mut files: Vec<Listed> = changed
            .values()
            .filter_map(|delta| Some(Listed { path: delta.path.clone(), side: delta.new.clone()? }))
            .collect();
        for file in &index.files {
            let special = [&index.absent, &index.unmerged].iter().any(|paths| paths.contains(&file.path));
            if !special && !changed.contains_key(file.path.as_slice()) {
                let submodule = file.side.kind == EntryKind::Submodule;
                let side = if submodule { file.side.clone() } else { Side::disk(file.side.kind) };
                files.push(Listed { path: file.path.clone(), side });
            }
        }
        for path in &index.unmerged {
            let side = kind_on_disk(&self.root, path).map(Side::disk);
            files.extend(side.map(|side| Listed { path: path.clone(), side }));
        }
        Ok(files)
    }

    /// Files of the working tree that are as the index has them, with their blobs.
    pub(super) fn unchanged(&self) -> Result<Vec<Listed>, GitError> {
        let index = self.index()?;
        let changed: BTreeSet<&[u8]> = self.worktree()?.iter().map(|delta| delta.path.as_slice()).collect();
        let is_known = |file: &&Listed| {
            let special = [&index.absent, &index.unmerged, &index.announced];
            !special.iter().any(|paths| paths.contains(&file.path)) && !changed.contains(file.path.as_slice())
        };
        Ok(index.files.iter().filter(is_known).cloned().collect())
    }

    /// Every file of a commit.
    pub(super) fn listing_at(&self, commit: &str) -> Result<Vec<Listed>, GitError> {
        let mut found = Vec::new();
        let mut folders = vec![(Vec::new(), self.tree(commit)?)];
        while let Some((folder, tree)) = folders.pop() {
            for entry in &tree {
                let path = [folder.as_slice(), entry.name_bytes()].concat();
                if let Some(kind) = EntryKind::of_mode(mode(entry.filemode())) {
                    let side = Side::blob(kind, entry.id().to_string());
                    found.push(Listed { path, side });
                } else {
                    let inner = self.repository.find_tree(entry.id());
                    let inner = inner.map_err(failed("reading a tree"))?;
                    folders.push(([path.as_slice(), b"/"].concat(), inner));
                }
            }
        }
        Ok(found)
    }

    /// Whether git stores this file with other line endings than the working tree has.
    pub(super) fn folds_line_ends(&self, path: &str) -> bool {
        let attribute = |name: &str| {
            let found = self.repository.get_attr_bytes(
                std::path::Path::new(path),
                name,
                AttrCheckFlags::FILE_THEN_INDEX,
            );
            AttrValue::from_bytes(found.ok().flatten())
        };
        match attribute("text") {
            AttrValue::False => return false,
            AttrValue::True | AttrValue::Bytes(_) | AttrValue::String(_) => return true,
            AttrValue::Unspecified => {}
        }
        if matches!(attribute("eol"), AttrValue::Bytes(_) | AttrValue::String(_)) {
            return true;
        }
        let value = self.repository.config().and_then(|config| config.get_string("core.autocrlf"));
        value.is_ok_and(|value| super::program_text::is_folding(&value))
    }
}

fn root_of(folder: &std::path::Path) -> Result<AbsPath, GitError> {
    let real = fs_err::canonicalize(folder)?;
    let shown = real.display().to_string();
    let path = Utf8PathBuf::from_path_buf(real).map_err(|_| GitError::PathNotUtf8 { path: shown.clone() })?;
    AbsPath::new(path).map_err(|_| GitError::PathNotUtf8 { path: shown })
}

fn oid(text: &str) -> Result<Oid, GitError> {
    Oid::from_str(text).map_err(failed("reading a hash"))
}
