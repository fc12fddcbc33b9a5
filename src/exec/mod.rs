//! The room that runs things: sandboxes, processes, stopping, gathering, provisioning.
//!
//! # Invariants
//! - One function starts processes (`process.rs`); argv only, no shell.
//! - Nothing is ever written into the user's tree; every tool runs in a [`Sandbox`].
//! - What an end means is not decided here, but by the adapter's `parse`.

pub mod sandbox;

pub use sandbox::{
    CopiedSandbox, Launch, Request, Sandbox, SandboxError, SandboxFile, SourceBytes, SourceEntry, SourceKind,
    copied_level,
};
