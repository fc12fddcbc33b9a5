//! The changed lines that count, and those whose tokens are the same as before.
//!
//! In: both sides of a file and the hunks between them. Out: [`LineChange`]. I/O: none.
//!
//! Both files are lexed whole, because a hunk can start inside a comment or string. Then each stretch (a hunk, or the
//! equal lines between two) is compared: first line by line, then token by token inside what was replaced. Equal
//! lines whose tokens differ (a comment was opened above them) count as changed.

use std::collections::BTreeSet;
use std::ops::Range;

use polymut_schemas::{LineRange, LineSet};

use super::align::{Edit, edits};
use super::language::Language;
use super::scan::lex;
use super::token::{Kind, Lexed, Token};

/// How many stretches ahead moved tokens are looked for.
const FURTHEST: usize = 200;

/// Lines of the old side that lines of the new side replaced; 1-based. An empty range stands before its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Old lines, end exclusive.
    pub old: Range<u32>,
    /// New lines, end exclusive.
    pub new: Range<u32>,
}

/// What became of the changed lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineChange {
    /// Lines that count: tokens differ, or they stand beside a deletion.
    pub lines: LineSet,
    /// Changed lines with the tokens they had.
    pub same: LineSet,
}

/// Sorts the lines of `hunks` (ascending, disjoint) into those that count and those that do not.
pub fn changed_lines(language: Language, old: &[u8], new: &[u8], hunks: &[Hunk]) -> LineChange {
    let count = line_count(new);
    let (old, new) = (lex(language, old), lex(language, new));
    if hunks.is_empty() {
        return LineChange::default();
    }
    let mut marks = Marks { count, lines: BTreeSet::new() };
    if old.sure && new.sure {
        marks.stretches(&stretches(hunks, &old, &new), &old, &new);
    } else {
        for hunk in hunks {
            marks.whole(hunk);
        }
    }
    let lines = LineSet::from_lines(marks.lines);
    let changed = LineSet::from_ranges(hunks.iter().filter_map(|hunk| range(&hunk.new)));
    LineChange { same: changed.minus(&lines), lines }
}

/// Whether a file holds anything but white space and comments; yes, where the lexer is not sure.
pub fn has_tokens(language: Language, bytes: &[u8]) -> bool {
    let lexed = lex(language, bytes);
    !lexed.sure || !lexed.tokens.is_empty()
}

fn range(lines: &Range<u32>) -> Option<LineRange> {
    (lines.start < lines.end).then(|| LineRange { first: lines.start, last: lines.end - 1 })
}

/// How many lines a text has; a last line needs no line ending.
fn line_count(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.split_inclusive(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// The hunks, with the equal lines around them. Two hunks with no token between them are one.
fn stretches(hunks: &[Hunk], old: &Lexed<'_>, new: &Lexed<'_>) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::with_capacity(hunks.len() * 2 + 1);
    let mut before = Hunk { old: 1..1, new: 1..1 };
    for hunk in hunks {
        let gap = Hunk { old: before.old.end..hunk.old.start, new: before.new.end..hunk.new.start };
        let bare = on_lines(old, &gap.old).is_empty() && on_lines(new, &gap.new).is_empty();
        match found.last_mut() {
            Some(last) if bare => *last = through(last, hunk),
            Some(_) | None => found.extend([gap, hunk.clone()]),
        }
        before = hunk.clone();
    }
    found.push(Hunk { old: before.old.end..u32::MAX, new: before.new.end..u32::MAX });
    found
}

/// The lines before and after a stretch. Beside equal lines (every second stretch, from the first), a hunk that left
/// no token is no neighbour: `/*` on its own line.
fn around(stretches: &[Hunk], at: usize, new: &Lexed<'_>) -> (u32, u32) {
    let bare =
        |hunk: &&Hunk| at.is_multiple_of(2) && !hunk.new.is_empty() && on_lines(new, &hunk.new).is_empty();
    let before = at.checked_sub(1).and_then(|at| stretches.get(at)).filter(bare).map(|hunk| hunk.new.start);
    let after = stretches.get(at + 1).filter(bare).map(|hunk| hunk.new.end);
    let own = stretches.get(at).map_or(1..1, |stretch| stretch.new.clone());
    (before.unwrap_or(own.start).saturating_sub(1), after.unwrap_or(own.end))
}

/// From the start of one stretch to the end of another.
fn through(first: &Hunk, last: &Hunk) -> Hunk {
    Hunk { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

/// The tokens that stand on `lines`, without a line end before the first: that one follows from the tokens on both
/// sides of it, and an unchanged line must not count because its neighbour changed.
fn on_lines<'a, 'b>(lexed: &'b Lexed<'a>, lines: &Range<u32>) -> &'b [Token<'a>] {
    let first = lexed.tokens.partition_point(|token| token.line < lines.start);
    let after = lexed.tokens.partition_point(|token| token.line < lines.end);
    let tokens = lexed.tokens.get(first..after).unwrap_or_default();
    match tokens.first() {
        Some(token) if token.kind == Kind::Newline => tokens.get(1..).unwrap_or_default(),
        Some(_) | None => tokens,
    }
}

/// The lines that count so far.
struct Marks {
    count: u32,
    lines: BTreeSet<u32>,
}

impl Marks {
    fn line(&mut self, line: u32) {
        if (1..=self.count).contains(&line) {
            self.lines.insert(line);
        }
    }

    /// Every line of the hunk, or the lines around it when it only deletes.
    fn whole(&mut self, hunk: &Hunk) {
        if hunk.new.is_empty() {
            self.line(hunk.new.start.saturating_sub(1));
            self.line(hunk.new.start);
        }
        self.lines.extend(hunk.new.clone());
    }

    /// Compares each stretch, or several at once where their tokens only moved over a line that happens to be equal.
    fn stretches(&mut self, stretches: &[Hunk], old: &Lexed<'_>, new: &Lexed<'_>) {
        let mut at = 0;
        while let Some(first) = stretches.get(at) {
            let ahead = stretches.get(at..).unwrap_or_default().iter().take(FURTHEST);
            let mut together = ahead.map(|last| through(first, last));
            let equal = |stretch: Hunk| on_lines(old, &stretch.old) == on_lines(new, &stretch.new);
            if let Some(more) = together.position(equal) {
                at += more + 1;
                continue;
            }
            let around = around(stretches, at, new);
            self.compare(on_lines(old, &first.old), on_lines(new, &first.new), around);
            at += 1;
        }
    }

    /// `around`: the lines before and after what is compared.
    fn compare(&mut self, old: &[Token<'_>], new: &[Token<'_>], around: (u32, u32)) {
        let (old_lines, new_lines) = (by_line(old), by_line(new));
        for edit in edits(&old_lines, &new_lines) {
            let above = edit.new.start.checked_sub(1).and_then(|at| new_lines.get(at)).and_then(|l| l.last());
            let below = new_lines.get(edit.new.end).and_then(|line| line.first());
            let around = (above.map_or(around.0, |t| t.line), below.map_or(around.1, |t| t.line));
            let old_part = join(&old_lines, &edit.old);
            let new_part = join(&new_lines, &edit.new);
            for edit in edits(&old_part, &new_part) {
                self.tokens(&edit, &new_part, around);
            }
        }
    }

    /// Marks the lines of new tokens, or, where tokens only went, the lines before and after that place.
    fn tokens(&mut self, edit: &Edit, new: &[Token<'_>], around: (u32, u32)) {
        let above = edit.new.start.checked_sub(1).and_then(|at| new.get(at)).map(|token| token.line);
        let below = new.get(edit.new.end).map(|token| token.line);
        if edit.new.is_empty() {
            self.line(above.unwrap_or(around.0));
            self.line(below.unwrap_or(around.1));
        } else if !edit.old.is_empty() {
            // Where wrapping and an edit meet, the neighbours may have lost what the new tokens replace.
            above.into_iter().chain(below).for_each(|line| self.line(line));
        }
        for token in new.get(edit.new.clone()).unwrap_or_default() {
            self.line(token.line);
        }
    }
}

/// The tokens of each line that has any.
fn by_line<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    tokens.chunk_by(|a, b| a.line == b.line).collect()
}

fn join<'a>(lines: &[&[Token<'a>]], range: &Range<usize>) -> Vec<Token<'a>> {
    lines.get(range.clone()).unwrap_or_default().concat()
}
