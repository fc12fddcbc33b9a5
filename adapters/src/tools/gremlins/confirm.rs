//! Each doubtful mutant built and tested in place, through `go test -overlay`.
//!
//! In: suspects, the changed files. Out: the plan, and what came of it. I/O: none.
//!
//! Three things that the tool cannot tell apart are apart here: a failed test, code that does not build, and an
//! environment in which the unchanged code fails as well (the control step of each package).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use polymut_schemas::{Quote, RepoDir, RepoPath, Status};
use serde::Deserialize;

use super::mutant::{self, Edit};
use super::report::Record;
use super::{detect, plan};
use crate::{
    End, Finish, Job, NewFile, Output, Parsed, Place, Plan, PlanError, Promised, Ran, RawMutant, Role,
    ScopeFit, StepEnd, Suspect,
};

/// Folder inside the module for overlay files; the go tool does not enter names that start with a dot.
const FOLDER: &str = ".polymut-overlay";

/// One step per suspect, behind one control step per package.
pub(crate) fn plan(job: &Job<'_>, suspects: &[Suspect]) -> Result<Plan, PlanError> {
    let names = controls(job, suspects);
    let mut controlled: BTreeSet<String> = BTreeSet::new();
    let mut steps = Vec::new();
    for (number, suspect) in suspects.iter().enumerate() {
        let Some((record, path)) = record_of(job, &suspect.key.0) else { continue };
        let Some(file) = job.changed.files.get(&path) else { continue };
        let Some(edit) = Edit::of(&record, &file.bytes) else { continue };
        let package = detect::package_dir(&job.project.dir, &path);
        if let (Some(control), true) = (names.get(&package), controlled.insert(package.clone())) {
            steps.push(step(job, control, &record.file, &file.bytes)?);
        }
        let mut step = step(job, &format!("confirm-{number}"), &record.file, &edit.apply(&file.bytes))?;
        step.about = Some(suspect.key.clone());
        steps.push(step);
    }
    Ok(Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant })
}

/// The names of the control steps by package.
fn controls(job: &Job<'_>, suspects: &[Suspect]) -> BTreeMap<String, String> {
    let paths = suspects.iter().filter_map(|suspect| record_of(job, &suspect.key.0)).map(|(_, path)| path);
    let packages: BTreeSet<String> = paths.map(|path| detect::package_dir(&job.project.dir, &path)).collect();
    packages.into_iter().enumerate().map(|(number, package)| (package, format!("control-{number}"))).collect()
}

fn step(job: &Job<'_>, name: &str, file: &str, bytes: &[u8]) -> Result<crate::Step, PlanError> {
    let limit = job.limits.test().unwrap_or(Duration::from_mins(1));
    let (code, map) = (format!("{FOLDER}/{name}/code.go"), format!("{FOLDER}/{name}/map.json"));
    // Paths of an overlay are read from the folder that the command starts in.
    let overlay = serde_json::json!({ "Replace": { file: code.clone() } }).to_string();
    let path = job
        .project
        .dir
        .join(file)
        .map_err(|error| PlanError::Missing { missing: error.to_string(), remedy: String::new() })?;
    let package = detect::package_dir(&job.project.dir, &path);
    let words = [
        "test",
        &format!("-overlay={map}"),
        "-json",
        "-count=1",
        &format!("-timeout={}ms", limit.as_millis()),
        &package,
    ];
    let mut step = plan::step(name, Role::Work, plan::go(job, &plan::words(job, &words)));
    step.go_on = &[0, 1, 2];
    // The go tool ends its tests by itself; this is for a build that does not.
    step.limit = Some(limit + Duration::from_mins(2));
    for (at, bytes) in [(code, bytes.to_vec()), (map, overlay.into_bytes())] {
        let at = job.project.dir.resolve(&at).unwrap_or_else(|_| RepoDir::root());
        step.files.push(NewFile { at: Place::Sandbox(at), bytes });
    }
    Ok(step)
}

/// `pkg/a.go:4:7:CONDITIONALS_BOUNDARY` taken apart.
fn record_of(job: &Job<'_>, key: &str) -> Option<(Record, RepoPath)> {
    let mut parts = key.rsplitn(4, ':');
    let (operator, column, line, file) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let record = Record {
        file: file.to_owned(),
        operator: operator.to_owned(),
        word: String::new(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        pointer: String::new(),
    };
    let path = job.project.dir.join(file).ok()?;
    Some((record, path))
}

/// What the confirm stage left.
pub(crate) fn parse(job: &Job<'_>, suspects: &[Suspect], ran: &Ran) -> Parsed {
    let mut parsed = Parsed::default();
    let controls: BTreeMap<String, &StepEnd> = controls(job, suspects)
        .into_iter()
        .filter_map(|(package, name)| Some((package, ran.step(&name)?)))
        .collect();
    let mut missing = 0_u64;
    for suspect in suspects {
        let end = ran.steps.iter().find(|step| step.about.as_ref() == Some(&suspect.key));
        let known = record_of(job, &suspect.key.0).zip(end);
        match known.and_then(|((record, path), end)| judge(job, &record, &path, end, &controls)) {
            Some(mutant) => parsed.mutants.push(mutant),
            None => missing += 1,
        }
    }
    parsed.promised = Promised::Announced(u64::try_from(suspects.len()).unwrap_or(u64::MAX));
    if missing > 0 {
        let text = format!("{missing} of {} doubtful mutants were not replayed", suspects.len());
        let quote = Quote { text, at: "confirm".to_owned() };
        parsed.finish =
            if parsed.mutants.is_empty() { Finish::Nothing(quote) } else { Finish::Partial(quote) };
    } else if suspects.is_empty() {
        parsed.finish =
            Finish::Nothing(Quote { text: "nothing was run".to_owned(), at: "confirm".to_owned() });
    }
    parsed
}

fn judge(
    job: &Job<'_>,
    record: &Record,
    path: &RepoPath,
    end: &StepEnd,
    controls: &BTreeMap<String, &StepEnd>,
) -> Option<RawMutant> {
    let control = controls.get(&detect::package_dir(&job.project.dir, path))?;
    let said = Said::of(&end.stdout);
    let healthy = control.end == End::Exit(0);
    let (status, word) = match end.end {
        End::Exit(0) => (Status::Survived, "passed"),
        End::Exit(_) if !healthy => (Status::Errored, "failed, as the unchanged code does"),
        End::Exit(_) if said.build_failed => (Status::Unviable, "build-fail"),
        End::Exit(_) if said.timed_out => (Status::Timeout, "timed out"),
        End::Exit(_) if said.failed => (Status::Killed, "failed"),
        End::Exit(_) => (Status::Errored, "ended without a verdict"),
        End::Limit => (Status::Timeout, "limit"),
        End::OutOfMemory => (Status::OutOfMemory, "out of memory"),
        End::Signal(_) => (Status::Errored, "ended by a signal"),
        End::Stopped | End::NoProgram => return None,
    };
    let mut mutant = mutant::raw(Some(job), record, &end.name, None);
    mutant.status = Some(status);
    word.clone_into(&mut mutant.word);
    mutant.tests.killed_by = if status == Status::Killed { said.tests } else { Vec::new() };
    let code = format!("./{FOLDER}/{}/code.go", end.name);
    mutant.detail = (!said.words.is_empty()).then(|| said.words.replace(&code, &record.file));
    mutant.pointer = None;
    Some(mutant)
}

/// One line of `go test -json`.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "Action")]
    action: String,
    #[serde(rename = "Test")]
    test: Option<String>,
    #[serde(rename = "Output")]
    output: Option<String>,
}

/// What `go test -json` says as a whole.
#[derive(Default)]
struct Said {
    build_failed: bool,
    timed_out: bool,
    failed: bool,
    tests: Vec<String>,
    words: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        const LONGEST: usize = 400;
        let mut said = Self::default();
        for line in output.text().lines() {
            let Ok(event) = serde_json::from_str::<Event>(line) else {
                // Before Go 1.24 a build error stands between the events as plain text.
                said.build_failed |= line.contains("[build failed]") || line.contains("[setup failed]");
                continue;
            };
            let text = event.output.as_deref().unwrap_or_default();
            said.build_failed |= event.action == "build-fail"
                || text.contains("[build failed]")
                || text.contains("[setup failed]");
            said.timed_out |= text.contains("panic: test timed out after");
            said.failed |= event.action == "fail";
            if let ("fail", Some(test)) = (event.action.as_str(), event.test) {
                said.tests.push(test);
            }
            let telling =
                text.starts_with("    ") || text.starts_with("panic: ") || event.action == "build-output";
            if telling && said.words.len() < LONGEST {
                let _ = writeln!(said.words, "{}", text.trim());
            }
        }
        said.words = said.words.trim().to_owned();
        said
    }
}
