//! Where cosmic-ray can run, the user's own configuration, and the one that polymut writes.
//!
//! In: the tree, the changed files. Out: projects, a configuration. I/O: none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use globset::GlobBuilder;
use polymut_schemas::{RepoDir, RepoPath};
use toml::{Table, Value};

use super::{ID, INFO};
use crate::tools::python::{packages, toml_file};
use crate::{Job, PlanError, Project, Tree};

/// Memo key: the file in the project's folder that holds the user's configuration.
const CONFIG: &str = "cosmic-ray.config";

/// Every Python package with code, and every folder with a configuration of the tool.
pub(super) fn detect(tree: &Tree) -> Vec<Project> {
    let configs = configs(tree);
    let dirs: BTreeSet<RepoDir> = packages(tree).into_iter().chain(configs.keys().cloned()).collect();
    dirs.into_iter()
        .map(|dir| {
            let mut memo = BTreeMap::new();
            if let Some(name) = configs.get(&dir) {
                memo.insert(Project::CONFIGURED.to_owned(), Vec::new());
                memo.insert(CONFIG.to_owned(), vec![name.clone()]);
            }
            Project { tool: INFO.tool_id(), owns: vec![dir.clone()], dir, memo }
        })
        .collect()
}

/// The configuration of each folder; of several the one with the tool's own name.
fn configs(tree: &Tree) -> BTreeMap<RepoDir, String> {
    let mut found: BTreeMap<RepoDir, String> = BTreeMap::new();
    for path in tree.files().filter(|path| path.extension() == Some("toml")) {
        let Some(bytes) = tree.bytes(path) else { continue };
        let table = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Table>().ok());
        if !table.is_some_and(|table| table.contains_key(ID)) {
            continue;
        }
        let name = path.file_name().to_owned();
        let best = found.entry(path.dir()).or_insert_with(|| name.clone());
        if name == "cosmic-ray.toml" {
            *best = name;
        }
    }
    found
}

/// What the user set, and what follows for this job.
pub(super) struct Config {
    user: Table,
    /// Changed files that are to be mutated, relative to the project.
    pub(super) files: Vec<String>,
    /// Changed files that the user leaves out, with the key that does.
    pub(super) left_out: Vec<(String, &'static str)>,
    /// Changed files that the tool would rewrite in another encoding.
    pub(super) unreadable: Vec<String>,
    /// The words of the test command.
    pub(super) command: Vec<String>,
}

impl Config {
    /// Reads it.
    pub(super) fn read(job: &Job<'_>) -> Result<Self, PlanError> {
        let user = match job.project.memo.get(CONFIG).and_then(|names| names.first()) {
            Some(name) => toml_file(job.tree, &job.project.dir, name)?
                .and_then(|mut file| file.remove(ID))
                .and_then(|value| value.as_table().cloned())
                .unwrap_or_default(),
            None => Table::new(),
        };
        let command = command(job, &user)?;
        let mut config =
            Self { user, files: Vec::new(), left_out: Vec::new(), unreadable: Vec::new(), command };
        config.choose(job);
        Ok(config)
    }

    fn choose(&mut self, job: &Job<'_>) {
        for (path, file) in &job.changed.files {
            let Some(relative) = job.project.dir.relative(path) else { continue };
            if let Some(key) = self.leaves_out(relative) {
                self.left_out.push((relative.to_owned(), key));
            } else if std::str::from_utf8(&file.bytes).is_ok() {
                self.files.push(relative.to_owned());
            } else {
                self.unreadable.push(relative.to_owned());
            }
        }
    }

    fn leaves_out(&self, relative: &str) -> Option<&'static str> {
        let modules = self.texts("module-path");
        let below = |module: &String| match RepoPath::new(module) {
            Ok(path) => {
                relative == path.as_str()
                    || relative.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
            }
            // The folder itself, or one that leads out of the project: not ours to judge.
            Err(_) => true,
        };
        if !modules.is_empty() && !modules.iter().any(below) {
            return Some("module-path");
        }
        let excluded = self.texts("excluded-modules").into_iter().any(|glob| {
            let glob = glob.strip_prefix("./").unwrap_or(&glob).to_owned();
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            glob.is_ok_and(|glob| glob.compile_matcher().is_match(relative))
        });
        excluded.then_some("excluded-modules")
    }

    fn texts(&self, key: &str) -> Vec<String> {
        match self.user.get(key) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Whether the user excludes operators.
    pub(super) fn filters_operators(&self) -> bool {
        let filters = self.user.get("filters").and_then(|filters| filters.get("operators-filter"));
        filters
            .and_then(|filter| filter.get("exclude-operators"))
            .and_then(Value::as_array)
            .is_some_and(|items| !items.is_empty())
    }

    /// The configuration file for one run.
    pub(super) fn bytes(&self, limit: Duration) -> Vec<u8> {
        let text = |text: &str| Value::String(text.to_owned());
        let mut own = Table::new();
        own.insert(
            "module-path".to_owned(),
            Value::Array(self.files.iter().map(|file| text(file)).collect()),
        );
        own.insert("timeout".to_owned(), Value::Float(limit.as_secs_f64()));
        own.insert("excluded-modules".to_owned(), Value::Array(Vec::new()));
        let words = self.command.iter().map(String::as_str);
        own.insert("test-command".to_owned(), text(&shlex::try_join(words).unwrap_or_default()));
        let local = Table::from_iter([("name".to_owned(), text("local"))]);
        own.insert("distributor".to_owned(), Value::Table(local));
        if let Some(filters) = self.user.get("filters").filter(|_| self.filters_operators()) {
            own.insert("filters".to_owned(), filters.clone());
        }
        Table::from_iter([(ID.to_owned(), Value::Table(own))]).to_string().into_bytes()
    }
}

/// The test command: what polymut.toml says, else the tool's own configuration, else pytest.
fn command(job: &Job<'_>, user: &Table) -> Result<Vec<String>, PlanError> {
    if let Some(words) = job.settings.test_command.as_ref().filter(|words| !words.is_empty()) {
        return Ok(words.clone());
    }
    let Some(text) = user.get("test-command").and_then(Value::as_str) else {
        return Ok(["python", "-m", "pytest", "-x", "-q"].map(str::to_owned).to_vec());
    };
    shlex::split(text).filter(|words| !words.is_empty()).ok_or_else(|| PlanError::UserConfig {
        file: job.project.dir.join("cosmic-ray.toml").map_or_else(|_| ID.to_owned(), |path| path.to_string()),
        why: format!("`test-command = {text:?}` cannot be split into words"),
        remedy: "the command is no shell line: write `sh -c \"…\"` where it needs one".to_owned(),
    })
}
