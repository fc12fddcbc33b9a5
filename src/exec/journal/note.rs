//! Writes what ends into the journal, and knows what an interrupted run had written.
//!
//! In: rounds and jobs as they end. Out: [`Kept`] rounds and finished jobs. I/O: through `lines`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polymut_adapters::{Plan, Ran, Units};
use polymut_schemas::{Mutant, ProjectId, StageName, ToolRun};
use serde_json::Value;

use super::lines::{Line, Lines};
use super::written::{Beginning, Chosen, Record, Round, Shelf, Wanted, keep, take};
use super::{Header, JournalError};
use crate::exec::{Event, EventSender, Sandbox};
use crate::paths::AbsPath;

/// The journal of a run; clones write into the same. One that is none keeps nothing.
#[derive(Debug, Clone, Default)]
pub struct Journal(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    /// `None` after a failure to write: a gap would be taken for something that did not happen.
    lines: Mutex<Option<Lines>>,
    known: Mutex<Known>,
    events: EventSender,
}

#[derive(Debug, Default)]
struct Known {
    rounds: BTreeMap<ProjectId, Vec<Kept>>,
    jobs: BTreeMap<ProjectId, (ToolRun, Vec<Mutant>)>,
    began: BTreeMap<u64, Beginning>,
    sealed: bool,
    serial: u64,
}

/// A round of an interrupted run.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The stage.
    pub stage: StageName,
    /// What it ran on and what it ran.
    pub key: String,
    /// The folder that stood for the repository root.
    pub root: String,
    /// In the test stage: what it was to run.
    pub share: Option<Share>,
    /// Whether it was stopped before its end.
    pub cut: bool,
    /// What it left.
    pub ran: Ran,
}

/// What one sandbox of the test stage is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The sandbox.
    pub number: u32,
    /// The round.
    pub round: u32,
    /// Its units.
    pub units: Units,
}

/// What identifies a round.
#[derive(Clone, Copy)]
pub struct Began<'a> {
    /// The job.
    pub project: &'a ProjectId,
    /// The stage.
    pub stage: StageName,
    /// What it runs on and what it runs.
    pub key: &'a str,
    /// Its sandbox.
    pub sandbox: &'a dyn Sandbox,
    /// In the test stage: what it is to run.
    pub share: Option<&'a Share>,
}

impl Journal {
    /// Nothing is kept.
    pub fn none() -> Self {
        Self::default()
    }

    /// An empty journal in `folder` of a run about `header`.
    pub fn create(folder: &AbsPath, header: Header, events: &EventSender) -> Result<Self, JournalError> {
        let mut lines = Lines::create(folder)?;
        lines.add(&value(&Record::Run { header }))?;
        Ok(Self::of(lines, Known::default(), events))
    }

    /// The journal in `folder` and what its run was about; `None`: there is none that could be continued.
    pub fn open(folder: &AbsPath, events: &EventSender) -> Result<Option<(Self, Header)>, JournalError> {
        let Some((lines, read)) = Lines::open(folder)? else { return Ok(None) };
        let mut reading = Reading { lines, known: Known::default(), header: None };
        for line in read {
            reading.line(line)?;
        }
        let Reading { lines, known, header } = reading;
        Ok(header.filter(|_| !known.sealed).map(|header| (Self::of(lines, known, events), header)))
    }

    fn of(lines: Lines, known: Known, events: &EventSender) -> Self {
        let (lines, known) = (Mutex::new(Some(lines)), Mutex::new(known));
        Self(Some(Arc::new(Inner { lines, known, events: events.clone() })))
    }

    /// Adds what the run is about, as far as it was not known at the beginning.
    pub fn add_header(&self, header: Header) {
        self.add(&Record::Run { header });
    }

    /// How the job ended in the interrupted run, if it did.
    pub fn job(&self, project: &ProjectId) -> Option<(ToolRun, Vec<Mutant>)> {
        self.known()?.jobs.get(project).cloned()
    }

    /// The first round that ran exactly this; it is given once.
    pub fn round(&self, project: &ProjectId, key: &str) -> Option<Kept> {
        let mut known = self.known()?;
        let rounds = known.rounds.get_mut(project)?;
        let at = rounds.iter().position(|kept| kept.key == key && kept.share.is_none() && !kept.cut)?;
        Some(rounds.remove(at))
    }

    /// The rounds of the test stage that ran on exactly this, in the order of their ends; they are given once.
    pub fn tests(&self, project: &ProjectId, key: &str) -> Vec<(Share, Kept)> {
        let Some(mut known) = self.known() else { return Vec::new() };
        let Some(rounds) = known.rounds.get_mut(project) else { return Vec::new() };
        let taken = rounds.extract_if(.., |kept| kept.key == key && kept.share.is_some());
        taken.filter_map(|mut kept| Some((kept.share.take()?, kept))).collect()
    }

    /// Folders that stood for the repository root in rounds of this job.
    pub fn roots(&self, project: &ProjectId) -> Vec<String> {
        let Some(known) = self.known() else { return Vec::new() };
        let mut roots: Vec<String> =
            known.rounds.get(project).into_iter().flatten().map(|kept| kept.root.clone()).collect();
        roots.sort();
        roots.dedup();
        roots
    }

    /// A round of the test stage is about to start; the answer names it at its end.
    pub(crate) fn begins(&self, began: Began<'_>, plan: &Plan, logs: &AbsPath) -> Option<u64> {
        let share = began.share?;
        let gather = plan.gather.iter().map(Wanted::of).collect::<Option<Vec<_>>>()?;
        let serial = {
            let mut known = self.known()?;
            known.serial += 1;
            known.serial
        };
        self.add(&Record::Began(Box::new(Beginning {
            serial,
            project: began.project.clone(),
            key: began.key.to_owned(),
            root: root(began.sandbox),
            share: chosen(share),
            steps: plan
                .steps
                .iter()
                .map(|step| (step.name.clone(), step.about.as_ref().map(|key| key.0.clone())))
                .collect(),
            gather,
            since: super::salvage::now(),
            boot: super::salvage::boot(),
            logs: logs.to_string(),
            remains: began.sandbox.remains()?,
        })));
        Some(serial)
    }

    /// A round has ended; `cut`: because the run is being stopped.
    pub fn ends(&self, began: Began<'_>, serial: Option<u64>, cut: bool, ran: &Ran) {
        let name = (began.stage, began.project, began.key, root(began.sandbox));
        self.round_ended(name, (serial, began.share.map(chosen)), cut, ran);
    }

    pub(super) fn round_ended(
        &self,
        (stage, project, key, root): (StageName, &ProjectId, &str, String),
        (began, share): (Option<u64>, Option<Chosen>),
        cut: bool,
        ran: &Ran,
    ) {
        self.write(|lines| {
            let (steps, files) = keep(ran, &mut OnShelf { lines })?;
            let (project, key) = (project.clone(), key.to_owned());
            let round = Round { project, stage, key, root, began, share, cut, steps, files };
            lines.add(&value(&Record::Round(Box::new(round))))
        });
    }

    /// A job has ended by itself.
    pub fn job_ended(&self, run: &ToolRun, mutants: &[Mutant]) {
        self.add(&Record::Job { run: Box::new(run.clone()), mutants: mutants.to_vec() });
    }

    /// What was written about a job until now does not hold any more.
    pub fn forget(&self, project: &ProjectId) {
        if let Some(mut known) = self.known() {
            known.rounds.remove(project);
            known.jobs.remove(project);
        }
        self.add(&Record::Void { project: project.clone() });
    }

    /// Whether everything that ended has been written.
    pub fn is_whole(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|inner| inner.lines.lock().unwrap_or_else(PoisonError::into_inner).is_some())
    }

    /// Every job has ended.
    pub fn seal(&self) {
        self.add(&Record::Sealed);
    }

    /// Rounds of the test stage that were running when their run died.
    pub(super) fn unended(&self) -> Vec<Beginning> {
        self.known()
            .map(|mut known| std::mem::take(&mut known.began))
            .unwrap_or_default()
            .into_values()
            .collect()
    }

    /// Takes a round that was read from a dead sandbox among the known ones.
    pub(super) fn learn(&self, project: &ProjectId, kept: Kept) {
        if let Some(mut known) = self.known() {
            known.rounds.entry(project.clone()).or_default().push(kept);
        }
    }

    fn known(&self) -> Option<MutexGuard<'_, Known>> {
        self.0.as_ref().map(|inner| inner.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, record: &Record) {
        self.write(|lines| lines.add(&value(record)));
    }

    fn write(&self, write: impl FnOnce(&mut Lines) -> Result<(), JournalError>) {
        let Some(inner) = &self.0 else { return };
        let mut lines = inner.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Err(error)) = lines.as_mut().map(write) else { return };
        *lines = None;
        let text = format!("this run cannot be resumed from here on: {error}");
        inner.events.send(Event::Note { label: None, text });
    }
}

fn root(sandbox: &dyn Sandbox) -> String {
    sandbox.seen(&polymut_schemas::RepoDir::root()).as_str().to_owned()
}

fn chosen(share: &Share) -> Chosen {
    Chosen { number: share.number, round: share.round, units: (&share.units).into() }
}

/// Every record is made of maps with text keys, lists, text and numbers.
fn value(record: &Record) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

struct OnShelf<'a> {
    lines: &'a mut Lines,
}

impl Shelf for OnShelf<'_> {
    type Error = JournalError;

    fn keep(&mut self, bytes: &[u8]) -> Result<String, JournalError> {
        self.lines.keep(bytes)
    }

    fn kept(&mut self, name: &str) -> Result<Vec<u8>, JournalError> {
        self.lines.kept(name).map_err(|why| JournalError::Bytes {
            file: self.lines.path().to_string(),
            line: 0,
            bytes: name.to_owned(),
            why,
        })
    }
}

struct Reading {
    lines: Lines,
    known: Known,
    header: Option<Header>,
}

impl Reading {
    fn line(&mut self, line: Line) -> Result<(), JournalError> {
        let (file, number) = (self.lines.path().to_string(), line.number);
        let record: Record = serde_json::from_value(line.value).map_err(|error| JournalError::Damaged {
            file,
            line: number,
            why: error.to_string(),
        })?;
        match record {
            Record::Run { header } => self.header.get_or_insert_default().extend(header),
            Record::Began(began) => {
                self.known.serial = self.known.serial.max(began.serial);
                self.known.began.insert(began.serial, *began);
            }
            Record::Round(round) => self.round(*round, number)?,
            Record::Job { run, mutants } => {
                self.known.rounds.remove(&run.project);
                self.known.jobs.insert(run.project.clone(), (*run, mutants));
            }
            Record::Void { project } => {
                self.known.rounds.remove(&project);
                self.known.jobs.remove(&project);
                self.known.began.retain(|_, began| began.project != project);
            }
            Record::Sealed => self.known.sealed = true,
        }
        Ok(())
    }

    fn round(&mut self, round: Round, number: usize) -> Result<(), JournalError> {
        if let Some(serial) = round.began {
            self.known.began.remove(&serial);
        }
        let ran = take(round.steps, round.files, &mut OnShelf { lines: &mut self.lines });
        let ran = ran.map_err(|error| match error {
            JournalError::Bytes { file, bytes, why, .. } => {
                JournalError::Bytes { file, line: number, bytes, why }
            }
            other @ (JournalError::Io { .. } | JournalError::Damaged { .. }) => other,
        })?;
        let share = round.share.map(|chosen| Share {
            number: chosen.number,
            round: chosen.round,
            units: chosen.units.into(),
        });
        let kept = Kept { stage: round.stage, key: round.key, root: round.root, share, cut: round.cut, ran };
        self.known.rounds.entry(round.project).or_default().push(kept);
        Ok(())
    }
}
