//! What Test and Confirm left: mutants from fresh reports, and every way in which PIT can end well without having
//! tested the changed lines.
//!
//! In: what ran, the selection that was planned. Out: [`Parsed`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, RepoDir, RepoPath, Status};

use super::classes::{Compiled, Selection};
use super::detect::Memo;
use super::extents::Extents;
use super::log::{self, Log, Section};
use super::maven::{self, PIT, PIT_JUNIT5, fact};
use super::mutants::Record;
use super::prepare::{not_by_itself, nothing_ran};
use super::report;
use crate::{
    ColumnUnit, End, Finish, Job, Key, Note, ParseError, Parsed, Promised, Ran, RawMutant, RawPath,
    RawPosition, RawSpan, StepEnd, Suspect, Units,
};

/// What a key names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The module.
    pub(crate) module: RepoDir,
    /// Binary class name.
    pub(crate) class: String,
    /// Method name.
    pub(crate) method: String,
}

impl Target {
    /// Takes a key apart: `module#class#method(descriptor)result#indexes#mutator`.
    pub(crate) fn of(key: &Key) -> Option<Self> {
        let mut parts = key.0.split('#');
        let (module, class, method) = (parts.next()?, parts.next()?, parts.next()?);
        let method = method.split('(').next()?;
        Some(Self { module: RepoDir::new(module).ok()?, class: class.to_owned(), method: method.to_owned() })
    }
}

/// The test stage.
pub(crate) fn test(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let wanted = match units {
        Units::Files(files) => Some(files.as_slice()),
        Units::Mutants(_) => None,
    };
    let compiled = Compiled::of(job);
    let selection = Selection::of(job, &compiled, wanted);
    let mut parsed = Parsed::default();
    for path in &selection.unknown {
        parsed
            .notes
            .push(Note(format!("{path}: no compiled class names it as its source; PIT cannot have seen it")));
    }
    if compiled.is_empty() {
        parsed.finish = Finish::Nothing(nothing_ran());
        return Ok(parsed);
    }
    if selection.modules.is_empty() {
        parsed.promised = Promised::Announced(0);
        parsed.seen = selection.files.keys().map(|path| RawPath::FromRepo(path.to_string())).collect();
        return Ok(parsed);
    }
    let reading = Reading::of(job, ran, &selection)?;
    parsed.seen = seen(job, &selection, &reading);
    parsed.finish = finish(job, ran, &selection.modules.keys().cloned().collect(), &reading);
    parsed.promised = promised(&reading, &parsed.finish);
    parsed.mutants = reading.mutants;
    Ok(parsed)
}

/// The confirm stage: the suspects among what the second run reported.
pub(crate) fn confirm(job: &Job<'_>, suspects: &[Suspect], ran: &Ran) -> Result<Parsed, ParseError> {
    let selection = Selection::of(job, &Compiled::of(job), None);
    let modules = suspects.iter().filter_map(|suspect| Target::of(&suspect.key)).map(|target| target.module);
    let modules: BTreeSet<RepoDir> = modules.collect();
    let reading = Reading::of(job, ran, &selection)?;
    let finish = finish(job, ran, &modules, &reading);
    let promised = promised(&reading, &finish);
    let mut mutants = reading.mutants;
    for mutant in &mut mutants {
        // Judged alone, in a JVM of its own: a timeout is one, and memory was its own doing. A minion that died twice
        // stays an error.
        mutant.doubt = None;
    }
    Ok(Parsed { finish, promised, mutants, ..Parsed::default() })
}

/// Reports that PIT wrote elsewhere.
pub(crate) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    if files.is_empty() {
        return Err(ParseError::MissingArtifact { what: "mutations.xml".to_owned() });
    }
    let (mut total, mut damaged) = (0_u64, None);
    for (name, bytes) in files {
        let report = report::read(name, bytes)?;
        total += count(report.records.len());
        if let Some(damage) = report.damage {
            damaged = Some(Quote { text: damage.why, at: format!("{name}:{}", damage.line) });
        }
        for record in report.records {
            let path = RawPath::Declared {
                roots: Vec::new(),
                package: record.package().to_owned(),
                file: record.source.clone(),
            };
            let span = lines(record.line, record.line);
            let mut raw = raw(record, name, name, path, span);
            raw.doubt = None;
            parsed.mutants.push(raw);
        }
    }
    parsed.finish = damaged.map_or(Finish::Complete, Finish::Partial);
    parsed.promised = match parsed.finish {
        Finish::Complete => Promised::Listed(total),
        Finish::Partial(_) | Finish::Nothing(_) | Finish::RedBaseline(_) | Finish::Broken(_) => {
            Promised::Unknown("the report ends in the middle")
        }
    };
    Ok(parsed)
}

/// Reports and logs of one stage.
struct Reading {
    logs: Vec<(StepEnd, Log)>,
    mutants: Vec<RawMutant>,
    /// Classes with at least one mutant.
    reported: BTreeSet<String>,
    damage: Option<Quote>,
}

impl Reading {
    fn of(job: &Job<'_>, ran: &Ran, selection: &Selection) -> Result<Self, ParseError> {
        let steps = ran.steps.iter().filter(|step| [PIT, PIT_JUNIT5].contains(&step.name.as_str()));
        let logs = steps.map(|step| (step.clone(), Log::of(step))).collect();
        let mut reading = Self { logs, mutants: Vec::new(), reported: BTreeSet::new(), damage: None };
        let mut places = Places::new(job, selection);
        for (place, bytes) in ran.files_ending("mutations.xml") {
            let artifact = place.as_str();
            let report = match report::read(artifact, bytes) {
                Ok(report) => report,
                // A run that was killed leaves an empty file: nothing was lost that could be read.
                Err(ParseError::Truncated { at, why }) => {
                    reading.damage = Some(Quote { text: why, at });
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(damage) = report.damage {
                reading.damage = Some(Quote { text: damage.why, at: format!("{artifact}:{}", damage.line) });
            }
            let module = RepoPath::new(artifact).map(|path| Memo(job.project).module_with(&path));
            let module = module.unwrap_or_else(|_| job.project.dir.clone());
            for record in report.records {
                reading.reported.insert(record.class.clone());
                let (module, path, span) = places.of(&module, &record);
                reading.mutants.push(raw(record, artifact, module.as_str(), path, span));
            }
        }
        Ok(reading)
    }

    /// What PIT said in a module, when it ran there and was given something.
    fn section(&self, job: &Job<'_>, module: &RepoDir) -> Option<&Section> {
        let step = maven::step_of(job, module);
        let (_, log) = self.logs.iter().find(|(end, _)| end.name == step)?;
        let memo = Memo(job.project);
        log.sections.iter().rfind(|section| memo.module_of(&section.artifact).as_ref() == Some(module))
    }

    fn announced(&self) -> Option<u64> {
        self.logs.iter().map(|(_, log)| log.announced()).sum()
    }
}

/// Gives records their file and lines.
struct Places<'a> {
    job: &'a Job<'a>,
    selection: &'a Selection,
    extents: BTreeMap<RepoPath, Extents>,
}

impl<'a> Places<'a> {
    fn new(job: &'a Job<'a>, selection: &'a Selection) -> Self {
        Self { job, selection, extents: BTreeMap::new() }
    }

    /// The module, path and lines of a record in the report of `module`. Under `crossModule` a report also holds the
    /// classes of modules that this one depends on.
    fn of(&mut self, module: &RepoDir, record: &Record) -> (RepoDir, RawPath, RawSpan) {
        let of_module =
            |dir: &RepoDir| self.selection.file_of(dir, record.package(), &record.source).cloned();
        let own = of_module(module).map(|path| (module.clone(), path));
        let found = own.or_else(|| {
            let others = Memo(self.job.project).modules().into_iter().filter(|dir| dir != module);
            let mut found = others.filter_map(|dir| of_module(&dir).map(|path| (dir, path)));
            found.next().filter(|_| found.next().is_none())
        });
        let Some((module, path)) = found else {
            return (module.clone(), self.declared(module, record), lines(record.line, record.line));
        };
        let extents = self.extents.entry(path.clone()).or_insert_with(|| {
            let bytes =
                self.job.changed.files.get(&path).map(|file| file.bytes.as_slice()).unwrap_or_default();
            Extents::of(path.file_name(), &String::from_utf8_lossy(bytes))
        });
        let around = extents.around(record.line);
        (module, RawPath::FromRepo(path.to_string()), lines(around.first, around.last))
    }

    fn declared(&self, module: &RepoDir, record: &Record) -> RawPath {
        let roots = ["src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy"];
        let below: BTreeSet<RepoDir> = roots.iter().filter_map(|root| module.resolve(root).ok()).collect();
        let known = below.into_iter().filter(|root| self.job.tree.below(root).next().is_some());
        RawPath::Declared {
            roots: known.collect(),
            package: record.package().to_owned(),
            file: record.source.clone(),
        }
    }
}

fn lines(first: u32, last: u32) -> RawSpan {
    let at = |line| RawPosition { line, column: None };
    RawSpan { start: at(first), end: (last > first).then(|| at(last)), unit: ColumnUnit::None }
}

fn raw(record: Record, artifact: &str, owner: &str, path: RawPath, span: RawSpan) -> RawMutant {
    let named = (span.start.line != record.line || span.end.is_some())
        .then(|| format!("PIT names line {} of this statement", record.line));
    let died = (record.status == Status::Errored).then(|| "the JVM that tested it died".to_owned());
    RawMutant {
        key: Key(format!("{owner}#{}", record.key.0)),
        path,
        span,
        status: Some(record.status),
        word: record.word.clone(),
        doubt: record.doubt,
        change: record.change(),
        function: Some(record.function()),
        detail: died.or(named),
        duration: None,
        is_static: None,
        pointer: Some(format!("line {}", record.at)),
        artifact: artifact.to_owned(),
        tests: record.tests,
    }
}

/// Files whose changed lines PIT provably had before it: compiled, and either without code on those lines, or with a
/// mutant, or analysed in a run that went through and excludes none of the classes.
fn seen(job: &Job<'_>, selection: &Selection, reading: &Reading) -> Vec<RawPath> {
    let had = |module: &RepoDir, class: &String| {
        let read = job.facts.all(fact::READ).iter().any(|name| name == module.as_str());
        let excluded =
            job.facts.all(&format!("{}{module}", fact::EXCLUDED_CLASSES, module = module.as_str()));
        let through = reading.section(job, module).is_some_and(Section::completed);
        reading.reported.contains(class)
            || (through && read && !excluded.iter().any(|glob| may_match(glob, class)))
    };
    let files = selection
        .files
        .iter()
        .filter(|(_, picked)| picked.classes.iter().all(|class| had(&picked.module, class)));
    files.map(|(path, _)| RawPath::FromRepo(path.to_string())).collect()
}

/// PIT's globs: `*` any characters, `?` one, `~…` a regular expression that is taken to match.
fn may_match(glob: &str, name: &str) -> bool {
    fn matches(glob: &[char], name: &[char]) -> bool {
        match glob {
            [] => name.is_empty(),
            ['*', rest @ ..] => {
                (0..=name.len()).any(|from| matches(rest, name.get(from..).unwrap_or_default()))
            }
            ['?', rest @ ..] => name.split_first().is_some_and(|(_, name)| matches(rest, name)),
            [c, rest @ ..] => {
                name.split_first().is_some_and(|(first, name)| first == c && matches(rest, name))
            }
        }
    }
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    glob.starts_with('~') || matches(&chars(glob), &chars(name))
}

fn promised(reading: &Reading, finish: &Finish) -> Promised {
    match (reading.announced(), finish) {
        (Some(total), _) => Promised::Announced(total),
        (None, Finish::Complete) => Promised::Unknown("this version of PIT prints no total"),
        (None, Finish::Partial(_) | Finish::Nothing(_) | Finish::RedBaseline(_) | Finish::Broken(_)) => {
            Promised::Unknown("PIT prints its total at the end, which it did not reach")
        }
    }
}

/// The worst that any step or module shows.
fn finish(job: &Job<'_>, ran: &Ran, modules: &BTreeSet<RepoDir>, reading: &Reading) -> Finish {
    if reading.logs.is_empty() {
        return Finish::Nothing(nothing_ran());
    }
    let steps = reading.logs.iter().filter_map(|(step, log)| step_problem(step, log));
    let parts = modules.iter().filter_map(|module| module_problem(job, ran, module, reading));
    let damage = reading.damage.clone().map(Finish::Partial);
    // Of equals the last is taken: how a step ended explains what its report lacks.
    let worst = damage.into_iter().chain(parts).chain(steps).max_by_key(weight);
    match worst {
        None => short_reports(reading).map_or(Finish::Complete, Finish::Partial),
        Some(Finish::Partial(quote)) if reading.mutants.is_empty() => Finish::Nothing(quote),
        Some(finish) => finish,
    }
}

fn weight(finish: &Finish) -> u8 {
    match finish {
        Finish::Complete => 0,
        Finish::Partial(_) => 1,
        Finish::Nothing(_) => 2,
        Finish::Broken(_) => 3,
        Finish::RedBaseline(_) => 4,
    }
}

fn step_problem(step: &StepEnd, log: &Log) -> Option<Finish> {
    let red = ["did not pass without mutation", "Mutation testing requires a green suite"];
    if let Some(quote) = log::quote(step, &red, 0) {
        return Some(Finish::RedBaseline(quote));
    }
    if let Some(finish) = not_by_itself(step) {
        return Some(finish);
    }
    if log.cut {
        let text = "the output was too long to keep, and with it what PIT said of some modules".to_owned();
        return Some(Finish::Partial(Quote { text, at: format!("stdout of {}", step.name) }));
    }
    // The project's own thresholds say nothing about completeness.
    let threshold = ["is below threshold of", "surviving mutants, but only"];
    let judged = step.end == End::Exit(0) || log::quote(step, &threshold, 0).is_some();
    (!judged).then(|| Finish::Broken(log::failure(step)))
}

/// What a module that holds changed classes must show: PIT ran, found tests, and left its report.
fn module_problem(job: &Job<'_>, ran: &Ran, module: &RepoDir, reading: &Reading) -> Option<Finish> {
    let at = || reading.logs.first().map_or_else(String::new, |(step, _)| format!("stdout of {}", step.name));
    let quote = |text: String| Quote { text, at: at() };
    let memo = Memo(job.project);
    let Some(section) = reading.section(job, module) else {
        return Some(Finish::Partial(quote(format!("PIT did not run in {module}"))));
    };
    if let Some(reason) = section.skipped() {
        return Some(Finish::Partial(quote(format!("PIT skipped {module}: {reason}"))));
    }
    if section.found_nothing() {
        return None;
    }
    if section.text.contains("pitest junit 5 plugin is not installed") {
        let text = "JUnit 5 is on the classpath but the pitest junit 5 plugin is not installed: its tests did not run";
        return Some(Finish::Broken(quote(text.to_owned())));
    }
    if section.text.contains("No executable tests were found") || no_test_ran(section, module, reading) {
        return Some(Finish::Broken(quote(format!("PIT found no test to run in {module}"))));
    }
    let left = ran
        .files_ending("mutations.xml")
        .any(|(place, _)| RepoPath::new(place.as_str()).is_ok_and(|path| memo.module_with(&path) == *module));
    if !section.completed() {
        return Some(Finish::Partial(quote(format!("PIT did not come to its end in {module}"))));
    }
    (!left).then(|| Finish::Partial(quote(format!("PIT left no fresh mutations.xml in {module}"))))
}

/// All mutants of a module uncovered, and no word of a test that ran: the tests were not found, or not run.
fn no_test_ran(section: &Section, module: &RepoDir, reading: &Reading) -> bool {
    let prefix = format!("{}#", module.as_str());
    let mut own = reading.mutants.iter().filter(|mutant| mutant.key.0.starts_with(&prefix)).peekable();
    own.peek().is_some()
        && own.all(|mutant| mutant.status == Some(Status::NoCoverage))
        && !section.text.contains("Slowest test")
        && !section.text.contains("Largest test")
}

fn short_reports(reading: &Reading) -> Option<Quote> {
    let announced = reading.announced()?;
    let held = count(reading.mutants.len());
    (held < announced).then(|| Quote {
        text: format!("PIT announced {announced} mutants, but its fresh reports hold {held}"),
        at: "mutations.xml".to_owned(),
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
