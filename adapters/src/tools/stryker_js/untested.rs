//! "No tests were executed": which way the test stage takes when the runner finds no test for the chosen files.
//!
//! In: past rounds of the test stage. Out: [`Way`]. I/O: none.
//!
//! vitest and jest look for tests that *import* a mutated file. That misses dynamic imports and files read at run time, so
//! nothing is concluded from it: the whole suite is run once without mutants and with coverage. Code that it never reaches
//! has no coverage, proved; where it reaches some, the mutants are run without the shortcut.

use polymut_schemas::StageName;

use super::events::Events;
use super::{command, versions};
use crate::{Job, Ran};

/// The step of the test stage.
pub(super) const STEP: &str = "stryker";

const WORDS: &str = "No tests were executed.";

/// How Stryker is started in a round of the test stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// As the project's configuration says.
    Usual,
    /// The whole suite, without mutants, with coverage.
    Look,
    /// The whole suite decides about every mutant.
    Whole,
}

/// The way of the round that is planned or parsed now.
pub(super) fn way(job: &Job<'_>) -> Way {
    let mut way = Way::Usual;
    for ran in job.rounds(StageName::Test) {
        way = next(job, way, ran).unwrap_or(way);
    }
    way
}

/// The way after this one, when what it left does not settle the matter.
pub(super) fn next(job: &Job<'_>, way: Way, ran: &Ran) -> Option<Way> {
    match way {
        Way::Usual if !found_none(ran) || !has_shortcut(job) => None,
        // Without a list there is nobody to give the answer to; without reliable coverage there is no answer.
        Way::Usual if job.rounds(StageName::List).next().is_none() || versions::misfit(job.facts) => {
            Some(Way::Whole)
        }
        Way::Usual => Some(Way::Look),
        Way::Look => Events::of(ran).ok()?.dry.filter(|dry| dry.covered).map(|_| Way::Whole),
        Way::Whole => None,
    }
}

/// Whether Stryker ended because no test ran.
pub(super) fn found_none(ran: &Ran) -> bool {
    ran.step(STEP).is_some_and(|step| step.stdout.text().contains(WORDS))
}

fn has_shortcut(job: &Job<'_>) -> bool {
    ["vitest", "jest"].contains(&command::runner(job))
}
