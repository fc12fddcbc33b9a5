//! The commands of each stage.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::RepoPath;

use super::{INFO, PINNED, config, confirm, detect};
use crate::{
    CommandSpec, Find, Gather, Job, Key, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    StorePath, Units, WorkPath,
};

/// Step names, used by `parse`.
pub(crate) const GO: &str = "go-version";
pub(crate) const VERSION: &str = "version";
pub(crate) const FETCH: &str = "fetch";
pub(crate) const BUILD: &str = "build";
pub(crate) const BASELINE: &str = "baseline";
pub(crate) const LIST: &str = "list";
pub(crate) const TEST: &str = "test";
/// The report of both stages, in the work folder.
pub(crate) const REPORT: &str = "report.json";

/// The steps of a stage.
pub(crate) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    match stage {
        Stage::Probe => probe(job).map(Some),
        Stage::Prepare => Ok(Some(prepare(job))),
        Stage::List => {
            let wanted = job.changed.files.keys().cloned().collect();
            run(job, LIST, &wanted, vec![Piece::word("--dry-run")]).map(Some)
        }
        Stage::Test(units) => {
            let words = vec![
                vec![Piece::Text("--workers=".to_owned()), Piece::Cores],
                Piece::word(format!("--timeout-coefficient={}", coefficient(job))),
            ];
            run(job, TEST, &files_of(job, units), words).map(Some)
        }
        Stage::Confirm(suspects) => confirm::plan(job, suspects).map(Some),
        // The shown diff is exact: it is applied, and the baseline command run.
        Stage::Replay(_) => Ok(None),
    }
}

fn probe(job: &Job<'_>) -> Result<Plan, PlanError> {
    let version = step(GO, Role::Work, go(job, &["version"]));
    let tool = step(VERSION, Role::Work, gremlins(job, vec![Piece::word("--version")])?);
    Ok(Plan { steps: vec![version, tool], gather: Vec::new(), fit: ScopeFit::Project })
}

fn prepare(job: &Job<'_>) -> Plan {
    let mut fetch = step(FETCH, Role::Fetch, go(job, &["mod", "download"]));
    // A module without network but with a warm cache or a vendor folder builds all the same; the build says.
    fetch.go_on = &[0, 1];
    if let Some(bytes) = detect::readable_go_mod(job.project, job.tree)
        && let Ok(path) = job.project.dir.resolve("go.mod")
    {
        fetch.files.push(NewFile { at: Place::Sandbox(path), bytes });
    }
    let build = step(BUILD, Role::Build, go(job, &words(job, &["test", "-run=^$", "./..."])));
    let baseline = step(BASELINE, Role::Baseline, go(job, &words(job, &["test", "-count=1", "./..."])));
    Plan { steps: vec![fetch, build, baseline], gather: Vec::new(), fit: ScopeFit::Project }
}

/// `go test` words with the project's build tags behind the verb.
pub(crate) fn words(job: &Job<'_>, words: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    if let Some(tags) = config::Own::of(job).tags {
        all.insert(1, format!("-tags={tags}"));
    }
    all
}

fn files_of(job: &Job<'_>, units: &Units) -> BTreeSet<RepoPath> {
    match units {
        Units::Files(files) => files.iter().cloned().collect(),
        Units::Mutants(keys) => {
            let names = keys.iter().filter_map(|Key(key)| key.rsplitn(4, ':').nth(3));
            names.filter_map(|name| job.project.dir.join(name).ok()).collect()
        }
    }
}

fn run(
    job: &Job<'_>,
    name: &str,
    wanted: &BTreeSet<RepoPath>,
    more: Vec<Vec<Piece>>,
) -> Result<Plan, PlanError> {
    if wanted.is_empty() {
        // With nothing to exclude from, the tool would mutate the whole module.
        return Ok(Plan { steps: Vec::new(), gather: Vec::new(), fit: ScopeFit::File });
    }
    let (settings, report, scratch) = (work("gremlins.yaml")?, work(REPORT)?, work("tmp")?);
    let mut args = vec![
        Piece::word("unleash"),
        Piece::word("--config"),
        vec![Piece::Work(settings.clone())],
        Piece::word("--output"),
        vec![Piece::Work(report)],
    ];
    args.extend(more);
    args.extend(job.settings.args.iter().map(Piece::word));
    let mut command = gremlins(job, args)?;
    // Without this the coverage run may come from the test cache, and the limit with it.
    let flags = vec![Piece::Inherit("GOFLAGS"), Piece::Text(" -count=1".to_owned())];
    command.env.insert("GOFLAGS".to_owned(), flags);
    command.env.insert("TMPDIR".to_owned(), vec![Piece::Work(scratch)]);
    let mut step = step(name, Role::Work, command);
    step.files = vec![
        NewFile { at: Place::Work(settings), bytes: config::yaml(job, wanted) },
        NewFile { at: Place::Work(work("tmp/.keep")?), bytes: Vec::new() },
    ];
    let gather = Gather::Files { under: Place::Work(work("")?), glob: REPORT.to_owned(), fresh: true };
    Ok(Plan { steps: vec![step], gather: vec![gather], fit: ScopeFit::File })
}

/// The tool's limit is this many times its coverage run, which takes about as long as the baseline.
fn coefficient(job: &Job<'_>) -> u64 {
    const LEAST: u64 = 5;
    let (Some(limit), Some(baseline)) = (job.limits.test(), job.limits.baseline) else { return 30 };
    let measured = baseline.wall.as_millis().max(50);
    let wanted = limit.as_millis() * 3 / 2;
    u64::try_from(wanted.div_ceil(measured)).unwrap_or(LEAST).max(LEAST)
}

/// A `go` command in the module's folder.
pub(crate) fn go<T: AsRef<str>>(job: &Job<'_>, words: &[T]) -> CommandSpec {
    CommandSpec {
        program: vec![Find::OnPath("go")],
        args: words.iter().map(|word| Piece::word(word.as_ref())).collect(),
        cwd: job.project.dir.clone(),
        env: environment(job),
    }
}

fn gremlins(job: &Job<'_>, args: Vec<Vec<Piece>>) -> Result<CommandSpec, PlanError> {
    let version = job.settings.version.as_deref().unwrap_or(PINNED);
    if semver::Version::parse(version).is_ok_and(|found| found < semver::Version::new(0, 6, 0)) {
        return Err(PlanError::Version {
            tool: super::ID,
            found: version.to_owned(),
            why: "its options and its report are older than what polymut drives".to_owned(),
            remedy: INFO.recipe.hint.to_owned(),
        });
    }
    let stored = StorePath::new(format!("{}/{version}/{}", super::ID, INFO.recipe.provides));
    let stored = stored.map_err(|error| PlanError::Setting {
        tool: super::ID,
        setting: "version".to_owned(),
        why: error.to_string(),
    })?;
    let mut program = vec![Find::Store(stored)];
    if job.settings.version.is_none() {
        program.push(Find::OnPath(super::ID));
    }
    Ok(CommandSpec { program, args, cwd: job.project.dir.clone(), env: environment(job) })
}

fn environment(job: &Job<'_>) -> BTreeMap<String, Vec<Piece>> {
    job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value))).collect()
}

/// A step that only ends well with 0.
pub(crate) fn step(name: &str, role: Role, command: CommandSpec) -> Step {
    Step { name: name.to_owned(), about: None, role, files: Vec::new(), command, go_on: &[0], limit: None }
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path)
        .map_err(|error| PlanError::Missing { missing: error.to_string(), remedy: String::new() })
}
