//! What jobs ask of the machine: sandboxes of either side, stages, cores, tools.
//!
//! In: the run's folders, limits and files. Out: sandboxes and [`Ran`]. I/O: through `exec`.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polymut_adapters::{Adapter, Plan, Ran, ToolInfo};
use polymut_schemas::{Cause, ContainmentReached, ProjectId, RepoDir, RepoPath, StageName};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::JobOptions;
use super::memory::Peaks;
use super::trace::Traces;
use crate::exec::{
    Ask, Containment, EventSender, ExecError, HostEnv, Install, Journal, Lease, Request, Sandbox,
    SandboxError, Schedule, Share, SourceBytes, SourceEntry, SourceKind, StageContext, StageLabel, Still,
    Stop, StopReason, Store, machine_memory, run_stage,
};
use crate::git::{Entry, EntryAt, EntryKind, GitError, Repo};
use crate::paths::AbsPath;

/// Which state of the files a sandbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The diff's new side.
    New,
    /// The merge base.
    Base,
}

/// The files of one side and where their bytes are.
pub struct SideFiles {
    /// Every file.
    pub entries: Vec<SourceEntry>,
    /// Bytes of entries that are in git only.
    pub blobs: Blobs,
}

/// Gives the bytes of a file that git alone has.
pub type Blobs = Box<dyn Fn(&RepoPath) -> io::Result<Vec<u8>> + Send + Sync>;

impl SideFiles {
    /// The files that git named, with their bytes at hand where git alone has them.
    pub fn of(repo: &Repo, entries: &[Entry]) -> Result<Self, GitError> {
        let mut blobs = BTreeMap::new();
        let mut sources = Vec::with_capacity(entries.len());
        for entry in entries {
            let kind = match entry.kind {
                EntryKind::File { executable: true } => SourceKind::Executable,
                EntryKind::File { executable: false } => SourceKind::File,
                EntryKind::Symlink => SourceKind::Symlink,
                EntryKind::Submodule => SourceKind::Submodule,
            };
            let at = match entry.at {
                EntryAt::Disk(_) => SourceBytes::Disk,
                EntryAt::Blob(_) if kind == SourceKind::Submodule => SourceBytes::Disk,
                EntryAt::Blob(_) => {
                    blobs.insert(entry.path.clone(), repo.bytes(entry)?);
                    SourceBytes::Blob
                }
            };
            sources.push(SourceEntry { path: entry.path.clone(), kind, at });
        }
        let read = move |path: &RepoPath| {
            blobs.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, path.to_string()))
        };
        Ok(Self { entries: sources, blobs: Box::new(read) })
    }
}

/// Something of the machine failed.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// A sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A stage or a tool.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// There is no merge base.
    #[error("there is no merge base to compare with")]
    NoBase,
    /// What was run again ended otherwise than in the interrupted run.
    #[error("the interrupted run cannot be continued here: {words}")]
    Diverged {
        /// What ended how.
        words: String,
    },
    /// The run is being stopped.
    #[error("polymut was stopped before this could begin")]
    Stopped {
        /// By whom.
        cause: Cause,
    },
}

impl MachineError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Sandbox(error) => error.hint(),
            Self::Exec(error) => error.hint(),
            Self::NoBase | Self::Diverged { .. } | Self::Stopped { .. } => None,
        }
    }
}

/// What a machine is made of.
pub struct MachineParts {
    /// Root of the user's tree.
    pub root: AbsPath,
    /// The diff's new side.
    pub new: SideFiles,
    /// The merge base, where there is one.
    pub base: Option<SideFiles>,
    /// Folder for sandboxes.
    pub work: AbsPath,
    /// Folder for logs and artifacts.
    pub logs: AbsPath,
    /// Which walls hold here.
    pub containment: Containment,
    /// Provisioned tools.
    pub store: Store,
    /// The user's environment.
    pub host: HostEnv,
    /// Credentials that tools may see.
    pub allow_env: Vec<String>,
    /// Ctrl-C and budget.
    pub stop: Stop,
    /// Progress.
    pub events: EventSender,
    /// SHA-256 of the repository's lock files.
    pub lockfiles: BTreeMap<RepoPath, String>,
    /// The cores.
    pub schedule: Schedule,
    /// What ended, and what had ended in the run that this one continues.
    pub journal: Journal,
}

/// The machine as a run sees it.
pub struct Machine {
    pub(super) parts: MachineParts,
    pub(super) traces: Traces,
    /// Counts sandboxes and stages, whose names must be unique.
    made: AtomicU32,
    /// Things that one job at a time may use, by name.
    alone: Mutex<BTreeMap<String, Arc<AsyncMutex<()>>>>,
    /// The new side's files as they were.
    pub(super) still: Still,
    peaks: Peaks,
    /// All memory in bytes.
    memory: Option<u64>,
}

/// Where and with what a stage runs.
#[derive(Clone, Copy)]
pub struct RunAt<'a> {
    /// The job.
    pub project: &'a ProjectId,
    /// The stage.
    pub stage: StageName,
    /// Round within the stage.
    pub round: u32,
    /// Sandbox within the round.
    pub number: u32,
    /// The sandbox.
    pub sandbox: &'a dyn Sandbox,
    /// The tool.
    pub adapter: &'static dyn Adapter,
    /// The job's options.
    pub options: &'a JobOptions,
    /// Its share of the cores.
    pub cores: u32,
    /// How often a Baseline step runs.
    pub baseline_runs: u32,
    /// Limit of a step that has none of its own.
    pub wall: Duration,
    /// In the test stage: what it is to run.
    pub share: Option<&'a Share>,
    /// Whose files may be edited meanwhile.
    pub(crate) watch: Option<&'a dyn Watch>,
}

/// Knows whether a round has looked at files that were edited.
pub(crate) trait Watch {
    /// Asked after the round.
    fn is_edited(&self) -> bool;
}

impl Machine {
    /// A machine of these parts.
    pub fn new(parts: MachineParts) -> Self {
        Self {
            traces: Traces::default(),
            made: AtomicU32::new(0),
            alone: Mutex::new(BTreeMap::new()),
            still: Still::note(&parts.root, &parts.new.entries),
            peaks: Peaks::default(),
            memory: machine_memory(),
            parts,
        }
    }

    /// Holds things that one job at a time may use. They are taken in the order of their names, so that no two jobs
    /// wait for each other.
    pub async fn exclusive(&self, names: &[String]) -> Vec<OwnedMutexGuard<()>> {
        let mut sorted = names.to_vec();
        sorted.sort();
        sorted.dedup();
        let mut held = Vec::new();
        for name in sorted {
            let lock = {
                let mut known = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(known.entry(name).or_default())
            };
            held.push(lock.lock_owned().await);
        }
        held
    }

    /// A job has ended: the others share its cores.
    pub fn job_ended(&self) {
        self.parts.schedule.job_ended();
    }

    /// A fresh sandbox of one side.
    pub fn sandbox(&self, side: Side, info: &ToolInfo) -> Result<Box<dyn Sandbox>, MachineError> {
        self.still_wanted()?;
        let files = match side {
            Side::New => &self.parts.new,
            Side::Base => self.parts.base.as_ref().ok_or(MachineError::NoBase)?,
        };
        // Jobs run side by side in one folder, and names stay short for the sockets that tests make below them.
        let name = self.made.fetch_add(1, Ordering::Relaxed).to_string();
        let request = Request {
            root: &self.parts.root,
            entries: &files.entries,
            blobs: &files.blobs,
            folder: &self.parts.work,
            name: &name,
            dependency_dirs: info.dependency_dirs,
            stop: &self.parts.stop,
        };
        let sandbox = self.parts.containment.sandbox(&request).map_err(|error| self.refused(error))?;
        self.traces.fresh(sandbox.as_ref(), &format!("{side:?}"));
        Ok(sandbox)
    }

    /// A sandbox that starts from this one's present state.
    pub async fn fork(&self, sandbox: &dyn Sandbox, name: &str) -> Result<Box<dyn Sandbox>, MachineError> {
        self.settle(sandbox).await?;
        self.still_wanted()?;
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let fork = sandbox.fork(&format!("{number}-{name}")).map_err(|error| self.refused(error))?;
        self.traces.forked(sandbox, fork.as_ref());
        Ok(fork)
    }

    /// Nothing is begun any more once the run is being stopped: whoever stops it may not wait for a copy.
    fn still_wanted(&self) -> Result<(), MachineError> {
        self.stop_cause().map_or(Ok(()), |cause| Err(MachineError::Stopped { cause }))
    }

    fn refused(&self, error: SandboxError) -> MachineError {
        match (&error, self.stop_cause()) {
            (SandboxError::Stopped, Some(cause)) => MachineError::Stopped { cause },
            (_, _) => error.into(),
        }
    }

    /// What containment the jobs of this run get; a project may have the network left on.
    pub fn reached(&self, options: &JobOptions) -> ContainmentReached {
        if options.network {
            self.parts.containment.reached_with_network()
        } else {
            self.parts.containment.reached().clone()
        }
    }

    /// Where a stage keeps its logs; a folder for each call.
    pub(super) fn stage_logs(&self, at: &RunAt<'_>) -> AbsPath {
        let stage = format!("{:?}-{}-{}", at.stage, at.round, at.number).to_lowercase();
        let serial = self.made.fetch_add(1, Ordering::Relaxed);
        self.parts.logs.join(slug(at.project.as_str())).join(format!("{serial:03}-{stage}"))
    }

    /// Runs the steps of a plan.
    pub(super) async fn execute(
        &self,
        plan: &Plan,
        at: RunAt<'_>,
        logs: AbsPath,
    ) -> Result<Ran, MachineError> {
        let mut env = self.parts.host.for_tool(at.adapter.info().scrub, &self.parts.allow_env);
        env.set(&at.options.project.env);
        let context = StageContext {
            label: StageLabel {
                project: at.project.clone(),
                stage: at.stage,
                round: at.round,
                sandbox: at.number,
            },
            sandbox: at.sandbox,
            store: &self.parts.store,
            env: &env,
            cores: at.cores,
            wall: Some(at.wall),
            grace: crate::exec::GRACE,
            baseline_runs: at.baseline_runs,
            memory: at.options.memory.or_else(|| self.peaks.ceiling(at.project, at.cores, self.memory)),
            network: at.options.network,
            logs,
            watch: Some(at.adapter),
        };
        let ran = run_stage(plan, &context, &self.parts.stop, &self.parts.events).await;
        self.peaks.note(at.project, at.stage, at.sandbox.usage().peak);
        Ok(ran?)
    }

    /// The most memory that a command of the project took, in bytes.
    pub fn peak(&self, project: &ProjectId) -> Option<u64> {
        self.peaks.of(project)
    }

    /// Files of the new side that were edited since the run began.
    pub fn moved(&self) -> Vec<RepoPath> {
        self.still.moved()
    }

    /// Names of the user's variables that a tool and its tests do not get, because they look like credentials.
    pub fn withheld(&self, info: &ToolInfo) -> Vec<String> {
        self.parts.host.for_tool(info.scrub, &self.parts.allow_env).withheld().to_vec()
    }

    /// Puts a missing tool into the private store: at the version that the project asks for, else at the pinned one.
    pub async fn provision(&self, info: &ToolInfo, version: Option<&str>) -> Result<(), MachineError> {
        let env = self.parts.host.for_tool(info.scrub, &self.parts.allow_env);
        let with = Install {
            env: &env,
            cores: self.parts.schedule.total(),
            stop: &self.parts.stop,
            events: &self.parts.events,
        };
        let wanted = version.map(|version| info.at(version));
        self.parts.store.install(wanted.as_ref().unwrap_or(info), &with).await?;
        Ok(())
    }

    /// How many cores the run has.
    pub fn all_cores(&self) -> u32 {
        self.parts.schedule.total()
    }

    /// Cores for a stage, as soon as its turn has come.
    pub async fn cores(&self, ask: Ask) -> Lease {
        self.parts.schedule.take(ask).await
    }

    /// Why the run is being stopped, if it is.
    pub fn stop_cause(&self) -> Option<Cause> {
        self.parts.stop.reason().map(|reason| match reason {
            StopReason::Budget => Cause::Budget,
            StopReason::Interrupted | StopReason::Terminated => Cause::Machine,
        })
    }

    /// Whether there is a merge base to compare with.
    pub fn has_base(&self) -> bool {
        self.parts.base.is_some()
    }

    /// The lock files that lie in these folders or above them.
    pub fn lockfiles(&self, owns: &[RepoDir]) -> BTreeMap<RepoPath, String> {
        let near =
            |path: &RepoPath| owns.iter().any(|dir| path.dir().contains_dir(dir) || dir.contains(path));
        self.parts
            .lockfiles
            .iter()
            .filter(|(path, _)| near(path))
            .map(|(path, hash)| (path.clone(), hash.clone()))
            .collect()
    }
}

/// A name for folders: letters, digits, dots and dashes.
fn slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }).collect()
}

/// The wall limit of a step that has none of its own, before a baseline is known.
pub const WALL: Duration = Duration::from_mins(30);
