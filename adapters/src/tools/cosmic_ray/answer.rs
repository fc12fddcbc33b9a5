//! Test and Confirm: what became of the mutants.
//!
//! In: sessions, ends of single processes. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, StageName, Status};

use super::diff;
use super::session::{Row, read};
use crate::formats::sqlite;
use crate::tools::python::{last_lines, quote_end, tests_failed};
use crate::{
    End, Finish, Job, Key, ParseError, Parsed, Promised, Ran, RawMutant, RawPath, StepEnd, Suspect, Units,
};

const SESSION: &str = "session.sqlite";

/// The session that the last round of a stage left.
pub(super) fn session_of(job: &Job<'_>, stage: StageName) -> Option<Vec<u8>> {
    job.rounds(stage).filter_map(|ran| ran.file_ending(SESSION)).last().map(<[u8]>::to_vec)
}

/// Reads the answers of one sandbox's share.
pub(super) fn test(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let keys: BTreeSet<&str> = match units {
        Units::Mutants(keys) => keys.iter().map(|key| key.0.as_str()).collect(),
        Units::Files(_) => BTreeSet::new(),
    };
    let promised = Promised::Listed(u64::try_from(keys.len()).unwrap_or(u64::MAX));
    let mut parsed = Parsed { promised, ..Parsed::default() };
    let Some(bytes) = ran.file_ending(SESSION) else {
        let words = ran.step("exec").map(|step| quote_end(step, 12));
        let nothing = || Quote { text: "cosmic-ray left no session".to_owned(), at: "test".to_owned() };
        parsed.finish = Finish::Nothing(words.unwrap_or_else(nothing));
        return Ok(parsed);
    };
    if ran.file_ending("session.sqlite-journal").is_some_and(sqlite::is_hot_journal) {
        let text = "cosmic-ray was killed while it wrote its session: the file cannot be believed".to_owned();
        parsed.finish = Finish::Broken(Quote { text, at: format!("{SESSION}-journal") });
        return Ok(parsed);
    }
    for row in read(SESSION, bytes)? {
        if keys.contains(row.key().0.as_str()) {
            parsed.mutants.push(with_change(job, &row, row.mutant(SESSION)?));
        }
    }
    parsed.finish = finish(ran, keys.len(), &parsed.mutants);
    Ok(parsed)
}

fn finish(ran: &Ran, asked: usize, mutants: &[RawMutant]) -> Finish {
    let Some(step) = ran.step("exec") else {
        return Finish::Nothing(Quote {
            text: "cosmic-ray was not started".to_owned(),
            at: "test".to_owned(),
        });
    };
    let tested = mutants.iter().filter(|mutant| mutant.status != Some(Status::NotRun)).count();
    let lame = |mutant: &RawMutant| mutant.status == Some(Status::Errored) && mutant.doubt.is_none();
    if asked > 0 && mutants.len() == asked && mutants.iter().all(lame) {
        // The command does not start, or the session is not of this source: nothing was tested.
        let words = mutants.iter().find_map(|mutant| mutant.detail.as_deref()).unwrap_or_default();
        let text = format!("none of {asked} mutants could be tested: {}", last_lines(words, 4));
        return Finish::Broken(Quote { text, at: SESSION.to_owned() });
    }
    match step.end {
        End::Exit(0) if tested == asked => Finish::Complete,
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram => {
            let mut quote = quote_end(step, 8);
            quote.text = format!("{tested} of {asked} chosen mutants were tested; {}", quote.text);
            if tested > 0 { Finish::Partial(quote) } else { Finish::Nothing(quote) }
        }
    }
}

/// The change as text, where the diff and the span say it together; then the tool's own diff is not needed.
fn with_change(job: &Job<'_>, row: &Row, mut mutant: RawMutant) -> RawMutant {
    if mutant.status == Some(Status::Killed) {
        let output = row.result.as_ref().map(|result| result.output.as_str()).unwrap_or_default();
        mutant.tests.killed_by = tests_failed(output);
    }
    let Some(patch) = mutant.change.diff.take() else { return mutant };
    let mutated = source(job, &row.module).and_then(|source| {
        let mutated = diff::apply(&source, &patch)?;
        let text =
            row.start.zip(row.end).and_then(|(start, end)| diff::replacement(&source, &mutated, start, end));
        Some((mutated, text))
    });
    match mutated {
        Some((_, Some(text))) => mutant.change.replacement = Some(text),
        Some((mutated, None)) => mutant.change.diff = own_diff(job, &row.module, &mutated),
        None => mutant.change.diff = Some(patch),
    }
    mutant
}

/// A diff that `git apply` takes, with the line ends of the file.
fn own_diff(job: &Job<'_>, module: &str, mutated: &str) -> Option<String> {
    let path = job.project.dir.join(module).ok()?;
    let original = std::str::from_utf8(&job.changed.files.get(&path)?.bytes).ok()?;
    let mutated = if original.contains("\r\n") { mutated.replace('\n', "\r\n") } else { mutated.to_owned() };
    let mark = if original.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let mutated = format!("{mark}{mutated}");
    let diff = similar::TextDiff::from_lines(original, mutated.as_str());
    Some(diff.unified_diff().header(&format!("a/{module}"), &format!("b/{module}")).to_string())
}

fn source(job: &Job<'_>, module: &str) -> Option<String> {
    let path = job.project.dir.join(module).ok()?;
    diff::plain(&job.changed.files.get(&path)?.bytes)
}

/// The mutated file of each suspect: its path relative to the project, and its text.
pub(super) fn mutated_files(job: &Job<'_>, suspects: &[Suspect]) -> BTreeMap<Key, (String, String)> {
    let keys: BTreeSet<&Key> = suspects.iter().map(|suspect| &suspect.key).collect();
    let rounds = job.rounds(StageName::Test).filter_map(|ran| ran.file_ending(SESSION));
    let rows = rounds.filter_map(|bytes| read(SESSION, bytes).ok()).flatten();
    rows.filter(|row| keys.contains(&row.key()))
        .filter_map(|row| {
            let patch = row.result.as_ref()?.diff.as_deref()?;
            let text = diff::apply(&source(job, &row.module)?, patch)?;
            Some((row.key(), (row.module, text)))
        })
        .collect()
}

/// Reads the answers of mutants that polymut ran itself.
pub(super) fn confirm(job: &Job<'_>, suspects: &[Suspect], ran: &Ran) -> Result<Parsed, ParseError> {
    let promised = Promised::Listed(u64::try_from(suspects.len()).unwrap_or(u64::MAX));
    let mut parsed = Parsed { promised, ..Parsed::default() };
    let mut known = BTreeMap::new();
    for bytes in job.rounds(StageName::Test).filter_map(|ran| ran.file_ending(SESSION)) {
        for row in read(SESSION, bytes)? {
            known.insert(row.key(), with_change(job, &row, row.mutant(SESSION)?));
        }
    }
    for suspect in suspects {
        let step = ran.steps.iter().rev().find(|step| step.about.as_ref() == Some(&suspect.key));
        let answer = step.and_then(|step| Some((step, known.get(&suspect.key)?, alone(step)?)));
        if let Some((step, mutant, answer)) = answer {
            parsed.mutants.push(settled(mutant, step, answer));
        } else {
            let text = format!("{} was not run again", suspect.key.0);
            parsed.finish = Finish::Partial(Quote { text, at: "confirm".to_owned() });
        }
    }
    Ok(parsed)
}

fn settled(mutant: &RawMutant, step: &StepEnd, (word, status): (&str, Status)) -> RawMutant {
    let words = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    let mut settled = mutant.clone();
    settled.status = Some(status);
    word.clone_into(&mut settled.word);
    settled.doubt = None;
    settled.detail =
        (status != Status::Survived).then(|| last_lines(&words, 8)).filter(|text| !text.is_empty());
    settled.tests.killed_by = if status == Status::Killed { tests_failed(&words) } else { Vec::new() };
    settled.duration = Some(step.wall.as_secs_f64());
    settled.artifact = format!("output of {}", step.name);
    settled.pointer = None;
    settled
}

/// What the end of the test command with one mutant means; `None`: it did not get to run.
fn alone(step: &StepEnd) -> Option<(&'static str, Status)> {
    match step.end {
        End::Exit(0) => Some(("survived", Status::Survived)),
        End::Exit(_) | End::Signal(_) => Some(("killed", Status::Killed)),
        End::Limit => Some(("timeout", Status::Timeout)),
        End::OutOfMemory => Some(("out of memory", Status::OutOfMemory)),
        End::Stopped | End::NoProgram => None,
    }
}

/// A mutant that has only been listed.
pub(super) fn listed(mutant: RawMutant) -> RawMutant {
    match mutant.status {
        Some(Status::Ignored) => mutant,
        Some(_) | None => RawMutant { status: None, word: "listed".to_owned(), doubt: None, ..mutant },
    }
}

/// The path of a module, as the tool was given it.
pub(super) fn seen(module: &str) -> RawPath {
    RawPath::FromProject(module.to_owned())
}
