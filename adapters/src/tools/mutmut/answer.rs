//! Test, Confirm and Replay: what became of the mutants.
//!
//! In: `.meta` files, ends of single processes. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Mutant, Quote, Status};

use super::generated::{Generated, OneFile, files};
use super::list::{answers_of_list, listed};
use super::meta::{Answer, answer, function_of};
use crate::tools::python::{last_lines, quote_end, tests_failed};
use crate::{
    Change, ColumnUnit, Doubt, End, Finish, Job, Key, ParseError, Parsed, Promised, Ran, RawMutant, RawPath,
    RawPosition, RawSpan, StepEnd, Suspect, Tests, Units,
};

/// Reads the answers of the chosen mutants.
pub(super) fn test(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let keys: BTreeSet<&str> = match units {
        Units::Mutants(keys) => keys.iter().map(|key| key.0.as_str()).collect(),
        Units::Files(_) => BTreeSet::new(),
    };
    let promised = Promised::Listed(u64::try_from(keys.len()).unwrap_or(u64::MAX));
    if Generated::unreached(job) {
        let mut parsed = answers_of_list(job)?;
        parsed.mutants.retain(|mutant| keys.contains(mutant.key.0.as_str()));
        return Ok(Parsed { promised, more: false, notes: Vec::new(), ..parsed });
    }
    let mut parsed = Parsed { promised, ..Parsed::default() };
    let known = Known { listed: listed(job)?, generated: Generated::of(job) };
    let stopped = ran.step("test").is_none_or(|step| step.end != End::Exit(0));
    for file in files(&job.project.dir, ran)? {
        let asked = file.meta.codes.iter().filter(|(key, _)| keys.contains(key.as_str()));
        let answers: Vec<RawMutant> =
            asked.map(|(key, code)| answered(&known, &file, (key, *code), stopped)).collect();
        if !answers.is_empty() {
            parsed.seen.push(RawPath::FromProject(file.path.clone()));
        }
        parsed.mutants.extend(answers);
    }
    parsed.finish = finish(ran, keys.len(), &parsed.mutants);
    Ok(parsed)
}

fn finish(ran: &Ran, asked: usize, mutants: &[RawMutant]) -> Finish {
    let Some(step) = ran.step("test") else {
        return Finish::Nothing(Quote { text: "mutmut was not started".to_owned(), at: "test".to_owned() });
    };
    let tested = mutants.iter().filter(|mutant| mutant.status != Some(Status::NotRun)).count();
    let words = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    match step.end {
        End::Exit(0) if tested == asked => Finish::Complete,
        End::Exit(1) if words.contains("Failed to run clean test") => {
            Finish::RedBaseline(Quote { text: last_lines(&words, 12), at: "output of test".to_owned() })
        }
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram => {
            let mut quote = quote_end(step, 12);
            quote.text = format!("{tested} of {asked} chosen mutants were tested; {}", quote.text);
            if tested > 0 { Finish::Partial(quote) } else { Finish::Broken(quote) }
        }
    }
}

type Listed = BTreeMap<Key, RawMutant>;

/// What the list stage knows.
struct Known {
    listed: Listed,
    generated: Generated,
}

fn answered(known: &Known, file: &OneFile<'_>, code: (&str, Option<i64>), stopped: bool) -> RawMutant {
    let (key, code) = code;
    let mut answer = answer(code);
    if code == Some(2) && stopped {
        // mutmut's workers end so as well when it is stopped.
        answer = Answer { status: Status::NotRun, doubt: None, ..answer };
    }
    if code == Some(0) && !known.generated.runs_while_loading(key) {
        // Measured, not guessed: nothing of it was called before the mutant was on.
        answer.doubt = None;
    }
    let detail = match code {
        Some(37) => file.meta.type_errors.get(key).cloned(),
        Some(code) if !matches!(code, 0 | 1 | 33 | -24) => Some(format!("exit code {code}")),
        Some(_) | None => None,
    };
    let duration = file.meta.durations.get(key).copied().filter(|seconds| *seconds > 0.0);
    let listed = known.listed.get(&Key(key.to_owned())).cloned();
    RawMutant {
        detail,
        duration,
        pointer: Some(key.to_owned()),
        artifact: file.at.clone(),
        ..settled(listed.unwrap_or_else(|| blank(key, &file.path, answer)), answer)
    }
}

fn settled(mutant: RawMutant, answer: Answer) -> RawMutant {
    RawMutant { status: Some(answer.status), word: answer.word.to_owned(), doubt: answer.doubt, ..mutant }
}

/// A mutant of which only name, file and answer are known: its place is in the list.
pub(super) fn blank(key: &str, path: &str, answer: Answer) -> RawMutant {
    RawMutant {
        key: Key(key.to_owned()),
        path: RawPath::FromProject(path.to_owned()),
        span: RawSpan { start: RawPosition { line: 0, column: None }, end: None, unit: ColumnUnit::None },
        status: Some(answer.status),
        word: answer.word.to_owned(),
        doubt: answer.doubt,
        change: Change::default(),
        tests: Tests::default(),
        function: Some(function_of(key)),
        detail: None,
        duration: None,
        is_static: None,
        pointer: None,
        artifact: String::new(),
    }
}

/// Reads the answers of mutants that ran in processes of their own.
pub(super) fn confirm(job: &Job<'_>, suspects: &[Suspect], ran: &Ran) -> Result<Parsed, ParseError> {
    let listed = listed(job)?;
    let mut parsed = Parsed {
        promised: Promised::Listed(u64::try_from(suspects.len()).unwrap_or(u64::MAX)),
        ..Parsed::default()
    };
    let mut open = Vec::new();
    for suspect in suspects {
        let step = ran.steps.iter().rev().find(|step| step.about.as_ref() == Some(&suspect.key));
        match step.and_then(|step| Some((step, alone(step)?))) {
            Some((step, answer)) => parsed.mutants.push(single(&listed, &suspect.key, step, answer)),
            None => open.push(step.map_or_else(|| suspect.key.0.clone(), |step| quote_end(step, 3).text)),
        }
    }
    if let Some(first) = open.first() {
        let text = format!("{} of {} were not run again: {first}", open.len(), suspects.len());
        parsed.finish = Finish::Partial(Quote { text, at: "confirm".to_owned() });
    }
    Ok(parsed)
}

/// Reads the answer of one mutant.
pub(super) fn replay(job: &Job<'_>, mutant: &Mutant, ran: &Ran) -> Result<Parsed, ParseError> {
    let suspect = Suspect { key: Key(mutant.key.clone()), why: Doubt::LoadedBefore };
    confirm(job, std::slice::from_ref(&suspect), ran)
}

fn single(listed: &Listed, key: &Key, step: &StepEnd, answer: Answer) -> RawMutant {
    let words = step.stdout.text();
    let tests = if answer.status == Status::Killed { tests_failed(&words) } else { Vec::new() };
    let known = listed.get(key).cloned().unwrap_or_else(|| blank(&key.0, "", answer));
    let known = settled(known, answer);
    RawMutant {
        tests: Tests { killed_by: tests, covered_by: known.tests.covered_by.clone() },
        detail: (answer.status != Status::Survived)
            .then(|| last_lines(&words, 8))
            .filter(|text| !text.is_empty()),
        duration: Some(step.wall.as_secs_f64()),
        pointer: None,
        artifact: format!("output of {}", step.name),
        ..known
    }
}

/// What the end of pytest with one mutant means; `None`: it did not get to run.
fn alone(step: &StepEnd) -> Option<Answer> {
    let (word, status) = match step.end {
        End::Exit(0) => ("survived", Status::Survived),
        // 1: a test failed. 2: collection broke, though it works without the mutant. 3: pytest itself broke, likewise.
        End::Exit(1..=3) => ("killed", Status::Killed),
        // 4: words that pytest does not take, such as a test that the mutant renames.
        End::Exit(4) => ("suspicious", Status::Errored),
        End::Exit(5) => ("no tests", Status::NoCoverage),
        // The mutant made the process end in a way that the suite never does.
        End::Exit(_) => ("suspicious", Status::Killed),
        End::Signal(9) => ("segfault", Status::Errored),
        End::Signal(_) => ("segfault", Status::Killed),
        End::Limit => ("timeout", Status::Timeout),
        End::OutOfMemory => ("out of memory", Status::OutOfMemory),
        End::Stopped | End::NoProgram => return None,
    };
    Some(Answer { word, status, doubt: None })
}
