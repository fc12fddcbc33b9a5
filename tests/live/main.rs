//! The real tools on the shipped example.
//!
//! In: the example, the machine's toolchains. Out: what each tool's project must show. I/O: everything.
//!
//! `POLYMUT_LIVE=require`: a missing toolchain is a failure (CI). `POLYMUT_LIVE=off`: nothing here runs, and says so.
//! Otherwise a project whose toolchain is missing is named and left out. One run covers every project at once, and runs
//! come one after another: they share the cores.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test may stop at the first surprise, and starts the program as a user does"
)]

mod changes;
mod demo;
mod edits;
mod killed;
mod machine;
mod pnpm;
#[expect(dead_code, reason = "what the command-line suite needs and this one does not")]
#[path = "../cli/program.rs"]
mod program;
mod repo;
mod versions;
