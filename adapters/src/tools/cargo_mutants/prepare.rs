//! Reads the stages that run cargo itself: probe, prepare, replay.
//!
//! In: ends and outputs of cargo commands. Out: [`Parsed`]. I/O: none.

use std::time::Duration;

use polymut_schemas::{Mutant, Position, Quote, RepoPath, Status};

use super::{log, plan};
use crate::{
    Baseline, Change, ColumnUnit, End, Facts, Finish, Job, Key, Note, Parsed, Promised, Ran, RawMutant,
    RawPath, RawPosition, RawSpan, Role, Stage, StepEnd, Tests,
};

/// What the names of baseline steps start with.
pub(super) const BASELINE: &str = "baseline-";
const BUILD: &str = "build-";

/// Versions of the tool and of cargo.
pub(super) fn probe(ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: Promised::Unknown("a probe lists nothing"), ..Parsed::default() };
    match version_of(ran, "version", "cargo-mutants") {
        Ok(version) => {
            parsed.facts.set("tool.version", version);
        }
        Err(quote) => parsed.finish = Finish::Nothing(quote),
    }
    for (step, word, fact) in
        [("cargo", "cargo", "cargo.version"), ("nextest", "cargo-nextest", "cargo-nextest.version")]
    {
        match version_of(ran, step, word) {
            Ok(version) => parsed.facts.set(fact, version),
            Err(quote) if ran.step(step).is_some() && parsed.finish == Finish::Complete => {
                parsed.finish = Finish::Nothing(quote);
            }
            Err(_) => {}
        }
    }
    parsed
}

fn version_of(ran: &Ran, step: &str, word: &str) -> Result<String, Quote> {
    let Some(end) = ran.step(step) else {
        return Err(Quote { text: format!("{word} was not asked for its version"), at: step.to_owned() });
    };
    let text = end.stdout.text();
    let version =
        text.lines().find_map(|line| line.strip_prefix(word)?.trim().split(' ').next().map(str::to_owned));
    match (end.end, version) {
        (End::Exit(0), Some(version)) if !version.is_empty() => Ok(version),
        (
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram,
            _,
        ) => Err(log::quote(end, &format!("{word} does not say its version"))),
    }
}

/// Whether the suite is green without a mutant, and how long builds take.
pub(super) fn prepare(job: &Job<'_>, ran: &Ran) -> Parsed {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    let planned = plan::plan(job, Stage::Prepare).map(|plan| plan.steps).unwrap_or_default();
    if !planned.iter().any(|step| step.role == Role::Baseline) && ran.step("fetch").is_some() {
        // The list stage finds out which packages reach such files, and measures their suites.
        let text = "no changed file lies in the folder of a package";
        parsed.notes.push(Note(text.to_owned()));
        return parsed;
    }
    let (finish, baseline, notes) = suite(ran);
    parsed.finish = finish;
    parsed.baseline = baseline;
    parsed.notes = notes;
    let builds =
        ran.steps.iter().filter(|step| step.name.starts_with(BUILD)).map(|step| step.wall.as_secs_f64());
    let longest = builds.fold(0.0, f64::max);
    parsed.facts.set("build.seconds", format!("{longest:.3}"));
    let tested = ran.steps.iter().filter_map(|step| step.name.strip_prefix(BASELINE)).map(str::to_owned);
    let mut tested: Vec<String> = tested.collect();
    tested.dedup();
    parsed.facts.0.insert("baseline.suites".to_owned(), tested);
    parsed
}

/// The end of build and baseline steps, whichever stage has them.
pub(super) fn suite(ran: &Ran) -> (Finish, Option<Baseline>, Vec<Note>) {
    let mut notes = Vec::new();
    let fetch = ran.step("fetch").filter(|step| step.end != End::Exit(0));
    if let Some(step) = fetch {
        notes.push(Note(format!("cargo fetch did not succeed: {}", log::quote(step, "no words").text)));
    }
    let is_suite = |step: &&StepEnd| step.name.starts_with(BUILD) || step.name.starts_with(BASELINE);
    if let Some(failed) = ran.steps.iter().filter(is_suite).find(|step| step.end != End::Exit(0)) {
        let quote = log::quote(failed, "no words");
        let finish = match failed.end {
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => Finish::RedBaseline(quote),
            End::Stopped => Finish::Partial(quote),
            End::NoProgram => Finish::Nothing(quote),
        };
        let red = matches!(finish, Finish::RedBaseline(_));
        return (finish, red.then_some(Baseline { green: false, seconds: None }), notes);
    }
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name.starts_with(BASELINE)).collect();
    if runs.is_empty() {
        let text = "the tests were not reached".to_owned();
        let nothing = Finish::Nothing(Quote { text, at: "Cargo.toml".to_owned() });
        return (nothing, None, notes);
    }
    for run in runs.iter().filter(|run| log::ran_no_test(&run.stdout.text())) {
        notes.push(Note(format!("{} ran no test at all", run.name)));
    }
    notes.dedup();
    let seconds = runs.iter().map(|run| run.wall.as_secs_f64()).fold(0.0, f64::max);
    (Finish::Complete, Some(Baseline { green: true, seconds: Some(seconds) }), notes)
}

/// How long one build with a mutant may take: the first one in a fresh sandbox may still be a whole build.
pub(super) fn build_limit(facts: &Facts) -> Duration {
    let whole = facts.one("build.seconds").and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    Duration::from_secs_f64(2.0 * whole.clamp(0.0, 86_400.0)) + Duration::from_mins(2)
}

/// The mutant's file with the mutant in it, line ends as they are.
pub(super) fn mutated(job: &Job<'_>, mutant: &Mutant) -> Option<(RepoPath, Vec<u8>)> {
    let path = mutant.file.clone()?;
    let text = std::str::from_utf8(&job.changed.files.get(&path)?.bytes).ok()?;
    let span = mutant.span?;
    let (from, to) = (offset(text, span.start)?, offset(text, span.end?)?);
    let changed = format!("{}{}{}", text.get(..from)?, mutant.replacement.as_ref()?, text.get(to..)?);
    Some((path, changed.into_bytes()))
}

fn offset(text: &str, position: Position) -> Option<usize> {
    let line = usize::try_from(position.line.checked_sub(1)?).ok()?;
    let start = match line {
        0 => 0,
        _ => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let column = usize::try_from(position.column?.checked_sub(1)?).ok()?;
    let rest = text.get(start..)?;
    let within = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(column)?;
    Some(start + within)
}

/// One mutant replayed by cargo alone: a build, then the tests.
pub(super) fn replay(mutant: &Mutant, ran: &Ran) -> Parsed {
    let (build, test) = (ran.step("build"), ran.step("test"));
    // The words are those that the tool has for the same ends.
    let (status, word, end) = match (build.map(|step| step.end), test.map(|step| step.end)) {
        (Some(End::Exit(0)), Some(End::Exit(0))) => (Status::Survived, "MissedMutant", test),
        (Some(End::Exit(0)), Some(End::Exit(_))) => (Status::Killed, "CaughtMutant", test),
        (Some(End::Exit(0)), Some(End::Limit)) => (Status::Timeout, "Timeout", test),
        (Some(End::Exit(0)), Some(End::OutOfMemory)) => (Status::OutOfMemory, "Failure", test),
        (Some(End::Exit(101)), None) => (Status::Unviable, "Unviable", build),
        _ => {
            let last = ran.steps.last();
            let words = "the replay did not get to a result".to_owned();
            let quote = last
                .map_or(Quote { text: words, at: "replay".to_owned() }, |step| log::quote(step, "no words"));
            let promised = Promised::Listed(1);
            return Parsed { finish: Finish::Nothing(quote), promised, ..Parsed::default() };
        }
    };
    let output = end.map(|step| step.stdout.text().into_owned()).unwrap_or_default();
    let killed_by = if status == Status::Killed { log::failed_tests(&output) } else { Vec::new() };
    let mutants = vec![RawMutant {
        key: Key(mutant.key.clone()),
        path: RawPath::FromRepo(mutant.file.as_ref().map(ToString::to_string).unwrap_or_default()),
        span: raw_span(mutant),
        status: Some(status),
        word: word.to_owned(),
        doubt: None,
        change: Change {
            operator: mutant.operator.name.clone(),
            class: Some(mutant.operator.class),
            original: mutant.original.clone(),
            replacement: mutant.replacement.clone(),
            diff: None,
            description: mutant.description.clone(),
        },
        tests: Tests { killed_by, covered_by: Vec::new() },
        function: mutant.function.clone(),
        detail: end.filter(|_| status != Status::Survived).map(|step| log::quote(step, word).text),
        duration: end.map(|step| step.wall.as_secs_f64()),
        is_static: None,
        pointer: None,
        artifact: format!("output of {}", end.map_or("replay", |step| step.name.as_str())),
    }];
    Parsed { promised: Promised::Listed(1), mutants, ..Parsed::default() }
}

fn raw_span(mutant: &Mutant) -> RawSpan {
    let raw = |position: Position| RawPosition { line: position.line, column: position.column };
    let start = mutant.span.map_or(RawPosition { line: 0, column: None }, |span| raw(span.start));
    RawSpan { start, end: mutant.span.and_then(|span| span.end).map(raw), unit: ColumnUnit::Chars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_and_keep_line_ends() {
        let text = "// é\r\nlet é = a + b;\r\n";
        let at = |line, column| offset(text, Position { line, column: Some(column) });
        assert_eq!(at(2, 11).map(|at| &text[at..=at]), Some("+"));
        assert_eq!(at(2, 15).map(|at| &text[at..]), Some("\r\n"));
        assert_eq!(at(4, 1), None);
        assert_eq!(at(0, 1), None);
    }

    #[test]
    fn the_first_build_in_a_fresh_sandbox_may_be_a_whole_one() {
        let mut facts = Facts::default();
        assert_eq!(build_limit(&facts), Duration::from_mins(2));
        facts.set("build.seconds", "60.000");
        assert_eq!(build_limit(&facts), Duration::from_mins(4));
    }
}
