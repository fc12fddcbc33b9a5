//! Station 4 of 8: runs the steps of one plan in one sandbox and gathers what they left.
//!
//! In: a [`Plan`], a [`StageContext`]. Out: [`Ran`]. I/O: through the sandbox, `process` and `collect`.
//!
//! Which end is good is not decided here: a step's `go_on` says whether the next one starts, and the adapter's `parse`
//! says what it means. A step that could not start because polymut is stopping is in the result as `Stopped`, so that
//! nothing that was planned is missing without a trace.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use polymut_adapters::{Adapter, End, Gather, NewFile, Place, Plan, Ran, Role, Step, StepEnd, WorkPath};
use polymut_schemas::RepoPath;

use super::collect::{Collector, LARGEST_ARTIFACT, stage_start};
use super::event::{Event, EventSender, Pace, StageLabel};
use super::family::MARKER;
use super::output::{Cap, OnLine};
use super::process::{self, Ended, Process};
use super::record::Record;
use super::resolve::Resolver;
use super::sandbox::write_inside;
use super::workdir::remove_tree;
use super::{CacheUse, ExecError, Launch, Sandbox, Stop, Store, ToolEnv};
use crate::paths::AbsPath;

/// Folder of the work folder that is the executor's own; its name is short because sockets are made below it, whose
/// paths may have some hundred bytes only.
const OWN: &str = ".t";

/// Where and how a stage runs.
pub struct StageContext<'a> {
    /// Which stage.
    pub label: StageLabel,
    /// Its sandbox.
    pub sandbox: &'a dyn Sandbox,
    /// Where provisioned tools are.
    pub store: &'a Store,
    /// What the tool may see of the user's environment.
    pub env: &'a ToolEnv,
    /// The stage's share of the core budget.
    pub cores: u32,
    /// Wall limit of a step that has none of its own.
    pub wall: Option<Duration>,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// How often a Baseline step runs.
    pub baseline_runs: u32,
    /// Ceiling of resident memory of a step's whole tree in bytes.
    pub memory: Option<u64>,
    /// Whether the project opted out of being cut off from the network.
    pub network: bool,
    /// Folder for this stage's logs and artifacts.
    pub logs: AbsPath,
    /// Reads progress from lines.
    pub watch: Option<&'static dyn Adapter>,
}

/// Runs the steps in order and gathers the plan's files, however the last step ended.
pub async fn run_stage(
    plan: &Plan,
    context: &StageContext<'_>,
    stop: &Stop,
    events: &EventSender,
) -> Result<Ran, ExecError> {
    events.send(Event::StageStarted { label: context.label.clone(), steps: plan.steps.len() });
    make_dir(&context.logs)?;
    make_dir(&context.sandbox.work(&work_path(OWN)?))?;
    let fresh = plan.gather.iter().any(|gather| match gather {
        Gather::Files { fresh, .. } => *fresh,
        Gather::Nearest(_) => false,
    });
    let marker = work_path(&format!("{OWN}/start"))?;
    let since = if fresh { Some(stage_start(context.sandbox, &marker).await?) } else { None };
    let resolver =
        Resolver { sandbox: context.sandbox, store: context.store, env: context.env, cores: context.cores };
    let left = Mutex::new(None);
    let gather = Gathering { plan, logs: &context.logs, since, before: &left };
    let runner = Runner { context, resolver, stop, events, gather };
    let steps = runner.steps(&plan.steps).await?;
    let before = left.lock().unwrap_or_else(PoisonError::into_inner).take();
    let files = match before {
        Some(files) => files?,
        None => runner.gather.files(&runner.resolver)?,
    };
    events.send(Event::StageEnded { label: context.label.clone() });
    Ok(Ran { steps, files })
}

struct Runner<'a> {
    context: &'a StageContext<'a>,
    resolver: Resolver<'a>,
    stop: &'a Stop,
    events: &'a EventSender,
    gather: Gathering<'a>,
}

/// The files of a plan, gathered once: after its last step, or before a step is stopped. A tool that is told to end tells
/// its tests to end as well, and some write that down as an answer.
struct Gathering<'a> {
    plan: &'a Plan,
    logs: &'a AbsPath,
    since: Option<SystemTime>,
    before: &'a Mutex<Option<Result<Files, ExecError>>>,
}

type Files = Vec<(Place, Vec<u8>)>;

impl Gathering<'_> {
    fn files(&self, resolver: &Resolver<'_>) -> Result<Files, ExecError> {
        let keep = self.logs.join("artifacts");
        let collector = Collector { resolver, since: self.since, keep: &keep, largest: LARGEST_ARTIFACT };
        collector.collect(&self.plan.gather)
    }

    /// Gathers now, and for good.
    fn before_stop(&self, resolver: &Resolver<'_>) {
        let files = self.files(resolver);
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
    }
}

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// The next step.
    Step,
    /// The next step that is about another mutant: the answer about this one is in, or will not come.
    Mutant,
    /// Nothing.
    End,
}

impl Runner<'_> {
    async fn steps(&self, steps: &[Step]) -> Result<Vec<StepEnd>, ExecError> {
        let mut ends = Vec::new();
        let mut given_up = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            if step.about.as_ref().is_some_and(|about| given_up.contains(about)) {
                continue;
            }
            for file in &step.files {
                self.write(file)?;
            }
            match self.runs(index, step, &mut ends).await? {
                Next::Step => {}
                Next::Mutant => given_up.extend(step.about.clone()),
                Next::End => break,
            }
        }
        Ok(ends)
    }

    /// Runs a step as often as its role wants. Every run of a baseline is made, also after a red one: red and
    /// flickering are two findings.
    async fn runs(&self, index: usize, step: &Step, ends: &mut Vec<StepEnd>) -> Result<Next, ExecError> {
        let times = match step.role {
            Role::Baseline => self.context.baseline_runs.max(1),
            Role::Fetch | Role::Build | Role::Work => 1,
        };
        let mut next = Next::Step;
        for run in 0..times {
            let ended = self.run(step, &format!("{index:02}-{run}")).await?;
            let again = match ended.end {
                End::Exit(_) | End::Signal(_) | End::OutOfMemory => true,
                End::Limit | End::Stopped | End::NoProgram => false,
            };
            next = next.max(after(step, ended.end));
            ends.push(StepEnd {
                name: step.name.clone(),
                about: step.about.clone(),
                end: ended.end,
                wall: ended.wall,
                stdout: ended.stdout,
                stderr: ended.stderr,
            });
            if !again {
                break;
            }
        }
        Ok(next)
    }

    /// Writes a file of the plan. Links that an earlier step left in its place are replaced, not followed.
    fn write(&self, file: &NewFile) -> Result<(), ExecError> {
        let path = RepoPath::new(file.at.as_str())
            .map_err(|source| ExecError::Place { place: file.at.as_str().to_owned(), source })?;
        match &file.at {
            Place::Sandbox(_) => self.context.sandbox.write(&path, &file.bytes)?,
            Place::Work(_) => {
                write_inside(self.context.sandbox.work(&work_path("")?).as_path(), &path, &file.bytes)?;
            }
        }
        Ok(())
    }

    async fn run(&self, step: &Step, log: &str) -> Result<Ended, ExecError> {
        if self.stop.is_asked() {
            return Ok(Ended::without_start(End::Stopped));
        }
        let temporary = self.context.sandbox.work(&work_path(&format!("{OWN}/{log}"))?);
        let Some(mut inside) = self.resolver.launch(&step.command, own_env(&temporary))? else {
            return Ok(Ended::without_start(End::NoProgram));
        };
        inside.network = self.context.network || step.role == Role::Fetch;
        inside.memory = self.context.memory;
        if step.role == Role::Fetch {
            inside.caches = CacheUse::Shared;
        }
        make_dir(&temporary)?;
        self.events.send(Event::StepStarted {
            label: self.context.label.clone(),
            step: step.name.clone(),
            about: step.about.clone(),
        });
        let mut record = Record::new(&self.context.logs, log, &step.name);
        record.command(&inside)?;
        let before_stop = || self.before_stop(step);
        let request = Process { before_stop: Some(&before_stop), ..self.request(step, inside, &record)? };
        let ended = process::run(request, self.stop).await;
        // A run that is being stopped has no time for it; what is left goes with the work folder.
        if !self.stop.is_asked() {
            remove_tree(&temporary);
        }
        let ended = ended?;
        record.end(&ended)?;
        self.events.send(Event::StepEnded {
            label: self.context.label.clone(),
            step: step.name.clone(),
            end: ended.end,
            wall: ended.wall,
        });
        Ok(ended)
    }

    fn request<'r>(
        &'r self,
        step: &'r Step,
        inside: Launch,
        record: &Record,
    ) -> Result<Process<'r>, ExecError> {
        Ok(Process {
            name: &step.name,
            launch: self.context.sandbox.launch(inside)?,
            wall: step.limit.or(self.context.wall),
            grace: self.context.grace,
            stdout: record.stdout(),
            stderr: record.stderr(),
            cap: Cap::default(),
            on_line: self.on_line(step),
            sandbox: Some(self.context.sandbox),
            disk: self.context.sandbox.work(&work_path("")?),
            before_stop: None,
        })
    }

    /// Gathers before a step is stopped that may judge several mutants. One about a single mutant says by its end what
    /// became of it, and others may follow.
    fn before_stop(&self, step: &Step) -> bool {
        let is_last = step.about.is_none() || self.stop.is_asked();
        if is_last {
            self.gather.before_stop(&self.resolver);
        }
        is_last
    }

    /// Hands lines on: progress always, the line itself at most ten times a second.
    fn on_line(&self, step: &Step) -> OnLine {
        let (events, label, name) = (self.events.clone(), self.context.label.clone(), step.name.clone());
        let watch = self.context.watch;
        let pace = Pace::default();
        Arc::new(move |line| {
            if let Some(tick) = watch.and_then(|adapter| adapter.watch(&name, line)) {
                events.send(Event::Tick { label: label.clone(), step: name.clone(), tick });
            }
            if pace.is_due() {
                let text = line.to_owned();
                events.send(Event::Line { label: label.clone(), step: name.clone(), text });
            }
        })
    }
}

fn after(step: &Step, end: End) -> Next {
    match end {
        End::Exit(code) if step.go_on.contains(&code) => Next::Step,
        End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => {
            if step.about.is_some() {
                Next::Mutant
            } else {
                Next::End
            }
        }
        End::Stopped | End::NoProgram => Next::End,
    }
}

/// A step's private temporary folder, and the mark by which its processes are found again.
fn own_env(temporary: &AbsPath) -> BTreeMap<OsString, OsString> {
    ["TMPDIR", "TMP", "TEMP", MARKER]
        .into_iter()
        .map(|name| (OsString::from(name), OsString::from(temporary.as_str())))
        .collect()
}

fn work_path(text: &str) -> Result<WorkPath, ExecError> {
    WorkPath::new(text).map_err(|source| ExecError::Place { place: text.to_owned(), source })
}

fn make_dir(folder: &AbsPath) -> Result<(), ExecError> {
    fs_err::create_dir_all(folder.as_std_path())
        .map_err(|source| ExecError::io(format!("create {folder}"), folder, source))
}
