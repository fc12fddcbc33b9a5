//! Test: run the chosen mutants, and prove that each has an answer.
//!
//! In: a prepared sandbox, units. Out: answers in the ledger. I/O: through the machine.

use std::collections::BTreeSet;
use std::time::Instant;

use polymut_adapters::{
    Doubt, End, Finish, Key, Parsed, Promised, Ran, RawMutant, RawPath, Round, Stage, Units,
};
use polymut_schemas::{Cause, Quote, RunState, StageCount, StageName};

use super::machine::RunAt;
use super::prepare::ROUNDS;
use super::recall::leave_repeated;
use super::state::JobState;
use super::{Dropped, Halt, Step, broken, quote};
use crate::exec::{Ask, Lease, Sandbox};
use crate::normalize::{Context, Normalized, normalize};

/// What one sandbox of the test stage left.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) parsed: Parsed,
    pub(super) rounds: Vec<(Round, polymut_adapters::Ran)>,
    pub(super) root: String,
    /// Whether the run that this one continues made it.
    pub(super) resumed: bool,
}

impl JobState<'_> {
    /// One stage in one sandbox, round after round until the adapter has what it wants. `None`: no such stage.
    pub(crate) async fn stage(&mut self, stage: Stage<'_>, sandbox: &dyn Sandbox) -> Step<Option<Parsed>> {
        let started = Instant::now();
        self.root(sandbox);
        let mut all: Option<Parsed> = None;
        for round in 0..ROUNDS {
            let planned =
                self.planned.adapter.plan(&self.job(), stage).map_err(|error| self.unplanned(&error))?;
            let Some(plan) = planned else { break };
            self.record(stage, &plan);
            self.keep_tests(stage, &plan);
            let cores = self.lease(stage).await;
            let ran = self
                .machine
                .run(&plan, self.at(stage, sandbox, cores.count()))
                .await
                .map_err(|error| broken(&error))?;
            drop(cores);
            let parsed = self
                .planned
                .adapter
                .parse(&self.job(), stage, &ran)
                .map_err(|error| self.unread(stage, &error))?;
            self.past.push((Round { stage: stage.name(), round, sandbox: 0 }, ran));
            self.facts.absorb(parsed.facts.clone());
            let more = parsed.more;
            all = Some(merge(all, parsed));
            if !more {
                break;
            }
        }
        self.spent(stage.name(), started.elapsed());
        if let Some(parsed) = &all {
            self.notes.extend(parsed.notes.iter().map(|note| note.0.clone()));
        }
        Ok(all)
    }

    /// The cores of a stage. A timeout that load made does not come back on a quiet machine.
    async fn lease(&self, stage: Stage<'_>) -> Lease {
        let quiet =
            matches!(stage, Stage::Confirm(suspects) if suspects.iter().any(|one| one.why == Doubt::Load));
        self.machine.cores(Ask { quiet, ..self.ask(u32::MAX) }).await
    }

    /// Runs the chosen mutants.
    pub(crate) async fn test(&mut self, sandbox: &dyn Sandbox, units: &Units) -> Step<()> {
        let started = Instant::now();
        let (mut pieces, rest) = self.recall(sandbox, units);
        if let Some(rest) = rest {
            let first =
                pieces.iter().flat_map(|piece| &piece.rounds).map(|(round, _)| round.sandbox + 1).max();
            let mut fresh = self.fresh_pieces(sandbox, &rest, first.unwrap_or(0)).await?;
            leave_repeated(&pieces, &mut fresh);
            pieces.extend(fresh);
        }
        self.spent(StageName::Test, started.elapsed());
        self.take(units, pieces)
    }

    /// What a round of the test stage says. A file that a tool was just writing when it was stopped is no fault of it.
    pub(super) fn read(&self, past: &[(Round, Ran)], stage: Stage<'_>, ran: &Ran) -> Step<Parsed> {
        match self.planned.adapter.parse(&self.job_with(past), stage, ran) {
            Ok(parsed) => Ok(parsed),
            Err(error) if ran.steps.iter().any(|step| step.end == End::Stopped) => {
                let words = quote(format!("stopped while it wrote its results: {error}"), self.tool_name());
                Ok(Parsed { finish: Finish::Nothing(words), ..Parsed::default() })
            }
            Err(error) => Err(Box::new(self.unread(stage, &error))),
        }
    }

    /// Unites what the sandboxes left and proves that every chosen mutant has an answer.
    fn take(&mut self, units: &Units, pieces: Vec<Piece>) -> Step<()> {
        let mut parsed_count = 0;
        let mut counted = BTreeSet::new();
        let mut dropped = Dropped::new();
        let mut worst: Option<RunState> = None;
        for piece in pieces {
            if !piece.root.is_empty() {
                self.roots.push(piece.root);
            }
            let count = u64::try_from(piece.parsed.mutants.len()).unwrap_or(u64::MAX);
            parsed_count += count;
            self.facts.absorb(piece.parsed.facts);
            for note in piece.parsed.notes {
                self.note_once(note.0);
            }
            worst = worst.or(self.ended(piece.parsed.finish));
            if let Promised::Announced(total) = piece.parsed.promised
                && total != count
            {
                let text = format!("announced {total} mutants, reported {count}");
                let quote = quote(text, "test");
                worst = worst.or(Some(RunState::Partial { quote, cause: self.cause() }));
            }
            let normalized = self.settle(piece.parsed.mutants, &piece.parsed.seen);
            for (reason, number) in normalized.dropped {
                *dropped.entry(reason).or_default() += number;
            }
            let mut answers = normalized.mutants;
            for keyed in &mut answers {
                keyed.mutant.provenance.resumed = piece.resumed;
            }
            self.ledger.answer(answers, &mut counted, &mut dropped);
            self.past.extend(piece.rounds);
        }
        let planned = match units {
            Units::Mutants(keys) => Some(u64::try_from(keys.len()).unwrap_or(u64::MAX)),
            Units::Files(_) => None,
        };
        let reported = u64::try_from(counted.len()).unwrap_or(u64::MAX);
        let missing = planned.map_or(0, |_| self.ledger.unanswered());
        self.stages.push(StageCount {
            stage: StageName::Test,
            planned,
            parsed: parsed_count,
            reported,
            dropped,
            missing,
        });
        if let Some(state) = worst {
            self.falls_short(state);
        }
        if missing > 0 {
            let text = format!("{missing} of {} chosen mutants have no answer", self.ledger.len());
            self.falls_short(RunState::Partial { quote: quote(text, "test"), cause: self.cause() });
        }
        if self.ledger.len() == 0 && self.shortfall.is_none() {
            self.nothing_chosen()?;
        }
        Ok(())
    }

    /// What the end of a test stage makes of the job; `None` when all is well.
    fn ended(&self, finish: Finish) -> Option<RunState> {
        let cause = self.cause();
        match finish {
            Finish::Complete => None,
            Finish::Partial(quote) => Some(RunState::Partial { quote, cause }),
            Finish::Nothing(quote) => Some(RunState::Nothing { quote, cause }),
            Finish::RedBaseline(quote) => Some(RunState::RedBaseline { quote, cause: Cause::Machine }),
            Finish::Broken(quote) => Some(RunState::Broken { quote, cause }),
        }
    }

    /// Normalises the mutants of a stage and remembers what the tool was seen to read.
    pub(crate) fn settle(&mut self, mutants: Vec<RawMutant>, seen: &[RawPath]) -> Normalized {
        let context = Context {
            project: &self.id,
            dir: &self.planned.project.dir,
            tool: &self.tool,
            tree: self.view.tree,
            sources: self.view.sources,
            scope: self.view.scope,
            roots: &self.roots,
        };
        let normalized = normalize(&context, mutants, seen);
        self.seen.extend(normalized.seen.iter().cloned());
        self.notes.extend(normalized.notes.iter().cloned());
        normalized
    }

    /// Remembers which absolute folder stands for the repository root.
    fn root(&mut self, sandbox: &dyn Sandbox) {
        let root = sandbox.seen(&polymut_schemas::RepoDir::root()).as_str().to_owned();
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    /// Where and with what a stage runs.
    pub(crate) fn at<'b>(&'b self, stage: Stage<'_>, sandbox: &'b dyn Sandbox, cores: u32) -> RunAt<'b> {
        RunAt {
            project: &self.id,
            stage: stage.name(),
            round: self.job().round(stage.name()),
            number: 0,
            sandbox,
            share: None,
            watch: Some(self),
            adapter: self.planned.adapter,
            options: self.options,
            cores,
            wall: self.wall(stage.name()),
            baseline_runs: match stage.name() {
                StageName::Prepare | StageName::List => self.options.baseline_runs,
                StageName::Probe
                | StageName::Test
                | StageName::Confirm
                | StageName::Replay
                | StageName::Close => 1,
            },
        }
    }

    pub(crate) fn unplanned(&self, error: &polymut_adapters::PlanError) -> Halt {
        let text = error.hint().map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"));
        Halt(RunState::Skipped { quote: quote(text, self.tool_name()), cause: Cause::Machine })
    }

    pub(crate) fn unread(&self, stage: Stage<'_>, error: &polymut_adapters::ParseError) -> Halt {
        let text = error.hint().map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"));
        let words = Quote { text, at: format!("{:?} of {}", stage.name(), self.tool_name()).to_lowercase() };
        Halt(RunState::Broken { quote: words, cause: self.cause() })
    }
}

/// The rounds of a stage as one: later answers beside earlier ones, the last end.
pub(super) fn merge(before: Option<Parsed>, now: Parsed) -> Parsed {
    let Some(mut before) = before else { return now };
    before.finish = now.finish;
    before.more = now.more;
    before.baseline = now.baseline.or(before.baseline);
    before.promised = now.promised;
    before.seen.extend(now.seen);
    before.notes.extend(now.notes);
    before.facts.absorb(now.facts);
    let replaced: BTreeSet<Key> = now.mutants.iter().map(|mutant| mutant.key.clone()).collect();
    before.mutants.retain(|mutant| !replaced.contains(&mutant.key));
    before.mutants.extend(now.mutants);
    before
}
