//! Probe and Prepare: versions, dependencies, and the suite without mutants.
//!
//! In: a [`Job`], recorded ends. Out: [`Plan`], [`Parsed`]. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{Quote, RepoDir};

use super::{command, memo, plan, scripts, versions, words, workspace};
use crate::{
    Baseline, CommandSpec, End, Facts, Find, Finish, Job, Note, ParseError, Parsed, Piece, Plan, Project,
    Promised, Ran, Role, ScopeFit, Step, StepEnd,
};

pub(super) const PROBE: &str = "probe";
pub(super) const VERSION: &str = "version";
const INSTALL: &str = "install";
const BASELINE: &str = "baseline";

/// The folder whose lock file counts.
pub(super) fn root(project: &Project) -> Option<RepoDir> {
    project.memo.get(memo::ROOT).and_then(|values| values.first()).and_then(|root| RepoDir::new(root).ok())
}

/// Dependencies where there are none, then the suite.
pub(super) fn plan(job: &Job<'_>) -> Plan {
    let mut steps = Vec::new();
    let mut gather = Vec::new();
    if job.facts.one("node_modules") == Some("no") && has_dependencies(job) {
        steps.push(install(job));
        let probe = command::script(job, PROBE, "probe.mjs", Vec::new());
        steps.push(command::with(probe, scripts::files(&plan::request(job))));
        gather.push(plan::gather("facts.json"));
    }
    steps.push(command::suite(job).step(job, BASELINE, Role::Baseline));
    Plan { steps, gather, fit: ScopeFit::Project }
}

fn has_dependencies(job: &Job<'_>) -> bool {
    let dirs = [Some(job.project.dir.clone()), root(job.project)];
    dirs.into_iter()
        .flatten()
        .filter_map(|dir| workspace::Manifest::read(job.tree, &dir))
        .any(|manifest| manifest.has_dependencies())
}

fn install(job: &Job<'_>) -> Step {
    let dir = root(job.project).unwrap_or_else(|| job.project.dir.clone());
    let install = workspace::install(job.tree, &dir);
    Step {
        name: INSTALL.to_owned(),
        about: None,
        role: Role::Fetch,
        files: Vec::new(),
        command: CommandSpec {
            program: vec![Find::OnPath(install.program)],
            args: install.words.iter().copied().map(Piece::word).collect(),
            cwd: dir,
            env: command::common_env(job),
        },
        go_on: &[0],
        limit: None,
    }
}

/// What Probe found.
pub(super) fn probed(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed { promised: Promised::Unknown("a probe lists nothing"), ..Parsed::default() };
    let Some(facts) = facts(ran)? else {
        parsed.finish = Finish::Nothing(quote_of(ran, PROBE));
        return Ok(parsed);
    };
    let in_store = ran.step(VERSION).is_some_and(|step| step.end != End::NoProgram);
    let usable = facts.one("tool.from") == Some("project") || (facts.one("tool.from").is_some() && in_store);
    let comes = job.project.memo.contains_key(memo::DECLARED) && facts.one("node_modules") == Some("no");
    if !usable && !comes {
        let at = PROBE.to_owned();
        parsed.finish = Finish::Nothing(Quote { text: plan::missing(), at });
    }
    parsed.notes = notes(&facts);
    parsed.facts = facts;
    Ok(parsed)
}

/// What a reader should know of the versions.
fn notes(facts: &Facts) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |text: String| notes.push(Note(text));
    if versions::misfit(facts) {
        note("vitest 5 wants @stryker-mutator/vitest-runner 10.1 or newer; with this one no test is run for a covered mutant, and each is confirmed by the whole suite".to_owned());
    }
    if let Some(error) = facts.one("config.error") {
        note(format!("the Stryker configuration cannot be loaded: {error}"));
    }
    notes
}

/// What Prepare left.
pub(super) fn prepared(ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    if let Some(step) = ran.step(INSTALL).filter(|step| step.end != End::Exit(0)) {
        parsed.finish = Finish::Broken(words::quote(step));
        return Ok(parsed);
    }
    if ran.step(INSTALL).is_some() {
        let Some(facts) = facts(ran)? else {
            parsed.finish = Finish::Nothing(quote_of(ran, PROBE));
            return Ok(parsed);
        };
        parsed.notes = notes(&facts);
        if facts.one("tool.version").is_none() {
            parsed.finish = Finish::Nothing(Quote { text: plan::missing(), at: INSTALL.to_owned() });
        }
        parsed.facts = facts;
    }
    let (finish, baseline) = suite(ran);
    parsed.baseline = baseline;
    if parsed.finish == Finish::Complete {
        parsed.finish = finish;
    }
    Ok(parsed)
}

/// How the runs of the suite ended.
fn suite(ran: &Ran) -> (Finish, Option<Baseline>) {
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name == BASELINE).collect();
    if runs.is_empty() {
        return (Finish::Nothing(quote_of(ran, BASELINE)), None);
    }
    let seconds = runs.iter().map(|step| step.wall.as_secs_f64()).fold(0.0, f64::max);
    let red = runs.iter().find(|step| step.end != End::Exit(0));
    let baseline = Some(Baseline { green: red.is_none(), seconds: Some(seconds) });
    let Some(red) = red else { return (Finish::Complete, baseline) };
    let mixed = runs.iter().any(|step| step.end == End::Exit(0));
    let finish = match red.end {
        End::Stopped => Finish::Partial(words::quote(red)),
        End::NoProgram => Finish::Nothing(no_runner(red)),
        // Runs that differ are the pipeline's to name.
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory if mixed => Finish::Complete,
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => {
            Finish::RedBaseline(words::quote(red))
        }
    };
    (finish, baseline)
}

fn no_runner(step: &StepEnd) -> Quote {
    let text = "the project's test runner is not in node_modules/.bin: install its dependencies".to_owned();
    Quote { text, at: step.name.clone() }
}

fn quote_of(ran: &Ran, name: &str) -> Quote {
    ran.step(name).map_or_else(
        || Quote { text: format!("the step `{name}` did not run"), at: name.to_owned() },
        words::quote,
    )
}

fn facts(ran: &Ran) -> Result<Option<Facts>, ParseError> {
    const NAME: &str = "facts.json";
    let Some(bytes) = ran.file_ending(NAME) else { return Ok(None) };
    let values: BTreeMap<String, String> = serde_json::from_slice(bytes)
        .map_err(|error| ParseError::Malformed { at: NAME.to_owned(), why: error.to_string() })?;
    Ok(Some(Facts(values.into_iter().map(|(name, value)| (name, vec![value])).collect())))
}
