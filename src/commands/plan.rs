//! `polymut plan`: what `run` would do; nothing is run.
//!
//! In: scope arguments. Out: projects, changed lines, command lines. I/O: git, configuration, stdout.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use polymut_schemas::{LineRange, Scope, ScopeFile};
use serde::Serialize;

use super::context::{Place, adapters, choice};
use crate::cli::{PlanArgs, PlanFormat};
use crate::config;
use crate::exit::Exit;
use crate::pipeline;
use crate::planner::{Shown, show};
use crate::report::visible;

#[derive(Serialize)]
struct Document<'a> {
    scope: &'a Scope,
    jobs: &'a [Shown],
}

/// Shows the plan.
pub(super) fn plan(place: &Place, args: &PlanArgs) -> anyhow::Result<Exit> {
    let repo = place.repo()?;
    let config = config::load(repo.root())?;
    let planned =
        pipeline::plan(&repo, &place.request(&args.scope)?, &adapters(), &choice(&args.scope, &config))?;
    let shown = |job| show(job, &planned.tree, &settings(&config, job));
    let jobs: Vec<Shown> = planned.assignment.jobs.iter().map(shown).collect();
    let scope = &planned.assignment.scope;
    match args.format {
        PlanFormat::Json => {
            let mut text = serde_json::to_string_pretty(&Document { scope, jobs: &jobs })?;
            text.push('\n');
            place.terminal.data(text.as_bytes())?;
        }
        PlanFormat::Text => place.terminal.data(text(scope, &jobs).as_bytes())?,
    }
    Ok(Exit::Pass)
}

fn settings(config: &config::Config, job: &crate::planner::PlannedJob) -> polymut_adapters::ProjectSettings {
    config.settings_for(&job.project).adapter
}

fn text(scope: &Scope, jobs: &[Shown]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", head(scope));
    for job in jobs {
        let _ = writeln!(out, "\n{} {} in {}", job.tool, job.version, one_line(&job.dir.to_string()));
        for file in &job.files {
            let ranges: Vec<String> = file.lines.ranges().iter().copied().map(range).collect();
            let _ = writeln!(out, "  {}: {}", one_line(file.path.as_str()), ranges.join(", "));
        }
        let common = common(job);
        if !common.is_empty() {
            let names: Vec<&str> = common.iter().copied().collect();
            let _ = writeln!(out, "  every step with {}", visible(&names.join(" ")));
        }
        for stage in &job.stages {
            let name = format!("{:?}", stage.stage).to_lowercase();
            for step in &stage.steps {
                let (variables, words) = &step.parts;
                let own = variables.iter().map(String::as_str).filter(|one| !common.contains(one));
                let line: Vec<&str> = own.chain([words.as_str()]).collect();
                let _ = writeln!(out, "  {name:<8} {:<8} {}", step.role, visible(&line.join(" ")));
            }
            if let Some(why) = &stage.later {
                let _ = writeln!(out, "  {name:<8} {why}");
            }
        }
    }
    let left: Vec<&ScopeFile> = scope.files.iter().filter(|file| file.outside.is_some()).collect();
    if !left.is_empty() {
        let _ = writeln!(out, "\nnot mutated:");
    }
    for file in left {
        let why = file.outside.and_then(|why| serde_json::to_value(why).ok());
        let word = why.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().replace('_', " ");
        let _ = writeln!(out, "  {}: {word}", one_line(file.path.as_str()));
    }
    out
}

/// Variables that every step of a job sets alike: named once.
fn common(job: &Shown) -> BTreeSet<&str> {
    let steps = job.stages.iter().flat_map(|stage| &stage.steps);
    let mut sets = steps.map(|step| step.parts.0.iter().map(String::as_str).collect::<BTreeSet<&str>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |known, set| known.intersection(&set).copied().collect())
}

/// One line on what is compared with what.
pub(super) fn head(scope: &Scope) -> String {
    let lines: u64 = scope.files.iter().map(|file| file.lines.count()).sum();
    let files = scope.files.iter().filter(|file| !file.lines.is_empty()).count();
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    let of_files = format!("{files} file{}", plural(u64::try_from(files).unwrap_or(u64::MAX)));
    match (&scope.base, &scope.merge_base) {
        (Some(base), Some(merge_base)) => format!(
            "{lines} changed line{} in {of_files} since {} ({}; merge base {})",
            plural(lines),
            base.name,
            base.found_by,
            merge_base.get(..12).unwrap_or(merge_base)
        ),
        (Some(_) | None, _) => format!("{lines} line{} in {of_files}", plural(lines)),
    }
}

/// A name on one line, whatever is in it.
fn one_line(name: &str) -> String {
    visible(name).replace('\n', "\\n").replace('\t', "\\t")
}

fn range(range: LineRange) -> String {
    if range.first == range.last {
        range.first.to_string()
    } else {
        format!("{}-{}", range.first, range.last)
    }
}
