//! One job: one tool on one project for one scope, stage after stage.
//!
//! In: a planned job, the machine. Out: [`JobOutcome`]: how it ran and every chosen mutant. I/O: through the machine.
//!
//! # Invariants
//! - What was chosen is known before it is run, and `chosen == reported + not_run` holds after.
//! - Prepare and List leave their sandbox to what follows; Test, Confirm and Replay each start from a fork of it.
//! - A job never fails as a whole: whatever goes wrong becomes its [`RunState`], which the gate sees.

mod ahead;
mod canary;
mod close;
mod confirm;
mod edited;
mod ledger;
mod list;
mod machine;
mod memory;
mod origin;
mod prepare;
mod proof;
mod recall;
mod shares;
mod state;
mod test;
mod trace;
mod walls;

use std::collections::BTreeMap;

use polymut_adapters::{Adapter, Tree};
use polymut_schemas::{Cause, Mutant, Quote, RepoDir, RunState, Scope, ToolRun};

pub use machine::{Blobs, Machine, MachineError, MachineParts, RunAt, Side, SideFiles, WALL};
pub use state::JobOptions;

use crate::planner::PlannedJob;
use crate::sources::Sources;
use machine::Watch as _;
use state::JobState;

/// What every job of a run looks at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Files of the new side.
    pub tree: &'a Tree,
    /// Their text, as far as the scope needs it.
    pub sources: &'a Sources,
    /// Changed lines.
    pub scope: &'a Scope,
    /// Text of the changed files at the merge base, by their path there.
    pub base: &'a Sources,
    /// Folders of every job of the run.
    pub claimed: &'a [RepoDir],
}

/// What a job leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// How it ran.
    pub run: ToolRun,
    /// Every chosen mutant, united.
    pub mutants: Vec<Mutant>,
}

/// Why a job ends early. Boxed where it travels, because a quote is large and the good way is the usual one.
#[derive(Debug)]
pub(crate) struct Halt(pub(crate) RunState);

/// Results of the steps of a job.
pub(crate) type Step<T> = Result<T, Box<Halt>>;

pub(crate) fn halt<T>(state: RunState) -> Step<T> {
    Err(Box::new(Halt(state)))
}

/// Somebody's words, shortened, and where they stand.
pub(crate) fn quote(text: impl Into<String>, at: impl Into<String>) -> Quote {
    Quote { text: text.into(), at: at.into() }
}

/// Runs one job to its end.
pub async fn run_job(
    machine: &Machine,
    view: View<'_>,
    planned: &PlannedJob,
    options: &JobOptions,
) -> JobOutcome {
    let id = planned.project.id();
    if let Some(outcome) = recall::outcome(machine, &id) {
        return outcome;
    }
    let mut state = JobState::new(machine, view, planned, options);
    let mut ended = stages(&mut state).await;
    if let Some(words) = machine.diverged(&id) {
        // What the interrupted run had found out was found out about something else.
        machine.forget(&id);
        state = JobState::new(machine, view, planned, options);
        state.notes.push(format!("started afresh, not resumed: {words}"));
        ended = stages(&mut state).await;
    }
    state.distrust_edited();
    let is_edited = state.is_edited();
    let outcome = state.finish(ended);
    if !is_edited {
        machine.ended(&outcome);
    }
    outcome
}

async fn stages(state: &mut JobState<'_>) -> Step<()> {
    let mut sandbox = state.open()?;
    state.watch_copying();
    state.probe(&mut sandbox).await?;
    let sandbox = sandbox.as_ref();
    state.prepare(sandbox).await?;
    let units = state.list(sandbox).await?;
    let Some(units) = units else { return Ok(()) };
    state.test(sandbox, &units).await?;
    state.confirm(sandbox).await?;
    state.settle_origin().await?;
    state.prove(sandbox).await?;
    state.canary(sandbox).await?;
    state.close(sandbox).await
}

/// What a plain error of the machine means for a job.
pub(crate) fn broken(error: &MachineError) -> Halt {
    let cause = Cause::Machine;
    if let MachineError::Stopped { cause } = error {
        return Halt(RunState::Partial { quote: quote(error.to_string(), "polymut"), cause: *cause });
    }
    let mut text = error.to_string();
    if let Some(hint) = error.hint() {
        text = format!("{text} ({hint})");
    }
    Halt(RunState::Broken { quote: quote(text, "polymut"), cause })
}

/// How many of each reason, for a stage's counts.
pub(crate) type Dropped = BTreeMap<String, u64>;

/// The adapter's id, for messages.
pub(crate) fn tool_name(adapter: &dyn Adapter) -> &'static str {
    adapter.info().id
}
