//! cosmic-ray's diff, applied to the source it was made from.
//!
//! In: source and diff. Out: the mutated source, what replaced a span. I/O: none.
//!
//! The tool's diff counts an empty line behind the last one, so `git apply` refuses it near a file's end. What polymut
//! shows is therefore made from span and replacement where these say all.

/// The source with the hunks applied; `None` when they are not of this source.
pub(super) fn apply(source: &str, diff: &str) -> Option<String> {
    let lines: Vec<&str> = source.split('\n').collect();
    let mut out: Vec<&str> = Vec::new();
    let (mut next, mut in_hunk, mut hunks) = (0, false, 0);
    for line in diff.split('\n') {
        if let Some(header) = line.strip_prefix("@@ -") {
            let first: usize = header.split([',', ' ']).next()?.parse().ok()?;
            let start = first.saturating_sub(1);
            out.extend(lines.get(next..start)?);
            (next, in_hunk, hunks) = (start, true, hunks + 1);
        } else if in_hunk {
            match (line.strip_prefix('+'), line.strip_prefix('-'), line.strip_prefix(' ')) {
                (Some(new), _, _) => out.push(new),
                (None, Some(old), _) if lines.get(next) == Some(&old) => next += 1,
                (None, None, Some(same)) if lines.get(next) == Some(&same) => {
                    out.push(same);
                    next += 1;
                }
                // A last empty line may have lost its blank.
                (None, None, None) if line.is_empty() => {}
                _ => return None,
            }
        }
    }
    out.extend(lines.get(next..)?);
    (hunks > 0).then(|| out.join("\n"))
}

/// What stands in `mutated` in place of the span of `source`; `None` when the change reaches beyond the span.
pub(super) fn replacement(source: &str, mutated: &str, start: (u32, u32), end: (u32, u32)) -> Option<String> {
    let (from, to) = (offset(source, start)?, offset(source, end)?);
    let (head, tail) = (source.get(..from)?, source.get(to..)?);
    let rest = mutated.strip_prefix(head)?;
    rest.strip_suffix(tail).map(str::to_owned)
}

/// The byte at a line from 1 and a column from 0.
fn offset(text: &str, (line, column): (u32, u32)) -> Option<usize> {
    let mut at = 0;
    for _ in 1..line {
        at += text.get(at..)?.find('\n')? + 1;
    }
    let row = text.get(at..)?;
    match row.char_indices().nth(usize::try_from(column).ok()?) {
        Some((index, _)) => Some(at + index),
        None => (row.chars().count() == usize::try_from(column).ok()?).then_some(text.len()),
    }
}

/// Text as Python reads a source: universal newlines, no byte order mark.
pub(super) fn plain(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "def f(n):\n    n -= 1\n    return n\n";
    const DIFF: &str = "--- mutation diff ---\n--- a/f.py\n+++ b/f.py\n@@ -1,4 +1,4 @@\n def f(n):\n-    n -= 1\n+    n -= 0\n     return n\n ";

    #[test]
    fn a_diff_gives_the_mutated_source_and_what_was_put_in() {
        let mutated = apply(SOURCE, DIFF).unwrap();
        assert_eq!(mutated, "def f(n):\n    n -= 0\n    return n\n");
        assert_eq!(replacement(SOURCE, &mutated, (2, 9), (2, 10)).as_deref(), Some("0"));
        assert_eq!(replacement(SOURCE, &mutated, (3, 4), (3, 10)), None);
    }

    #[test]
    fn a_diff_of_another_source_is_not_applied() {
        assert_eq!(apply("def g(n):\n    pass\n", DIFF), None);
        assert_eq!(apply(SOURCE, "no hunk"), None);
    }
}
