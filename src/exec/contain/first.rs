//! The first process inside the walls: builds the room, gives up its power, starts the tool, reaps, forwards signals.
//!
//! In: a [`Spec`], the tool's command, words of the keeper. Out: how the tool ended, told to the keeper. I/O: mounts,
//! one process, signals.
//!
//! With a room it is process 1 of its namespace: when it ends, the kernel ends everything inside. Without one it is a
//! subreaper and kills by hand what the tool left.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::{set_child_subreaper, set_pdeathsig};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit};

use super::channel::{Channel, ToFirst, ToKeeper};
use super::ids::{self, Own};
use super::spec::{Power, Spec};
use super::{descendants, room};

/// A tool's command.
pub(super) type Words = Vec<OsString>;

/// Does everything that the first process does. `own` are the user's numbers outside.
pub(super) fn run(spec: &Spec, own: Own, words: &Words) -> io::Result<()> {
    let mut channel = Channel::new(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
    // With a room, dying is enough; without one, TERM makes it sweep.
    set_pdeathsig(if spec.room.is_some() { Signal::SIGKILL } else { Signal::SIGTERM })?;
    if channel.next::<ToFirst>()? != Some(ToFirst::Go) {
        return Ok(());
    }
    if let Err(error) = enclose(spec, own, &mut channel) {
        return channel.say(&ToKeeper::Refused(error.to_string()));
    }
    let tool = match start(spec, words) {
        Ok(tool) => tool,
        Err(error) => return channel.say(&ToKeeper::NoProgram(error.to_string())),
    };
    // Only now: a blocked signal is inherited, and the tool would never get it.
    let signals = [Signal::SIGCHLD, Signal::SIGTERM].into_iter().collect::<SigSet>();
    signals.thread_block()?;
    let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let mut first = First { tool, channel, signals, sweeps: spec.room.is_none() };
    let end = first.watch()?;
    if first.sweeps {
        descendants::kill_all();
    }
    match end {
        Some(end) => first.channel.say(&end),
        None => Ok(()),
    }
}

/// Builds the room, limits what the tool can take, and gives up all power over the room.
fn enclose(spec: &Spec, own: Own, channel: &mut Channel) -> io::Result<()> {
    let Some(room) = &spec.room else {
        set_child_subreaper(true)?;
        return limit(descendants::threads_of_user() + spec.pids);
    };
    room::build(room)?;
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| room::named("give up power", &error.into()))?;
    match room.power {
        Power::User => ids::become_user(own).map_err(|error| room::named("write the user map", &error))?,
        Power::Root => {
            channel.say(&ToKeeper::Map)?;
            if channel.next::<ToFirst>()? != Some(ToFirst::Mapped) {
                return Err(io::Error::other("the keeper did not write the user map"));
            }
        }
    }
    limit(spec.pids)
}

/// No core files; and a process limit, which counts this user's processes in this user namespace.
fn limit(pids: u64) -> io::Result<()> {
    let to = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    rustix::process::setrlimit(Resource::Core, to(0))?;
    let now = rustix::process::getrlimit(Resource::Nproc);
    let most = now.current.into_iter().chain(now.maximum).fold(pids, u64::min);
    Ok(rustix::process::setrlimit(Resource::Nproc, to(most))?)
}

#[expect(clippy::disallowed_methods, reason = "this is the far end of the one place that starts processes")]
fn start(spec: &Spec, words: &Words) -> io::Result<Pid> {
    let (program, args) = words.split_first().ok_or_else(|| io::Error::other("no program was given"))?;
    let child = Command::new(program)
        .args(args)
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| room::named(&format!("start {} in {}", program.display(), spec.cwd), &error))?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

struct First {
    tool: Pid,
    channel: Channel,
    signals: SignalFd,
    /// Whether what the tool left has to be killed by hand.
    sweeps: bool,
}

impl First {
    /// Until the tool has ended or everything has to; `None`: nobody is left to be told.
    fn watch(&mut self) -> io::Result<Option<ToKeeper>> {
        // Its end may have come before anybody listened.
        if let Some(end) = self.reap() {
            return Ok(Some(end));
        }
        loop {
            let mut waited = [
                PollFd::new(self.channel.socket().as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut waited, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [said, signalled] = waited.map(|fd| fd.any().unwrap_or(false));
            if signalled {
                while let Some(signal) = self.signals.read_signal()? {
                    // Only the keeper's death sends TERM here.
                    if signal.ssi_signo == Signal::SIGTERM as u32 {
                        return Ok(None);
                    }
                }
                if let Some(end) = self.reap() {
                    return Ok(Some(end));
                }
            }
            if said && !self.listen()? {
                return Ok(None);
            }
        }
    }

    /// Does what the keeper says; whether to go on.
    fn listen(&mut self) -> io::Result<bool> {
        loop {
            match self.channel.next()? {
                Some(ToFirst::Signal(number)) => {
                    if let Ok(signal) = Signal::try_from(number) {
                        // The tool leads its own group, unless it has left it.
                        if killpg(self.tool, signal).is_err() {
                            let _ = kill(self.tool, signal);
                        }
                    }
                }
                Some(ToFirst::Kill) | None => return Ok(false),
                Some(ToFirst::Go | ToFirst::Mapped) => {}
            }
            if !self.channel.has_more() {
                return Ok(true);
            }
        }
    }

    /// Reaps whoever has ended; how the tool ended, if it did.
    fn reap(&self) -> Option<ToKeeper> {
        let mut end = None;
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) if pid == self.tool => end = Some(ToKeeper::Exited(code)),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.tool => {
                    end = Some(ToKeeper::Signalled(signal as i32));
                }
                Ok(WaitStatus::StillAlive) | Err(_) => return end,
                Ok(_) => {}
            }
        }
    }
}
