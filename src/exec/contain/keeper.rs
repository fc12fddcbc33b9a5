//! The keeper: stands outside of the walls, ends everything when polymut is gone, and ends as the tool ended.
//!
//! In: a [`Spec`], the tool's command. Out: the tool's own code or signal, [`Told`]. I/O: cgroup, namespaces, one
//! process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode};

use camino::Utf8Path;
use fs_err::File;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getppid};
use rustix::process::{PidfdFlags, Resource, Rlimit, pidfd_open};

use super::cgroup::Group;
use super::channel::{Channel, ToFirst, ToKeeper};
use super::first::Words;
use super::ids::{self, Own};
use super::loopback;
use super::room::named;
use super::spec::{NO_PROGRAM, Power, REFUSED, Room, Spec, Told, Trouble};
use super::watchdog::Watchdog;

/// Signals that are passed on to the tool.
const PASSED_ON: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// Kills everything at once, and lets the keeper tell about it.
const AT_ONCE: Signal = Signal::SIGQUIT;

/// Keeps one tool: the whole life of the keeper process.
pub(super) fn keep(place: &Utf8Path, words: &Words) -> ExitCode {
    let mut told = Told::default();
    let spec = Spec::load(place).map_err(|error| named(&format!("read {place}"), &error));
    let end = match &spec {
        Ok(spec) => run(spec, place, words, &mut told),
        Err(error) => Err(io::Error::other(error.to_string())),
    };
    told.trouble = match &end {
        Ok(ToKeeper::Refused(why)) => Some(Trouble::Walls(why.clone())),
        Ok(ToKeeper::NoProgram(why)) => Some(Trouble::Program(why.clone())),
        Ok(ToKeeper::Exited(_) | ToKeeper::Signalled(_) | ToKeeper::Map) => None,
        Err(error) => Some(Trouble::Walls(error.to_string())),
    };
    if let Some(Trouble::Walls(why) | Trouble::Program(why)) = &told.trouble {
        say(why);
    }
    if let Ok(spec) = &spec
        && let Err(error) = told.store(&spec.told, std::process::id())
    {
        say(&format!("cannot tell how it ended: {error}"));
    }
    match end {
        Ok(ToKeeper::Exited(code)) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1)),
        Ok(ToKeeper::Signalled(number)) => end_by(number),
        Ok(ToKeeper::NoProgram(_)) => ExitCode::from(NO_PROGRAM),
        Ok(ToKeeper::Map | ToKeeper::Refused(_)) | Err(_) => ExitCode::from(REFUSED),
    }
}

#[expect(clippy::print_stderr, reason = "the tool's own stderr is all that this process can speak to")]
fn say(words: &str) {
    eprintln!("polymut: {words}");
}

/// Ends this process by the signal that ended the tool. PIPE alone is ignored by Rust and becomes a code.
fn end_by(number: i32) -> ExitCode {
    if let Ok(cause) = Signal::try_from(number) {
        let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        let _ = SigSet::from(cause).thread_unblock();
        // Twice: for SEGV and BUS, Rust has a handler that resets itself the first time.
        for _ in 0..2 {
            let _ = kill(Pid::this(), cause);
        }
    }
    ExitCode::from(u8::try_from(128 + (number & 0x7f)).unwrap_or(u8::MAX))
}

fn run(spec: &Spec, place: &Utf8Path, words: &Words, told: &mut Told) -> io::Result<ToKeeper> {
    let parent = watch_parent(spec.parent)?;
    let _outputs = hold_outputs();
    let own = Own::now();
    let group = match &spec.cgroups {
        Some(at) => Some(
            Group::make(at, std::process::id(), &own_groups(), spec.memory, spec.pids)
                .map_err(|error| named("make a control group", &error))?,
        ),
        None => None,
    };
    let ended = stand(spec, own).and_then(|()| {
        let (first, channel) = start_first(place, own, words)?;
        // Only now: a blocked signal is inherited, and the tool would never get it.
        let signals: SigSet = PASSED_ON.into_iter().chain([AT_ONCE]).collect();
        signals.thread_block()?;
        let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let watchdog = group.is_none().then(|| Watchdog::new(spec.memory));
        let mut keeper = Keeper { spec, first, channel, signals, parent, watchdog };
        let ended = keeper.admit(group.as_ref()).and_then(|()| keeper.watch(told));
        keeper.finish();
        told.peak = keeper.watchdog.as_ref().map(Watchdog::peak);
        ended
    });
    if let Some(group) = group {
        told.memory_kills = group.memory_kills();
        told.peak = group.peak();
        group.remove();
    }
    let killed = matches!(ended, Ok(ToKeeper::Signalled(number)) if number == Signal::SIGKILL as i32);
    told.over_memory |= killed && told.memory_kills > 0;
    ended
}

/// What the kernel says of this process's place among the control groups.
fn own_groups() -> String {
    fs_err::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// A descriptor that becomes readable when polymut is gone. A kernel without such descriptors has no sealed level.
fn watch_parent(expected: u32) -> io::Result<OwnedFd> {
    let gone = || io::Error::other("polymut is gone");
    let pid = i32::try_from(expected).ok().and_then(rustix::process::Pid::from_raw).ok_or_else(gone)?;
    let fd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| named("watch polymut", &error.into()))?;
    // Asked after opening: a number that was given to somebody else meanwhile is not our parent.
    if getppid().as_raw().cast_unsigned() == expected { Ok(fd) } else { Err(gone()) }
}

/// The reading ends of this process's own outputs. When polymut dies, its ends are closed at once, and the tool dies a
/// moment later: a test that writes in between would fail, and its mutant count as killed. Nothing is read from them.
fn hold_outputs() -> Vec<File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let flags = nix::fcntl::OFlag::O_NONBLOCK | nix::fcntl::OFlag::O_CLOEXEC;
    let ends = ["/proc/self/fd/1", "/proc/self/fd/2"]
        .map(|output| fs_err::OpenOptions::new().read(true).custom_flags(flags.bits()).open(output));
    ends.into_iter().flatten().collect()
}

/// Leaves the namespaces that children are to be born outside of.
fn stand(spec: &Spec, own: Own) -> io::Result<()> {
    let Some(Room { power, network, .. }) = spec.room else { return Ok(()) };
    let mut flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    match power {
        Power::Root => {}
        Power::User => flags |= CloneFlags::CLONE_NEWUSER,
    }
    unshare(flags).map_err(|error| named("make namespaces", &error.into()))?;
    match power {
        Power::Root => {}
        Power::User => ids::become_root(own).map_err(|error| named("write the user map", &error))?,
    }
    if network { Ok(()) } else { loopback::set_up().map_err(|error| named("set loopback up", &error)) }
}

/// Starts this program again as the first process; its stdin is the channel.
#[expect(clippy::disallowed_methods, reason = "this is the far end of the one place that starts processes")]
fn start_first(place: &Utf8Path, own: Own, words: &Words) -> io::Result<(Child, Channel)> {
    let (here, there) = UnixStream::pair()?;
    let first = Command::new("/proc/self/exe")
        .args([super::WORD, super::FIRST, place.as_str(), &own.text(), "--"])
        .args(words)
        .stdin(OwnedFd::from(there))
        .process_group(0)
        .spawn()
        .map_err(|error| named("start the first process", &error))?;
    Ok((first, Channel::new(here)))
}

struct Keeper<'a> {
    spec: &'a Spec,
    first: Child,
    channel: Channel,
    signals: SignalFd,
    parent: OwnedFd,
    watchdog: Option<Watchdog>,
}

impl Keeper<'_> {
    /// Puts the first process into its control group and lets it go.
    fn admit(&mut self, group: Option<&Group>) -> io::Result<()> {
        if let Some(group) = group {
            group.add(self.first.id()).map_err(|error| named("fill the control group", &error))?;
        }
        self.channel.say(&ToFirst::Go)
    }

    /// Until the first process says how the tool ended, or is gone.
    fn watch(&mut self, told: &mut Told) -> io::Result<ToKeeper> {
        loop {
            let [said, signalled, orphaned] = self.wait()?;
            if said && let Some(end) = self.listen()? {
                return Ok(end);
            }
            while let Some(got) = signalled.then(|| self.signals.read_signal()).transpose()?.flatten() {
                let number = got.ssi_signo.cast_signed();
                if number == AT_ONCE as i32 {
                    self.kill();
                } else {
                    let _ = self.channel.say(&ToFirst::Signal(number));
                }
            }
            if orphaned {
                self.kill();
                return Ok(ToKeeper::Signalled(Signal::SIGKILL as i32));
            }
            if !told.over_memory && self.watchdog.as_mut().is_some_and(|dog| dog.is_over(self.first.id())) {
                told.over_memory = true;
                self.kill();
            }
        }
    }

    /// Which of channel, signals and parent have something; none when it is only time for the watchdog.
    fn wait(&self) -> io::Result<[bool; 3]> {
        let mut waited = [
            PollFd::new(self.channel.socket().as_fd(), PollFlags::POLLIN),
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.parent.as_fd(), PollFlags::POLLIN),
        ];
        let pause = self.watchdog.as_ref().map_or(PollTimeout::NONE, Watchdog::pause);
        match poll(&mut waited, pause) {
            Ok(_) => Ok(waited.map(|fd| fd.any().unwrap_or(false))),
            Err(Errno::EINTR) => Ok([false; 3]),
            Err(error) => Err(error.into()),
        }
    }

    /// What the first process says, if it is an end.
    fn listen(&mut self) -> io::Result<Option<ToKeeper>> {
        match self.channel.next()? {
            Some(ToKeeper::Map) => {
                ids::map_all(self.first.id()).map_err(|error| named("write the user map", &error))?;
                self.channel.say(&ToFirst::Mapped)?;
                Ok(None)
            }
            Some(
                end @ (ToKeeper::Refused(_)
                | ToKeeper::NoProgram(_)
                | ToKeeper::Exited(_)
                | ToKeeper::Signalled(_)),
            ) => Ok(Some(end)),
            // It was killed, and with it everything.
            None => Ok(Some(ToKeeper::Signalled(Signal::SIGKILL as i32))),
        }
    }

    /// Kills the tool and all that it started.
    fn kill(&mut self) {
        if self.spec.room.is_some() {
            let _ = self.first.kill();
        } else {
            let _ = self.channel.say(&ToFirst::Kill);
        }
    }

    /// Waits for the first process. In a room its end is the end of everything; it has nothing left to do.
    fn finish(&mut self) {
        if self.spec.room.is_some() {
            let _ = self.first.kill();
        } else {
            let _ = self.channel.say(&ToFirst::Kill);
        }
        let _ = self.first.wait();
    }
}
