//! Looks after the memory of a process tree where the kernel is not asked to.
//!
//! In: a process id, a ceiling. Out: whether the tree is over it. I/O: `/proc`.
//!
//! A tree can be over its ceiling between two looks: this is weaker than a control group, and the report says so.

use std::collections::BTreeSet;

use fs_err as fs;
use nix::poll::PollTimeout;

use super::descendants::{below, resident};

/// Milliseconds between looks, with and without a ceiling.
const WITH_CEILING: u16 = 40;
const WITHOUT: u16 = 250;

/// Measures one tree.
#[derive(Debug)]
pub(super) struct Watchdog {
    ceiling: Option<u64>,
    peak: u64,
}

impl Watchdog {
    /// With this ceiling in bytes.
    pub(super) fn new(ceiling: Option<u64>) -> Self {
        Self { ceiling, peak: 0 }
    }

    /// Time until the next look.
    pub(super) fn pause(&self) -> PollTimeout {
        PollTimeout::from(if self.ceiling.is_some() { WITH_CEILING } else { WITHOUT })
    }

    /// The highest use that was seen.
    pub(super) fn peak(&self) -> u64 {
        self.peak
    }

    /// Looks at everything below `root`. The quick sum counts a page that two processes share twice, as after a fork;
    /// so before it says yes, each page is shared out among its holders.
    pub(super) fn is_over(&mut self, root: u32) -> bool {
        let Ok(root) = i32::try_from(root) else { return false };
        let pids = below(root);
        let quick = resident(&pids);
        let Some(ceiling) = self.ceiling.filter(|ceiling| quick > *ceiling) else {
            self.peak = self.peak.max(quick);
            return false;
        };
        let shared_out = proportional(&pids).unwrap_or(quick);
        self.peak = self.peak.max(shared_out);
        shared_out > ceiling
    }
}

/// The sum of the proportional parts; `None` when the kernel does not say for any of them.
fn proportional(pids: &BTreeSet<i32>) -> Option<u64> {
    let parts: Vec<u64> = pids
        .iter()
        .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok())
        .filter_map(|text| proportional_part(&text))
        .collect();
    (!parts.is_empty()).then(|| parts.iter().sum())
}

fn proportional_part(rollup: &str) -> Option<u64> {
    let field = |name: &str| {
        rollup
            .lines()
            .find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok())
    };
    Some((field("Pss_Anon:")? + field("Pss_Shmem:")?) * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_files_are_not_counted() {
        let text =
            "00400000-7ffd rollup\nPss:  500 kB\nPss_Anon:  100 kB\nPss_File: 390 kB\nPss_Shmem: 10 kB\n";
        assert_eq!(proportional_part(text), Some(110 * 1024));
        assert_eq!(proportional_part("Pss: 500 kB\n"), None);
    }

    #[test]
    fn a_tree_below_its_ceiling_is_not_over_it() {
        let parent = nix::unistd::getppid().as_raw().cast_unsigned();
        assert!(!Watchdog::new(Some(u64::MAX)).is_over(parent));
        let mut dog = Watchdog::new(Some(1));
        assert!(dog.is_over(parent) && dog.peak() > 1);
    }
}
