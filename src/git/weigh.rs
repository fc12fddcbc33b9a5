//! From two sides of a path to its place in the scope: changed lines, or the reason why there are none.
//!
//! In: a [`Delta`]. Out: [`ScopeFile`]. I/O: reads the bytes of both sides.

use std::borrow::Cow;

use polymut_schemas::{FileChange, LineSet, OutsideReason, RepoPath, ScopeFile};

use super::delta::{Delta, Place, Side};
use super::entry::EntryKind;
use super::error::GitError;
use super::repo::Repo;
use super::text;
use crate::lexer::{Hunk, Language, changed_lines, has_tokens};

/// A path as far as it is known without a look at its lines.
pub(super) enum Weighed {
    /// All is said; `None` when both sides turned out to be equal.
    Known(Option<ScopeFile>),
    /// Two texts, whose lines [`Texts::lines`] compares.
    Texts(Texts),
}

/// Two versions of a text.
pub(super) struct Texts {
    file: ScopeFile,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Texts {
    /// The scope's entry. This is the costly part, and needs no repository: it runs on every core.
    pub(super) fn lines(&self) -> Result<ScopeFile, GitError> {
        let hunks = text::hunks(&self.old, &self.new)?;
        Ok(edited(self.file.clone(), &self.old, &self.new, &hunks))
    }
}

impl From<ScopeFile> for Weighed {
    fn from(file: ScopeFile) -> Self {
        Self::Known(Some(file))
    }
}

/// Reads both sides of a path.
pub(super) fn weigh(repo: &Repo, delta: &Delta) -> Result<Weighed, GitError> {
    let change = change_of(delta);
    let Some(file) = named(&delta.path, delta.old_path.as_deref(), change) else {
        return Ok(Weighed::Known(None));
    };
    if file.outside.is_some() {
        return Ok(file.into());
    }
    let submodule = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.kind == EntryKind::Submodule);
    match (&delta.old, &delta.new) {
        (None, None) => Ok(Weighed::Known(None)),
        (_, None) if submodule(&delta.old) => Ok(outside(file, OutsideReason::Submodule).into()),
        (_, None) => Ok(outside(file, OutsideReason::Deleted).into()),
        (_, Some(new)) => match new.kind {
            EntryKind::Submodule => Ok(outside(file, OutsideReason::Submodule).into()),
            EntryKind::Symlink => linked(repo, delta, new, file).map(Weighed::Known),
            EntryKind::File { .. } => content(repo, delta, new, file),
        },
    }
}

fn change_of(delta: &Delta) -> FileChange {
    match (&delta.old, &delta.new) {
        (_, None) => FileChange::Deleted,
        (None, Some(_)) => FileChange::Added,
        (Some(_), Some(_)) if delta.old_path.is_some() => FileChange::Renamed,
        (Some(old), Some(new)) if old.is_file() != new.is_file() => FileChange::ModeChanged,
        (Some(_), Some(_)) => FileChange::Modified,
    }
}

/// An entry without lines. A name that is not UTF-8 is shown with replacement characters, and outside; a name that is
/// no path at all cannot be checked out either and is `None`.
pub(super) fn named(path: &[u8], old_path: Option<&[u8]>, change: FileChange) -> Option<ScopeFile> {
    let shown = String::from_utf8_lossy(path);
    let outside = matches!(shown, Cow::Owned(_)).then_some(OutsideReason::NameNotUtf8);
    Some(ScopeFile {
        path: RepoPath::new(shown).ok()?,
        change,
        old_path: old_path.and_then(|old| RepoPath::new(String::from_utf8_lossy(old)).ok()),
        lines: LineSet::default(),
        same_tokens: LineSet::default(),
        outside,
        projects: Vec::new(),
    })
}

pub(super) fn outside(mut file: ScopeFile, reason: OutsideReason) -> ScopeFile {
    file.outside = Some(reason);
    file
}

/// A link: changed when it is new, was none, or has another target.
fn linked(repo: &Repo, delta: &Delta, new: &Side, file: ScopeFile) -> Result<Option<ScopeFile>, GitError> {
    if let Some(old) = &delta.old
        && old.kind == EntryKind::Symlink
        && delta.old_path.is_none()
        && repo.read(file.path.as_str(), old)? == repo.read(file.path.as_str(), new)?
    {
        return Ok(None);
    }
    Ok(Some(outside(file, OutsideReason::Symlink)))
}

fn content(repo: &Repo, delta: &Delta, new: &Side, file: ScopeFile) -> Result<Weighed, GitError> {
    let new_bytes = repo.read(file.path.as_str(), new)?;
    let Some(old) = delta.old.as_ref().filter(|old| old.is_file()) else {
        return Ok(whole(file, &new_bytes).into());
    };
    let old_bytes = repo.read(file.path.as_str(), old)?;
    let stored = text::is_lfs_pointer(&old_bytes) && text::points_at(&old_bytes, &new_bytes);
    let (old_bytes, new_bytes) = if folds(repo, &file, new, (&old_bytes, &new_bytes)) {
        (text::without_carriage_returns(&old_bytes), text::without_carriage_returns(&new_bytes))
    } else {
        (old_bytes, new_bytes)
    };
    if stored || old_bytes == new_bytes {
        return Ok(Weighed::Known(untouched(file, old.kind != new.kind)));
    }
    if let Some(reason) = not_text(&new_bytes) {
        return Ok(outside(file, reason).into());
    }
    if text::is_binary(&old_bytes) || text::is_lfs_pointer(&old_bytes) {
        return Ok(whole(file, &new_bytes).into());
    }
    Ok(Weighed::Texts(Texts { file, old: old_bytes, new: new_bytes }))
}

/// Whether the line endings on disk are git's doing and no change.
fn folds(repo: &Repo, file: &ScopeFile, new: &Side, bytes: (&[u8], &[u8])) -> bool {
    new.at == Place::Disk
        && text::has_carriage_returns(bytes.0) != text::has_carriage_returns(bytes.1)
        && repo.folds_line_ends(file.path.as_str())
}

/// A file with the bytes it had: moved, or with other mode bits, or no change at all.
fn untouched(mut file: ScopeFile, mode_changed: bool) -> Option<ScopeFile> {
    if file.change == FileChange::Renamed {
        return Some(outside(file, OutsideReason::RenameOnly));
    }
    file.change = FileChange::ModeChanged;
    mode_changed.then(|| outside(file, OutsideReason::ModeOnly))
}

/// Why a file can hold no line.
pub(super) fn not_text(bytes: &[u8]) -> Option<OutsideReason> {
    if text::is_binary(bytes) {
        Some(OutsideReason::Binary)
    } else if text::is_lfs_pointer(bytes) {
        Some(OutsideReason::LfsPointer)
    } else {
        None
    }
}

/// A file that has no old side to compare with: every line counts, unless there is nothing but comments.
pub(super) fn whole(mut file: ScopeFile, bytes: &[u8]) -> ScopeFile {
    file.outside = not_text(bytes);
    if file.outside.is_none() {
        let lines = text::all_lines(bytes);
        if lines.is_empty() {
            file.outside = Some(OutsideReason::Empty);
        } else if has_tokens(Language::of(&file.path), bytes) {
            file.lines = lines;
        } else {
            file.same_tokens = lines;
            file.outside = Some(OutsideReason::SameTokens);
        }
    }
    file
}

/// A file with hunks.
pub(super) fn edited(mut file: ScopeFile, old: &[u8], new: &[u8], hunks: &[Hunk]) -> ScopeFile {
    let change = changed_lines(Language::of(&file.path), old, new, hunks);
    file.lines = change.lines;
    file.same_tokens = change.same;
    if file.lines.is_empty() {
        let empty = text::line_count(new) == 0;
        file.outside = Some(if empty { OutsideReason::Empty } else { OutsideReason::SameTokens });
    }
    file
}
