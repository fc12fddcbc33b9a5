//! Proof before blame: a survivor that would fail the gate is replayed alone before it is held against anyone.
//!
//! In: survivors on changed lines. Out: confirmed survivors, or flaky mutants. I/O: through the machine.
//!
//! A tool that can switch one mutant on replays it itself; for every other the shown diff is applied with `git apply`
//! in a fork of the prepared sandbox and the project's baseline steps are run.

use std::time::Instant;

use polymut_adapters::{
    CommandSpec, Doubt, End, Find, Finish, Key, NewFile, Piece, Place, Plan, Ran, Role, ScopeFit, Stage,
    Step as PlanStep, Suspect, WorkPath,
};
use polymut_schemas::{Confirmation, Mutant, OperatorClass, Origin, RepoDir, StageName, Status};

use super::prepare::{ROUNDS, tail};
use super::state::JobState;
use super::{Step, broken};
use crate::exec::Sandbox;

/// What a replay showed.
pub(crate) struct Replayed {
    pub(crate) status: Status,
    pub(crate) with: String,
    pub(crate) words: String,
}

/// The name of the step that applies a diff.
const APPLY: &str = "apply-diff";

impl JobState<'_> {
    /// Replays survivors on changed lines, worst first, up to `--confirm`.
    pub(crate) async fn prove(&mut self, sandbox: &dyn Sandbox) -> Step<()> {
        let started = Instant::now();
        let mut accused = self.accused();
        let limit = usize::try_from(self.options.confirm).unwrap_or(usize::MAX);
        let all = self.replayed + accused.len();
        if all > limit && limit > 0 {
            self.notes.push(format!("{limit} of {all} survivors were replayed (--confirm)"));
        }
        accused.truncate(limit.saturating_sub(self.replayed));
        let mut together = Vec::new();
        for mutant in &accused {
            if !self.replays_one(mutant)? {
                together.push(mutant);
                continue;
            }
            if self.machine.stop_cause().is_some() {
                self.notes.push("not every survivor was replayed: time ran out".to_owned());
                break;
            }
            if let Some(replayed) = self.replay(sandbox, mutant).await? {
                self.weigh(mutant, replayed);
            }
        }
        if !together.is_empty() && self.machine.stop_cause().is_none() {
            self.replay_together(sandbox, &together).await?;
        }
        if limit > 0 && !accused.is_empty() {
            self.spent(StageName::Replay, started.elapsed());
        }
        Ok(())
    }

    /// Survivors on changed lines that were not run again yet, worst first.
    fn accused(&self) -> Vec<Mutant> {
        let mut accused: Vec<Mutant> = self
            .ledger
            .values()
            .filter(|keyed| {
                keyed.doubt.is_none() && keyed.mutant.in_scope && keyed.mutant.origin != Origin::PreExisting
            })
            // The confirm stage has run it alone already.
            .filter(|keyed| keyed.mutant.confirmed.as_ref().is_none_or(|made| made.agreed < made.replays))
            .filter(|keyed| survives(keyed.mutant.status))
            .map(|keyed| keyed.mutant.clone())
            .collect();
        accused.sort_by_key(|mutant| {
            (mutant.status, weight(mutant.operator.class), mutant.file.clone(), mutant.span)
        });
        accused
    }

    /// Of those whom the gate may accuse, up to `--confirm`, the ones that the tool has to run again by itself, all in one
    /// start.
    pub(crate) fn replayed_together(&self) -> Step<Vec<Suspect>> {
        let mut suspects = Vec::new();
        for mutant in self.accused().iter().take(usize::try_from(self.options.confirm).unwrap_or(usize::MAX))
        {
            if !self.replays_one(mutant)? {
                suspects.push(again(mutant));
            }
        }
        Ok(suspects)
    }

    /// Whether the tool can switch this mutant on by itself, or shows a change that can be applied.
    fn replays_one(&self, mutant: &Mutant) -> Step<bool> {
        let planned = self.planned.adapter.plan(&self.job(), Stage::Replay(mutant));
        let by_tool = planned.map_err(|error| self.unplanned(&error))?.is_some();
        Ok(by_tool || (mutant.diff.is_some() && self.tests(Role::Work).is_some()))
    }

    /// One mutant alone; `None` when its change does not apply.
    async fn replay(&mut self, sandbox: &dyn Sandbox, mutant: &Mutant) -> Step<Option<Replayed>> {
        let fork = self.machine.fork(sandbox, "replay").await.map_err(|error| broken(&error))?;
        if let Some(replayed) = self.replay_by_tool(fork.as_ref(), mutant).await? {
            return Ok(Some(replayed));
        }
        let Some(plan) = self.diff_plan(mutant) else { return Ok(None) };
        self.record(Stage::Replay(mutant), &plan);
        let cores = self.machine.cores(self.ask(1)).await;
        let at = self.at(Stage::Replay(mutant), fork.as_ref(), cores.count());
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        if ran.step(APPLY).is_none_or(|step| step.end != End::Exit(0)) {
            let words = ran.step(APPLY).map(|step| tail(&step.stderr.text(), 3)).unwrap_or_default();
            self.notes.push(format!("the diff of {} does not apply: {words}", mutant.id));
            return Ok(None);
        }
        Ok(ended(&plan, &ran, "its diff and the baseline command"))
    }

    async fn replay_by_tool(&mut self, fork: &dyn Sandbox, mutant: &Mutant) -> Step<Option<Replayed>> {
        let stage = Stage::Replay(mutant);
        let before = self.past.len();
        let mut last = None;
        for round in 0..ROUNDS {
            let planned =
                self.planned.adapter.plan(&self.job(), stage).map_err(|error| self.unplanned(&error))?;
            let Some(plan) = planned else { break };
            self.record(stage, &plan);
            let cores = self.machine.cores(self.ask(1)).await;
            let at = self.at(stage, fork, cores.count());
            let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
            let parsed = self
                .planned
                .adapter
                .parse(&self.job(), stage, &ran)
                .map_err(|error| self.unread(stage, &error))?;
            let with = format!("{}, this mutant only", self.tool_name());
            let named = parsed.mutants.iter().find(|raw| raw.key.0 == mutant.key);
            last = match named.and_then(|raw| Some((raw.status?, raw.word.clone()))) {
                Some((status, words)) => Some(Replayed { status, with, words }),
                // An adapter that judges its own steps and gives nothing has not replayed anything.
                None if parsed.mutants.is_empty() && parsed.finish == Finish::Complete => {
                    ended(&plan, &ran, &with)
                }
                None => None,
            };
            self.past.push((polymut_adapters::Round { stage: StageName::Replay, round, sandbox: 0 }, ran));
            if !parsed.more {
                break;
            }
        }
        // The next mutant's rounds start from zero again.
        self.past.truncate(before);
        Ok(last)
    }

    /// A tool that gives no source change and cannot switch one mutant on may still run them again, each by itself: one
    /// start of the tool for all of them.
    async fn replay_together(&mut self, sandbox: &dyn Sandbox, mutants: &[&Mutant]) -> Step<()> {
        let suspects: Vec<Suspect> = mutants.iter().map(|mutant| again(mutant)).collect();
        // This is a Confirm stage of its own, from its first round.
        self.past.retain(|(round, _)| round.stage != StageName::Confirm);
        let fork = self.machine.fork(sandbox, "replay").await.map_err(|error| broken(&error))?;
        let answers = self.stage(Stage::Confirm(&suspects), fork.as_ref()).await?;
        let answers = answers.map(|parsed| parsed.mutants).unwrap_or_default();
        for mutant in mutants {
            let named = answers.iter().find(|raw| raw.key.0 == mutant.key);
            let Some((status, words)) = named.and_then(|raw| Some((raw.status?, raw.word.clone()))) else {
                self.note_once(format!(
                    "survivors of {} are not replayed: it gives no source change",
                    self.tool_name()
                ));
                continue;
            };
            let with = format!("{}, this mutant by itself", self.tool_name());
            self.weigh(mutant, Replayed { status, with, words });
        }
        Ok(())
    }

    /// Applies the shown diff, builds, and runs the baseline steps once.
    fn diff_plan(&self, mutant: &Mutant) -> Option<Plan> {
        let diff = mutant.diff.as_ref()?;
        let at = WorkPath::new("replay.diff").ok()?;
        let apply = PlanStep {
            name: APPLY.to_owned(),
            about: Some(Key(mutant.key.clone())),
            role: Role::Work,
            files: vec![NewFile { at: Place::Work(at.clone()), bytes: diff.clone().into_bytes() }],
            command: CommandSpec {
                program: vec![Find::OnPath("git")],
                args: vec![Piece::word("apply"), Piece::word("--whitespace=nowarn"), vec![Piece::Work(at)]],
                cwd: RepoDir::root(),
                // A repository above the sandbox would make git skip every path.
                env: [("GIT_DIR".to_owned(), Piece::word("/dev/null"))].into(),
            },
            go_on: &[0],
            limit: None,
        };
        let tests = self.tests(Role::Work)?;
        Some(Plan {
            steps: std::iter::once(apply).chain(tests).collect(),
            gather: Vec::new(),
            fit: ScopeFit::Mutant,
        })
    }

    /// The Build and Baseline steps of Prepare, the latter in the given role and with the limit of a mutant's test.
    pub(crate) fn tests(&self, role: Role) -> Option<Vec<PlanStep>> {
        let plan = self.prepared.as_ref()?;
        let wanted = |step: &&PlanStep| matches!(step.role, Role::Build | Role::Baseline);
        let steps: Vec<PlanStep> = plan
            .steps
            .iter()
            .filter(wanted)
            .map(|step| match step.role {
                Role::Baseline => PlanStep { role, limit: self.limits.test().or(step.limit), ..step.clone() },
                Role::Fetch | Role::Build | Role::Work => step.clone(),
            })
            .collect();
        plan.steps.iter().any(|step| step.role == Role::Baseline).then_some(steps)
    }

    /// Holds a replay against the tool's answer.
    fn weigh(&mut self, mutant: &Mutant, replayed: Replayed) {
        let tool = self.tool_name();
        let Some(known) = self.ledger.get_mut(&Key(mutant.key.clone())) else { return };
        let agreed = survives(replayed.status);
        known.mutant.confirmed =
            Some(Confirmation { replays: 1, agreed: u32::from(agreed), with: replayed.with });
        if !agreed {
            let words = format!(
                "{tool} says {}; replayed alone it was {}",
                mutant.status.word(),
                replayed.status.word()
            );
            known.mutant.status = Status::Flaky;
            known.mutant.detail = Some(format!("{words}\n{}", replayed.words).trim_end().to_owned());
        }
    }

    pub(crate) fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Whether no test fails because of it.
pub(super) fn survives(status: Status) -> bool {
    matches!(status, Status::Survived | Status::NoCoverage)
}

/// A survivor that is run again: an answer that changes is no answer.
fn again(mutant: &Mutant) -> Suspect {
    Suspect { key: Key(mutant.key.clone()), why: Doubt::Flips }
}

/// What the steps of a replay say when the adapter does not.
fn ended(plan: &Plan, ran: &Ran, with: &str) -> Option<Replayed> {
    let last = ran.steps.last()?;
    let words = tail(&format!("{}\n{}", last.stdout.text(), last.stderr.text()), 12);
    let finished = plan.steps.last().is_some_and(|step| step.name == last.name);
    let status = match (last.end, finished) {
        (End::Exit(0), true) => Status::Survived,
        (End::Exit(_) | End::Signal(_), false) => Status::Unviable,
        (End::Exit(_) | End::Signal(_), true) => Status::Killed,
        (End::Limit, _) => Status::Timeout,
        (End::OutOfMemory, _) => Status::OutOfMemory,
        (End::Stopped | End::NoProgram, _) => return None,
    };
    Some(Replayed { status, with: with.to_owned(), words })
}

/// Operators that a reviewer would worry about most come first.
fn weight(class: OperatorClass) -> u8 {
    match class {
        OperatorClass::Comparison | OperatorClass::Logical => 0,
        OperatorClass::Arithmetic | OperatorClass::ReturnValue | OperatorClass::Removal => 1,
        OperatorClass::ControlFlow
        | OperatorClass::Unary
        | OperatorClass::Assignment
        | OperatorClass::Bitwise => 2,
        OperatorClass::Call | OperatorClass::Literal | OperatorClass::Other => 3,
    }
}
