//! Reads what runs of the tool left: the test and confirm stages.
//!
//! In: `mutants.out` folders and how their runs ended. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, Status};

use super::judge::Judged;
use super::key::Keys;
use super::outcome::{Entry, Report, read};
use super::{ID, log};
use crate::{
    Doubt, End, Finish, Key, Note, ParseError, Parsed, Place, Promised, Ran, RawMutant, StepEnd, Suspect,
    Tests, Units,
};

/// The files of one `mutants.out` by their paths in it.
pub(super) struct Folder<'a> {
    pub(super) at: String,
    pub(super) files: BTreeMap<&'a str, &'a [u8]>,
}

/// What one `mutants.out` says.
#[derive(Default)]
pub(super) struct Reading {
    /// Tested ones first, in the order of the file.
    pub(super) mutants: Vec<RawMutant>,
    /// Planned ones that were not tested, in order.
    pub(super) untested: Vec<RawMutant>,
    /// How many were planned; `None` without `mutants.json`.
    pub(super) planned: Option<u64>,
    /// Why the run is not complete by its own account.
    pub(super) broken_off: Option<String>,
    /// Why no mutant was tested.
    pub(super) red_baseline: Option<Quote>,
    /// The version that wrote the folder, since 25.
    pub(super) version: Option<String>,
}

impl<'a> Folder<'a> {
    fn gathered(ran: &'a Ran, step: &str) -> Self {
        let at = format!("{step}/mutants.out");
        let prefix = format!("{at}/");
        let files = ran.files.iter().filter_map(|(place, bytes)| match place {
            Place::Work(path) => Some((path.as_str().strip_prefix(&prefix)?, bytes.as_slice())),
            Place::Sandbox(_) => None,
        });
        Self { files: files.collect(), at }
    }

    pub(super) fn path(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}/{name}", self.at) }
    }

    fn need(&self, name: &str) -> Result<&'a [u8], ParseError> {
        let found = self.files.get(name).copied();
        found.ok_or_else(|| ParseError::MissingArtifact { what: self.path(name) })
    }

    fn log(&self, path: Option<&str>) -> Option<String> {
        // Before 0.2.10 the path was absolute, later relative to the folder.
        let path = path?.replace('\\', "/");
        let name = path.rsplit_once("log/").map_or(path.as_str(), |(_, name)| name);
        let bytes = self.files.get(format!("log/{name}").as_str())?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Reads `outcomes.json` against `mutants.json`.
pub(super) fn outcomes(folder: &Folder<'_>) -> Result<Reading, ParseError> {
    let name = folder.path("outcomes.json");
    let report: Report = read(&name, folder.need("outcomes.json")?)?;
    let planned: Option<Vec<Entry>> = match folder.files.get("mutants.json") {
        Some(bytes) => Some(read(&folder.path("mutants.json"), bytes)?),
        None => None,
    };
    let mut keys = Keys::default();
    let mut mutants = Vec::new();
    for (at, outcome, entry) in report.mutants() {
        let pointer = format!("/outcomes/{at}");
        let log = folder.log(outcome.log_path.as_deref());
        let judged = outcome.judge(&format!("{name}#{pointer}"), log.as_deref())?;
        let key = keys.next(&entry.package, &entry.name());
        mutants.push(with(entry.listed(key, &name, pointer), judged));
    }
    let mut red_baseline = None;
    for outcome in &report.outcomes {
        let unmutated = !matches!(outcome.scenario, super::outcome::Scenario::Mutant(_));
        if unmutated && let Some(text) = outcome.baseline_failure(&name)? {
            red_baseline = Some(baseline_quote(folder, outcome.log_path.as_deref(), &text));
        }
    }
    let count = planned.as_ref().map(|planned| planned.len() as u64);
    let untested = planned.map(|planned| untested(folder, &planned, &mutants)).unwrap_or_default();
    let broken_off = report.broken_off(count.is_some());
    let version = report.cargo_mutants_version;
    Ok(Reading { mutants, untested, planned: count, broken_off, red_baseline, version })
}

fn baseline_quote(folder: &Folder<'_>, path: Option<&str>, text: &str) -> Quote {
    let log = folder.log(path).unwrap_or_default();
    let tests = log::failed_tests(&log);
    let words = if tests.is_empty() {
        log::first_error(&log)
    } else {
        Some(format!("failing: {}", tests.join(", ")))
    };
    let text = words.map_or_else(|| text.to_owned(), |words| format!("{text}: {words}"));
    Quote { text, at: folder.path(path.unwrap_or("outcomes.json")) }
}

fn with(mut mutant: RawMutant, judged: Judged) -> RawMutant {
    mutant.status = Some(judged.status);
    mutant.word = judged.word;
    mutant.doubt = judged.doubt;
    mutant.detail = judged.detail;
    mutant.duration = judged.duration;
    mutant.tests = Tests { killed_by: judged.killed_by, covered_by: Vec::new() };
    mutant
}

fn untested(folder: &Folder<'_>, planned: &[Entry], tested: &[RawMutant]) -> Vec<RawMutant> {
    let done: BTreeSet<&Key> = tested.iter().map(|mutant| &mutant.key).collect();
    let name = folder.path("mutants.json");
    let mut keys = Keys::default();
    let all = planned
        .iter()
        .enumerate()
        .map(|(at, entry)| entry.listed(keys.next(&entry.package, &entry.name()), &name, format!("/{at}")));
    all.filter(|mutant| !done.contains(&mutant.key)).collect()
}

/// Reads the lists of names, where a killed run left no readable `outcomes.json`.
pub(super) fn name_lists(folder: &Folder<'_>) -> Result<Reading, ParseError> {
    let planned: Vec<Entry> = read(&folder.path("mutants.json"), folder.need("mutants.json")?)?;
    let mut words: BTreeMap<String, (Status, &str, &str)> = BTreeMap::new();
    for (file, status, word) in [
        ("caught.txt", Status::Killed, "CaughtMutant"),
        ("missed.txt", Status::Survived, "MissedMutant"),
        ("timeout.txt", Status::Timeout, "Timeout"),
        // What does not build may not build for a reason of its own (a warning that is denied), which no list tells:
        // `unviable.txt` is left out, and its mutants have no answer.
    ] {
        let text = folder.files.get(file).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
        // A line that was being written when the run died has no end.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        words.extend(whole.lines().map(|line| (line.to_owned(), (status, word, file))));
    }
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for mutant in untested(folder, &planned, &[]) {
        *times.entry(super::key::name_of(&mutant.key).to_owned()).or_default() += 1;
    }
    let mut mutants = untested(folder, &planned, &[]);
    let mut left = Vec::new();
    for mut mutant in std::mem::take(&mut mutants) {
        let name = super::key::name_of(&mutant.key).to_owned();
        // A list does not say which of two mutants of one name it means.
        match words.get(&name).filter(|_| times.get(&name) == Some(&1)) {
            Some((status, word, file)) => {
                mutant.status = Some(*status);
                (*word).clone_into(&mut mutant.word);
                mutant.artifact = folder.path(file);
                mutant.pointer = None;
                // A list says nothing of phases.
                mutant.doubt = (*status == Status::Timeout).then_some(Doubt::Load);
                mutants.push(mutant);
            }
            None => left.push(mutant),
        }
    }
    let planned = Some(planned.len() as u64);
    let broken_off = Some("no readable outcomes.json; read from the lists of names".to_owned());
    Ok(Reading { mutants, untested: left, planned, broken_off, red_baseline: None, version: None })
}

/// The test stage of one sandbox.
pub(super) fn test(units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    let mut planned = 0;
    for step in ran.steps.iter().filter(|step| step.name.starts_with("test-")) {
        let folder = Folder::gathered(ran, &step.name);
        let (reading, finish) = one_run(step, &folder)?;
        planned += reading.planned.unwrap_or_default();
        parsed.mutants.extend(reading.mutants);
        parsed.finish = worse(parsed.finish, finish);
    }
    parsed.promised = Promised::Listed(planned);
    let chosen: BTreeSet<&Key> = match units {
        Units::Mutants(keys) => keys.iter().collect(),
        Units::Files(_) => BTreeSet::new(),
    };
    let answered = parsed.mutants.iter().filter(|mutant| chosen.contains(&mutant.key)).count();
    if parsed.finish == Finish::Complete && answered < chosen.len() {
        let text = format!("{answered} of {} chosen mutants have an outcome", chosen.len());
        let quote = Quote { text, at: "outcomes.json".to_owned() };
        parsed.finish = if answered == 0 { Finish::Nothing(quote) } else { Finish::Partial(quote) };
    } else if chosen.is_empty() && parsed.mutants.is_empty() {
        let text = "no run was started".to_owned();
        parsed.finish = worse(parsed.finish, Finish::Nothing(Quote { text, at: "test".to_owned() }));
    }
    parsed.notes = notes(&parsed.mutants);
    Ok(parsed)
}

/// One run and whether it can be believed.
fn one_run(step: &StepEnd, folder: &Folder<'_>) -> Result<(Reading, Finish), ParseError> {
    let ended = match step.end {
        // 0: all caught, or only unviable ones; 2: some missed; 3: some timed out.
        End::Exit(0 | 2 | 3) => None,
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram => {
            Some(log::quote(step, "no words"))
        }
    };
    let Some(quote) = ended else {
        let reading = outcomes(folder)?;
        let finish = own_account(&reading, folder);
        return Ok((reading, finish));
    };
    let mut reading = match outcomes(folder).or_else(|error| match error {
        ParseError::UnknownStatus { .. } => Err(error),
        _ => name_lists(folder),
    }) {
        Ok(reading) => reading,
        Err(error @ ParseError::UnknownStatus { .. }) => return Err(error),
        Err(_) => Reading::default(),
    };
    if step.end == End::OutOfMemory {
        reading.mutants.extend(in_flight(&reading, folder));
    }
    let finish = match &reading.red_baseline {
        Some(red) => Finish::RedBaseline(red.clone()),
        None if reading.mutants.is_empty() => Finish::Nothing(quote),
        None => Finish::Partial(quote),
    };
    Ok((reading, finish))
}

/// What a run that ended by itself says of itself.
fn own_account(reading: &Reading, folder: &Folder<'_>) -> Finish {
    let quote = |text: String| Quote { text, at: folder.path("outcomes.json") };
    let tested = reading.mutants.len() as u64;
    if let Some(red) = &reading.red_baseline {
        return Finish::RedBaseline(red.clone());
    }
    match (&reading.broken_off, reading.planned) {
        (Some(text), _) => Finish::Partial(quote(text.clone())),
        (None, None) => Finish::Broken(quote("mutants.json is missing beside it".to_owned())),
        (None, Some(planned)) if planned != tested => {
            Finish::Partial(quote(format!("{tested} of {planned} mutants have an outcome")))
        }
        (None, Some(_)) => Finish::Complete,
    }
}

/// The mutant whose test ran into the memory ceiling: the first one without an outcome, if its log had been started.
fn in_flight(reading: &Reading, folder: &Folder<'_>) -> Option<RawMutant> {
    let mut mutant = reading.untested.first()?.clone();
    let (file, place, _) = super::key::split(super::key::name_of(&mutant.key))?;
    let (line, column) = place.split_once(':')?;
    let stem = format!("log/{}_line_{line}_col_{column}", file.replace('/', "__"));
    folder.files.keys().find(|name| name.starts_with(&stem))?;
    mutant.status = Some(Status::OutOfMemory);
    "in flight".clone_into(&mut mutant.word);
    mutant.doubt = Some(Doubt::Died);
    mutant.detail = Some("the memory ceiling was reached while this mutant was tested".to_owned());
    Some(mutant)
}

/// The worse of two ends; of equal ones the first.
fn worse(first: Finish, second: Finish) -> Finish {
    let rank = |finish: &Finish| match finish {
        Finish::Complete => 0,
        Finish::Partial(_) => 1,
        Finish::Nothing(_) => 2,
        Finish::RedBaseline(_) => 3,
        Finish::Broken(_) => 4,
    };
    if rank(&second) > rank(&first) { second } else { first }
}

/// What looks wrong about the answers as a whole.
pub(super) fn notes(mutants: &[RawMutant]) -> Vec<Note> {
    let mut notes = Vec::new();
    let killed: Vec<&RawMutant> =
        mutants.iter().filter(|mutant| mutant.status == Some(Status::Killed)).collect();
    if let Some(first) = killed.first().filter(|first| !first.tests.killed_by.is_empty())
        && killed.len() >= 20
        && killed.iter().all(|mutant| mutant.tests.killed_by == first.tests.killed_by)
        && mutants.iter().all(|mutant| mutant.status != Some(Status::Survived))
    {
        let tests = first.tests.killed_by.join(", ");
        notes.push(Note(format!(
            "every one of {} mutants is killed by the same tests ({tests})",
            killed.len()
        )));
    }
    if mutants.len() > 1 && mutants.iter().all(|mutant| mutant.status == Some(Status::Unviable)) {
        notes.push(Note(format!("none of {} mutants builds: {ID} itself warns of this", mutants.len())));
    }
    notes
}

/// The confirm stage: one run per suspect.
pub(super) fn confirm(suspects: &[Suspect], ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed { promised: Promised::Listed(suspects.len() as u64), ..Parsed::default() };
    for (at, suspect) in suspects.iter().enumerate() {
        let name = format!("confirm-{at}");
        let Some(step) = ran.step(&name) else { continue };
        let (reading, finish) = one_run(step, &Folder::gathered(ran, &name))?;
        let found = reading.mutants.into_iter().find(|mutant| mutant.key == suspect.key);
        if let Some(mut mutant) = found {
            // It ran alone: what it says now is settled.
            mutant.doubt = None;
            parsed.mutants.push(mutant);
        }
        parsed.finish = worse(parsed.finish, finish);
    }
    let answered = parsed.mutants.len();
    if parsed.finish == Finish::Complete && answered < suspects.len() {
        let text = format!("{answered} of {} suspects were replayed", suspects.len());
        let quote = Quote { text, at: "confirm".to_owned() };
        parsed.finish = if answered == 0 { Finish::Nothing(quote) } else { Finish::Partial(quote) };
    }
    Ok(parsed)
}
