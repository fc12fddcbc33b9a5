//! Reads the list stage: every mutant of the changed files, what the user leaves out, and which files were read.
//!
//! In: output of `--list --json` and `--list-files --json`. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, StageName, Status};
use serde::Deserialize;

use super::config::{Options, Suite};
use super::key::Keys;
use super::outcome::{Entry, read};
use super::{log, prepare};
use crate::{
    End, Facts, Finish, Job, Note, OperatorSet, ParseError, Parsed, Promised, Ran, RawMutant, RawPath,
    StepEnd,
};

#[derive(Deserialize)]
struct SourceFile {
    path: String,
}

/// Reads a round of the list stage.
pub(super) fn list(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    let Some(first) = job.rounds(StageName::List).next() else {
        let mut parsed = listed(job, ran)?;
        let extra = extra_packages(job, &parsed);
        if parsed.finish == Finish::Complete && !extra.is_empty() {
            parsed.facts.0.insert("packages.extra".to_owned(), extra);
            parsed.more = true;
        }
        return Ok(parsed);
    };
    let mut parsed = listed(job, first)?;
    let (finish, baseline, notes) = prepare::suite(ran);
    if let Some(seconds) = baseline.as_ref().and_then(|baseline| baseline.seconds) {
        parsed.facts.set("baseline.extra", format!("{seconds:.3}"));
    }
    parsed.finish = finish;
    parsed.baseline = baseline;
    parsed.notes.extend(notes);
    Ok(parsed)
}

fn listed(job: &Job<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
    if let Some(failed) = ran.steps.iter().find(|step| step.end != End::Exit(0) || step.stdout.lost > 0) {
        return Ok(Parsed { finish: unlisted(failed), ..Parsed::default() });
    }
    let count = |prefix: &str| ran.steps.iter().filter(|step| step.name.starts_with(prefix)).count();
    if count("list-") == 0 || count("files-") == 0 {
        let text = "the list was not asked for to its end".to_owned();
        let finish = Finish::Nothing(Quote { text, at: "list".to_owned() });
        return Ok(Parsed { finish, ..Parsed::default() });
    }
    let (entries, mut notes) = chosen_entries(job, ran)?;
    let kept = users_choice(ran)?;
    let mut keys = Keys::default();
    let mut seen_names: Counted = BTreeMap::new();
    let mut mutants = Vec::new();
    for (at, pointer, entry) in &entries {
        let name = entry.name();
        let mut mutant = entry.listed(keys.next(&entry.package, &name), at, pointer.clone());
        let name = (entry.package.clone(), name);
        let nth = seen_names.entry(name.clone()).or_default();
        *nth += 1;
        if kept.as_ref().is_some_and(|kept| kept.get(&name).copied().unwrap_or_default() < *nth) {
            mutant.status = Some(Status::Ignored);
            "excluded".clone_into(&mut mutant.word);
            mutant.detail = Some("left out by .cargo/mutants.toml".to_owned());
        }
        mutants.push(mutant);
    }
    notes.extend(excluded_note(&mutants));
    let mut seen = Vec::new();
    for step in steps(ran, "files-") {
        let files: Vec<SourceFile> = read(&output(step), &step.stdout.bytes)?;
        seen.extend(files.into_iter().map(|file| RawPath::FromProject(file.path)));
    }
    let promised = Promised::Listed(mutants.len() as u64);
    Ok(Parsed { promised, seen, mutants, notes, facts: Facts::default(), ..Parsed::default() })
}

fn unlisted(step: &StepEnd) -> Finish {
    let quote = log::quote(step, "no words");
    match step.end {
        End::Exit(0) => {
            let text = format!("the output was too long by {} bytes", step.stdout.lost);
            Finish::Broken(Quote { text, at: output(step) })
        }
        End::Exit(_) | End::Signal(_) | End::OutOfMemory => Finish::Broken(quote),
        End::Limit | End::Stopped | End::NoProgram => Finish::Nothing(quote),
    }
}

fn steps<'a>(ran: &'a Ran, prefix: &'a str) -> impl Iterator<Item = &'a StepEnd> {
    ran.steps.iter().filter(move |step| step.name.starts_with(prefix))
}

fn output(step: &StepEnd) -> String {
    format!("stdout of {}", step.name)
}

type Placed = (String, String, Entry);

/// How often each package and name is listed.
type Counted = BTreeMap<(String, String), u64>;

/// Every entry with its place, without what polymut itself leaves out, which the notes say.
fn chosen_entries(job: &Job<'_>, ran: &Ran) -> Result<(Vec<Placed>, Vec<Note>), ParseError> {
    let mut entries: Vec<Placed> = Vec::new();
    for step in steps(ran, "list-") {
        let at = output(step);
        let list: Vec<Entry> = read(&at, &step.stdout.bytes)?;
        entries
            .extend(list.into_iter().enumerate().map(|(row, entry)| (at.clone(), format!("/{row}"), entry)));
    }
    let mut notes = Vec::new();
    // One edit of one file: whoever owns the file tests it, and a package that only reaches it through `..` does not
    // test it a second time.
    let plain: BTreeSet<_> = entries
        .iter()
        .filter(|(.., entry)| !entry.file.contains(".."))
        .filter_map(|(.., entry)| entry.edit(&job.project.dir))
        .collect();
    let all = entries.len();
    entries.retain(|(.., entry)| {
        !entry.file.contains("..") || entry.edit(&job.project.dir).is_none_or(|edit| !plain.contains(&edit))
    });
    if entries.len() < all {
        let text = "mutants are listed once more by packages that share the file through `#[path]`";
        notes.push(Note(format!("{} {text}; the package that holds it judges", all - entries.len())));
    }
    if job.settings.operators == OperatorSet::Logic {
        let all = entries.len();
        entries.retain(|(.., entry)| entry.is_logic());
        notes.push(Note(format!("{} mutants are outside the operator set `logic`", all - entries.len())));
    }
    Ok((entries, notes))
}

/// How often the user's own configuration lists each package and name; `None` where it leaves nothing out.
fn users_choice(ran: &Ran) -> Result<Option<Counted>, ParseError> {
    let Some(step) = ran.step("chosen-0") else { return Ok(None) };
    let list: Vec<Entry> = read(&output(step), &step.stdout.bytes)?;
    let mut kept = Counted::new();
    for entry in list {
        let name = entry.name();
        *kept.entry((entry.package, name)).or_default() += 1;
    }
    Ok(Some(kept))
}

fn excluded_note(mutants: &[RawMutant]) -> Option<Note> {
    let excluded = mutants.iter().filter(|mutant| mutant.status == Some(Status::Ignored)).count();
    (excluded > 0).then(|| Note(format!("{excluded} mutants are left out by .cargo/mutants.toml")))
}

/// Packages that are mutated though their suites were not part of the baseline.
fn extra_packages(job: &Job<'_>, parsed: &Parsed) -> Vec<String> {
    let judged_by_own = Options::read(job).is_ok_and(|options| options.suite() == Suite::Mutated);
    if !judged_by_own {
        return Vec::new();
    }
    let measured = job.facts.all("baseline.suites");
    let packages: BTreeSet<String> = parsed
        .mutants
        .iter()
        .filter(|mutant| mutant.status.is_none())
        .filter_map(|mutant| mutant.key.0.split_once('#').map(|(package, _)| package.to_owned()))
        .filter(|package| !measured.contains(package))
        .collect();
    packages.into_iter().collect()
}
