//! Confirm: each doubted mutant alone, behind Stryker's own switch, with the project's whole suite.
//!
//! In: suspects, recorded ends. Out: [`Plan`], [`Parsed`]. I/O: none.
//!
//! The files are instrumented once by Stryker's instrumenter; a run without any mutant on must stay green, or nothing that
//! follows can be believed. No coverage data, test filter or reused process takes part, which are what the doubts are
//! about.

use polymut_schemas::{Quote, Status};
use serde::Serialize;

use super::keys::Spot;
use super::{command, operators, plan, scripts, words};
use crate::{
    Change, End, Finish, Job, Key, Parsed, Piece, Plan, Promised, Ran, RawMutant, RawPath, ScopeFit, Step,
    StepEnd, Suspect, Tests,
};

const INSTRUMENT: &str = "instrument";
const CONTROL: &str = "control";

/// The script's exit code for a mutant that is not made again.
const LOST: i32 = 97;

#[derive(Serialize)]
struct Wanted {
    suspects: Vec<WantedSuspect>,
}

#[derive(Serialize)]
struct WantedSuspect {
    file: String,
    span: [u32; 4],
    operator: String,
    replacement: Option<String>,
}

/// Instruments, runs without a mutant, then once per suspect.
pub(super) fn plan(job: &Job<'_>, suspects: &[Suspect]) -> Option<Plan> {
    let spots: Vec<(&Key, Spot)> =
        suspects.iter().filter_map(|suspect| Some((&suspect.key, Spot::read(&suspect.key)?))).collect();
    if spots.is_empty() {
        return None;
    }
    let wanted = spots.iter().map(|(_, spot)| wanted(spot.clone())).collect();
    let json = serde_json::to_vec(&Wanted { suspects: wanted }).unwrap_or_default();
    let mut files = scripts::files(&plan::request(job));
    files.push(scripts::new_file("suspects.request.json", json));
    let instrument = command::script(job, INSTRUMENT, "confirm.mjs", vec![Piece::word(INSTRUMENT)]);
    let mut steps = vec![command::with(instrument, files), run(job, CONTROL, "-")];
    for (number, (key, _)) in spots.iter().enumerate() {
        let mut step = run(job, &format!("suspect-{number}"), &number.to_string());
        step.about = Some((*key).clone());
        step.limit = job.limits.test();
        step.go_on = &[0, 1];
        steps.push(step);
    }
    Some(Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant })
}

fn wanted(Spot(file, span, operator, replacement): Spot) -> WantedSuspect {
    WantedSuspect { file, span, operator, replacement }
}

fn run(job: &Job<'_>, name: &str, suspect: &str) -> Step {
    let suite = command::suite(job).words.into_iter().map(Piece::word);
    let words = [Piece::word("run"), Piece::word(suspect)].into_iter().chain(suite).collect();
    command::script(job, name, "confirm.mjs", words)
}

/// One answer per suspect whose step ran.
pub(super) fn confirmed(suspects: &[Suspect], ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: Promised::Unknown("only doubts are settled"), ..Parsed::default() };
    for name in [INSTRUMENT, CONTROL] {
        match ran.step(name) {
            Some(step) if step.end == End::Exit(0) => {}
            Some(step) => {
                parsed.finish = Finish::Broken(words::quote(step));
                return parsed;
            }
            None => {
                let text = format!("the step `{name}` did not run");
                parsed.finish = Finish::Nothing(Quote { text, at: name.to_owned() });
                return parsed;
            }
        }
    }
    parsed.mutants = suspects.iter().filter_map(|suspect| answer(suspect, ran)).collect();
    if parsed.mutants.len() < suspects.len() {
        let text = format!("{} of {} suspects were settled", parsed.mutants.len(), suspects.len());
        parsed.finish = Finish::Partial(Quote { text, at: "confirm".to_owned() });
    }
    parsed
}

fn answer(suspect: &Suspect, ran: &Ran) -> Option<RawMutant> {
    let step = ran.steps.iter().rfind(|step| step.about.as_ref() == Some(&suspect.key))?;
    let (status, word) = weigh(step)?;
    let Spot(file, span, operator, replacement) = Spot::read(&suspect.key)?;
    let place = Spot(file.clone(), span, operator.clone(), None);
    Some(RawMutant {
        key: suspect.key.clone(),
        path: RawPath::FromProject(file),
        span: place.raw_span(),
        status: Some(status),
        word: word.to_owned(),
        doubt: None,
        change: Change {
            class: Some(operators::class(&operator)),
            operator,
            replacement,
            ..Change::default()
        },
        tests: Tests::default(),
        function: None,
        detail: (status == Status::Killed || status == Status::Errored).then(|| words::quote(step).text),
        duration: Some(step.wall.as_secs_f64()),
        is_static: None,
        pointer: None,
        artifact: format!("exit of {}", step.name),
    })
}

/// The suite's end as an answer. The control run was green, so a red one has the mutant as its cause.
fn weigh(step: &StepEnd) -> Option<(Status, &'static str)> {
    match step.end {
        End::Exit(0) => Some((Status::Survived, "passed")),
        End::Exit(LOST) => Some((Status::Errored, "not made again")),
        End::Exit(_) => Some((Status::Killed, "failed")),
        End::Limit => Some((Status::Timeout, "limit")),
        End::OutOfMemory => Some((Status::OutOfMemory, "out of memory")),
        End::Signal(_) => Some((Status::Errored, "died")),
        End::Stopped | End::NoProgram => None,
    }
}
