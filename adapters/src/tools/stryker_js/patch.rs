//! Makes a replacement valid where it stands: Stryker prints the mutated node alone, without the parentheses that its
//! surroundings may ask for.
//!
//! In: source, span, operator, replacement. Out: text to put into the span. I/O: none.
//!
//! `a && b && c` with `a && b` replaced by `a || b` must read `(a || b) && c`: without parentheses it means something
//! that Stryker did not test. Parentheses where none are needed do harm too: a line that begins with one continues the
//! statement before it where semicolons are left out, and none may stand in markup attributes.

use crate::formats::elements::Place;

/// Where the span lies and what is put there.
pub(super) struct Patch<'a> {
    pub(super) source: &'a str,
    pub(super) start: Place,
    pub(super) end: Place,
    pub(super) operator: &'a str,
    pub(super) replacement: &'a str,
}

/// The replacement, in parentheses where the source around it asks for them.
pub(super) fn in_source(patch: &Patch<'_>) -> String {
    let replacement = patch.replacement;
    let plain = || replacement.to_owned();
    let wrapped = || format!("({replacement})");
    let (Some(from), Some(to)) = (offset(patch.source, patch.start), offset(patch.source, patch.end)) else {
        return plain();
    };
    let (Some(before), Some(after)) = (patch.source.get(..from), patch.source.get(to..)) else {
        return plain();
    };
    if is_statement(patch.operator, replacement) {
        return plain();
    }
    if runs_together(before, replacement, after) {
        return wrapped();
    }
    let loose = weakens(patch.operator) && !is_primary(replacement);
    if loose && !(opens(before) && closes(after)) { wrapped() } else { plain() }
}

fn is_statement(operator: &str, replacement: &str) -> bool {
    matches!(operator, "BlockStatement" | "CallExpression")
        || replacement.starts_with("case ")
        || replacement.starts_with("default:")
}

/// Operators whose replacement can bind weaker than what it replaces.
fn weakens(operator: &str) -> bool {
    matches!(
        operator,
        "LogicalOperator" | "BooleanLiteral" | "UnaryOperator" | "MethodExpression" | "OptionalChaining"
    )
}

/// Whether the replacement would grow together with its neighbours: `return!a` → `returna`, `-++i` → `---i`.
fn runs_together(before: &str, replacement: &str, after: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let (Some(first), Some(last)) = (replacement.chars().next(), replacement.chars().next_back()) else {
        return false;
    };
    let left = before
        .chars()
        .next_back()
        .is_some_and(|c| (word(c) && word(first)) || (c == first && "+-".contains(c)));
    let right =
        after.chars().next().is_some_and(|c| (word(c) && word(last)) || (c == last && "+-".contains(c)));
    left || right
}

/// A name, literal, member or call chain: nothing outside of brackets and quotes but what holds a chain together.
fn is_primary(text: &str) -> bool {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' | '`' => quote = Some(c),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ if depth > 0 || c.is_alphanumeric() || "_$.#?!".contains(c) => {}
                _ => return false,
            },
        }
    }
    !text.starts_with('!') && !text.contains("??") && !text.trim().is_empty()
}

/// Whether a whole expression can begin behind this: no operator stands there. Two operands never follow each other,
/// so behind an operand a new statement begins.
fn opens(before: &str) -> bool {
    let before = before.trim_end();
    let assigned =
        before.ends_with('=') && !["==", "!=", "<=", ">="].iter().any(|operator| before.ends_with(operator));
    let ternary = before.ends_with('?') && !before.ends_with("??");
    let binds = ["typeof", "void", "delete", "await", "in", "instanceof"];
    assigned
        || ternary
        || before.ends_with("=>")
        || !(before.ends_with(|c: char| "&|?+-*/%<>^~!.=".contains(c))
            || binds.iter().any(|word| ends_with_word(before, word)))
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c)))
}

/// Whether what stands behind ends the expression: a bracket, a comma, or the next statement on another line.
fn closes(after: &str) -> bool {
    let (rest, broken) = next_code(after);
    let ternary = rest.starts_with('?') && !rest.starts_with("??") && !rest.starts_with("?.");
    let statement = broken
        && rest.starts_with(|c: char| c.is_alphanumeric() || "_$@#\"'{".contains(c))
        && !["in ", "instanceof ", "as ", "satisfies "].iter().any(|word| rest.starts_with(word));
    rest.is_empty() || rest.starts_with([')', ']', '}', ',', ';', ':']) || ternary || statement
}

/// What follows blanks and comments, and whether a line ends among them.
fn next_code(after: &str) -> (&str, bool) {
    let (mut rest, mut broken) = (after, false);
    loop {
        let trimmed = rest.trim_start();
        broken |= rest.get(..rest.len() - trimmed.len()).is_some_and(|blank| blank.contains('\n'));
        rest = if let Some(comment) = trimmed.strip_prefix("//") {
            comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or_default()
        } else if let Some((_, behind)) = trimmed.strip_prefix("/*").and_then(|text| text.split_once("*/")) {
            behind
        } else {
            return (trimmed, broken);
        };
    }
}

/// Byte offset of a position that counts lines and UTF-16 units from 1.
pub(super) fn offset(source: &str, place: Place) -> Option<usize> {
    let mut at = 0;
    for _ in 1..place.line {
        at += source.get(at..)?.find('\n')? + 1;
    }
    let mut units = place.column.checked_sub(1)? as usize;
    for c in source.get(at..)?.chars() {
        if units == 0 {
            break;
        }
        units = units.checked_sub(c.len_utf16())?;
        at += c.len_utf8();
    }
    (units == 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the text between `«` and `»`.
    fn patched(marked: &str, operator: &str, replacement: &str) -> String {
        let (before, rest) = marked.split_once('«').unwrap();
        let (inner, after) = rest.split_once('»').unwrap();
        let source = format!("{before}{inner}{after}");
        let place = |text: &str| Place {
            line: u32::try_from(text.matches('\n').count() + 1).unwrap(),
            column: u32::try_from(text.rsplit('\n').next().unwrap().encode_utf16().count() + 1).unwrap(),
        };
        let (start, end) = (place(before), place(&format!("{before}{inner}")));
        let text = in_source(&Patch { source: &source, start, end, operator, replacement });
        format!("{before}{text}{after}")
    }

    #[test]
    fn a_weaker_operator_is_wrapped_beside_a_stronger_one() {
        assert_eq!(patched("return «a && b» && c;", "LogicalOperator", "a || b"), "return (a || b) && c;");
        assert_eq!(patched("x = !ok && «!(a && b)»", "BooleanLiteral", "a && b"), "x = !ok && (a && b)");
        assert_eq!(patched("n + «(a ?? b).trim()»", "MethodExpression", "a ?? b"), "n + (a ?? b)");
        assert_eq!(patched("«(await x).trim()».length", "MethodExpression", "await x"), "(await x).length");
    }

    #[test]
    fn a_whole_expression_stays_bare() {
        assert_eq!(
            patched("foo()\n«a && b()»\nbar()", "LogicalOperator", "a || b()"),
            "foo()\na || b()\nbar()"
        );
        assert_eq!(patched("if («a && b») {", "LogicalOperator", "a || b"), "if (a || b) {");
        assert_eq!(
            patched("const x = «a && b»\nconst y", "LogicalOperator", "a || b"),
            "const x = a || b\nconst y"
        );
        assert_eq!(patched("f(«a && b» // why\n)", "LogicalOperator", "a || b"), "f(a || b // why\n)");
        assert_eq!(patched("«a && b» ? 1 : 2", "LogicalOperator", "a || b"), "a || b ? 1 : 2");
        assert_eq!(patched("<a b=«\"x\"»/>", "StringLiteral", "\"\""), "<a b=\"\"/>");
        assert_eq!(patched("if (x) «{ y(); }»", "BlockStatement", "{}"), "if (x) {}");
    }

    #[test]
    fn neighbours_do_not_grow_together() {
        assert_eq!(patched("return«!a»", "BooleanLiteral", "a"), "return(a)");
        assert_eq!(patched("x = -«++i»", "UpdateOperator", "--i"), "x = -(--i)");
        assert_eq!(patched("«!a»in b", "BooleanLiteral", "a"), "(a)in b");
    }

    #[test]
    fn columns_count_utf_16_units() {
        assert_eq!(
            patched("f('😀é') ?? «a && b» == c", "LogicalOperator", "a || b"),
            "f('😀é') ?? (a || b) == c"
        );
    }
}
