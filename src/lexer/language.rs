//! What the lexers have to know about each language.
//!
//! In: a path. Out: [`Language`]. I/O: none.

use polymut_schemas::RepoPath;

/// A language family that has a lexer here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust: comments nest, strings span lines.
    Rust,
    /// Java.
    Java,
    /// Kotlin: line ends can end a statement.
    Kotlin,
    /// Go: line ends can end a statement.
    Go,
    /// C#: preprocessor lines, verbatim and raw strings.
    CSharp,
    /// JavaScript and TypeScript without JSX.
    Script,
    /// JavaScript and TypeScript that may hold JSX.
    ScriptJsx,
    /// Python: indentation means something.
    Python,
    /// Scala: line ends and indentation can mean something.
    Scala,
    /// Anything else: a line is one token, only its line ending is free.
    Plain,
}

/// What a line end between two tokens means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// Nothing.
    Free,
    /// It ends a statement unless the tokens around it say otherwise.
    Statement,
    /// It ends a statement, and the next line's nesting follows from its indentation.
    Indented,
}

impl Language {
    /// The language of a file, by its extension.
    pub fn of(path: &RepoPath) -> Self {
        match path.extension() {
            Some("rs") => Self::Rust,
            Some("java") => Self::Java,
            Some("kt" | "kts") => Self::Kotlin,
            Some("go") => Self::Go,
            Some("cs") => Self::CSharp,
            Some("ts" | "mts" | "cts") => Self::Script,
            Some("js" | "mjs" | "cjs" | "jsx" | "tsx") => Self::ScriptJsx,
            Some("py" | "pyi") => Self::Python,
            Some("scala" | "sc" | "sbt") => Self::Scala,
            Some(_) | None => Self::Plain,
        }
    }

    pub(crate) fn line_ends(self) -> LineEnds {
        match self {
            Self::Rust | Self::Java | Self::CSharp | Self::Plain => LineEnds::Free,
            Self::Kotlin | Self::Go | Self::Script | Self::ScriptJsx => LineEnds::Statement,
            Self::Python | Self::Scala => LineEnds::Indented,
        }
    }

    pub(crate) fn is_script(self) -> bool {
        matches!(self, Self::Script | Self::ScriptJsx)
    }

    /// Whether `/* /* */ */` is one comment.
    pub(crate) fn comments_nest(self) -> bool {
        matches!(self, Self::Rust | Self::Kotlin | Self::Scala)
    }

    /// Whether `byte` can stand in a name or number. Bytes above ASCII can: where a space hides among them
    /// (a no-break space), the line differs and stays in.
    pub(crate) fn is_word(self, byte: u8) -> bool {
        match byte {
            b'_' | 0x80.. => true,
            b'$' => matches!(self, Self::Java | Self::Kotlin | Self::Scala) || self.is_script(),
            _ => byte.is_ascii_alphanumeric(),
        }
    }

    /// Whether some tool or compiler reads this comment, so that a change of it is a change.
    ///
    /// The words are wide on purpose: a comment that only looks obeyed stays in scope, which costs nothing.
    pub(crate) fn obeys(self, comment: &[u8]) -> bool {
        let text = String::from_utf8_lossy(comment).to_ascii_lowercase();
        self.obeyed().iter().any(|word| text.contains(word))
            || text.starts_with("#!")
            || self.is_go_directive(comment)
    }

    /// What stands in comments that are obeyed.
    fn obeyed(self) -> &'static [&'static str] {
        match self {
            Self::Script | Self::ScriptJsx => &[
                "stryker",
                "istanbul",
                "c8 ignore",
                "v8 ignore",
                "@ts-",
                "@jsx",
                "@jest",
                "@vitest",
                "__pure__",
                "webpack",
            ],
            Self::Python => &["pragma", "no mutate", "no cover", "nocover", "coding", "type:"],
            Self::CSharp => &["stryker", "auto-generated"],
            Self::Scala => &["stryker", "> using"],
            Self::Go => &["code generated"],
            Self::Rust | Self::Java | Self::Kotlin | Self::Plain => &[],
        }
    }

    /// `//go:build`, `//line`, `//export`, `// +build`, and `// Output:` of examples.
    fn is_go_directive(self, comment: &[u8]) -> bool {
        let text = comment.strip_prefix(b"//").unwrap_or(comment);
        let trimmed = text.trim_ascii_start().to_ascii_lowercase();
        self == Self::Go
            && (text.first().is_some_and(u8::is_ascii_lowercase)
                || trimmed.starts_with(b"+build")
                || trimmed.starts_with(b"output:")
                || trimmed.starts_with(b"unordered output:"))
    }
}
