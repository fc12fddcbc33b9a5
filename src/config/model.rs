//! `polymut.toml` as types.
//!
//! In: TOML through serde. Out: [`Config`]. I/O: none.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use polymut_schemas::{GateMode, Guarantee};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Bytes, PathGlob, Period, ToolVersion};

/// Settings of polymut, at the root of the repository. Everything is optional; unknown keys are errors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    /// How tools are run.
    pub run: RunConfig,
    /// What fails a change.
    pub gate: GateConfig,
    /// Settings per project. Every project is detected without an entry; where several entries match, each setting
    /// comes from the last one that has it.
    #[serde(rename = "project")]
    pub projects: Vec<ProjectConfig>,
}

/// How tools are run. The command line overrides each of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RunConfig {
    /// Cores in use at once; all of them by default.
    pub jobs: Option<NonZeroU32>,
    /// Walls around each tool; the best that the machine allows by default.
    pub isolation: Option<Isolation>,
    /// Guarantees without which nothing is run.
    pub require: Vec<Guarantee>,
    /// Memory ceiling of one tool with everything that it starts.
    pub memory: Option<Bytes>,
    /// Network of tests; `none` by default.
    pub network: Option<Network>,
    /// Why the network stays on; wanted with `network = "host"`.
    pub reason: Option<String>,
    /// How often the suite is run without mutants; 2 by default.
    pub baseline_runs: Option<NonZeroU32>,
    /// How many survivors are replayed before they are blamed; 20 by default. With 0, timeouts are not tried again
    /// either.
    pub confirm: Option<u32>,
    /// Longest time for everything; what is not reached is inconclusive.
    pub budget: Option<Period>,
    /// A mutant may take this many times the baseline, plus `timeout-floor`.
    pub timeout_factor: Option<f64>,
    /// Added to the limit of every mutant.
    pub timeout_floor: Option<Period>,
    /// Names of credential-like variables that tools and tests may see all the same.
    pub allow_env: Vec<String>,
}

/// Walls around each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Namespaces and an overlay over the repository at its own path.
    Sealed,
    /// A copy of the repository's files.
    Copy,
    /// The sandbox only, without walls.
    None,
}

/// Network of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Loopback only.
    #[default]
    None,
    /// The machine's own network.
    Host,
}

/// What the gate does with one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Shown and counted.
    Allow,
    /// Fails the change.
    Fail,
}

/// What the gate does with one inconclusive cause. There is no word for letting it pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Raise {
    /// Exit 3.
    Inconclusive,
    /// Exit 1.
    Fail,
}

/// One setting per cause of an inconclusive answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Causes {
    /// Red because of this diff.
    pub change: Option<Raise>,
    /// Already so at the merge base.
    pub base: Option<Raise>,
    /// A tool is missing, memory, network, a crash.
    pub machine: Option<Raise>,
    /// Time ran out.
    pub budget: Option<Raise>,
}

/// A score from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Score(f64);

impl Score {
    /// Checks the range.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        let wrong = || format!("{value} is not a score from 0 to 1; write 0.8 for 80 %");
        Self::new(value).ok_or_else(|| serde::de::Error::custom(wrong()))
    }
}

impl JsonSchema for Score {
    fn schema_name() -> Cow<'static, str> {
        "Score".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": "A score from 0 to 1." })
    }
}

/// What fails a change, and where that differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GateConfig {
    /// `block` by default; `advisory` and `off` end with exit 0 and say so.
    pub mode: Option<GateMode>,
    /// Survivors on changed lines; `fail` by default.
    pub survivors_in_diff: Option<Decision>,
    /// Mutants on changed lines that no test reaches; `fail` by default.
    pub no_coverage: Option<Decision>,
    /// Mutants on changed lines that ran into the time or memory limit; `allow` by default: they are detected.
    pub timeouts: Option<Decision>,
    /// Survivors that the base had as well; `allow` by default.
    pub pre_existing: Option<Decision>,
    /// Stale and expired waivers; `allow` by default.
    pub waivers: Option<Decision>,
    /// One setting per inconclusive cause; each may be raised to `fail`.
    pub inconclusive: Causes,
    /// Least score of the changed lines.
    pub min_score: Option<Score>,
    /// Other settings for some paths. For each setting the last rule that matches the file and has it wins.
    #[serde(rename = "rule")]
    pub rules: Vec<GateRule>,
}

/// Settings of the gate for some paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GateRule {
    /// The files it is about.
    pub paths: Vec<PathGlob>,
    /// `block`, `advisory` or `off` for these files.
    pub mode: Option<GateMode>,
    /// Survivors on changed lines.
    pub survivors_in_diff: Option<Decision>,
    /// Mutants on changed lines that no test reaches.
    pub no_coverage: Option<Decision>,
    /// Mutants on changed lines that ran into the time or memory limit.
    pub timeouts: Option<Decision>,
    /// Survivors that the base had as well.
    pub pre_existing: Option<Decision>,
    /// Stale and expired waivers.
    pub waivers: Option<Decision>,
    /// One setting per inconclusive cause.
    #[serde(default)]
    pub inconclusive: Causes,
    /// Least score of the changed lines of these files.
    pub min_score: Option<Score>,
}

/// Which mutation operators a project asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operators {
    /// Conditions, comparisons and returned values only.
    Logic,
    /// The tool's own default.
    Default,
    /// Everything that the tool can do.
    All,
}

/// Settings of the projects whose folder matches `path`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProjectConfig {
    /// The project's folder, or a pattern for several.
    pub path: PathGlob,
    /// The tool; chooses where two tools could run, and limits this entry to that tool.
    pub tool: Option<String>,
    /// Wanted version of the tool, exact.
    pub version: Option<ToolVersion>,
    /// More words for the tool.
    pub args: Option<Vec<String>>,
    /// More environment variables for the tool.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The project's own test command, in words.
    pub test_command: Option<Vec<String>>,
    /// Longest that one mutant's tests may take, in place of the measured limit.
    pub timeout: Option<Period>,
    /// Memory ceiling of the tool with everything that it starts.
    pub memory: Option<Bytes>,
    /// Network of tests.
    pub network: Option<Network>,
    /// Why the network stays on; wanted with `network = "host"`.
    pub reason: Option<String>,
    /// Names of things that only one job at a time may use, such as `postgres`.
    pub exclusive: Option<Vec<String>>,
    /// Which operators.
    pub operators: Option<Operators>,
    /// The project's own command, run in place of a tool; wants `reports` and `format`.
    pub command: Option<Vec<String>>,
    /// Where the command leaves its reports, as patterns below the project's folder.
    pub reports: Option<Vec<String>>,
    /// The tool whose format these reports have.
    pub format: Option<String>,
}
