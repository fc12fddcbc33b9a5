//! The user's own Stryker.NET configuration, and the one that polymut writes in its place.
//!
//! In: `stryker-config.json`, `.yaml` or `.yml`. Out: [`UserConfig`], bytes of a configuration. I/O: none.
//!
//! polymut always passes a file of its own: a `since` or `baseline` in the user's cannot be switched off on the command
//! line, and an unknown key ends the tool. What says how to mutate and test is carried over; what says where, and what
//! to do with the result, is not.

use globset::GlobBuilder;
use polymut_schemas::{RepoDir, RepoPath};
use serde_json::{Map, Value, json};

use super::detect::Memo;
use super::operators;
use crate::formats::text;
use crate::{Job, OperatorSet, PlanError, Tree};

/// Names that the tool looks for.
pub(super) const NAMES: &[&str] = &["stryker-config.json", "stryker-config.yml", "stryker-config.yaml"];

/// Keys of the user that stay.
const KEPT: &[&str] = &[
    "additional-timeout",
    "configuration",
    "coverage-analysis",
    "disable-bail",
    "disable-mix-mutants",
    "ignore-methods",
    "ignore-mutations",
    "language-version",
    "mutation-level",
    "target-framework",
    "test-case-filter",
    "timeout-ratio",
];

const ROOT: &str = "stryker-config";

/// What the user says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct UserConfig(Map<String, Value>);

/// The user's file for a project: beside its tests, beside the source, or above it.
pub(super) fn find<'a>(
    tree: &Tree,
    beside: impl IntoIterator<Item = &'a RepoDir>,
    source: &RepoDir,
) -> Option<RepoPath> {
    let above = std::iter::successors(source.parent(), RepoDir::parent);
    let dirs = beside.into_iter().cloned().chain(above);
    dirs.flat_map(|dir| NAMES.iter().filter_map(move |name| dir.join(name).ok())).find(|path| tree.has(path))
}

impl UserConfig {
    /// Reads the project's file; a project without one says nothing.
    pub(super) fn read(job: &Job<'_>) -> Result<Self, PlanError> {
        let Some(path) = Memo(job.project).config() else { return Ok(Self::default()) };
        let bytes = job.tree.bytes(&path).unwrap_or_default();
        parse(&path, bytes).map_err(|why| PlanError::UserConfig {
            file: path.to_string(),
            why,
            remedy: "Stryker.NET cannot read it either; see its documentation of the configuration file"
                .to_owned(),
        })
    }

    /// Patterns of files that the user leaves out, without the mark.
    pub(super) fn excludes(&self) -> Vec<String> {
        let listed = self.0.get("mutate").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(|entry| entry.as_str()?.strip_prefix('!').map(str::to_owned)).collect()
    }

    /// Whether the user leaves out `relative`, a path below the project's folder, as a whole or in part.
    pub(super) fn leaves_out(&self, relative: &str) -> bool {
        self.excludes().iter().any(|pattern| {
            let glob = pattern.split('{').next().unwrap_or_default();
            let glob = GlobBuilder::new(glob).literal_separator(true).build();
            // The tool also matches the absolute path, of which only `**/` can be known here.
            glob.is_ok_and(|glob| glob.compile_matcher().is_match(relative))
        })
    }

    /// `vstest` or `mtp`, when the user chose.
    pub(super) fn runner(&self) -> Option<&str> {
        self.text("test-runner")
    }

    /// The build configuration, when the user chose.
    pub(super) fn build(&self) -> Option<&str> {
        self.text("configuration")
    }

    /// Which tests count, in the words of `dotnet test --filter`, when the user chose.
    pub(super) fn filter(&self) -> Option<&str> {
        self.text("test-case-filter")
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    /// The configuration of a run that tests the mutants of `files`.
    pub(super) fn testing(&self, job: &Job<'_>, files: &[RepoPath]) -> Vec<u8> {
        let mut table = self.kept();
        let set = job.settings.operators;
        if set == OperatorSet::All {
            table.insert("mutation-level".to_owned(), json!("Complete"));
        }
        let mut ignored: Vec<Value> =
            table.remove("ignore-mutations").and_then(|value| value.as_array().cloned()).unwrap_or_default();
        if set == OperatorSet::Logic {
            ignored.extend(operators::beyond_logic().map(|kind| json!(kind)));
        }
        if !ignored.is_empty() {
            table.insert("ignore-mutations".to_owned(), Value::Array(ignored));
        }
        table.entry("additional-timeout").or_insert_with(|| json!(job.limits.floor.as_millis()));
        self.file(job, table, files)
    }

    /// The configuration of a run that puts every mutant into the assembly, lists those of `files` and tests none:
    /// a mutant whose kind is ignored is in the assembly all the same (seen with 5.1.0).
    pub(super) fn injecting(&self, job: &Job<'_>, files: &[RepoPath]) -> Vec<u8> {
        let mut table = self.kept();
        table.insert("ignore-mutations".to_owned(), json!(operators::KINDS));
        table.insert("coverage-analysis".to_owned(), json!("off"));
        if job.settings.operators == OperatorSet::All {
            table.insert("mutation-level".to_owned(), json!("Complete"));
        }
        self.file(job, table, files)
    }

    fn kept(&self) -> Map<String, Value> {
        let kept = self.0.iter().filter(|(key, _)| KEPT.contains(&key.as_str()));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn file(&self, job: &Job<'_>, mut table: Map<String, Value>, files: &[RepoPath]) -> Vec<u8> {
        let excludes = self.excludes().into_iter().map(|pattern| format!("!{pattern}"));
        let patterns: Vec<String> =
            files.iter().map(|path| pattern(&job.project.dir, path)).chain(excludes).collect();
        table.insert("mutate".to_owned(), json!(patterns));
        let mut bytes = serde_json::to_vec_pretty(&json!({ ROOT: table })).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// The pattern that matches exactly `path`: the tool matches paths relative to the project's folder, and absolute
/// ones, of which the repository's part is known.
fn pattern(dir: &RepoDir, path: &RepoPath) -> String {
    let escaped = |text: &str| -> String {
        text.chars()
            .map(|letter| match letter {
                '[' | '*' | '?' => format!("[{letter}]"),
                other => other.to_string(),
            })
            .collect()
    };
    match dir.relative(path) {
        Some(relative) => escaped(relative),
        None => format!("**/{}", escaped(path.as_str())),
    }
}

fn parse(path: &RepoPath, bytes: &[u8]) -> Result<UserConfig, String> {
    let text = text::decode(path.as_str(), bytes).map_err(|error| error.to_string())?;
    let value: Value = if path.extension() == Some("json") {
        serde_json::from_str(&without_comments(&text)).map_err(|error| error.to_string())?
    } else {
        serde_norway::from_str(&text).map_err(|error| error.to_string())?
    };
    match value.get(ROOT).and_then(Value::as_object) {
        Some(table) => Ok(UserConfig(table.clone())),
        None => Err(format!("it has no `{ROOT}` object")),
    }
}

/// JSON without `//` and `/* */`, which the tool skips. Line ends stay, so that errors name the right line.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => string_end(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let comment = &rest[..rest.find("*/").map_or(rest.len(), |at| at + 2)];
                out.extend(comment.chars().filter(|letter| *letter == '\n'));
                rest = &rest[comment.len()..];
                continue;
            }
            other => other.len_utf8(),
        };
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

/// Where the string at the start of `text` ends.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> UserConfig {
        parse(&RepoPath::new(name).unwrap(), text.as_bytes()).unwrap()
    }

    #[test]
    fn json_with_comments_and_yaml_say_the_same() {
        let json = read(
            "stryker-config.json",
            "{ // mine\n\"stryker-config\": { /* a\n */ \"mutate\": [\"**/*.cs\", \"!**/Gen/*.cs\"], \"test-runner\": \"mtp\", \
             \"dashboard-url\": \"https://a/b\" } }",
        );
        let yaml = read(
            "stryker-config.yaml",
            "stryker-config:\n  mutate: ['**/*.cs', '!**/Gen/*.cs']\n  test-runner: mtp\n  dashboard-url: https://a/b\n",
        );
        assert_eq!(json, yaml);
        assert_eq!((json.excludes(), json.runner()), (vec!["**/Gen/*.cs".to_owned()], Some("mtp")));
        assert!(json.leaves_out("x/Gen/A.cs") && json.leaves_out("Gen/A.cs") && !json.leaves_out("x/A.cs"));
    }

    #[test]
    fn a_file_without_its_root_is_an_error() {
        let path = RepoPath::new("stryker-config.json").unwrap();
        assert!(parse(&path, b"{\"mutate\": []}").is_err());
        assert!(parse(&path, b"{\"stryker-config\": {").is_err());
    }

    #[test]
    fn a_pattern_matches_brackets_as_they_stand() {
        let dir = RepoDir::new("src/A").unwrap();
        let path = |text: &str| RepoPath::new(text).unwrap();
        assert_eq!(pattern(&dir, &path("src/A/x/[id].cs")), "x/[[]id].cs");
        assert_eq!(pattern(&dir, &path("shared/B.cs")), "**/shared/B.cs");
    }

    #[test]
    fn the_nearest_file_beside_the_tests_wins() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let tree = Tree::new([path("stryker-config.json"), path("t/stryker-config.yml")], [].into());
        let (tests, source) = (RepoDir::new("t").unwrap(), RepoDir::new("s/A").unwrap());
        assert_eq!(find(&tree, [&tests, &source], &source), Some(path("t/stryker-config.yml")));
        assert_eq!(find(&tree, [&source], &source), Some(path("stryker-config.json")));
    }
}
