//! The configuration that polymut gives gremlins: everything that did not change is excluded, and of the project's own
//! file what says how its code builds and which operators it wants is carried over.
//!
//! In: the project's `.gremlins.yaml`, the tree, the wanted files. Out: YAML. I/O: none.
//!
//! A project's own file can turn the run into a dry one, lower limits or end it with thresholds; so it is never given
//! to the tool as it is. The reader below knows the block style that such files have: nested keys, lists, scalars.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use polymut_schemas::{RepoDir, RepoPath};

use super::detect::CONFIGS;
use crate::{Job, OperatorSet};

/// Operators by their names in the configuration, and whether they belong to the logic set.
const OPERATORS: [(&str, bool); 11] = [
    ("arithmetic-base", false),
    ("conditionals-boundary", true),
    ("conditionals-negation", true),
    ("increment-decrement", false),
    ("invert-assignments", false),
    ("invert-bitwise", false),
    ("invert-bwassign", false),
    ("invert-logical", true),
    ("invert-loopctrl", false),
    ("invert-negatives", false),
    ("remove-self-assignments", false),
];

/// What of the project's own file matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Own {
    /// Build tags.
    pub(crate) tags: Option<String>,
    /// Packages that coverage counts for.
    pub(crate) coverpkg: Option<String>,
    /// Excluded files.
    pub(crate) excludes: Vec<String>,
    /// Operators switched on or off.
    pub(crate) operators: BTreeMap<String, String>,
}

impl Own {
    /// The project's own file, as far as it has one.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        let found = CONFIGS.iter().find_map(|name| job.tree.bytes_in(&job.project.dir, name));
        let values = found.map(|bytes| flatten(&String::from_utf8_lossy(bytes))).unwrap_or_default();
        let one = |key: &str| {
            values.get(key).and_then(|list| list.first()).filter(|text| !text.is_empty()).cloned()
        };
        let operators = OPERATORS
            .iter()
            .filter_map(|(name, _)| Some(((*name).to_owned(), one(&format!("mutants.{name}.enabled"))?)))
            .collect();
        Self {
            tags: one("unleash.tags"),
            coverpkg: one("unleash.coverpkg"),
            excludes: values.get("unleash.exclude-files").cloned().unwrap_or_default(),
            operators,
        }
    }
}

/// The generated file for these changed files.
pub(crate) fn yaml(job: &Job<'_>, wanted: &BTreeSet<RepoPath>) -> Vec<u8> {
    let own = Own::of(job);
    let mut text = String::from("unleash:\n");
    for (key, value) in [("tags", &own.tags), ("coverpkg", &own.coverpkg)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {key}: {}", quoted(value));
        }
    }
    let mut excludes = own.excludes.clone();
    excludes.extend(others(job, wanted));
    if !excludes.is_empty() {
        text.push_str("  exclude-files:\n");
        for pattern in excludes {
            let _ = writeln!(text, "    - {}", quoted(&pattern));
        }
    }
    text.push_str("mutants:\n");
    for (name, logic) in OPERATORS {
        let enabled = match job.settings.operators {
            OperatorSet::All => Some("true".to_owned()),
            OperatorSet::Logic => Some(logic.to_string()),
            OperatorSet::Default => own.operators.get(name).cloned(),
        };
        if let Some(enabled) = enabled {
            let _ = writeln!(text, "  {name}:\n    enabled: {enabled}");
        }
    }
    if text.ends_with("mutants:\n") {
        text.truncate(text.len() - "mutants:\n".len());
    }
    text.into_bytes()
}

/// Patterns for all Go files of the module that are not wanted: whole folders where none below is.
fn others(job: &Job<'_>, wanted: &BTreeSet<RepoPath>) -> Vec<String> {
    let dir = &job.project.dir;
    let holds_wanted = |folder: &RepoDir| wanted.iter().any(|path| folder.contains(path));
    let mut patterns = BTreeSet::new();
    let go = job.tree.below(dir).filter(|path| path.extension() == Some("go"));
    for path in go.filter(|path| !wanted.contains(path) && !path.file_name().ends_with("_test.go")) {
        let mut cover: Option<RepoDir> = None;
        let mut folder = path.dir();
        while folder != *dir && !holds_wanted(&folder) {
            cover = Some(folder.clone());
            let Some(parent) = folder.parent() else { break };
            folder = parent;
        }
        let (text, end) = match &cover {
            Some(folder) => (folder.as_str(), "/"),
            None => (path.as_str(), "$"),
        };
        let inside = text.strip_prefix(dir.as_str()).unwrap_or(text).trim_start_matches('/');
        patterns.insert(format!("^{}{end}", escaped(inside)));
    }
    patterns.into_iter().collect()
}

/// A text as a regular expression for exactly it.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Scalars and lists of a block-style YAML file by dotted key.
fn flatten(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let content = without_comment(line);
        let trimmed = content.trim();
        if trimmed.is_empty() || trimmed == "---" {
            continue;
        }
        let indent = content.len() - content.trim_start().len();
        if let Some(item) = trimmed.strip_prefix("- ") {
            let key = joined(path.iter().filter(|(at, _)| *at <= indent));
            values.entry(key).or_default().push(scalar(item));
            continue;
        }
        let Some((key, value)) = trimmed.split_once(':') else { continue };
        path.retain(|(at, _)| *at < indent);
        path.push((indent, key.trim().trim_matches(['"', '\'']).to_owned()));
        let value = value.trim();
        let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let items: Vec<String> = match list {
            Some(items) => items.split(',').map(scalar).filter(|item| !item.is_empty()).collect(),
            None if value.is_empty() => continue,
            None => vec![scalar(value)],
        };
        values.insert(joined(path.iter()), items);
    }
    values
}

fn joined<'a>(path: impl Iterator<Item = &'a (usize, String)>) -> String {
    path.map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".")
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if at == 0 || line[..at].ends_with([' ', '\t']) => return &line[..at],
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some(_), _) => {}
        }
    }
    line
}

fn scalar(text: &str) -> String {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\\", "\\").replace("\\\"", "\""),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_style_is_read() {
        let text = "silent: true # yes\nunleash:\n  tags: \"e2e,unit\"\n  exclude-files:\n    - '_gen\\.go$'\n    - x # c\n  dry-run: true\nmutants:\n  invert-logical:\n    enabled: true\n";
        let values = flatten(text);
        assert_eq!(values["unleash.tags"], ["e2e,unit"]);
        assert_eq!(values["unleash.exclude-files"], ["_gen\\.go$", "x"]);
        assert_eq!(values["mutants.invert-logical.enabled"], ["true"]);
        assert_eq!(flatten("a: [b, 'c']\n")["a"], ["b", "c"]);
    }

    #[test]
    fn list_items_at_the_indent_of_their_key_are_read() {
        let values = flatten("unleash:\n  exclude-files:\n  - a\n  - b\n");
        assert_eq!(values["unleash.exclude-files"], ["a", "b"]);
    }
}
