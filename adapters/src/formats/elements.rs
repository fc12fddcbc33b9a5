//! The mutation-testing-elements report (schema 1.x and 2.x): the types for reading and writing, and the reader.
//!
//! In: bytes of a JSON report or of an HTML page that holds one. Out: [`ElementsReport`]. I/O: none.
//!
//! Written by StrykerJS, Stryker.NET, Stryker4s and others. Unknown fields are ignored, older versions' missing ones
//! are `None`; an unknown status word is an error. Columns count UTF-16 units from 1, ends are exclusive.

use std::collections::BTreeMap;

use polymut_schemas::Status;
use serde::{Deserialize, Serialize};

use super::{elements_html, text};
use crate::{ColumnUnit, ParseError, RawPosition, RawSpan};

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElementsReport {
    /// `1`, `1.0`, `2` …
    pub schema_version: String,
    /// Where colours change; whole numbers from 0 to 100.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// By path, `/` between parts.
    pub files: BTreeMap<String, ElementsFile>,
    /// By path, or `""` where the runner names no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_files: Option<BTreeMap<String, TestFile>>,
    /// Folder that the paths are relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_root: Option<String>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framework: Option<Framework>,
}

/// Where colours change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// At least this is good.
    pub high: serde_json::Number,
    /// Below this is bad.
    pub low: serde_json::Number,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { high: 80.into(), low: 60.into() }
    }
}

/// A mutated file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElementsFile {
    /// For highlighting.
    #[serde(default)]
    pub language: String,
    /// The whole text.
    #[serde(default)]
    pub source: String,
    /// Its mutants.
    pub mutants: Vec<ElementsMutant>,
}

/// A mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElementsMutant {
    /// Unique in the report, different in the next.
    #[serde(deserialize_with = "text_or_number")]
    pub id: String,
    /// The operator.
    #[serde(default)]
    pub mutator_name: String,
    /// Where.
    pub location: Location,
    /// One of [`ElementsStatus::ALL`], as written.
    pub status: String,
    /// The text instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// Words about the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words about the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Whether it runs at load time.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    pub is_static: Option<bool>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// How many tests ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_completed: Option<f64>,
    /// Ids of tests that reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<Vec<String>>,
    /// Ids of tests that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<Vec<String>>,
}

/// From `start` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// First character.
    pub start: Place,
    /// First character after it.
    pub end: Place,
}

/// A position; both numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column in UTF-16 units.
    pub column: u32,
}

/// A file of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFile {
    /// Its tests.
    #[serde(default)]
    pub tests: Vec<ElementsTest>,
    /// The whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementsTest {
    /// As mutants name it.
    #[serde(deserialize_with = "text_or_number")]
    pub id: String,
    /// As people name it.
    #[serde(default)]
    pub name: String,
}

/// Who wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framework {
    /// `StrykerJS`, `Stryker.NET` …
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The status words of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementsStatus {
    /// A test failed.
    Killed,
    /// All passed.
    Survived,
    /// No test reaches it.
    NoCoverage,
    /// A type checker or compiler refuses it.
    CompileError,
    /// The code throws while it is loaded, so that no test runs.
    RuntimeError,
    /// Too slow, or a loop ran too often.
    Timeout,
    /// Left out by configuration or comment.
    Ignored,
    /// Not tested yet.
    Pending,
}

impl ElementsStatus {
    /// Every status.
    pub const ALL: [Self; 8] = [
        Self::Killed,
        Self::Survived,
        Self::NoCoverage,
        Self::CompileError,
        Self::RuntimeError,
        Self::Timeout,
        Self::Ignored,
        Self::Pending,
    ];

    /// The word of the schema.
    pub fn word(self) -> &'static str {
        match self {
            Self::Killed => "Killed",
            Self::Survived => "Survived",
            Self::NoCoverage => "NoCoverage",
            Self::CompileError => "CompileError",
            Self::RuntimeError => "RuntimeError",
            Self::Timeout => "Timeout",
            Self::Ignored => "Ignored",
            Self::Pending => "Pending",
        }
    }

    /// The status with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// What it is in the document. Both errors are "invalid" in the Stryker family's own score: the mutant never
    /// became code that a test could judge, so both are unviable.
    pub fn status(self) -> Status {
        match self {
            Self::Killed => Status::Killed,
            Self::Survived => Status::Survived,
            Self::NoCoverage => Status::NoCoverage,
            Self::CompileError | Self::RuntimeError => Status::Unviable,
            Self::Timeout => Status::Timeout,
            Self::Ignored => Status::Ignored,
            Self::Pending => Status::NotRun,
        }
    }

    /// The word for a status of the document, for writing.
    pub fn from_status(status: Status) -> Self {
        match status {
            Status::Killed => Self::Killed,
            Status::Timeout => Self::Timeout,
            // The schema has no word for it; it is a detection, as a timeout is.
            Status::OutOfMemory => Self::Timeout,
            Status::Survived => Self::Survived,
            Status::NoCoverage => Self::NoCoverage,
            Status::Unviable => Self::CompileError,
            Status::Ignored => Self::Ignored,
            Status::NotRun | Status::Errored | Status::Flaky => Self::Pending,
        }
    }
}

/// Reads the report `name` of `tool`: JSON, or an HTML page with the JSON inside. Every status word is checked.
pub fn read(tool: &'static str, name: &str, bytes: &[u8]) -> Result<ElementsReport, ParseError> {
    let text = text::decode(name, bytes)?;
    let report = if text.trim_start().starts_with('<') {
        elements_html::embedded(name, &text)?
    } else {
        serde_json::from_str(&text).map_err(|error| failure(name, &error))?
    };
    let major = report.schema_version.split('.').next().unwrap_or_default();
    if !["1", "2"].contains(&major) {
        return Err(ParseError::FormatVersion { at: name.to_owned(), found: report.schema_version });
    }
    for (pointer, _, mutant) in mutants(&report) {
        if ElementsStatus::of(&mutant.status).is_none() {
            let word = mutant.status.clone();
            return Err(ParseError::UnknownStatus { tool, word, at: format!("{name}#{pointer}") });
        }
    }
    Ok(report)
}

/// Every mutant with its JSON pointer and its file's path, sorted by path and in the report's order.
pub fn mutants(report: &ElementsReport) -> impl Iterator<Item = (String, &str, &ElementsMutant)> {
    report.files.iter().flat_map(|(path, file)| {
        let escaped = path.replace('~', "~0").replace('/', "~1");
        file.mutants
            .iter()
            .enumerate()
            .map(move |(index, mutant)| (format!("/files/{escaped}/mutants/{index}"), path.as_str(), mutant))
    })
}

impl Location {
    /// The location in raw terms.
    pub fn raw(self) -> RawSpan {
        let at = |place: Place| RawPosition { line: place.line, column: Some(place.column) };
        RawSpan { start: at(self.start), end: Some(at(self.end)), unit: ColumnUnit::Utf16 }
    }
}

/// A JSON error as what it means for the artifact.
pub(super) fn failure(name: &str, error: &serde_json::Error) -> ParseError {
    let at = format!("{name}:{}:{}", error.line(), error.column());
    if error.is_eof() {
        ParseError::Truncated { at, why: "a mutation-testing-elements report".to_owned() }
    } else {
        ParseError::Malformed { at, why: error.to_string() }
    }
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) => Ok(number.to_string()),
        other => Err(serde::de::Error::custom(format!("`{other}` is no id"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(status: &str, version: &str) -> String {
        format!(
            r#"{{"schemaVersion":"{version}","thresholds":{{"high":80,"low":60,"break":null}},"files":{{"src/a~b.js":{{
            "language":"javascript","source":"a","mutants":[{{"id":7,"mutatorName":"X","replacement":"b","status":"{status}",
            "location":{{"start":{{"line":1,"column":1}},"end":{{"line":1,"column":2}}}},"testsCompleted":0}}]}}}}}}"#
        )
    }

    #[test]
    fn versions_one_and_two_are_read_and_others_refused() {
        for version in ["1", "1.7", "2", "2.0.1"] {
            assert!(read("t", "r.json", report("Killed", version).as_bytes()).is_ok(), "{version}");
        }
        let refused = read("t", "r.json", report("Killed", "3.0").as_bytes());
        assert!(matches!(refused, Err(ParseError::FormatVersion { .. })));
    }

    #[test]
    fn an_unknown_word_is_an_error_that_says_where() {
        let Err(ParseError::UnknownStatus { word, at, .. }) =
            read("t", "r.json", report("Slain", "1").as_bytes())
        else {
            panic!("an error was wanted");
        };
        assert_eq!((word.as_str(), at.as_str()), ("Slain", "r.json#/files/src~1a~0b.js/mutants/0"));
    }

    #[test]
    fn a_report_cut_at_any_byte_is_truncated() {
        let whole = report("Killed", "1");
        for at in 0..whole.len() {
            let cut = read("t", "r.json", &whole.as_bytes()[..at]);
            assert!(matches!(cut, Err(ParseError::Truncated { .. })), "{at}: {cut:?}");
        }
    }
}
