//! Converts a tool's columns into Unicode scalar values from 1, with the source text.
//!
//! In: a raw span and the file's text. Out: [`Span`]. I/O: none.

use polymut_adapters::{ColumnUnit, RawPosition, RawSpan};
use polymut_schemas::{Position, Span};

use super::PathProblem;

/// The span in the document's unit. Without the text only lines survive, unless the tool counts as we do.
pub(super) fn convert(raw: RawSpan, text: Option<&str>) -> Result<Span, PathProblem> {
    let lines: Option<Vec<&str>> = text.map(|text| text.split('\n').collect());
    let start = position(raw.start, raw.unit, lines.as_deref())?;
    let end = raw.end.map(|end| position(end, raw.unit, lines.as_deref())).transpose();
    // An end just past the last line (a removed decorator, a block at the end of the file) is no error.
    let end = end.unwrap_or(None);
    Ok(Span { start, end })
}

fn position(raw: RawPosition, unit: ColumnUnit, lines: Option<&[&str]>) -> Result<Position, PathProblem> {
    let Some(lines) = lines else {
        let column = if unit == ColumnUnit::Chars { raw.column } else { None };
        return Ok(Position { line: raw.line, column });
    };
    let index = usize::try_from(raw.line).unwrap_or(usize::MAX).saturating_sub(1);
    let Some(line) = lines.get(index) else {
        return Err(PathProblem::PastEnd(format!("line {}", raw.line)));
    };
    Ok(Position { line: raw.line, column: raw.column.and_then(|column| chars(line, column, unit)) })
}

/// `column` of `line` in chars from 1.
fn chars(line: &str, column: u32, unit: ColumnUnit) -> Option<u32> {
    let units = |width: fn(char) -> usize| {
        let wanted = usize::try_from(column).ok()?.checked_sub(1)?;
        let mut passed = 0;
        let mut count = 1_u32;
        for character in line.chars() {
            if passed >= wanted {
                break;
            }
            passed += width(character);
            count += 1;
        }
        Some(count)
    };
    match unit {
        ColumnUnit::Chars => Some(column),
        ColumnUnit::CharsFromZero => column.checked_add(1),
        ColumnUnit::Utf16 => units(char::len_utf16),
        ColumnUnit::Bytes => units(char::len_utf8),
        ColumnUnit::None => None,
    }
}

/// The byte offset of a position in `text`; a position without column is the start of its line.
pub(super) fn offset(text: &str, position: Position) -> Option<usize> {
    let mut at = 0;
    let index = usize::try_from(position.line).ok()?.checked_sub(1)?;
    for (number, line) in text.split('\n').enumerate() {
        if number == index {
            let skip = usize::try_from(position.column.unwrap_or(1)).ok()?.saturating_sub(1);
            let inside = line.char_indices().nth(skip).map_or(line.len(), |(byte, _)| byte);
            return Some(at + inside);
        }
        at += line.len() + 1;
    }
    None
}

/// The text of a span that has columns on both ends.
pub(super) fn slice(text: &str, span: Span) -> Option<String> {
    span.start.column?;
    let end = span.end?;
    end.column?;
    let (from, to) = (offset(text, span.start)?, offset(text, end)?);
    text.get(from..to).filter(|original| !original.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(line: u32, start: u32, end: u32, unit: ColumnUnit) -> RawSpan {
        RawSpan {
            start: RawPosition { line, column: Some(start) },
            end: Some(RawPosition { line, column: Some(end) }),
            unit,
        }
    }

    #[test]
    fn every_unit_finds_the_same_characters() {
        let text = "fn a() {}\nlet ü = \"😀\" + b;\n";
        for (unit, start, end) in [
            (ColumnUnit::Chars, 13, 14),
            (ColumnUnit::CharsFromZero, 12, 13),
            (ColumnUnit::Utf16, 14, 15),
            (ColumnUnit::Bytes, 17, 18),
        ] {
            let span = convert(raw(2, start, end, unit), Some(text)).unwrap();
            assert_eq!(slice(text, span).as_deref(), Some("+"), "{unit:?}");
            assert_eq!(span.start.column, Some(13), "{unit:?}");
        }
    }

    #[test]
    fn a_line_that_the_file_lacks_is_a_problem_not_a_guess() {
        assert!(matches!(
            convert(raw(9, 1, 2, ColumnUnit::Chars), Some("a\n")),
            Err(PathProblem::PastEnd(_))
        ));
    }

    #[test]
    fn without_text_only_our_own_unit_keeps_columns() {
        assert_eq!(convert(raw(2, 3, 4, ColumnUnit::Utf16), None).unwrap().start.column, None);
        assert_eq!(convert(raw(2, 3, 4, ColumnUnit::Chars), None).unwrap().start.column, Some(3));
    }
}
