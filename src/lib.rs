//! polymut: one verdict for the mutation tests of a change, in every language that it touches.
//!
//! # The life of a mutant, in eight stations
//! 1. [`git`] turns the diff into changed lines per file.
//! 2. `git` lists files; every adapter's `detect` claims projects.
//! 3. `planner` asks each adapter for the steps of a stage.
//! 4. [`exec`] runs them in sandboxes.
//! 5. `Adapter::parse` reads what they left.
//! 6. `normalize` gives each mutant a path, a span, an id, and marks it in or out of scope.
//! 7. `gate` weighs it.
//! 8. `report` shows it.

pub mod assemble;
pub mod cli;
pub mod commands;
pub mod config;
pub mod docs;
pub mod exec;
pub mod exit;
pub mod gate;
pub mod git;
pub mod hash;
pub mod index;
pub mod job;
pub mod lexer;
pub mod normalize;
pub mod owners;
pub mod paths;
pub mod pipeline;
pub mod planner;
pub mod report;
pub mod schema;
pub mod sources;
pub mod ui;
