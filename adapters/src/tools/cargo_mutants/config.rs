//! The user's settings of cargo-mutants, as the configuration that polymut generates and as words for cargo.
//!
//! In: `.cargo/mutants.toml`, the project's `args`. Out: [`Options`]. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::RepoDir;
use toml::{Table, Value};

use super::ID;
use super::detect::Package;
use crate::{Job, Piece, PlanError};

const FILE: &str = ".cargo/mutants.toml";

/// Keys that choose mutants. They decide at the list stage what is `ignored`, and nothing later.
const FILTERS: [&str; 4] = ["examine_globs", "examine_re", "exclude_globs", "exclude_re"];

/// Keys that polymut sets itself, or that contradict a sandbox of its own.
const OURS: [&str; 9] = [
    "output",
    "timeout_multiplier",
    "minimum_test_timeout",
    "build_timeout_multiplier",
    "copy_target",
    "copy_vcs",
    "gitignore",
    "sharding",
    "cap_lints",
];

/// What the user set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Options {
    /// Keys that are carried over, without filters.
    carried: Table,
    filters: Table,
    caps_lints: bool,
    /// The repository sets rustflags of its own, which those of the environment would displace.
    has_rustflags: bool,
}

/// Which packages' tests judge a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Suite {
    /// Those of the mutated package.
    Mutated,
    /// The whole workspace's.
    Workspace,
    /// Those of these packages.
    Named(Vec<String>),
}

/// A cargo command that the tool itself would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Builds tests.
    Build,
    /// Runs them.
    Test,
}

impl Options {
    /// Reads the user's file and the project's `args`.
    pub(super) fn read(job: &Job<'_>) -> Result<Self, PlanError> {
        let mut carried = match job.tree.bytes_in(&job.project.dir, FILE) {
            Some(bytes) => user_table(&job.project.dir, bytes)?,
            None => Table::new(),
        };
        words(&mut carried, &job.settings.args)?;
        let mut filters = Table::new();
        for key in FILTERS {
            filters.extend(carried.remove(key).filter(|value| !is_empty(value)).map(|v| (key.to_owned(), v)));
        }
        let asked = carried.get("cap_lints").and_then(Value::as_bool);
        for key in OURS {
            carried.remove(key);
        }
        let has_rustflags = sets_rustflags(job);
        let caps_lints = asked.unwrap_or_else(|| denies_lints(job) && !has_rustflags);
        Ok(Self { carried, filters, caps_lints, has_rustflags })
    }

    /// The same with denied lints as warnings, where that does no harm.
    pub(super) fn capped(&self) -> Self {
        Self { caps_lints: self.caps_lints || !self.has_rustflags, ..self.clone() }
    }

    /// Whether the user leaves mutants out.
    pub(super) fn has_filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// The configuration that examines `globs` and, with `patterns`, only mutants with such names.
    pub(super) fn exact(&self, globs: Vec<String>, patterns: Vec<String>) -> Vec<u8> {
        let mut table = self.carried.clone();
        let list = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
        table.insert("examine_globs".to_owned(), list(globs));
        if !patterns.is_empty() {
            table.insert("examine_re".to_owned(), list(patterns));
        }
        table.to_string().into_bytes()
    }

    /// The user's own choice of mutants.
    pub(super) fn users(&self) -> Vec<u8> {
        let mut table = self.carried.clone();
        table.extend(self.filters.clone());
        table.to_string().into_bytes()
    }

    /// Which tests judge.
    pub(super) fn suite(&self) -> Suite {
        let named = texts(&self.carried, "test_package");
        if self.carried.get("test_workspace").and_then(Value::as_bool) == Some(true) {
            Suite::Workspace
        } else if named.is_empty() {
            Suite::Mutated
        } else {
            Suite::Named(named)
        }
    }

    /// The words after `cargo`, as the tool composes them (27.1.0, `cargo_argv`), so that builds stay warm.
    pub(super) fn cargo(&self, verb: Verb, packages: &[String]) -> Vec<String> {
        let flag = |name: &str| self.carried.get(name).and_then(Value::as_bool) == Some(true);
        let nextest = self.uses_nextest();
        let mut words: Vec<String> = Vec::new();
        words.extend(
            if nextest { ["nextest", "run"].as_slice() } else { &["test"] }.iter().map(|w| (*w).to_owned()),
        );
        if verb == Verb::Build {
            words.push("--no-run".to_owned());
        }
        if let Some(profile) = self.carried.get("profile").and_then(Value::as_str) {
            words.push(format!("--{}={profile}", if nextest { "cargo-profile" } else { "profile" }));
        }
        words.push("--verbose".to_owned());
        words.extend(packages.iter().cloned());
        words.extend(flag("no_default_features").then(|| "--no-default-features".to_owned()));
        words.extend(flag("all_features").then(|| "--all-features".to_owned()));
        words.extend(texts(&self.carried, "features").iter().map(|name| format!("--features={name}")));
        words.extend(texts(&self.carried, "additional_cargo_args"));
        if verb == Verb::Test {
            words.extend(texts(&self.carried, "additional_cargo_test_args"));
        }
        words
    }

    /// Whether cargo-nextest runs the tests.
    pub(super) fn uses_nextest(&self) -> bool {
        self.carried.get("test_tool").and_then(Value::as_str) == Some("nextest")
    }

    /// The environment of every command; equal in all, or nothing would stay warm.
    pub(super) fn env(&self, job: &Job<'_>) -> BTreeMap<String, Vec<Piece>> {
        let mut env: BTreeMap<String, Vec<Piece>> = [
            ("CARGO_TERM_COLOR", "never"),
            ("NO_COLOR", "1"),
            ("RUST_BACKTRACE", "0"),
            // The tool sets these for tests, so that a snapshot test neither writes nor passes on a change.
            ("INSTA_UPDATE", "no"),
            ("INSTA_FORCE_PASS", "0"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Piece::word(value)))
        .collect();
        // With two compilers at once, which of them is heard first is chance: a library and its tests fail with other words.
        env.insert("CARGO_BUILD_JOBS".to_owned(), vec![Piece::Cores]);
        if let Ok(target) = job.project.dir.join("target") {
            env.insert("CARGO_TARGET_DIR".to_owned(), Piece::sandbox(&target));
        }
        if self.caps_lints {
            let flags = vec![Piece::Inherit("RUSTFLAGS"), Piece::Text(" --cap-lints=warn".to_owned())];
            env.insert("RUSTFLAGS".to_owned(), flags);
        }
        let own = job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value.clone())));
        env.extend(own);
        env
    }
}

/// `--package=NAME@VERSION` for each package.
pub(super) fn package_words<'a>(packages: impl IntoIterator<Item = &'a Package>) -> Vec<String> {
    packages.into_iter().map(|package| format!("--package={}", package.spec())).collect()
}

fn user_table(dir: &RepoDir, bytes: &[u8]) -> Result<Table, PlanError> {
    String::from_utf8_lossy(bytes).parse().map_err(|error: toml::de::Error| PlanError::UserConfig {
        file: dir.join(FILE).map(|path| path.to_string()).unwrap_or_default(),
        why: error.message().to_owned(),
        remedy: "correct the file; cargo-mutants would refuse it as well".to_owned(),
    })
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    let values = table.get(key).and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Takes over the words of `args` that have a key in the configuration.
fn words(table: &mut Table, args: &[String]) -> Result<(), PlanError> {
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            let more: Vec<String> = rest.by_ref().cloned().collect();
            for word in more {
                push(table, "additional_cargo_test_args", word);
            }
            return Ok(());
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if let Some(key) = flag_key(name) {
            let on = value.is_none_or(|value| value == "true");
            table.insert(key.to_owned(), Value::Boolean(on));
            continue;
        }
        let Some(key) = list_key(name) else { return Err(refused(word)) };
        let value = value.or_else(|| rest.next().cloned()).ok_or_else(|| refused(word))?;
        match key {
            "profile" | "test_tool" => {
                table.insert(key.to_owned(), Value::String(value));
            }
            "test_package" => value.split(',').for_each(|name| push(table, key, name.to_owned())),
            _ => push(table, key, value),
        }
    }
    Ok(())
}

fn flag_key(name: &str) -> Option<&'static str> {
    match name {
        "--all-features" => Some("all_features"),
        "--no-default-features" => Some("no_default_features"),
        "--test-workspace" => Some("test_workspace"),
        "--cap-lints" => Some("cap_lints"),
        "--skip-calls-defaults" => Some("skip_calls_defaults"),
        _ => None,
    }
}

fn list_key(name: &str) -> Option<&'static str> {
    match name {
        "--features" => Some("features"),
        "--profile" => Some("profile"),
        "--test-tool" => Some("test_tool"),
        "--test-package" => Some("test_package"),
        "--cargo-arg" | "-C" => Some("additional_cargo_args"),
        "--cargo-test-arg" => Some("additional_cargo_test_args"),
        "--error" => Some("error_values"),
        "--skip-calls" => Some("skip_calls"),
        _ => None,
    }
}

fn push(table: &mut Table, key: &str, text: String) {
    let held = table.entry(key.to_owned()).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(values) = held {
        values.push(Value::String(text));
    }
}

fn refused(word: &str) -> PlanError {
    PlanError::Setting {
        tool: ID,
        setting: format!("args: {word}"),
        why: "polymut chooses mutants, limits, folders and jobs itself; features, profile, test tool, test packages, \
              cargo arguments, error values and lints can be set"
            .to_owned(),
    }
}

/// Whether a crate of the project denies lints that a mutant trips over (an unused argument above all): such mutants
/// would read as unviable although a test could tell them apart.
fn denies_lints(job: &Job<'_>) -> bool {
    let strict = |text: &str| {
        ["deny(", "forbid("].iter().any(|word| {
            text.match_indices(word).any(|(at, _)| {
                let inside = text[at..].split(')').next().unwrap_or_default();
                inside.contains("warnings") || inside.contains("unused")
            })
        })
    };
    job.tree.below(&job.project.dir).any(|path| {
        let Some(bytes) = job.tree.bytes(path) else { return false };
        let text = String::from_utf8_lossy(bytes);
        match path.file_name() {
            "lib.rs" | "main.rs" => strict(&text),
            "Cargo.toml" => text.parse::<Table>().is_ok_and(|table| lints_deny(&table)),
            _ => false,
        }
    })
}

fn lints_deny(manifest: &Table) -> bool {
    let own = manifest.get("lints").and_then(|lints| lints.get("rust"));
    let shared = manifest.get("workspace").and_then(|w| w.get("lints")?.get("rust"));
    own.into_iter().chain(shared).filter_map(Value::as_table).flatten().any(|(name, level)| {
        let level = level.as_str().or_else(|| level.get("level")?.as_str()).unwrap_or_default();
        (name == "warnings" || name.starts_with("unused")) && ["deny", "forbid"].contains(&level)
    })
}

/// Whether a cargo configuration of the repository sets rustflags: those of the environment would displace them.
fn sets_rustflags(job: &Job<'_>) -> bool {
    job.tree.named("config.toml").any(|path| {
        let cargo = path.dir();
        cargo.as_path().file_name() == Some(".cargo")
            && cargo.parent().is_some_and(|parent| parent.contains_dir(&job.project.dir))
            && job.tree.bytes(path).is_some_and(|bytes| String::from_utf8_lossy(bytes).contains("rustflags"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(args: &[&str]) -> Result<Table, PlanError> {
        let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        let mut table = Table::new();
        words(&mut table, &args).map(|()| table)
    }

    #[test]
    fn words_become_keys_and_cargo_words() {
        let table = carried(&[
            "--features=a",
            "--features",
            "b",
            "--cap-lints",
            "--test-package",
            "x,y",
            "--",
            "--lib",
        ]);
        let options = Options { carried: table.unwrap(), ..Options::default() };
        assert_eq!(options.suite(), Suite::Named(vec!["x".to_owned(), "y".to_owned()]));
        let words = options.cargo(Verb::Test, &["--package=x@1.0.0".to_owned()]);
        assert_eq!(
            words,
            ["test", "--verbose", "--package=x@1.0.0", "--features=a", "--features=b", "--lib"]
        );
        let words = options.cargo(Verb::Build, &[]);
        assert_eq!(words, ["test", "--no-run", "--verbose", "--features=a", "--features=b"]);
    }

    #[test]
    fn words_that_polymut_decides_are_refused() {
        for word in
            ["--in-diff=x", "-j2", "--shard=1/2", "--iterate", "-o", "--re=x", "--file=src/a.rs", "--check"]
        {
            assert!(matches!(carried(&[word, "x"]), Err(PlanError::Setting { .. })), "{word}");
        }
    }

    #[test]
    fn denied_lints_are_found_in_manifests() {
        let denies = |text: &str| lints_deny(&text.parse().unwrap());
        assert!(denies("[lints.rust]\nwarnings = \"deny\"\n"));
        assert!(denies("[workspace.lints.rust]\nunused = { level = \"forbid\", priority = -1 }\n"));
        assert!(!denies("[lints.rust]\nunsafe_code = \"forbid\"\nunused = \"warn\"\n"));
    }
}
