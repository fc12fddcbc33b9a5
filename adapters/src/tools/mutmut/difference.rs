//! What differs between a function and its mutant, as a reader would name it: whole tokens.
//!
//! In: two texts. Out: offsets in characters. I/O: none.

/// Offsets of what differs; the start is the same in both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit {
    /// Where it begins, in both.
    pub(super) start: usize,
    /// Where it ends in the original.
    pub(super) end: usize,
    /// Where it ends in the mutated text.
    pub(super) mutated_end: usize,
}

/// What differs, widened to whole tokens.
pub(super) fn difference(original: &[char], mutated: &[char]) -> Edit {
    let shorter = original.len().min(mutated.len());
    let mut start = original.iter().zip(mutated).take_while(|(a, b)| a == b).count();
    let room = shorter - start;
    let mut same =
        original.iter().rev().zip(mutated.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let kind_at = |text: &[char], at: Option<usize>, inside: bool| {
        at.filter(|_| inside).and_then(|at| text.get(at)).copied().and_then(kind)
    };
    // Whole tokens: `==` to `!=` is a change of `==`, not of `=`.
    while let Some(before) = start.checked_sub(1) {
        let ends = (original.len() - same, mutated.len() - same);
        let first =
            [kind_at(original, Some(start), start < ends.0), kind_at(mutated, Some(start), start < ends.1)];
        let known = kind_at(original, Some(before), true);
        if known.is_none() || !first.contains(&known) {
            break;
        }
        start = before;
    }
    while same > 0 {
        let ends = (original.len() - same, mutated.len() - same);
        let last = [
            kind_at(original, ends.0.checked_sub(1), start < ends.0),
            kind_at(mutated, ends.1.checked_sub(1), start < ends.1),
        ];
        let known = kind_at(original, Some(ends.0), true);
        if known.is_none() || !last.contains(&known) {
            break;
        }
        same -= 1;
    }
    // An insertion is shown with the word that follows it.
    if start == original.len() - same {
        while same > 0 && kind_at(original, Some(original.len() - same), true) == Some(Kind::Word) {
            same -= 1;
        }
    }
    Edit { start, end: original.len() - same, mutated_end: mutated.len() - same }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Sign,
}

fn kind(c: char) -> Option<Kind> {
    if c.is_alphanumeric() || c == '_' {
        Some(Kind::Word)
    } else if "<>=!+-*/%&|^~@:".contains(c) {
        Some(Kind::Sign)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(original: &str, mutated: &str) -> (String, String) {
        let (o, m): (Vec<char>, Vec<char>) = (original.chars().collect(), mutated.chars().collect());
        let edit = difference(&o, &m);
        (o[edit.start..edit.end].iter().collect(), m[edit.start..edit.mutated_end].iter().collect())
    }

    #[test]
    fn a_change_is_shown_as_whole_tokens() {
        assert_eq!(edit("if a < b:", "if a <= b:"), ("<".into(), "<=".into()));
        assert_eq!(edit("if a == b:", "if a != b:"), ("==".into(), "!=".into()));
        assert_eq!(edit("n -= 1", "n = 1"), ("-=".into(), "=".into()));
        assert_eq!(edit("x = total", "x = None"), ("total".into(), "None".into()));
        assert_eq!(edit("if ok:", "if not ok:"), ("ok".into(), "not ok".into()));
        assert_eq!(edit("f(11, b)", "f(12, b)"), ("11".into(), "12".into()));
    }
}
