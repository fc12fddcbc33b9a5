//! What a round is fed with: the recorded ends of its steps and the recorded files.
//!
//! In: a case folder. Out: [`Input`], [`Setting`]. I/O: reads fixtures.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use polymut_adapters::{
    BaselineLimits, Changed, ChangedFile, End, Facts, Key, Limits, OperatorSet, Output, Place, Project,
    ProjectSettings, Ran, StepEnd, Tree, WorkPath,
};
use polymut_schemas::{LineRange, LineSet, RepoDir, RepoPath, ScopeWidth};

use crate::case::{Case, CaseSpec, FileSpec, RoundSpec, StepSpec};

/// Everything that one round leaves.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) ran: Ran,
    /// For `import`.
    pub(crate) named: Vec<(String, Vec<u8>)>,
}

/// What holds for the whole case.
pub(crate) struct Setting {
    pub(crate) tree: Tree,
    pub(crate) project: Project,
    pub(crate) settings: ProjectSettings,
    pub(crate) changed: Changed,
    pub(crate) limits: Limits,
    pub(crate) facts: Facts,
}

/// Reads the recorded bytes of a round.
pub(crate) fn read_input(case: &Case, round: &RoundSpec) -> Input {
    let mut input = Input { ran: Ran::default(), named: Vec::new() };
    input.ran.steps = round.step.iter().map(|step| step_end(&case.dir, step)).collect();
    for file in &round.file {
        for (at, bytes) in expand(&case.dir, file) {
            if round.stage == "import" {
                input.named.push((at, bytes));
            } else {
                input.ran.files.push((place(&at), bytes));
            }
        }
    }
    input.ran.files.sort();
    input
}

/// Reads what holds for the whole case and lets the adapter detect its project.
pub(crate) fn read_setting(case: &Case) -> Setting {
    let spec = &case.spec;
    let repo = spec.repo.as_ref().map(|repo| case.dir.parent().expect("a tool folder").join(repo));
    let tree = repo.as_deref().map(|repo| read_tree(case, repo)).unwrap_or_default();
    Setting {
        project: project(case, &tree),
        changed: changed(spec, repo.as_deref()),
        settings: settings(spec),
        limits: Limits {
            factor: spec.limits.factor,
            floor: Duration::from_secs_f64(spec.limits.floor),
            baseline: spec
                .limits
                .baseline
                .map(|seconds| BaselineLimits { wall: Duration::from_secs_f64(seconds) }),
        },
        facts: Facts(spec.facts.clone()),
        tree,
    }
}

fn project(case: &Case, tree: &Tree) -> Project {
    let dir = RepoDir::new(&case.spec.project).expect("a folder as `project`");
    if case.spec.repo.is_none() {
        let tool = case.adapter.info().tool_id();
        return Project { tool, owns: vec![dir.clone()], dir, memo: case.spec.memo.clone() };
    }
    let found = case.adapter.detect(tree);
    let dirs: Vec<String> = found.iter().map(|project| project.dir.to_string()).collect();
    found
        .into_iter()
        .find(|project| project.dir == dir)
        .unwrap_or_else(|| panic!("{}: detect finds {dirs:?}, but not `{dir}`", case.name))
}

fn settings(spec: &CaseSpec) -> ProjectSettings {
    let operators = match spec.settings.operators.as_deref() {
        Some("logic") => OperatorSet::Logic,
        Some("all") => OperatorSet::All,
        Some("default") | None => OperatorSet::Default,
        Some(other) => panic!("`operators = \"{other}\"`"),
    };
    ProjectSettings {
        version: spec.settings.version.clone(),
        args: spec.settings.args.clone(),
        env: spec.settings.env.clone(),
        test_command: spec.settings.test_command.clone(),
        operators,
    }
}

fn read_tree(case: &Case, repo: &Path) -> Tree {
    let reads: Vec<globset::GlobMatcher> = case
        .adapter
        .info()
        .reads
        .iter()
        .map(|glob| globset::Glob::new(glob).expect("a glob in `reads`").compile_matcher())
        .collect();
    let mut files = Vec::new();
    let mut bytes = BTreeMap::new();
    for name in files_below(repo) {
        let path = RepoPath::new(&name).expect("a repository path");
        if reads.iter().any(|glob| glob.is_match(path.file_name())) {
            bytes.insert(path.clone(), read(&repo.join(&name)));
        }
        files.push(path);
    }
    Tree::new(files, bytes)
}

fn changed(spec: &CaseSpec, repo: Option<&Path>) -> Changed {
    let mut files = BTreeMap::new();
    for (path, lines) in &spec.changed {
        let bytes = repo.map(|repo| read(&repo.join(path))).unwrap_or_default();
        let added = lines == "all";
        let lines = if added { all_lines(&bytes) } else { line_set(lines) };
        files.insert(RepoPath::new(path).expect("a path in `changed`"), ChangedFile { lines, bytes, added });
    }
    Changed { files, width: ScopeWidth::Line }
}

fn all_lines(bytes: &[u8]) -> LineSet {
    let newlines = String::from_utf8_lossy(bytes).lines().count() + 1;
    LineSet::from_ranges([LineRange { first: 1, last: u32::try_from(newlines).unwrap_or(u32::MAX) }])
}

fn line_set(text: &str) -> LineSet {
    LineSet::from_ranges(text.split(',').map(|range| {
        let (first, last) = range.trim().split_once('-').unwrap_or((range.trim(), range.trim()));
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("`{text}` in `changed`"));
        LineRange { first: number(first), last: number(last) }
    }))
}

fn step_end(dir: &Path, step: &StepSpec) -> StepEnd {
    let output = |name: &Option<String>| Output {
        bytes: name.as_ref().map(|name| read(&dir.join(name))).unwrap_or_default(),
        lost: 0,
    };
    StepEnd {
        name: step.name.clone(),
        about: step.about.clone().map(Key),
        end: end(step),
        wall: Duration::from_secs_f64(step.wall),
        stdout: output(&step.stdout),
        stderr: output(&step.stderr),
    }
}

fn end(step: &StepSpec) -> End {
    match (step.exit, step.end.as_deref()) {
        (Some(code), None) => End::Exit(code),
        (None, Some("limit")) => End::Limit,
        (None, Some("out_of_memory")) => End::OutOfMemory,
        (None, Some("stopped")) => End::Stopped,
        (None, Some("no_program")) => End::NoProgram,
        (None, Some(text)) => {
            let number = text.strip_prefix("signal ").and_then(|number| number.parse().ok());
            End::Signal(number.unwrap_or_else(|| panic!("step {}: end `{text}`", step.name)))
        }
        (Some(_), Some(_)) | (None, None) => panic!("step {}: give `exit` or `end`", step.name),
    }
}

fn place(text: &str) -> Place {
    match text.split_once(':') {
        Some(("work", path)) => Place::Work(WorkPath::new(path).expect("a work path")),
        Some(("sandbox", path)) => Place::Sandbox(RepoDir::new(path).expect("a repository path")),
        Some(_) | None => panic!("`at = \"{text}\"`: write work:PATH or sandbox:PATH"),
    }
}

fn expand(dir: &Path, file: &FileSpec) -> Vec<(String, Vec<u8>)> {
    let from = dir.join(&file.from);
    if !from.is_dir() {
        return vec![(file.at.clone(), read(&from))];
    }
    files_below(&from)
        .into_iter()
        .map(|name| {
            let bytes = read(&from.join(&name));
            let slash = if file.at.is_empty() || file.at.ends_with(':') { "" } else { "/" };
            (format!("{}{slash}{name}", file.at), bytes)
        })
        .collect()
}

/// Files below `dir` with `/` between parts, sorted.
fn files_below(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![String::new()];
    while let Some(at) = open.pop() {
        let entries = std::fs::read_dir(dir.join(&at));
        for entry in entries.unwrap_or_else(|error| panic!("{}/{at}: {error}", dir.display())) {
            let entry = entry.expect("a readable folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if at.is_empty() { name } else { format!("{at}/{name}") };
            if entry.path().is_dir() { open.push(name) } else { names.push(name) }
        }
    }
    names.sort();
    names
}

/// The bytes of a fixture file.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
