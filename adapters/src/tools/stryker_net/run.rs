//! Reads what runs of the tool left: the test, confirm and replay stages.
//!
//! In: reports and ends of steps. Out: [`Parsed`]. I/O: none.
//!
//! The tool ends well in many ways without having tested anything: no report, a report in which the wanted files are
//! left out, a runner that cannot switch mutants. Each of them is looked for here.

use std::collections::BTreeMap;

use polymut_schemas::{Mutant, Quote, RepoPath, StageName, Status, StatusGroup};

use super::config::UserConfig;
use super::log::{self, Account};
use super::report::{NOT_CHOSEN, Presence, Reading, UNCHANGED, change_of};
use super::{ID, msbuild};
use crate::formats::elements::read;
use crate::{
    Doubt, End, Finish, Job, Key, Note, ParseError, Parsed, Promised, Ran, RawMutant, RawPath, StepEnd,
    Suspect, Tests, Units,
};

const REPORT: &str = "mutation-report.json";

const UNLISTED: &str =
    "Stryker.NET names no mutants beforehand; its count of tested ones is compared with its report";

/// The test stage.
pub(super) fn test(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed { promised: Promised::Unknown(UNLISTED), ..Parsed::default() };
    let Some(step) = ran.step("test") else {
        parsed.finish = nothing("no run was started", "test");
        return Ok(parsed);
    };
    let Some(reading) = reading(job, step, ran, "test")? else {
        parsed.finish = log::finish(step);
        return Ok(parsed);
    };
    let account = Account::read(&step.stdout.text());
    parsed.mutants = reading.mutants()?;
    parsed.finish = believed(&parsed.mutants, &account);
    let doubled = unite(&mut parsed.mutants);
    if doubled > 0 {
        let text = "records repeat a mutant under another target framework; the worst answer counts";
        parsed.notes.push(Note(format!("{doubled} {text}")));
    }
    doubt_survivors(&mut parsed.mutants);
    if account.preview {
        prove_coverage(&mut parsed);
    }
    let wanted: Vec<RepoPath> = match units {
        Units::Files(files) => files.clone(),
        Units::Mutants(_) => Vec::new(),
    };
    let missing = look_for(job, &reading, &wanted, &mut parsed);
    if parsed.finish == Finish::Complete && (wanted.is_empty() || !missing.is_empty()) {
        let text = format!("the report leaves out {}", missing.join(", "));
        parsed.finish = if missing.len() == wanted.len() {
            nothing(&text, REPORT)
        } else {
            Finish::Partial(Quote { text, at: REPORT.to_owned() })
        };
    }
    Ok(parsed)
}

/// The fresh report of a run that ended as a run with a report does; `None` when there is none to believe.
fn reading(job: &Job<'_>, step: &StepEnd, ran: &Ran, folder: &str) -> Result<Option<Reading>, ParseError> {
    let name = format!("{folder}/reports/{REPORT}");
    match (step.end, ran.file_ending(&name)) {
        // 2: below the threshold, which is a finding.
        (End::Exit(0 | 2), Some(bytes)) => {
            let report = read(ID, &name, bytes)?;
            Ok(Some(Reading::new(report, &name, &job.project.dir)))
        }
        (
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram,
            _,
        ) => Ok(None),
    }
}

/// Whether the answers can be what the tool says they are.
fn believed(mutants: &[RawMutant], account: &Account) -> Finish {
    let quote = |text: String| Quote { text, at: REPORT.to_owned() };
    let reason = |mutant: &RawMutant| mutant.detail.clone().unwrap_or_default();
    if let Some(mutant) = mutants.iter().find(|mutant| UNCHANGED.contains(&reason(mutant).as_str())) {
        return Finish::Broken(quote(format!("mutants are left out as unchanged: {}", reason(mutant))));
    }
    let count = |wanted: &[Status]| {
        mutants.iter().filter(|mutant| mutant.status.is_some_and(|status| wanted.contains(&status))).count()
    };
    let unswitched =
        count(&[Status::Killed, Status::Timeout, Status::Errored]) == 0 && count(&[Status::Survived]) > 0;
    if account.capture_failed && unswitched {
        let text = "test coverage capture failed and every mutant survived: this runner cannot switch mutants on in \
                    these tests (xunit.v3, TUnit and MSTest.Sdk need `test-runner: mtp`)";
        return Finish::Broken(quote(text.to_owned()));
    }
    let judged = count(&[Status::Killed, Status::Timeout, Status::Errored, Status::Survived]);
    let unjudged = mutants.iter().filter(|mutant| mutant.status == Some(Status::NotRun)).count();
    if unjudged > 0 {
        return Finish::Partial(quote(format!("{unjudged} mutants have no answer")));
    }
    match account.tested {
        Some(tested) if tested != judged as u64 => {
            Finish::Partial(quote(format!("{judged} answers of {tested} mutants that were to be tested")))
        }
        Some(_) | None => Finish::Complete,
    }
}

/// One record per change: the tool may list it once per target framework. Returns how many were put aside.
fn unite(mutants: &mut Vec<RawMutant>) -> usize {
    let harm = |mutant: &RawMutant| match mutant.status.map(Status::group) {
        None | Some(StatusGroup::NotScored) => 0,
        Some(StatusGroup::Detected) => 1,
        Some(StatusGroup::Unknown) => 2,
        Some(StatusGroup::Undetected) => 3,
    };
    let all = mutants.len();
    let mut worst: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<RawMutant> = Vec::new();
    for mutant in mutants.drain(..) {
        let change = change_of(&mutant.key).to_owned();
        match worst.get(&change).and_then(|at| kept.get_mut(*at)) {
            Some(known) if harm(&mutant) > harm(known) => *known = mutant,
            Some(_) => {}
            None => {
                worst.insert(change, kept.len());
                kept.push(mutant);
            }
        }
    }
    *mutants = kept;
    all - mutants.len()
}

/// Several mutants run in one session of one test host, and what one leaves behind can spare the next; coverage is
/// measured once. Who would be blamed is believed when it has run alone.
fn doubt_survivors(mutants: &mut [RawMutant]) {
    let accused =
        |mutant: &&mut RawMutant| matches!(mutant.status, Some(Status::Survived | Status::NoCoverage));
    for mutant in mutants.iter_mut().filter(accused) {
        mutant.doubt = mutant.doubt.or(Some(Doubt::Flips));
    }
}

/// The preview runner reports mutants as not covered that are (its issue 3753): they are run before that is believed.
fn prove_coverage(parsed: &mut Parsed) {
    parsed.notes.push(Note("the tool calls its Microsoft Testing Platform runner a preview".to_owned()));
    for mutant in parsed.mutants.iter_mut().filter(|mutant| mutant.status == Some(Status::NoCoverage)) {
        mutant.doubt = Some(Doubt::NoTestRun);
    }
}

/// Notes what the report says of each wanted file; returns those that it leaves out without a reason.
fn look_for(job: &Job<'_>, reading: &Reading, wanted: &[RepoPath], parsed: &mut Parsed) -> Vec<String> {
    let user = UserConfig::read(job).unwrap_or_default();
    let mut missing = Vec::new();
    for path in wanted {
        let relative = job.project.dir.relative(path).unwrap_or(path.as_str());
        let presence = reading.presence(&job.project.dir, path);
        let reason = match presence {
            Presence::Seen => None,
            Presence::LeftOut | Presence::Absent if user.leaves_out(relative) => {
                Some("`mutate` of the project's Stryker.NET configuration leaves it out")
            }
            Presence::LeftOut | Presence::Absent if is_generated(job, path) => Some("it is generated code"),
            Presence::LeftOut | Presence::Absent => {
                let compiled = job.facts.all(msbuild::COMPILED).iter().any(|known| known == path.as_str());
                let why = if compiled { "" } else { " (the project does not compile it)" };
                missing.push(format!("{path}{why}"));
                continue;
            }
        };
        parsed.notes.extend(reason.map(|reason| Note(format!("{path} is not mutated: {reason}"))));
        parsed.seen.push(RawPath::FromRepo(path.to_string()));
    }
    missing
}

/// Whether the tool leaves the file alone as generated: by its name or by its first lines.
fn is_generated(job: &Job<'_>, path: &RepoPath) -> bool {
    let name = path.file_name().to_lowercase();
    let named = [".designer.cs", ".generated.cs", ".g.cs", ".g.i.cs"].iter().any(|end| name.ends_with(end));
    let bytes = job.changed.files.get(path).map(|file| file.bytes.as_slice()).unwrap_or_default();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
    let comment = head.lines().take_while(|line| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.is_empty() || line.starts_with("//") || line.starts_with("/*") || line.starts_with('*')
    });
    named || comment.collect::<String>().to_lowercase().contains("<auto-generated")
}

/// Mutants without coverage that are run alone; more of them are taken at the tool's word.
const UNCOVERED: usize = 20;

/// The suspects that are run alone: all that some test reaches, and as many others as do not take all day.
pub(super) fn chosen(job: &Job<'_>, suspects: &[Suspect]) -> Vec<Key> {
    let first = first_answers(job).unwrap_or_default();
    let uncovered =
        |key: &Key| first.get(key).is_some_and(|mutant| mutant.status == Some(Status::NoCoverage));
    let (reached, others): (Vec<Key>, Vec<Key>) =
        suspects.iter().map(|suspect| suspect.key.clone()).partition(|key| !uncovered(key));
    reached.into_iter().chain(others.into_iter().take(UNCOVERED)).collect()
}

/// The confirm stage: one mutant active at a time in the assembly that holds them all.
pub(super) fn confirm(job: &Job<'_>, suspects: &[Suspect], ran: &Ran) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed { promised: Promised::Listed(suspects.len() as u64), ..Parsed::default() };
    let listed = match injected(job, ran)? {
        Ok(listed) => listed,
        Err(finish) => {
            parsed.finish = finish;
            return Ok(parsed);
        }
    };
    let first = first_answers(job)?;
    let mut strange = 0;
    for suspect in suspects {
        let Some(known) = listed.get(&suspect.key) else {
            strange += 1;
            continue;
        };
        let steps = ran.steps.iter().filter(|step| step.about.as_ref() == Some(&suspect.key));
        let Some((status, word, step)) = answer(steps) else { continue };
        let mut mutant = first.get(&suspect.key).unwrap_or(known).clone();
        // Nothing that was not reached before was reached now, as far as can be seen.
        let uncovered = status == Status::Survived && mutant.status == Some(Status::NoCoverage);
        if !uncovered {
            mutant.status = Some(status);
            word.clone_into(&mut mutant.word);
        }
        settle(&mut mutant, step);
        parsed.mutants.push(mutant);
    }
    let (answered, all) = (parsed.mutants.len(), suspects.len());
    let quote = |text: String| Quote { text, at: "confirm".to_owned() };
    if strange > 0 {
        parsed.finish =
            Finish::Broken(quote(format!("{strange} of {all} mutants have another id in a second run")));
    } else if answered < all {
        let text = format!("{answered} of {all} mutants were run alone");
        parsed.finish =
            if answered == 0 { Finish::Nothing(quote(text)) } else { Finish::Partial(quote(text)) };
    }
    Ok(parsed)
}

/// One mutant replayed through the switch.
pub(super) fn replay(job: &Job<'_>, mutant: &Mutant, ran: &Ran) -> Result<Parsed, ParseError> {
    confirm(job, &[Suspect { key: Key(mutant.key.clone()), why: Doubt::Flips }], ran)
}

/// The mutants of the assembly that the tests load, when the run that made it and the tests without a mutant were good.
fn injected(job: &Job<'_>, ran: &Ran) -> Result<Result<BTreeMap<Key, RawMutant>, Finish>, ParseError> {
    let Some(step) = ran.step("inject") else { return Ok(Err(nothing("no run was started", "inject"))) };
    let Some(reading) = reading(job, step, ran, "inject")? else { return Ok(Err(log::finish(step))) };
    let controls: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name.starts_with("control-")).collect();
    if let Some(red) = controls.iter().find(|step| step.end != End::Exit(0)) {
        let quote = log::quote(red, "the tests fail with no mutant active");
        return Ok(Err(match red.end {
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => Finish::Broken(quote),
            End::Stopped | End::NoProgram => Finish::Nothing(quote),
        }));
    }
    if controls.is_empty() {
        return Ok(Err(nothing("the tests were not run without a mutant", "control")));
    }
    let listed = reading.mutants()?.into_iter();
    let listed = listed.filter(|mutant| mutant.detail.as_deref() != Some(NOT_CHOSEN));
    Ok(Ok(listed.map(|mutant| (mutant.key.clone(), mutant)).collect()))
}

/// What the test stage said of each mutant, where it ran before.
fn first_answers(job: &Job<'_>) -> Result<BTreeMap<Key, RawMutant>, ParseError> {
    let mut answers = BTreeMap::new();
    for ran in job.rounds(StageName::Test) {
        let Some(step) = ran.step("test") else { continue };
        if let Some(reading) = reading(job, step, ran, "test")? {
            answers.extend(reading.mutants()?.into_iter().map(|mutant| (mutant.key.clone(), mutant)));
        }
    }
    Ok(answers)
}

/// The answer of the runs of one mutant, one per test project: the first that is not green, else all green.
fn answer<'a>(steps: impl Iterator<Item = &'a StepEnd>) -> Option<(Status, &'static str, &'a StepEnd)> {
    let mut last = None;
    for step in steps {
        last = Some((Status::Survived, "Survived", step));
        match step.end {
            End::Exit(0) => {}
            End::Exit(_) | End::Signal(_) => return Some((Status::Killed, "Killed", step)),
            End::Limit => return Some((Status::Timeout, "Timeout", step)),
            End::OutOfMemory => return Some((Status::OutOfMemory, "out of memory", step)),
            End::Stopped | End::NoProgram => return None,
        }
    }
    last
}

/// The mutant ran alone: what it says now is settled.
fn settle(mutant: &mut RawMutant, step: &StepEnd) {
    mutant.doubt = None;
    mutant.duration = Some(step.wall.as_secs_f64());
    mutant.artifact = format!("output of {}", step.name);
    mutant.pointer = None;
    let output = format!("{}\n{}", step.stdout.text(), step.stderr.text());
    let killed_by = log::failed_tests(&output);
    mutant.detail = match mutant.status {
        Some(Status::Killed) if killed_by.is_empty() => Some(log::quote(step, "no test is named").text),
        _ => None,
    };
    let covered_by = std::mem::take(&mut mutant.tests.covered_by);
    mutant.tests = Tests { killed_by, covered_by };
}

fn nothing(text: &str, at: &str) -> Finish {
    Finish::Nothing(Quote { text: text.to_owned(), at: at.to_owned() })
}
