//! Sandboxes: disposable views of the repository's files that hold the diff's new side.
//!
//! # Invariants
//! - No byte of the user's tree is written by polymut itself, at any level.
//! - A view never promises a guarantee that was not tried (`ContainmentReached`).
//! - What a mutant left behind (links, pipes, devices) cannot lead a reader or writer of the view out of it.

mod copied;
mod copier;
mod dependencies;
mod host;
mod links;
mod source;
mod space;
#[cfg(unix)]
#[cfg(test)]
mod tests;
mod view;

pub use copied::{CopiedSandbox, copied_level};
pub(super) use host::{list, read_regular, remove_tree, write_inside};
pub use source::{Request, SourceBytes, SourceEntry, SourceKind};
pub use view::{Launch, Sandbox, SandboxError, SandboxFile};
