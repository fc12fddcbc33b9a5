//! Names for what mutmut did: it gives none.
//!
//! In: the text before and after. Out: a name and a class. I/O: none.

use polymut_schemas::OperatorClass;

const COMPARISONS: &[&str] = &["<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"];
const ARITHMETIC: &[&str] = &["+", "-", "*", "/", "//", "%", "**", "@"];
const BITWISE: &[&str] = &["&", "|", "^", "<<", ">>", "~"];

/// The name and class of a change.
pub(super) fn classify(original: &str, replacement: &str) -> (&'static str, OperatorClass) {
    let (from, to) = (original.trim(), replacement.trim());
    let both = |set: &[&str]| set.contains(&from) && set.contains(&to);
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let keyword = |text: &str| matches!(text, "break" | "continue" | "return");
    if both(COMPARISONS) || [from, to].iter().any(|text| matches!(*text, "is" | "is not" | "in" | "not in")) {
        ("comparison", OperatorClass::Comparison)
    } else if both(ARITHMETIC) {
        ("arithmetic", OperatorClass::Arithmetic)
    } else if both(BITWISE) {
        ("bitwise", OperatorClass::Bitwise)
    } else if both(&["and", "or"]) {
        ("boolean operator", OperatorClass::Logical)
    } else if from.strip_prefix("not ") == Some(to) || to.strip_prefix("not ") == Some(from) {
        ("negation", OperatorClass::Logical)
    } else if from.ends_with('=') && to.ends_with('=') && !from.is_empty() {
        ("assignment", OperatorClass::Assignment)
    } else if both(&["True", "False"]) {
        ("boolean", OperatorClass::Literal)
    } else if to == "None" || from == "None" {
        ("none", OperatorClass::Literal)
    } else if number(from) && number(to) {
        ("number", OperatorClass::Literal)
    } else if keyword(from) && keyword(to) {
        ("control flow", OperatorClass::ControlFlow)
    } else if (both(&["+", "-", "~", "not"])) || (from == "-" || from == "+" || from == "~") && to.is_empty()
    {
        ("unary", OperatorClass::Unary)
    } else if is_text(from, to) {
        ("string", OperatorClass::Literal)
    } else if to.len() < from.len() && from.contains(to) {
        ("removal", OperatorClass::Removal)
    } else if to.chars().all(|c| c.is_alphanumeric() || c == '_') && !to.is_empty() {
        ("name", OperatorClass::Call)
    } else {
        ("other", OperatorClass::Other)
    }
}

/// mutmut marks texts with `XX`, or changes their case.
fn is_text(from: &str, to: &str) -> bool {
    (to.starts_with("XX") && to.ends_with("XX") && to.len() == from.len() + 4)
        || to.contains("XX") && !from.contains("XX")
        || (from != to && from.to_lowercase() == to.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_by_what_it_changes() {
        let name = |from, to| classify(from, to).0;
        assert_eq!(name("<", "<="), "comparison");
        assert_eq!(name("-=", "="), "assignment");
        assert_eq!(name("ok", "not ok"), "negation");
        assert_eq!(name("Size", "XXSizeXX"), "string");
        assert_eq!(name("Size", "size"), "string");
        assert_eq!(name("1000", "1001"), "number");
        assert_eq!(name("a, ", ""), "removal");
        assert_eq!(name("total", "None"), "none");
    }
}
