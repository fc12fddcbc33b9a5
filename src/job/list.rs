//! List: choose the mutants on changed lines.
//!
//! In: a prepared sandbox. Out: the units of the test stage. I/O: through the machine.

use polymut_adapters::{Finish, Promised, Stage, Units};
use polymut_schemas::{Cause, RunState, StageCount, StageName};

use super::state::JobState;
use super::{Dropped, Step, halt, quote};
use crate::exec::Sandbox;

impl JobState<'_> {
    /// Chooses the mutants on changed lines; `None`: there is provably nothing to mutate.
    pub(crate) async fn list(&mut self, sandbox: &dyn Sandbox) -> Step<Option<Units>> {
        let Some(parsed) = self.stage(Stage::List, sandbox).await? else { return Ok(Some(self.files())) };
        match &parsed.finish {
            Finish::Complete => {}
            Finish::RedBaseline(words) => {
                return halt(RunState::RedBaseline { quote: words.clone(), cause: Cause::Change });
            }
            Finish::Partial(words) | Finish::Nothing(words) | Finish::Broken(words) => {
                return halt(RunState::Broken { quote: words.clone(), cause: self.cause() });
            }
        }
        self.note_baseline(&parsed)?;
        let count = u64::try_from(parsed.mutants.len()).unwrap_or(u64::MAX);
        let promised = promise(&parsed.promised);
        let normalized = self.settle(parsed.mutants, &parsed.seen);
        let mut dropped = normalized.dropped;
        let (chosen, outside) = self.ledger.choose(normalized.mutants);
        if outside > 0 {
            dropped.insert("out of scope".to_owned(), outside);
        }
        self.count(StageName::List, promised, count, dropped);
        if promised.is_some_and(|promised| promised != count) {
            let text =
                format!("{} named {count} mutants and announced {}", self.tool_name(), promised.unwrap_or(0));
            self.falls_short(RunState::Partial { quote: quote(text, "list"), cause: Cause::Machine });
        }
        if !chosen.is_empty() {
            return Ok(Some(Units::Mutants(chosen)));
        }
        self.nothing_chosen()
    }

    /// Zero mutants are explained only when the tool provably saw every changed file.
    pub(crate) fn nothing_chosen(&mut self) -> Step<Option<Units>> {
        let blind = self.planned.changed.files.keys().find(|path| !self.seen.contains(*path));
        if let Some(path) = blind {
            let text = format!("{} names no mutant and was not seen to read `{path}`", self.tool_name());
            return halt(RunState::Nothing { quote: quote(text, "list"), cause: Cause::Machine });
        }
        self.nothing = true;
        Ok(None)
    }

    fn count(&mut self, stage: StageName, planned: Option<u64>, parsed: u64, dropped: Dropped) {
        let reported = parsed - dropped.values().sum::<u64>().min(parsed);
        self.stages.push(StageCount { stage, planned, parsed, reported, dropped, missing: 0 });
    }
}

/// What was promised, as a number.
fn promise(promised: &Promised) -> Option<u64> {
    match promised {
        Promised::Listed(total) | Promised::Announced(total) => Some(*total),
        Promised::Unknown(_) => None,
    }
}
