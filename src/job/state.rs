//! What a job knows while it runs, and the run record it becomes.
//!
//! In: a planned job. Out: [`ToolRun`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use polymut_adapters::{Facts, Job, Limits, Plan, ProjectSettings, Ran, Round, Stage, Units};
use polymut_schemas::{
    BaselineRun, CommandLine, ContainmentReached, Environment, Mutant, ProjectId, RepoPath, RunState,
    StageCount, StageName, Status, Timing, ToolId, ToolRun,
};

use super::ledger::Ledger;
use super::{Halt, JobOutcome, Machine, View};
use crate::planner::{PlannedJob, command_line};

/// How a job is to be run: `polymut.toml` and the command line, merged.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// What the adapter may look at.
    pub project: ProjectSettings,
    /// Multiple of the baseline that a mutant's test may take.
    pub timeout_factor: f64,
    /// Added to it.
    pub timeout_floor: Duration,
    /// How often the baseline is run.
    pub baseline_runs: u32,
    /// How many survivors that would fail the gate are replayed at most.
    pub confirm: u32,
    /// Whether a missing tool is put into the private store.
    pub provision: bool,
    /// Memory ceiling of the tool's process tree in bytes.
    pub memory: Option<u64>,
    /// Whether the project keeps the network.
    pub network: bool,
    /// Wall limit of a step that has none of its own.
    pub wall: Duration,
    /// Things that only one job at a time may use.
    pub exclusive: Vec<String>,
}

/// A job while it runs.
pub(crate) struct JobState<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) view: View<'a>,
    pub(crate) planned: &'a PlannedJob,
    pub(crate) options: &'a JobOptions,
    pub(crate) id: ProjectId,
    pub(crate) tool: ToolId,
    pub(crate) limits: Limits,
    pub(crate) facts: Facts,
    pub(crate) past: Vec<(Round, Ran)>,
    /// The Prepare plan: its Build and Baseline steps are run again by proof and close.
    pub(crate) prepared: Option<Plan>,
    pub(crate) baseline: Option<BaselineRun>,
    pub(crate) ledger: Ledger,
    /// How many of the replays that `--confirm` allows were made by Confirm.
    pub(crate) replayed: usize,
    pub(crate) seen: BTreeSet<RepoPath>,
    pub(crate) stages: Vec<StageCount>,
    pub(crate) commands: Vec<CommandLine>,
    pub(crate) notes: Vec<String>,
    pub(crate) containment: Option<ContainmentReached>,
    /// Absolute folders that stood for the repository root.
    pub(crate) roots: Vec<String>,
    pub(crate) timing: Timing,
    /// The first thing that kept an answer from being whole.
    pub(crate) shortfall: Option<RunState>,
    pub(crate) nothing: bool,
    /// Files that somebody edited while they were read.
    pub(crate) moved: Vec<RepoPath>,
    started: Instant,
}

impl<'a> JobState<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        view: View<'a>,
        planned: &'a PlannedJob,
        options: &'a JobOptions,
    ) -> Self {
        Self {
            machine,
            view,
            planned,
            options,
            id: planned.project.id(),
            tool: planned.project.tool.clone(),
            limits: Limits { factor: options.timeout_factor, floor: options.timeout_floor, baseline: None },
            facts: Facts::default(),
            past: Vec::new(),
            prepared: None,
            baseline: None,
            ledger: Ledger::default(),
            replayed: 0,
            seen: BTreeSet::new(),
            stages: Vec::new(),
            commands: Vec::new(),
            notes: Vec::new(),
            containment: None,
            roots: machine.roots(&planned.project.id()),
            timing: Timing::default(),
            shortfall: None,
            nothing: false,
            moved: Vec::new(),
            started: Instant::now(),
        }
    }

    /// What the adapter sees now.
    pub(crate) fn job(&self) -> Job<'_> {
        self.job_with(&self.past)
    }

    /// What the adapter sees with another past (one sandbox of several).
    pub(crate) fn job_with<'b>(&'b self, past: &'b [(Round, Ran)]) -> Job<'b> {
        Job {
            project: &self.planned.project,
            tree: self.view.tree,
            settings: &self.options.project,
            changed: &self.planned.changed,
            facts: &self.facts,
            limits: &self.limits,
            past,
        }
    }

    /// Every changed file as a unit, for tools without a list.
    pub(crate) fn files(&self) -> Units {
        Units::Files(self.planned.changed.files.keys().cloned().collect())
    }

    /// Keeps the command lines of a plan for the document.
    pub(crate) fn record(&mut self, stage: Stage<'_>, plan: &Plan) {
        for step in &plan.steps {
            let line = CommandLine {
                stage: stage.name(),
                step: step.name.clone(),
                cwd: step.command.cwd.clone(),
                line: command_line(&step.command),
            };
            if !self.commands.contains(&line) {
                self.commands.push(line);
            }
        }
    }

    /// Adds a stage's wall time.
    pub(crate) fn spent(&mut self, stage: StageName, wall: Duration) {
        *self.timing.stages.entry(stage).or_default() += wall.as_secs_f64();
    }

    /// Remembers the first shortfall; later ones become notes.
    pub(crate) fn falls_short(&mut self, state: RunState) {
        match (&self.shortfall, &state) {
            (None, _) => self.shortfall = Some(state),
            (
                Some(_),
                RunState::Partial { quote, .. }
                | RunState::Nothing { quote, .. }
                | RunState::Broken { quote, .. },
            ) => {
                self.notes.push(format!("{}: {}", quote.at, quote.text));
            }
            (
                Some(_),
                RunState::Complete
                | RunState::NothingToMutate
                | RunState::RedBaseline { .. }
                | RunState::Skipped { .. },
            ) => {}
        }
    }

    /// Changed files that the tool was not seen to read.
    fn unseen(&self, mutants: &[Mutant]) -> Vec<RepoPath> {
        let named: BTreeSet<&RepoPath> = mutants.iter().filter_map(|mutant| mutant.file.as_ref()).collect();
        let files = self.planned.changed.files.keys();
        files.filter(|path| !self.seen.contains(*path) && !named.contains(path)).cloned().collect()
    }

    /// The record of the job, however it ended.
    pub(crate) fn finish(mut self, ended: Result<(), Box<Halt>>) -> JobOutcome {
        let halted = ended.err().map(|halt| halt.0);
        let mutants = std::mem::take(&mut self.ledger).into_mutants();
        let unanswered = mutants.iter().any(|mutant| mutant.in_scope && mutant.status == Status::NotRun);
        let state = match (halted, self.shortfall.take()) {
            (Some(state), _) | (None, Some(state)) => state,
            (None, None) if self.nothing => RunState::NothingToMutate,
            (None, None) if unanswered => RunState::Partial {
                quote: super::quote("some chosen mutants have no answer", "polymut"),
                cause: self.machine.stop_cause().unwrap_or(polymut_schemas::Cause::Machine),
            },
            (None, None) => RunState::Complete,
        };
        self.timing.wall = self.started.elapsed().as_secs_f64();
        self.timing.peak_memory = self.machine.peak(&self.id);
        self.notes.dedup();
        let unseen = self.unseen(&mutants);
        let run = ToolRun {
            project: self.id,
            dir: self.planned.project.dir.clone(),
            tool: self.tool,
            tool_version: self.facts.one("tool.version").map(str::to_owned),
            state,
            commands: self.commands,
            containment: self.containment,
            baseline: self.baseline,
            stages: self.stages,
            seen: self
                .seen
                .into_iter()
                .filter(|path| self.planned.changed.files.contains_key(path))
                .collect(),
            unseen,
            timing: self.timing,
            environment: Environment {
                versions: versions(&self.facts),
                lockfiles: self.machine.lockfiles(&self.planned.project.owns),
            },
            notes: self.notes,
        };
        JobOutcome { run, mutants }
    }
}

/// Facts whose name ends in `.version`, less the ending.
fn versions(facts: &Facts) -> BTreeMap<String, String> {
    let pairs = facts.0.iter().filter_map(|(name, values)| {
        Some((name.strip_suffix(".version")?.to_owned(), values.first()?.clone()))
    });
    pairs.collect()
}
