//! What happens while things run, told to whoever listens. Listeners show it; nothing that is told here decides.
//!
//! In: the executor's own steps. Out: [`Event`]s over a channel that never blocks the sender. I/O: none.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use polymut_adapters::{End, Key, Tick};
use polymut_schemas::{ProjectId, StageName};
use tokio::sync::mpsc;

use super::output::OnLine;
use super::stop::StopReason;

/// Which stage of which job, in which sandbox.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageLabel {
    /// The project (and tool) of the job.
    pub project: ProjectId,
    /// The stage.
    pub stage: StageName,
    /// Round within the stage, from 0.
    pub round: u32,
    /// Sandbox within the round, from 0.
    pub sandbox: u32,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A stage begins in one sandbox.
    StageStarted {
        /// Which.
        label: StageLabel,
        /// How many steps it has.
        steps: usize,
    },
    /// A process is about to start.
    StepStarted {
        /// Which stage.
        label: StageLabel,
        /// The step.
        step: String,
        /// The mutant it is about.
        about: Option<Key>,
    },
    /// The newest line of a running step; not every line is told.
    Line {
        /// Which stage.
        label: StageLabel,
        /// The step.
        step: String,
        /// The line, shortened.
        text: String,
    },
    /// Progress that the adapter read from a line.
    Tick {
        /// Which stage.
        label: StageLabel,
        /// The step.
        step: String,
        /// The progress.
        tick: Tick,
    },
    /// A process has ended.
    StepEnded {
        /// Which stage.
        label: StageLabel,
        /// The step.
        step: String,
        /// How.
        end: End,
        /// How long it took.
        wall: Duration,
    },
    /// A stage has ended and its files are gathered.
    StageEnded {
        /// Which.
        label: StageLabel,
    },
    /// Something that a reader of the log should know.
    Note {
        /// Which stage, when it belongs to one.
        label: Option<StageLabel>,
        /// The words.
        text: String,
    },
    /// Stopping was asked for: running processes are told to end.
    Stopping {
        /// By whom.
        reason: StopReason,
    },
    /// Stopping was asked for again: running processes are killed.
    Killing,
    /// A tool is being put into the store.
    Installing {
        /// The tool.
        tool: String,
        /// The version.
        version: String,
        /// The command that runs now.
        command: String,
    },
    /// A tool is in the store.
    Installed {
        /// The tool.
        tool: String,
        /// The version.
        version: String,
        /// How long it took.
        wall: Duration,
    },
}

/// The sending half; cloning it is cheap. Sending never waits and never fails: a listener that went away changes
/// nothing.
#[derive(Debug, Clone)]
pub struct EventSender(Option<mpsc::UnboundedSender<Event>>);

impl EventSender {
    /// A channel. Lines are thinned by the sender, so that the queue stays short.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<Event>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(Some(sender)), receiver)
    }

    /// Nobody listens.
    pub fn nobody() -> Self {
        Self(None)
    }

    /// Hands lines of something that belongs to no stage on as notes, at most ten a second.
    pub(super) fn lines(&self, about: &str) -> OnLine {
        let (events, about, pace) = (self.clone(), about.to_owned(), Pace::default());
        Arc::new(move |line| {
            if pace.is_due() {
                events.send(Event::Note { label: None, text: format!("{about}: {line}") });
            }
        })
    }

    /// Tells it.
    pub fn send(&self, event: Event) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(event);
        }
    }
}

/// Lets through at most ten a second.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Option<Instant>>);

impl Pace {
    pub(super) fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= Duration::from_millis(100));
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

impl fmt::Display for StageLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {}.{}", self.project, self.stage, self.round, self.sandbox)
    }
}
