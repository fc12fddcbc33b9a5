//! What the bytes of a file say: text or not, a stored pointer, its lines, and the hunks between two versions.
//!
//! In: bytes. Out: answers about them. I/O: none.

use git2::{DiffOptions, Patch};
use polymut_schemas::{LineRange, LineSet};

use super::error::GitError;
use crate::hash::sha256;
use crate::lexer::Hunk;

/// Larger files count as binary; no tool here mutates one.
const LARGEST: usize = 64 << 20;

/// Whether the bytes are no text, as git judges: a NUL among the first 8000.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.len() > LARGEST || bytes.get(..8000).unwrap_or(bytes).contains(&0)
}

/// Whether a Git LFS pointer stands where the content should be.
pub(super) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    bytes.len() < 1024 && bytes.starts_with(b"version https://git-lfs") && pointed_hash(bytes).is_some()
}

fn pointed_hash(pointer: &[u8]) -> Option<&str> {
    std::str::from_utf8(pointer).ok()?.lines().find_map(|line| line.strip_prefix("oid sha256:"))
}

/// Whether `pointer` stands for exactly these bytes.
pub(super) fn points_at(pointer: &[u8], bytes: &[u8]) -> bool {
    pointed_hash(pointer) == Some(sha256(bytes).as_str())
}

/// How many lines a text has; the last needs no line ending.
pub(super) fn line_count(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.split_inclusive(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Every line of a text.
pub(super) fn all_lines(bytes: &[u8]) -> LineSet {
    LineSet::from_ranges([LineRange { first: 1, last: line_count(bytes) }])
}

/// Whether a line ends with a carriage return.
pub(super) fn has_carriage_returns(bytes: &[u8]) -> bool {
    bytes.contains(&b'\r') && bytes.windows(2).any(|two| two == b"\r\n")
}

/// The text with plain line feeds.
pub(super) fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    plain
}

/// The hunks between two texts, as `git diff -U0` makes them.
pub(super) fn hunks(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, GitError> {
    let failed = |error: git2::Error| GitError::Library {
        doing: "comparing two files".to_owned(),
        words: error.message().to_owned(),
    };
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true).indent_heuristic(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(failed)?;
    (0..patch.num_hunks())
        .map(|at| {
            let (hunk, _) = patch.hunk(at).map_err(failed)?;
            Ok(Hunk {
                old: side(hunk.old_start(), hunk.old_lines()),
                new: side(hunk.new_start(), hunk.new_lines()),
            })
        })
        .collect()
}

/// Lines of one side; with none, the header names the line before them.
pub(super) fn side(start: u32, lines: u32) -> std::ops::Range<u32> {
    let start = if lines == 0 { start.saturating_add(1) } else { start };
    start..start.saturating_add(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_name_lines_of_both_sides() {
        let found = hunks(b"a\nb\nc\n", b"x\na\nc\nd").unwrap();
        let expected = [(1..1, 1..2), (2..3, 3..3), (4..4, 4..5)];
        assert_eq!(found, expected.map(|(old, new)| Hunk { old, new }));
    }

    #[test]
    fn lines_are_counted_with_and_without_a_last_line_ending() {
        assert_eq!([b"".as_slice(), b"a", b"a\n", b"a\nb"].map(line_count), [0, 1, 1, 2]);
    }

    #[test]
    fn a_pointer_is_known_with_its_content() {
        let pointer = b"version https://git-lfs.example/spec/v1\noid sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nsize 3\n";
        assert!(is_lfs_pointer(pointer));
        assert!(points_at(pointer, b"abc"));
        assert!(!points_at(pointer, b"abd"));
        assert!(!is_lfs_pointer(b"version https://git-lfs\n"));
    }
}
