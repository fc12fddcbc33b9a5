//! Starts tools behind the walls: turns a command into one of `polymut __contain`.
//!
//! In: a command, a room. Out: the command of a keeper, and what it told afterwards. I/O: small files of the sandbox.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

use fs_err as fs;

use super::host::failed;
use super::{Launch, NotStarted, SandboxError, Usage};
use crate::exec::contain::{Cgroups, KEEP, Room, Scope, Spec, Told, Trouble, WORD, told_by};
use crate::paths::AbsPath;

/// How keepers are started on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// This program.
    pub helper: AbsPath,
    /// Where control groups can be made, if anywhere; else a watchdog looks after memory.
    pub cgroups: Option<Cgroups>,
    /// The most processes and threads of one tool.
    pub pids: u64,
}

impl Starter {
    /// Makes the folders that [`Starter::wrap`] needs.
    pub(super) fn prepare(own: &AbsPath) -> Result<(), SandboxError> {
        let told = own.join("told");
        fs::create_dir_all(&told).map_err(failed(format!("cannot make {told}")))
    }

    /// The command of a keeper for `inside`. `own` is the sandbox's folder; `number` is used once in it.
    pub(super) fn wrap(
        &self,
        own: &AbsPath,
        number: u32,
        room: Option<Room>,
        inside: Launch,
    ) -> Result<Launch, SandboxError> {
        let spec = Spec {
            parent: std::process::id(),
            cwd: inside.cwd.as_path().to_path_buf(),
            told: own.join("told").as_path().to_path_buf(),
            memory: inside.memory,
            pids: self.pids,
            cgroups: self.cgroups.clone(),
            room,
        };
        let place = own.join(format!("spec-{number}.json"));
        spec.store(place.as_path()).map_err(failed(format!("cannot write {place}")))?;
        let before = [WORD, KEEP, place.as_str(), "--", inside.program.as_str()].map(OsString::from);
        let args = before.into_iter().chain(inside.args).collect();
        // The folder to start in may exist inside only.
        let keeper = Launch { program: self.helper.clone(), args, cwd: own.clone(), ..inside };
        match &self.cgroups {
            Some(Cgroups::Scope(scope)) => self.in_scope(scope, keeper),
            Some(Cgroups::V1 { .. } | Cgroups::V2 { .. }) | None => Ok(keeper),
        }
    }

    /// The keeper in a scope of systemd. `systemd-run` becomes the keeper: the process id stays the same.
    fn in_scope(&self, scope: &Scope, mut keeper: Launch) -> Result<Launch, SandboxError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let unit = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let words = scope.words(&unit, keeper.memory, self.pids).into_iter().map(OsString::from);
        keeper.args = words.chain([OsString::from(keeper.program.as_str())]).chain(keeper.args).collect();
        keeper.program = AbsPath::new(scope.program.clone())
            .map_err(|error| SandboxError::Walls { why: error.to_string() })?;
        for (name, value) in &scope.bus {
            keeper.env.entry(name.into()).or_insert_with(|| value.into());
        }
        Ok(keeper)
    }

    /// Why the command of that keeper was not started.
    pub(super) fn not_started(&self, own: &AbsPath, leader: u32) -> Option<NotStarted> {
        let told = Self::told(own, leader);
        if told.is_none() && matches!(self.cgroups, Some(Cgroups::Scope(_))) {
            // A keeper tells; systemd-run that was refused has a code of its own, which is not the tool's.
            return Some(NotStarted::Walls("systemd made no scope for the tool, see its stderr".to_owned()));
        }
        match told?.trouble? {
            Trouble::Walls(why) => Some(NotStarted::Walls(why)),
            Trouble::Program(why) => Some(NotStarted::Program(why)),
        }
    }

    /// What all keepers of a sandbox told together.
    pub(super) fn usage(own: &AbsPath) -> Usage {
        let told = own.join("told");
        let Ok(entries) = told.as_path().read_dir_utf8() else { return Usage::default() };
        let leaders = entries.flatten().filter_map(|entry| entry.file_name().parse().ok());
        let all = leaders.filter_map(|leader| Self::told(own, leader));
        all.fold(Usage::default(), |sum, told| Usage {
            peak: sum.peak.max(told.peak),
            memory_kills: sum.memory_kills + told.memory_kills,
        })
    }

    /// What the keeper with this process id told, once it has ended.
    pub(super) fn told(own: &AbsPath, leader: u32) -> Option<Told> {
        told_by(own.join("told").as_path(), leader)
    }
}
