//! What a stage left: how each step ended, its output, and the gathered files.
//!
//! In: values from the executor. Out: [`Ran`]. I/O: none.

use std::fmt;
use std::time::Duration;

use crate::{Key, Place};

/// A stage as it ran in one sandbox.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ran {
    /// Each started step, in order. A Baseline step that ran several times has one entry per run.
    pub steps: Vec<StepEnd>,
    /// Gathered files, sorted by place.
    pub files: Vec<(Place, Vec<u8>)>,
}

impl Ran {
    /// The last end of the step called `name`.
    pub fn step(&self, name: &str) -> Option<&StepEnd> {
        self.steps.iter().rev().find(|step| step.name == name)
    }

    /// Every gathered file whose path ends with `suffix`.
    pub fn files_ending<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = (&'a Place, &'a [u8])> + 'a {
        self.files
            .iter()
            .filter(move |(place, _)| place.as_str().ends_with(suffix))
            .map(|(place, bytes)| (place, bytes.as_slice()))
    }

    /// The only or first gathered file whose path ends with `suffix`.
    pub fn file_ending(&self, suffix: &str) -> Option<&[u8]> {
        self.files
            .iter()
            .find(|(place, _)| place.as_str().ends_with(suffix))
            .map(|(_, bytes)| bytes.as_slice())
    }
}

/// How one step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct StepEnd {
    /// The step's name in the plan.
    pub name: String,
    /// The mutant it was about.
    pub about: Option<Key>,
    /// How it ended.
    pub end: End,
    /// Wall time.
    pub wall: Duration,
    /// What it wrote to stdout.
    pub stdout: Output,
    /// What it wrote to stderr.
    pub stderr: Output,
}

/// Bytes of an output, capped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// What was kept: the head and, when capped, the tail.
    pub bytes: Vec<u8>,
    /// How many bytes in the middle were not kept.
    pub lost: u64,
}

impl Output {
    /// The bytes as text; invalid UTF-8 becomes U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal that polymut did not send.
    Signal(i32),
    /// Stopped by polymut at its wall limit.
    Limit,
    /// Stopped at the memory ceiling.
    OutOfMemory,
    /// Stopped by polymut, whatever code followed: Ctrl-C, budget.
    Stopped,
    /// The program was not found.
    NoProgram,
}

/// As a sentence goes on: `exit 3`, `signal 9`, `stopped at its time limit`.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Limit => f.write_str("stopped at its time limit"),
            Self::OutOfMemory => f.write_str("stopped at the memory ceiling"),
            Self::Stopped => f.write_str("stopped by polymut"),
            Self::NoProgram => f.write_str("the program was not found"),
        }
    }
}

impl Place {
    /// The path below its root.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Sandbox(path) => path.as_str(),
            Self::Work(path) => path.as_str(),
        }
    }
}
