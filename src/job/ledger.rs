//! The chosen mutants and their answers: proves `chosen == reported + not_run`.
//!
//! In: listed and reported mutants. Out: united mutants. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_adapters::{Doubt, Key, Suspect};
use polymut_schemas::{Mutant, Status};

use super::Dropped;
use crate::normalize::{Keyed, sort};

/// Every chosen mutant by the adapter's key.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<Key, Keyed>,
    listed: bool,
}

impl Ledger {
    /// Takes the in-scope mutants of the list stage; returns the keys to test and how many are out of scope. What the
    /// list already judges (left out by the user's own configuration) is kept and not tested.
    pub(crate) fn choose(&mut self, listed: Vec<Keyed>) -> (Vec<Key>, u64) {
        self.listed = true;
        let (mut units, mut outside) = (Vec::new(), 0);
        for keyed in listed {
            if !keyed.mutant.in_scope {
                outside += 1;
                continue;
            }
            if !keyed.judged {
                units.push(keyed.key.clone());
            }
            self.entries.insert(keyed.key.clone(), keyed);
        }
        (units, outside)
    }

    /// Takes the answers of the test stage. With a list, only chosen keys count, and they keep the id that the list
    /// gave them; without one, whatever is in scope was chosen by its file. `counted` holds the keys that other sandboxes
    /// of the stage have answered.
    pub(crate) fn answer(
        &mut self,
        reported: Vec<Keyed>,
        counted: &mut BTreeSet<Key>,
        dropped: &mut Dropped,
    ) {
        for keyed in reported {
            let reason = match (self.listed, self.entries.contains_key(&keyed.key), keyed.mutant.in_scope) {
                (true, false, _) => Some("not chosen"),
                (false, _, false) => Some("out of scope"),
                (true, true, _) | (false, _, true) => None,
            };
            if let Some(reason) = reason {
                *dropped.entry(reason.to_owned()).or_default() += 1;
                continue;
            }
            if !keyed.judged {
                *dropped.entry("listed again, without an answer".to_owned()).or_default() += 1;
                continue;
            }
            if !counted.insert(keyed.key.clone()) {
                *dropped.entry("the same mutant again".to_owned()).or_default() += 1;
            }
            self.put(keyed);
        }
    }

    /// Replaces an answer; the id, place and diff that the list gave stay.
    fn put(&mut self, mut keyed: Keyed) {
        if let Some(known) = self.entries.get(&keyed.key) {
            keyed.mutant.id = known.mutant.id.clone();
            keyed.mutant.in_scope = known.mutant.in_scope;
            keyed.mutant.span = keyed.mutant.span.or(known.mutant.span);
            keyed.mutant.diff = known.mutant.diff.clone().or(keyed.mutant.diff);
            keyed.mutant.original = known.mutant.original.clone().or(keyed.mutant.original);
            keyed.mutant.replacement = known.mutant.replacement.clone().or(keyed.mutant.replacement);
            keyed.mutant.function = known.mutant.function.clone().or(keyed.mutant.function);
            if known.judged && harm(known.mutant.status) > harm(keyed.mutant.status) {
                return;
            }
        }
        self.entries.insert(keyed.key.clone(), keyed);
    }

    /// Mutants in scope whose answer is doubted.
    pub(crate) fn suspects(&self) -> Vec<Suspect> {
        let doubted = self.entries.values().filter(|keyed| keyed.mutant.in_scope);
        doubted.filter_map(|keyed| Some(Suspect { key: keyed.key.clone(), why: keyed.doubt? })).collect()
    }

    /// Every entry, for the stages that settle answers.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Keyed> {
        self.entries.values_mut()
    }

    /// Every entry.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Keyed> {
        self.entries.values()
    }

    /// The entry called `key`.
    pub(crate) fn get_mut(&mut self, key: &Key) -> Option<&mut Keyed> {
        self.entries.get_mut(key)
    }

    /// How many chosen mutants have no answer.
    pub(crate) fn unanswered(&self) -> u64 {
        let missing = self.entries.values().filter(|keyed| keyed.mutant.status == Status::NotRun).count();
        u64::try_from(missing).unwrap_or(u64::MAX)
    }

    /// How many were chosen.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The mutants in the document's order. Doubts that nothing settled are settled here, against the tool.
    pub(crate) fn into_mutants(self) -> Vec<Mutant> {
        let mut mutants: Vec<Mutant> = self.entries.into_values().map(unsettled).collect();
        sort(&mut mutants);
        mutants
    }
}

/// How bad an answer is, when two sandboxes or rounds report the same key.
fn harm(status: Status) -> u8 {
    match status {
        Status::NotRun => 0,
        Status::Ignored | Status::Unviable => 1,
        Status::Killed | Status::Timeout | Status::OutOfMemory => 2,
        Status::Errored | Status::Flaky => 3,
        Status::Survived | Status::NoCoverage => 4,
    }
}

/// What a doubt makes of an answer when no replay settled it.
fn unsettled(keyed: Keyed) -> Mutant {
    let mut mutant = keyed.mutant;
    let Some(doubt) = keyed.doubt else { return mutant };
    let (status, words) = match doubt {
        Doubt::NoTestRun => (Status::Errored, "reported as survived, but no test was run; not confirmed"),
        Doubt::LoadedBefore => (
            Status::Errored,
            "reported as survived, but the code was loaded before the mutant was switched on; not confirmed",
        ),
        Doubt::MaybeBuildError => {
            (Status::Errored, "reported as killed, which a build error looks like as well; not confirmed")
        }
        Doubt::MaybeEnvironment => {
            (Status::Errored, "reported as killed, by the environment as likely as by a test; not confirmed")
        }
        Doubt::Died => (Status::Errored, "the process died without saying why; not confirmed"),
        // Load can make a timeout, and a flipping verdict can be right: the answer stands, the doubt is shown.
        Doubt::Load => (mutant.status, "timed out once; not tried again alone"),
        Doubt::Flips => (mutant.status, "this runner's verdicts are known to flip; not tried again"),
    };
    mutant.status = status;
    mutant.detail =
        Some(mutant.detail.map_or_else(|| words.to_owned(), |detail| format!("{words}\n{detail}")));
    mutant
}
