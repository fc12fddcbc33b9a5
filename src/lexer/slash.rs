//! The slash of scripts: a division, a regular expression, or one of the two.
//!
//! In: a [`Scanner`] at a slash. Out: its token. I/O: none.

use super::literal;
use super::scan::{Scanner, contains};
use super::token::{Kind, Token};

impl Scanner<'_> {
    /// A slash of a script: a regular expression after something that cannot end a value, a division after a name
    /// or number. After a bracket it can be both: then the text up to the next slash must stay equal byte by byte.
    pub(crate) fn slash(&mut self) -> bool {
        let Some(last) = self.last_code() else { return self.regex() };
        match last.kind {
            Kind::Word if is_operator_word(last.text) => self.regex(),
            Kind::Word | Kind::Text | Kind::TextRest => false,
            Kind::Op if !matches!(last.text, b"++" | b"--" | b"!" | b">") => self.regex(),
            Kind::Open | Kind::Comma => self.regex(),
            Kind::Close if last.text == b")" && !self.closes_condition() => false,
            Kind::Op | Kind::Close | Kind::Raw | Kind::Newline | Kind::Depth(_) | Kind::Note => {
                self.unclear_slash();
                false
            }
        }
    }

    /// Whether the `)` just taken belongs to `if (…)` and its like, after which a statement starts.
    fn closes_condition(&self) -> bool {
        let mut open = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().rev() {
            match token.kind {
                Kind::Close => open += 1,
                Kind::Open if open == 1 => {
                    let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
                    return before.is_none_or(|word| {
                        matches!(word.text, b"if" | b"while" | b"for" | b"with" | b"await") || !word.is_code()
                    });
                }
                Kind::Open => open -= 1,
                Kind::Word | Kind::Op | Kind::Comma | Kind::Text | Kind::TextRest => {}
                Kind::Note | Kind::Raw | Kind::Newline | Kind::Depth(_) => {}
            }
        }
        true
    }

    fn regex(&mut self) -> bool {
        match literal::regex_end(self.bytes, self.at) {
            Some(end) => self.take_literal(end),
            None => self.sure = false,
        }
        true
    }

    fn unclear_slash(&mut self) {
        let Some(end) = literal::regex_end(self.bytes, self.at) else { return };
        let text = self.slice(self.at, end);
        let next = self.bytes.get(end);
        let harmless = !text.iter().any(|b| b"\"'`()[]{}".contains(b)) && !matches!(next, Some(b'/' | b'*'));
        self.sure &= harmless && !contains(text, b"//");
        self.tokens.push(Token { kind: Kind::Raw, text, line: self.line });
    }
}

/// Words after which an expression starts.
fn is_operator_word(word: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "instanceof",
        "do",
        "else",
        "yield",
        "await",
    ];
    WORDS.iter().any(|known| known.as_bytes() == word)
}
