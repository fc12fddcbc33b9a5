//! What Probe, Prepare, List and Test left.
//!
//! In: what ran. Out: [`Parsed`]. I/O: none.

use polymut_schemas::Quote;

use super::plan::{BASELINE, BUILD, GO, LIST, REPORT, TEST, VERSION};
use super::report::{self, Record};
use super::{config, mutant};
use crate::{Baseline, End, Finish, Job, Note, ParseError, Parsed, Promised, Ran, RawPath, StepEnd, Tick};

const NO_MUTANTS: Promised = Promised::Unknown("this stage reports no mutants");

/// Versions of Go and of the tool. A `go install` leaves the tool without one: it says `dev`.
pub(crate) fn probe(ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: NO_MUTANTS, ..Parsed::default() };
    for (name, fact, word) in [(GO, "go.version", 2), (VERSION, "tool.version", 2)] {
        let Some(step) = ran.step(name) else {
            parsed.finish = Finish::Nothing(nothing_ran());
            return parsed;
        };
        if let Some(finish) = problem(step) {
            parsed.finish = finish;
            return parsed;
        }
        let text = step.stdout.text();
        if let Some(version) = text.split_whitespace().nth(word) {
            parsed.facts.set(fact, version.trim_start_matches("go"));
        }
    }
    if parsed.facts.one("tool.version") == Some("dev") {
        let text =
            "this gremlins was built from source and does not say its version; polymut was tried with 0.6.0";
        parsed.notes.push(Note(text.to_owned()));
    }
    parsed
}

/// Build and suite.
pub(crate) fn prepare(ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: NO_MUTANTS, ..Parsed::default() };
    let Some(build) = ran.step(BUILD) else {
        parsed.finish = Finish::Nothing(nothing_ran());
        return parsed;
    };
    if let Some(finish) = problem(build) {
        parsed.finish = match finish {
            Finish::Broken(quote) if build.end == End::Exit(1) => Finish::RedBaseline(quote),
            other => other,
        };
        return parsed;
    }
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name == BASELINE).collect();
    if runs.is_empty() {
        parsed.finish = Finish::Nothing(nothing_ran());
        return parsed;
    }
    let red = runs.iter().find_map(|run| problem(run));
    let seconds = runs.iter().map(|run| run.wall.as_secs_f64()).fold(0.0, f64::max);
    parsed.baseline = Some(Baseline { green: red.is_none(), seconds: Some(seconds) });
    parsed.finish = match red {
        Some(Finish::Broken(quote)) => Finish::RedBaseline(quote),
        Some(other) => other,
        None => Finish::Complete,
    };
    parsed
}

/// The dry run.
pub(crate) fn list(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = read(job, ran, LIST)?;
    for mutant in &mut parsed.mutants {
        mutant.status = None;
        mutant.doubt = None;
    }
    parsed.promised = match parsed.finish {
        Finish::Complete => Promised::Listed(count(parsed.mutants.len())),
        Finish::Partial(_) | Finish::Nothing(_) | Finish::RedBaseline(_) | Finish::Broken(_) => NO_MUTANTS,
    };
    Ok(parsed)
}

/// The run.
pub(crate) fn test(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = read(job, ran, TEST)?;
    parsed.promised =
        Promised::Unknown("gremlins prints no total; the mutants of its dry run are looked for one by one");
    Ok(parsed)
}

fn read(job: &Job<'_>, ran: &Ran, name: &str) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    let Some(step) = ran.step(name) else {
        parsed.finish = Finish::Nothing(nothing_ran());
        return Ok(parsed);
    };
    if let Some(bytes) = ran.file_ending(REPORT) {
        for record in report::read(REPORT, bytes)? {
            let status = report::meaning(&record.word, &at(REPORT, &record))?;
            parsed.mutants.push(mutant::raw(Some(job), &record, REPORT, status));
        }
    }
    parsed.finish = finish(step, ran.file_ending(REPORT).is_some());
    if let (Finish::Partial(quote), true) = (&parsed.finish, parsed.mutants.is_empty()) {
        parsed.finish = Finish::Nothing(quote.clone());
    }
    if parsed.finish == Finish::Complete {
        parsed.seen = seen(job, &parsed);
    }
    Ok(parsed)
}

fn at(artifact: &str, record: &Record) -> String {
    format!("{artifact}{}", record.pointer)
}

/// Ended by itself with 0 and left a report, or said that there was nothing to report. Ten and eleven are the
/// project's own thresholds.
fn finish(step: &StepEnd, reported: bool) -> Finish {
    if let Some(quote) = line_with(step, "failed to gather coverage") {
        return Finish::RedBaseline(quote);
    }
    match step.end {
        End::Exit(0 | 10 | 11) if reported => Finish::Complete,
        End::Exit(0) if line_with(step, "No results to report").is_some() => Finish::Complete,
        End::Exit(0) => Finish::Nothing(Quote {
            text: "gremlins ended with 0, but left no fresh report".to_owned(),
            at: step.name.clone(),
        }),
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram => {
            problem(step).unwrap_or_else(|| Finish::Broken(tail(step)))
        }
    }
}

/// Files that the tool had before it: it walks every file that the generated configuration leaves in. Where the
/// project's own file excludes some, a file without a mutant may be one of them.
fn seen(job: &Job<'_>, parsed: &Parsed) -> Vec<RawPath> {
    let mine = config::Own::of(job).excludes.is_empty();
    let files = job.changed.files.keys().filter_map(|path| job.project.dir.relative(path));
    files
        .map(|name| RawPath::FromProject(name.to_owned()))
        .filter(|path| mine || parsed.mutants.iter().any(|mutant| mutant.path == *path))
        .collect()
}

/// Why a step is not a good one: `None` for exit 0.
fn problem(step: &StepEnd) -> Option<Finish> {
    let quote = |text: String| Quote { text, at: step.name.clone() };
    Some(match step.end {
        End::Exit(0) => return None,
        End::Exit(_) => Finish::Broken(tail(step)),
        End::NoProgram => Finish::Broken(quote("the program was not found".to_owned())),
        End::Signal(number) => Finish::Partial(quote(format!("ended by signal {number}"))),
        End::Limit => Finish::Partial(quote("stopped at its wall limit".to_owned())),
        End::OutOfMemory => Finish::Partial(quote("stopped at the memory ceiling".to_owned())),
        // TERM lets the tool end with 0 and without a report.
        End::Stopped => Finish::Partial(quote("stopped".to_owned())),
    })
}

fn line_with(step: &StepEnd, words: &str) -> Option<Quote> {
    [("stdout", &step.stdout), ("stderr", &step.stderr)].into_iter().find_map(|(name, output)| {
        let text = output.text();
        let line = text.lines().find(|line| line.contains(words))?;
        Some(Quote { text: line.trim().to_owned(), at: format!("{name} of {}", step.name) })
    })
}

/// Failed tests first, else the last lines.
fn tail(step: &StepEnd) -> Quote {
    let both = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    let lines: Vec<&str> = both.lines().filter(|line| !line.trim().is_empty()).collect();
    let failed = lines
        .iter()
        .position(|line| line.trim_start().starts_with("--- FAIL") || line.contains("[build failed]"));
    let from = failed.unwrap_or(lines.len().saturating_sub(4));
    let kept: Vec<&str> = lines.iter().skip(from).take(4).copied().collect();
    Quote { text: kept.join("\n"), at: format!("output of {}", step.name) }
}

fn nothing_ran() -> Quote {
    Quote { text: "nothing was run".to_owned(), at: "plan".to_owned() }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// `KILLED CONDITIONALS_BOUNDARY at calc.go:4:7`.
pub(crate) fn tick(step: &str, line: &str) -> Option<Tick> {
    (step == TEST && line.contains(" at ")).then(|| Tick {
        done: None,
        total: None,
        word: Some(line.trim().to_owned()),
    })
}

/// Reports that gremlins wrote elsewhere.
pub(crate) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    if files.is_empty() {
        return Err(ParseError::MissingArtifact { what: "a JSON report".to_owned() });
    }
    let mut parsed = Parsed::default();
    for (name, bytes) in files {
        for record in report::read(name, bytes)? {
            // A dry run's word is an answer that is missing, not one that was only asked for.
            let status = report::meaning(&record.word, &at(name, &record))?;
            let status = status.or(Some((polymut_schemas::Status::NotRun, None)));
            let mut raw = mutant::raw(None, &record, name, status);
            raw.doubt = None;
            parsed.mutants.push(raw);
        }
    }
    parsed.promised = Promised::Listed(count(parsed.mutants.len()));
    Ok(parsed)
}
