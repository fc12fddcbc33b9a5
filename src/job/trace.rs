//! What every sandbox of a run holds, told by how it came to be, and rounds that an interrupted run had finished.
//!
//! In: plans and sandboxes. Out: what they leave, from the journal where it is there. I/O: through `exec`.
//!
//! A sandbox holds what its side, its forks, its writes and its rounds made of it; the hash of those is its trace. A
//! round is known again by the trace of its sandbox and its plan: equal ones are the same experiment. Whoever takes a
//! round from the journal owes it to the sandbox: it is run for its effect on the files as soon as something else has to
//! run there, and has to end as it had.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use polymut_adapters::{Adapter, End, Facts, Plan, Ran, WorkPath};
use polymut_schemas::{MutantId, ProjectId, RepoPath, StageName};

use super::JobOptions;
use super::machine::{Machine, MachineError, RunAt, Watch};
use crate::exec::{Ask, Began, Kept, Sandbox, Share};

/// What is known of the sandboxes and jobs of a run.
#[derive(Debug, Default)]
pub(super) struct Traces {
    sandboxes: Mutex<BTreeMap<String, Trace>>,
    facts: Mutex<BTreeMap<ProjectId, String>>,
    diverged: Mutex<BTreeMap<ProjectId, String>>,
}

#[derive(Debug, Clone, Default)]
struct Trace {
    hash: String,
    owed: Vec<Owed>,
}

/// A round that a sandbox has not seen.
#[derive(Clone)]
struct Owed {
    plan: Plan,
    stage: StageName,
    round: u32,
    number: u32,
    project: ProjectId,
    adapter: &'static dyn Adapter,
    options: JobOptions,
    cores: u32,
    ends: Vec<(String, End)>,
}

impl std::fmt::Debug for Owed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owed")
            .field("project", &self.project)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Traces {
    fn with<T>(&self, sandbox: &dyn Sandbox, change: impl FnOnce(&mut Trace) -> T) -> T {
        let place = sandbox.work(&WorkPath::default()).to_string();
        let mut sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        change(sandboxes.entry(place).or_default())
    }

    /// A sandbox that holds something else from now on.
    fn grow(&self, sandbox: &dyn Sandbox, parts: &[&str]) {
        self.with(sandbox, |trace| trace.hash = grown(&trace.hash, parts));
    }

    fn hash(&self, sandbox: &dyn Sandbox) -> String {
        self.with(sandbox, |trace| trace.hash.clone())
    }

    pub(super) fn fresh(&self, sandbox: &dyn Sandbox, side: &str) {
        self.grow(sandbox, &["side", side]);
    }

    pub(super) fn forked(&self, parent: &dyn Sandbox, fork: &dyn Sandbox) {
        let hash = forked(&self.hash(parent));
        self.with(fork, |trace| trace.hash = hash);
    }

    fn facts(&self, project: &ProjectId) -> String {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).get(project).cloned().unwrap_or_default()
    }
}

fn grown(hash: &str, parts: &[&str]) -> String {
    let parts: Vec<&str> = std::iter::once(hash).chain(parts.iter().copied()).collect();
    MutantId::of(&parts).to_string()
}

fn forked(hash: &str) -> String {
    grown(hash, &["fork"])
}

impl Machine {
    /// Runs the steps of a plan, or gives what they left in the interrupted run.
    pub async fn run(&self, plan: &Plan, at: RunAt<'_>) -> Result<Ran, MachineError> {
        let parts = [at.project.as_str(), &self.traces.facts(at.project), &format!("{:?}", at.stage)];
        let here = grown(&self.traces.hash(at.sandbox), &parts);
        // Which units the test stage had run is asked for beforehand; its key leaves them open.
        // The walls of one round may differ from those of another: one that is red is tried without them.
        let walls = format!("{:?} {}", at.options.memory, at.options.network);
        let key = if at.share.is_some() { here } else { grown(&here, &[&format!("{plan:?}"), &walls]) };
        // Versions are asked for each time: a tool that was exchanged meanwhile gives other answers.
        let is_kept = at.stage != StageName::Probe;
        if is_kept
            && at.share.is_none()
            && let Some(kept) = self.parts.journal.round(at.project, &key)
        {
            self.owe(plan, at, &kept.ran);
            self.traces.grow(at.sandbox, &["run", &key]);
            return Ok(kept.ran);
        }
        self.settle_with(at.sandbox, at.cores).await?;
        let logs = self.stage_logs(&at);
        let began =
            Began { project: at.project, stage: at.stage, key: &key, sandbox: at.sandbox, share: at.share };
        let serial = self.parts.journal.begins(began, plan, &logs);
        let ran = self.execute(plan, at, logs).await?;
        if is_kept {
            let cut = self.parts.stop.is_asked();
            if !at.watch.is_some_and(Watch::is_edited) {
                self.parts.journal.ends(began, serial, cut, &ran);
            }
            self.traces.grow(at.sandbox, &["run", &key]);
        }
        Ok(ran)
    }

    /// Writes a file into a sandbox.
    pub fn write(&self, sandbox: &dyn Sandbox, path: &RepoPath, bytes: &[u8]) -> Result<(), MachineError> {
        sandbox.write(path, bytes)?;
        let text = String::from_utf8_lossy(bytes);
        self.traces.grow(sandbox, &["write", path.as_str(), &text]);
        Ok(())
    }

    /// What Probe learned of a job: rounds of a run that knew something else are not its own.
    pub fn knows(&self, project: &ProjectId, facts: &Facts) {
        let hash = MutantId::of(&[&format!("{facts:?}")]).to_string();
        self.traces.facts.lock().unwrap_or_else(PoisonError::into_inner).insert(project.clone(), hash);
    }

    /// Rounds of the test stage that the interrupted run made in forks of `sandbox` as it is now.
    pub fn tests(&self, project: &ProjectId, sandbox: &dyn Sandbox) -> Vec<(Share, Kept)> {
        let facts = self.traces.facts(project);
        let parts = [project.as_str(), &facts, &format!("{:?}", StageName::Test)];
        let key = grown(&forked(&self.traces.hash(sandbox)), &parts);
        self.parts.journal.tests(project, &key)
    }

    /// Why the rounds of the interrupted run cannot be continued, if that turned out.
    pub fn diverged(&self, project: &ProjectId) -> Option<String> {
        self.traces.diverged.lock().unwrap_or_else(PoisonError::into_inner).remove(project)
    }

    fn owe(&self, plan: &Plan, at: RunAt<'_>, ran: &Ran) {
        let owed = Owed {
            plan: plan.clone(),
            stage: at.stage,
            round: at.round,
            number: at.number,
            project: at.project.clone(),
            adapter: at.adapter,
            options: at.options.clone(),
            cores: at.cores,
            ends: last_ends(ran),
        };
        self.traces.with(at.sandbox, |trace| trace.owed.push(owed));
    }

    /// Makes a sandbox hold what its trace says. Takes cores of its own where something has to run.
    pub async fn settle(&self, sandbox: &dyn Sandbox) -> Result<(), MachineError> {
        if self.traces.with(sandbox, |trace| trace.owed.is_empty()) {
            return Ok(());
        }
        let cores = self.cores(Ask { most: u32::MAX, quiet: false, ahead: 0.0 }).await;
        self.settle_with(sandbox, cores.count()).await
    }

    async fn settle_with(&self, sandbox: &dyn Sandbox, cores: u32) -> Result<(), MachineError> {
        for owed in self.traces.with(sandbox, |trace| std::mem::take(&mut trace.owed)) {
            let at = RunAt {
                project: &owed.project,
                stage: owed.stage,
                round: owed.round,
                number: owed.number,
                sandbox,
                adapter: owed.adapter,
                options: &owed.options,
                cores: cores.min(owed.cores.max(1)),
                baseline_runs: 1,
                wall: owed.options.wall,
                share: None,
                watch: None,
            };
            let ran = self.execute(&owed.plan, at, self.stage_logs(&at)).await?;
            if self.parts.stop.is_asked() {
                continue;
            }
            if let Some(words) = differs(&owed.ends, &last_ends(&ran)) {
                let mut diverged = self.traces.diverged.lock().unwrap_or_else(PoisonError::into_inner);
                diverged.insert(owed.project.clone(), words.clone());
                return Err(MachineError::Diverged { words });
            }
        }
        Ok(())
    }
}

/// The last end of each step.
fn last_ends(ran: &Ran) -> Vec<(String, End)> {
    let ends: BTreeMap<&str, End> = ran.steps.iter().map(|step| (step.name.as_str(), step.end)).collect();
    ends.into_iter().map(|(name, end)| (name.to_owned(), end)).collect()
}

fn differs(was: &[(String, End)], is: &[(String, End)]) -> Option<String> {
    let end_of = |ends: &[(String, End)], name: &str| {
        ends.iter()
            .find(|(step, _)| step == name)
            .map_or_else(|| "not run".to_owned(), |(_, end)| end.to_string())
    };
    let names = was.iter().chain(is).map(|(name, _)| name);
    let mut changed = names.filter(|name| end_of(was, name) != end_of(is, name));
    changed.next().map(|name| format!("{name}: {} before, {} now", end_of(was, name), end_of(is, name)))
}
