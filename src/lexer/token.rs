//! Tokens: a kind, the text, and the line it stands on.
//!
//! In: nothing. Out: [`Token`], [`Lexed`]. I/O: none.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, keyword or number.
    Word,
    /// An operator or other punctuation.
    Op,
    /// `(`, `[`, `{`, or the `<` that starts an element.
    Open,
    /// `)`, `]`, `}`, or the `>` or `/>` that ends an element.
    Close,
    /// `,`.
    Comma,
    /// A literal, or the first line of one.
    Text,
    /// A further line of a literal.
    TextRest,
    /// A line of a comment that a tool obeys.
    Note,
    /// Text that must be equal byte by byte, because it can be read in two ways.
    Raw,
    /// A line end that can end a statement; it stands on the line that follows.
    Newline,
    /// How deep this line is nested by its indentation.
    Depth(usize),
}

/// One token. Two are equal when kind and text are, wherever they stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a [u8],
    pub(crate) line: u32,
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.text == other.text
    }
}

impl Token<'_> {
    /// Whether it is of that kind and has that text.
    pub(crate) fn is(&self, kind: Kind, text: &[u8]) -> bool {
        self.kind == kind && self.text == text
    }

    /// Whether it takes part in the grammar (a note does not).
    pub(crate) fn is_code(&self) -> bool {
        self.kind != Kind::Note
    }
}

/// The tokens of a file, sorted by line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lexed<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// Whether the lexer understood the whole file.
    pub(crate) sure: bool,
}
