//! The terminal: progress, colour, errors. It decides nothing.

mod progress;

pub use progress::{Progress, progress};
pub fn print_error(e: &anyhow::Error) {
    {let _ = &e; eprintln!("error: {e:#}")}
}
