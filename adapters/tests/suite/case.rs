//! The fixture format: `case.toml` and `words.toml` as types, and how they are found.
//!
//! In: the fixtures folder. Out: [`Case`], [`Words`]. I/O: reads fixtures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polymut_adapters::Adapter;
use polymut_adapters::tools::REGISTRY;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One folder `tests/fixtures/<tool>/<version>-<case>/`.
pub(crate) struct Case {
    pub(crate) dir: PathBuf,
    pub(crate) name: String,
    pub(crate) adapter: &'static dyn Adapter,
    pub(crate) spec: CaseSpec,
}

/// `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseSpec {
    /// Tool version, command and what the case is about.
    #[expect(dead_code, reason = "for people; its presence is demanded")]
    pub(crate) about: String,
    /// Folder with the repository's files, relative to the tool's fixture folder (`_repos/single`).
    pub(crate) repo: Option<String>,
    /// Folder of the project in that repository.
    #[serde(default)]
    pub(crate) project: String,
    /// What detection remembers, for a case without `repo`.
    #[serde(default)]
    pub(crate) memo: BTreeMap<String, Vec<String>>,
    /// Changed lines by path: `all`, or `3-5,9`.
    #[serde(default)]
    pub(crate) changed: BTreeMap<String, String>,
    /// Facts before the first round; what the rounds learn is added.
    #[serde(default)]
    pub(crate) facts: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) settings: SettingsSpec,
    #[serde(default)]
    pub(crate) limits: LimitsSpec,
    /// Rounds in order.
    #[serde(default)]
    pub(crate) round: Vec<RoundSpec>,
}

/// Settings of the project.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SettingsSpec {
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) test_command: Option<Vec<String>>,
    /// `logic`, `default` or `all`.
    pub(crate) operators: Option<String>,
}

/// Limits in seconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsSpec {
    #[serde(default = "five")]
    pub(crate) factor: f64,
    #[serde(default = "five")]
    pub(crate) floor: f64,
    /// The measured baseline; absent before it is measured.
    pub(crate) baseline: Option<f64>,
}

impl Default for LimitsSpec {
    fn default() -> Self {
        Self { factor: 5.0, floor: 5.0, baseline: None }
    }
}

fn five() -> f64 {
    5.0
}

/// One stage in one sandbox, or one import.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoundSpec {
    /// `probe`, `prepare`, `list`, `test`, `confirm`, `replay` or `import`.
    pub(crate) stage: String,
    /// Above 0: another sandbox of the round before.
    #[serde(default)]
    pub(crate) sandbox: u32,
    /// Test: keys of mutants; absent together with `files`: everything the list round named.
    pub(crate) units: Option<Vec<String>>,
    /// Test: whole files instead of mutants.
    pub(crate) files: Option<Vec<String>>,
    /// Replay: the key of a listed mutant. Confirm: absent; everything that the test rounds doubted.
    pub(crate) replay: Option<String>,
    /// How each started step ended.
    #[serde(default)]
    pub(crate) step: Vec<StepSpec>,
    /// Gathered (or imported) files.
    #[serde(default)]
    pub(crate) file: Vec<FileSpec>,
    /// Endings of the places (or `stdout of STEP`) without which the result may not be complete. Absent: all files.
    pub(crate) essential: Option<Vec<String>>,
    pub(crate) expect: Expect,
    /// Counts made without the adapter, by status.
    #[serde(default)]
    pub(crate) independent: Vec<CountSpec>,
}

/// How one step ended.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepSpec {
    pub(crate) name: String,
    /// The key of the mutant it was about.
    pub(crate) about: Option<String>,
    pub(crate) exit: Option<i32>,
    /// Instead of `exit`: `signal 9`, `limit`, `out_of_memory`, `stopped`, `no_program`.
    pub(crate) end: Option<String>,
    #[serde(default)]
    pub(crate) wall: f64,
    /// Files of the case folder.
    pub(crate) stdout: Option<String>,
    pub(crate) stderr: Option<String>,
}

/// A file or a whole folder and where it was gathered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSpec {
    /// In the case folder.
    pub(crate) from: String,
    /// `work:PATH`, `sandbox:PATH`; for an import the bare name.
    pub(crate) at: String,
}

/// What must come out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// `complete`, `partial`, `nothing`, `red_baseline`, `broken`.
    pub(crate) finish: Option<String>,
    /// Words that the quote of `finish` holds.
    pub(crate) quote: Option<String>,
    /// Mutants per status (`listed` for those without one); exact.
    #[serde(default)]
    pub(crate) counts: BTreeMap<String, u64>,
    /// Mutants per doubt; exact.
    #[serde(default)]
    pub(crate) doubts: BTreeMap<String, u64>,
    /// Listed or announced number.
    pub(crate) promised: Option<u64>,
    /// `green` or `red`.
    pub(crate) baseline: Option<String>,
    #[serde(default)]
    pub(crate) more: bool,
    /// Files that must be among those provably read.
    #[serde(default)]
    pub(crate) seen: Vec<String>,
    /// Facts that must be among those learned.
    #[serde(default)]
    pub(crate) facts: BTreeMap<String, Vec<String>>,
    /// Words that some note holds.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// `parse` or `import` must fail so: `unknown_status`, `malformed`, `truncated`, `encoding`, `format_version`,
    /// `missing_artifact`, `no_import`.
    pub(crate) error: Option<String>,
    /// `plan` must fail so: `version`, `user_config`, `missing`, `setting`.
    pub(crate) plan_error: Option<String>,
    /// `plan` must say that there is no such stage.
    #[serde(default)]
    pub(crate) no_plan: bool,
    /// `false`: counts alone, no `expect/*.mutants.jsonl` (reports with thousands of mutants).
    #[serde(default = "yes")]
    pub(crate) mutants: bool,
}

fn yes() -> bool {
    true
}

/// One independent count: matches of a regex in a text file, or the number a query gives on a `SQLite` file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountSpec {
    pub(crate) status: String,
    pub(crate) file: String,
    /// The number is taken away instead of added (planned less tested).
    #[serde(default)]
    pub(crate) minus: bool,
    pub(crate) regex: Option<String>,
    pub(crate) sql: Option<String>,
}

/// `tests/fixtures/<tool>/words.toml`: every word of the tool for a status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) word: Vec<Word>,
}

/// A word and what it means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    /// `RawMutant.word`.
    #[serde(rename = "word")]
    pub(crate) text: String,
    pub(crate) status: String,
    /// Why no fixture can show it.
    pub(crate) unseen: Option<String>,
    /// Why a twisted word cannot be told from a good one (a number, say).
    pub(crate) untwistable: Option<String>,
}

/// The fixtures folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

/// Every case of `adapter`, sorted; folders that start with `_` hold material that cases share.
pub(crate) fn cases_of(adapter: &'static dyn Adapter) -> Vec<Case> {
    let id = adapter.info().id;
    let wanted = std::env::var("POLYMUT_CASE").unwrap_or_default();
    let mut dirs = Vec::new();
    let Ok(entries) = std::fs::read_dir(root().join(id)) else { return Vec::new() };
    for entry in entries {
        let path = entry.expect("a readable fixtures folder").path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'));
        if path.is_dir() && !hidden {
            dirs.push(path);
        }
    }
    dirs.sort();
    dirs.into_iter()
        .map(|dir| {
            let name = format!("{id}/{}", dir.file_name().unwrap_or_default().to_string_lossy());
            let spec = read_toml(&dir.join("case.toml"));
            Case { dir, name, adapter, spec }
        })
        .filter(|case| case.name.contains(&wanted))
        .collect()
}

/// Every case of every adapter.
pub(crate) fn all_cases() -> Vec<Case> {
    REGISTRY.iter().flat_map(|adapter| cases_of(*adapter)).collect()
}

/// The words of a tool.
pub(crate) fn words_of(adapter: &dyn Adapter) -> Words {
    read_toml(&root().join(adapter.info().id).join("words.toml"))
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
