//! The room that runs things: sandboxes, processes, stopping, gathering, provisioning.
//!
//! # Invariants
//! - One function starts processes (`process.rs`); argv only, no shell.
//! - Nothing is ever written into the user's tree; every tool runs in a [`Sandbox`].
//! - What an end means is not decided here, but by the adapter's `parse`.
//! - No process outlives the step that started it, and no step outlives the future that runs it.
//! - Listeners of [`Event`]s decide nothing.

mod caches;
mod collect;
#[cfg(target_os = "linux")]
pub mod contain;
mod disk;
mod env;
mod error;
mod event;
#[cfg_attr(not(target_os = "linux"), path = "family_elsewhere.rs")]
mod family;
mod interrupted;
mod journal;
mod memory;
#[cfg(target_os = "linux")]
mod obstacle;
mod output;
mod probe;
mod process;
mod provision;
mod record;
mod resolve;
pub mod sandbox;
mod schedule;
mod secrets;
mod stage;
mod stop;
#[cfg(target_os = "linux")]
mod trials;
mod workdir;

pub use caches::Caches;
pub use collect::LARGEST_ARTIFACT;
pub use disk::require as require_room;
pub use env::{HostEnv, SCRUB, ToolEnv};
pub use error::{ExecError, InstallError};
pub use event::{Event, EventSender, StageLabel};
pub use family::{MARKER, end_everything};
pub use interrupted::Interrupted;
pub use journal::{Began, Header, Identity, Journal, JournalError, Kept, Share};
pub use memory::machine_memory;
pub use output::{Cap, OnLine};
pub use probe::{Containment, Obstacle, ProbeRequest};
pub use process::{Ended, Process, run as run_process};
pub use provision::{Install, Installed, Store};
#[cfg(target_os = "linux")]
pub use sandbox::{Builder, SealedSandbox, Starter, Surroundings, make_caches};
pub use sandbox::{
    CacheUse, CopiedSandbox, Launch, MOST_PROCESSES, NotStarted, Request, Sandbox, SandboxError, SandboxFile,
    SourceBytes, SourceEntry, SourceKind, Still, Usage, copied_level,
};
pub use schedule::{Ask, Lease, Schedule};
pub use stage::{StageContext, run_stage};
pub use stop::{GRACE, Stop, StopReason};
pub use workdir::{RunDir, State};
