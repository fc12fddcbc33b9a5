//! Positions in a source file: 1-based lines and columns in Unicode scalar values, ends exclusive.
//!
//! In: numbers. Out: [`Position`], [`Span`]. I/O: none.
//!
//! Tools count differently (bytes, UTF-16 units, from 0); the normaliser converts, this crate holds the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LineRange;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column in Unicode scalar values; absent where the tool knows only the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// From `start` up to, not including, `end`. Without an end: the start's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// First character.
    pub start: Position,
    /// First character after the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Position>,
}

impl Span {
    /// A span that covers one whole line.
    pub fn line(line: u32) -> Self {
        Self { start: Position { line, column: None }, end: None }
    }

    /// The lines that hold at least one character of the span. An end at column 1 does not reach its line.
    pub fn lines(&self) -> LineRange {
        let first = self.start.line;
        let last = match self.end {
            None => first,
            Some(Position { line, column: Some(1) }) if line > first => line - 1,
            Some(Position { line, .. }) => line.max(first),
        };
        LineRange { first, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_at_column_one_does_not_reach_its_line() {
        let span = Span {
            start: Position { line: 3, column: Some(5) },
            end: Some(Position { line: 5, column: Some(1) }),
        };
        assert_eq!(span.lines(), LineRange { first: 3, last: 4 });
    }
}
