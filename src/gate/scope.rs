//! What the scope says: changed source files that nobody looked at, and changes with nothing to mutate.
//!
//! In: [`Judgement`]. Out: findings. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Cause, GateMode, OutsideReason, ProjectId, ReasonKind, RepoPath, Scope, ScopeFile};

use super::judge::{Finding, Judgement};
use super::words::{count, some};

/// Everything that the scope says.
pub(super) fn findings(input: &Judgement<'_>) -> Vec<Finding> {
    let run: BTreeSet<&ProjectId> = input.runs.iter().map(|run| &run.project).collect();
    let mut groups: BTreeMap<(GateMode, Gap), Vec<&RepoPath>> = BTreeMap::new();
    for file in &input.scope.files {
        if let Some(gap) = gap(file, &run) {
            let mode = input.policy.at(Some(&file.path)).mode;
            groups.entry((mode, gap)).or_default().push(&file.path);
        }
    }
    let gaps = groups.iter().map(|((_, gap), files)| unseen(input, *gap, files));
    gaps.chain(left_out(input.scope)).chain(nothing(input.scope)).collect()
}

/// The files of `project` with changed lines.
pub(super) fn changed_files<'a>(scope: &'a Scope, project: &ProjectId) -> Vec<&'a RepoPath> {
    scope
        .files
        .iter()
        .filter(|file| in_scope(file) && file.projects.contains(project))
        .map(|file| &file.path)
        .collect()
}

fn in_scope(file: &ScopeFile) -> bool {
    file.outside.is_none() && !file.lines.is_empty()
}

/// Why nobody looked at a changed source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Unclaimed,
    NoJob,
    Name,
}

fn gap(file: &ScopeFile, run: &BTreeSet<&ProjectId>) -> Option<Gap> {
    match file.outside {
        Some(OutsideReason::Unclaimed) => Some(Gap::Unclaimed),
        Some(OutsideReason::NameNotUtf8) => Some(Gap::Name),
        None if in_scope(file) && !file.projects.iter().any(|project| run.contains(project)) => {
            Some(Gap::NoJob)
        }
        None
        | Some(
            OutsideReason::Deleted
            | OutsideReason::Binary
            | OutsideReason::Submodule
            | OutsideReason::Symlink
            | OutsideReason::ModeOnly
            | OutsideReason::RenameOnly
            | OutsideReason::SameTokens
            | OutsideReason::Empty
            | OutsideReason::LfsPointer
            | OutsideReason::NotSource
            | OutsideReason::Test
            | OutsideReason::NotChosen,
        ) => None,
    }
}

fn unseen(input: &Judgement<'_>, gap: Gap, files: &[&RepoPath]) -> Finding {
    let names = some(files);
    let message = match gap {
        Gap::Unclaimed => format!(
            "no project claims {names}; where that is meant, a [[gate.rule]] with mode = \"off\" for the path says so"
        ),
        Gap::NoJob => format!("no job looked at {names}"),
        Gap::Name => format!("{names}: a name that is not UTF-8 cannot be given to a tool"),
    };
    let effective = input.policy.over(files.iter().copied());
    Finding::unknown(&effective, Cause::Machine, ReasonKind::Unseen, message)
}

/// The user's own choice of projects is named beside the verdict.
fn left_out(scope: &Scope) -> Option<Finding> {
    let out = |file: &&ScopeFile| file.outside == Some(OutsideReason::NotChosen);
    let files: Vec<&RepoPath> = scope.files.iter().filter(out).map(|file| &file.path).collect();
    (!files.is_empty()).then(|| {
        let message = format!("left out by --project or --tool: {}", some(files));
        Finding::notice(ReasonKind::Unseen, message)
    })
}

/// A change without a line that can be mutated passes and is never mistaken for one whose mutants all died.
fn nothing(scope: &Scope) -> Option<Finding> {
    if scope.files.iter().any(|file| in_scope(file) || gap(file, &BTreeSet::new()).is_some()) {
        return None;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &scope.files {
        *kinds.entry(file.outside.map_or("without changed lines", kind)).or_default() += 1;
    }
    let message = match kinds.len() {
        0 => "the diff is empty: nothing to mutate".to_owned(),
        1 if kinds.contains_key(kind(OutsideReason::Test)) => {
            "only tests changed: nothing to mutate, so nothing is proved about them".to_owned()
        }
        _ => {
            let parts =
                kinds.iter().map(|(kind, number)| format!("{} {kind}", count(*number, "file", "files")));
            format!("nothing to mutate: {}", parts.collect::<Vec<_>>().join(", "))
        }
    };
    Some(Finding::notice(ReasonKind::NothingToMutate, message))
}

fn kind(reason: OutsideReason) -> &'static str {
    match reason {
        OutsideReason::Deleted => "deleted",
        OutsideReason::Binary => "not text",
        OutsideReason::Submodule => "in a submodule",
        OutsideReason::Symlink => "that are symbolic links",
        OutsideReason::ModeOnly => "with other mode bits only",
        OutsideReason::RenameOnly => "moved without an edit",
        OutsideReason::SameTokens => "with the same tokens as before",
        OutsideReason::Empty => "without a line",
        OutsideReason::NameNotUtf8 => "with a name that is not UTF-8",
        OutsideReason::LfsPointer => "kept in Git LFS",
        OutsideReason::NotSource => "of documentation, data or configuration",
        OutsideReason::Test => "of test code",
        OutsideReason::Unclaimed => "that no project claims",
        OutsideReason::NotChosen => "left out by --project or --tool",
    }
}
