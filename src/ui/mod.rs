//! The room between polymut and a terminal: colour, errors, words.
//!
//! # Invariants
//! - Data goes to stdout, words and progress to stderr.
//! - Colour is decided once, here. Foreign words are made harmless before they are shown.
//! - A reader that closes the pipe early is no error.

mod colour;
mod error;
mod progress;
mod terminal;

pub use colour::{Colour, Listener, decide};
pub use error::{Help, render_error};
pub use progress::{Progress, progress};
pub use terminal::Terminal;
