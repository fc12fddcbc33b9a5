//! The gate: weighs mutants, runs, scope and waivers by the policy. Station 7 of 8.
//!
//! # Invariants
//! - Pure: the same input gives the same verdict, and no clock is asked (`today` is given).
//! - The gate looks for itself: claims of a run that its own counts, seen files or mutants contradict are inconclusive.
//! - An inconclusive cause can be raised to fail and never becomes a pass; `advisory` and `off` change the exit code
//!   and leave the outcome as it is.
//! - Nothing is plain green that is not: what the policy lets pass is named beside the pass.

mod judge;
mod mutants;
mod policy;
mod runs;
mod scope;
mod waivers;
mod words;

pub use judge::{Judgement, judge};
pub use policy::GatePolicy;
pub use waivers::apply as apply_waivers;
