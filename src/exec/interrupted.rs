//! Runs that were interrupted: their folders, and how one of them goes on.
//!
//! In: the state folder. Out: [`Interrupted`]. I/O: file system below the state folder, signals.

use std::time::SystemTime;

use super::workdir::{JOURNAL, lock_blocking, try_lock};
use super::{ExecError, RunDir, State};
use crate::paths::AbsPath;

/// The folder of a run that has a journal and does not live any more. Nothing in it has been touched.
#[derive(Debug)]
pub struct Interrupted {
    folder: AbsPath,
    last: AbsPath,
    lock: std::fs::File,
    number: u32,
    written: SystemTime,
}

impl State {
    /// Runs that have a journal and do not live any more, the newest first; and how many live.
    pub fn interrupted(&self) -> Result<(Vec<Interrupted>, usize), ExecError> {
        let runs = self.repository().join("runs");
        let _one_at_a_time = lock_blocking(&runs.join("lock"))?;
        let (mut found, mut live) = (Vec::new(), 0);
        for number in self.numbers()? {
            let folder = runs.join(number.to_string());
            let Some(lock) = try_lock(&folder.join("lock"))? else {
                live += 1;
                continue;
            };
            let journal = folder.join(JOURNAL);
            let entries = journal.as_path().read_dir_utf8().into_iter().flatten().flatten();
            let times = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok());
            if let Some(written) = times.max() {
                found.push(Interrupted { folder, last: self.last(), lock, number, written });
            }
        }
        found.sort_by_key(|run| std::cmp::Reverse((run.written, run.number)));
        Ok((found, live))
    }
}

impl Interrupted {
    /// Where its journal is.
    pub fn journal(&self) -> AbsPath {
        self.folder.join(JOURNAL)
    }

    /// Makes it the folder of a run that goes on. What it had left running is killed; its files stay until
    /// [`RunDir::restart`].
    pub fn adopt(self) -> RunDir {
        let Self { folder, last, lock, number, written: _ } = self;
        let run = RunDir { folder, last, lock: Some(lock), number };
        run.end_processes();
        run
    }
}
