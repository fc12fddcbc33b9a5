//! What the `git` program prints, read.
//!
//! In: bytes with NUL between records. Out: [`Delta`]s and [`Listed`] files. I/O: none.

use std::collections::BTreeMap;

use super::delta::{Delta, Listed, Side};
use super::entry::EntryKind;

/// What `--raw -z` prints: `:oldmode newmode oldhash newhash status` NUL `path` NUL. A new hash of zeros is a file
/// whose bytes are in the working tree.
pub(super) fn raw_deltas(output: &[u8]) -> Option<BTreeMap<Vec<u8>, Delta>> {
    let mut found = BTreeMap::new();
    let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(header) = records.next() {
        let header = std::str::from_utf8(header.strip_prefix(b":")?).ok()?;
        let [old_mode, new_mode, old_id, new_id, status] = fields(header)?;
        let path = records.next()?.to_vec();
        let old = side(old_mode, old_id);
        let new = side(new_mode, new_id).filter(|_| !status.starts_with('U'));
        found.insert(path.clone(), Delta { path, old_path: None, old, new });
    }
    Some(found)
}

fn fields<const N: usize>(text: &str) -> Option<[&str; N]> {
    text.split(' ').collect::<Vec<_>>().try_into().ok()
}

/// The side that a mode and hash stand for, if there is one.
fn side(mode: &str, id: &str) -> Option<Side> {
    let kind = EntryKind::of_mode(u32::from_str_radix(mode, 8).ok()?)?;
    Some(if is_zero(id) { Side::disk(kind) } else { Side::blob(kind, id) })
}

fn is_zero(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}

/// What `ls-files -t -s -z` prints: `tag mode hash stage` TAB `path` NUL. Files that a sparse checkout leaves out carry
/// the tag `S`.
pub(super) fn index_entries(output: &[u8]) -> Option<Vec<IndexEntry>> {
    records(output, |header, path| {
        let [tag, mode, id, stage] = fields(header)?;
        let kind = EntryKind::of_mode(u32::from_str_radix(mode, 8).ok()?)?;
        let file = Listed { path: path.to_vec(), side: Side::blob(kind, id) };
        Some(IndexEntry { file, absent: tag.eq_ignore_ascii_case("S"), unmerged: stage != "0" })
    })
}

/// An entry of the index.
pub(super) struct IndexEntry {
    pub(super) file: Listed,
    /// Left out of the working tree by a sparse checkout.
    pub(super) absent: bool,
    pub(super) unmerged: bool,
}

/// What `ls-tree -z` prints: `mode type hash` TAB `path` NUL. Folders are left out.
pub(super) fn tree_entries(output: &[u8]) -> Option<Vec<Listed>> {
    let entries = records(output, |header, path| {
        let [mode, _, id] = fields(header)?;
        let kind = EntryKind::of_mode(u32::from_str_radix(mode, 8).ok()?);
        Some(kind.map(|kind| Listed { path: path.to_vec(), side: Side::blob(kind, id) }))
    });
    Some(entries?.into_iter().flatten().collect())
}

fn records<T>(output: &[u8], read: impl Fn(&str, &[u8]) -> Option<T>) -> Option<Vec<T>> {
    output
        .split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
        .map(|record| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            read(std::str::from_utf8(record.get(..tab)?).ok()?, record.get(tab + 1..)?)
        })
        .collect()
}

/// Paths with NUL after each. `folder/` is another repository that nobody added.
pub(super) fn paths(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"))
}

/// Whether this value of `core.autocrlf` stores other line endings than the working tree has.
pub(super) fn is_folding(autocrlf: &str) -> bool {
    ["true", "input", "yes", "on", "1"].iter().any(|value| value.eq_ignore_ascii_case(autocrlf.trim()))
}

/// Whether `check-attr -z text eol` says that git stores other line endings; `None`: it says nothing.
pub(super) fn folding_attributes(output: &[u8]) -> Option<bool> {
    let parts: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let value = |name: &[u8]| {
        parts
            .chunks_exact(3)
            .find(|record| record.get(1) == Some(&name))
            .and_then(|record| record.get(2))
            .copied()
    };
    match (value(b"text"), value(b"eol")) {
        (Some(b"unset"), _) => Some(false),
        (Some(text), _) if text != b"unspecified" => Some(true),
        (_, Some(eol)) if eol != b"unspecified" && eol != b"unset" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_output_is_read_with_any_name() {
        let id = "a".repeat(40);
        let zero = "0".repeat(40);
        let output = format!(
            ":100644 100755 {id} {zero} M\0a b\tc\n\"d\\.py\0:000000 120000 {zero} {id} A\0link\0:100644 000000 {id} {zero} D\0x\0"
        );
        let found = raw_deltas(output.as_bytes()).unwrap();
        let first = &found[b"a b\tc\n\"d\\.py".as_slice()];
        assert_eq!(first.new, Some(Side::disk(EntryKind::File { executable: true })));
        assert_eq!(found[b"link".as_slice()].old, None);
        assert_eq!(found[b"x".as_slice()].new, None);
        assert_eq!(raw_deltas(b"garbage"), None);
    }

    #[test]
    fn attributes_say_whether_line_ends_are_folded() {
        assert_eq!(folding_attributes(b"a\0text\0auto\0a\0eol\0unspecified\0"), Some(true));
        assert_eq!(folding_attributes(b"a\0text\0unset\0a\0eol\0lf\0"), Some(false));
        assert_eq!(folding_attributes(b"a\0text\0unspecified\0a\0eol\0crlf\0"), Some(true));
        assert_eq!(folding_attributes(b"a\0text\0unspecified\0a\0eol\0unspecified\0"), None);
    }
}
