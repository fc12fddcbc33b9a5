//! How the units of a test stage are shared out over sandboxes and cores.
//!
//! In: a prepared sandbox, units. Out: what each share left. I/O: through the machine.
//!
//! A tool that uses several cores by itself gets all units at once. Units of any other are dealt into more shares than
//! there are cores, each with a sandbox of its own; a core that is free takes the next. So a mutant that hangs keeps one
//! core busy, and no other share waits for it.

use futures::StreamExt as _;
use polymut_adapters::{Finish, Key, Parsed, Round, Spread, Stage, Units};
use polymut_schemas::{IsolationLevel, RepoDir, StageName};

use super::machine::{MachineError, RunAt};
use super::prepare::ROUNDS;
use super::state::JobState;
use super::test::{Piece, merge};
use super::{Step, broken, quote};
use crate::exec::{Sandbox, Share};

/// How many shares there are for each core, where a sandbox costs nothing.
const SHARES_OF_A_CORE: usize = 4;

impl JobState<'_> {
    /// Runs units in sandboxes that are numbered from `first` on.
    pub(super) async fn fresh_pieces(
        &mut self,
        sandbox: &dyn Sandbox,
        units: &Units,
        first: u32,
    ) -> Step<Vec<Piece>> {
        // Here, not in the forks: what this has to run takes cores of its own.
        self.machine.settle(sandbox).await.map_err(|error| broken(&error))?;
        let (shares, most) = match self.planned.adapter.info().spread {
            Spread::Own => (vec![units.clone()], u32::MAX),
            Spread::Sandboxes => {
                let shares = deal(units, self.hands(units));
                let spare = usize::try_from(self.machine.all_cores()).unwrap_or(1) / shares.len().max(1);
                (shares, u32::try_from(spare.max(1)).unwrap_or(1))
            }
        };
        for share in &shares {
            if let Ok(Some(plan)) = self.planned.adapter.plan(&self.job(), Stage::Test(share)) {
                self.record(Stage::Test(share), &plan);
            }
        }
        let state = &*self;
        let runs = shares.iter().enumerate().map(|(number, share)| async move {
            let piece = state.share(sandbox, share, first + u32::try_from(number).unwrap_or(0), most).await;
            (number, piece)
        });
        // Each waits for its own core.
        let mut pieces: Vec<(usize, Step<Piece>)> =
            futures::stream::iter(runs).buffer_unordered(shares.len().max(1)).collect().await;
        pieces.sort_by_key(|(number, _)| *number);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }

    /// Into how many shares the units are dealt: none is over before the tool has started, and each needs a sandbox.
    fn hands(&self, units: &Units) -> usize {
        let count = match units {
            Units::Mutants(keys) => keys.len(),
            Units::Files(files) => files.len(),
        };
        let cores = usize::try_from(self.machine.all_cores()).unwrap_or(1).max(1);
        let starts = count / self.units_of_a_start();
        let level = self.containment.as_ref().map(|reached| reached.level);
        if cores == 1 || level != Some(IsolationLevel::Sealed) {
            // Below that level a sandbox is a copy of all that was built, and has to be worth it.
            return starts.clamp(1, cores);
        }
        starts.clamp(cores, cores * SHARES_OF_A_CORE)
    }

    /// How many mutants take as long as a start of the tool, by and large. Nothing measured goes in: what a share holds
    /// decides what its compiler has seen before and how it words an error, and a second run says the same.
    fn units_of_a_start(&self) -> usize {
        let cost = self.planned.adapter.info().cost;
        usize::try_from(cost.start.div_ceil(cost.mutant.max(1))).unwrap_or(usize::MAX).max(1)
    }

    /// One share, once there is a core for it.
    async fn share(&self, sandbox: &dyn Sandbox, share: &Units, number: u32, most: u32) -> Step<Piece> {
        let cores = self.machine.cores(self.ask(most)).await;
        match self.machine.fork(sandbox, "test").await {
            Ok(fork) => self.piece(fork.as_ref(), share, number, cores.count()).await,
            Err(error) => self.not_begun(&error),
        }
    }

    /// The rounds of one sandbox.
    async fn piece(&self, fork: &dyn Sandbox, units: &Units, number: u32, cores: u32) -> Step<Piece> {
        let stage = Stage::Test(units);
        let mut past = self.past.clone();
        let before = past.len();
        let mut all: Option<Parsed> = None;
        for round in 0..ROUNDS {
            let planned = self
                .planned
                .adapter
                .plan(&self.job_with(&past), stage)
                .map_err(|error| self.unplanned(&error))?;
            let Some(plan) = planned else { break };
            let share = Share { number, round, units: units.clone() };
            let at = RunAt { round, number, share: Some(&share), ..self.at(stage, fork, cores) };
            let ran = match self.machine.run(&plan, at).await {
                Ok(ran) => ran,
                Err(error) if all.is_none() => return self.not_begun(&error),
                Err(error) => return Err(Box::new(broken(&error))),
            };
            let parsed = self.read(&past, stage, &ran)?;
            past.push((Round { stage: StageName::Test, round, sandbox: number }, ran));
            let more = parsed.more;
            all = Some(merge(all, parsed));
            if !more {
                break;
            }
        }
        let rounds = past.split_off(before);
        let root = fork.seen(&RepoDir::root()).as_str().to_owned();
        Ok(Piece { parsed: all.unwrap_or_default(), rounds, root, resumed: false })
    }

    /// A share that the end of the run overtook is no answer; those of the others stay.
    fn not_begun(&self, error: &MachineError) -> Step<Piece> {
        if !matches!(error, MachineError::Stopped { .. }) {
            return Err(Box::new(broken(error)));
        }
        let finish = Finish::Partial(quote(error.to_string(), self.tool_name()));
        Ok(Piece { parsed: Parsed { finish, ..Parsed::default() }, ..Piece::default() })
    }
}

/// Units in `hands` parts as they come: neighbours stay together, for what one of them made the compiler build anew serves
/// the next.
fn deal(units: &Units, hands: usize) -> Vec<Units> {
    fn dealt<T: Clone>(items: &[T], hands: usize) -> Vec<Vec<T>> {
        let hands = hands.clamp(1, items.len().max(1));
        let mut rest = items;
        let share = |hand: usize| {
            // Sizes differ by one at the most.
            let (share, more) = rest.split_at(rest.len().div_ceil(hands - hand));
            rest = more;
            share.to_vec()
        };
        (0..hands).map(share).collect()
    }
    match units {
        Units::Mutants(keys) => dealt::<Key>(keys, hands).into_iter().map(Units::Mutants).collect(),
        Units::Files(files) => dealt(files, hands).into_iter().map(Units::Files).collect(),
    }
}
