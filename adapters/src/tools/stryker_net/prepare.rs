//! Reads the stages that run no mutant: versions, packages, MSBuild's answers, builds and tests as they are.
//!
//! In: ends and outputs of dotnet commands. Out: [`Parsed`]. I/O: none.

use polymut_schemas::{Quote, StageName};
use semver::Version;

use super::{log, msbuild};
use crate::{Baseline, End, Finish, Job, Note, Parsed, Promised, Ran, StepEnd};

/// Versions of the tool and of the SDK.
pub(super) fn probe(ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: Promised::Unknown("a probe lists nothing"), ..Parsed::default() };
    let sdk = ran
        .step("sdk")
        .filter(|step| step.end == End::Exit(0))
        .map(|step| step.stdout.text().trim().to_owned());
    match sdk {
        Some(version) => parsed.facts.set("dotnet.version", version),
        None => parsed.finish = unanswered(ran, "sdk", "no .NET SDK answers"),
    }
    let said = ran.step("version").and_then(|step| tool_version(&step.stdout.text()));
    match said {
        Some(version) => {
            parsed.facts.set("tool.version", version);
        }
        None if parsed.finish == Finish::Complete => {
            parsed.finish = unanswered(ran, "version", "Stryker.NET does not say its version");
        }
        None => {}
    }
    parsed
}

/// `Version: 5.1.0`: what `--version` prints is not the tool's version.
fn tool_version(stdout: &str) -> Option<String> {
    let version = stdout.lines().find_map(|line| line.trim().strip_prefix("Version: "))?;
    Version::parse(version.trim()).ok().map(|version| version.to_string())
}

fn unanswered(ran: &Ran, name: &str, otherwise: &str) -> Finish {
    Finish::Nothing(match ran.step(name) {
        Some(step) => log::quote(step, otherwise),
        None => Quote { text: otherwise.to_owned(), at: name.to_owned() },
    })
}

/// First round: packages and MSBuild's answers. Second: builds and the tests without a mutant.
pub(super) fn prepare(job: &Job<'_>, ran: &Ran) -> Parsed {
    if job.round(StageName::Prepare) == 0 { fetched(job, ran) } else { built(ran) }
}

fn fetched(job: &Job<'_>, ran: &Ran) -> Parsed {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    if let Some(step) = ran.steps.iter().find(|step| matches!(step.end, End::Stopped | End::NoProgram)) {
        parsed.finish = Finish::Nothing(log::quote(step, "no words"));
        return parsed;
    }
    (parsed.finish, parsed.facts, parsed.notes) = msbuild::learn(job, ran);
    parsed.more = parsed.finish == Finish::Complete;
    for step in ran.steps.iter().filter(|step| step.name.starts_with("restore-") && step.end != End::Exit(0))
    {
        parsed
            .notes
            .push(Note(format!("dotnet restore did not succeed: {}", log::quote(step, "no words").text)));
    }
    parsed
}

fn built(ran: &Ran) -> Parsed {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    let is_suite = |step: &&StepEnd| step.name.starts_with("build-") || step.name.starts_with("baseline-");
    if let Some(failed) = ran.steps.iter().filter(is_suite).find(|step| step.end != End::Exit(0)) {
        let quote = red(failed);
        parsed.finish = match failed.end {
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => Finish::RedBaseline(quote),
            End::Stopped => Finish::Partial(quote),
            End::NoProgram => Finish::Nothing(quote),
        };
        let red = matches!(parsed.finish, Finish::RedBaseline(_));
        parsed.baseline = red.then_some(Baseline { green: false, seconds: None });
        return parsed;
    }
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name.starts_with("baseline-")).collect();
    let counts: Vec<Option<u64>> = runs.iter().map(|step| log::tests_run(&step.stdout.text())).collect();
    if counts.iter().all(|count| *count == Some(0)) {
        // No run at all, or none of them had a test.
        let text = if runs.is_empty() { "the tests were not reached" } else { "no test project has a test" };
        parsed.finish = Finish::Nothing(Quote { text: text.to_owned(), at: "dotnet test".to_owned() });
        return parsed;
    }
    for (step, _) in runs.iter().zip(&counts).filter(|(_, count)| **count == Some(0)) {
        parsed.notes.push(Note(format!("{} ran no test at all", step.name)));
    }
    parsed.notes.dedup();
    let seconds = runs.iter().map(|step| step.wall.as_secs_f64()).fold(0.0, f64::max);
    parsed.baseline = Some(Baseline { green: true, seconds: Some(seconds) });
    parsed
}

/// The words about a step that is not green, with the tests that failed.
fn red(step: &StepEnd) -> Quote {
    let mut quote = log::quote(step, "no words");
    let tests = log::failed_tests(&step.stdout.text());
    if !tests.is_empty() {
        quote.text = format!("failing: {}; {}", tests.join(", "), quote.text);
    }
    quote
}
