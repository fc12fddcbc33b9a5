//! Where functions begin and end, read from braces or indentation: for `--scope function`, ids and names where the
//! tool gives none.
//!
//! In: a file's text. Out: [`Function`]s in order of their first line. I/O: none.
//!
//! This is a reader's eye, not a parser: what it does not recognise has no enclosing function, and ids then fall
//! back to the file.

use polymut_schemas::{LineRange, RepoPath};

/// One function: its name and the lines from its header to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The bare name.
    pub name: String,
    /// Header to end, inclusive.
    pub lines: LineRange,
}

/// The functions of `text`, outer before inner.
pub fn functions(path: &RepoPath, text: &str) -> Vec<Function> {
    match path.extension() {
        Some("py") => by_indentation(text),
        Some(_) => by_braces(text),
        None => Vec::new(),
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn by_indentation(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.split('\n').collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let rest = trimmed.strip_prefix("async ").map_or(trimmed, str::trim_start);
        let Some(rest) = rest.strip_prefix("def ") else { continue };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let own = indent(line);
        let mut last = index;
        let mut header = !rest.contains(':');
        for (after, later) in lines.iter().enumerate().skip(index + 1) {
            if later.trim().is_empty() {
                continue;
            }
            if header {
                header = !later.trim_end().ends_with(':');
                last = after;
                continue;
            }
            if indent(later) <= own {
                break;
            }
            last = after;
        }
        found.push(Function { name, lines: LineRange { first: number(index), last: number(last) } });
    }
    found
}

/// Words that stand before `(…) {` without being a function's name.
const NOT_NAMES: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "match",
    "when",
    "synchronized",
    "using",
    "lock",
    "foreach",
    "return",
    "select",
    "else",
    "do",
    "try",
    "with",
    "fixed",
    "super",
    "this",
];

fn by_braces(text: &str) -> Vec<Function> {
    let masked = mask(text);
    let mut found: Vec<Function> = Vec::new();
    let mut open: Vec<Option<(String, u32)>> = Vec::new();
    let mut header = String::new();
    let mut header_line = 1;
    let mut line = 1_u32;
    let mut parens = 0_u32;
    for character in masked.chars() {
        match character {
            '\n' => {
                line += 1;
                header.push(' ');
            }
            '{' if parens == 0 => {
                open.push(function_name(&header).map(|name| (name, header_line)));
                header.clear();
            }
            '}' if parens == 0 => {
                if let Some(Some((name, first))) = open.pop() {
                    found.push(Function { name, lines: LineRange { first, last: line } });
                }
                header.clear();
            }
            ';' if parens == 0 => header.clear(),
            other => {
                match other {
                    '(' => parens += 1,
                    ')' => parens = parens.saturating_sub(1),
                    _ => {}
                }
                if header.trim().is_empty() && !other.is_whitespace() {
                    header.clear();
                    header_line = line;
                }
                header.push(other);
            }
        }
    }
    found.sort_by_key(|function| (function.lines.first, std::cmp::Reverse(function.lines.last)));
    found
}

/// The name in a header such as `pub fn name<T>(…) -> X`, `func (r *T) Name(…)`, `public int name(…) throws X` or
/// `const name = (…) =>`.
fn function_name(header: &str) -> Option<String> {
    let header = header.trim();
    for word in ["fn ", "func ", "fun ", "function ", "def "] {
        let after = header.split(word).nth(1).filter(|_| starts_word(header, word));
        if let Some(after) = after {
            let after = after.trim_start();
            // Go's receiver stands before the name.
            let after = match after.strip_prefix('(') {
                Some(rest) if word == "func " => {
                    rest.split_once(')').map_or("", |(_, tail)| tail.trim_start())
                }
                Some(_) | None => after,
            };
            let name = identifier(after.trim_start_matches('*').trim_start());
            if !name.is_empty() {
                return Some(name);
            }
        }
    }
    let arrow = header.ends_with("=>").then(|| header.split('=').next()).flatten();
    let before = match arrow {
        Some(left) => left.split(':').next().unwrap_or(left),
        None => header.split_once('(').filter(|_| header.contains(')')).map(|(left, _)| left)?,
    };
    let before = before.trim_end().trim_end_matches(['>', '<', ',']).trim_end();
    let name: String = before
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '$')
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let plain = !name.is_empty()
        && !name.chars().next().is_some_and(char::is_numeric)
        && !NOT_NAMES.contains(&name.as_str());
    let control = header.split_whitespace().next().is_some_and(|word| NOT_NAMES.contains(&word));
    (plain && !control && !before.contains(" new ") && !before.ends_with('.')).then_some(name)
}

fn starts_word(header: &str, word: &str) -> bool {
    header.find(word).is_some_and(|at| {
        header
            .get(..at)
            .and_then(|left| left.chars().next_back())
            .is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '$').collect()
}

/// The text with strings, character literals and comments blanked, line breaks kept.
fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' | '`' => string_end(rest, character),
            '\'' => char_end(rest),
            _ => 0,
        };
        if length == 0 {
            out.push(character);
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (gone, after) = rest.split_at(length);
        out.extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    out
}

fn string_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if quote == '"' => return at,
            other if other == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character literal ends within a few characters; a lifetime (`'a`) has no end and stays.
fn char_end(text: &str) -> usize {
    let line = text.split('\n').next().unwrap_or_default();
    let inner = line.get(1..).unwrap_or_default();
    if inner.starts_with('\\') {
        return inner.get(2..).and_then(|tail| tail.find('\'')).map_or(0, |at| at + 4);
    }
    inner
        .find('\'')
        .filter(|at| {
            inner.get(..*at).is_some_and(|body| {
                body.chars().count() == 1 || body.len() > 1 && !body.contains(['(', '{', '<', '>', ',', ' '])
            })
        })
        .map_or(0, |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<(String, u32, u32)> {
        functions(&RepoPath::new(path).unwrap(), text)
            .into_iter()
            .map(|f| (f.name, f.lines.first, f.lines.last))
            .collect()
    }

    #[test]
    fn rust_functions_are_found_with_generics_lifetimes_and_braces_in_strings() {
        let text = "impl<'a> X<'a> {\n    pub fn get<T>(&'a self) -> &'a str\n    where T: Y,\n    {\n        \"}{\"\n    }\n}\nfn b() { if x { y() } }\n";
        assert_eq!(names("x.rs", text), [("get".into(), 2, 6), ("b".into(), 8, 8)]);
    }

    #[test]
    fn methods_arrows_and_receivers_are_found() {
        assert_eq!(
            names(
                "a.ts",
                "export const price = (a: number): number => {\n  return a;\n};\nclass A {\n  async run(x) {\n    if (x) {\n    }\n  }\n}\n"
            ),
            [("price".into(), 1, 3), ("run".into(), 5, 8)]
        );
        assert_eq!(
            names("a.go", "func (r *Ring) Next(n int) (int, error) {\n\treturn n, nil\n}\n"),
            [("Next".into(), 1, 3)]
        );
        assert_eq!(
            names(
                "A.java",
                "class A {\n  @Override\n  public int of(List<String> a) throws X {\n    for (int i = 0; i < 3; i++) {\n    }\n    return 1;\n  }\n}\n"
            ),
            [("of".into(), 2, 7)]
        );
    }

    #[test]
    fn python_functions_end_where_the_indentation_does() {
        let text = "def a(\n    x,\n):\n    return x\n\n\nclass B:\n    async def c(self):\n        if x:\n            y\n\n    z = 1\n";
        assert_eq!(names("x.py", text), [("a".into(), 1, 4), ("c".into(), 8, 10)]);
    }
}
