//! The one place that starts processes: own session, no input, both outputs drained at once, a wall limit, and no
//! process left when it ends, however it ends.
//!
//! In: a [`Launch`] and limits. Out: [`Ended`]. I/O: processes, log files.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use polymut_adapters::{End, Output};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio_util::sync::CancellationToken;

use super::disk::is_nearly_full;
use super::family::{Family, MARKER, Manner, become_subreaper};
use super::output::{Cap, Drain, OnLine, Sink};
use super::{ExecError, Launch, NotStarted, Sandbox, SandboxError, Stop};
use crate::paths::AbsPath;

/// When a running tree is looked at for the first time, and the longest pause between later looks.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How long a killed leader may take to be waited for; only a process stuck in the kernel takes longer.
const REAP: Duration = Duration::from_secs(10);

/// A process to run.
pub struct Process<'a> {
    /// What the errors call it.
    pub name: &'a str,
    /// The command.
    pub launch: Launch,
    /// The most it may take.
    pub wall: Option<Duration>,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// Where its stdout goes.
    pub stdout: AbsPath,
    /// Where its stderr goes.
    pub stderr: AbsPath,
    /// How much of each is kept.
    pub cap: Cap,
    /// Gets every line of both.
    pub on_line: OnLine,
    /// The sandbox that knows whether a memory ceiling was reached.
    pub sandbox: Option<&'a dyn Sandbox>,
    /// The folder whose disk must not run full meanwhile.
    pub disk: AbsPath,
    /// Called when it is about to be stopped, and still runs as if it were not. Whether what it says from then on is to
    /// be left out of what is kept: a test that ends because it is told to looks like one that fails.
    pub before_stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Process<'_> {
    fn over_memory(&self, leader: u32) -> bool {
        self.sandbox.is_some_and(|sandbox| sandbox.over_memory(leader))
    }
}

/// A process that has ended, with everything that it started.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Wall time of the process itself.
    pub wall: Duration,
    /// Its stdout.
    pub stdout: Output,
    /// Its stderr.
    pub stderr: Output,
}

impl Ended {
    /// Nothing was started.
    pub(super) fn without_start(end: End) -> Self {
        Self { end, wall: Duration::ZERO, stdout: Output::default(), stderr: Output::default() }
    }
}

/// Why a process is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Asked,
    Limit,
    Memory,
    DiskFull,
    LogBroken,
}

enum Until {
    OwnEnd(ExitStatus),
    Cut(Cut),
}

/// Runs a process to its end. Dropping the future kills it and everything that it started.
pub async fn run(request: Process<'_>, stop: &Stop) -> Result<Ended, ExecError> {
    become_subreaper();
    let sinks = [Sink::create(&request.stdout, request.cap)?, Sink::create(&request.stderr, request.cap)?];
    let Some(child) = spawn(&request)? else { return Ok(Ended::without_start(End::NoProgram)) };
    let mut running = Running::new(child, &request, sinks)?;
    let until = running.wait(&request, stop).await?;
    let wall = running.started.elapsed();
    let end = match until {
        Until::OwnEnd(status) => {
            running.family.sweep(Manner::Polite).await;
            match request.sandbox.and_then(|sandbox| sandbox.not_started(running.leader)) {
                Some(NotStarted::Walls(why)) => return Err(SandboxError::Walls { why }.into()),
                Some(NotStarted::Program(_)) => End::NoProgram,
                None => own_end(status, request.over_memory(running.leader)),
            }
        }
        Until::Cut(cut) => {
            running.before_stop(&request, cut);
            running.stop(request.grace, stop).await;
            match cut {
                Cut::Asked | Cut::DiskFull | Cut::LogBroken => End::Stopped,
                Cut::Limit => End::Limit,
                Cut::Memory => End::OutOfMemory,
            }
        }
    };
    let Running { stdout, stderr, .. } = running;
    let (stdout, stderr) = (stdout.finish().await, stderr.finish().await);
    if matches!(until, Until::Cut(Cut::DiskFull)) {
        return Err(ExecError::NoSpace { folder: request.disk.to_string(), free: None });
    }
    Ok(Ended { end, wall, stdout: stdout?, stderr: stderr? })
}

/// Starts it; `None` when the program does not exist.
fn spawn(request: &Process<'_>) -> Result<Option<Box<dyn ChildWrapper>>, ExecError> {
    let launch = &request.launch;
    let mut command = CommandWrap::with_new(launch.program.as_std_path(), |command| {
        command.args(&launch.args).current_dir(launch.cwd.as_std_path());
        command.env_clear().envs(&launch.env);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    command.wrap(KillOnDrop);
    // A session of its own is a group of its own, and has no terminal to prompt on.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    match command.spawn() {
        Ok(child) => Ok(Some(child)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !launch.program.as_path().exists() => {
            Ok(None)
        }
        Err(source) => Err(ExecError::Spawn {
            step: request.name.to_owned(),
            program: launch.program.to_string(),
            cwd: launch.cwd.to_string(),
            source,
        }),
    }
}

/// A started process. The order of the fields is the order of dropping: the family is killed first.
struct Running {
    family: Family,
    leader: u32,
    child: Box<dyn ChildWrapper>,
    stdout: Drain,
    stderr: Drain,
    /// Cancelled when a log cannot be written.
    broken: CancellationToken,
    started: Instant,
}

impl Running {
    fn new(
        mut child: Box<dyn ChildWrapper>,
        request: &Process<'_>,
        sinks: [Sink; 2],
    ) -> Result<Self, ExecError> {
        let started = Instant::now();
        let lost = |what: &str| ExecError::Io {
            what: format!("get the {what} of step {}", request.name),
            source: io::Error::from(io::ErrorKind::BrokenPipe),
        };
        let leader = child.id().ok_or_else(|| lost("process id"))?;
        let family =
            Family::of(leader, request.launch.env.get(std::ffi::OsStr::new(MARKER)).map(AsRef::as_ref));
        let broken = CancellationToken::new();
        let [out, err] = sinks;
        let stdout = child.stdout().take().ok_or_else(|| lost("stdout"))?;
        let stderr = child.stderr().take().ok_or_else(|| lost("stderr"))?;
        let stdout = Drain::start(stdout, out, request.on_line.clone(), broken.clone());
        let stderr = Drain::start(stderr, err, request.on_line.clone(), broken.clone());
        Ok(Self { family, leader, child, stdout, stderr, broken, started })
    }

    /// Until it ends by itself or has to be stopped. An end of its own wins over a wish that comes at the same
    /// moment: its results are whole.
    async fn wait(&mut self, request: &Process<'_>, stop: &Stop) -> Result<Until, ExecError> {
        let limit = async {
            match request.wall {
                Some(wall) => tokio::time::sleep(wall).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(limit);
        let mut pause = FIRST_LOOK;
        loop {
            let cut = tokio::select! {
                biased;
                status = leader_end(&mut self.child) => {
                    self.family.set_reaped();
                    let status = status.map_err(|source| ExecError::Io {
                        what: format!("wait for step {}", request.name),
                        source,
                    })?;
                    return Ok(Until::OwnEnd(status));
                }
                () = stop.asked() => Some(Cut::Asked),
                () = &mut limit => Some(Cut::Limit),
                () = self.broken.cancelled() => Some(Cut::LogBroken),
                () = tokio::time::sleep(pause) => self.look(request),
            };
            if let Some(cut) = cut {
                return Ok(Until::Cut(cut));
            }
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    fn look(&mut self, request: &Process<'_>) -> Option<Cut> {
        self.family.note();
        if request.over_memory(self.leader) {
            Some(Cut::Memory)
        } else if is_nearly_full(&request.disk) {
            Some(Cut::DiskFull)
        } else {
            None
        }
    }

    /// Lets whoever started it look at what it has left so far.
    fn before_stop(&self, request: &Process<'_>, cut: Cut) {
        let look = match cut {
            Cut::Asked | Cut::Limit | Cut::LogBroken => request.before_stop,
            // What has no room left, in memory or on the disk, may have failed for that already.
            Cut::Memory | Cut::DiskFull => None,
        };
        if look.is_some_and(|look| look()) {
            self.stdout.freeze();
            self.stderr.freeze();
        }
    }

    /// TERM, grace, KILL, reap, and the same for who left the group.
    async fn stop(&mut self, grace: Duration, stop: &Stop) {
        self.family.terminate();
        let politely = tokio::select! {
            biased;
            _ = leader_end(&mut self.child) => true,
            () = tokio::time::sleep(stop.grace(grace)) => false,
            () = stop.forced() => false,
        };
        if politely {
            self.family.set_reaped();
            self.family.sweep(if stop.is_forced() { Manner::AtOnce } else { Manner::Polite }).await;
            return;
        }
        let _ = self.child.start_kill();
        self.family.sweep(Manner::AtOnce).await;
        if tokio::time::timeout(REAP, leader_end(&mut self.child)).await.is_err() {
            tracing::error!(leader = self.leader, "a killed process does not end");
        }
    }
}

/// Waits for the leader alone: waiting for its whole group would wait for daemons.
async fn leader_end(child: &mut Box<dyn ChildWrapper>) -> io::Result<ExitStatus> {
    if cfg!(unix) { child.inner_mut().wait().await } else { child.wait().await }
}

#[cfg(unix)]
fn own_end(status: ExitStatus, over_memory: bool) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    if over_memory {
        return End::OutOfMemory;
    }
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        // Neither is impossible for a process that was waited for.
        (None, None) => End::Signal(0),
    }
}

#[cfg(not(unix))]
fn own_end(status: ExitStatus, over_memory: bool) -> End {
    if over_memory { End::OutOfMemory } else { End::Exit(status.code().unwrap_or(-1)) }
}
