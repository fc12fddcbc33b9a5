//! From bytes to tokens: the loop that every language shares.
//!
//! In: the bytes of a file. Out: [`Lexed`]. I/O: none.

use super::jsx::Mode;
use super::language::Language;
use super::layout;
use super::literal;
use super::token::{Kind, Lexed, Token};

/// How many bytes the operator at the start of `rest` has.
///
/// One that is missing here only means that a space put inside it would go unnoticed, so the list holds every operator
/// of the languages above.
fn operator_length(rest: &[u8]) -> usize {
    match rest {
        [b'>', b'>', b'>', b'=', ..] => 4,
        [b'<', b'<', b'=', ..] | [b'>', b'>', b'=' | b'>', ..] | [b'=' | b'!', b'=', b'=', ..] => 3,
        [b'*', b'*', b'=', ..] | [b'.', b'.', b'.' | b'=' | b'<', ..] | [b'?', b'?', b'=', ..] => 3,
        [b'&', b'&' | b'^', b'=', ..] | [b'|', b'|', b'=', ..] | [b'/', b'/', b'=', ..] => 3,
        [b'-' | b'=', b'>', ..] | [b'<', b'-', ..] | [b':', b'=' | b':', ..] => 2,
        [
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'@',
            b'=',
            ..,
        ] => 2,
        [b'&', b'&' | b'^', ..] | [b'|', b'|', ..] | [b'+', b'+', ..] | [b'-', b'-', ..] => 2,
        [b'<', b'<', ..] | [b'>', b'>', ..] | [b'.', b'.', ..] | [b'?', b'.' | b'?' | b':', ..] => 2,
        [b'!', b'!', ..] | [b'*', b'*', ..] | [b'/', b'/', ..] => 2,
        _ => 1,
    }
}

/// Walks over the bytes of one file.
pub(crate) struct Scanner<'a> {
    pub(crate) language: Language,
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) line: u32,
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) sure: bool,
    /// Lines that a backslash joins to the next one.
    pub(crate) joined: Vec<u32>,
    /// Where in JSX the scanner is; empty outside.
    pub(crate) modes: Vec<Mode>,
    /// A Go file that hands its comments to a C compiler.
    pub(crate) comments_are_code: bool,
}

/// The tokens of a file.
pub(crate) fn lex(language: Language, bytes: &[u8]) -> Lexed<'_> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if language == Language::Plain {
        return plain(bytes);
    }
    let mut scanner = Scanner {
        language,
        bytes,
        at: 0,
        line: 1,
        tokens: Vec::with_capacity(bytes.len() / 4),
        sure: true,
        joined: Vec::new(),
        modes: Vec::new(),
        comments_are_code: language == Language::Go && contains(bytes, b"\"C\""),
    };
    while scanner.sure && scanner.at < bytes.len() {
        scanner.step();
    }
    scanner.sure &= scanner.modes.is_empty();
    layout::settle(&scanner)
}

/// Each line is a token; its line ending is not part of it.
fn plain(bytes: &[u8]) -> Lexed<'_> {
    let lines = bytes.split_inclusive(|b| *b == b'\n').zip(1..);
    let tokens =
        lines.map(|(text, line)| Token { kind: Kind::Text, text: trim_line_end(text), line }).collect();
    Lexed { tokens, sure: true }
}

/// `text` without the line ending.
pub(crate) fn trim_line_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

impl<'a> Scanner<'a> {
    /// The byte `ahead` of the present one.
    pub(crate) fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The rest of the present line, without its line ending.
    pub(crate) fn rest_of_line(&self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        trim_line_end(rest.get(..end).unwrap_or_default())
    }

    /// Takes the next `length` bytes as one token on one line.
    pub(crate) fn take(&mut self, kind: Kind, length: usize) {
        let text = self.slice(self.at, self.at + length);
        self.tokens.push(Token { kind, text, line: self.line });
        self.at += length;
    }

    /// The last token that is not a note.
    pub(crate) fn last_code(&self) -> Option<&Token<'a>> {
        self.tokens.iter().rev().find(|token| token.is_code())
    }

    /// Takes everything up to `end` as a literal, one token per line.
    pub(crate) fn take_literal(&mut self, end: usize) {
        let text = self.slice(self.at, end);
        let mut kind = Kind::Text;
        for piece in text.split_inclusive(|b| *b == b'\n') {
            self.tokens.push(Token { kind, text: self.literal_line(piece), line: self.line });
            if piece.ends_with(b"\n") {
                self.line += 1;
            }
            kind = Kind::TextRest;
        }
        self.at = end;
    }

    /// C# and Scala keep a carriage return inside a literal; the others read it as a line feed or drop it.
    fn literal_line(&self, piece: &'a [u8]) -> &'a [u8] {
        match self.language {
            Language::CSharp | Language::Scala => piece,
            Language::Rust
            | Language::Java
            | Language::Kotlin
            | Language::Go
            | Language::Script
            | Language::ScriptJsx
            | Language::Python
            | Language::Plain => trim_line_end(piece),
        }
    }

    fn step(&mut self) {
        match self.modes.last() {
            Some(Mode::Tag { .. }) => self.tag_step(),
            Some(Mode::Children) => self.children_step(),
            Some(Mode::Code { .. }) | None => self.code_step(),
        }
    }

    pub(crate) fn code_step(&mut self) {
        let Some(byte) = self.peek(0) else { return };
        if self.language.is_word(byte) {
            return self.word();
        }
        if self.blank(byte) || self.comment() || self.literal(byte) || self.jsx_start(byte) {
            return;
        }
        match byte {
            b'(' | b'[' | b'{' => {
                self.jsx_open(byte);
                self.take(Kind::Open, 1);
            }
            b')' | b']' | b'}' => {
                if !self.jsx_close(byte) {
                    self.take(Kind::Close, 1);
                }
            }
            b',' => self.take(Kind::Comma, 1),
            b'\\' if self.language == Language::Python => self.join_lines(),
            _ => self.operator(),
        }
    }

    /// Steps over white space.
    pub(crate) fn blank(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => self.line += 1,
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
            _ => return false,
        }
        self.at += 1;
        true
    }

    /// A backslash at the end of a Python line.
    fn join_lines(&mut self) {
        self.sure &= self.rest_of_line().len() == 1;
        self.joined.push(self.line);
        self.at += 1;
    }

    /// Takes a literal that starts here, if one does.
    fn literal(&mut self, byte: u8) -> bool {
        match (self.language, byte) {
            (Language::Rust | Language::Scala, b'\'') => match literal::char_end(self.bytes, self.at) {
                Some(end) => self.take_literal(end),
                None => self.take(Kind::Op, 1),
            },
            (Language::CSharp, b'#') if self.is_first_on_line() => {
                let text = self.rest_of_line();
                self.take(Kind::Raw, text.len());
            }
            (Language::CSharp, b'$' | b'@') => return self.signed_literal(),
            (Language::Script | Language::ScriptJsx, b'/') => return self.slash(),
            (Language::Rust | Language::Java | Language::CSharp | Language::Python, b'`') => {
                return false;
            }
            (_, b'"' | b'\'' | b'`') => self.quoted(self.at),
            (_, _) => return false,
        }
        true
    }

    /// Takes the literal whose quote stands at `quote`, with the prefix in front of it.
    fn quoted(&mut self, quote: usize) {
        match literal::string_end(self.language, self.bytes, quote) {
            Some(end) => self.take_literal(end),
            None => self.sure = false,
        }
    }

    /// `$"`, `@"`, `$$"""` of C#.
    fn signed_literal(&mut self) -> bool {
        let signs = self.rest().iter().take_while(|b| matches!(b, b'$' | b'@')).count();
        if self.peek(signs) != Some(b'"') {
            return false;
        }
        self.quoted(self.at + signs);
        true
    }

    fn is_first_on_line(&self) -> bool {
        let before = self.slice(0, self.at);
        let blank = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        blank == before.len() || before.get(before.len() - blank - 1) == Some(&b'\n')
    }

    pub(crate) fn word(&mut self) {
        let length = self.word_length();
        let after = self.at + length;
        let prefix = self.slice(self.at, after);
        match (self.language, self.bytes.get(after)) {
            (Language::Rust, Some(b'"' | b'#')) if matches!(prefix, b"r" | b"br" | b"cr") => {
                self.raw_or_word(after, length);
            }
            (Language::Rust, Some(b'"')) if matches!(prefix, b"b" | b"c") => self.quoted(after),
            (Language::Rust, Some(b'\'')) if prefix == b"b" => match literal::char_end(self.bytes, after) {
                Some(end) => self.take_literal(end),
                None => self.sure = false,
            },
            (Language::Python, Some(b'"' | b'\''))
                if !literal::python_prefix(self.bytes, after).is_empty() =>
            {
                self.quoted(after);
            }
            (Language::Scala, Some(b'"')) => self.quoted(after),
            // `$$"…"` changes what a hole is.
            (Language::Kotlin, Some(b'"')) if prefix.ends_with(b"$") => self.sure = false,
            (_, _) => self.take(Kind::Word, length),
        }
    }

    fn raw_or_word(&mut self, after: usize, length: usize) {
        match literal::rust_raw_end(self.bytes, after) {
            Some(end) => self.take_literal(end),
            // `r#match` is a name.
            None => self.take(Kind::Word, length),
        }
    }

    /// A name, or a number with its decimal point.
    fn word_length(&self) -> usize {
        let rest = self.rest();
        let number = rest.first().is_some_and(u8::is_ascii_digit);
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            let point = number && *byte == b'.' && rest.get(length + 1).is_some_and(u8::is_ascii_digit);
            if !point && !self.language.is_word(*byte) {
                break;
            }
            length += 1;
        }
        length
    }

    pub(crate) fn operator(&mut self) {
        let rest = self.rest();
        let length = if self.language == Language::Scala {
            rest.iter().take_while(|b| b"!#%&*+-/:<=>?@\\^|~".contains(b)).count()
        } else {
            operator_length(rest)
        };
        self.take(Kind::Op, length.max(1));
    }
}

pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
