//! Commands of a job: Node with one of polymut's scripts, and the project's own test command.
//!
//! In: a [`Job`]. Out: [`CommandSpec`]s and [`Step`]s. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::RepoDir;

use super::{memo, prepare, scripts};
use crate::{CommandSpec, Find, Job, NewFile, Piece, Role, Step, StorePath};

/// Where the store keeps Stryker: tool, version that the project asks for, else the pinned one.
pub(super) fn store(job: &Job<'_>) -> StorePath {
    let version = job.settings.version.as_deref().unwrap_or(super::INFO.recipe.version);
    // A version that is no folder name has no folder, and the store's own is looked at in vain.
    StorePath::new(format!("{}/{version}", super::INFO.id)).unwrap_or_default()
}

/// A step that runs one of the scripts with Node.
pub(super) fn script(job: &Job<'_>, name: &str, script: &str, words: Vec<Vec<Piece>>) -> Step {
    let dir = job.project.dir.clone();
    let mut env = common_env(job);
    env.insert("POLYMUT_STRYKER_CORES".to_owned(), vec![Piece::Cores]);
    env.insert("POLYMUT_STRYKER_STORE".to_owned(), vec![Piece::Store(store(job))]);
    let args = std::iter::once(scripts::word(script)).chain(words).collect();
    Step {
        name: name.to_owned(),
        about: None,
        role: Role::Work,
        files: Vec::new(),
        command: CommandSpec { program: vec![Find::OnPath("node")], args, cwd: dir, env },
        go_on: &[0],
        limit: None,
    }
}

/// Adds files to a step.
pub(super) fn with(mut step: Step, files: Vec<NewFile>) -> Step {
    step.files = files;
    step
}

/// `CI` keeps runners from watching, from asking, and from writing snapshots. A Node that npm installed for the project
/// comes first on `PATH`, for Stryker and the suite alike.
pub(super) fn common_env(job: &Job<'_>) -> BTreeMap<String, Vec<Piece>> {
    let mut env: BTreeMap<String, Vec<Piece>> = [("CI", "true"), ("NO_UPDATE_NOTIFIER", "1")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Piece::word(value)))
        .collect();
    if job.project.memo.contains_key(memo::NODE) {
        let dirs = [Some(job.project.dir.clone()), prepare::root(job.project)];
        let bins = dirs.into_iter().flatten().filter_map(|dir| dir.resolve("node_modules/.bin").ok());
        let mut path: Vec<Piece> =
            bins.flat_map(|bin| [Piece::Sandbox(bin), Piece::Text(":".to_owned())]).collect();
        path.push(Piece::Inherit("PATH"));
        env.insert("PATH".to_owned(), path);
    }
    env
}

/// The suite without mutants: where its program is and its words.
pub(super) struct Suite {
    pub(super) program: Vec<Find>,
    /// The program's name and its words.
    pub(super) words: Vec<String>,
}

/// The project's test command: the setting, else the runner itself, else what Stryker's command runner would run.
pub(super) fn suite(job: &Job<'_>) -> Suite {
    if let Some(words) = job.settings.test_command.as_ref().filter(|words| !words.is_empty()) {
        return Suite { program: vec![Find::OnPath("env")], words: named("env", words.iter().cloned()) };
    }
    let dir = &job.project.dir;
    let mut suite = match runner(job) {
        "vitest" => binary(dir, "node_modules/.bin/vitest", &["vitest", "run"]),
        "jest" => binary(dir, "node_modules/.bin/jest", &["jest"]),
        _ => return script_of(job),
    };
    if let Some(config) = job.facts.one("runner.config") {
        suite.words.extend(["--config".to_owned(), config.to_owned()]);
    }
    suite
}

/// The test runner: as probed, else as the manifest says.
pub(super) fn runner<'a>(job: &Job<'a>) -> &'a str {
    let remembered = || job.project.memo.get(memo::RUNNER).and_then(|values| values.first());
    job.facts.one("runner").or_else(|| remembered().map(String::as_str)).unwrap_or("command")
}

fn binary(dir: &RepoDir, path: &'static str, words: &[&str]) -> Suite {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Suite { program: vec![Find::Upward(dir.clone(), path)], words }
}

/// The package's test script, or the command that the project's Stryker configuration names, which is a shell's.
fn script_of(job: &Job<'_>) -> Suite {
    match job.facts.one("command") {
        Some(command) if command != "npm test" => Suite {
            program: vec![Find::OnPath("sh")],
            words: named("sh", ["-c".to_owned(), command.to_owned()]),
        },
        Some(_) | None => {
            Suite { program: vec![Find::OnPath("npm")], words: named("npm", ["test".to_owned()]) }
        }
    }
}

fn named(program: &str, words: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(program.to_owned()).chain(words).collect()
}

impl Suite {
    /// The suite as a step of its own.
    pub(super) fn step(self, job: &Job<'_>, name: &str, role: Role) -> Step {
        Step {
            name: name.to_owned(),
            about: None,
            role,
            files: Vec::new(),
            command: CommandSpec {
                program: self.program,
                args: self.words.into_iter().skip(1).map(Piece::word).collect(),
                cwd: job.project.dir.clone(),
                env: common_env(job),
            },
            go_on: &[0],
            limit: None,
        }
    }
}
