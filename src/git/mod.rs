//! The git room: what a change touches, and the files of each side of it. Station 1 of 8, and the lists of station 2.
//!
//! In: a folder, a [`ScopeRequest`]. Out: [`Repo`], [`Entry`], [`Scope`](polymut_schemas::Scope).
//! I/O: reads `.git`, the working tree, and what the `git` program says where libgit2 cannot read the repository.
//!
//! # Invariants
//! - Nothing is written: no index refresh, no object, no lock, and never a checkout, reset or stash. (A partial clone
//!   fetches the objects it lacks, as it does for every git command.)
//! - `GIT_*` variables reach neither libgit2 nor the `git` program: a hook that runs polymut does not move the repository.
//! - No change is only ever said of two sides that were compared. A missing base, a cut history or a diff that does not
//!   fit the tree is an error.
//! - Each path that a diff names ends in the scope, with its lines or with the reason why it has none.

mod base;
mod contents;
mod delta;
mod diff_file;
mod entry;
mod error;
mod library;
mod library_delta;
mod program;
mod program_text;
mod rename;
mod repo;
mod scope;
mod text;
mod weigh;

pub use contents::contents;
pub use entry::{BlobId, Entry, EntryAt, EntryKind};
pub use error::{DiffFileError, GitError};
pub use repo::Repo;
pub use scope::{DiffFile, ScopeRequest, scope};

#[cfg(test)]
mod tests;
