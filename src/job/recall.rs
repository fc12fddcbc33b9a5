//! What an interrupted run had found out about a job, and what is left to do.
//!
//! In: the journal. Out: finished jobs, answers of the test stage, the units without one. I/O: through the machine.
//!
//! A round that ended by itself counts as it is. Of one that was stopped, the answers that the tool had given count, and
//! nothing else: no total, no end, no mutant without an answer. Where an answer may still change (a later round of the
//! same sandbox was to come) or goes by whole files, everything is run again.

use std::collections::{BTreeMap, BTreeSet};

use polymut_adapters::{Finish, Key, Parsed, Promised, Round, Stage, Units};
use polymut_schemas::{ProjectId, RepoPath, StageName, Status};

use super::state::JobState;
use super::test::{Piece, merge};
use super::{JobOutcome, Machine};
use crate::exec::{Kept, Sandbox, Share};

/// The job as it had ended in the interrupted run, if it had.
pub(super) fn outcome(machine: &Machine, project: &ProjectId) -> Option<JobOutcome> {
    let (run, mut mutants) = machine.parts.journal.job(project)?;
    for mutant in &mut mutants {
        mutant.provenance.resumed = true;
    }
    Some(JobOutcome { run, mutants })
}

impl Machine {
    /// A job has come to its end. What was stopped or left out is no end of it.
    pub(super) fn ended(&self, outcome: &JobOutcome) {
        if self.stop_cause().is_none() {
            self.parts.journal.job_ended(&outcome.run, &outcome.mutants);
        }
    }

    /// Reads what the dead run had tested, before its folders are cleared.
    pub fn salvage(&self) {
        self.parts.journal.salvage(&self.parts.store, &self.parts.host, self.still.youngest());
    }

    /// The rounds of this job are not its own.
    pub(super) fn forget(&self, project: &ProjectId) {
        self.parts.journal.forget(project);
    }

    /// Folders that stood for the repository root in the interrupted run.
    pub(super) fn roots(&self, project: &ProjectId) -> Vec<String> {
        self.parts.journal.roots(project)
    }
}

/// Units that have their answers.
#[derive(Default)]
struct Done {
    keys: BTreeSet<Key>,
    files: BTreeSet<RepoPath>,
}

impl JobState<'_> {
    /// The pieces of the test stage that are there already, and what is left; `None`: nothing.
    pub(super) fn recall(&mut self, sandbox: &dyn Sandbox, units: &Units) -> (Vec<Piece>, Option<Units>) {
        let mut sandboxes: BTreeMap<(u32, usize), Vec<(Share, Kept)>> = BTreeMap::new();
        let mut starts: BTreeMap<u32, usize> = BTreeMap::new();
        for (share, kept) in self.machine.tests(&self.id, sandbox) {
            // A run that was resumed and interrupted again may have used a number twice.
            let start = starts.entry(share.number).or_default();
            if share.round == 0 {
                *start += 1;
            }
            sandboxes.entry((share.number, *start)).or_default().push((share, kept));
        }
        let (mut pieces, mut done) = (Vec::new(), Done::default());
        for (number, rounds) in sandboxes.into_values().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            pieces.extend(self.piece_of(number, rounds, &mut done));
        }
        let rest = rest(units, &done);
        (pieces, rest)
    }

    /// What one sandbox had answered; `None`: nothing that stands.
    fn piece_of(&self, number: u32, rounds: Vec<(Share, Kept)>, done: &mut Done) -> Option<Piece> {
        let (units, root) = rounds.first().map(|(share, kept)| (share.units.clone(), kept.root.clone()))?;
        let stage = Stage::Test(&units);
        let (mut past, before) = (self.past.clone(), self.past.len());
        let (mut all, mut is_whole): (Option<Parsed>, bool) = (None, false);
        let single = rounds.len() == 1;
        for (round, (_, kept)) in rounds.into_iter().enumerate() {
            let parsed = self.planned.adapter.parse(&self.job_with(&past), stage, &kept.ran).ok()?;
            is_whole = !kept.cut && !parsed.more;
            let round = u32::try_from(round).unwrap_or(u32::MAX);
            past.push((Round { stage: StageName::Test, round, sandbox: number }, kept.ran));
            all = Some(merge(all, parsed));
        }
        let mut parsed = all?;
        let rounds = past.split_off(before);
        if is_whole {
            match units {
                Units::Mutants(keys) => done.keys.extend(keys),
                Units::Files(files) => done.files.extend(files),
            }
            return Some(Piece { parsed, rounds, root, resumed: true });
        }
        let Units::Mutants(asked) = &units else { return None };
        let is_believed = match parsed.finish {
            Finish::Complete | Finish::Partial(_) => single && !parsed.more,
            Finish::Nothing(_) | Finish::RedBaseline(_) | Finish::Broken(_) => false,
        };
        if !is_believed {
            return None;
        }
        keep_answers(&mut parsed, asked, &done.keys);
        done.keys.extend(parsed.mutants.iter().map(|mutant| mutant.key.clone()));
        Some(Piece { parsed, rounds, root, resumed: true })
    }
}

/// Takes answers out of fresh pieces that are there already, and the same: a tool that is given ranges of a file also runs
/// what else lies in them. One that differs stays, and the careful one of both will count.
pub(super) fn leave_repeated(recalled: &[Piece], fresh: &mut [Piece]) {
    let known: BTreeMap<&Key, Status> = recalled
        .iter()
        .flat_map(|piece| &piece.parsed.mutants)
        .filter_map(|mutant| Some((&mutant.key, mutant.status?)))
        .collect();
    for parsed in fresh.iter_mut().map(|piece| &mut piece.parsed) {
        let before = parsed.mutants.len();
        parsed.mutants.retain(|mutant| {
            mutant.status.is_none_or(|status| known.get(&mutant.key).is_none_or(|was| *was != status))
        });
        let repeated = u64::try_from(before - parsed.mutants.len()).unwrap_or(u64::MAX);
        if let Promised::Announced(total) = &mut parsed.promised {
            *total = total.saturating_sub(repeated);
        }
    }
}

/// Leaves the answers to what was asked and not answered before, and takes everything else away.
fn keep_answers(parsed: &mut Parsed, asked: &[Key], done: &BTreeSet<Key>) {
    let asked: BTreeSet<&Key> = asked.iter().collect();
    parsed.mutants.retain(|mutant| {
        asked.contains(&mutant.key) && !done.contains(&mutant.key) && mutant.status.is_some_and(is_answer)
    });
    parsed.finish = Finish::Complete;
    parsed.promised = Promised::Unknown("the run was interrupted");
    parsed.notes.clear();
    parsed.baseline = None;
}

/// Whether a status says what became of a mutant. A tool that is being killed may call that an error of the mutant.
fn is_answer(status: Status) -> bool {
    match status {
        Status::Killed
        | Status::Timeout
        | Status::Survived
        | Status::NoCoverage
        | Status::Unviable
        | Status::Ignored => true,
        Status::OutOfMemory | Status::NotRun | Status::Errored | Status::Flaky => false,
    }
}

/// What has no answer; `None`: nothing.
fn rest(units: &Units, done: &Done) -> Option<Units> {
    match units {
        Units::Mutants(keys) => {
            let open: Vec<Key> = keys.iter().filter(|key| !done.keys.contains(*key)).cloned().collect();
            (!open.is_empty()).then_some(Units::Mutants(open))
        }
        Units::Files(files) => {
            let open: Vec<RepoPath> =
                files.iter().filter(|file| !done.files.contains(*file)).cloned().collect();
            (!open.is_empty()).then_some(Units::Files(open))
        }
    }
}
