//! Foreign words made harmless: control and direction characters become visible.
//!
//! In: text of tools, tests and files. Out: text that shows itself. I/O: none.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces every control character except line feed and tab, and every character that changes the direction of
/// text, by a visible escape such as `\u{1b}`. What a terminal or a page then shows is what the text holds.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Like [`visible`], for one line: line feeds and tabs become spaces.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(['\n', '\r', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect();
    visible(&words.join(" ")).into_owned()
}

/// Direction marks, embeddings, overrides and isolates; invisible joiners and the byte order mark.
fn hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_direction_marks_and_bells_are_shown_and_letters_stay() {
        assert_eq!(visible("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("naïve שלום 日本\n\tx"), "naïve שלום 日本\n\tx");
        assert_eq!(visible("\r\u{9b}"), "\\u{d}\\u{9b}");
    }

    #[test]
    fn one_line_has_no_line_breaks() {
        assert_eq!(one_line("  a\r\n\tb \n\nc\u{1b}"), "a b c\\u{1b}");
    }
}
