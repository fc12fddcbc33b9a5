//! Progress on stderr: which stage of which project, and how far it is.
//!
//! In: events. Out: lines on stderr. I/O: stderr.
//!
//! It only listens: a progress line that is lost changes nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use polymut_adapters::Tick;
use polymut_schemas::{ProjectId, StageName};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::exec::{Event, StopReason};
use crate::report::visible;

/// Least time between two lines about the progress of one project.
const PACE: Duration = Duration::from_secs(5);

/// A listener that prints until it is told that the run is over.
#[derive(Debug)]
pub struct Progress {
    task: JoinHandle<()>,
    over: CancellationToken,
}

impl Progress {
    /// Prints what was sent until now, and ends. Senders may live on: whoever waits for signals holds one.
    pub async fn finish(self) {
        self.over.cancel();
        let _ = self.task.await;
    }
}

/// Listens and prints; with `quiet` only what stops a run.
pub fn progress(mut events: UnboundedReceiver<Event>, quiet: bool) -> Progress {
    let over = CancellationToken::new();
    let told = over.clone();
    let task = tokio::spawn(async move {
        let mut printer = Printer { quiet, ticked: BTreeMap::new() };
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    Some(event) => printer.print(&event),
                    None => return,
                },
                () = told.cancelled() => return,
            }
        }
    });
    Progress { task, over }
}

struct Printer {
    quiet: bool,
    ticked: BTreeMap<ProjectId, Instant>,
}

impl Printer {
    fn print(&mut self, event: &Event) {
        let urgent = matches!(event, Event::Stopping { .. } | Event::Killing);
        if let Some(line) = self.line(event).filter(|_| urgent || !self.quiet) {
            let mut err = anstream::stderr().lock();
            let _ = writeln!(err, "{}", visible(&line));
        }
    }

    fn line(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::StageStarted { label, .. } if label.sandbox == 0 && label.round == 0 => {
                Some(format!("{}: {}", label.project, words(label.stage)))
            }
            Event::Tick { label, tick, .. } => {
                let due = self.ticked.get(&label.project).is_none_or(|last| last.elapsed() >= PACE);
                if !due {
                    return None;
                }
                self.ticked.insert(label.project.clone(), Instant::now());
                Some(format!("{}: {}", label.project, ticked(tick)))
            }
            Event::Note { label, text } => Some(match label {
                Some(label) => format!("{}: {text}", label.project),
                None => text.clone(),
            }),
            Event::Stopping { reason } => Some(stopping(*reason).to_owned()),
            Event::Killing => Some("stopping now".to_owned()),
            Event::Installing { tool, version, command } => {
                Some(format!("installing {tool} {version}: {command}"))
            }
            Event::Installed { tool, version, wall } => {
                Some(format!("installed {tool} {version} in {:.0} s", wall.as_secs_f64()))
            }
            Event::StageStarted { .. }
            | Event::StepStarted { .. }
            | Event::Line { .. }
            | Event::StepEnded { .. }
            | Event::StageEnded { .. } => None,
        }
    }
}

fn words(stage: StageName) -> &'static str {
    match stage {
        StageName::Probe => "looking for the tool",
        StageName::Prepare => "building, and running the suite without mutants",
        StageName::List => "listing mutants",
        StageName::Test => "testing mutants",
        StageName::Confirm => "settling doubtful answers",
        StageName::Replay => "replaying a survivor",
        StageName::Close => "running the suite once more without mutants",
    }
}

fn ticked(tick: &Tick) -> String {
    let word = tick.word.as_deref().unwrap_or("mutants tested");
    match (tick.done, tick.total) {
        (Some(done), Some(total)) => format!("{done} of {total} {word}"),
        (Some(done), None) => format!("{done} {word}"),
        (None, Some(total)) => format!("{total} in all, {word}"),
        (None, None) => word.to_owned(),
    }
}

fn stopping(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Budget => "the budget is used up: stopping, and judging what was reached",
        StopReason::Terminated => "terminated: stopping, and judging what was reached",
        StopReason::Interrupted => "interrupted: stopping, and judging what was reached (again: stop now)",
    }
}
