//! What layout means: line ends that end statements, indentation that nests, trailing commas that are free.
//!
//! In: the raw tokens of a [`Scanner`]. Out: [`Lexed`]. I/O: none.

use super::language::{Language, LineEnds};
use super::scan::Scanner;
use super::token::{Kind, Lexed, Token};

/// An open bracket.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    sign: u8,
    /// A comma before its closing bracket changes nothing.
    free_comma: bool,
}

/// The pass over the tokens of one file.
struct Layout<'a, 'b> {
    scanner: &'b Scanner<'a>,
    out: Vec<Token<'a>>,
    brackets: Vec<Bracket>,
    /// Columns of the enclosing blocks.
    indents: Vec<usize>,
    line_starts: Vec<usize>,
    sure: bool,
}

/// Adds the tokens that layout stands for and drops trailing commas.
pub(crate) fn settle<'a>(scanner: &Scanner<'a>) -> Lexed<'a> {
    if !scanner.sure {
        return Lexed { tokens: Vec::new(), sure: false };
    }
    let line_starts = match scanner.language.line_ends() {
        LineEnds::Indented => line_starts(scanner.bytes),
        LineEnds::Free | LineEnds::Statement => Vec::new(),
    };
    let mut layout = Layout {
        out: Vec::with_capacity(scanner.tokens.len() + scanner.tokens.len() / 4),
        brackets: Vec::new(),
        indents: vec![0],
        line_starts,
        sure: true,
        scanner,
    };
    let mut last: Option<Token<'_>> = None;
    for token in &scanner.tokens {
        if token.is_code() {
            layout.between(last.as_ref(), token);
            layout.bracket(last.as_ref(), token);
            last = Some(*token);
        }
        layout.out.push(*token);
    }
    let sure = layout.sure && (layout.brackets.is_empty() || scanner.language.line_ends() == LineEnds::Free);
    Lexed { tokens: layout.out, sure }
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let after = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

impl Layout<'_, '_> {
    /// What the layout between two code tokens stands for.
    fn between(&mut self, last: Option<&Token<'_>>, next: &Token<'_>) {
        let crosses = last.is_none_or(|last| last.line < next.line) && next.kind != Kind::TextRest;
        if !crosses {
            return;
        }
        match self.scanner.language.line_ends() {
            LineEnds::Free => {}
            LineEnds::Statement => {
                if last.is_some_and(|last| self.ends_statement(last, next)) {
                    self.out.push(Token { kind: Kind::Newline, text: b"", line: next.line });
                }
            }
            LineEnds::Indented => self.indented(next),
        }
    }

    fn in_parentheses(&self) -> bool {
        self.brackets.last().is_some_and(|bracket| bracket.sign != b'{')
    }

    /// Whether a line end between these two can end a statement. Where it is not certain that it cannot: yes.
    fn ends_statement(&self, last: &Token<'_>, next: &Token<'_>) -> bool {
        let go = self.scanner.language == Language::Go;
        if !go && self.in_parentheses() {
            return false;
        }
        let can_end = match last.kind {
            Kind::Word | Kind::Close | Kind::Text | Kind::TextRest | Kind::Raw => true,
            Kind::Op if go => matches!(last.text, b"++" | b"--"),
            Kind::Op => matches!(
                last.text,
                b"++" | b"--" | b"!" | b"!!" | b">" | b">>" | b">>>" | b"?" | b"*" | b"@" | b"#"
            ),
            Kind::Open | Kind::Comma | Kind::Note | Kind::Newline | Kind::Depth(_) => false,
        };
        can_end && !self.continues(next)
    }

    /// Whether a line that starts with `next` always continues the one before.
    fn continues(&self, next: &Token<'_>) -> bool {
        let closes = next.is(Kind::Close, b"}") || next.is(Kind::Close, b")");
        match self.scanner.language {
            Language::Go => closes,
            Language::Script | Language::ScriptJsx => {
                closes
                    || next.is(Kind::Close, b"]")
                    || next.kind == Kind::Comma
                    || (next.kind == Kind::Op
                        && matches!(next.text, b"." | b"?." | b"&&" | b"||" | b"??" | b"?" | b":"))
            }
            Language::Kotlin => {
                closes
                    || next.kind == Kind::Comma
                    || (next.kind == Kind::Op && matches!(next.text, b"." | b"?." | b"?:" | b"&&" | b"||"))
            }
            Language::Rust | Language::Java | Language::CSharp | Language::Python => false,
            Language::Scala | Language::Plain => false,
        }
    }

    fn indented(&mut self, next: &Token<'_>) {
        let python = self.scanner.language == Language::Python;
        let inside = if python { !self.brackets.is_empty() } else { self.in_parentheses() };
        let joined = next.line > 1 && self.scanner.joined.binary_search(&(next.line - 1)).is_ok();
        if inside || joined {
            return;
        }
        let column = self.column(next.line);
        while self.indents.last().is_some_and(|top| *top > column) {
            self.indents.pop();
        }
        if self.indents.last().is_none_or(|top| *top < column) {
            self.indents.push(column);
        }
        self.out.push(Token { kind: Kind::Depth(self.indents.len()), text: b"", line: next.line });
    }

    /// Where the text of a line starts; a tab reaches to the next multiple of eight, as Python counts.
    fn column(&self, line: u32) -> usize {
        let start = usize::try_from(line - 1).ok().and_then(|line| self.line_starts.get(line)).copied();
        let text = start.and_then(|start| self.scanner.bytes.get(start..)).unwrap_or_default();
        let mut column = 0;
        for byte in text {
            match byte {
                b' ' => column += 1,
                b'\t' => column = (column / 8 + 1) * 8,
                _ => break,
            }
        }
        column
    }

    fn bracket(&mut self, last: Option<&Token<'_>>, token: &Token<'_>) {
        let Some(sign) = token.text.first() else { return };
        match token.kind {
            Kind::Open => {
                let free_comma = self.comma_is_free(*sign, last);
                self.brackets.push(Bracket { sign: *sign, free_comma });
            }
            Kind::Close => self.close(*sign),
            Kind::Word | Kind::Op | Kind::Comma | Kind::Text | Kind::TextRest => {}
            Kind::Note | Kind::Raw | Kind::Newline | Kind::Depth(_) => {}
        }
    }

    fn close(&mut self, sign: u8) {
        let Some(bracket) = self.brackets.pop() else { return self.unbalanced() };
        let fits =
            matches!((bracket.sign, sign), (b'(', b')') | (b'[', b']') | (b'{', b'}') | (b'<', b'>' | b'/'));
        if !fits {
            return self.unbalanced();
        }
        if bracket.free_comma {
            self.drop_trailing_comma();
        }
    }

    /// Preprocessor branches can leave C# unbalanced; line ends mean nothing there, so only commas are at stake.
    fn unbalanced(&mut self) {
        self.sure &= self.scanner.language.line_ends() == LineEnds::Free;
        for bracket in &mut self.brackets {
            bracket.free_comma = false;
        }
    }

    /// Takes back the comma just written, unless it stands for a hole (`[a, , ]`) or an empty place (`[,]`).
    fn drop_trailing_comma(&mut self) {
        let mut code = self.out.iter().enumerate().rev().filter(|(_, token)| token.is_code());
        let Some((at, comma)) = code.next() else { return };
        let hole = code.next().is_none_or(|(_, before)| matches!(before.kind, Kind::Open | Kind::Comma));
        if comma.kind == Kind::Comma && !hole {
            self.out.remove(at);
        }
    }

    /// `(a,)` is a tuple in Rust and Python unless it is a call; `x[a,]` is another key than `x[a]` in Python.
    fn comma_is_free(&self, sign: u8, last: Option<&Token<'_>>) -> bool {
        let called = last.is_some_and(|last| match last.kind {
            Kind::Word => !is_keyword(last.text),
            Kind::Close => self.scanner.language == Language::Python,
            Kind::Op | Kind::Open | Kind::Comma | Kind::Text | Kind::TextRest => false,
            Kind::Note | Kind::Raw | Kind::Newline | Kind::Depth(_) => false,
        });
        match (self.scanner.language, sign) {
            (Language::Rust | Language::Python, b'(') => called,
            (Language::Python, b'[') => !called,
            (Language::Plain, _) | (_, b'<') => false,
            (_, _) => true,
        }
    }
}

/// Words of Rust and Python before a bracket that is no call.
fn is_keyword(word: &[u8]) -> bool {
    const WORDS: [&str; 35] = [
        "return", "in", "if", "while", "match", "for", "let", "else", "break", "move", "as", "mut", "ref",
        "where", "impl", "dyn", "yield", "await", "const", "static", "and", "or", "not", "is", "elif",
        "assert", "del", "lambda", "from", "import", "print", "raise", "with", "except", "case",
    ];
    WORDS.iter().any(|known| known.as_bytes() == word)
}
