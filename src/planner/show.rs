//! Plans as a person or a machine reads them: exact command lines, with placeholders instead of machine paths.
//!
//! In: a job. Out: [`Shown`]. I/O: none.

use std::time::Duration;

use polymut_adapters::{
    CommandSpec, Facts, Find, Job, Key, Limits, Piece, PlanError, ProjectSettings, Role, Stage, Step, Tree,
    Units,
};
use polymut_schemas::{LineSet, ProjectId, RepoDir, RepoPath, StageName, ToolId};
use serde::Serialize;

use super::PlannedJob;

/// One job as `polymut plan` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// The project.
    pub project: ProjectId,
    /// The tool.
    pub tool: ToolId,
    /// The version that the command lines are for: the configured one, else the pinned one. A run asks the tool itself.
    pub version: String,
    /// Where it starts.
    pub dir: RepoDir,
    /// Changed lines per file.
    pub files: Vec<ShownFile>,
    /// Stages in order.
    pub stages: Vec<ShownStage>,
}

/// A changed file of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownFile {
    /// The file.
    pub path: RepoPath,
    /// Its changed lines.
    pub lines: LineSet,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownStage {
    /// The stage.
    pub stage: StageName,
    /// Its steps.
    pub steps: Vec<ShownStep>,
    /// Why the stage cannot be shown beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownStep {
    /// The step.
    pub name: String,
    /// fetch, build, baseline or work.
    pub role: &'static str,
    /// Folder it starts in.
    pub cwd: RepoDir,
    /// The command, quoted for a shell to read.
    pub line: String,
    /// The same in two parts, for pages that name a variable once: variables, command.
    #[serde(skip)]
    pub parts: (Vec<String>, String),
}

/// The stages of a job as far as they are known before anything has run.
pub fn show(job: &PlannedJob, tree: &Tree, settings: &ProjectSettings) -> Shown {
    let version = settings.version.clone().unwrap_or_else(|| job.adapter.info().recipe.version.to_owned());
    let facts = Facts([("tool.version".to_owned(), vec![version.clone()])].into());
    let limits = Limits { factor: 5.0, floor: Duration::from_secs(20), baseline: None };
    let view = Job {
        project: &job.project,
        tree,
        settings,
        changed: &job.changed,
        facts: &facts,
        limits: &limits,
        past: &[],
    };
    let chosen = Units::Mutants(vec![Key("<chosen>".to_owned())]);
    let whole = Units::Files(job.changed.files.keys().cloned().collect());
    let mut stages = Vec::new();
    let mut listed = true;
    for stage in [Stage::Probe, Stage::Prepare, Stage::List] {
        match job.adapter.plan(&view, stage) {
            Ok(Some(plan)) => stages.push(shown(stage.name(), &plan.steps)),
            Ok(None) => listed = listed && stage.name() != StageName::List,
            Err(error) => stages.push(later(stage.name(), why(&error))),
        }
    }
    let test = Stage::Test(if listed { &chosen } else { &whole });
    match job.adapter.plan(&view, test) {
        Ok(Some(plan)) if plan.steps.is_empty() => {
            stages.push(later(StageName::Test, "known after the earlier stages".to_owned()));
        }
        Ok(Some(plan)) => stages.push(shown(StageName::Test, &plan.steps)),
        Ok(None) => stages.push(later(StageName::Test, "this tool has no test stage".to_owned())),
        Err(error) => stages.push(later(StageName::Test, why(&error))),
    }
    let files = job.changed.files.iter();
    Shown {
        project: job.project.id(),
        tool: job.project.tool.clone(),
        version,
        dir: job.project.dir.clone(),
        files: files
            .map(|(path, file)| ShownFile { path: path.clone(), lines: file.lines.clone() })
            .collect(),
        stages,
    }
}

fn shown(stage: StageName, steps: &[Step]) -> ShownStage {
    let steps = steps
        .iter()
        .map(|step| ShownStep {
            name: step.name.clone(),
            role: role(step.role),
            cwd: step.command.cwd.clone(),
            line: command_line(&step.command),
            parts: (variables(&step.command), words(&step.command)),
        })
        .collect();
    ShownStage { stage, steps, later: None }
}

fn later(stage: StageName, why: String) -> ShownStage {
    ShownStage { stage, steps: Vec::new(), later: Some(why) }
}

/// What a plan lacks now, an earlier stage of a run finds out.
fn why(error: &PlanError) -> String {
    match error {
        PlanError::Missing { missing, .. } => format!("known after the earlier stages: it needs {missing}"),
        PlanError::Version { .. } | PlanError::UserConfig { .. } | PlanError::Setting { .. } => {
            error.to_string()
        }
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Fetch => "fetch",
        Role::Build => "build",
        Role::Baseline => "baseline",
        Role::Work => "work",
    }
}

/// A command for a reader: variables first, then words quoted for a shell; machine paths are placeholders.
pub fn command_line(command: &CommandSpec) -> String {
    let mut parts = variables(command);
    parts.push(words(command));
    parts.join(" ")
}

fn variables(command: &CommandSpec) -> Vec<String> {
    command.env.iter().map(|(name, value)| format!("{name}={}", quote(&joined(value)))).collect()
}

fn words(command: &CommandSpec) -> String {
    let mut words = vec![program(&command.program)];
    words.extend(command.args.iter().map(|word| quote(&joined(word))));
    words.join(" ")
}

fn program(finds: &[Find]) -> String {
    finds.first().map_or_else(String::new, |find| match find {
        Find::OnPath(name) => (*name).to_owned(),
        Find::Named(name) => name.clone(),
        Find::Upward(_, path) => (*path).to_owned(),
        Find::Store(path) => format!("{{store}}/{path}"),
    })
}

fn joined(word: &[Piece]) -> String {
    word.iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Sandbox(path) if path.is_root() => "{sandbox}".to_owned(),
            Piece::Sandbox(path) => format!("{{sandbox}}/{path}"),
            Piece::Work(path) => format!("{{work}}/{path}"),
            Piece::Store(path) => format!("{{store}}/{path}"),
            Piece::Inherit(name) => format!("${name}"),
            Piece::Cores => "{cores}".to_owned(),
        })
        .collect()
}

/// Quotes as little as a reader needs: placeholders stay bare.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+{}$".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
