//! Sandboxes: disposable views of the repository's files that hold the diff's new side.
//!
//! # Invariants
//! - No byte of the user's tree is written by polymut itself, at any level.
//! - A view never promises a guarantee that was not tried (`ContainmentReached`).
//! - What a mutant left behind (links, pipes, devices) cannot lead a reader or writer of the view out of it.

mod copied;
mod copier;
mod dependencies;
mod fill;
mod host;
#[cfg(target_os = "linux")]
mod layers;
mod links;
mod remains;
#[cfg(target_os = "linux")]
mod room_plan;
#[cfg(target_os = "linux")]
mod sealed;
mod source;
mod space;
#[cfg(target_os = "linux")]
mod stack;
#[cfg(target_os = "linux")]
mod starter;
mod still;
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(unix)]
#[cfg(test)]
mod tests;
#[cfg(target_os = "linux")]
mod upper;
mod view;

pub use copied::{CopiedSandbox, copied_level};
pub(super) use host::{failed, list, read_regular, remove_tree, write_inside};
pub use remains::Remains;
#[cfg(target_os = "linux")]
pub use sealed::{Builder, SealedSandbox};
pub use source::{MOST_PROCESSES, Request, SourceBytes, SourceEntry, SourceKind};
#[cfg(target_os = "linux")]
pub use starter::Starter;
pub use still::Still;
#[cfg(target_os = "linux")]
pub use surroundings::{Surroundings, make_caches};
pub use view::{CacheUse, Launch, NotStarted, Sandbox, SandboxError, SandboxFile, Usage};
