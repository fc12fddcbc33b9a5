//! The steps of each stage.
//!
//! In: a [`Job`], a [`Stage`]. Out: [`Plan`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoPath, ScopeWidth};

use super::detect::CORE;
use super::events::EVENTS;
use super::keys::Spot;
use super::scripts::Request;
use super::untested::{self, Way};
use super::{INFO, command, confirm, outcome, prepare, scripts, versions};
use crate::{
    Find, Gather, Job, Key, OperatorSet, Piece, Plan, PlanError, ScopeFit, Stage, Step, StorePath, Units,
};

/// The artifact that Stryker itself would write, kept beside the events as their proof.
pub(super) const REPORT: &str = "mutation.json";

/// Options of Stryker's command line that polymut decides, with both spellings where there are two.
const DECIDED: [&str; 20] = [
    "-m",
    "--mutate",
    "-c",
    "--concurrency",
    "--incremental",
    "--incrementalFile",
    "--force",
    "--inPlace",
    "--dryRunOnly",
    "--reporters",
    "--plugins",
    "--appendPlugins",
    "--tempDirName",
    "--cleanTempDir",
    "--allowEmpty",
    "--allowConsoleColors",
    "--logLevel",
    "--timeoutMS",
    "--timeoutFactor",
    "--dryRunTimeoutMinutes",
];

pub(super) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    match stage {
        Stage::Probe => {
            check_settings(job)?;
            Ok(Some(probe(job)))
        }
        Stage::Prepare => Ok(Some(prepare::plan(job))),
        Stage::List => {
            versions::check(job)?;
            Ok(versions::lists(job.facts).then(|| list(job)))
        }
        Stage::Test(units) => {
            versions::check(job)?;
            Ok(Some(test(job, units)))
        }
        Stage::Confirm(suspects) => Ok(confirm::plan(job, suspects)),
        Stage::Replay(_) => Ok(None),
    }
}

fn check_settings(job: &Job<'_>) -> Result<(), PlanError> {
    for word in &job.settings.args {
        let option = word.split('=').next().unwrap_or_default();
        if DECIDED.contains(&option) {
            return Err(PlanError::Setting {
                tool: INFO.id,
                setting: format!("args = [\"{word}\"]"),
                why: "polymut decides this option itself".to_owned(),
            });
        }
    }
    if prepare::root(job.project).is_some_and(|root| job.tree.has_in(&root, ".pnp.cjs")) {
        return Err(PlanError::UserConfig {
            file: ".pnp.cjs".to_owned(),
            why: "Yarn Plug'n'Play keeps packages where polymut does not look for Stryker".to_owned(),
            remedy: "set `nodeLinker: node-modules` in .yarnrc.yml".to_owned(),
        });
    }
    Ok(())
}

/// What is there. The second step only tells a missing tool, which then can be provided.
fn probe(job: &Job<'_>) -> Plan {
    let mut facts = command::script(job, prepare::PROBE, "probe.mjs", Vec::new());
    facts.files = scripts::files(&request(job));
    facts.go_on = &[0, 1];
    let mut version = command::script(job, prepare::VERSION, "probe.mjs", Vec::new());
    version.command.program = vec![
        Find::Upward(job.project.dir.clone(), "node_modules/.bin/stryker"),
        Find::Store(stored(job, "node_modules/.bin/stryker")),
    ];
    version.command.args = vec![Piece::word("--version")];
    Plan { steps: vec![facts, version], gather: vec![gather("facts.json")], fit: ScopeFit::Project }
}

fn stored(job: &Job<'_>, path: &str) -> StorePath {
    StorePath::new(format!("{}/{path}", command::store(job))).unwrap_or_default()
}

fn list(job: &Job<'_>) -> Plan {
    let request = Request { files: relative(job, job.changed.files.keys()), ..request(job) };
    let step = command::script(job, outcome::LIST, "list.mjs", Vec::new());
    Plan {
        steps: vec![command::with(step, scripts::files(&request))],
        gather: vec![gather(EVENTS)],
        fit: ScopeFit::File,
    }
}

fn test(job: &Job<'_>, units: &Units) -> Plan {
    let way = untested::way(job);
    let mut request = request(job);
    request.related = way == Way::Usual;
    request.dry_run_only = way == Way::Look;
    let fit = match units {
        Units::Mutants(keys) => choose(job, keys, &mut request),
        Units::Files(files) => narrow(job, files, &mut request),
    };
    if request.files.is_empty() {
        // Everything that was chosen is ignored by the project's own word, which the list stage already told.
        return Plan { steps: Vec::new(), gather: Vec::new(), fit };
    }
    Plan {
        steps: vec![command::with(run(job), scripts::files(&request))],
        gather: vec![gather(EVENTS), gather(REPORT)],
        fit,
    }
}

fn run(job: &Job<'_>) -> Step {
    let words = options(job).iter().map(Piece::word);
    command::script(
        job,
        untested::STEP,
        "run.mjs",
        std::iter::once(Piece::word("run")).chain(words).collect(),
    )
}

/// The settings' words without a configuration file among them.
fn options<'a>(job: &Job<'a>) -> &'a [String] {
    match config(job) {
        Some(_) => job.settings.args.get(1..).unwrap_or_default(),
        None => &job.settings.args,
    }
}

/// A configuration file that the settings name, as Stryker's own command line takes it: the first word.
fn config<'a>(job: &Job<'a>) -> Option<&'a String> {
    let first = job.settings.args.first()?;
    let is_file = [".json", ".js", ".mjs", ".cjs"].iter().any(|ending| first.ends_with(ending));
    (is_file && !first.starts_with('-')).then_some(first)
}

/// Spans of the chosen mutants, and the files that hold them.
fn choose(job: &Job<'_>, keys: &[Key], request: &mut Request) -> ScopeFit {
    let ignored = outcome::ignored(job);
    let mut spans: BTreeMap<String, BTreeSet<[u32; 4]>> = BTreeMap::new();
    let mut unreadable = false;
    for key in keys {
        match Spot::read(key) {
            Some(_) if ignored.contains(key) => {}
            Some(spot) => {
                spans.entry(spot.0).or_default().insert(spot.1);
            }
            None => unreadable = true,
        }
    }
    if unreadable {
        // Keys of a plan that is only shown.
        request.files = relative(job, job.changed.files.keys());
        return ScopeFit::Mutant;
    }
    request.files = spans.keys().cloned().collect();
    request.spans = spans.into_iter().map(|(file, spans)| (file, spans.into_iter().collect())).collect();
    ScopeFit::Mutant
}

/// Whole files, narrowed to the changed lines where these are what the user asked for.
fn narrow(job: &Job<'_>, files: &[RepoPath], request: &mut Request) -> ScopeFit {
    request.files = relative(job, files.iter());
    if job.changed.width != ScopeWidth::Line {
        return ScopeFit::File;
    }
    for path in files {
        if let (Some(changed), Some(name)) = (job.changed.files.get(path), job.project.dir.relative(path)) {
            let lines = changed.lines.ranges().iter().map(|range| [range.first, range.last]).collect();
            request.lines.insert(name.to_owned(), lines);
        }
    }
    ScopeFit::Line
}

/// What is the same in every stage.
pub(super) fn request(job: &Job<'_>) -> Request {
    let whole = job.limits.test().map_or(0, |limit| limit.as_secs().div_ceil(60));
    let root = prepare::root(job.project);
    Request {
        config: config(job).cloned(),
        levels: root.map_or(0, |root| job.project.dir.depth().saturating_sub(root.depth())),
        operators: match job.settings.operators {
            OperatorSet::Logic => "logic",
            OperatorSet::Default => "default",
            OperatorSet::All => "all",
        },
        timeout_factor: job.limits.factor,
        timeout_ms: u64::try_from(job.limits.floor.as_millis()).unwrap_or(u64::MAX),
        // Coverage and instrumented code make the first run slower than the plain one.
        dry_run_timeout_minutes: (2 * whole).max(5),
        related: true,
        ..Request::default()
    }
}

fn relative<'a>(job: &Job<'_>, files: impl Iterator<Item = &'a RepoPath>) -> Vec<String> {
    files.filter_map(|path| job.project.dir.relative(path).map(str::to_owned)).collect()
}

pub(super) fn gather(name: &str) -> Gather {
    Gather::Files { under: scripts::folder(), glob: name.to_owned(), fresh: true }
}

/// What a person is told when the core is nowhere.
pub(super) fn missing() -> String {
    format!("{CORE} is neither in this project's node_modules nor in polymut's store")
}
