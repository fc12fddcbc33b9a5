//! Confirm: doubtful answers are settled, one step each, by the tool's own narrowest means.
//!
//! In: doubted entries of the ledger. Out: settled answers. I/O: through the machine.

use polymut_adapters::{Doubt, Finish, Stage};
use polymut_schemas::{Confirmation, StageCount, StageName, Status};

use super::proof::survives;
use super::state::JobState;
use super::{Dropped, Step, broken};
use crate::exec::Sandbox;
use crate::normalize::Keyed;

impl JobState<'_> {
    /// Settles what the adapter doubts. What stays doubted is settled against the tool when the job ends.
    pub(crate) async fn confirm(&mut self, sandbox: &dyn Sandbox) -> Step<()> {
        let mut suspects = self.ledger.suspects();
        if self.options.confirm == 0 {
            // The tool's own answer stands there, and its detail says that it was not tried again.
            suspects.retain(|suspect| !matches!(suspect.why, Doubt::Load | Doubt::Flips));
        }
        if suspects.is_empty() || self.machine.stop_cause().is_some() {
            return Ok(());
        }
        // The tool is started anyway: survivors that only it can replay, all in one start, come along.
        let along = self.replayed_together()?;
        let doubted = suspects.len();
        suspects.extend(along);
        let fork = self.machine.fork(sandbox, "confirm").await.map_err(|error| broken(&error))?;
        let Some(parsed) = self.stage(Stage::Confirm(&suspects), fork.as_ref()).await? else { return Ok(()) };
        let count = u64::try_from(parsed.mutants.len()).unwrap_or(u64::MAX);
        if let Finish::Partial(words)
        | Finish::Nothing(words)
        | Finish::Broken(words)
        | Finish::RedBaseline(words) = &parsed.finish
        {
            self.notes.push(format!("not every doubt was settled: {} ({})", words.text, words.at));
        }
        let normalized = self.settle(parsed.mutants, &[]);
        let mut dropped: Dropped = normalized.dropped;
        let mut reported = 0;
        for answer in normalized.mutants {
            let known = suspects.iter().position(|suspect| suspect.key == answer.key);
            match (known.and_then(|at| Some((at, suspects.get(at)?))), answer.judged) {
                (Some((at, suspect)), true) => {
                    reported += 1;
                    // Only a replay that was made counts: who got none is asked once more before anyone is blamed.
                    self.replayed += usize::from(at >= doubted);
                    self.agree(answer, suspect.why);
                }
                (Some(_) | None, _) => *dropped.entry("not doubted".to_owned()).or_default() += 1,
            }
        }
        let planned = u64::try_from(suspects.len()).unwrap_or(u64::MAX);
        let missing = planned.saturating_sub(reported);
        self.stages.push(StageCount {
            stage: StageName::Confirm,
            planned: Some(planned),
            parsed: count,
            reported,
            dropped,
            missing,
        });
        Ok(())
    }

    fn agree(&mut self, answer: Keyed, why: Doubt) {
        let tool = self.tool_name();
        let Some(known) = self.ledger.get_mut(&answer.key) else { return };
        // A replayed survivor that no test reaches survives, too. To a doubt that is another answer: what no test reaches
        // is no survivor.
        let same = known.mutant.status == answer.mutant.status
            || (why == Doubt::Flips && survives(known.mutant.status) && survives(answer.mutant.status));
        let first = known.mutant.status;
        known.doubt = answer.doubt;
        known.mutant.confirmed =
            Some(Confirmation { replays: 1, agreed: u32::from(same), with: format!("{tool}, alone") });
        if answer.mutant.detail.is_some() {
            known.mutant.detail = answer.mutant.detail;
        }
        if !answer.mutant.killed_by.is_empty() {
            known.mutant.killed_by = answer.mutant.killed_by;
        }
        if same {
            return;
        }
        known.mutant.tool_status =
            format!("{}, then {}", known.mutant.tool_status, answer.mutant.tool_status);
        known.mutant.status = match why {
            Doubt::Flips => Status::Flaky,
            Doubt::NoTestRun
            | Doubt::LoadedBefore
            | Doubt::MaybeBuildError
            | Doubt::MaybeEnvironment
            | Doubt::Load
            | Doubt::Died => answer.mutant.status,
        };
        self.notes.push(format!(
            "{}: first {}, {} when run again alone",
            answer.mutant.id,
            first.word(),
            answer.mutant.status.word()
        ));
    }
}
