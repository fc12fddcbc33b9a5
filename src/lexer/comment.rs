//! Comments: stepped over, unless a tool or compiler reads them.
//!
//! In: a [`Scanner`] at a comment. Out: notes among its tokens. I/O: none.

use super::language::Language;
use super::scan::Scanner;
use super::token::{Kind, Token};

impl<'a> Scanner<'a> {
    /// Steps over a comment; one that a tool obeys leaves a note.
    pub(crate) fn comment(&mut self) -> bool {
        if !matches!(self.peek(0), Some(b'/' | b'#')) {
            return false;
        }
        let line = match self.language {
            Language::Python => self.peek(0) == Some(b'#'),
            Language::Scala | Language::Script | Language::ScriptJsx | Language::Kotlin => {
                self.rest().starts_with(b"//") || (self.at == 0 && self.rest().starts_with(b"#!"))
            }
            Language::Rust | Language::Java | Language::Go | Language::CSharp | Language::Plain => {
                self.rest().starts_with(b"//")
            }
        };
        if line {
            let text = self.rest_of_line();
            self.note(text);
            self.at += text.len();
            return true;
        }
        if self.language == Language::Python || !self.rest().starts_with(b"/*") {
            return false;
        }
        match self.block_comment_end() {
            Some(end) => self.skip_block_comment(end),
            None => self.sure = false,
        }
        true
    }

    fn block_comment_end(&self) -> Option<usize> {
        let nests = self.language.comments_nest();
        let mut open = 1_usize;
        let mut at = self.at + 2;
        while open > 0 {
            match self.bytes.get(at..at + 2)? {
                b"*/" => open -= 1,
                b"/*" if nests => open += 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
        Some(at)
    }

    fn skip_block_comment(&mut self, end: usize) {
        let text = self.slice(self.at, end);
        let obeyed = self.comment_counts(text);
        for piece in text.split_inclusive(|b| *b == b'\n') {
            if obeyed {
                self.tokens.push(Token { kind: Kind::Note, text: piece.trim_ascii(), line: self.line });
            }
            if piece.ends_with(b"\n") {
                self.line += 1;
            }
        }
        self.at = end;
    }

    fn note(&mut self, text: &'a [u8]) {
        if self.comment_counts(text) {
            self.tokens.push(Token { kind: Kind::Note, text: text.trim_ascii(), line: self.line });
        }
    }

    fn comment_counts(&self, text: &[u8]) -> bool {
        self.comments_are_code || self.language.obeys(text)
    }
}
