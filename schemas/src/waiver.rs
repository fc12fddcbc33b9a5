//! Recorded decisions that a survivor is accepted.
//!
//! In: values. Out: [`Waiver`], [`WaiverUse`]. I/O: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MutantId, RepoPath};

/// One accepted survivor, as `.polymut/waivers/<project>.toml` holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The mutant.
    pub id: MutantId,
    /// Why it is accepted.
    pub reason: String,
    /// Who accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Day of the decision, `YYYY-MM-DD`.
    pub date: String,
    /// Last day on which it counts, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The file, for readers; the id alone decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<RepoPath>,
}

/// Whether a waiver still means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaiverState {
    /// It accepted a survivor of this report.
    Used,
    /// Its mutant was reported and is no survivor any more.
    Stale,
    /// Its last day is over.
    Expired,
}

/// What became of one waiver in this report. Waivers for mutants outside the scope are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaiverUse {
    /// The waiver.
    pub waiver: Waiver,
    /// What became of it.
    pub state: WaiverState,
}
