//! The verdict document itself.
//!
//! In: JSON or values. Out: [`Report`]. I/O: none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Mutant, ProjectId, Scope, Status, StatusGroup, ToolId, ToolRun, Verdict, WaiverUse};

/// The name and version of the schema that this crate writes.
pub const SCHEMA: &str = "polymut/1.1";

/// `polymut/1.<minor>`. Readers accept any minor of major 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SchemaVersion(String);

/// Why a document is not one that this version reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("schema `{0}` is not `polymut/1` or `polymut/1.<minor>`; this polymut reads major version 1")]
pub struct SchemaVersionError(String);

impl SchemaVersion {
    /// The version that this crate writes.
    pub fn current() -> Self {
        Self(SCHEMA.to_owned())
    }

    /// Accepts `polymut/1` and `polymut/1.<minor>`.
    pub fn parse(text: &str) -> Result<Self, SchemaVersionError> {
        let wrong = || SchemaVersionError(text.to_owned());
        let rest = text.strip_prefix("polymut/1").ok_or_else(wrong)?;
        let minor = rest.strip_prefix('.');
        let right =
            rest.is_empty() || minor.is_some_and(|m| !m.is_empty() && m.bytes().all(|b| b.is_ascii_digit()));
        if right { Ok(Self(text.to_owned())) } else { Err(wrong()) }
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// How many mutants have each status; statuses with none are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StatusCounts(pub BTreeMap<Status, u64>);

impl StatusCounts {
    /// Counts one more.
    pub fn add(&mut self, status: Status) {
        *self.0.entry(status).or_default() += 1;
    }

    /// How many have `status`.
    pub fn of(&self, status: Status) -> u64 {
        self.0.get(&status).copied().unwrap_or_default()
    }

    /// How many have a status of `group`.
    pub fn group(&self, group: StatusGroup) -> u64 {
        self.0.iter().filter(|(status, _)| status.group() == group).map(|(_, count)| count).sum()
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// detected / (detected + undetected), from 0 to 1; `None` when nothing was scored.
    #[expect(clippy::cast_precision_loss, reason = "counts of mutants stay far below 2^52")]
    pub fn score(&self) -> Option<f64> {
        let detected = self.group(StatusGroup::Detected);
        let scored = detected + self.group(StatusGroup::Undetected);
        (scored > 0).then(|| detected as f64 / scored as f64)
    }
}

/// Counts of one project, tool, owner or operator class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Per status, mutants in scope only.
    pub statuses: StatusCounts,
    /// detected / (detected + undetected); absent when nothing was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl Group {
    /// Counts the mutants of an iterator.
    pub fn of<'a>(mutants: impl IntoIterator<Item = &'a Mutant>) -> Self {
        let mut statuses = StatusCounts::default();
        for mutant in mutants {
            statuses.add(mutant.status);
        }
        let score = statuses.score();
        Self { statuses, score }
    }
}

/// Counts of the mutants in scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// All of them.
    pub total: Group,
    /// Survivors and uncovered mutants in scope that the base had as well.
    pub pre_existing: u64,
    /// Survivors accepted by a waiver.
    pub waived: u64,
    /// Per project.
    pub projects: BTreeMap<ProjectId, Group>,
    /// Per tool.
    pub tools: BTreeMap<ToolId, Group>,
    /// Per owner.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<String, Group>,
    /// Per operator class.
    pub operators: BTreeMap<crate::OperatorClass, Group>,
}

impl Summary {
    /// Counts `mutants`; those out of scope do not count.
    pub fn of(mutants: &[Mutant]) -> Self {
        let scoped: Vec<&Mutant> = mutants.iter().filter(|mutant| mutant.in_scope).collect();
        let undetected = |mutant: &&&Mutant| mutant.status.group() == StatusGroup::Undetected;
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Self {
            total: Group::of(scoped.iter().copied()),
            pre_existing: count(
                scoped.iter().filter(undetected).filter(|m| m.origin == crate::Origin::PreExisting).count(),
            ),
            waived: count(scoped.iter().filter(undetected).filter(|m| m.waiver.is_some()).count()),
            projects: grouped(&scoped, |m| vec![m.project.clone()]),
            tools: grouped(&scoped, |m| vec![m.tool.clone()]),
            owners: grouped(&scoped, |m| m.owners.clone()),
            operators: grouped(&scoped, |m| vec![m.operator.class]),
        }
    }
}

fn grouped<K: Ord + Clone>(mutants: &[&Mutant], keys: impl Fn(&Mutant) -> Vec<K>) -> BTreeMap<K, Group> {
    let mut by_key: BTreeMap<K, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutants {
        for key in keys(mutant) {
            by_key.entry(key).or_default().push(mutant);
        }
    }
    by_key.into_iter().map(|(key, members)| (key, Group::of(members))).collect()
}

/// The verdict document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name and version of this schema.
    pub schema: SchemaVersion,
    /// Version of the polymut that wrote it.
    pub polymut: String,
    /// The changed lines.
    pub scope: Scope,
    /// One entry per tool and project.
    pub runs: Vec<ToolRun>,
    /// Every mutant that was chosen, sorted by file, place, tool and id.
    pub mutants: Vec<Mutant>,
    /// Waivers that met a mutant of this report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverUse>,
    /// Counts.
    pub summary: Summary,
    /// The answer and why.
    pub verdict: Verdict,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_minor_of_major_one_is_read() {
        for good in ["polymut/1", "polymut/1.0", "polymut/1.27"] {
            assert!(SchemaVersion::parse(good).is_ok(), "{good}");
        }
        for bad in ["polymut/2.0", "polymut/1.", "polymut/10", "polymut/1.x", "other/1"] {
            assert!(SchemaVersion::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_score_needs_something_scored() {
        let mut counts = StatusCounts::default();
        counts.add(Status::Unviable);
        assert_eq!(counts.score(), None);
        counts.add(Status::Timeout);
        counts.add(Status::Survived);
        assert_eq!(counts.score(), Some(0.5));
    }
}
