//! What a job still has ahead of it: the job with the most comes first.
//!
//! In: a job while it runs. Out: what it asks of the cores. I/O: none.

use polymut_schemas::StageName;

use super::state::JobState;
use crate::exec::Ask;

impl JobState<'_> {
    /// Up to `most` cores, in the turn that the job's work ahead gives it.
    pub(crate) fn ask(&self, most: u32) -> Ask {
        Ask { most, quiet: false, ahead: self.ahead() }
    }

    /// Seconds on one core, by what is measured so far: each mutant costs the suite and what the tool adds. Before a list
    /// there is about one mutant on a changed line.
    fn ahead(&self) -> f64 {
        let cost = self.planned.adapter.info().cost;
        let seconds = |milliseconds: u32| f64::from(milliseconds) / 1000.0;
        let suite = self.limits.baseline.map_or(1.0, |baseline| baseline.wall.as_secs_f64());
        let each = suite + seconds(cost.mutant);
        if self.stages.iter().any(|count| count.stage == StageName::Test) {
            let again = u32::try_from(self.ledger.suspects().len()).unwrap_or(u32::MAX);
            return each * f64::from(again) + suite;
        }
        let mutants = match self.ledger.len() {
            0 => self.planned.changed.files.values().map(|file| file.lines.count()).sum(),
            chosen => u64::try_from(chosen).unwrap_or(u64::MAX),
        };
        seconds(cost.start) + each * f64::from(u32::try_from(mutants).unwrap_or(u32::MAX))
    }
}
