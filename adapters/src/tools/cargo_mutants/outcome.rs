//! The JSON of `mutants.out`, from 0.2 to 27, and how one outcome is judged.
//!
//! In: `mutants.json`, `outcomes.json`. Out: [`Entry`], [`Report`]. I/O: none.

use polymut_schemas::{OperatorClass, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ID;
use super::judge::Judged;
use crate::formats::text;
use crate::{Change, ColumnUnit, Key, ParseError, RawMutant, RawPath, RawPosition, RawSpan, Tests};

/// A mutant as `mutants.json`, `--list --json` and `outcomes.json` hold it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Entry {
    /// Absent before 1.0.
    #[serde(default)]
    pub(super) package: String,
    pub(super) file: String,
    /// Absent before 26.
    name: Option<String>,
    /// Before 23.12 instead of `span`.
    line: Option<u32>,
    span: Option<Span>,
    /// A name before 23.12, an object or null since.
    #[serde(default)]
    function: Value,
    return_type: Option<String>,
    #[serde(default)]
    replacement: String,
    genre: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Place {
    line: u32,
    column: u32,
}

/// `outcomes.json`.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) outcomes: Vec<Outcome>,
    start_time: Option<String>,
    end_time: Option<String>,
    pub(super) cargo_mutants_version: Option<String>,
}

/// One tested scenario.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub(super) scenario: Scenario,
    /// Absent before 0.2.10.
    summary: Option<String>,
    pub(super) log_path: Option<String>,
    #[serde(default)]
    phase_results: Vec<Phase>,
}

/// What was tested.
#[derive(Debug, Deserialize)]
pub(super) enum Scenario {
    /// Before 23: a build in the user's own tree.
    SourceTree,
    /// No mutant.
    Baseline,
    /// One mutant.
    Mutant(Box<Entry>),
}

#[derive(Debug, Deserialize)]
struct Phase {
    #[serde(rename = "phase")]
    name: String,
    #[serde(default)]
    duration: Value,
    #[serde(alias = "cargo_result")]
    process_status: Value,
}

/// How a cargo process of a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Success,
    Failure,
    Timeout,
    Signalled(i64),
    Other,
}

/// Reads JSON and says where it is broken or cut.
pub(super) fn read<T: DeserializeOwned>(at: &str, bytes: &[u8]) -> Result<T, ParseError> {
    let text = text::decode(at, bytes)?;
    serde_json::from_str(&text).map_err(|error| {
        let why = error.to_string();
        if error.is_eof() {
            ParseError::Truncated { at: at.to_owned(), why }
        } else {
            ParseError::Malformed { at: format!("{at}:{}", error.line()), why }
        }
    })
}

impl Report {
    /// Why the report alone does not prove that the run came to its end. `planned`: whether `mutants.json` is beside
    /// it, against which versions before 25, which write no times, can still be held.
    pub(super) fn broken_off(&self, planned: bool) -> Option<String> {
        match (&self.start_time, &self.end_time) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some("the run was stopped (`end_time` is null)".to_owned()),
            (None, _) if planned => None,
            (None, _) => Some("without mutants.json nothing says whether the run came to its end".to_owned()),
        }
    }

    /// Outcomes of mutants with their places in the file.
    pub(super) fn mutants(&self) -> impl Iterator<Item = (usize, &Outcome, &Entry)> {
        self.outcomes.iter().enumerate().filter_map(|(at, outcome)| match &outcome.scenario {
            Scenario::Mutant(entry) => Some((at, outcome, entry.as_ref())),
            Scenario::SourceTree | Scenario::Baseline => None,
        })
    }
}

impl Entry {
    /// The tool's name of the mutant, composed as 27.1.0 does where an older version gives none.
    pub(super) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let line = self.span.map(|span| span.start.line).or(self.line).unwrap_or_default();
        let column = self.span.map(|span| format!("{}:", span.start.column)).unwrap_or_default();
        let function = self.function().unwrap_or_default();
        let returns = self.return_type.as_deref().unwrap_or_default();
        let space = if returns.is_empty() { "" } else { " " };
        format!("{}:{line}:{column} replace {function}{space}{returns} with {}", self.file, self.replacement)
    }

    fn function(&self) -> Option<String> {
        let name = self.function.get("function_name").unwrap_or(&self.function);
        name.as_str().map(str::to_owned)
    }

    /// The change in words: the name without its place.
    fn description(&self) -> String {
        let name = self.name();
        super::key::split(&name).map_or(name.clone(), |(.., change)| change.trim().to_owned())
    }

    fn span(&self) -> RawSpan {
        let raw = |place: Place| RawPosition { line: place.line, column: Some(place.column) };
        if let Some(span) = self.span {
            return RawSpan { start: raw(span.start), end: Some(raw(span.end)), unit: ColumnUnit::Chars };
        }
        let start = RawPosition { line: self.line.unwrap_or_default(), column: None };
        RawSpan { start, end: None, unit: ColumnUnit::None }
    }

    fn class(&self) -> OperatorClass {
        match self.genre.as_deref() {
            // Before 23.12 there was no other kind.
            Some("FnValue") | None => OperatorClass::ReturnValue,
            Some("BinaryOperator") => binary_class(&self.replacement),
            Some("UnaryOperator") => OperatorClass::Unary,
            Some("MatchArmGuard") => OperatorClass::Logical,
            Some("MatchArm" | "StructField") => OperatorClass::Removal,
            Some(_) => OperatorClass::Other,
        }
    }

    /// Whether the mutant belongs to the small set of operators: conditions, comparisons, returned values.
    pub(super) fn is_logic(&self) -> bool {
        matches!(
            self.class(),
            OperatorClass::ReturnValue
                | OperatorClass::Comparison
                | OperatorClass::Logical
                | OperatorClass::Unary
        )
    }

    /// Where the edit is, whichever package reaches the file through `..`.
    pub(super) fn edit(
        &self,
        dir: &polymut_schemas::RepoDir,
    ) -> Option<(String, RawPosition, RawPosition, String)> {
        let span = self.span?;
        let raw = |place: Place| RawPosition { line: place.line, column: Some(place.column) };
        let path = dir.resolve(&self.file).ok()?;
        Some((path.as_str().to_owned(), raw(span.start), raw(span.end), self.replacement.clone()))
    }

    /// The mutant without an answer.
    pub(super) fn listed(&self, key: Key, artifact: &str, pointer: String) -> RawMutant {
        RawMutant {
            key,
            path: RawPath::FromProject(self.file.clone()),
            span: self.span(),
            status: None,
            word: "listed".to_owned(),
            doubt: None,
            change: Change {
                operator: self.genre.clone().unwrap_or_else(|| "FnValue".to_owned()),
                class: Some(self.class()),
                original: None,
                replacement: Some(self.replacement.clone()),
                diff: None,
                description: Some(self.description()),
            },
            tests: Tests::default(),
            function: self.function(),
            detail: None,
            duration: None,
            is_static: None,
            pointer: Some(pointer),
            artifact: artifact.to_owned(),
        }
    }
}

fn binary_class(replacement: &str) -> OperatorClass {
    match replacement {
        "+" | "-" | "*" | "/" | "%" => OperatorClass::Arithmetic,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => OperatorClass::Comparison,
        "&&" | "||" => OperatorClass::Logical,
        "&" | "|" | "^" | "<<" | ">>" => OperatorClass::Bitwise,
        _ if replacement.ends_with('=') => OperatorClass::Assignment,
        _ => OperatorClass::Other,
    }
}

impl Outcome {
    /// What became of the mutant. `log`: its log file, where there is one.
    pub(super) fn judge(&self, at: &str, log: Option<&str>) -> Result<Judged, ParseError> {
        let phases = self.phases(at)?;
        let word = match &self.summary {
            Some(word) => word.clone(),
            None => old_summary(&phases).to_owned(),
        };
        let last = phases.last().copied();
        let mut judged = Judged {
            status: Status::Errored,
            word: word.clone(),
            doubt: None,
            detail: None,
            killed_by: Vec::new(),
            duration: self.test_seconds(),
        };
        match word.as_str() {
            "CaughtMutant" => judged.caught(log),
            "MissedMutant" => judged.status = Status::Survived,
            "Unviable" => judged.unviable(log),
            "Timeout" => judged.timed_out(last),
            "Failure" => judged.failed(last),
            // Only `--check` gives it: the code builds, and no test was run.
            "Success" => judged.detail = Some("built, but not tested (`--check`)".to_owned()),
            _ => return Err(ParseError::UnknownStatus { tool: ID, word, at: at.to_owned() }),
        }
        Ok(judged)
    }

    /// Whether a scenario without a mutant failed, and in which phase; `None` when it passed.
    pub(super) fn baseline_failure(&self, at: &str) -> Result<Option<String>, ParseError> {
        let phases = self.phases(at)?;
        let word = self.summary.clone().unwrap_or_else(|| {
            let good = phases.last().is_some_and(|(_, ended)| *ended == Ended::Success);
            if good { "Success" } else { "Failure" }.to_owned()
        });
        let phase = phases.last().map_or("", |(phase, _)| *phase);
        match word.as_str() {
            "Success" => Ok(None),
            "Failure" => Ok(Some(format!("cargo {} fails without a mutant", phase.to_lowercase()))),
            "Timeout" => Ok(Some(format!("cargo {} does not end without a mutant", phase.to_lowercase()))),
            _ => Err(ParseError::UnknownStatus { tool: ID, word, at: at.to_owned() }),
        }
    }

    fn phases(&self, at: &str) -> Result<Vec<(&str, Ended)>, ParseError> {
        self.phase_results
            .iter()
            .map(|phase| Ok((phase.name.as_str(), ended(&phase.process_status, at)?)))
            .collect()
    }

    fn test_seconds(&self) -> Option<f64> {
        let test = self.phase_results.iter().rev().find(|phase| phase.name == "Test")?;
        // Before 0.2.10 a structure of seconds and nanoseconds.
        test.duration.as_f64().or_else(|| {
            let nanos = test.duration.get("nanos").and_then(Value::as_f64).unwrap_or(0.0);
            Some(test.duration.get("secs")?.as_f64()? + nanos / 1e9)
        })
    }
}

fn ended(status: &Value, at: &str) -> Result<Ended, ParseError> {
    let unknown = || ParseError::UnknownStatus { tool: ID, word: status.to_string(), at: at.to_owned() };
    let (word, code) = match status {
        Value::String(word) => (word.as_str(), None),
        Value::Object(object) => {
            let (word, code) = object.iter().next().ok_or_else(unknown)?;
            (word.as_str(), code.as_i64())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return Err(unknown()),
    };
    match word {
        "Success" => Ok(Ended::Success),
        "Failure" => Ok(Ended::Failure),
        "Timeout" => Ok(Ended::Timeout),
        "Signalled" => Ok(Ended::Signalled(code.unwrap_or_default())),
        "Other" => Ok(Ended::Other),
        _ => Err(unknown()),
    }
}

/// What later versions write as `summary`.
fn old_summary(phases: &[(&str, Ended)]) -> &'static str {
    match phases.last() {
        Some((_, Ended::Timeout)) => "Timeout",
        Some(("Test", Ended::Success)) => "MissedMutant",
        Some(("Test", Ended::Failure)) => "CaughtMutant",
        Some((_, Ended::Success)) => "Success",
        Some((_, Ended::Failure)) => "Unviable",
        Some((_, Ended::Signalled(_) | Ended::Other)) | None => "Failure",
    }
}
