//! Close: is the suite still green? Kills count only while it is.
//!
//! In: a job with kills. Out: the closing baseline. I/O: through the machine.

use std::time::Instant;

use polymut_adapters::{End, Plan, Role, ScopeFit, Stage};
use polymut_schemas::{BaselineState, Cause, RunState, StageName, Status};

use super::prepare::tail;
use super::state::JobState;
use super::{Step, broken, quote};
use crate::exec::Sandbox;

impl JobState<'_> {
    /// Runs the suite once more without a mutant. Red now makes every kill since the last green unknown: a filled
    /// disk, a lost port or an expired fixture kills mutants as well as a test does.
    pub(crate) async fn close(&mut self, sandbox: &dyn Sandbox) -> Step<()> {
        let killed = self.ledger.values().any(|keyed| keyed.mutant.status == Status::Killed);
        let green = self.baseline.as_ref().is_some_and(|baseline| baseline.state == BaselineState::Green);
        let steps = self.tests(Role::Work).filter(|_| killed && green && self.machine.stop_cause().is_none());
        let Some(steps) = steps else { return Ok(()) };
        let started = Instant::now();
        let plan = Plan { steps, gather: Vec::new(), fit: ScopeFit::Project };
        let fork = self.machine.fork(sandbox, "close").await.map_err(|error| broken(&error))?;
        let cores = self.machine.cores(self.ask(1)).await;
        let mut at = self.at(Stage::Prepare, fork.as_ref(), cores.count());
        at.stage = StageName::Close;
        at.baseline_runs = 1;
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        drop(cores);
        self.spent(StageName::Close, started.elapsed());
        let whole = ran.steps.len() == plan.steps.len();
        let bad = ran.steps.iter().find(|step| step.end != End::Exit(0));
        if ran.steps.iter().any(|step| step.end == End::Stopped) {
            return Ok(());
        }
        let still = whole && bad.is_none();
        if let Some(baseline) = &mut self.baseline {
            baseline.still_green = Some(still);
        }
        if let Some(step) = bad {
            let words = tail(&format!("{}\n{}", step.stdout.text(), step.stderr.text()), 12);
            for keyed in self.ledger.values_mut().filter(|keyed| keyed.mutant.status == Status::Killed) {
                keyed.mutant.status = Status::Errored;
                keyed.mutant.detail =
                    Some("killed, but the suite fails without a mutant as well by now".to_owned());
            }
            self.falls_short(RunState::RedBaseline {
                quote: quote(words, format!("closing baseline, {}", step.name)),
                cause: Cause::Machine,
            });
        }
        Ok(())
    }
}
