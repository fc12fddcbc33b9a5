//! The verdict document of polymut: what survived, where, whose it is, and whether that can be believed.
//!
//! In: nothing. Out: types with serde and JSON Schema. I/O: none.
//!
//! This crate knows no tool. Its types are the public contract `polymut/1`; [`CHANGES.md`] is their changelog.
//!
//! # Glossary
//! | word | meaning |
//! |---|---|
//! | scope | the changed lines per file of a diff (or everything), and where they came from |
//! | project | one folder that one tool can run in: a Cargo workspace, a Maven module, an npm package, a `.csproj`, a Python package, a Go module |
//! | job | one tool on one project for one scope (or one shard of it) |
//! | sandbox | a disposable view of the repository's files holding the diff's new side; every tool runs in one |
//! | stage | probe, prepare, list, test, confirm, replay: each planned from what the last one left |
//! | step | one process of a stage |
//! | artifact | a file that a step leaves and that is parsed (report, session, log) |
//! | key | the adapter's own name for a mutant, equal in every stage for equal source and tool version |
//! | mutant | one small change that a tool made; a *survivor* is a mutant that nothing detected |
//! | status | killed, survived, `no_coverage`, timeout, `out_of_memory`, unviable, errored, ignored, `not_run`, flaky |
//! | waiver | a recorded decision that one survivor is accepted: reason, owner, date, expiry |
//! | verdict | pass, fail or inconclusive, with reasons |
//!
//! [`CHANGES.md`]: https://docs.rs/crate/polymut-schemas

mod ids;
mod mutant;
mod path;
mod report;
mod run;
mod scope;
mod span;
mod verdict;
mod waiver;

pub use ids::{MutantId, MutantIdError, ProjectId, ToolId};
pub use mutant::{Confirmation, Mutant, Operator, OperatorClass, Origin, Provenance, Status, StatusGroup};
pub use path::{PathError, RepoDir, RepoPath};
pub use report::{Group, Report, SCHEMA, SchemaVersion, SchemaVersionError, StatusCounts, Summary};
pub use run::{
    BaselineRun, BaselineState, CommandLine, ContainmentReached, Environment, Guarantee, IsolationLevel,
    Quote, Reached, RunState, StageCount, StageName, Timing, ToolRun,
};
pub use scope::{
    FileChange, LineRange, LineSet, NewSide, OutsideReason, Revision, Scope, ScopeFile, ScopeSource,
    ScopeWidth,
};
pub use span::{Position, Span};
pub use verdict::{Cause, GateMode, Outcome, Reason, ReasonKind, Verdict};
pub use waiver::{Waiver, WaiverState, WaiverUse};
