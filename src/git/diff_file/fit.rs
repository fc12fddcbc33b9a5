//! Holds a diff against the tree: prefixes, the new side's text, and the old side put together again.
//!
//! In: [`Section`]s. Out: the files of the scope. I/O: reads the new side through [`Repo`].

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{FileChange, NewSide, OutsideReason, ScopeFile};

use super::super::entry::{Entry, EntryKind};
use super::super::error::{DiffFileError, GitError};
use super::super::repo::Repo;
use super::super::text;
use super::super::weigh::{edited, named, not_text, outside, whole};
use super::names::{Name, Strip, look_prefixed};
use super::parse::{Body, Section, Sign, parse};
use crate::lexer::Hunk;

/// A diff file and a repository do not go together.
pub(in crate::git) enum Misfit {
    Diff(DiffFileError),
    Git(GitError),
}

impl From<DiffFileError> for Misfit {
    fn from(error: DiffFileError) -> Self {
        Self::Diff(error)
    }
}

impl From<GitError> for Misfit {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

impl Misfit {
    /// The error, with the name of the diff file.
    pub(in crate::git) fn named(self, name: &str) -> GitError {
        match self {
            Self::Diff(source) => GitError::DiffFile { name: name.to_owned(), source },
            Self::Git(error) => error,
        }
    }
}

/// The files that a diff changes.
pub(in crate::git) fn files(repo: &Repo, side: NewSide, diff: &[u8]) -> Result<Vec<ScopeFile>, Misfit> {
    let sections = parse(diff)?;
    let entries = repo.files(side)?;
    let tree: BTreeMap<&[u8], &Entry> =
        entries.iter().map(|entry| (entry.path.as_str().as_bytes(), entry)).collect();
    let strip = prefix(&sections, &tree)?;
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for section in &sections {
        let Some(file) = file(repo, section, strip, &tree)? else { continue };
        if !seen.insert(file.path.clone()) {
            let why = format!("{} is in the diff twice; join the commits into one diff", file.path);
            return Err(DiffFileError::Malformed { line: section.line, why }.into());
        }
        files.push(file);
    }
    Ok(files)
}

/// The name that a section has on the new side, or on the old one when it is gone.
fn path(section: &Section, strip: Strip) -> Option<&[u8]> {
    if let Some((_, to)) = &section.renamed {
        return Some(to);
    }
    let new = section.new.as_ref()?;
    if new.is_null() { section.old.as_ref()?.stripped(strip) } else { new.stripped(strip) }
}

fn is_deleted(section: &Section) -> bool {
    section.renamed.is_none() && section.new.as_ref().is_some_and(Name::is_null)
}

/// Whether the names carry a prefix: what git would have written, if the tree agrees; else the other way.
fn prefix(sections: &[Section], tree: &BTreeMap<&[u8], &Entry>) -> Result<Strip, DiffFileError> {
    let prefixed = sections.iter().all(|section| match (&section.old, &section.new) {
        (Some(old), Some(new)) => look_prefixed(old, new) || (old.is_null() && new.is_null()),
        // A rename says its names without prefix.
        (None, _) | (_, None) => true,
    });
    let (first, second) = if prefixed { (Strip::First, Strip::None) } else { (Strip::None, Strip::First) };
    let misfit = |strip: Strip| {
        sections.iter().filter(|section| !is_deleted(section)).find(|section| {
            let path = path(section, strip);
            // A name that is not UTF-8 is in no listing.
            path.is_none_or(|path| std::str::from_utf8(path).is_ok() && !tree.contains_key(path))
        })
    };
    match misfit(first) {
        None => Ok(first),
        Some(_) if misfit(second).is_none() => Ok(second),
        Some(section) => {
            let path = path(section, first).or(path(section, second)).unwrap_or_default();
            let path = String::from_utf8_lossy(path).into_owned();
            Err(DiffFileError::NoSuchFile { line: section.line, path })
        }
    }
}

fn file(
    repo: &Repo,
    section: &Section,
    strip: Strip,
    tree: &BTreeMap<&[u8], &Entry>,
) -> Result<Option<ScopeFile>, Misfit> {
    let Some(path) = path(section, strip) else { return Ok(None) };
    let deleted = is_deleted(section);
    let change = match (deleted, &section.renamed, &section.old) {
        (true, _, _) => FileChange::Deleted,
        // A copy: every line of it is new.
        (false, Some((from, _)), _) if from.is_empty() => FileChange::Added,
        (false, Some(_), _) => FileChange::Renamed,
        (false, None, Some(old)) if old.is_null() => FileChange::Added,
        (false, None, _) if section.hunks.is_empty() && !section.binary => FileChange::ModeChanged,
        (false, None, _) => FileChange::Modified,
    };
    let old_path = section.renamed.as_ref().map(|(from, _)| from.as_slice()).filter(|from| !from.is_empty());
    let Some(file) = named(path, old_path, change) else { return Ok(None) };
    let entry = tree.get(path);
    match (deleted, entry) {
        (true, Some(_)) => {
            Err(DiffFileError::StillThere { line: section.line, path: file.path.to_string() }.into())
        }
        (true, None) => Ok(Some(outside(file, OutsideReason::Deleted))),
        (false, None) => Ok(Some(outside(file, OutsideReason::NameNotUtf8))),
        (false, Some(entry)) => Ok(Some(weigh(repo, section, entry, file)?)),
    }
}

fn weigh(repo: &Repo, section: &Section, entry: &Entry, file: ScopeFile) -> Result<ScopeFile, Misfit> {
    match entry.kind {
        EntryKind::Submodule => return Ok(outside(file, OutsideReason::Submodule)),
        EntryKind::Symlink => return Ok(outside(file, OutsideReason::Symlink)),
        EntryKind::File { .. } => {}
    }
    if section.binary {
        return Ok(outside(file, OutsideReason::Binary));
    }
    let bytes = repo.bytes(entry)?;
    if let Some(reason) = not_text(&bytes) {
        return Ok(outside(file, reason));
    }
    if pointer(section) {
        return Ok(outside(file, OutsideReason::LfsPointer));
    }
    if section.hunks.is_empty() && file.change != FileChange::Added {
        let renamed = file.change == FileChange::Renamed;
        return Ok(outside(file, if renamed { OutsideReason::RenameOnly } else { OutsideReason::ModeOnly }));
    }
    let (old, hunks) = rebuild(section, file.path.as_str(), &bytes)?;
    Ok(if file.change == FileChange::Added {
        whole(file, &bytes)
    } else {
        edited(file, &old, &bytes, &hunks)
    })
}

/// Whether the diff is about a Git LFS pointer, whose content the tree may hold.
fn pointer(section: &Section) -> bool {
    let first = section.hunks.first().and_then(|hunk| hunk.lines.first());
    first.is_some_and(|line| line.text.starts_with(b"version https://git-lfs"))
}

/// The old side and the hunks without their context, after every line of the new side was found where it should be.
fn rebuild(section: &Section, path: &str, new: &[u8]) -> Result<(Vec<u8>, Vec<Hunk>), DiffFileError> {
    let lines: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
    let end: &[u8] = if text::has_carriage_returns(new) { b"\r\n" } else { b"\n" };
    let mut old = Rebuilt { path, lines: &lines, end, bytes: Vec::new(), old_line: 1, new_line: 1 };
    let mut hunks = Vec::new();
    for body in &section.hunks {
        if body.new.start < old.new_line {
            let why = "the hunks of a file must stand in order".to_owned();
            return Err(DiffFileError::Malformed { line: body.line, why });
        }
        while old.new_line < body.new.start {
            old.keep(body.line, None)?;
        }
        old.body(body, &mut hunks)?;
    }
    while old.line(old.new_line).is_some() {
        old.keep(0, None)?;
    }
    Ok((old.bytes, hunks))
}

/// The old side as far as it is known.
struct Rebuilt<'a> {
    path: &'a str,
    lines: &'a [&'a [u8]],
    end: &'a [u8],
    bytes: Vec<u8>,
    old_line: u32,
    new_line: u32,
}

impl Rebuilt<'_> {
    /// A line of the new side, with its line ending.
    fn line(&self, number: u32) -> Option<&[u8]> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines.get(at).copied()
    }

    /// Takes the next new line over to the old side, after a look whether it is the wanted one.
    fn keep(&mut self, diff_line: usize, wanted: Option<&[u8]>) -> Result<(), DiffFileError> {
        let text = self.found(diff_line, wanted)?.to_vec();
        self.bytes.extend_from_slice(&text);
        self.old_line += 1;
        self.new_line += 1;
        Ok(())
    }

    fn found(&self, diff_line: usize, wanted: Option<&[u8]>) -> Result<&[u8], DiffFileError> {
        let text = self.line(self.new_line);
        let shown = text.map(bare);
        match (text, wanted) {
            (Some(text), None) => Ok(text),
            (Some(text), Some(wanted)) if shown == Some(bare(wanted)) => Ok(text),
            _ => Err(DiffFileError::OtherText {
                line: diff_line,
                path: self.path.to_owned(),
                at: self.new_line,
                found: shown.map_or("(the end of the file)".to_owned(), |text| {
                    String::from_utf8_lossy(text).into_owned()
                }),
                wanted: wanted
                    .map_or("(a line)".to_owned(), |text| String::from_utf8_lossy(text).into_owned()),
            }),
        }
    }

    fn body(&mut self, body: &Body, hunks: &mut Vec<Hunk>) -> Result<(), DiffFileError> {
        for line in &body.lines {
            match line.sign {
                Sign::Both => self.keep(line.line, Some(&line.text))?,
                Sign::New => {
                    self.found(line.line, Some(&line.text))?;
                    self.grow(hunks, Sign::New);
                    self.new_line += 1;
                }
                Sign::Old => {
                    self.grow(hunks, Sign::Old);
                    self.bytes.extend_from_slice(bare(&line.text));
                    self.bytes.extend_from_slice(self.end);
                    self.old_line += 1;
                }
            }
        }
        Ok(())
    }

    /// Adds the present line of one side to the last hunk, or starts another where a kept line lies between.
    fn grow(&self, hunks: &mut Vec<Hunk>, sign: Sign) {
        let adjacent =
            hunks.last().is_some_and(|hunk| hunk.old.end == self.old_line && hunk.new.end == self.new_line);
        if !adjacent {
            hunks.push(Hunk { old: self.old_line..self.old_line, new: self.new_line..self.new_line });
        }
        if let Some(hunk) = hunks.last_mut() {
            match sign {
                Sign::Old => hunk.old.end += 1,
                Sign::New => hunk.new.end += 1,
                Sign::Both => {}
            }
        }
    }
}

/// A line without its line ending.
fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
