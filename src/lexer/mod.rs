//! Which changed lines have other tokens than before: small lexers for the languages that the tools mutate.
//!
//! In: the bytes of both sides and the hunks between them. Out: [`LineChange`]. I/O: none.
//!
//! Invariants: a line leaves the scope only when its tokens are provably the ones it had. What a lexer does not
//! understand (unbalanced brackets, an open string, a regular expression that may be a division) keeps every line in.
//! Nothing here parses: a language is its literals, its comments, and whether line ends or indentation mean something.

mod align;
mod comment;
mod compare;
mod jsx;
mod language;
mod layout;
mod literal;
mod scan;
mod slash;
mod token;

pub use compare::{Hunk, LineChange, changed_lines, has_tokens};
pub use language::Language;

#[cfg(test)]
mod tests;
