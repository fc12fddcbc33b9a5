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

/// The scope's entry for a path; `None` when both sides turn out to be equal.
pub(super) fn weigh(repo: &Repo, delta: &Delta) -> Result<Option<ScopeFile>, GitError> {
    let change = change_of(delta);
    let Some(file) = named(&delta.path, delta.old_path.as_deref(), change) else { return Ok(None) };
    if file.outside.is_some() {
        return Ok(Some(file));
    }
    let submodule = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.kind == EntryKind::Submodule);
    match (&delta.old, &delta.new) {
        (None, None) => Ok(None),
        _ if submodule(&delta.old)
            && delta.new.as_ref().is_none_or(|new| new.kind == EntryKind::Submodule) =>
        {
            Ok(Some(outside(file, OutsideReason::Submodule)))
        }
        (_, None) => Ok(Some(outside(file, OutsideReason::Deleted))),
        (_, Some(new)) => match new.kind {
            EntryKind::Submodule => Ok(Some(outside(file, OutsideReason::Submodule))),
            EntryKind::Symlink => linked(repo, delta, new, file),
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

fn content(
    repo: &Repo,
    delta: &Delta,
    new: &Side,
    mut file: ScopeFile,
) -> Result<Option<ScopeFile>, GitError> {
    let new_bytes = repo.read(file.path.as_str(), new)?;
    let old_bytes = match &delta.old {
        Some(old) if old.is_file() => Some(repo.read(file.path.as_str(), old)?),
        Some(_) | None => None,
    };
    let Some(old_bytes) = old_bytes else { return Ok(Some(whole(file, &new_bytes))) };
    let old_bytes = if text::is_lfs_pointer(&old_bytes) && text::points_at(&old_bytes, &new_bytes) {
        new_bytes.clone()
    } else {
        old_bytes
    };
    let folds = new.at == Place::Disk
        && text::has_carriage_returns(&old_bytes) != text::has_carriage_returns(&new_bytes)
        && repo.folds_line_ends(file.path.as_str());
    let (old_bytes, new_bytes) = if folds {
        (text::without_carriage_returns(&old_bytes), text::without_carriage_returns(&new_bytes))
    } else {
        (old_bytes, new_bytes)
    };
    if old_bytes == new_bytes {
        let mode = delta.old.as_ref().is_some_and(|old| old.kind != new.kind);
        if delta.old_path.is_some() {
            return Ok(Some(outside(file, OutsideReason::RenameOnly)));
        }
        file.change = FileChange::ModeChanged;
        return Ok(mode.then(|| outside(file, OutsideReason::ModeOnly)));
    }
    if let Some(reason) = not_text(&new_bytes) {
        return Ok(Some(outside(file, reason)));
    }
    if text::is_binary(&old_bytes) || text::is_lfs_pointer(&old_bytes) {
        return Ok(Some(whole(file, &new_bytes)));
    }
    let hunks = text::hunks(&old_bytes, &new_bytes)?;
    Ok(Some(edited(file, &old_bytes, &new_bytes, &hunks)))
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
