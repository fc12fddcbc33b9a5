//! Bytes of a report as text: byte order marks, UTF-16, and what stands there instead of a report.
//!
//! In: bytes. Out: text or a [`ParseError`] that names what was found. I/O: none.

use std::borrow::Cow;

use crate::ParseError;

/// How a pointer of Git LFS begins.
const LFS: &[u8] = b"version https://git-lfs";

/// The text of the artifact `at`. A byte order mark goes, UTF-16 with one is read (a shell may redirect so), a Git LFS
/// pointer and an empty file are named as such.
pub fn decode<'a>(at: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, ParseError> {
    if bytes.trim_ascii().is_empty() {
        return Err(ParseError::Truncated { at: at.to_owned(), why: "the file is empty".to_owned() });
    }
    if bytes.starts_with(LFS) {
        return Err(encoding(at, "a Git LFS pointer instead of the file", "fetch it with `git lfs pull`"));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return utf8(at, rest);
    }
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(at, rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(at, rest, u16::from_be_bytes),
        _ => utf8(at, bytes),
    }
}

/// Like [`decode`], for what a JVM may have written with another default charset under a header that says UTF-8: bytes
/// that are not UTF-8 become U+FFFD, and an empty file is an empty text.
pub(crate) fn lenient<'a>(at: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, ParseError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.starts_with(LFS) {
        return decode(at, bytes);
    }
    Ok(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)))
}

fn utf8<'a>(at: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, ParseError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        // The bytes end inside a character.
        Err(error) if error.error_len().is_none() => {
            Err(ParseError::Truncated { at: at.to_owned(), why: "a character is cut".to_owned() })
        }
        Err(error) => {
            let found = format!("bytes that are not UTF-8 at offset {}", error.valid_up_to());
            Err(encoding(at, &found, "write the report as UTF-8"))
        }
    }
}

fn utf16<'a>(at: &str, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'a, str>, ParseError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(ParseError::Truncated { at: at.to_owned(), why: "half a UTF-16 unit".to_owned() });
    }
    char::decode_utf16(pairs.iter().copied().map(unit))
        .collect::<Result<String, _>>()
        .map(Cow::Owned)
        .map_err(|_| encoding(at, "UTF-16 with unpaired surrogates", "write the report as UTF-8"))
}

fn encoding(at: &str, found: &str, remedy: &str) -> ParseError {
    ParseError::Encoding { at: at.to_owned(), found: found.to_owned(), remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_utf_16_is_read() {
        assert_eq!(decode("r", b"\xef\xbb\xbf{}").unwrap(), "{}");
        assert_eq!(decode("r", b"\xff\xfe{\0}\0").unwrap(), "{}");
        assert_eq!(decode("r", b"\xfe\xff\0{\0}").unwrap(), "{}");
        assert_eq!(decode("r", "é".as_bytes()).unwrap(), "é");
    }

    #[test]
    fn foreign_bytes_are_read_where_a_tool_may_write_them() {
        assert_eq!(lenient("r", b"\xef\xbb\xbfcaf\xe9").unwrap(), "caf\u{fffd}");
        assert_eq!(lenient("r", b"\xff\xfe{\0}\0").unwrap(), "{}");
        assert!(matches!(lenient("r", b"version https://git-lfs\noid"), Err(ParseError::Encoding { .. })));
    }

    #[test]
    fn what_is_no_report_is_named() {
        assert!(matches!(decode("r", b" \n"), Err(ParseError::Truncated { .. })));
        assert!(matches!(decode("r", b"\xff\xfe{"), Err(ParseError::Truncated { .. })));
        assert!(matches!(decode("r", &"é".as_bytes()[..1]), Err(ParseError::Truncated { .. })));
        assert!(matches!(decode("r", b"version https://git-lfs\noid"), Err(ParseError::Encoding { .. })));
        assert!(matches!(decode("r", b"caf\xe9 {}"), Err(ParseError::Encoding { .. })));
    }
}
