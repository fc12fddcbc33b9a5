//! Which projects the change touches, which tool runs in each, and what nobody claims.
//!
//! In: scope, tree, adapters, what the user chose. Out: [`Assignment`]. I/O: none. Stations 2 and 3 of 8.
//!
//! # Invariants
//! - A changed source file ends in a job, or is named with the reason why not; none is forgotten.
//! - Of one tool the deepest claim on a file wins; of two tools that claim a file the configured one runs.

mod show;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use polymut_adapters::{Adapter, Changed, ChangedFile, Project, Tree};
use polymut_schemas::{FileChange, OutsideReason, ProjectId, RepoPath, Scope, ScopeFile};

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
    let mut found = Vec::new();
    for adapter in adapters {
        let chosen = choice.tools.is_empty() || choice.tools.iter().any(|tool| tool == adapter.info().id);
        if !chosen {
            continue;
        }
        for project in adapter.detect(tree) {
            let named = choice.projects.is_empty()
                || wanted.is_match(project.dir.to_string())
                || wanted.is_match(project.id().as_str());
            if named {
                found.push((*adapter, project));
            }
        }
    }
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

/// Per tool the project that owns `path` most deeply.
fn claims<'a>(projects: &'a [(&'static dyn Adapter, Project)], path: &RepoPath) -> Vec<Claim<'a>> {
    let mut deepest: BTreeMap<&str, (usize, Claim<'a>)> = BTreeMap::new();
    for (adapter, project) in projects {
        let ending = path.extension().is_some_and(|ext| adapter.info().extensions.contains(&ext));
        let depth = project.owns.iter().filter(|dir| dir.contains(path)).map(|dir| dir.depth() + 1).max();
        let (true, Some(depth)) = (ending, depth) else { continue };
        match deepest.get(adapter.info().id) {
            Some((known, _)) if *known >= depth => {}
            Some(_) | None => {
                deepest.insert(adapter.info().id, (depth, (*adapter, project)));
            }
        }
    }
    deepest.into_values().map(|(_, claim)| claim).collect()
}

/// Of several tools on one file: the one that `polymut.toml` names, else the only one with its own configuration.
fn settle<'a>(
    claims: Vec<Claim<'a>>,
    path: &RepoPath,
    choice: &Choice,
) -> Result<Vec<Claim<'a>>, PlannerError> {
    if claims.len() < 2 {
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
