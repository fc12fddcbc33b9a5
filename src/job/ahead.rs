//! What a job still has ahead of it: the job with the most comes first.
//!
//! In: a job while it runs. Out: what it asks of the cores. I/O: none.

use std::time::Duration;

use polymut_schemas::StageName;

use super::state::JobState;
use crate::exec::Ask;

/// More mutants than a tool makes of a line of a file, one line with another.
const MUTANTS_OF_A_LINE: u64 = 3;
/// Longer than the build of one mutant takes.
const BUILD: Duration = Duration::from_mins(1);

impl JobState<'_> {
    /// Up to `most` cores, in the turn that the job's work ahead gives it.
    pub(crate) fn ask(&self, most: u32) -> Ask {
        Ask { most, quiet: false, ahead: self.ahead() }
    }

    /// After how long a tool as a whole is given up. Nobody knows how long a good run takes, so this is what the worst one
    /// could: every mutant is built anew and runs into its limit, one after the other. A tool that takes longer hangs.
    /// Before a suite is measured, and where nothing is mutated, the limit is that of any other command.
    pub(crate) fn wall(&self, stage: StageName) -> Duration {
        let usual = self.options.wall;
        let mutates = matches!(stage, StageName::Test | StageName::Confirm | StageName::Replay);
        let Some(limit) = self.limits.test().filter(|_| mutates) else { return usual };
        let listed =
            self.stages.iter().find(|count| count.stage == StageName::List).map(|count| count.parsed);
        // Some tools run whole files, whatever was chosen of them.
        let run = listed.unwrap_or_else(|| self.lines_of_files().saturating_mul(MUTANTS_OF_A_LINE));
        let run = u32::try_from(run).unwrap_or(u32::MAX);
        // A tool's own limit is up to twice ours where it knows only multiples of its own measure.
        let each = limit.saturating_mul(2).saturating_add(BUILD);
        let start = Duration::from_millis(self.planned.adapter.info().cost.start.into());
        each.saturating_mul(run).saturating_add(start.saturating_mul(10)).max(usual)
    }

    fn lines_of_files(&self) -> u64 {
        let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
        let all: usize = self.planned.changed.files.values().map(|file| lines(&file.bytes)).sum();
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    fn changed_lines(&self) -> u64 {
        self.planned.changed.files.values().map(|file| file.lines.count()).sum()
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
            0 => self.changed_lines(),
            chosen => u64::try_from(chosen).unwrap_or(u64::MAX),
        };
        seconds(cost.start) + each * f64::from(u32::try_from(mutants).unwrap_or(u32::MAX))
    }
}
