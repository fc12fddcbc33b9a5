//! List: every mutant of the changed files, with its place.
//!
//! In: generated files, how mutmut ended. Out: [`Parsed`]. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{Quote, RepoPath, StageName, Status};

use super::config::{Chosen, UserConfig};
use super::generated::{Generated, OneFile, Reached, files};
use super::map::FileMap;
use super::meta::{function_of, malformed};
use super::operator::classify;
use crate::tools::python::{last_lines, quote_end};
use crate::{
    Change, ChangedFile, End, Finish, Job, Key, Note, ParseError, Parsed, Promised, Ran, RawMutant, RawPath,
    StepEnd, Tests,
};

/// Nothing is called like that: all went well up to there.
const GOOD: &str = "Filtered for specific mutants, but nothing matches";
/// No test called a mutated function.
const UNREACHED: &str = "could not find any test case for any mutant";
/// libcst could not read a file; mutmut copies it and goes on.
const UNREADABLE: &str = "Unsupported syntax in ";

/// How the generation ended.
enum Ended {
    Good,
    Unreached,
    Bad(Finish),
}

/// Reads a round of the list stage.
pub(super) fn list(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    if let Some(first) = job.rounds(StageName::List).next() {
        return reached(job, first, ran);
    }
    let Some(step) = ran.step("generate") else { return Ok(nothing("the mutants were not generated")) };
    match ended(step) {
        Ended::Bad(finish) => Ok(Parsed { finish, ..Parsed::default() }),
        Ended::Good => {
            let mut parsed = listing(job, ran, step)?;
            let keys = parsed.mutants.iter().map(|mutant| mutant.key.0.as_str());
            if let Some((called, named)) = Generated::from_ran(ran).other_name(keys) {
                // mutmut itself says so on the first run and forgets it on the second.
                let text = format!(
                    "the tests call `{called}`, which mutmut names `{named}` after its path: it would find no tests. \
                     Only `src/` and the project's folder may hold packages"
                );
                parsed.finish = Finish::Broken(Quote { text, at: "mutants/mutmut-stats.json".to_owned() });
            }
            Ok(parsed)
        }
        Ended::Unreached => {
            let mut parsed = listing(job, ran, step)?;
            if !parsed.mutants.is_empty() {
                // Not a test calls any of it, says mutmut. The next round finds out whether that is so.
                parsed = Parsed { more: true, notes: parsed.notes, ..Parsed::default() };
            }
            Ok(parsed)
        }
    }
}

fn nothing(text: &str) -> Parsed {
    let quote = Quote { text: text.to_owned(), at: "list".to_owned() };
    Parsed { finish: Finish::Nothing(quote), ..Parsed::default() }
}

fn ended(step: &StepEnd) -> Ended {
    let words = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    match step.end {
        End::Exit(1) if words.contains(GOOD) => Ended::Good,
        End::Exit(1) if words.contains(UNREACHED) => Ended::Unreached,
        End::Exit(1) if words.contains("failed to collect stats") => Ended::Bad(Finish::Broken(Quote {
            text: format!(
                "the tests pass in the project, but not in mutmut's copy of it (`also_copy` of [tool.mutmut] names what the copy lacks):\n{}",
                last_lines(&words, 15)
            ),
            at: "output of generate".to_owned(),
        })),
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => {
            Ended::Bad(Finish::Broken(quote_end(step, 15)))
        }
        End::Stopped | End::NoProgram => Ended::Bad(Finish::Partial(quote_end(step, 5))),
    }
}

/// The mutants of the files that were generated.
fn listing(job: &Job<'_>, ran: &Ran, step: &StepEnd) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    let mut total = 0;
    let words = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    let generated = Generated::from_ran(ran);
    for file in files(&job.project.dir, ran)? {
        let Some(changed) = changed(job, &file.path) else { continue };
        if words.contains(&format!("{UNREADABLE}{}", file.path)) {
            parsed.notes.push(Note(format!("mutmut cannot read the syntax of {}", file.path)));
            continue;
        }
        parsed.seen.push(RawPath::FromProject(file.path.clone()));
        if file.meta.codes.is_empty() {
            parsed.notes.extend(unmutated(&file.path, changed, &[]));
            continue;
        }
        let map = file.map(&changed.bytes)?;
        parsed.notes.extend(unmutated(&file.path, changed, &map.reach()));
        for (key, _) in &file.meta.codes {
            let mutant = located(&file, &map, key, &generated)?;
            if job.settings.operators.takes(mutant.change.class) {
                total += 1;
                parsed.mutants.push(mutant);
            }
        }
    }
    left_out(job, &mut parsed);
    if let Some(path) = unmade(job, ran) {
        let text = format!("mutmut made no {path}.meta, so it did not take the file for source");
        parsed.finish = Finish::Broken(Quote { text, at: "mutants".to_owned() });
    }
    parsed.promised = Promised::Listed(total);
    Ok(parsed)
}

/// A file that was to be mutated, and of which mutmut says nothing.
fn unmade(job: &Job<'_>, ran: &Ran) -> Option<String> {
    let user = UserConfig::read(job).ok()?;
    let root = job.project.dir.resolve("mutants").ok()?;
    let made = |path: &String| {
        let name = format!("{}/{path}.meta", root.as_str());
        ran.files.iter().any(|(place, _)| place.as_str() == name)
    };
    Chosen::of(job, &user).files.into_iter().find(|path| !made(path))
}

fn located(
    file: &OneFile<'_>,
    map: &FileMap<'_>,
    key: &str,
    generated: &Generated,
) -> Result<RawMutant, ParseError> {
    let name = key.rsplit('.').next().unwrap_or(key);
    let place = map.locate(name)?;
    let (operator, class) = classify(&place.original, &place.replacement);
    Ok(RawMutant {
        key: Key(key.to_owned()),
        path: RawPath::FromProject(file.path.clone()),
        span: place.span,
        status: None,
        word: "listed".to_owned(),
        doubt: None,
        change: Change {
            operator: operator.to_owned(),
            class: Some(class),
            original: Some(place.original),
            replacement: Some(place.replacement),
            ..Change::default()
        },
        tests: Tests { covered_by: generated.tests_of(key), ..Tests::default() },
        function: Some(function_of(key)),
        detail: None,
        duration: None,
        is_static: Some(generated.runs_while_loading(key)),
        pointer: Some(key.to_owned()),
        artifact: file.at.clone(),
    })
}

fn changed<'a>(job: &Job<'a>, relative: &str) -> Option<&'a ChangedFile> {
    let path: RepoPath = job.project.dir.join(relative).ok()?;
    job.changed.files.get(&path)
}

/// A word about changed lines that mutmut never mutates.
fn unmutated(path: &str, changed: &ChangedFile, reach: &[(usize, usize)]) -> Option<Note> {
    let text = String::from_utf8_lossy(&changed.bytes);
    let outside = text
        .lines()
        .zip(1_u32..)
        .filter(|(line, number)| {
            let bare = line.trim();
            let at = usize::try_from(*number).unwrap_or(usize::MAX);
            !bare.is_empty()
                && !bare.starts_with('#')
                && changed.lines.contains(*number)
                && !reach.iter().any(|(first, last)| (*first..=*last).contains(&at))
        })
        .count();
    (outside > 0).then(|| {
        Note(format!(
            "{path}: mutmut never mutates {outside} of the changed lines (module and class level, decorated functions, nested classes)"
        ))
    })
}

/// Files that the user's own configuration leaves out were seen, and have no mutants for that reason.
fn left_out(job: &Job<'_>, parsed: &mut Parsed) {
    let Ok(user) = UserConfig::read(job) else { return };
    for (path, key) in Chosen::of(job, &user).left_out {
        parsed
            .notes
            .push(Note(format!("{path} is left out by `{key}` of the project's mutmut configuration")));
        parsed.seen.push(RawPath::FromProject(path));
    }
}

/// The second round: the mutants have no tests when no line of their functions was run.
fn reached(job: &Job<'_>, first: &Ran, ran: &Ran) -> Result<Parsed, ParseError> {
    let Some(step) = ran.step("reach") else { return Ok(nothing("what the tests reach was not measured")) };
    let Some(reached) = Reached::of(ran).filter(|reached| reached.exit == 0 && step.end == End::Exit(0))
    else {
        return Ok(Parsed { finish: Finish::Broken(quote_end(step, 12)), ..Parsed::default() });
    };
    let Some(generate) = first.step("generate") else { return Ok(nothing("the mutants were not generated")) };
    let mut parsed = listing(job, first, generate)?;
    parsed.notes.clear();
    for file in files(&job.project.dir, first)? {
        let Some(changed) = changed(job, &file.path).filter(|_| !file.meta.codes.is_empty()) else {
            continue;
        };
        let map = file.map(&changed.bytes)?;
        let lines =
            reached.lines.get(&file.path).ok_or_else(|| malformed("reached.json", "a file is missing"))?;
        for (key, _) in &file.meta.codes {
            let name = key.rsplit('.').next().unwrap_or(key);
            // The header runs when the module is loaded; where it shares its line with the body nothing is proved.
            let body = map.body_lines(name).map(|(first, last)| first..=last);
            if body.is_none_or(|mut body| body.any(|line| lines.contains(&line))) {
                let text = format!("the tests may run {name} of {}, but mutmut saw no call of it", file.path);
                let quote = Quote {
                    text: format!("{text}:\n{}", quote_end(generate, 8).text),
                    at: "list".to_owned(),
                };
                return Ok(Parsed { finish: Finish::Broken(quote), ..Parsed::default() });
            }
        }
    }
    Ok(parsed)
}

/// Every listed mutant by its key, for the stages that only learn what became of it.
pub(super) fn listed(job: &Job<'_>) -> Result<BTreeMap<Key, RawMutant>, ParseError> {
    let Some(first) = job.rounds(StageName::List).next() else { return Ok(BTreeMap::new()) };
    let Some(step) = first.step("generate") else { return Ok(BTreeMap::new()) };
    let parsed = listing(job, first, step)?;
    Ok(parsed.mutants.into_iter().map(|mutant| (mutant.key.clone(), mutant)).collect())
}

/// The answers of a job whose list stage proved that no test reaches anything.
pub(super) fn answers_of_list(job: &Job<'_>) -> Result<Parsed, ParseError> {
    let mut rounds = job.rounds(StageName::List);
    match (rounds.next(), rounds.next()) {
        (Some(first), Some(second)) => {
            let mut parsed = reached(job, first, second)?;
            for mutant in &mut parsed.mutants {
                mutant.status = Some(Status::NoCoverage);
                "no tests".clone_into(&mut mutant.word);
            }
            Ok(parsed)
        }
        (Some(_) | None, _) => Ok(nothing("the list stage left nothing")),
    }
}
