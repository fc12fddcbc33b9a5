//! `polymut run`: the main job.
//!
//! In: scope and run arguments. Out: a report, the exit code. I/O: all rooms.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, bail};
use polymut_schemas::{Guarantee, IsolationLevel, ProjectId, Report};

use super::context::{Place, adapters, choice, containment, gate_input};
use super::output::{self, Target};
use super::plan::head;
use super::repro::LAST;
use super::resume;
use crate::cli::{GuaranteeArg, HowArgs, IsolationArg, RunArgs, ScopeArgs};
use crate::config::{self, Config, Isolation, Network};
use crate::exec::{
    Caches, Containment, EventSender, Journal, RunDir, Schedule, State, Stop, StopReason, Store,
};
use crate::exit::Exit;
use crate::git::Repo;
use crate::index;
use crate::job::{JobOptions, Machine, MachineParts, SideFiles, WALL};
use crate::paths::AbsPath;
use crate::pipeline::{self, Planned};
use crate::report::{Json, Renderer as _, write_atomic};
use crate::ui;

/// Baseline runs when nothing says otherwise.
const BASELINE_RUNS: u32 = 2;
/// Survivors that are replayed when nothing says otherwise.
const CONFIRM: u32 = 20;
/// Multiple of the baseline that a mutant's test may take.
const TIMEOUT_FACTOR: f64 = 5.0;
/// Added to it.
const TIMEOUT_FLOOR: Duration = Duration::from_secs(5);

/// Runs and judges.
pub(super) fn run(place: &Place, args: &RunArgs) -> anyhow::Result<Exit> {
    let targets = output::targets(place, &args.how.format)?;
    let start = if args.resume { Start::Resumed } else { Start::Afresh };
    let again = resume::own_words();
    run_into(place, (&args.scope, &args.how), &targets, &Way { start, again })
}

/// How a run starts, and how it is continued.
pub(super) struct Way {
    /// Where it starts.
    pub(super) start: Start,
    /// The words that start it again, without the program's name.
    pub(super) again: Vec<String>,
}

/// Where a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// From nothing.
    Afresh,
    /// Where the last one was interrupted.
    Resumed,
}

/// Runs, judges, and writes the report to `targets`.
pub(super) fn run_into(
    place: &Place,
    (scope, how): (&ScopeArgs, &HowArgs),
    targets: &[Target],
    way: &Way,
) -> anyhow::Result<Exit> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    let ended = runtime.block_on(judge(place, (scope, how), way.start))?;
    // Whatever was reached is written, also after an interruption, and before the run's folders are cleared: that takes
    // time, and whoever stops polymut may not wait.
    output::write(place, targets, &ended.report, &ended.planned.sources)?;
    let exit = code(&ended.report, how.no_fail);
    if ended.is_resumable {
        place.terminal.say(&resume::words(&way.again));
    }
    drop(ended.folder);
    Ok(match ended.stopped {
        Some(StopReason::Interrupted) => Exit::Interrupted,
        Some(StopReason::Terminated) => Exit::Terminated,
        Some(StopReason::Budget) | None => exit,
    })
}

/// The exit code of a report; `--no-fail` lowers a failed gate only.
pub(super) fn code(report: &Report, no_fail: bool) -> Exit {
    match Exit::of(&report.verdict) {
        Exit::GateFailed if no_fail => Exit::Pass,
        other => other,
    }
}

/// How a run ended.
struct Ended {
    report: Report,
    planned: Planned,
    stopped: Option<StopReason>,
    is_resumable: bool,
    folder: RunDir,
}

async fn judge(place: &Place, (scope, how): (&ScopeArgs, &HowArgs), start: Start) -> anyhow::Result<Ended> {
    let repo = place.repo()?;
    let config = config::load(repo.root())?;
    let gate = gate_input(repo.root())?;
    let (events, listener) = EventSender::channel();
    let stop = Stop::new();
    stop.install_signals(&events)?;
    if let Some(budget) = how.budget.or(config.run.budget.map(|period| period.0)) {
        stop.set_budget(budget, &events);
    }
    let planned = pipeline::plan(&repo, &place.request(scope)?, &adapters(), &choice(scope, &config))?;
    if !how.quiet {
        place.terminal.say(&head(&planned.assignment.scope));
    }
    let state = State::open(&place.host, repo.root())?;
    let options = options(&planned, how, &config);
    let header = resume::header((&repo, &planned), how, &options)?;
    let opened = resume::open((place, &state), start, header, &events)?;
    let (wanted, require) = walls(how, &config);
    let caches = caches(place, repo.root(), how)?;
    let probe = opened.folder.work().join("probe");
    let contained = containment(place, &probe, wanted, &require, &caches).await?;
    let (folder, journal) = opened.walled(&contained)?;
    let wiring = (&state, &folder, &stop, &events);
    let machine = machine((place, &repo, &planned), (how, &config), (contained, journal.clone()), wiring)?;
    if start == Start::Resumed {
        machine.salvage();
        folder.restart()?;
    }
    let progress = ui::progress(listener, how.quiet);
    let report = pipeline::run(&machine, &planned, &options, &config, &gate).await;
    drop((machine, events));
    progress.finish().await;
    let json = Json.render(&report, &planned.sources)?;
    write_atomic(folder.logs().join(LAST).as_path(), &json)?;
    let stopped = stop.reason();
    if stopped.is_none() {
        journal.seal();
        folder.remove_journal();
    }
    Ok(Ended { report, planned, stopped, is_resumable: stopped.is_some() && journal.is_whole(), folder })
}

/// The folders that downloads are shared in. Not a matter of `polymut.toml`: that comes with the change under review.
fn caches(place: &Place, repo: &AbsPath, how: &HowArgs) -> anyhow::Result<Caches> {
    let more = how.caches.cache.iter().map(|folder| {
        let folder = place.here.join(folder);
        // Installations write there: the user's tree is no place for that, nor is what holds it. Asked of what exists of
        // the way, before anything is made, for a link may lead back in.
        let way = folder.as_path().ancestors().find(|at| at.exists()).unwrap_or(folder.as_path());
        let real = fs_err::canonicalize(way)?;
        let holds = way == folder.as_path() && repo.as_std_path().starts_with(&real);
        if real.starts_with(repo.as_std_path()) || holds {
            bail!("--cache {folder}: it is in the repository, or holds it; name a folder beside it");
        }
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    });
    let caches = Caches { known: !how.caches.private_caches, more: more.collect::<anyhow::Result<_>>()? };
    #[cfg(target_os = "linux")]
    if caches.known {
        crate::exec::make_caches(&place.host);
    }
    Ok(caches)
}

type Wiring<'a> = (&'a State, &'a RunDir, &'a Stop, &'a EventSender);

fn machine(
    (place, repo, planned): (&Place, &Repo, &Planned),
    (how, config): (&HowArgs, &Config),
    (containment, journal): (Containment, Journal),
    (state, folder, stop, events): Wiring<'_>,
) -> anyhow::Result<Machine> {
    let scope = &planned.assignment.scope;
    let entries = repo.files(scope.new_side)?;
    let base = match &scope.merge_base {
        Some(commit) => Some(SideFiles::of(repo, &repo.files_at(commit)?)?),
        None => None,
    };
    let total = how.jobs.or(config.run.jobs.map(std::num::NonZeroU32::get)).unwrap_or_else(all_cores);
    let jobs = u32::try_from(planned.assignment.jobs.len()).unwrap_or(1);
    let mut allow_env = config.run.allow_env.clone();
    allow_env.extend(how.allow_env.iter().cloned());
    Ok(Machine::new(MachineParts {
        root: repo.root().clone(),
        new: SideFiles::of(repo, &entries)?,
        base,
        work: folder.work(),
        logs: folder.logs(),
        containment,
        store: Store::at(state.tools().clone()),
        host: place.host.clone(),
        allow_env,
        stop: stop.clone(),
        events: events.clone(),
        lockfiles: index::lockfiles(repo, &entries)?,
        schedule: Schedule::new(total, jobs),
        journal,
    }))
}

/// The wanted level and the demanded guarantees: command line over `[run]`.
fn walls(how: &HowArgs, config: &Config) -> (Option<IsolationLevel>, Vec<Guarantee>) {
    let given = how.isolation.map(|level| match level {
        IsolationArg::Sealed => IsolationLevel::Sealed,
        IsolationArg::Copy => IsolationLevel::Copied,
        IsolationArg::None => IsolationLevel::BestEffort,
    });
    let configured = config.run.isolation.map(|level| match level {
        Isolation::Sealed => IsolationLevel::Sealed,
        Isolation::Copy => IsolationLevel::Copied,
        Isolation::None => IsolationLevel::BestEffort,
    });
    let demanded = how.require.iter().map(|guarantee| match guarantee {
        GuaranteeArg::Memory => Guarantee::Memory,
        GuaranteeArg::Network => Guarantee::Network,
        GuaranteeArg::Files => Guarantee::Files,
        GuaranteeArg::Tree => Guarantee::Tree,
    });
    (given.or(configured), demanded.chain(config.run.require.iter().copied()).collect())
}

/// Every core of the machine.
pub(super) fn all_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1))
}

/// The options of each job: command line over `[[project]]` over `[run]` over the defaults.
fn options(planned: &Planned, how: &HowArgs, config: &Config) -> BTreeMap<ProjectId, JobOptions> {
    let run = &config.run;
    let jobs = planned.assignment.jobs.iter().map(|job| {
        let settings = config.settings_for(&job.project);
        // A fixed `timeout` replaces the measured limit.
        let (timeout_factor, timeout_floor) = match settings.timeout {
            Some(fixed) => (0.0, fixed),
            None => (
                run.timeout_factor.unwrap_or(TIMEOUT_FACTOR),
                run.timeout_floor.map_or(TIMEOUT_FLOOR, |period| period.0),
            ),
        };
        let runs = how.baseline_runs.or(run.baseline_runs.map(std::num::NonZeroU32::get));
        let options = JobOptions {
            project: settings.adapter,
            timeout_factor,
            timeout_floor,
            baseline_runs: runs.unwrap_or(BASELINE_RUNS),
            confirm: how.confirm.or(run.confirm).unwrap_or(CONFIRM),
            provision: how.provision,
            memory: settings.memory,
            network: settings.network == Network::Host,
            wall: WALL,
            exclusive: settings.exclusive.into_iter().collect(),
        };
        (job.project.id(), options)
    });
    jobs.collect()
}
