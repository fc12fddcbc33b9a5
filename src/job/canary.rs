//! The broken-file control: is the file that was mutated the one that the tests load?
//!
//! In: a job with kills. Out: trust in them, or a broken job. I/O: through the machine.
//!
//! A suite that stays green while the file with the most kills is no program at all tests something else: a build
//! output, an installed copy, another checkout. Its kills had other reasons.

use std::collections::BTreeMap;
use std::time::Instant;

use polymut_adapters::{End, Plan, Role, ScopeFit, Stage};
use polymut_schemas::{BaselineState, Cause, RepoPath, RunState, StageName, Status};

use super::state::JobState;
use super::{Step, broken, quote};
use crate::exec::Sandbox;

/// Bytes that are a program in no language that polymut knows.
const NO_PROGRAM: &[u8] =
    b"\"'`( [ { <% polymut: this file is broken on purpose %> ) ]\n\\u{0}\n=== ;;; }}\n";

impl JobState<'_> {
    /// Breaks the file with the most kills and wants the suite to notice.
    pub(crate) async fn canary(&mut self, sandbox: &dyn Sandbox) -> Step<()> {
        let green = self.baseline.as_ref().is_some_and(|baseline| baseline.state == BaselineState::Green);
        let file = self
            .most_killed()
            .filter(|_| green && self.options.confirm > 0 && self.machine.stop_cause().is_none());
        let (Some(file), Some(steps)) = (file, self.tests(Role::Work)) else { return Ok(()) };
        let started = Instant::now();
        let fork = self.machine.fork(sandbox, "canary").await.map_err(|error| broken(&error))?;
        self.machine.write(fork.as_ref(), &file, NO_PROGRAM).map_err(|error| broken(&error))?;
        let plan = Plan { steps, gather: Vec::new(), fit: ScopeFit::Project };
        let cores = self.machine.cores(self.ask(1)).await;
        let mut at = self.at(Stage::Prepare, fork.as_ref(), cores.count());
        (at.stage, at.baseline_runs) = (StageName::Close, 1);
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        drop(cores);
        self.spent(StageName::Close, started.elapsed());
        let noticed = ran.steps.iter().any(|step| step.end != End::Exit(0));
        if noticed || ran.steps.len() < plan.steps.len() {
            return Ok(());
        }
        let words =
            format!("the suite stays green with `{file}` broken: it does not load the file that was mutated");
        for keyed in self.ledger.values_mut().filter(|keyed| keyed.mutant.status == Status::Killed) {
            keyed.mutant.status = Status::Errored;
            keyed.mutant.detail = Some(words.clone());
        }
        self.falls_short(RunState::Broken {
            quote: quote(words, "broken-file control"),
            cause: Cause::Machine,
        });
        Ok(())
    }

    fn most_killed(&self) -> Option<RepoPath> {
        let mut kills: BTreeMap<&RepoPath, u32> = BTreeMap::new();
        for keyed in self.ledger.values().filter(|keyed| keyed.mutant.status == Status::Killed) {
            if let Some(file) = &keyed.mutant.file {
                *kills.entry(file).or_default() += 1;
            }
        }
        kills.into_iter().max_by_key(|(_, count)| *count).map(|(file, _)| file.clone())
    }
}
