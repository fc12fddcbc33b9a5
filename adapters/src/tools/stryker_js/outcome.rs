//! Reads what List and Test left: every mutant, and whether the stage came to its end.
//!
//! In: [`Ran`]. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, StageName, Status};

use super::events::{EVENTS, Events, Told};
use super::keys::Spot;
use super::patch::{Patch, in_source};
use super::untested::{self, STEP, Way};
use super::{INFO, operators, plan, versions, words};
use crate::formats::elements::{self, ElementsStatus};
use crate::{
    Change, Doubt, End, Finish, Job, Key, ParseError, Parsed, Promised, Ran, RawMutant, RawPath, StepEnd,
    Tests, Units,
};

/// The step of the list stage.
pub(super) const LIST: &str = "list";

/// Tests named per mutant; some code is reached by thousands.
const NAMED_TESTS: usize = 50;

pub(super) fn listed(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let events = Events::of(ran)?;
    let mut parsed = seen(&events);
    parsed.mutants = raw_mutants(job, &events);
    parsed.promised = Promised::Listed(parsed.mutants.len() as u64);
    parsed.finish = match ran.step(LIST) {
        Some(step) if step.end == End::Exit(0) && events.end.is_some() => Finish::Complete,
        Some(step) => Finish::Broken(words::quote(step)),
        None => Finish::Nothing(not_run(LIST)),
    };
    Ok(parsed)
}

/// Keys that the list stage told as ignored. A test run that looks at a part of a file may overlook the comment that
/// ignores them, so the list's word stands.
pub(super) fn ignored(job: &Job<'_>) -> BTreeSet<Key> {
    told_by_list(job)
        .into_iter()
        .filter(|raw| raw.status == Some(Status::Ignored))
        .map(|raw| raw.key)
        .collect()
}

fn told_by_list(job: &Job<'_>) -> Vec<RawMutant> {
    let rounds = job.rounds(StageName::List);
    rounds.filter_map(|ran| Events::of(ran).ok()).flat_map(|events| raw_mutants(job, &events)).collect()
}

pub(super) fn tested(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let events = Events::of(ran)?;
    let way = untested::way(job);
    let mut parsed = seen(&events);
    parsed.mutants = raw_mutants(job, &events);
    parsed.promised = match events.total {
        Some(total) => Promised::Announced(total),
        None => Promised::Unknown("Stryker ended before it planned its mutants"),
    };
    parsed.more = untested::next(job, way, ran).is_some();
    parsed.finish =
        if way == Way::Look { unreached(job, units, ran, &mut parsed)? } else { finish(ran, &events)? };
    if let Units::Mutants(keys) = units {
        keep_ignored(job, keys, &mut parsed);
    }
    let ignored_only = ran.steps.is_empty() && all_ignored(units, &parsed);
    if ignored_only {
        parsed.finish = Finish::Complete;
    }
    Ok(parsed)
}

fn all_ignored(units: &Units, parsed: &Parsed) -> bool {
    match units {
        Units::Mutants(keys) => !keys.is_empty() && keys.len() == parsed.mutants.len(),
        Units::Files(_) => false,
    }
}

/// Lets the list's word stand for mutants that it told as ignored.
fn keep_ignored(job: &Job<'_>, keys: &[Key], parsed: &mut Parsed) {
    let chosen: BTreeSet<&Key> = keys.iter().collect();
    let kept: Vec<RawMutant> = told_by_list(job)
        .into_iter()
        .filter(|raw| raw.status == Some(Status::Ignored) && chosen.contains(&raw.key))
        .collect();
    let before = parsed.mutants.len();
    let names: BTreeSet<Key> = kept.iter().map(|raw| raw.key.clone()).collect();
    parsed.mutants.retain(|raw| !names.contains(&raw.key));
    let replaced = before - parsed.mutants.len();
    let added = (kept.len() - replaced.min(kept.len())) as u64;
    parsed.mutants.extend(kept);
    sort(&mut parsed.mutants);
    parsed.promised = match &parsed.promised {
        Promised::Announced(total) => Promised::Announced(total + added),
        other @ (Promised::Listed(_) | Promised::Unknown(_)) => other.clone(),
    };
}

/// The whole suite ran without mutants: what it never reached has no coverage.
fn unreached(job: &Job<'_>, units: &Units, ran: &Ran, parsed: &mut Parsed) -> Result<Finish, ParseError> {
    let Some(step) = ran.step(STEP) else { return Ok(Finish::Nothing(not_run(STEP))) };
    let Some(dry) = Events::of(ran)?.dry.filter(|_| step.end == End::Exit(0)) else {
        return Ok(classify(step, 0));
    };
    if dry.tests.is_empty() || dry.covered {
        return Ok(Finish::Nothing(words::quote(step)));
    }
    let Units::Mutants(keys) = units else { return Ok(Finish::Nothing(words::quote(step))) };
    let chosen: BTreeSet<&Key> = keys.iter().collect();
    parsed.mutants = told_by_list(job).into_iter().filter(|raw| chosen.contains(&raw.key)).collect();
    for raw in parsed.mutants.iter_mut().filter(|raw| raw.status != Some(Status::Ignored)) {
        raw.status = Some(Status::NoCoverage);
        ElementsStatus::NoCoverage.word().clone_into(&mut raw.word);
        raw.detail = Some("the whole suite ran and never reached the changed files".to_owned());
    }
    parsed.promised = Promised::Announced(parsed.mutants.len() as u64);
    Ok(Finish::Complete)
}

fn finish(ran: &Ran, events: &Events) -> Result<Finish, ParseError> {
    let Some(step) = ran.step(STEP) else { return Ok(Finish::Nothing(not_run(STEP))) };
    let report = ran.file_ending(plan::REPORT);
    if let (Some(not_chosen), Some(bytes)) = (events.end, report) {
        let report = elements::read(INFO.id, plan::REPORT, bytes)?;
        return Ok(match disagreement(events, not_chosen, &report) {
            None => Finish::Complete,
            Some(text) => Finish::Broken(Quote { text, at: format!("{EVENTS} and {}", plan::REPORT) }),
        });
    }
    Ok(classify(step, events.mutants.len()))
}

/// The lines and Stryker's own report must hold the same mutants.
fn disagreement(events: &Events, not_chosen: u64, report: &elements::ElementsReport) -> Option<String> {
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for event in &events.mutants {
        *told.entry(event.mutant.status.as_str()).or_default() += 1;
    }
    if not_chosen > 0 {
        *told.entry(ElementsStatus::Ignored.word()).or_default() += not_chosen;
    }
    let mut reported: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, _, mutant) in elements::mutants(report) {
        *reported.entry(mutant.status.as_str()).or_default() += 1;
    }
    (told != reported)
        .then(|| format!("polymut's reporter heard of {told:?}, Stryker's report holds {reported:?}"))
}

/// What an end without a whole report means; the words are those of Stryker 8 to 10.
fn classify(step: &StepEnd, mutants: usize) -> Finish {
    let quote = words::quote(step);
    let out = step.stdout.text();
    match step.end {
        End::Exit(_) if out.contains("There were failed tests in the initial test run") => {
            Finish::RedBaseline(quote)
        }
        End::Exit(_) if out.contains("Initial test run timed out") => Finish::RedBaseline(quote),
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped if mutants > 0 => {
            Finish::Partial(quote)
        }
        End::Exit(_) | End::Signal(_) => Finish::Broken(quote),
        End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram => Finish::Nothing(quote),
    }
}

fn not_run(step: &str) -> Quote {
    Quote { text: format!("the step `{step}` did not run"), at: step.to_owned() }
}

fn seen(events: &Events) -> Parsed {
    let mut files = events.files.clone();
    files.sort();
    files.dedup();
    Parsed { seen: files.into_iter().map(RawPath::FromProject).collect(), ..Parsed::default() }
}

fn raw_mutants(job: &Job<'_>, events: &Events) -> Vec<RawMutant> {
    let names: BTreeMap<&str, &str> =
        events.dry.iter().flat_map(|dry| &dry.tests).map(|(id, name)| (id.as_str(), name.as_str())).collect();
    let mut mutants: Vec<RawMutant> = events.mutants.iter().map(|told| raw(job, &names, told)).collect();
    sort(&mut mutants);
    mutants
}

/// Stryker reports in the order in which mutants end; the document wants one order.
fn sort(mutants: &mut [RawMutant]) {
    mutants.sort_by(|a, b| {
        (&a.path, a.span.start, a.span.end, &a.key).cmp(&(&b.path, b.span.start, b.span.end, &b.key))
    });
}

fn raw(job: &Job<'_>, names: &BTreeMap<&str, &str>, told: &Told) -> RawMutant {
    let mutant = &told.mutant;
    let spot = Spot::of(&told.file, mutant);
    let tests = |ids: &Option<Vec<String>>| {
        let mut all: Vec<String> = ids
            .iter()
            .flatten()
            .map(|id| (*names.get(id.as_str()).unwrap_or(&id.as_str())).to_owned())
            .collect();
        all.sort();
        all.truncate(NAMED_TESTS);
        all
    };
    RawMutant {
        key: spot.key(),
        path: RawPath::FromProject(spot.file().to_owned()),
        span: spot.raw_span(),
        status: ElementsStatus::of(&mutant.status).map(ElementsStatus::status),
        word: mutant.status.clone(),
        doubt: doubt(job, told),
        change: Change {
            operator: mutant.mutator_name.clone(),
            class: Some(operators::class(&mutant.mutator_name)),
            original: None,
            replacement: replacement(job, told),
            diff: None,
            description: mutant.description.clone(),
        },
        tests: Tests { killed_by: tests(&mutant.killed_by), covered_by: tests(&mutant.covered_by) },
        function: None,
        detail: mutant.status_reason.as_deref().map(words::reason).filter(|text| !text.is_empty()),
        duration: mutant.duration.map(|milliseconds| milliseconds / 1000.0),
        is_static: mutant.is_static,
        pointer: Some(format!("line {}", told.line)),
        artifact: EVENTS.to_owned(),
    }
}

fn doubt(job: &Job<'_>, told: &Told) -> Option<Doubt> {
    let mutant = &told.mutant;
    match ElementsStatus::of(&mutant.status)? {
        ElementsStatus::Survived if mutant.tests_completed == Some(0.0) => Some(Doubt::NoTestRun),
        ElementsStatus::Survived if versions::flips(job.facts) => Some(Doubt::Flips),
        // A loop that ran too often is counted, not timed.
        ElementsStatus::Timeout => {
            let counted = mutant.status_reason.as_deref().is_some_and(|text| text.starts_with("Hit limit"));
            (!counted).then_some(Doubt::Load)
        }
        ElementsStatus::Killed
        | ElementsStatus::Survived
        | ElementsStatus::NoCoverage
        | ElementsStatus::CompileError
        | ElementsStatus::RuntimeError
        | ElementsStatus::Ignored
        | ElementsStatus::Pending => None,
    }
}

fn replacement(job: &Job<'_>, told: &Told) -> Option<String> {
    let replacement = told.mutant.replacement.as_deref()?;
    let path = job.project.dir.join(&told.file).ok();
    let changed = path.and_then(|path| job.changed.files.get(&path));
    let Some(source) = changed.and_then(|changed| std::str::from_utf8(&changed.bytes).ok()) else {
        return Some(replacement.to_owned());
    };
    let (start, end) = (told.mutant.location.start, told.mutant.location.end);
    Some(in_source(&Patch { source, start, end, operator: &told.mutant.mutator_name, replacement }))
}
