//! What libgit2 says of one path, in the words of this room.
//!
//! In: its deltas and tree entries. Out: [`Delta`], [`Side`]. I/O: none.

use git2::{Delta as Status, DiffOptions};

use super::delta::{Delta, Side};
use super::entry::EntryKind;

/// How every comparison is made.
pub(super) fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    options.include_typechange(true).include_typechange_trees(true).skip_binary_check(true);
    options
}

pub(super) fn entry_of(tree: &git2::Tree<'_>, path: &[u8]) -> Option<Side> {
    let path = std::str::from_utf8(path).ok()?;
    let entry = tree.get_path(std::path::Path::new(path)).ok()?;
    EntryKind::of_mode(mode(entry.filemode())).map(|kind| Side::blob(kind, entry.id().to_string()))
}

pub(super) fn mode(filemode: i32) -> u32 {
    u32::try_from(filemode).unwrap_or_default()
}

/// The deltas of a comparison whose both sides are in the object database.
pub(super) fn stored(diff: &git2::Diff<'_>) -> Vec<Delta> {
    let side = |file: &git2::DiffFile<'_>| {
        let kind = EntryKind::of_mode(u32::from(file.mode()))?;
        (!file.id().is_zero()).then(|| Side::blob(kind, file.id().to_string()))
    };
    let deltas = diff.deltas().filter_map(|delta| {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or(old.path_bytes())?.to_vec();
        let (old, new) = match delta.status() {
            Status::Added => (None, side(&new)),
            Status::Deleted => (side(&old), None),
            _ => (side(&old), side(&new)),
        };
        (old.is_some() || new.is_some()).then_some(Delta { path, old_path: None, old, new })
    });
    deltas.collect()
}

/// A delta between the index and the working tree.
pub(super) fn on_disk(delta: &git2::DiffDelta<'_>) -> Option<Delta> {
    let (old, new) = (delta.old_file(), delta.new_file());
    let path = new.path_bytes().or(old.path_bytes())?.to_vec();
    // `folder/` is another repository that nobody added.
    if path.ends_with(b"/") {
        return None;
    }
    let old_side = EntryKind::of_mode(u32::from(old.mode()))
        .filter(|_| !old.id().is_zero())
        .map(|kind| Side::blob(kind, old.id().to_string()));
    let new_side = EntryKind::of_mode(u32::from(new.mode())).map(Side::disk);
    let (old, new) = match delta.status() {
        Status::Untracked | Status::Added => (None, new_side),
        Status::Deleted => (old_side, None),
        Status::Modified | Status::Typechange => (old_side, new_side),
        // Unmerged paths are looked up by themselves; the rest is no difference.
        _ => return None,
    };
    Some(Delta { path, old_path: None, old, new })
}
