//! `polymut import cosmic-ray`: sessions and dumps of any version.
//!
//! In: files by name. Out: [`Parsed`]. I/O: none.

use polymut_schemas::{Quote, Status};
use serde::Deserialize;
use serde_json::Value;

use super::session::{Outcome, Row, args, read};
use crate::formats::{sqlite, text};
use crate::{Finish, ParseError, Parsed, Promised, RawMutant};

/// Reads reports by what they are.
pub(super) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    let mut parsed = Parsed::default();
    let mut rows = Vec::new();
    for (name, bytes) in files {
        if sqlite::is_hot_journal(bytes) {
            let text =
                "cosmic-ray was killed while it wrote its session: the file cannot be believed".to_owned();
            parsed.finish = Finish::Broken(Quote { text, at: name.clone() });
        } else if name.ends_with("-journal") {
            // A journal that was finished holds nothing.
        } else {
            // Whatever is no text is tried as a session, whose reader names what it found.
            let found = if text::decode(name, bytes).is_ok_and(|text| text.trim_start().starts_with('[')) {
                dump(name, bytes)?
            } else {
                read(name, bytes)?
            };
            rows.extend(found.into_iter().map(|row| (name.clone(), row)));
        }
    }
    if files.is_empty() {
        return Err(ParseError::MissingArtifact { what: "a session or a dump of cosmic-ray".to_owned() });
    }
    parsed.mutants = rows
        .iter()
        // A doubt is for the stage that settles it; here there is none.
        .map(|(name, row)| row.mutant(name).map(|mutant| RawMutant { doubt: None, ..mutant }))
        .collect::<Result<_, _>>()?;
    parsed.promised = Promised::Listed(u64::try_from(parsed.mutants.len()).unwrap_or(u64::MAX));
    if parsed.finish == Finish::Complete {
        parsed.finish = whole(&parsed.mutants);
    }
    Ok(parsed)
}

/// Whether the session came to its end: mutants without a result are missing answers, and a session in which nothing
/// could be tested has none.
fn whole(mutants: &[RawMutant]) -> Finish {
    let count = |status: Status| mutants.iter().filter(|mutant| mutant.status == Some(status)).count();
    let (open, lame) = (count(Status::NotRun), count(Status::Errored));
    let quote = |text: String| Quote { text, at: "session".to_owned() };
    if !mutants.is_empty() && lame == mutants.len() {
        Finish::Broken(quote(format!("none of {lame} mutants could be tested")))
    } else if open > 0 {
        Finish::Partial(quote(format!("{open} of {} mutants have no result", mutants.len())))
    } else {
        Finish::Complete
    }
}

/// A mutation as dumps write it; before version 7 its fields stood in the work item itself.
#[derive(Deserialize)]
struct Mutation {
    #[serde(alias = "module")]
    module_path: String,
    #[serde(alias = "operator")]
    operator_name: String,
    #[serde(default)]
    operator_args: Option<Value>,
    occurrence: i64,
    #[serde(default)]
    start_pos: Option<(u32, u32)>,
    #[serde(default)]
    end_pos: Option<(u32, u32)>,
    #[serde(default)]
    definition_name: Option<String>,
}

#[derive(Deserialize)]
struct ResultLine {
    worker_outcome: String,
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    test_outcome: Option<String>,
    #[serde(default)]
    diff: Option<Value>,
}

/// One JSON array per line: the item, and its result or null.
fn dump(at: &str, bytes: &[u8]) -> Result<Vec<Row>, ParseError> {
    let text = text::decode(at, bytes)?;
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1_usize..) {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("{at}:{number}");
        let (item, result): (Value, Option<ResultLine>) =
            serde_json::from_str(line).map_err(|error| json_error(&place, &error))?;
        let job_id = item.get("job_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mutations = match item.get("mutations") {
            Some(Value::Array(mutations)) => mutations.clone(),
            Some(_) | None => vec![item.clone()],
        };
        // The tool's own baseline has no mutation.
        let Some(first) = mutations.into_iter().next() else { continue };
        let mutation: Mutation = serde_json::from_value(first).map_err(|error| json_error(&place, &error))?;
        rows.push(row(job_id, mutation, result));
    }
    Ok(rows)
}

fn row(job_id: String, mutation: Mutation, result: Option<ResultLine>) -> Row {
    let diff = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    Row {
        job_id,
        module: mutation.module_path,
        operator: mutation.operator_name,
        args: mutation.operator_args.map(|value| args(&value.to_string())).unwrap_or_default(),
        occurrence: mutation.occurrence,
        start: mutation.start_pos,
        end: mutation.end_pos,
        definition: mutation.definition_name,
        result: result.map(|result| Outcome {
            worker: result.worker_outcome,
            test: result.test_outcome,
            output: result.output.unwrap_or_default(),
            diff: result.diff.and_then(diff),
        }),
    }
}

fn json_error(at: &str, error: &serde_json::Error) -> ParseError {
    if error.is_eof() {
        ParseError::Truncated { at: at.to_owned(), why: "a line of the dump".to_owned() }
    } else {
        ParseError::Malformed { at: at.to_owned(), why: error.to_string() }
    }
}
