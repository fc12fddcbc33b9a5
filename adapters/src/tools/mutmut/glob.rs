//! Python's `fnmatch` patterns, as mutmut matches paths with them: `*` crosses folders.
//!
//! In: patterns and paths. Out: whether they match. I/O: none.

/// Whether the whole `text` matches.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    rest(&pattern, &text)
}

fn rest(pattern: &[char], text: &[char]) -> bool {
    let Some((first, more)) = pattern.split_first() else { return text.is_empty() };
    match first {
        '*' => (0..=text.len()).any(|skip| text.get(skip..).is_some_and(|left| rest(more, left))),
        '?' => text.split_first().is_some_and(|(_, left)| rest(more, left)),
        '[' => match class(more) {
            Some((set, after)) => {
                text.split_first().is_some_and(|(c, left)| set.has(*c) && rest(after, left))
            }
            // Without its end a bracket is a bracket.
            None => text.split_first().is_some_and(|(c, left)| *c == '[' && rest(more, left)),
        },
        plain => text.split_first().is_some_and(|(c, left)| c == plain && rest(more, left)),
    }
}

struct Class<'a> {
    not: bool,
    items: &'a [char],
}

impl Class<'_> {
    fn has(&self, c: char) -> bool {
        let mut at = 0;
        let mut found = false;
        while let Some(first) = self.items.get(at) {
            let range = (self.items.get(at + 1), self.items.get(at + 2));
            if let (Some('-'), Some(last)) = range {
                found |= (*first..=*last).contains(&c);
                at += 3;
            } else {
                found |= *first == c;
                at += 1;
            }
        }
        found != self.not
    }
}

/// The class after `[`, and what follows its `]`; a `]` at its start is an item.
fn class(pattern: &[char]) -> Option<(Class<'_>, &[char])> {
    let not = pattern.first() == Some(&'!');
    let items = pattern.get(usize::from(not)..)?;
    let end = items.iter().skip(1).position(|c| *c == ']')? + 1;
    Some((Class { not, items: items.get(..end)? }, items.get(end + 1..)?))
}

/// A pattern that matches exactly `text`.
pub(super) fn escape(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        match c {
            '*' | '?' | '[' => {
                pattern.push('[');
                pattern.push(c);
                pattern.push(']');
            }
            plain => pattern.push(plain),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_crosses_folders_and_a_class_holds_ranges() {
        assert!(matches("src/*.py", "src/a/b.py"));
        assert!(matches("*/[a-c]?.py", "x/b1.py"));
        assert!(!matches("*/[!a-c].py", "x/b.py"));
        assert!(!matches("src/*.py", "src/a.pyi"));
        assert!(matches("a[b", "a[b"));
    }

    #[test]
    fn an_escaped_path_matches_itself_alone() {
        for path in ["src/a.py", "app/[[...slug]]/pa*ge?.py", "x]y.py"] {
            assert!(matches(&escape(path), path), "{path}");
        }
        assert!(!matches(&escape("a[b].py"), "ab.py"));
    }
}
