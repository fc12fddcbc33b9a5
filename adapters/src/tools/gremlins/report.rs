//! The JSON report of gremlins.
//!
//! In: bytes. Out: [`Record`]s. I/O: none.
//!
//! Totals and scores in it are not read: they leave out timeouts and skipped mutants.

use polymut_schemas::Status;
use serde::Deserialize;

use crate::formats::text;
use crate::{Doubt, ParseError};

#[derive(Deserialize)]
struct File {
    file_name: String,
    #[serde(default)]
    mutations: Option<Vec<Mutation>>,
}

#[derive(Deserialize)]
struct Mutation {
    #[serde(rename = "type")]
    operator: String,
    status: String,
    line: u32,
    column: u32,
}

#[derive(Deserialize)]
struct Document {
    files: Option<Vec<File>>,
    /// Its presence tells the report from other JSON.
    #[expect(dead_code, reason = "demanded, not used")]
    go_module: String,
}

/// One mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Relative to the folder that the tool was started for.
    pub(crate) file: String,
    /// The tool's operator.
    pub(crate) operator: String,
    /// The tool's word.
    pub(crate) word: String,
    /// 1-based line.
    pub(crate) line: u32,
    /// 1-based column in bytes.
    pub(crate) column: u32,
    /// JSON pointer.
    pub(crate) pointer: String,
}

impl Record {
    /// Its name in every stage.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}:{}:{}", self.file, self.line, self.column, self.operator)
    }
}

/// Reads a report, in the order of its places: the tool writes files in any order.
pub(crate) fn read(artifact: &str, bytes: &[u8]) -> Result<Vec<Record>, ParseError> {
    let text = text::decode(artifact, bytes)?;
    let document: Document = serde_json::from_str(&text).map_err(|error| {
        let at = format!("{artifact}:{}:{}", error.line(), error.column());
        if error.is_eof() {
            ParseError::Truncated { at, why: error.to_string() }
        } else {
            ParseError::Malformed { at, why: error.to_string() }
        }
    })?;
    let mut records = Vec::new();
    for (f, file) in document.files.unwrap_or_default().into_iter().enumerate() {
        for (m, mutation) in file.mutations.unwrap_or_default().into_iter().enumerate() {
            records.push(Record {
                file: file.file_name.clone(),
                operator: mutation.operator,
                word: mutation.status,
                line: mutation.line,
                column: mutation.column,
                pointer: format!("/files/{f}/mutations/{m}"),
            });
        }
    }
    records.sort_by(|a, b| {
        (&a.file, a.line, a.column, &a.operator).cmp(&(&b.file, b.line, b.column, &b.operator))
    });
    Ok(records)
}

/// What a word says. A dry run says `RUNNABLE`, which is no status: `None` inside.
pub(crate) fn meaning(word: &str, at: &str) -> Result<Option<(Status, Option<Doubt>)>, ParseError> {
    Ok(Some(match word {
        // `go test` ends with 1 for a failed test, for code that does not build and for a package that is not there.
        "KILLED" => (Status::Killed, Some(Doubt::MaybeBuildError)),
        "LIVED" => (Status::Survived, None),
        "NOT COVERED" => (Status::NoCoverage, None),
        "TIMED OUT" => (Status::Timeout, Some(Doubt::Load)),
        "NOT VIABLE" => (Status::Unviable, None),
        // Only `--diff` skips, which polymut does not use: an answer is missing.
        "SKIPPED" => (Status::NotRun, None),
        "RUNNABLE" => return Ok(None),
        _ => {
            return Err(ParseError::UnknownStatus {
                tool: super::ID,
                word: word.to_owned(),
                at: at.to_owned(),
            });
        }
    }))
}
