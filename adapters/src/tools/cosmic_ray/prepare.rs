//! Probe, Prepare and List: versions, baseline, every mutant of the changed files.
//!
//! In: ends of steps, the session that `init` made. Out: [`Parsed`]. I/O: none.

use polymut_schemas::Quote;

use super::answer::{listed, seen};
use super::config::Config;
use super::session::read;
use crate::tools::python::{baseline, environment, quote_end};
use crate::{End, Finish, Job, Note, ParseError, Parsed, Promised, Ran};

/// Reads the version.
pub(super) fn probe(ran: &Ran) -> Parsed {
    let mut parsed = Parsed::default();
    let nothing = |text: &str| Finish::Nothing(Quote { text: text.to_owned(), at: "probe".to_owned() });
    let Some(step) = ran.step("version") else {
        parsed.finish = nothing("cosmic-ray was not asked for its version");
        return parsed;
    };
    let words = step.stdout.text();
    match (
        step.end,
        words.trim().rsplit(' ').next().filter(|text| text.starts_with(|c: char| c.is_ascii_digit())),
    ) {
        (End::Exit(0), Some(version)) => parsed.facts.set("tool.version", version),
        (End::NoProgram, _) => {
            parsed.finish = nothing("cosmic-ray is neither in .venv, nor in polymut's store, nor on PATH");
        }
        (End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped, _) => {
            parsed.finish = Finish::Nothing(quote_end(step, 6));
        }
    }
    parsed
}

/// Reads what the environment has, and how the suite ended.
pub(super) fn prepare(ran: &Ran) -> Parsed {
    let mut parsed = Parsed::default();
    if environment(ran, &mut parsed).is_some() {
        baseline(ran, &mut parsed);
    }
    parsed
}

/// Reads the session that `init` made.
pub(super) fn list(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    let failed = ran.steps.iter().find(|step| step.end != End::Exit(0));
    let (Some(bytes), None) = (ran.file_ending("session.sqlite"), failed) else {
        let words = failed.map(|step| quote_end(step, 12));
        let nothing = || Quote { text: "init left no session".to_owned(), at: "list".to_owned() };
        parsed.finish = Finish::Broken(words.unwrap_or_else(nothing));
        return Ok(parsed);
    };
    for row in read("session.sqlite", bytes)? {
        let mutant = listed(row.mutant("session.sqlite")?);
        if job.settings.operators.takes(mutant.change.class) {
            parsed.mutants.push(mutant);
        }
    }
    if let Ok(config) = Config::read(job) {
        // `init` ends with an error when it cannot read one of the files it was given.
        parsed.seen.extend(config.files.iter().map(|file| seen(file)));
        for (file, key) in &config.left_out {
            parsed.notes.push(Note(format!(
                "{file} is left out by `{key}` of the project's cosmic-ray configuration"
            )));
            parsed.seen.push(seen(file));
        }
        for file in &config.unreadable {
            parsed.notes.push(Note(format!(
                "{file} is not UTF-8, and cosmic-ray would rewrite it as such: not mutated"
            )));
        }
    }
    parsed.promised = Promised::Listed(u64::try_from(parsed.mutants.len()).unwrap_or(u64::MAX));
    Ok(parsed)
}
