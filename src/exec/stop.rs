//! Stopping: asked once it is polite, asked twice by a person it is at once; a budget asks by itself.
//!
//! In: signals, a budget. Out: [`Stop`], which every process watches. I/O: signal handlers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::ExecError;
use super::event::{Event, EventSender};

/// How long a process has between TERM and KILL.
pub const GRACE: Duration = Duration::from_secs(5);

/// The same when whoever stops polymut will not wait: after SIGTERM a document is due within three seconds.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// Who asked to stop. Later variants outweigh earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// `--budget` is used up.
    Budget,
    /// SIGTERM or SIGHUP.
    Terminated,
    /// SIGINT: Ctrl-C.
    Interrupted,
}

/// A handle that asks everything to stop; clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Debug, Default)]
struct State {
    polite: CancellationToken,
    now: CancellationToken,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    reason: Option<StopReason>,
    signals: u32,
}

impl Stop {
    /// Nothing asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks. The first time everything gets TERM and what was reached is saved; a second signal kills at once.
    /// The budget counts as asking, but not as a signal.
    pub fn request(&self, reason: StopReason) {
        let mut asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.reason = asked.reason.max(Some(reason));
        match reason {
            StopReason::Budget => {}
            StopReason::Terminated | StopReason::Interrupted => asked.signals += 1,
        }
        if asked.signals >= 2 {
            self.0.now.cancel();
        }
        self.0.polite.cancel();
    }

    /// Who asked, if anybody did: a person outweighs the budget.
    pub fn reason(&self) -> Option<StopReason> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner).reason
    }

    /// Whether anybody asked.
    pub fn is_asked(&self) -> bool {
        self.0.polite.is_cancelled()
    }

    /// Whether it is to be at once.
    pub fn is_forced(&self) -> bool {
        self.0.now.is_cancelled()
    }

    /// Resolves when anybody asks.
    pub async fn asked(&self) {
        self.0.polite.cancelled().await;
    }

    /// Resolves when it is to be at once.
    pub async fn forced(&self) {
        self.0.now.cancelled().await;
    }

    /// The time between TERM and KILL, given the usual one.
    pub fn grace(&self, usual: Duration) -> Duration {
        match self.reason() {
            Some(StopReason::Terminated) => usual.min(SHORT_GRACE),
            Some(StopReason::Budget | StopReason::Interrupted) | None => usual,
        }
    }

    /// Listens for SIGINT, SIGTERM and SIGHUP (Ctrl-C elsewhere) until the runtime ends.
    pub fn install_signals(&self, events: &EventSender) -> Result<(), ExecError> {
        let stop = self.clone();
        let events = events.clone();
        let mut signals = Signals::new()
            .map_err(|source| ExecError::Io { what: "listen for signals".to_owned(), source })?;
        tokio::spawn(async move {
            while let Some(reason) = signals.next().await {
                stop.request(reason);
                events.send(if stop.is_forced() { Event::Killing } else { Event::Stopping { reason } });
            }
        });
        Ok(())
    }

    /// Asks by itself when `budget` is used up.
    pub fn set_budget(&self, budget: Duration, events: &EventSender) {
        let stop = self.clone();
        let events = events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(budget).await;
            if !stop.is_asked() {
                stop.request(StopReason::Budget);
                events.send(Event::Stopping { reason: StopReason::Budget });
            }
        });
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Option<StopReason> {
        tokio::select! {
            got = self.interrupt.recv() => got.map(|()| StopReason::Interrupted),
            got = self.terminate.recv() => got.map(|()| StopReason::Terminated),
            got = self.hangup.recv() => got.map(|()| StopReason::Terminated),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Option<StopReason> {
        tokio::signal::ctrl_c().await.ok().map(|()| StopReason::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_signal_is_polite_and_a_second_is_at_once() {
        let stop = Stop::new();
        assert!(!stop.is_asked());
        stop.request(StopReason::Interrupted);
        assert!(stop.is_asked() && !stop.is_forced());
        stop.request(StopReason::Interrupted);
        assert!(stop.is_forced());
    }

    #[test]
    fn the_budget_is_no_signal_and_a_person_outweighs_it() {
        let stop = Stop::new();
        stop.request(StopReason::Budget);
        stop.request(StopReason::Budget);
        assert!(!stop.is_forced());
        stop.request(StopReason::Interrupted);
        assert!(!stop.is_forced());
        stop.request(StopReason::Budget);
        assert_eq!(stop.reason(), Some(StopReason::Interrupted));
    }

    #[test]
    fn a_terminated_run_gives_its_processes_less_time() {
        let stop = Stop::new();
        assert_eq!(stop.grace(GRACE), GRACE);
        stop.request(StopReason::Terminated);
        assert_eq!(stop.grace(GRACE), SHORT_GRACE);
        assert_eq!(stop.grace(Duration::from_millis(10)), Duration::from_millis(10));
    }

    #[tokio::test]
    async fn a_used_up_budget_asks_by_itself_and_says_so() {
        let (events, mut seen) = EventSender::channel();
        let stop = Stop::new();
        stop.set_budget(Duration::from_millis(1), &events);
        stop.asked().await;
        assert_eq!(stop.reason(), Some(StopReason::Budget));
        assert_eq!(seen.recv().await, Some(Event::Stopping { reason: StopReason::Budget }));
    }
}
