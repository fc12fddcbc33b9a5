//! File names in diffs: quoted, followed by a time, with one of many prefixes or none.
//!
//! In: bytes of a header line. Out: [`Name`]. I/O: none.

/// A name as the diff writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// Unquoted, prefix included.
    pub(super) bytes: Vec<u8>,
    /// Taken from the `diff --git` line, until a better one comes.
    pub(super) from_header: bool,
}

/// First parts that git puts in front: `a/` and `b/`, and those of `diff.mnemonicPrefix`.
const PREFIXES: [&[u8]; 8] = [b"a", b"b", b"c", b"i", b"o", b"w", b"1", b"2"];

impl Name {
    /// `/dev/null`, as the header of a new or deleted file implies it.
    pub(super) fn null() -> Self {
        Self { bytes: b"/dev/null".to_vec(), from_header: true }
    }

    pub(super) fn is_null(&self) -> bool {
        self.bytes == b"/dev/null"
    }

    /// The name with its first part taken off, when `parts` is 1.
    pub(super) fn stripped(&self, parts: Strip) -> Option<&[u8]> {
        match parts {
            Strip::None => Some(&self.bytes),
            Strip::First => after_first(&self.bytes),
        }
    }
}

/// How much of the names is prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strip {
    None,
    First,
}

fn after_first(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().position(|byte| *byte == b'/')?;
    path.get(slash + 1..).filter(|rest| !rest.is_empty())
}

/// Whether these two names carry the prefixes that git writes.
pub(super) fn look_prefixed(old: &Name, new: &Name) -> bool {
    let first = |name: &Name| -> Option<&'static [u8]> {
        let part = name.bytes.split(|byte| *byte == b'/').next()?;
        PREFIXES.into_iter().find(|prefix| *prefix == part && name.bytes.len() > prefix.len())
    };
    match (old.is_null(), new.is_null()) {
        (true, true) => false,
        (true, false) => first(new).is_some(),
        (false, true) => first(old).is_some(),
        (false, false) => first(old).is_some() && first(new).is_some() && first(old) != first(new),
    }
}

/// The name on a `---`, `+++` or `rename` line; `None` when its quotes do not close.
pub(super) fn name(text: &[u8]) -> Option<Name> {
    let bytes = if text.starts_with(b"\"") {
        unquote(text)?.0
    } else {
        // A TAB follows a name with spaces, and separates the name from a time.
        text.split(|byte| *byte == b'\t').next().unwrap_or_default().to_vec()
    };
    Some(Name { bytes, from_header: false })
}

/// Both names of a `diff --git` line; `None` when they cannot be told apart (a rename, which says them again).
pub(super) fn header_names(text: &[u8]) -> Option<(Name, Name)> {
    let header = |bytes: &[u8]| Name { bytes: bytes.to_vec(), from_header: true };
    if text.starts_with(b"\"") {
        let (old, rest) = unquote(text)?;
        let rest = rest.strip_prefix(b" ")?;
        let new = if rest.starts_with(b"\"") { unquote(rest)?.0 } else { rest.to_vec() };
        return Some((header(&old), header(&new)));
    }
    if let Some(quote) = text.windows(2).position(|two| two == b" \"") {
        let new = unquote(text.get(quote + 1..)?)?.0;
        return Some((header(text.get(..quote)?), header(&new)));
    }
    let spaces = text.iter().enumerate().filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
    let mut halves = spaces.filter_map(|at| Some((text.get(..at)?, text.get(at + 1..)?)));
    let same = |(old, new): &(&[u8], &[u8])| {
        old == new || (after_first(old).is_some() && after_first(old) == after_first(new))
    };
    halves.find(same).map(|(old, new)| (header(old), header(new)))
}

/// A name between quotes with C escapes, and what follows it.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (letter, after) = rest.split_first()?;
                if let Some(byte) = rest.get(..3).and_then(octal_byte) {
                    name.push(byte);
                    rest = rest.get(3..)?;
                } else {
                    name.push(escaped(*letter)?);
                    rest = after;
                }
            }
            byte => name.push(*byte),
        }
    }
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

fn escaped(letter: u8) -> Option<u8> {
    match letter {
        b'a' => Some(7),
        b'b' => Some(8),
        b't' => Some(b'\t'),
        b'n' => Some(b'\n'),
        b'v' => Some(11),
        b'f' => Some(12),
        b'r' => Some(b'\r'),
        b'"' | b'\\' => Some(letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: Option<Name>) -> String {
        name.map(|name| String::from_utf8_lossy(&name.bytes).into_owned()).unwrap_or_default()
    }

    #[test]
    fn names_are_unquoted() {
        assert_eq!(text(name(b"\"a/caf\\303\\251.rs\"")), "a/café.rs");
        assert_eq!(text(name(b"\"b/we\\\"ird\\\\ \\t\\n.py\"")), "b/we\"ird\\ \t\n.py");
        assert_eq!(text(name(b"b/my file.ts\t")), "b/my file.ts");
        assert_eq!(text(name(b"src/x.c\t2024-01-01 10:00:00.000 +0000")), "src/x.c");
        assert_eq!(name(b"\"a/open"), None);
    }

    #[test]
    fn the_two_names_of_a_git_header_are_told_apart() {
        let both = |line: &[u8]| header_names(line).map(|(old, new)| (text(Some(old)), text(Some(new))));
        let pair = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(both(b"a/x.py b/x.py"), pair("a/x.py", "b/x.py"));
        assert_eq!(both(b"a/a b/c.py b/a b/c.py"), pair("a/a b/c.py", "b/a b/c.py"));
        assert_eq!(both(b"x y.py x y.py"), pair("x y.py", "x y.py"));
        assert_eq!(both(b"\"a/\\303\\251\" \"b/\\303\\251\""), pair("a/é", "b/é"));
        assert_eq!(both(b"a/old.py b/new.py"), None);
    }
}
