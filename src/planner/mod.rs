//! Which projects the change touches, which tool runs in each, and what nobody claims.
//!
//! In: scope, tree, adapters, what the user chose. Out: [`Assignment`]. I/O: none. Stations 2 and 3 of 8.
//!
//! # Invariants
//! - A changed source file ends in a job, or is named with the reason why not; none is forgotten.
//! - Of one tool the deepest claim on a file wins, or the deepest ones where projects share it; of two tools that claim
//!   a file the configured one runs; a command of the project's own stands in place of both.

mod show;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use polymut_adapters::adapter::OwnCommand;
use polymut_adapters::{Adapter, Changed, ChangedFile, Project, Tree};
use polymut_schemas::{FileChange, OutsideReason, ProjectId, RepoDir, RepoPath, Scope, ScopeFile};

pub use show::{Shown, ShownStage, command_line, show};

use crate::sources::Sources;

/// What narrows the projects: command line and `polymut.toml`.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// `--project` globs over the project folder or id; empty: all.
    pub projects: Vec<String>,
    /// `--tool` names; empty: all.
    pub tools: Vec<String>,
    /// `[[project]] path = …, tool = …` in order: glob over the project folder, tool.
    pub configured: Vec<(String, String)>,
    /// `[[project]]` entries with a command of their own: folder and command.
    pub own: Vec<(RepoDir, OwnCommand)>,
}

/// One tool on one project for this scope.
#[derive(Clone)]
pub struct PlannedJob {
    /// The tool.
    pub adapter: &'static dyn Adapter,
    /// The project.
    pub project: Project,
    /// New side of its changed files.
    pub changed: Changed,
}

/// The jobs of a scope, and the scope with its claims.
pub struct Assignment {
    /// One per project with changed lines, sorted by project id.
    pub jobs: Vec<PlannedJob>,
    /// The scope; each file names its projects or why it has none.
    pub scope: Scope,
}

/// The projects cannot be assigned.
#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// Two tools claim one project and nothing says which runs.
    #[error("{} claim the same files, such as `{file}`, in `{dir}`", tools.join(" and "))]
    TwoTools {
        /// The tools.
        tools: Vec<String>,
        /// A file that both claim.
        file: RepoPath,
        /// The folder.
        dir: String,
    },
    /// A glob that cannot be read.
    #[error("`{glob}` is not a glob: {why}")]
    Glob {
        /// As given.
        glob: String,
        /// What is wrong.
        why: String,
    },
    /// A tool that polymut does not know.
    #[error("`{0}` is not a tool that polymut drives")]
    UnknownTool(String),
    /// `format` of a project's own command names no reader.
    #[error("`{0}` is not a format that polymut reads")]
    UnknownFormat(String),
    /// `--project` matched nothing.
    #[error("no project matches `{0}`")]
    NoSuchProject(String),
}

impl PlannerError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TwoTools { dir, tools, .. } => Some(format!(
                "say which one runs, with `--tool` or in polymut.toml:\n[[project]]\npath = \"{dir}\"\ntool = \"{}\"",
                tools.first().map_or("", String::as_str)
            )),
            Self::UnknownTool(_) => {
                let known: Vec<&str> =
                    polymut_adapters::tools::REGISTRY.iter().map(|adapter| adapter.info().id).collect();
                Some(format!("tools: {}", known.join(", ")))
            }
            Self::UnknownFormat(_) => {
                let known: Vec<&str> = polymut_adapters::own::formats().collect();
                Some(format!("formats: {}", known.join(", ")))
            }
            Self::NoSuchProject(_) => Some("`polymut plan` lists the projects of a change".to_owned()),
            Self::Glob { .. } => None,
        }
    }
}

/// Every project of the tree by tool, after the user's choice.
pub fn projects(
    tree: &Tree,
    adapters: &[&'static dyn Adapter],
    choice: &Choice,
) -> Result<Vec<(&'static dyn Adapter, Project)>, PlannerError> {
    for tool in choice.tools.iter().chain(choice.configured.iter().map(|(_, tool)| tool)) {
        if !adapters.iter().any(|adapter| adapter.info().id == tool) {
            return Err(PlannerError::UnknownTool(tool.clone()));
        }
    }
    let wanted = globs(&choice.projects)?;
    let chosen = |adapter: &&'static dyn Adapter| {
        choice.tools.is_empty() || choice.tools.iter().any(|tool| tool == adapter.info().id)
    };
    let mut found: Vec<(&'static dyn Adapter, Project)> = Vec::new();
    for adapter in adapters.iter().copied().filter(|adapter| chosen(adapter)) {
        found.extend(adapter.detect(tree).into_iter().map(|project| (adapter, project)));
    }
    for (dir, own) in &choice.own {
        let known = polymut_adapters::own::project(dir.clone(), own);
        let (adapter, project) = known.ok_or_else(|| PlannerError::UnknownFormat(own.format.clone()))?;
        found.extend(chosen(&adapter).then_some((adapter, project)));
    }
    found.retain(|(_, project)| {
        choice.projects.is_empty()
            || wanted.is_match(project.dir.to_string())
            || wanted.is_match(project.id().as_str())
    });
    if let (true, Some(glob)) = (found.is_empty(), choice.projects.first()) {
        return Err(PlannerError::NoSuchProject(glob.clone()));
    }
    Ok(found)
}

/// Gives each changed file to the project that owns it.
pub fn assign(
    scope: &Scope,
    tree: &Tree,
    sources: &Sources,
    adapters: &[&'static dyn Adapter],
    choice: &Choice,
) -> Result<Assignment, PlannerError> {
    let projects = projects(tree, adapters, choice)?;
    let narrowed = !choice.projects.is_empty() || !choice.tools.is_empty();
    let mut jobs: BTreeMap<ProjectId, PlannedJob> = BTreeMap::new();
    let mut scope = scope.clone();
    let width = scope.width;
    for file in &mut scope.files {
        if file.lines.is_empty() || file.outside.is_some() {
            continue;
        }
        let claims = settle(claims(&projects, &file.path), &file.path, choice)?;
        if claims.is_empty() {
            file.outside = Some(unclaimed(file, adapters, narrowed));
            continue;
        }
        if claims.iter().all(|(adapter, project)| adapter.is_test(project, &file.path)) {
            file.outside = Some(OutsideReason::Test);
        }
        for (adapter, project) in claims {
            file.projects.push(project.id());
            if file.outside.is_some() {
                continue;
            }
            let job = jobs.entry(project.id()).or_insert_with(|| PlannedJob {
                adapter,
                project: project.clone(),
                changed: Changed { files: BTreeMap::new(), width },
            });
            let bytes = sources.bytes(&file.path).unwrap_or_default().to_vec();
            let added = matches!(file.change, FileChange::Added | FileChange::Whole);
            job.changed
                .files
                .insert(file.path.clone(), ChangedFile { lines: file.lines.clone(), bytes, added });
        }
    }
    Ok(Assignment { jobs: jobs.into_values().collect(), scope })
}

type Claim<'a> = (&'static dyn Adapter, &'a Project);

/// Per tool the projects that own `path` most deeply: several, where they share a file. A command of the project's own
/// stands in place of every tool.
fn claims<'a>(projects: &'a [(&'static dyn Adapter, Project)], path: &RepoPath) -> Vec<Claim<'a>> {
    let mut deepest: BTreeMap<(bool, &str), (usize, Vec<Claim<'a>>)> = BTreeMap::new();
    for (adapter, project) in projects {
        let ending = path.extension().is_some_and(|ext| adapter.info().extensions.contains(&ext));
        let depth = project.owns.iter().filter(|dir| dir.contains(path)).map(|dir| dir.depth() + 1).max();
        let (true, Some(depth)) = (ending, depth) else { continue };
        let best = deepest.entry((!project.is_own(), adapter.info().id)).or_default();
        match depth.cmp(&best.0) {
            Ordering::Greater => *best = (depth, vec![(*adapter, project)]),
            Ordering::Equal => best.1.push((*adapter, project)),
            Ordering::Less => {}
        }
    }
    let own = deepest.keys().next().is_some_and(|(detected, _)| !detected);
    let wanted = deepest.into_iter().filter(|((detected, _), _)| *detected != own);
    wanted.flat_map(|(_, (_, claims))| claims).collect()
}

/// Of several tools on one file: the one that `polymut.toml` names, else the only one with its own configuration.
fn settle<'a>(
    claims: Vec<Claim<'a>>,
    path: &RepoPath,
    choice: &Choice,
) -> Result<Vec<Claim<'a>>, PlannerError> {
    let tools: BTreeSet<&str> = claims.iter().map(|(adapter, _)| adapter.info().id).collect();
    if tools.len() < 2 {
        return Ok(claims);
    }
    for (glob, tool) in choice.configured.iter().rev() {
        let matcher = globs(std::slice::from_ref(glob))?;
        let named: Vec<Claim<'a>> = claims
            .iter()
            .filter(|(adapter, project)| {
                adapter.info().id == tool && matcher.is_match(project.dir.to_string())
            })
            .copied()
            .collect();
        if !named.is_empty() {
            return Ok(named);
        }
    }
    let configured: Vec<Claim<'a>> =
        claims.iter().filter(|(_, project)| project.is_configured()).copied().collect();
    if configured.len() == 1 {
        return Ok(configured);
    }
    let tools: BTreeSet<String> = claims.iter().map(|(adapter, _)| adapter.info().id.to_owned()).collect();
    let dir = claims.first().map_or_else(String::new, |(_, project)| project.dir.to_string());
    Err(PlannerError::TwoTools { tools: tools.into_iter().collect(), file: path.clone(), dir })
}

fn unclaimed(file: &ScopeFile, adapters: &[&'static dyn Adapter], narrowed: bool) -> OutsideReason {
    let source = file
        .path
        .extension()
        .is_some_and(|ext| adapters.iter().any(|adapter| adapter.info().extensions.contains(&ext)));
    match (source, narrowed) {
        (true, false) => OutsideReason::Unclaimed,
        (true, true) => OutsideReason::NotChosen,
        (false, _) => OutsideReason::NotSource,
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, PlannerError> {
    let mut set = GlobSetBuilder::new();
    let wrong =
        |glob: &str, why: &globset::Error| PlannerError::Glob { glob: glob.to_owned(), why: why.to_string() };
    for pattern in patterns {
        let clean = pattern.trim_end_matches('/');
        let glob =
            GlobBuilder::new(clean).literal_separator(true).build().map_err(|why| wrong(pattern, &why))?;
        set.add(glob);
    }
    set.build().map_err(|why| wrong(&patterns.join(", "), &why))
}
