//! The text of a unified diff: from git in any of its settings, or from other programs.
//!
//! In: bytes. Out: [`Section`]s. I/O: none.

use std::ops::Range;

use super::super::error::DiffFileError;
use super::super::text::side;
use super::names::{Name, header_names, name};

/// What a diff says of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// 1-based line of the diff where it starts.
    pub(super) line: usize,
    /// Names with their prefixes.
    pub(super) old: Option<Name>,
    pub(super) new: Option<Name>,
    /// Names without prefixes; the first is empty for a copy.
    pub(super) renamed: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) binary: bool,
    pub(super) mode_changed: bool,
    pub(super) hunks: Vec<Body>,
}

/// A hunk with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    /// 1-based line of the header.
    pub(super) line: usize,
    pub(super) new: Range<u32>,
    pub(super) lines: Vec<BodyLine>,
}

/// A line of a hunk, without sign and line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyLine {
    pub(super) sign: Sign,
    pub(super) text: Vec<u8>,
    /// 1-based line of the diff.
    pub(super) line: usize,
}

/// Which sides a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Both,
    Old,
    New,
}

/// Reads a diff. Text between files (mail headers, commit messages) is passed over.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Section>, DiffFileError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(DiffFileError::Utf16);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(DiffFileError::Empty);
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').map(without_end).collect();
    let mut parser = Parser { lines, at: 0, sections: Vec::new(), after_hunk: false };
    while let Some(line) = parser.lines.get(parser.at).copied() {
        parser.step(line)?;
    }
    parser.check()?;
    Ok(parser.sections)
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

struct Parser<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    sections: Vec<Section>,
    /// Whether the last line was one of a hunk.
    after_hunk: bool,
}

impl Parser<'_> {
    fn malformed(&self, why: impl Into<String>) -> DiffFileError {
        DiffFileError::Malformed { line: self.at + 1, why: why.into() }
    }

    fn step(&mut self, line: &[u8]) -> Result<(), DiffFileError> {
        let after_hunk = std::mem::take(&mut self.after_hunk);
        if line.starts_with(b"diff --cc ")
            || line.starts_with(b"diff --combined ")
            || line.starts_with(b"@@@")
        {
            return Err(self.malformed("a combined diff of a merge; make one against a single commit"));
        }
        if let Some(rest) = line.strip_prefix(b"diff --git ") {
            let (old, new) = header_names(rest).unzip();
            self.sections.push(Section { line: self.at + 1, old, new, ..Section::default() });
        } else if line.starts_with(b"@@ ") {
            return self.hunk(line);
        } else if self.file_names(line)? {
            self.at += 1;
        } else if after_hunk && is_stray(line) {
            return Err(self.malformed("a line that the counts of its hunk do not cover"));
        } else if line.starts_with(b"\\") {
            self.after_hunk = after_hunk;
        } else if let Some(section) = self.sections.last_mut().filter(|section| section.hunks.is_empty()) {
            extended_header(section, line);
        }
        self.at += 1;
        Ok(())
    }

    /// `--- old` and `+++ new` on two lines, the second right after the first.
    fn file_names(&mut self, line: &[u8]) -> Result<bool, DiffFileError> {
        let next = self.lines.get(self.at + 1).copied().unwrap_or_default();
        let (Some(old), Some(new)) = (line.strip_prefix(b"--- "), next.strip_prefix(b"+++ ")) else {
            return Ok(false);
        };
        let unreadable = || self.malformed("a quoted file name that does not end");
        let (old, new) = (name(old).ok_or_else(unreadable)?, name(new).ok_or_else(unreadable)?);
        let line = self.at + 1;
        match self.sections.last_mut().filter(|section| section.hunks.is_empty() && !named_twice(section)) {
            Some(section) => (section.old, section.new) = (Some(old), Some(new)),
            None => {
                self.sections.push(Section { line, old: Some(old), new: Some(new), ..Section::default() });
            }
        }
        Ok(true)
    }

    fn hunk(&mut self, header: &[u8]) -> Result<(), DiffFileError> {
        let Some((old, new)) = ranges(header) else {
            return Err(self.malformed(format!("`{}` is no hunk header", String::from_utf8_lossy(header))));
        };
        let start = self.at;
        self.at += 1;
        let (mut old_left, mut new_left) = (old.1, new.1);
        let mut lines = Vec::new();
        while old_left > 0 || new_left > 0 {
            let Some(line) = self.lines.get(self.at).copied() else {
                let header = String::from_utf8_lossy(header).into_owned();
                let missing = u64::from(old_left.max(new_left));
                return Err(DiffFileError::Truncated { line: start + 1, header, missing });
            };
            if let Some(sign) = self.sign(line)? {
                let counts: &mut [&mut u32] = match sign {
                    Sign::Both => &mut [&mut old_left, &mut new_left],
                    Sign::Old => &mut [&mut old_left],
                    Sign::New => &mut [&mut new_left],
                };
                for left in counts {
                    **left = left.checked_sub(1).ok_or_else(|| {
                        self.malformed("one line more than the header of its hunk announces")
                    })?;
                }
                let text = line.get(1..).unwrap_or_default().to_vec();
                lines.push(BodyLine { sign, text, line: self.at + 1 });
            }
            self.at += 1;
        }
        self.after_hunk = true;
        let body = Body { line: start + 1, new: side(new.0, new.1), lines };
        let Some(section) = self.sections.last_mut().filter(|section| section.new.is_some()) else {
            self.at = start;
            return Err(self.malformed("a hunk without the name of its file"));
        };
        section.hunks.push(body);
        Ok(())
    }

    /// The sign of a line inside a hunk; `None` for the note about a missing line ending.
    fn sign(&self, line: &[u8]) -> Result<Option<Sign>, DiffFileError> {
        match line.first() {
            // Some mailers and editors strip the one space of an empty line.
            Some(b' ') | None => Ok(Some(Sign::Both)),
            Some(b'-') => Ok(Some(Sign::Old)),
            Some(b'+') => Ok(Some(Sign::New)),
            Some(b'\\') => Ok(None),
            Some(_) => Err(self.malformed("the hunk is cut off: this is none of its lines")),
        }
    }

    /// Each section must say something.
    fn check(&self) -> Result<(), DiffFileError> {
        if self.sections.is_empty() {
            return Err(DiffFileError::NoDiff);
        }
        for section in &self.sections {
            let says = section.binary
                || section.mode_changed
                || section.renamed.is_some()
                || !section.hunks.is_empty()
                || section.old.as_ref().is_some_and(Name::is_null)
                || section.new.as_ref().is_some_and(Name::is_null);
            if !says || (section.new.is_none() && section.renamed.is_none()) {
                let why = "a file without a hunk, or without a name that can be read".to_owned();
                return Err(DiffFileError::Malformed { line: section.line, why });
            }
        }
        Ok(())
    }
}

/// `-- ` ends a mail; any other line with a sign belongs to a hunk.
fn is_stray(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'+' | b'-' | b' ')) && line != b"-- " && line != b"--"
}

/// Whether the section already has its `---` and `+++` lines: a plain diff then starts another file.
fn named_twice(section: &Section) -> bool {
    let plain = |name: &Option<Name>| name.as_ref().is_some_and(|name| !name.from_header);
    plain(&section.old) || plain(&section.new)
}

/// A line between `diff --git` and the first hunk.
fn extended_header(section: &mut Section, line: &[u8]) {
    if let Some(from) = line.strip_prefix(b"rename from ") {
        let from = name(from).map(|name| name.bytes).unwrap_or_default();
        section.renamed = Some((from, Vec::new()));
    } else if let Some(to) = line.strip_prefix(b"copy to ") {
        section.renamed = Some((Vec::new(), name(to).map(|name| name.bytes).unwrap_or_default()));
    } else if let Some(to) = line.strip_prefix(b"rename to ") {
        if let Some((_, renamed)) = &mut section.renamed {
            *renamed = name(to).map(|name| name.bytes).unwrap_or_default();
        }
    } else if line.starts_with(b"Binary files ") || line == b"GIT binary patch" {
        section.binary = true;
    } else if line.starts_with(b"old mode ") || line.starts_with(b"new mode ") {
        section.mode_changed = true;
    } else if line.starts_with(b"new file mode ") {
        section.old = Some(Name::null());
    } else if line.starts_with(b"deleted file mode ") {
        // The name on the old side stays; the new side has none.
        section.new = Some(Name::null());
    }
}

/// Start and count of both sides in `@@ -1,2 +3,4 @@`.
fn ranges(header: &[u8]) -> Option<((u32, u32), (u32, u32))> {
    let text = std::str::from_utf8(header.strip_prefix(b"@@ -")?).unwrap_or_else(|error| {
        // The function name after the second @@ can be cut inside a character.
        std::str::from_utf8(header.get(4..4 + error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
    });
    let (ranges, _) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}
