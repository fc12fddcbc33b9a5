//! One pure adapter per mutation-testing tool: detect projects, plan commands, parse what they left.
//!
//! In: bytes and facts. Out: plans and raw mutants. I/O: none; `adapters/.clippy.toml` forbids file system,
//! process, clock and environment.
//!
//! # Invariants
//! - An adapter never runs, reads or resolves anything: plans hold placeholders ([`plan::Piece`]), mutants hold the
//!   tool's own path and columns ([`raw::RawPath`], [`raw::RawSpan`]).
//! - An unknown status word is [`ParseError::UnknownStatus`], never a default arm.
//! - What a step's end means is `parse`'s to say, nobody else's.
//! - Nothing outside `tools/` knows a tool by name; [`tools::REGISTRY`] is the only list.

pub mod adapter;
pub mod artifact;
pub mod error;
pub mod formats;
pub mod index;
pub mod info;
pub mod own;
pub mod plan;
pub mod raw;
pub mod tools;

pub use adapter::{
    Adapter, BaselineLimits, Changed, ChangedFile, Facts, Job, Limits, OperatorSet, Project, ProjectSettings,
    Round, Stage, Suspect, Units,
};
pub use artifact::{End, Output, Ran, StepEnd};
pub use error::{ParseError, PlanError};
pub use index::Tree;
pub use info::{Cost, Recipe, RecipeStep, Spread, ToolInfo, TreeUse};
pub use plan::{
    CommandSpec, Find, Gather, NewFile, Piece, Place, Plan, Role, ScopeFit, Step, StorePath, WorkPath,
};
pub use raw::{
    Baseline, Change, ColumnUnit, Doubt, Finish, Key, Note, Parsed, Promised, RawMutant, RawPath,
    RawPosition, RawSpan, Tests, Tick,
};
