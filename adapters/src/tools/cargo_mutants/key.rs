//! Names of mutants: the adapter's keys, and the pattern that selects exactly some of them.
//!
//! In: package and name as the tool writes them. Out: [`Key`], regex text. I/O: none.

use std::collections::BTreeMap;

use crate::Key;

/// Gives each mutant of one run its key. The ordinal tells mutants with one name apart: a module that two targets
/// of a package compile is listed and tested once per target, always in the same order.
#[derive(Default)]
pub(super) struct Keys {
    seen: BTreeMap<(String, String), u32>,
}

impl Keys {
    pub(super) fn next(&mut self, package: &str, name: &str) -> Key {
        let ordinal = self.seen.entry((package.to_owned(), name.to_owned())).or_default();
        *ordinal += 1;
        Key(format!("{package}#{ordinal} {name}"))
    }
}

/// The tool's name inside a key.
pub(super) fn name_of(key: &Key) -> &str {
    key.0.split_once(' ').map_or(key.0.as_str(), |(_, name)| name)
}

/// A name taken apart: `src/lib.rs`, `5:7`, ` replace + with * in add`.
pub(super) fn split(name: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in name.match_indices(':') {
        let rest = &name[at + 1..];
        let end = rest.find(": ")?;
        if let Some((line, column)) = rest[..end].split_once(':')
            && is_number(line)
            && is_number(column)
        {
            return Some((&name[..at], &rest[..end], &rest[end + 1..]));
        }
    }
    None
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Patterns that together match exactly `names`: one per file, with common parts written once, because the tool
/// compiles them into one automaton of limited size and a set of a thousand patterns is slow (seen with 27.1.0).
pub(super) fn patterns<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut files: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut odd = Vec::new();
    for name in names {
        match split(name) {
            Some((file, place, change)) => {
                let changes = files.entry(file).or_default().entry(place).or_default();
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
            None => odd.push(format!("^{}$", escape(name))),
        }
    }
    let mut patterns: Vec<String> = files.iter().map(|(file, places)| file_pattern(file, places)).collect();
    patterns.extend(odd);
    patterns
}

fn file_pattern(file: &str, places: &BTreeMap<&str, Vec<&str>>) -> String {
    let places: Vec<String> = places
        .iter()
        .map(|(place, changes)| {
            let changes: Vec<String> = changes.iter().map(|change| escape(change)).collect();
            format!("{place}:(?:{})", changes.join("|"))
        })
        .collect();
    format!("^{}:(?:{})$", escape(file), places.join("|"))
}

/// A text as a regex that matches only it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character.is_ascii_punctuation()
            && !matches!(
                character,
                '/' | '_' | '"' | '\'' | ',' | ';' | '=' | '!' | '@' | '%' | '<' | '>' | ':' | '`'
            )
        {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use regex::RegexSet;

    use super::*;

    const NAMES: [&str; 6] = [
        "src/lib.rs:5:7: replace + with * in add",
        "src/lib.rs:5:7: replace + with - in add",
        "src/lib.rs:46:14: replace match guard x < 0 && loud with true in classify",
        "src/a[b]+c.rs:1:2: replace f -> Option<&'static str> with Some(\"x: 1:2: y\")",
        "src/lib.rs:9:1: replace <impl Fmt for A>::f -> String with \"xyzzy\".into()",
        "b/src/../../a/src/s.rs:1:22: replace f -> bool with true",
    ];

    #[test]
    fn a_pattern_matches_its_names_and_no_other() {
        for chosen in NAMES {
            let set = RegexSet::new(patterns([chosen])).unwrap();
            for name in NAMES {
                assert_eq!(set.is_match(name), name == chosen, "{chosen} against {name}");
            }
            assert!(!set.is_match(&format!("{chosen} more")));
        }
    }

    #[test]
    fn several_names_of_one_file_share_one_pattern() {
        let set = patterns(NAMES);
        assert_eq!(set.len(), 3);
        assert!(NAMES.iter().all(|name| RegexSet::new(&set).unwrap().is_match(name)));
    }

    #[test]
    fn names_are_split_at_their_first_place() {
        assert_eq!(split(NAMES[0]), Some(("src/lib.rs", "5:7", " replace + with * in add")));
        assert_eq!(split("c:/x.rs:1:2: y").map(|parts| parts.0), Some("c:/x.rs"));
        assert_eq!(split("no place"), None);
    }

    #[test]
    fn equal_names_get_ordinals() {
        let mut keys = Keys::default();
        assert_eq!(keys.next("a", "n").0, "a#1 n");
        assert_eq!(keys.next("a", "n").0, "a#2 n");
        assert_eq!(keys.next("b", "n").0, "b#1 n");
        assert_eq!(name_of(&Key("a#2 src/x.rs:1:1: y z".to_owned())), "src/x.rs:1:1: y z");
    }

    #[test]
    fn a_glob_of_a_path_matches_only_it() {
        let glob = globset::Glob::new(&globset::escape("app/[[id]]/{a}*!.rs")).unwrap().compile_matcher();
        assert!(glob.is_match("app/[[id]]/{a}*!.rs"));
        assert!(!glob.is_match("app/i/a!.rs"));
    }
}
