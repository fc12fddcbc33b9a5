//! The whole program on one page: from a request to a report.
//!
//! In: what to run. Out: [`Finished`]. I/O: through git, exec and config.

use std::collections::BTreeMap;

use polymut_adapters::Adapter;
use polymut_schemas::{LineSet, Report, Scope, ScopeWidth};

use crate::assemble::{self, Assembled};
use crate::config::Config;
use crate::git::{self, Repo, ScopeRequest};
use crate::index;
use crate::job::{JobOptions, Machine, View, run_job};
use crate::planner::{self, Assignment, Choice};
use crate::sources::Sources;

/// What a change is, before anything runs: stations 1 to 3.
pub struct Planned {
    /// Changed lines and jobs.
    pub assignment: Assignment,
    /// Files of the new side and manifests' bytes.
    pub tree: polymut_adapters::Tree,
    /// Text of the changed files on the new side.
    pub sources: Sources,
    /// Text of the changed files at the merge base.
    pub base: Sources,
}

/// What a run ended with.
pub struct Finished {
    /// The verdict document.
    pub report: Report,
    /// The text that its excerpts come from.
    pub sources: Sources,
}

/// Stations 1 to 3: changed lines, projects, jobs.
pub fn plan(
    repo: &Repo,
    request: &ScopeRequest,
    adapters: &[&'static dyn Adapter],
    choice: &Choice,
) -> anyhow::Result<Planned> {
    let mut scope = git::scope(repo, request)?;
    let entries = repo.files(request.side)?;
    let tree = index::tree(repo, &entries, adapters)?;
    if request.width == ScopeWidth::All {
        widen(&mut scope, &tree);
    }
    let sources = index::sources(repo, &entries, &scope)?;
    let base = index::base_sources(repo, &scope)?;
    let assignment = planner::assign(&scope, &tree, &sources, adapters, choice)?;
    Ok(Planned { assignment, tree, sources, base })
}

/// `--scope all`: every mutant of the projects that the change touches, so every line of the changed files counts.
fn widen(scope: &mut Scope, tree: &polymut_adapters::Tree) {
    for file in scope.files.iter_mut().filter(|file| tree.has(&file.path) && file.outside.is_none()) {
        file.lines = file.lines.union(&LineSet::from_lines([1]));
    }
}

/// Stations 4 to 7: every job, side by side within the core budget, and the verdict.
pub async fn run(
    machine: &Machine,
    planned: &Planned,
    options: &BTreeMap<polymut_schemas::ProjectId, JobOptions>,
    config: &Config,
    gate: &assemble::GateInput,
) -> Report {
    let projects = planned.assignment.jobs.iter().map(|job| &job.project);
    let claimed: Vec<polymut_schemas::RepoDir> =
        projects.flat_map(|project| project.owns.iter().chain([&project.dir])).cloned().collect();
    let view = View {
        tree: &planned.tree,
        sources: &planned.sources,
        scope: &planned.assignment.scope,
        base: &planned.base,
        claimed: &claimed,
    };
    let jobs = planned.assignment.jobs.iter().filter_map(|job| Some((job, options.get(&job.project.id())?)));
    let runs = jobs.map(|(job, options)| async move {
        let _alone = machine.exclusive(&options.exclusive).await;
        let outcome = run_job(machine, view, job, options).await;
        machine.job_ended();
        outcome
    });
    let outcomes = futures::future::join_all(runs).await;
    let mut assembled =
        Assembled { scope: planned.assignment.scope.clone(), runs: Vec::new(), mutants: Vec::new() };
    for outcome in outcomes {
        assembled.runs.push(outcome.run);
        assembled.mutants.extend(outcome.mutants);
    }
    assemble::report(assembled, config, gate)
}
