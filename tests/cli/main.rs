//! The built program as a user meets it: exit codes, words, files, and what it does to a repository.
//!
//! In: small git repositories made here, the shipped example. Out: claims about exit codes, output and trees.
//! I/O: processes, temporary folders; the private store of tools, into which a missing tool is installed.
//!
//! Modules named `live…` drive the real cargo-mutants: `POLYMUT_LIVE=off` leaves them out and says so,
//! `POLYMUT_LIVE=require` makes a missing cargo a failure.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may stop at the first surprise, and starts the program as a user does"
)]

mod crates;
mod doctor;
mod live_counts;
mod live_exits;
mod live_resume;
mod live_stops;
mod live_versions;
mod live_walls;
mod nothing;
mod own_command;
mod place;
mod program;
mod resume;
mod scope;
mod usage;
