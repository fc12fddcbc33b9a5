//! cosmic-ray's session: work items, mutations and results in one `SQLite` file.
//!
//! In: bytes. Out: rows, or the bytes of a smaller session. I/O: none.

use std::collections::BTreeSet;

use polymut_schemas::Status;
use rusqlite::Connection;

use super::{ID, operator};
use crate::formats::sqlite;
use crate::{Change, ColumnUnit, Doubt, Key, ParseError, RawMutant, RawPath, RawPosition, RawSpan, Tests};

/// One work item with its mutation and, once it was tested, its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// Random per `init`.
    pub(super) job_id: String,
    /// As given in the configuration.
    pub(super) module: String,
    /// `core/NumberReplacer`.
    pub(super) operator: String,
    /// JSON; empty for none.
    pub(super) args: String,
    /// Which application of the operator in the module, from 0.
    pub(super) occurrence: i64,
    /// Line from 1, column from 0.
    pub(super) start: Option<(u32, u32)>,
    /// Exclusive.
    pub(super) end: Option<(u32, u32)>,
    /// Innermost function or class.
    pub(super) definition: Option<String>,
    /// What became of it.
    pub(super) result: Option<Outcome>,
}

/// A row of `work_results`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// `NORMAL`, `SKIPPED` …
    pub(super) worker: String,
    /// `SURVIVED` …
    pub(super) test: Option<String>,
    /// What the test command wrote to stdout, `timeout`, or a traceback.
    pub(super) output: String,
    /// The change.
    pub(super) diff: Option<String>,
}

impl Row {
    /// The same in every stage: `job_id` differs from run to run.
    pub(super) fn key(&self) -> Key {
        let args = if self.args.is_empty() { String::new() } else { format!(" {}", self.args) };
        Key(format!("{} {} {}{args}", self.module, self.operator, self.occurrence))
    }

    /// The mutant, without change of text: that is in the diff, once there is one.
    pub(super) fn mutant(&self, artifact: &str) -> Result<RawMutant, ParseError> {
        let answer = self.answer(artifact)?;
        let position = |(line, column): (u32, u32)| RawPosition { line, column: Some(column) };
        let none = RawPosition { line: 0, column: None };
        Ok(RawMutant {
            key: self.key(),
            path: RawPath::FromProject(self.module.clone()),
            span: RawSpan {
                start: self.start.map_or(none, position),
                end: self.end.map(position),
                unit: ColumnUnit::CharsFromZero,
            },
            status: Some(answer.status),
            word: answer.word.to_owned(),
            doubt: answer.doubt,
            change: Change {
                operator: self.operator.clone(),
                class: Some(operator::class(&self.operator)),
                diff: self
                    .result
                    .as_ref()
                    .and_then(|result| result.diff.clone())
                    .filter(|diff| diff.contains("@@")),
                ..Change::default()
            },
            tests: Tests::default(),
            function: self.definition.clone(),
            detail: self.detail(answer.status),
            duration: None,
            is_static: None,
            pointer: Some(format!("job {}", self.job_id)),
            artifact: artifact.to_owned(),
        })
    }

    fn detail(&self, status: Status) -> Option<String> {
        let output = &self.result.as_ref()?.output;
        match status {
            Status::Killed | Status::Errored | Status::Ignored | Status::NotRun => {
                let text = super::python::last_lines(output, 12);
                (!text.is_empty()).then_some(text)
            }
            Status::Timeout
            | Status::OutOfMemory
            | Status::Survived
            | Status::NoCoverage
            | Status::Unviable
            | Status::Flaky => None,
        }
    }

    /// What the two outcomes mean together.
    fn answer(&self, at: &str) -> Result<Answer, ParseError> {
        let Some(result) = &self.result else {
            return Ok(Answer { word: "pending", status: Status::NotRun, doubt: None });
        };
        let worker = plain(&result.worker);
        let test = result.test.as_deref().map(plain);
        let answer = |word, status, doubt| Ok(Answer { word, status, doubt });
        match (worker.as_str(), test.as_deref()) {
            ("normal", Some("survived")) => answer("survived", Status::Survived, None),
            // Stored as killed; its output is this one word.
            ("normal", Some("killed")) if result.output == "timeout" => {
                answer("timeout", Status::Timeout, Some(Doubt::Load))
            }
            ("normal", Some("killed")) => answer("killed", Status::Killed, None),
            ("normal", Some("incompetent")) => {
                let unread = result.output.contains("UnicodeDecodeError");
                answer("incompetent", Status::Errored, unread.then_some(Doubt::MaybeEnvironment))
            }
            ("exception", Some("incompetent") | None) => answer("exception", Status::Errored, None),
            // The worker went away: the mutant was not tested.
            ("abnormal", None) => answer("abnormal", Status::NotRun, None),
            // The session is not of this source.
            ("no-test", None) => answer("no-test", Status::Errored, None),
            ("skipped", None) => answer("skipped", Status::Ignored, None),
            _ => Err(ParseError::UnknownStatus {
                tool: ID,
                word: format!("{} {}", result.worker, result.test.as_deref().unwrap_or("null")),
                at: format!("{at}, job {}", self.job_id),
            }),
        }
    }
}

struct Answer {
    word: &'static str,
    status: Status,
    doubt: Option<Doubt>,
}

/// `NO_TEST` of a session is `no-test` of a dump.
fn plain(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

/// Reads a session. Rows without a mutation (the tool's own baseline) are left out.
pub(super) fn read(at: &str, bytes: &[u8]) -> Result<Vec<Row>, ParseError> {
    let session = sqlite::open(at, bytes)?;
    let failed =
        |error: &rusqlite::Error| ParseError::Malformed { at: at.to_owned(), why: error.to_string() };
    if columns(&session, "mutation_specs").is_empty() {
        return Err(ParseError::FormatVersion {
            at: at.to_owned(),
            found: "without `mutation_specs`".to_owned(),
        });
    }
    // Sessions of versions before 8.4 have no such column.
    let named = columns(&session, "mutation_specs").iter().any(|name| name == "definition_name");
    let definition = if named { "m.definition_name" } else { "null" };
    let query = format!(
        "select i.job_id, m.module_path, m.operator_name, m.operator_args, m.occurrence, m.start_pos_row, \
         m.start_pos_col, m.end_pos_row, m.end_pos_col, {definition}, r.worker_outcome, r.output, r.test_outcome, \
         r.diff from work_items i join mutation_specs m on m.job_id = i.job_id \
         left join work_results r on r.job_id = i.job_id order by m.rowid"
    );
    let mut query = session.prepare(&query).map_err(|error| failed(&error))?;
    let rows = query.query_map([], row).map_err(|error| failed(&error))?;
    rows.map(|row| row.map_err(|error| failed(&error))).collect()
}

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let pair = |line: usize| -> rusqlite::Result<Option<(u32, u32)>> {
        Ok(row.get::<_, Option<u32>>(line)?.zip(row.get::<_, Option<u32>>(line + 1)?))
    };
    let result = match row.get::<_, Option<String>>(10)? {
        None => None,
        Some(worker) => Some(Outcome {
            worker,
            output: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
            test: row.get(12)?,
            diff: row.get(13)?,
        }),
    };
    Ok(Row {
        job_id: row.get(0)?,
        module: row.get(1)?,
        operator: row.get(2)?,
        args: args(&row.get::<_, Option<String>>(3)?.unwrap_or_default()),
        occurrence: row.get(4)?,
        start: pair(5)?,
        end: pair(7)?,
        definition: row.get(9)?,
        result,
    })
}

fn columns(session: &Connection, table: &str) -> Vec<String> {
    let Ok(mut query) = session.prepare("select name from pragma_table_info(?)") else { return Vec::new() };
    let Ok(rows) = query.query_map([table], |row| row.get::<_, String>(0)) else { return Vec::new() };
    rows.flatten().collect()
}

/// Arguments are JSON within JSON (`"\"{}\""`); none are an empty text.
pub(super) fn args(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    while let serde_json::Value::String(inner) = &value {
        value = serde_json::from_str(inner).unwrap_or_default();
    }
    match &value {
        serde_json::Value::Object(map) if !map.is_empty() => value.to_string(),
        _ => String::new(),
    }
}

/// The session with the rows of these keys alone.
pub(super) fn select(bytes: &[u8], keys: &BTreeSet<&str>) -> Result<Vec<u8>, ParseError> {
    let at = "session.sqlite";
    let rows = read(at, bytes)?;
    let mut session = sqlite::open(at, bytes)?;
    let failed =
        |error: &rusqlite::Error| ParseError::Malformed { at: at.to_owned(), why: error.to_string() };
    let gone = rows.iter().filter(|row| !keys.contains(row.key().0.as_str()));
    for row in gone {
        for table in ["work_results", "mutation_specs", "work_items"] {
            session
                .execute(&format!("delete from {table} where job_id = ?"), [&row.job_id])
                .map_err(|error| failed(&error))?;
        }
    }
    session.execute_batch("vacuum").map_err(|error| failed(&error))?;
    sqlite::bytes(at, &mut session)
}
