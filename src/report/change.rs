//! The change that a mutant makes, line by line, with numbers and the changed place marked.
//!
//! In: a mutant and, where at hand, its source. Out: [`ChangeLine`]s. I/O: none.

use polymut_schemas::{Mutant, Position, Span};

use crate::sources::Sources;

/// How many unchanged lines stand around a change.
const CONTEXT: u32 = 3;

/// What the change does to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Same,
    /// Takes it away.
    Gone,
    /// Puts it in.
    New,
    /// Lines between two hunks that are not shown.
    Gap,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangeLine {
    /// What happens to it.
    pub(super) kind: Kind,
    /// Its number in the source, where known; new lines have none.
    pub(super) number: Option<u32>,
    /// Text before the changed place; the whole line where the place is not known.
    pub(super) before: String,
    /// The changed place.
    pub(super) marked: String,
    /// Text after it.
    pub(super) after: String,
}

impl ChangeLine {
    fn plain(kind: Kind, number: Option<u32>, text: &str) -> Self {
        Self { kind, number, before: text.to_owned(), marked: String::new(), after: String::new() }
    }

    /// The whole line.
    pub(super) fn text(&self) -> String {
        format!("{}{}{}", self.before, self.marked, self.after)
    }

    /// Marks the characters from `from` up to, not including, `to`; both from 0.
    fn mark(&mut self, from: usize, to: usize) {
        let text: Vec<char> = self.text().chars().collect();
        let (from, to) = (from.min(text.len()), to.min(text.len()));
        if from < to {
            let part = |range: &[char]| range.iter().collect::<String>();
            let (before, rest) = text.split_at(from);
            let (marked, after) = rest.split_at(to - from);
            (self.before, self.marked, self.after) = (part(before), part(marked), part(after));
        }
    }
}

/// The change of a mutant: its diff, else its place in the source, else original and replacement.
pub(super) fn change(mutant: &Mutant, sources: &Sources) -> Vec<ChangeLine> {
    let source =
        mutant.file.as_ref().and_then(|file| sources.text(file)).map(|text| text.lines().collect::<Vec<_>>());
    let mut lines = match (&mutant.diff, &source) {
        (Some(diff), Some(source)) => widened(diff_lines(diff), source),
        (Some(diff), None) => diff_lines(diff),
        (None, Some(source)) => excerpt(mutant, source),
        (None, None) => bare(mutant),
    };
    if let Some(span) = mutant.span {
        mark_old(&mut lines, span, mutant.diff.is_some());
        mark_new(&mut lines, span, mutant.replacement.as_deref());
    }
    lines
}

/// The lines of a unified diff, without its file headers.
fn diff_lines(diff: &str) -> Vec<ChangeLine> {
    let mut at: Option<u32> = None;
    let mut lines: Vec<ChangeLine> = Vec::new();
    for line in diff.lines() {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let digits: String = hunk.chars().take_while(char::is_ascii_digit).collect();
            if !lines.is_empty() {
                lines.push(ChangeLine::plain(Kind::Gap, None, ""));
            }
            at = digits.parse().ok();
            continue;
        }
        let Some(number) = at else { continue };
        let (kind, text) = match line.split_at_checked(1) {
            Some(("-", text)) => (Kind::Gone, text),
            Some(("+", text)) => (Kind::New, text),
            Some((" ", text)) => (Kind::Same, text),
            // Some tools strip the blank that stands for an empty unchanged line.
            None => (Kind::Same, ""),
            Some(_) => continue,
        };
        let old = kind != Kind::New;
        lines.push(ChangeLine::plain(kind, old.then_some(number), text));
        if old {
            at = number.checked_add(1);
        }
    }
    lines
}

/// Lines of the source around a change, up to [`CONTEXT`] on each side; longer context of the diff is cut to that.
fn widened(lines: Vec<ChangeLine>, source: &[&str]) -> Vec<ChangeLine> {
    let numbers = || lines.iter().filter_map(|line| line.number);
    let (Some(first), Some(last)) = (numbers().next(), numbers().next_back()) else { return lines };
    let same = |number: u32| {
        let text = source.get(number.checked_sub(1)? as usize)?;
        Some(ChangeLine::plain(Kind::Same, Some(number), text))
    };
    let lead =
        u32::try_from(lines.iter().take_while(|line| line.kind == Kind::Same).count()).unwrap_or(CONTEXT);
    let tail = lines.iter().rev().take_while(|line| line.kind == Kind::Same).count();
    let tail = u32::try_from(tail).unwrap_or(CONTEXT);
    let before = (first.saturating_sub(CONTEXT.saturating_sub(lead)).max(1)..first).filter_map(same);
    let after = (last + 1..=last.saturating_add(CONTEXT.saturating_sub(tail))).filter_map(same);
    let cut = |at: usize| {
        let from_start = u32::try_from(at).unwrap_or(u32::MAX);
        let from_end = u32::try_from(lines.len() - 1 - at).unwrap_or(u32::MAX);
        from_start + CONTEXT < lead || from_end + CONTEXT < tail
    };
    let kept = lines.iter().enumerate().filter(|(at, _)| !cut(*at)).map(|(_, line)| line.clone());
    before.chain(kept.collect::<Vec<_>>()).chain(after).collect()
}

/// The mutant's place in its source, and its replacement below.
fn excerpt(mutant: &Mutant, source: &[&str]) -> Vec<ChangeLine> {
    let Some(span) = mutant.span else { return bare(mutant) };
    let place = span.lines();
    let from = place.first.saturating_sub(CONTEXT).max(1);
    let mut lines = Vec::new();
    for number in from..=place.last.saturating_add(CONTEXT) {
        let Some(text) = source.get(number as usize - 1) else { break };
        lines.push(ChangeLine::plain(Kind::Same, Some(number), text));
        if number == place.last {
            let new = mutant.replacement.iter().flat_map(|text| text.lines());
            lines.extend(new.map(|text| ChangeLine::plain(Kind::New, None, text)));
        }
    }
    lines
}

fn bare(mutant: &Mutant) -> Vec<ChangeLine> {
    let lines = |text: Option<&String>, kind: Kind| -> Vec<ChangeLine> {
        text.iter().flat_map(|text| text.lines()).map(|line| ChangeLine::plain(kind, None, line)).collect()
    };
    let mut both = lines(mutant.original.as_ref(), Kind::Gone);
    both.extend(lines(mutant.replacement.as_ref(), Kind::New));
    both
}

/// Marks the span in the lines that the source has.
fn mark_old(lines: &mut [ChangeLine], span: Span, diffed: bool) {
    let Position { line: first, column: Some(from) } = span.start else { return };
    let Some(Position { line: last, column: Some(to) }) = span.end else { return };
    let wanted = if diffed { Kind::Gone } else { Kind::Same };
    for line in lines.iter_mut().filter(|line| line.kind == wanted) {
        let Some(number) = line.number.filter(|number| (first..=last).contains(number)) else { continue };
        let start = if number == first { from as usize - usize::from(from > 0) } else { 0 };
        let end = if number == last { to as usize - usize::from(to > 0) } else { usize::MAX };
        line.mark(start, end);
    }
}

/// Marks the replacement in the first new line, where it stands at the span's start.
fn mark_new(lines: &mut [ChangeLine], span: Span, replacement: Option<&str>) {
    let (Some(column), Some(text)) = (span.start.column, replacement) else { return };
    let Some(line) = lines.iter_mut().find(|line| line.kind == Kind::New) else { return };
    let start = column as usize - usize::from(column > 0);
    let head = text.lines().next().unwrap_or_default();
    let there = line.before.chars().skip(start).collect::<String>().starts_with(head);
    if there && line.marked.is_empty() {
        line.mark(start, start + head.chars().count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/a.rs\n+++ b/a.rs\n@@ -2 +2 @@\n-if a < b {\n+if a <= b {\n";

    #[test]
    fn a_diff_gives_numbers_and_no_headers() {
        let lines = diff_lines(DIFF);
        let shown: Vec<_> = lines.iter().map(|line| (line.kind, line.number, line.before.as_str())).collect();
        assert_eq!(shown, [(Kind::Gone, Some(2), "if a < b {"), (Kind::New, None, "if a <= b {")]);
    }

    #[test]
    fn a_line_that_begins_like_a_header_inside_a_hunk_is_kept() {
        let lines =
            diff_lines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a;\n+++ a;\n\\ No newline at end of file\n");
        let shown: Vec<_> = lines.iter().map(|line| (line.kind, line.before.as_str())).collect();
        assert_eq!(shown, [(Kind::Gone, "-- a;"), (Kind::New, "++ a;")]);
    }

    #[test]
    fn the_source_gives_three_lines_around_whatever_the_diff_brings() {
        let text: Vec<String> = (1..=9).map(|n| format!("line {n}")).collect();
        let source: Vec<&str> = text.iter().map(String::as_str).collect();
        let numbers = |diff: &str| -> Vec<u32> {
            widened(diff_lines(diff), &source).iter().filter_map(|line| line.number).collect()
        };
        assert_eq!(numbers("@@ -5 +5 @@\n-line 5\n+x\n"), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(numbers("@@ -4,3 +4,3 @@\n line 4\n-line 5\n+x\n line 6\n"), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(numbers("@@ -1,2 +1,2 @@\n-line 1\n+x\n line 2\n"), [1, 2, 3, 4]);
        let long = "@@ -1,9 +1,9 @@\n line 1\n line 2\n line 3\n line 4\n-line 5\n+x\n line 6\n line 7\n line 8\n line 9\n";
        assert_eq!(numbers(long), [2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn the_place_is_marked_in_the_old_and_in_the_new_line() {
        let mut lines = diff_lines(DIFF);
        let at = |column| Position { line: 2, column: Some(column) };
        let span = Span { start: at(6), end: Some(at(7)) };
        mark_old(&mut lines, span, true);
        mark_new(&mut lines, span, Some("<="));
        let parts: Vec<_> =
            lines.iter().map(|l| (l.before.as_str(), l.marked.as_str(), l.after.as_str())).collect();
        assert_eq!(parts, [("if a ", "<", " b {"), ("if a ", "<=", " b {")]);
    }

    #[test]
    fn a_span_beyond_the_line_marks_nothing_and_breaks_nothing() {
        let mut lines = diff_lines(DIFF);
        let at = |line, column| Position { line, column: Some(column) };
        mark_old(&mut lines, Span { start: at(2, 80), end: Some(at(2, 90)) }, true);
        mark_old(&mut lines, Span { start: at(2, 0), end: Some(at(2, 0)) }, true);
        assert_eq!(lines, diff_lines(DIFF));
    }
}
