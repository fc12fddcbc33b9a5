//! The user's own configuration of mutmut, checked before it can do harm, and the one that polymut writes instead.
//!
//! In: `pyproject.toml`, `setup.cfg`, the changed files. Out: a `pyproject.toml`. I/O: none.

use std::collections::BTreeSet;

use polymut_schemas::{RepoDir, RepoPath};
use toml::{Table, Value};

use super::glob::{escape, matches};
use crate::tools::python::{ini_section, is_test, packages, toml_file};
use crate::{Job, PlanError};

/// Keys that hold lists of text. mutmut takes a text in their place letter by letter: of `"src/"` the letter `/` is
/// the whole machine.
const LISTS: &[&str] = &[
    "source_paths",
    "paths_to_mutate",
    "only_mutate",
    "do_not_mutate",
    "do_not_mutate_patterns",
    "also_copy",
    "pytest_add_cli_args",
    "pytest_add_cli_args_test_selection",
    "tests_dir",
    "type_check_command",
    "cache_invalidation_files",
    "cache_invalidation_exclude",
];

/// Keys whose paths decide where mutmut writes.
const PATHS: &[&str] = &["source_paths", "paths_to_mutate", "also_copy"];

/// The most files that a folder beside the sources may have to be copied along.
const COPIED: usize = 2000;

/// What the user set.
#[derive(Debug, Default)]
pub(super) struct UserConfig {
    table: Table,
}

impl UserConfig {
    /// Reads and checks it.
    pub(super) fn read(job: &Job<'_>) -> Result<Self, PlanError> {
        let dir = &job.project.dir;
        let (mut table, mut file) = (Table::new(), "pyproject.toml");
        let own = toml_file(job.tree, dir, file)?.and_then(|mut toml| toml.remove("tool"));
        match own.as_ref().and_then(|tool| tool.get("mutmut")) {
            Some(Value::Table(own)) => table.clone_from(own),
            Some(_) => return Err(refused(dir, file, "`tool.mutmut` is no table")),
            None => {
                file = "setup.cfg";
                let text = job.tree.bytes_in(dir, file).map(String::from_utf8_lossy).unwrap_or_default();
                table.extend(
                    ini_section(&text, "mutmut").into_iter().map(|(key, text)| ini_value(key, &text)),
                );
            }
        }
        let config = Self { table };
        config.check(dir, file)?;
        Ok(config)
    }

    fn check(&self, dir: &RepoDir, file: &str) -> Result<(), PlanError> {
        for key in LISTS {
            let texts = |items: &Vec<Value>| items.iter().all(Value::is_str);
            match self.table.get(*key) {
                None => {}
                Some(Value::Array(items)) if texts(items) => {}
                Some(Value::String(text)) => {
                    let why = format!("`{key}` is a text, which mutmut reads letter by letter");
                    return Err(remedied(dir, file, &why, &format!("{key} = [\"{text}\"]")));
                }
                Some(_) => return Err(refused(dir, file, &format!("`{key}` is no list of texts"))),
            }
        }
        for key in PATHS {
            for path in self.list(key) {
                harmless(path).map_err(|why| refused(dir, file, &format!("`{key}` has `{path}`, {why}")))?;
            }
        }
        Ok(())
    }

    /// The texts of a list.
    pub(super) fn list(&self, key: &str) -> Vec<&str> {
        let items = self.table.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The user's source paths, without `./` and trailing slashes.
    fn sources(&self) -> Vec<String> {
        let new = self.list("source_paths");
        let paths = if new.is_empty() { self.list("paths_to_mutate") } else { new };
        paths.into_iter().filter_map(|path| RepoPath::new(path).ok()).map(|path| path.to_string()).collect()
    }

    /// Why the user's configuration leaves a file (relative to the project) out; `None` when it does not.
    pub(super) fn leaves_out(&self, relative: &str) -> Option<&'static str> {
        let sources = self.sources();
        let below = |source: &String| {
            relative == source
                || relative.strip_prefix(source.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        let only = self.list("only_mutate");
        if !sources.is_empty() && !sources.iter().any(below) {
            Some("source_paths")
        } else if !only.is_empty() && !only.iter().any(|pattern| matches(pattern, relative)) {
            Some("only_mutate")
        } else if self.list("do_not_mutate").iter().any(|pattern| matches(pattern, relative)) {
            Some("do_not_mutate")
        } else {
            None
        }
    }

    /// Which tests run: words for pytest.
    pub(super) fn selection(&self) -> Vec<String> {
        let words = self.list("pytest_add_cli_args_test_selection").into_iter().chain(self.list("tests_dir"));
        words.map(str::to_owned).collect()
    }

    /// Words that pytest always gets: the user's, and those without which the plugins of the project mislead mutmut.
    pub(super) fn pytest_words(&self, job: &Job<'_>) -> Vec<String> {
        let mut words: Vec<String> = self
            .list("pytest_add_cli_args")
            .into_iter()
            .map(str::to_owned)
            .chain(job.settings.args.clone())
            .collect();
        // xdist runs the tests in processes whose calls mutmut never sees; a coverage limit fails on half a suite;
        // a shuffled suite gives another answer each time.
        let plugins = [("pytest-xdist", ["-n0"]), ("pytest-cov", ["--no-cov"])];
        for (plugin, extra) in plugins {
            if job.facts.one(&format!("python.{plugin}")).is_some() {
                words.extend(extra.iter().map(|word| (*word).to_owned()));
            }
        }
        words.extend(["-p", "no:randomly"].map(str::to_owned));
        words
    }
}

/// The changed files of the project that mutmut is to mutate, relative to it, and those left out by the user.
pub(super) struct Chosen {
    /// Relative paths.
    pub(super) files: Vec<String>,
    /// Relative path and the key that leaves it out.
    pub(super) left_out: Vec<(String, &'static str)>,
}

impl Chosen {
    /// Sorts the changed files.
    pub(super) fn of(job: &Job<'_>, user: &UserConfig) -> Self {
        let mut chosen = Self { files: Vec::new(), left_out: Vec::new() };
        for path in job.changed.files.keys() {
            let Some(relative) = job.project.dir.relative(path) else { continue };
            match user.leaves_out(relative) {
                None => chosen.files.push(relative.to_owned()),
                Some(key) => chosen.left_out.push((relative.to_owned(), key)),
            }
        }
        chosen
    }
}

/// The `pyproject.toml` that mutmut runs with: the project's own, with another `[tool.mutmut]`.
pub(super) fn pyproject(job: &Job<'_>, user: &UserConfig, chosen: &Chosen) -> Result<Vec<u8>, PlanError> {
    let dir = &job.project.dir;
    let mut file = toml_file(job.tree, dir, "pyproject.toml")?.unwrap_or_default();
    let mut own = user.table.clone();
    // mutmut matches a test folder below its working folder; a list of ours would only repeat it.
    for gone in ["paths_to_mutate", "tests_dir", "log_to_file", "log_file_path"] {
        own.remove(gone);
    }
    let sources = source_paths(job, user, chosen);
    let copied = also_copy(job, user, &sources);
    let limit = job.limits.test().map_or(60.0, |limit| limit.as_secs_f64());
    let mut set = |key: &str, value: Value| own.insert(key.to_owned(), value);
    set("source_paths", texts(sources));
    set("also_copy", texts(copied));
    set("only_mutate", texts(chosen.files.iter().map(|file| escape(file)).collect()));
    set("pytest_add_cli_args", texts(user.pytest_words(job)));
    set("pytest_add_cli_args_test_selection", texts(user.selection()));
    // A mutant gets what the whole suite may take: mutmut's own estimate leaves fixtures out, and a limit that is too
    // short reads as a kill.
    set("timeout_multiplier", Value::Float(1.0));
    set("timeout_constant", Value::Float(limit));
    // These would hide mutants, wake stale verdicts, or write elsewhere.
    set("mutate_only_covered_lines", Value::Boolean(false));
    set("track_dependencies", Value::Boolean(false));
    set("use_git_change_detection", Value::Boolean(false));
    set("on_dependency_change", Value::String("ignore".to_owned()));
    set("debug", Value::Boolean(false));
    let tool = file.entry("tool").or_insert_with(|| Value::Table(Table::new()));
    let Some(tool) = tool.as_table_mut() else {
        return Err(refused(dir, "pyproject.toml", "`tool` is no table"));
    };
    tool.insert("mutmut".to_owned(), Value::Table(own));
    Ok(file.to_string().into_bytes())
}

/// Where the code is: what the user says, else every top folder and module that is no test.
fn source_paths(job: &Job<'_>, user: &UserConfig, chosen: &Chosen) -> Vec<String> {
    let own = user.sources();
    if !own.is_empty() {
        return own;
    }
    let dir = &job.project.dir;
    let nested = packages(job.tree);
    let mut tops: BTreeSet<String> = chosen.files.iter().map(|file| top(file).to_owned()).collect();
    for path in job.tree.below(dir) {
        let python = path.extension() == Some("py");
        let Some(relative) = dir.relative(path).filter(|_| python) else { continue };
        let foreign =
            nested.iter().any(|other| other != dir && dir.contains_dir(other) && other.contains(path));
        let package = relative == format!("{}/__init__.py", top(relative)) || top(relative) == "src";
        let module = !relative.contains('/') && !matches!(relative, "setup.py" | "noxfile.py" | "tasks.py");
        if (package || module) && !foreign && !is_test(dir, path) {
            tops.insert(top(relative).to_owned());
        }
    }
    tops.into_iter().collect()
}

/// What else the tests may read: everything that lies beside the sources.
fn also_copy(job: &Job<'_>, user: &UserConfig, sources: &[String]) -> Vec<String> {
    let dir = &job.project.dir;
    let nested = packages(job.tree);
    let mut sizes = std::collections::BTreeMap::<&str, usize>::new();
    for path in job.tree.below(dir) {
        let Some(relative) = dir.relative(path) else { continue };
        let foreign =
            nested.iter().any(|other| other != dir && dir.contains_dir(other) && other.contains(path));
        *sizes.entry(top(relative)).or_default() += if foreign { COPIED + 1 } else { 1 };
    }
    let beside = sizes.into_iter().filter(|(name, size)| {
        *size <= COPIED
            && !name.starts_with('.')
            && !matches!(*name, "mutants" | "pyproject.toml")
            && !sources.iter().any(|source| top(source) == *name)
    });
    let mut all: BTreeSet<String> = beside.map(|(name, _)| name.to_owned()).collect();
    all.extend(user.list("also_copy").into_iter().map(str::to_owned));
    all.into_iter().collect()
}

fn top(relative: &str) -> &str {
    relative.split('/').next().unwrap_or(relative)
}

fn texts(items: Vec<String>) -> Value {
    Value::Array(items.into_iter().map(Value::String).collect())
}

/// A value of `setup.cfg` as mutmut takes it: lists are split at line ends, everything else is a scalar.
fn ini_value(key: String, text: &str) -> (String, Value) {
    let value = if LISTS.contains(&key.as_str()) {
        texts(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    } else if matches!(text.to_lowercase().as_str(), "true" | "false" | "t" | "f") {
        Value::Boolean(text.to_lowercase().starts_with('t'))
    } else if let Ok(number) = text.parse::<i64>() {
        Value::Integer(number)
    } else if let Ok(number) = text.parse::<f64>() {
        Value::Float(number)
    } else {
        Value::String(text.to_owned())
    };
    (key, value)
}

/// Why a path would make mutmut write where it must not.
fn harmless(path: &str) -> Result<(), String> {
    match RepoPath::new(path) {
        Ok(_) => Ok(()),
        Err(polymut_schemas::PathError::Empty) => {
            Err("the folder itself: mutmut would copy its own output into itself".to_owned())
        }
        Err(error) => Err(format!("outside of the project ({error}): mutmut would overwrite that file")),
    }
}

fn refused(dir: &RepoDir, file: &str, why: &str) -> PlanError {
    remedied(dir, file, why, "give a list of paths below the project's folder, such as [\"src\"]")
}

fn remedied(dir: &RepoDir, file: &str, why: &str, remedy: &str) -> PlanError {
    let file = dir.join(file).map_or_else(|_| file.to_owned(), |path| path.to_string());
    PlanError::UserConfig { file, why: why.to_owned(), remedy: remedy.to_owned() }
}
