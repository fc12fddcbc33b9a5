//! Where string, character, template and regular-expression literals end.
//!
//! In: the bytes of a file and the place of an opening quote. Out: the place after the closing one. I/O: none.
//!
//! Invariant: `None` means "not understood", and the whole file then keeps its lines.

use super::language::Language;

/// Interpolation inside a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    None,
    /// `${…}`
    Dollar,
    /// `{…}`, with `{{` for a brace.
    Brace,
}

/// How a literal between quotes behaves.
#[derive(Debug, Clone, Copy)]
struct Quoted {
    quote: u8,
    escapes: bool,
    lines: bool,
    hole: Hole,
}

/// Interpolations inside interpolations end here; deeper ones are not understood.
const DEEPEST: usize = 16;

/// The place after the literal whose quote stands at `at`.
pub(crate) fn string_end(language: Language, bytes: &[u8], at: usize) -> Option<usize> {
    nested_end(language, bytes, at, 0)
}

fn nested_end(language: Language, bytes: &[u8], at: usize, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let quote = *bytes.get(at)?;
    let plain = Quoted { quote, escapes: true, lines: false, hole: Hole::None };
    let find = |rules: Quoted| quoted_end(language, bytes, at + 1, rules, depth);
    let thrice = bytes.get(at..at + 3) == Some(&[quote; 3]);
    match language {
        Language::Rust => find(Quoted { lines: true, ..plain }),
        Language::Python => python_end(bytes, at, depth),
        Language::CSharp => csharp_end(bytes, at, depth),
        Language::Java if thrice && quote == b'"' => block_end(language, bytes, at, Hole::None, depth),
        Language::Java => find(plain),
        Language::Go if quote == b'`' => find(Quoted { escapes: false, lines: true, ..plain }),
        Language::Go => find(plain),
        Language::Kotlin | Language::Scala if quote == b'`' => find(Quoted { escapes: false, ..plain }),
        Language::Kotlin | Language::Scala if quote == b'\'' => find(plain),
        Language::Kotlin | Language::Scala if thrice => {
            block_end(language, bytes, at, dollar_hole(language, bytes, at), depth)
        }
        Language::Kotlin | Language::Scala => {
            find(Quoted { hole: dollar_hole(language, bytes, at), ..plain })
        }
        Language::Script | Language::ScriptJsx if quote == b'`' => {
            find(Quoted { lines: true, hole: Hole::Dollar, ..plain })
        }
        Language::Script | Language::ScriptJsx => find(plain),
        Language::Plain => None,
    }
}

/// Kotlin interpolates in every string, Scala in those with a name in front.
fn dollar_hole(language: Language, bytes: &[u8], at: usize) -> Hole {
    let named = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| language.is_word(*b));
    if language == Language::Kotlin || named { Hole::Dollar } else { Hole::None }
}

/// The place after the closing quote of a literal whose text starts at `at`.
fn quoted_end(language: Language, bytes: &[u8], mut at: usize, rules: Quoted, depth: usize) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            // A backslash before a line end continues the literal in every language that allows it.
            b'\\' if rules.escapes && bytes.get(at + 1..at + 3) == Some(b"\r\n") => at += 3,
            b'\\' if rules.escapes => at += 2,
            b'\n' if !rules.lines => return None,
            byte if byte == rules.quote => return Some(at + 1),
            b'{' if rules.hole == Hole::Brace && bytes.get(at + 1) == Some(&b'{') => at += 2,
            b'{' if rules.hole == Hole::Brace => at = hole_end(language, bytes, at + 1, depth)?,
            b'$' if rules.hole == Hole::Dollar && bytes.get(at + 1) == Some(&b'{') => {
                at = hole_end(language, bytes, at + 2, depth)?;
            }
            _ => at += 1,
        }
    }
}

/// The place after a literal between three double quotes (Java, Kotlin, Scala).
fn block_end(language: Language, bytes: &[u8], open: usize, hole: Hole, depth: usize) -> Option<usize> {
    let java = language == Language::Java;
    let mut at = open + 3;
    loop {
        match *bytes.get(at)? {
            b'\\' if java => at += 2,
            b'$' if hole == Hole::Dollar && bytes.get(at + 1) == Some(&b'{') => {
                at = hole_end(language, bytes, at + 2, depth)?;
            }
            b'"' if bytes.get(at..at + 3) == Some(b"\"\"\"") => {
                at += 3;
                // In Kotlin and Scala further quotes belong to the text, the last three close it.
                while !java && bytes.get(at) == Some(&b'"') {
                    at += 1;
                }
                return Some(at);
            }
            _ => at += 1,
        }
    }
}

fn python_end(bytes: &[u8], open: usize, depth: usize) -> Option<usize> {
    let quote = *bytes.get(open)?;
    let prefix = python_prefix(bytes, open);
    let formatted = prefix.iter().any(|letter| b"fFtT".contains(letter));
    let hole = if formatted { Hole::Brace } else { Hole::None };
    if bytes.get(open..open + 3) != Some(&[quote; 3]) {
        let rules = Quoted { quote, escapes: true, lines: false, hole };
        return quoted_end(Language::Python, bytes, open + 1, rules, depth);
    }
    let mut at = open + 3;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'{' if formatted && bytes.get(at + 1) == Some(&b'{') => at += 2,
            b'{' if formatted => at = hole_end(Language::Python, bytes, at + 1, depth)?,
            byte if byte == quote && bytes.get(at..at + 3) == Some(&[quote; 3]) => return Some(at + 3),
            _ => at += 1,
        }
    }
}

/// The letters in front of a Python string; empty when they are a name instead.
pub(crate) fn python_prefix(bytes: &[u8], quote_at: usize) -> &[u8] {
    let before = bytes.get(..quote_at).unwrap_or_default();
    let start = before.iter().rposition(|b| !Language::Python.is_word(*b)).map_or(0, |last| last + 1);
    let word = before.get(start..).unwrap_or_default();
    if word.len() <= 2 && word.iter().all(|letter| b"rRbBuUfFtT".contains(letter)) { word } else { b"" }
}

/// Verbatim, interpolated, raw and plain strings of C#, told apart by what stands in front.
fn csharp_end(bytes: &[u8], open: usize, depth: usize) -> Option<usize> {
    let quote = *bytes.get(open)?;
    let front = bytes.get(..open).unwrap_or_default();
    let signs = front.iter().rev().take_while(|b| matches!(b, b'$' | b'@')).count();
    let signs = front.get(open - signs..).unwrap_or_default();
    let run = bytes.get(open..).unwrap_or_default().iter().take_while(|b| **b == quote).count();
    let hole = if signs.contains(&b'$') { Hole::Brace } else { Hole::None };
    if quote == b'"' && run >= 3 && !signs.contains(&b'@') {
        return csharp_raw_end(bytes, open + run, run);
    }
    if !signs.contains(&b'@') || quote == b'\'' {
        let rules = Quoted { quote, escapes: true, lines: false, hole };
        return quoted_end(Language::CSharp, bytes, open + 1, rules, depth);
    }
    let rules = Quoted { quote, escapes: false, lines: true, hole };
    let mut at = quoted_end(Language::CSharp, bytes, open + 1, rules, depth)?;
    while bytes.get(at) == Some(&quote) {
        at = quoted_end(Language::CSharp, bytes, at + 1, rules, depth)?;
    }
    Some(at)
}

fn csharp_raw_end(bytes: &[u8], mut at: usize, quotes: usize) -> Option<usize> {
    loop {
        let run = bytes.get(at..)?.iter().take_while(|b| **b == b'"').count();
        if run >= quotes {
            return Some(at + run);
        }
        at += run.max(1);
        bytes.get(at)?;
    }
}

/// The place after the raw string of Rust whose hashes (or quote) start at `at`; `None` when it is not one.
pub(crate) fn rust_raw_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let hashes = rest.iter().take_while(|b| **b == b'#').count();
    if rest.get(hashes) != Some(&b'"') {
        return None;
    }
    let body = hashes + 1;
    let closes = |place: usize| {
        rest.get(place + 1..=place + hashes).is_some_and(|tail| tail.iter().all(|b| *b == b'#'))
    };
    (body..rest.len())
        .find(|place| rest.get(*place) == Some(&b'"') && closes(*place))
        .map(|place| at + place + 1 + hashes)
}

/// The place after the character literal at `at`; `None` when the quote opens a lifetime or symbol.
pub(crate) fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at + 1..)?;
    if rest.first() == Some(&b'\\') {
        let close = rest.iter().skip(2).position(|b| matches!(b, b'\'' | b'\n'))? + 2;
        return (rest.get(close) == Some(&b'\'')).then_some(at + 1 + close + 1);
    }
    let width = match rest.first()? {
        b'\n' | b'\'' => return None,
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    (rest.get(width) == Some(&b'\'')).then_some(at + 1 + width + 1)
}

/// The place after the regular expression whose slash stands at `at`, flags included.
pub(crate) fn regex_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut place = at + 1;
    let mut class = false;
    loop {
        match *bytes.get(place)? {
            b'\n' => return None,
            b'\\' => place += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => break,
            _ => {}
        }
        place += 1;
    }
    let flags = bytes.get(place + 1..)?.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    Some(place + 1 + flags)
}

/// The place after the brace that closes an interpolation whose code starts at `at`.
fn hole_end(language: Language, bytes: &[u8], mut at: usize, depth: usize) -> Option<usize> {
    let mut open = 1_usize;
    // After a colon at the outermost level Python and C# have a format, where quotes are letters.
    let formats = matches!(language, Language::Python | Language::CSharp);
    let mut format = false;
    loop {
        match *bytes.get(at)? {
            b'{' | b'(' | b'[' => open += 1,
            b'}' | b')' | b']' if open == 1 => {
                return (bytes.get(at) == Some(&b'}')).then_some(at + 1);
            }
            b'}' | b')' | b']' => open -= 1,
            b':' if formats && open == 1 => format = true,
            b'"' if format && open == 1 => return None,
            b'\'' if format && open == 1 => {}
            b'"' | b'\'' | b'`' => {
                at = nested_end(language, bytes, at, depth + 1)?;
                continue;
            }
            b'/' if language != Language::Python => {
                at = slash_end(language, bytes, at)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// A slash inside an interpolation: a comment, a regular expression, or an operator.
fn slash_end(language: Language, bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1) {
        Some(b'*') => {
            let close = bytes.get(at + 2..)?.windows(2).position(|two| two == b"*/")?;
            Some(at + 2 + close + 2)
        }
        Some(b'/') => bytes.get(at..)?.iter().position(|b| *b == b'\n').map(|line_end| at + line_end),
        _ if language.is_script() => {
            let before = bytes.get(..at)?.iter().rev().find(|b| !b.is_ascii_whitespace())?;
            if b"(,=:[!&|?{};+-*%~^<>".contains(before) { regex_end(bytes, at) } else { Some(at + 1) }
        }
        Some(_) | None => Some(at + 1),
    }
}
