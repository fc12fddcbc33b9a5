//! The journal of a run: what has ended, written down as it ends, so that an interrupted run can be continued.
//!
//! # Invariants
//! - Records are only ever added; each line carries its own checksum.
//! - A torn last line is cut. Any other damage is an error that names file and line, and nothing is taken from it.
//! - A run goes on without its journal where that cannot be written: it can then not be continued, and says so.

mod error;
mod header;
mod lines;
mod note;
mod salvage;
mod written;

pub use error::JournalError;
pub use header::{Header, Identity};
pub use note::{Began, Journal, Kept, Share};
