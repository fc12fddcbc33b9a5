//! The processes that descend from one started process, also those that left its group or session.
//!
//! In: a leader's process id and the marker in its environment. Out: signals to all of its family, and the proof that
//! none is left. I/O: signals, `/proc`.
//!
//! A process belongs to the family when it is in the leader's group or session (every leader is started in its own),
//! when it carries the marker in its environment, when it was seen below the leader earlier, or when its parent
//! belongs. polymut is a subreaper, so orphans come to it and not to init; nothing outside of the family is touched.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use procfs::process::{Process, Stat, all_processes};

/// Holds a text that no other step has; it marks every process that inherits it.
pub const MARKER: &str = "POLYMUT_STEP";

/// How long what a leader left behind has between TERM and KILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

/// One started process and whatever it starts.
#[derive(Debug)]
pub(super) struct Family {
    leader: i32,
    since: u64,
    marker: Option<OsString>,
    noted: BTreeSet<(i32, u64)>,
    /// Whether the leader has been waited for: from then on its id may be somebody else's.
    reaped: bool,
    gone: bool,
}

/// Makes orphans of this process come back to it. Once is enough.
pub(super) fn become_subreaper() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
            tracing::warn!(%error, "orphans of tools go to init; they are found by their environment only");
        }
    });
}

impl Family {
    /// The family of `leader`, which must not have been waited for yet.
    pub(super) fn of(leader: u32, marker: Option<&OsStr>) -> Self {
        let leader = i32::try_from(leader).unwrap_or(i32::MAX);
        let since = Process::new(leader).and_then(|process| process.stat()).map_or(0, |stat| stat.starttime);
        let marker = marker.map(|value| {
            let mut entry = OsString::from(MARKER);
            entry.push("=");
            entry.push(value);
            entry
        });
        Self { leader, since, marker, noted: BTreeSet::new(), reaped: false, gone: false }
    }

    /// Remembers who is below the leader now, so that those who leave both group and environment are known later.
    pub(super) fn note(&mut self) {
        let members = self.members(|_| false);
        self.noted.extend(members.iter().map(|stat| (stat.pid, stat.starttime)));
    }

    /// TERM to the leader's group.
    pub(super) fn terminate(&mut self) {
        self.note();
        let _ = killpg(Pid::from_raw(self.leader), Signal::SIGTERM);
    }

    /// KILL to the leader's group.
    pub(super) fn kill_group(&self) {
        let _ = killpg(Pid::from_raw(self.leader), Signal::SIGKILL);
    }

    /// The leader has been waited for.
    pub(super) fn set_reaped(&mut self) {
        self.reaped = true;
    }

    /// Ends what is left of the family. Politely: TERM and half a second first.
    pub(super) async fn sweep(&mut self, manner: Manner) {
        let mut signal = match manner {
            Manner::Polite => Signal::SIGTERM,
            Manner::AtOnce => Signal::SIGKILL,
        };
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(2);
        let mut told: BTreeSet<i32> = BTreeSet::new();
        while !self.is_gone_after(signal, &mut told) {
            if waited > LEFTOVER_GRACE {
                signal = Signal::SIGKILL;
            }
            if waited > Duration::from_secs(10) {
                tracing::error!(leader = self.leader, "a process of this step cannot be killed");
                break;
            }
            tokio::time::sleep(pause).await;
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        self.gone = true;
    }

    /// Signals whoever lives and reaps whoever is ours; `true` when nobody lives. TERM is sent once to each, KILL
    /// each time: a family that forks faster than it is listed is caught by repeating.
    fn is_gone_after(&self, signal: Signal, told: &mut BTreeSet<i32>) -> bool {
        let mut gone = true;
        for stat in self.members(|pid| self.is_marked(pid)) {
            let pid = Pid::from_raw(stat.pid);
            if stat.state == 'Z' || stat.state == 'X' {
                // Only a child of ours can be waited for, and the leader is waited for elsewhere.
                if stat.pid != self.leader {
                    let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
                }
                continue;
            }
            gone = false;
            if signal == Signal::SIGKILL || told.insert(stat.pid) {
                let _ = kill(pid, signal);
            }
        }
        gone
    }

    /// The living and dead members, the leader included while it is not reaped.
    fn members(&self, is_marked: impl Fn(i32) -> bool) -> Vec<Stat> {
        let me = std::process::id().cast_signed();
        let Ok(processes) = all_processes() else { return Vec::new() };
        let mut others: Vec<Stat> = processes
            .flatten()
            .filter_map(|process| process.stat().ok())
            .filter(|stat| stat.pid != me && stat.starttime >= self.since)
            .filter(|stat| !(self.reaped && stat.pid == self.leader))
            .collect();
        let mut members: Vec<Stat> =
            others.extract_if(.., |stat| self.is_own(stat) || is_marked(stat.pid)).collect();
        loop {
            let parents: BTreeSet<i32> = members.iter().map(|stat| stat.pid).collect();
            let before = members.len();
            members.extend(others.extract_if(.., |stat| parents.contains(&stat.ppid)));
            if members.len() == before {
                return members;
            }
        }
    }

    fn is_own(&self, stat: &Stat) -> bool {
        stat.pid == self.leader
            || stat.pgrp == self.leader
            || stat.session == self.leader
            || self.noted.contains(&(stat.pid, stat.starttime))
    }

    fn is_marked(&self, pid: i32) -> bool {
        self.marker
            .as_deref()
            .is_some_and(|marker| environment_has(pid, |entry| entry == marker.as_encoded_bytes()))
    }
}

/// How what a leader left behind is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// TERM, a moment, KILL.
    Polite,
    /// KILL.
    AtOnce,
}

impl Drop for Family {
    /// A dropped future stops its processes as well; there is no time to be polite.
    fn drop(&mut self) {
        if self.gone {
            return;
        }
        self.kill_group();
        for _ in 0..20 {
            if self.is_gone_after(Signal::SIGKILL, &mut BTreeSet::new()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Kills whatever descends from this process, whoever started it: the last thing before polymut ends. What left its
/// session, its environment and its parent within the first look is caught here at the latest, because orphans come
/// back to a subreaper.
pub fn end_everything() {
    let me = std::process::id().cast_signed();
    for _ in 0..50 {
        let Ok(processes) = all_processes() else { return };
        let all: Vec<Stat> = processes.flatten().filter_map(|process| process.stat().ok()).collect();
        let mut ours = BTreeSet::from([me]);
        loop {
            let before = ours.len();
            ours.extend(
                all.iter().filter(|stat| ours.contains(&stat.ppid)).map(|stat| stat.pid).collect::<Vec<_>>(),
            );
            if ours.len() == before {
                break;
            }
        }
        ours.remove(&me);
        let dead = |pid: &i32| all.iter().any(|stat| stat.pid == *pid && stat.state == 'Z');
        if ours.iter().all(dead) {
            return;
        }
        for pid in ours {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills every process whose marker starts with `prefix`: what a polymut that died left running. Returns how many.
pub(super) fn kill_marked(prefix: &OsStr) -> usize {
    let mut wanted = format!("{MARKER}=").into_bytes();
    wanted.extend_from_slice(prefix.as_encoded_bytes());
    let mut killed = 0;
    // Repeated: a process may fork between being listed and being killed.
    for _ in 0..10 {
        let Ok(processes) = all_processes() else { return killed };
        let left: Vec<i32> = processes
            .flatten()
            .map(|process| process.pid)
            .filter(|pid| environment_has(*pid, |entry| entry.starts_with(&wanted)))
            .collect();
        if left.is_empty() {
            return killed;
        }
        killed += left.len();
        // Stopped first: a tool that lives a moment longer than its test would take that for a result.
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for pid in &left {
                let _ = kill(Pid::from_raw(*pid), signal);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    killed
}

/// Whether an entry of the environment that a process was started with fits. Processes of others cannot be read and
/// do not fit.
fn environment_has(pid: i32, fits: impl Fn(&[u8]) -> bool) -> bool {
    fs_err::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(fits))
}
