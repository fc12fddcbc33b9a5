//! The same as `family.rs` where there is no `/proc`: the group alone is reached.
//!
//! In: a leader's process id. Out: signals to its group. I/O: signals.
//!
//! Written for macOS and Windows, where polymut was not tried; on Windows the job object ends the tree.

use std::ffi::OsStr;

/// Holds a text that no other step has; it marks every process that inherits it.
pub const MARKER: &str = "POLYMUT_STEP";

/// One started process and its group.
#[derive(Debug)]
pub(super) struct Family {
    leader: u32,
    gone: bool,
}

/// How what a leader left behind is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As at once: who is left cannot be listed here.
    Polite,
    /// KILL.
    AtOnce,
}

/// Nothing to do here.
pub(super) fn become_subreaper() {}

/// Nothing beyond the groups can be found here.
pub fn end_everything() {}

/// Nobody can be found by environment here.
pub(super) fn kill_marked(_prefix: &OsStr) -> usize {
    0
}

impl Family {
    pub(super) fn of(leader: u32, _marker: Option<&OsStr>) -> Self {
        Self { leader, gone: false }
    }

    pub(super) fn note(&mut self) {}

    pub(super) fn set_reaped(&mut self) {}

    pub(super) fn terminate(&mut self) {
        self.signal(Wanted::Term);
    }

    pub(super) fn kill_group(&self) {
        self.signal(Wanted::Kill);
    }

    pub(super) async fn sweep(&mut self, manner: Manner) {
        match manner {
            Manner::Polite | Manner::AtOnce => self.kill_group(),
        }
        self.gone = true;
    }

    #[cfg(unix)]
    fn signal(&self, wanted: Wanted) {
        use nix::sys::signal::{Signal, killpg};
        let signal = match wanted {
            Wanted::Term => Signal::SIGTERM,
            Wanted::Kill => Signal::SIGKILL,
        };
        if let Ok(leader) = i32::try_from(self.leader) {
            let _ = killpg(nix::unistd::Pid::from_raw(leader), signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, wanted: Wanted) {
        match wanted {
            Wanted::Term | Wanted::Kill => tracing::debug!(self.leader, "the job object ends the tree"),
        }
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Term,
    Kill,
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.gone {
            self.kill_group();
        }
    }
}
