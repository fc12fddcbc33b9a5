//! How much memory a job's processes may take when nobody has said it.
//!
//! In: peaks of what ran. Out: ceilings in bytes. I/O: none.
//!
//! A mutant that allocates without bound must end before the machine does. What is normal is known once the suite has
//! run without mutants: twice that, and at least half a gibibyte more, is no longer the suite.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use polymut_schemas::{ProjectId, StageName};

/// What the tool's own processes may take beside the suites that it runs at once.
const TOOL: u64 = 1 << 30;
/// What a suite may always take on top of its peak.
const SPARE: u64 = 512 << 20;

/// Peaks of each project in bytes.
#[derive(Debug, Default)]
pub(super) struct Peaks(Mutex<BTreeMap<ProjectId, Peak>>);

#[derive(Debug, Clone, Copy, Default)]
struct Peak {
    /// Of the stages without mutants.
    clean: u64,
    all: u64,
}

impl Peaks {
    /// A stage has taken this much.
    pub(super) fn note(&self, project: &ProjectId, stage: StageName, bytes: Option<u64>) {
        let Some(bytes) = bytes else { return };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let peak = known.entry(project.clone()).or_default();
        peak.all = peak.all.max(bytes);
        if matches!(stage, StageName::Prepare | StageName::List) {
            peak.clean = peak.clean.max(bytes);
        }
    }

    /// The highest of a project.
    pub(super) fn of(&self, project: &ProjectId) -> Option<u64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(project).map(|peak| peak.all)
    }

    /// The ceiling of a stage that runs suites on so many cores: never more than the machine has, and that alone as long as
    /// nothing is measured.
    pub(super) fn ceiling(&self, project: &ProjectId, cores: u32, machine: Option<u64>) -> Option<u64> {
        // What polymut and everybody else need stays free.
        let machine = machine.map(|bytes| bytes / 10 * 9);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let clean = known.get(project).map(|peak| peak.clean).filter(|clean| *clean > 0);
        let measured = clean.map(|clean| (clean * 2).max(clean + SPARE) * u64::from(cores.max(1)) + TOOL);
        match (measured, machine) {
            (Some(measured), Some(machine)) => Some(measured.min(machine)),
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_ceiling_follows_the_suite_and_stays_below_the_machine() {
        let (peaks, project) = (Peaks::default(), serde_json::from_str("\"tool:dir\"").unwrap());
        let ceiling = |cores: u32| peaks.ceiling(&project, cores, Some(10_000 * MIB));
        assert_eq!(ceiling(1), Some(9_000 * MIB), "nothing is measured yet");
        peaks.note(&project, StageName::Prepare, Some(100 * MIB));
        assert_eq!(ceiling(1), Some((100 + 512 + 1024) * MIB), "a small suite has its spare");
        peaks.note(&project, StageName::List, Some(2_000 * MIB));
        assert_eq!(ceiling(1), Some((4_000 + 1024) * MIB));
        assert_eq!(ceiling(2), Some(9_000 * MIB), "two at once would be more than there is");
        peaks.note(&project, StageName::Test, Some(5_000 * MIB));
        assert_eq!(ceiling(1), Some((4_000 + 1024) * MIB), "what mutants took is no measure");
        assert_eq!(peaks.of(&project), Some(5_000 * MIB));
    }
}
