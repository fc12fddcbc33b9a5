//! What gremlins puts in place of which token: its table, from the outside.
//!
//! In: an operator's name, source bytes, a position. Out: token and replacement. I/O: none.
//!
//! The report names neither; both follow from the token at the reported byte and the operator (seen with 0.6.0).

use polymut_schemas::OperatorClass;

/// Tokens of Go that gremlins changes, longest first, so that `&^=` is not read as `&`.
const TOKENS: [&str; 32] = [
    "continue", "break", "&^=", "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&^", "<<",
    ">>", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "&", "|", "^",
];

/// The token that starts at `bytes`.
pub(crate) fn token_at(bytes: &[u8]) -> Option<&'static str> {
    let found = TOKENS.iter().copied().find(|token| bytes.starts_with(token.as_bytes()));
    found.or_else(|| match bytes.first() {
        Some(b'<') => Some("<"),
        Some(b'>') => Some(">"),
        Some(_) | None => None,
    })
}

/// What `operator` puts in place of `token`; `None`: it does not change that token.
pub(crate) fn replacement(operator: &str, token: &str) -> Option<&'static str> {
    let table: &[(&str, &'static str)] = match operator {
        "ARITHMETIC_BASE" => &[("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("%", "*")],
        "CONDITIONALS_BOUNDARY" => &[(">=", ">"), (">", ">="), ("<=", "<"), ("<", "<=")],
        "CONDITIONALS_NEGATION" => {
            &[("==", "!="), ("!=", "=="), (">=", "<"), (">", "<="), ("<=", ">"), ("<", ">=")]
        }
        "INCREMENT_DECREMENT" => &[("++", "--"), ("--", "++")],
        // `%=` stays: the tool's table maps it to itself.
        "INVERT_ASSIGNMENTS" => &[("+=", "-="), ("-=", "+="), ("*=", "/="), ("/=", "*="), ("%=", "%=")],
        "INVERT_BITWISE" => &[("&", "|"), ("|", "&"), ("^", "&"), ("&^", "&"), ("<<", ">>"), (">>", "<<")],
        "INVERT_BWASSIGN" => {
            &[("&=", "|="), ("|=", "&="), ("^=", "&="), ("&^=", "&="), ("<<=", ">>="), (">>=", "<<=")]
        }
        "INVERT_LOGICAL" => &[("&&", "||"), ("||", "&&")],
        "INVERT_LOOPCTRL" => &[("break", "continue"), ("continue", "break")],
        "INVERT_NEGATIVES" => &[("-", "+")],
        "REMOVE_SELF_ASSIGNMENTS" => {
            return (token.len() > 1 && token.ends_with('=') && !matches!(token, "==" | "!=" | "<=" | ">="))
                .then_some("=");
        }
        _ => &[],
    };
    table.iter().find(|(from, _)| *from == token).map(|(_, to)| *to)
}

/// The class of an operator.
pub(crate) fn class(operator: &str) -> OperatorClass {
    match operator {
        "ARITHMETIC_BASE" => OperatorClass::Arithmetic,
        "CONDITIONALS_BOUNDARY" | "CONDITIONALS_NEGATION" => OperatorClass::Comparison,
        "INCREMENT_DECREMENT" | "INVERT_ASSIGNMENTS" | "INVERT_BWASSIGN" | "REMOVE_SELF_ASSIGNMENTS" => {
            OperatorClass::Assignment
        }
        "INVERT_BITWISE" => OperatorClass::Bitwise,
        "INVERT_LOGICAL" => OperatorClass::Logical,
        "INVERT_LOOPCTRL" => OperatorClass::ControlFlow,
        "INVERT_NEGATIVES" => OperatorClass::Unary,
        _ => OperatorClass::Other,
    }
}

/// The byte offset of a 1-based line and byte column.
pub(crate) fn offset(bytes: &[u8], line: u32, column: u32) -> Option<usize> {
    let wanted = usize::try_from(line).ok()?.checked_sub(1)?;
    let start = match wanted {
        0 => 0,
        _ => bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(wanted - 1)?.0 + 1,
    };
    let at = start + usize::try_from(column).ok()?.checked_sub(1)?;
    (at < bytes.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_token_is_read() {
        for (text, token) in
            [("&^= x", "&^="), ("<= y", "<="), ("< y", "<"), ("<<1", "<<"), ("--", "--"), ("-x", "-")]
        {
            assert_eq!(token_at(text.as_bytes()), Some(token), "{text}");
        }
        assert_eq!(token_at(b"x"), None);
    }

    #[test]
    fn an_operator_changes_only_its_own_tokens() {
        assert_eq!(replacement("CONDITIONALS_NEGATION", "<"), Some(">="));
        assert_eq!(replacement("REMOVE_SELF_ASSIGNMENTS", "<<="), Some("="));
        assert_eq!(replacement("REMOVE_SELF_ASSIGNMENTS", "<="), None);
        assert_eq!(replacement("INVERT_LOGICAL", "+"), None);
    }

    #[test]
    fn columns_count_bytes() {
        let text = "a\n\té := 1 + 2\n".as_bytes();
        let at = offset(text, 2, 10).unwrap();
        assert_eq!(&text[at..=at], b"+");
        assert_eq!(offset(text, 9, 1), None);
    }
}
