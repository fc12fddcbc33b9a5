//! Files that somebody edited while a run read them.
//!
//! In: what moved. Out: a job that cannot be believed. I/O: through the machine.
//!
//! A sealed sandbox shows the user's own files below its own: an edit in the middle of a run means that some mutants were
//! tested on other code than the report shows. A copy is safe once it is made. Nor is it taken over by a run that goes on
//! later: the edit may be undone by then, and nothing would tell.

use polymut_schemas::{Cause, ContainmentReached, IsolationLevel, RepoPath, RunState};

use super::machine::Watch;
use super::quote;
use super::state::JobState;

/// How many files are named.
const NAMED: usize = 5;

impl Watch for JobState<'_> {
    fn is_edited(&self) -> bool {
        !self.moved.is_empty() || (self.shows_the_tree() && !self.concerning().is_empty())
    }
}

impl JobState<'_> {
    /// To be asked when the first sandbox is there: what moved until now may be half-copied.
    pub(crate) fn watch_copying(&mut self) {
        if !self.shows_the_tree() {
            self.moved = self.concerning();
        }
    }

    /// To be asked at the end: what moved makes the answers those of nobody's code.
    pub(crate) fn distrust_edited(&mut self) {
        if self.shows_the_tree() {
            self.moved = self.concerning();
        }
        if self.moved.is_empty() {
            return;
        }
        let mut names: Vec<String> = self.moved.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
        if self.moved.len() > NAMED {
            names.push(format!("{} more", self.moved.len() - NAMED));
        }
        let (names, verb) = (names.join(", "), if self.moved.len() == 1 { "was" } else { "were" });
        let text = format!(
            "{names} {verb} edited while the run read the files; run it again, or with `--committed`"
        );
        // Whatever else fell short, this comes first: nothing else can be relied on.
        self.shortfall = Some(RunState::Partial { quote: quote(text, "polymut"), cause: Cause::Machine });
    }

    fn shows_the_tree(&self) -> bool {
        let level = self.containment.as_ref().map(|reached: &ContainmentReached| reached.level);
        level == Some(IsolationLevel::Sealed)
    }

    /// What moved in the project's own folders, or is source or a manifest and belongs to no job.
    fn concerning(&self) -> Vec<RepoPath> {
        let project = &self.planned.project;
        let own =
            |path: &RepoPath| project.dir.contains(path) || project.owns.iter().any(|dir| dir.contains(path));
        let read = |path: &RepoPath| {
            let ending = path.file_name().rsplit_once('.').map(|(_, ending)| ending);
            let source =
                ending.is_some_and(|ending| self.planned.adapter.info().extensions.contains(&ending));
            source || self.view.tree.bytes(path).is_some()
        };
        let others = |path: &RepoPath| self.view.claimed.iter().any(|dir| dir.contains(path));
        let moved = self.machine.moved().into_iter();
        moved.filter(|path| own(path) || (!others(path) && read(path))).collect()
    }
}
