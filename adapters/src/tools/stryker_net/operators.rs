//! The tool's mutators: the names by which they are switched off, their class, and text that means what was tested.
//!
//! In: names and texts of the report. Out: kinds, [`OperatorClass`], replacements. I/O: none.

use polymut_schemas::OperatorClass;

/// Every name that `ignore-mutations` takes (5.1.0).
pub(super) const KINDS: &[&str] = &[
    "statement",
    "arithmetic",
    "block",
    "equality",
    "boolean",
    "logical",
    "assignment",
    "unary",
    "update",
    "checked",
    "linq",
    "string",
    "bitwise",
    "initializer",
    "regex",
    "nullcoalescing",
    "math",
    "stringmethod",
    "conditional",
    "collectionexpression",
];

/// Conditions, comparisons and returned values.
const LOGIC: &[&str] = &["block", "equality", "boolean", "logical", "conditional"];

/// The kinds that the set `logic` leaves out.
pub(super) fn beyond_logic() -> impl Iterator<Item = &'static str> {
    KINDS.iter().copied().filter(|kind| !LOGIC.contains(kind))
}

/// What kind of change `name` is. The tool's names are free text; those of updates and assignments name syntax nodes.
pub(super) fn class(name: &str) -> OperatorClass {
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match name {
        _ if starts(&["Arithmetic"]) => OperatorClass::Arithmetic,
        _ if starts(&["Equality", "Is pattern"]) => OperatorClass::Comparison,
        _ if starts(&["Logical mutation", "Conditional", "Negate", "LogicalNot"]) => OperatorClass::Logical,
        _ if starts(&["Bitwise"]) => OperatorClass::Bitwise,
        _ if name.contains("AssignmentExpression")
            || starts(&["Assignment", "PostI", "PostD", "PreI", "PreD"]) =>
        {
            OperatorClass::Assignment
        }
        _ if starts(&["UnaryMinus", "UnaryPlus", "BitwiseNot", "Unary"]) => OperatorClass::Unary,
        _ if starts(&[
            "Boolean",
            "String mutation",
            "Null coalescing",
            "Initializer",
            "Array",
            "Collection",
        ]) =>
        {
            OperatorClass::Literal
        }
        _ if starts(&["Block"]) => OperatorClass::ReturnValue,
        _ if starts(&["Statement", "Remove checked"]) => OperatorClass::Removal,
        _ if starts(&["Linq", "Math", "String Method", "String method", "Method"]) => OperatorClass::Call,
        _ => OperatorClass::Other,
    }
}

/// The replacement as text that means in its place what the tool tested. It exchanges a node of the syntax tree and
/// prints it without the parentheses that text needs: `a || b || c` becomes `a || b && c`, where `(a || b) && c` ran.
pub(super) fn as_text(name: &str, original: Option<&str>, replacement: &str) -> String {
    let binary = name.starts_with("Logical mutation") || name.starts_with("Bitwise mutation");
    let split = original.filter(|_| binary).and_then(|original| exchanged(original, replacement));
    match split {
        Some((left, operator, right)) => {
            format!("({}{operator}{})", wrapped(left), wrapped(right))
        }
        None => replacement.to_owned(),
    }
}

/// The replacement around the operator by which it differs from the original.
fn exchanged<'a>(original: &str, replacement: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let same = original.bytes().zip(replacement.bytes()).take_while(|(old, new)| old == new).count();
    let from = (0..=same).rev().find(|at| replacement.is_char_boundary(*at))?;
    let rest = replacement.get(from..)?;
    let length = rest.bytes().take_while(|byte| b"&|^".contains(byte)).count();
    let old = original.get(from..)?.bytes().take_while(|byte| b"&|^".contains(byte)).count();
    let whole = length > 0 && original.len() - old == replacement.len() - length;
    let tail = replacement.get(from + length..)?;
    (whole && original.ends_with(tail)).then(|| (&replacement[..from], &rest[..length], tail))
}

/// An operand, in parentheses where it may bind less than the new operator. White space stays outside.
fn wrapped(operand: &str) -> String {
    let inner = operand.trim();
    if !inner.contains(['&', '|', '^', '?', '=']) || inner.contains("//") {
        return operand.to_owned();
    }
    let start = operand.len() - operand.trim_start().len();
    format!("{}({inner}){}", &operand[..start], &operand[start + inner.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_report_have_their_class() {
        for (name, wanted) in [
            ("Arithmetic mutation", OperatorClass::Arithmetic),
            ("Equality mutation", OperatorClass::Comparison),
            ("Negate expression", OperatorClass::Logical),
            ("LogicalNotExpression to un-LogicalNotExpression mutation", OperatorClass::Logical),
            ("SubtractAssignmentExpression to AddAssignmentExpression mutation", OperatorClass::Assignment),
            ("PostIncrementExpression to PostDecrementExpression mutation", OperatorClass::Assignment),
            ("Conditional (true) mutation", OperatorClass::Logical),
            ("Bitwise mutation", OperatorClass::Bitwise),
            ("Boolean mutation", OperatorClass::Literal),
            ("Block removal mutation", OperatorClass::ReturnValue),
            ("Linq method mutation (Any() to All())", OperatorClass::Call),
        ] {
            assert_eq!(class(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_weaker_operator_gets_the_parentheses_of_its_tree() {
        let logical = |original, replacement| as_text("Logical mutation", Some(original), replacement);
        assert_eq!(logical("a || b || c", "a || b && c"), "((a || b) && c)");
        assert_eq!(logical("a && b", "a || b"), "(a || b)");
        assert_eq!(logical("a\n    && b > 0", "a\n    || b > 0"), "(a\n    || b > 0)");
        assert_eq!(as_text("Bitwise mutation", Some("a | b | c"), "a | b & c"), "((a | b) & c)");
        assert_eq!(as_text("Bitwise mutation", Some("a ^ b"), "~(a ^ b)"), "~(a ^ b)");
        assert_eq!(as_text("Arithmetic mutation", Some("a + b"), "a - b"), "a - b");
    }

    #[test]
    fn the_set_logic_keeps_conditions() {
        let left: Vec<&str> = beyond_logic().collect();
        assert!(left.contains(&"arithmetic") && !left.contains(&"equality"));
    }
}
