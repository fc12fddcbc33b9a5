//! The unified diff of one mutant, from the repository root, that `git apply` takes.
//!
//! In: source, span, replacement, or the adapter's own diff. Out: diff text. I/O: none.

use std::fmt::Write as _;

use polymut_schemas::{RepoPath, Span};
use similar::TextDiff;

use super::columns;

/// What is known of an edit.
pub(super) struct Edit<'a> {
    pub(super) file: &'a RepoPath,
    pub(super) text: Option<&'a str>,
    pub(super) span: Option<Span>,
    pub(super) replacement: Option<&'a str>,
    pub(super) given: Option<&'a str>,
}

/// The diff, where span and replacement give one; else the adapter's, with its paths moved to the repository root.
pub(super) fn diff(edit: &Edit<'_>) -> Option<String> {
    if let Some(given) = edit.given {
        return Some(rebase(edit, given));
    }
    let text = edit.text?;
    let changed = apply(text, edit.span?, edit.replacement?)?;
    Some(unified(edit.file, text, &changed)).filter(|diff| !diff.is_empty())
}

/// `text` with the span replaced; `None` when the span lacks columns or does not lie in the text.
pub(crate) fn apply(text: &str, span: Span, replacement: &str) -> Option<String> {
    span.start.column?;
    let end = span.end?;
    end.column?;
    let (from, to) = (columns::offset(text, span.start)?, columns::offset(text, end)?);
    if from > to {
        return None;
    }
    Some(format!("{}{replacement}{}", text.get(..from)?, text.get(to..)?))
}

/// A git-style unified diff of one file with three lines of context.
pub(crate) fn unified(file: &RepoPath, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let name = quoted(file.as_str());
    let body = diff.unified_diff().context_radius(3).to_string();
    if body.is_empty() { body } else { format!("--- {}\n+++ {}\n{body}", side('a', &name), side('b', &name)) }
}

fn side(prefix: char, name: &str) -> String {
    match name.strip_prefix('"') {
        Some(rest) => format!("\"{prefix}/{rest}"),
        // A name with a blank is followed by a tab, as git does, so that readers find its end.
        None if name.contains(' ') => format!("{prefix}/{name}\t"),
        None => format!("{prefix}/{name}"),
    }
}

/// Quotes a name as git does with `core.quotePath=false`: only when it holds control characters, `"` or `\`.
fn quoted(name: &str) -> String {
    if !name.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return name.to_owned();
    }
    let mut out = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other if other.is_control() => {
                let mut bytes = [0; 4];
                for byte in other.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Rewrites the two header lines so that they name the file from the repository root.
fn rebase(edit: &Edit<'_>, given: &str) -> String {
    let name = quoted(edit.file.as_str());
    let mut out = String::new();
    let mut header = true;
    for line in given.lines() {
        let new = match line {
            _ if !header => line.to_owned(),
            _ if line.starts_with("--- ") => format!("--- {}", side('a', &name)),
            _ if line.starts_with("+++ ") => {
                header = false;
                format!("+++ {}", side('b', &name))
            }
            _ => continue,
        };
        out.push_str(&new);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use polymut_schemas::Position;

    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column: Some(column) }
    }

    #[test]
    fn the_diff_names_the_file_from_the_root_and_changes_the_span_only() {
        let file = RepoPath::new("a b/x.rs").unwrap();
        let span = Span { start: at(2, 6), end: Some(at(2, 7)) };
        let diff = diff(&Edit {
            file: &file,
            text: Some("one\nif a < b\nthree\n"),
            span: Some(span),
            replacement: Some("<="),
            given: None,
        });
        let wanted =
            "--- a/a b/x.rs\t\n+++ b/a b/x.rs\t\n@@ -1,3 +1,3 @@\n one\n-if a < b\n+if a <= b\n three\n";
        assert_eq!(diff.as_deref(), Some(wanted));
    }

    #[test]
    fn a_file_without_a_last_newline_keeps_it_that_way() {
        let file = RepoPath::new("x.py").unwrap();
        let diff = unified(&file, "a\nb", "a\nc");
        assert!(diff.contains("\\ No newline at end of file"), "{diff}");
    }

    #[test]
    fn a_crlf_file_keeps_its_line_ends() {
        let file = RepoPath::new("x.rs").unwrap();
        let changed = apply("a < b\r\n", Span { start: at(1, 3), end: Some(at(1, 4)) }, "<=").unwrap();
        assert_eq!(changed, "a <= b\r\n");
        assert!(unified(&file, "a < b\r\n", &changed).contains("+a <= b\r\n"));
    }
}
