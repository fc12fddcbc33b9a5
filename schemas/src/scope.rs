//! The changed lines per file, where they came from, and what is not mutated and why.
//!
//! In: numbers and paths. Out: [`Scope`], [`LineSet`]. I/O: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProjectId, RepoPath};

/// An inclusive range of 1-based lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct LineRange {
    /// First line.
    pub first: u32,
    /// Last line, included.
    pub last: u32,
}

/// A set of lines as sorted, disjoint, non-adjacent ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LineSet(Vec<LineRange>);

impl LineSet {
    /// Joins ranges in any order; overlapping and adjacent ones melt together, reversed ones are dropped.
    pub fn from_ranges(ranges: impl IntoIterator<Item = LineRange>) -> Self {
        let mut sorted: Vec<LineRange> =
            ranges.into_iter().filter(|range| range.first <= range.last).collect();
        sorted.sort_unstable();
        let mut joined: Vec<LineRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match joined.last_mut() {
                Some(last) if range.first <= last.last.saturating_add(1) => {
                    last.last = last.last.max(range.last);
                }
                _ => joined.push(range),
            }
        }
        Self(joined)
    }

    /// The lines of `lines`, in any order, each at most once.
    pub fn from_lines(lines: impl IntoIterator<Item = u32>) -> Self {
        Self::from_ranges(lines.into_iter().map(|line| LineRange { first: line, last: line }))
    }

    /// Sorted ranges.
    pub fn ranges(&self) -> &[LineRange] {
        &self.0
    }

    /// Each line in order.
    pub fn lines(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|range| range.first..=range.last)
    }

    /// How many lines.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| u64::from(range.last - range.first) + 1).sum()
    }

    /// Whether no line is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `line` is in the set.
    pub fn contains(&self, line: u32) -> bool {
        self.touches(LineRange { first: line, last: line })
    }

    /// Whether any line of `range` is in the set.
    pub fn touches(&self, range: LineRange) -> bool {
        let after = self.0.partition_point(|own| own.last < range.first);
        self.0.get(after).is_some_and(|own| own.first <= range.last)
    }

    /// The lines that are in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.0.iter().chain(&other.0).copied())
    }

    /// The lines of this set that `other` lacks.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self::from_lines(self.lines().filter(|line| !other.contains(*line)))
    }
}

impl<'de> Deserialize<'de> for LineSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<LineRange>::deserialize(deserializer).map(Self::from_ranges)
    }
}

/// What was asked: the diff against a base, the lines of a diff file, or everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeSource {
    /// Merge base of base and HEAD against the new side.
    Git,
    /// A unified diff that somebody else made.
    DiffFile,
    /// Every line of every file.
    All,
}

/// Which state of the files is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewSide {
    /// Files on disk, with uncommitted and untracked, not ignored ones.
    WorkingTree,
    /// What `git add` has staged.
    Index,
    /// The commit that is checked out.
    Head,
}

/// How far a changed line reaches (`--scope`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeWidth {
    /// Mutants whose span touches a changed line.
    #[default]
    Line,
    /// Mutants of the functions that hold a changed line.
    Function,
    /// Mutants of the files that hold a changed line.
    File,
    /// Every mutant of every project.
    All,
}

/// A commit and the name it was found under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// What was asked for, such as `origin/main`.
    pub name: String,
    /// Full commit hash.
    pub commit: String,
    /// Where the name came from: `--base`, `GITHUB_BASE_REF`, `origin/HEAD` …
    pub found_by: String,
}

/// What a diff did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// New on the new side (untracked files as well).
    Added,
    /// Changed in place.
    Modified,
    /// Moved, with or without an edit.
    Renamed,
    /// Gone on the new side.
    Deleted,
    /// Only mode bits or the type of the entry changed.
    ModeChanged,
    /// Not part of a diff: the whole tree was asked for.
    Whole,
}

/// Why a changed file, or all of its changed lines, cannot hold a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideReason {
    /// Not on the new side any more.
    Deleted,
    /// Not text.
    Binary,
    /// A submodule's commit moved.
    Submodule,
    /// A symbolic link; its target is listed by itself when it changed.
    Symlink,
    /// Only mode bits changed.
    ModeOnly,
    /// Moved without an edit.
    RenameOnly,
    /// Each changed line has the same tokens as before (re-indented, re-wrapped, comments).
    SameTokens,
    /// No line on the new side.
    Empty,
    /// A name that is not UTF-8; shown with replacement characters.
    NameNotUtf8,
    /// A Git LFS pointer stands where the content should be.
    LfsPointer,
    /// Not a source file of any language that a tool here knows (documentation, data, configuration).
    NotSource,
    /// Test code, which the tools do not mutate.
    Test,
    /// A source file that no project claims.
    Unclaimed,
    /// Its project or tool was left out on the command line.
    NotChosen,
}

/// One file of the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeFile {
    /// Path on the new side (old side when deleted).
    pub path: RepoPath,
    /// What the diff did to it.
    pub change: FileChange,
    /// Path before a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<RepoPath>,
    /// Changed lines of the new side that count: tokens differ, or they stand beside a deletion.
    pub lines: LineSet,
    /// Changed lines that left the scope because their tokens are the same.
    #[serde(default, skip_serializing_if = "LineSet::is_empty")]
    pub same_tokens: LineSet,
    /// Why nothing here can be mutated; absent for a file with lines in scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideReason>,
    /// The projects that claim the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<ProjectId>,
}

/// The changed lines of a diff (or everything), and where they came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// What was asked.
    pub source: ScopeSource,
    /// Which state of the files was tested.
    pub new_side: NewSide,
    /// How far a changed line reaches.
    pub width: ScopeWidth,
    /// The base that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Revision>,
    /// The commit that is checked out; absent in an unborn branch or with no repository at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Revision>,
    /// Merge base of base and HEAD: full commit hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_base: Option<String>,
    /// Changed files, sorted by path.
    pub files: Vec<ScopeFile>,
}

impl Scope {
    /// The entry of `path`, if the diff touches it.
    pub fn file(&self, path: &RepoPath) -> Option<&ScopeFile> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().and_then(|at| self.files.get(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_set_behaves_like_a_set(a in prop::collection::btree_set(1_u32..60, 0..30), b in prop::collection::btree_set(1_u32..60, 0..30)) {
            let (left, right) = (LineSet::from_lines(a.iter().copied()), LineSet::from_lines(b.iter().copied()));
            prop_assert_eq!(left.union(&right).lines().collect::<Vec<_>>(), a.union(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(left.minus(&right).lines().collect::<Vec<_>>(), a.difference(&b).copied().collect::<Vec<_>>());
            for line in 0..62 {
                prop_assert_eq!(left.contains(line), a.contains(&line));
            }
            prop_assert!(left.ranges().windows(2).all(|pair| pair[0].last + 1 < pair[1].first));
        }
    }
}
