//! The room of `polymut.toml` and of the waiver ledger: strict with the user, every mistake named with its place.
//!
//! # Invariants
//! - An unknown key is an error with file, line and the nearest key; nothing is ignored in silence.
//! - `load` and `load_waivers` are the only functions here that touch the file system.
//! - Nothing here can lower an inconclusive cause to a pass: the type has no such word.

mod error;
mod glob;
mod model;
mod read;
mod settings;
mod units;
mod version;
mod waivers;

pub use error::ConfigError;
pub use glob::PathGlob;
pub use model::{
    Causes, Config, Decision, GateConfig, GateRule, Isolation, Network, Operators, ProjectConfig, Raise,
    RunConfig, Score,
};
pub use read::{FILE, load, parse};
pub use settings::JobSettings;
pub use units::{Bytes, Period};
pub use version::ToolVersion;
pub(crate) use waivers::counts;
pub use waivers::{WAIVERS, WaiverFile, Waivers, load_waivers, parse_waivers};
