//! What Java and Kotlin text says without a compiler: comments and literals blanked out, and the declared package.
//!
//! In: source text. Out: code of the same shape, a package name. I/O: none.

/// Comments become spaces, string and character literals become letters; line breaks stay where they are.
pub(crate) fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let rest = chars.get(at..).unwrap_or_default();
        let (length, filler) = match rest {
            ['/', '/', ..] => (until(rest, 2, &['\n']), ' '),
            ['/', '*', ..] => (past(rest, 2, &['*', '/']), ' '),
            ['"', '"', '"', ..] => (past(rest, 3, &['"', '"', '"']), 's'),
            ['"', ..] => (literal(rest, '"'), 's'),
            ['\'', ..] => (literal(rest, '\''), 's'),
            _ => {
                out.push(c);
                at += 1;
                continue;
            }
        };
        out.extend(rest.iter().take(length).map(|&c| if c == '\n' { c } else { filler }));
        at += length.max(1);
    }
    out
}

/// Length up to, without, `end`.
fn until(rest: &[char], from: usize, end: &[char]) -> usize {
    rest.iter().skip(from).position(|c| end.contains(c)).map_or(rest.len(), |found| from + found)
}

/// Length up to and with `end`.
fn past(rest: &[char], from: usize, end: &[char]) -> usize {
    let body = rest.get(from..).unwrap_or_default();
    body.windows(end.len())
        .position(|window| window == end)
        .map_or(rest.len(), |found| from + found + end.len())
}

/// Length of a literal; one that does not end on its line ends with the line.
fn literal(rest: &[char], quote: char) -> usize {
    let mut escaped = false;
    for (at, &c) in rest.iter().enumerate().skip(1) {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The declared package, dots between parts; empty when there is none.
pub(crate) fn package(text: &str) -> String {
    let code = blank(text.trim_start_matches('\u{feff}'));
    let mut rest = code.as_str();
    while let Some(found) = rest.find("package") {
        let (before, after) = (&rest[..found], &rest[found + "package".len()..]);
        let whole_word = !before.ends_with(is_name) && after.starts_with(char::is_whitespace);
        if whole_word {
            return name(after);
        }
        rest = after;
    }
    String::new()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '`')
}

/// A dotted name; blanks around its dots and Kotlin's backticks do not count.
fn name(text: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let part: String = rest.chars().take_while(|&c| is_name(c) && c != '.').collect();
        if part.is_empty() {
            break;
        }
        rest = rest.get(part.len()..).unwrap_or_default();
        parts.push(part.trim_matches('`').to_owned());
        match rest.trim_start_matches([' ', '\t']).strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None => break,
        }
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_read_past_comments_and_annotations() {
        let java = "/* package wrong; */\n// package wrong\n@Deprecated(since = \"package x\")\npackage com . acme;\nclass A {}";
        assert_eq!(package(java), "com.acme");
        let kotlin = "@file:JvmName(\"Tax\")\n\npackage com.`in`.tax\n\nfun a() = 1";
        assert_eq!(package(kotlin), "com.in.tax");
        assert_eq!(package("class A { int packages; }"), "");
    }

    #[test]
    fn blanking_keeps_every_line_break() {
        let text = "a /* x\ny */ \"{;\" 'c' '\\'' \"\"\"\n{\n\"\"\" b // {\n}";
        let code = blank(text);
        assert_eq!(code.matches('\n').count(), text.matches('\n').count());
        assert!(!code.contains(['{', ';', '"', '\'']), "{code}");
    }
}
