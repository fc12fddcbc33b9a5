//! Elements inside scripts: tags, and children whose text is not code.
//!
//! In: a [`Scanner`] at a `<`. Out: its tokens. I/O: none.
//!
//! An element is one bracket from its first `<` to its last `>`, so that no line end inside it ends a statement.

use super::language::Language;
use super::scan::Scanner;
use super::token::{Kind, Token};

/// Where in JSX the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Between `<` and `>`.
    Tag {
        /// `</name>`.
        closing: bool,
    },
    /// Between an opening and a closing tag.
    Children,
    /// Between `{` and `}` of a tag or child.
    Code {
        /// Braces open inside.
        braces: usize,
        /// Tokens there were when the brace opened.
        start: usize,
    },
}

impl Scanner<'_> {
    /// Enters an element, when this `<` opens one.
    pub(crate) fn jsx_start(&mut self, byte: u8) -> bool {
        let opens = byte == b'<'
            && self.language == Language::ScriptJsx
            && self.expects_value()
            && self.peek(1).is_some_and(|next| next == b'>' || next == b'_' || next.is_ascii_alphabetic())
            && !self.opens_generics();
        if opens {
            self.take(Kind::Open, 1);
            self.modes.push(Mode::Tag { closing: false });
        }
        opens
    }

    /// Whether a value can start here, so that `<` is no comparison.
    fn expects_value(&self) -> bool {
        let Some(last) = self.last_code() else { return true };
        match last.kind {
            Kind::Open | Kind::Comma => true,
            Kind::Op => !matches!(last.text, b"++" | b"--" | b"."),
            Kind::Word => matches!(last.text, b"return" | b"default" | b"case" | b"yield" | b"else"),
            Kind::Close | Kind::Text | Kind::TextRest | Kind::Note | Kind::Raw => false,
            Kind::Newline | Kind::Depth(_) => false,
        }
    }

    /// `<T,>(…)` and `<T extends U>(…)`: type parameters of an arrow function.
    fn opens_generics(&self) -> bool {
        let rest = self.rest().get(1..).unwrap_or_default();
        let rest = rest.strip_prefix(b"const ").unwrap_or(rest);
        let name = rest.iter().take_while(|b| self.language.is_word(**b)).count();
        let after = rest.get(name..).unwrap_or_default().trim_ascii_start();
        after.starts_with(b",") || after.starts_with(b"extends ") || after.starts_with(b"=")
    }

    /// Counts an opening brace inside an expression of JSX.
    pub(crate) fn jsx_open(&mut self, byte: u8) {
        if let (b'{', Some(Mode::Code { braces, .. })) = (byte, self.modes.last_mut()) {
            *braces += 1;
        }
    }

    /// Handles a closing brace; true when it closed an expression of JSX and has been taken.
    pub(crate) fn jsx_close(&mut self, byte: u8) -> bool {
        let (b'}', Some(Mode::Code { braces, start })) = (byte, self.modes.last_mut()) else { return false };
        if *braces > 0 {
            *braces -= 1;
            return false;
        }
        let empty = self.tokens.len() == *start;
        self.modes.pop();
        if empty && self.modes.last() == Some(&Mode::Children) {
            // `{/* a comment */}` is no child at all.
            self.tokens.pop();
            self.at += 1;
        } else {
            self.take(Kind::Close, 1);
        }
        true
    }

    fn enter_code(&mut self) {
        self.take(Kind::Open, 1);
        self.modes.push(Mode::Code { braces: 0, start: self.tokens.len() });
    }

    pub(crate) fn tag_step(&mut self) {
        let Some(byte) = self.peek(0) else { return };
        if self.blank(byte) || self.tag_comment() {
            return;
        }
        match byte {
            b'{' => self.enter_code(),
            b'"' | b'\'' => self.attribute_text(byte),
            b'/' if self.peek(1) == Some(b'>') => {
                self.take(Kind::Close, 2);
                self.modes.pop();
            }
            b'>' => self.end_tag(),
            _ if self.language.is_word(byte) => {
                let length = self.rest().iter().take_while(|b| self.language.is_word(**b)).count();
                self.take(Kind::Word, length);
            }
            b'-' | b'.' | b':' | b'=' => self.take(Kind::Op, 1),
            // Type arguments of a component, or no tag after all.
            _ => self.sure = false,
        }
    }

    fn tag_comment(&mut self) -> bool {
        (self.rest().starts_with(b"//") || self.rest().starts_with(b"/*")) && self.comment()
    }

    fn attribute_text(&mut self, quote: u8) {
        let rest = self.rest().get(1..).unwrap_or_default();
        match rest.iter().position(|b| *b == quote) {
            Some(length) => self.take_literal(self.at + length + 2),
            None => self.sure = false,
        }
    }

    fn end_tag(&mut self) {
        match self.modes.pop() {
            Some(Mode::Tag { closing: false }) => {
                self.take(Kind::Op, 1);
                self.modes.push(Mode::Children);
            }
            Some(Mode::Tag { closing: true }) => {
                // The children end with their closing tag.
                self.take(Kind::Close, 1);
                self.sure &= self.modes.pop() == Some(Mode::Children);
            }
            Some(Mode::Children | Mode::Code { .. }) | None => self.sure = false,
        }
    }

    pub(crate) fn children_step(&mut self) {
        match self.peek(0) {
            Some(b'{') => self.enter_code(),
            Some(b'<') if self.peek(1) == Some(b'/') => {
                self.take(Kind::Op, 2);
                self.modes.push(Mode::Tag { closing: true });
            }
            Some(b'<') => {
                self.take(Kind::Open, 1);
                self.modes.push(Mode::Tag { closing: false });
            }
            Some(_) | None => self.child_text(),
        }
    }

    /// Text between tags: white space beside a line end means nothing, all other does.
    fn child_text(&mut self) {
        let rest = self.rest();
        let length = rest.iter().position(|b| matches!(b, b'{' | b'<')).unwrap_or(rest.len());
        let text = self.slice(self.at, self.at + length);
        let mut starts_line = false;
        for piece in text.split_inclusive(|b| *b == b'\n') {
            let ends_line = piece.ends_with(b"\n");
            let piece = if starts_line { piece.trim_ascii_start() } else { piece };
            let piece = if ends_line { piece.trim_ascii_end() } else { piece };
            if !piece.is_empty() {
                self.tokens.push(Token { kind: Kind::Text, text: piece, line: self.line });
            }
            if ends_line {
                self.line += 1;
                starts_line = true;
            }
        }
        self.at += length;
    }
}
