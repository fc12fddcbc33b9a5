//! A suite that is red inside the walls: would it be green without one of them?
//!
//! In: a red Prepare. Out: the wall, by name. I/O: through the machine.
//!
//! One wall is lifted at a time, in a fork of the sandbox, for the suite without mutants alone. A suite that needs what was
//! taken away would kill every mutant. A suite that is green once more behind all walls needs nothing: it flips.

use polymut_adapters::{End, Plan, Role, ScopeFit, Stage};
use polymut_schemas::{BaselineState, Cause, Guarantee, Quote, RunState};

use super::state::JobState;
use super::{JobOptions, Step, broken, halt};
use crate::exec::Sandbox;

/// A wall that can be lifted.
struct Lifted {
    /// What the suite needs.
    need: &'static str,
    /// What the user writes to give it.
    remedy: &'static str,
    options: JobOptions,
}

impl JobState<'_> {
    /// Ends the job where a wall is what makes the suite red.
    pub(crate) async fn blame_walls(&mut self, sandbox: &dyn Sandbox, words: &Quote) -> Step<()> {
        if self.machine.stop_cause().is_some() {
            return Ok(());
        }
        for lifted in self.liftable() {
            if !self.is_green_with(sandbox, &lifted.options).await? {
                continue;
            }
            let unchanged = self.options;
            if self.is_green_with(sandbox, unchanged).await? {
                let text = format!(
                    "the suite without mutants gave different results: it failed, and passed when it was run again\n{}",
                    words.text
                );
                if let Some(baseline) = &mut self.baseline {
                    baseline.state = BaselineState::Flickers;
                }
                let quote = Quote { text, at: words.at.clone() };
                return halt(RunState::RedBaseline { quote, cause: Cause::Machine });
            }
            let path = &self.planned.project.dir;
            let text = format!(
                "the suite needs {}: it fails inside of the walls and passes with that; `{}` in the [[project]] of \
                 `{path}` gives it\n{}",
                lifted.need, lifted.remedy, words.text
            );
            let quote = Quote { text, at: words.at.clone() };
            return halt(RunState::RedBaseline { quote, cause: Cause::Machine });
        }
        Ok(())
    }

    /// The walls that are up around this job.
    fn liftable(&self) -> Vec<Lifted> {
        let up = |guarantee: Guarantee| {
            let reached = self.containment.as_ref().and_then(|reached| reached.guarantees.get(&guarantee));
            reached.is_some_and(|reached| reached.held)
        };
        let mut lifted = Vec::new();
        if up(Guarantee::Network) && !self.options.network {
            let options = JobOptions { network: true, ..self.options.clone() };
            lifted.push(Lifted {
                need: "the network",
                remedy: "network = \"host\"` with a `reason",
                options,
            });
        }
        // Without a ceiling of the user's, the machine itself was the ceiling.
        if up(Guarantee::Memory) && self.options.memory.is_some() {
            let options = JobOptions { memory: None, ..self.options.clone() };
            lifted.push(Lifted { need: "more memory", remedy: "memory = …", options });
        }
        lifted
    }

    async fn is_green_with(&mut self, sandbox: &dyn Sandbox, options: &JobOptions) -> Step<bool> {
        let Some(steps) = self.tests(Role::Work) else { return Ok(false) };
        let plan = Plan { steps, gather: Vec::new(), fit: ScopeFit::Project };
        let fork = self.machine.fork(sandbox, "walls").await.map_err(|error| broken(&error))?;
        let cores = self.machine.cores(self.ask(1)).await;
        let mut at = self.at(Stage::Prepare, fork.as_ref(), cores.count());
        (at.baseline_runs, at.options) = (1, options);
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        Ok(ran.steps.len() == plan.steps.len() && ran.steps.iter().all(|step| step.end == End::Exit(0)))
    }
}
