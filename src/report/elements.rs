//! The report as mutation-testing-elements JSON, schema 2: for the viewers and dashboards that read it.
//!
//! In: a report and sources. Out: bytes. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{Mutant, Position, RepoPath, Report, Status};
use serde::Serialize;

use super::{FormatInfo, RenderError, Renderer};
use crate::sources::Sources;

/// The mutation-testing-elements format.
#[derive(Debug, Clone, Copy)]
pub struct Elements;

impl Renderer for Elements {
    fn info(&self) -> &'static FormatInfo {
        &FormatInfo {
            name: "elements",
            ending: "json",
            about: "mutation-testing-elements JSON (schema 2) of all projects together, for viewers that read it",
        }
    }

    fn render(&self, report: &Report, sources: &Sources) -> Result<Vec<u8>, RenderError> {
        let mut by_file: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
        for mutant in &report.mutants {
            by_file.entry(file_of(mutant)).or_default().push(mutant);
        }
        let files = by_file.iter().map(|(path, mutants)| (*path, file(path, mutants, sources))).collect();
        let document = Document {
            schema_version: "2.0",
            thresholds: Thresholds { high: 80, low: 60 },
            files,
            framework: Framework { name: "polymut", version: &report.polymut },
        };
        let mut bytes = serde_json::to_vec(&document)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: &'static str,
    thresholds: Thresholds,
    files: BTreeMap<&'a str, File<'a>>,
    framework: Framework<'a>,
}

#[derive(Serialize)]
struct Thresholds {
    high: u8,
    low: u8,
}

#[derive(Serialize)]
struct Framework<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
struct File<'a> {
    language: &'static str,
    source: String,
    mutants: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    id: &'a str,
    mutator_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    location: Location,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    killed_by: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    covered_by: &'a [String],
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<f64>,
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    is_static: Option<bool>,
}

/// Lines and columns from 1, columns in UTF-16 units, the end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Location {
    start: Point,
    end: Point,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Point {
    line: u32,
    column: u32,
}

/// A mutant without a file keeps a place, so that none is lost.
fn file_of(mutant: &Mutant) -> &str {
    let named = mutant.file.as_ref().map(RepoPath::as_str).or(mutant.tool_file.as_deref());
    named.unwrap_or("(no file)")
}

fn file<'a>(path: &str, mutants: &[&'a Mutant], sources: &Sources) -> File<'a> {
    let known = RepoPath::new(path).ok().and_then(|path| sources.text(&path).map(str::to_owned));
    let last = mutants.iter().filter_map(|mutant| mutant.span).map(|span| span.lines().last).max();
    // Without the source, empty lines keep every place inside the text.
    let source = known.unwrap_or_else(|| "\n".repeat(last.unwrap_or(1).min(100_000) as usize));
    let lines: Vec<&str> = source.split('\n').collect();
    let mutants = mutants.iter().map(|mutant| entry(mutant, &lines)).collect();
    File { language: language(path), mutants, source }
}

fn entry<'a>(mutant: &'a Mutant, lines: &[&str]) -> Entry<'a> {
    let (status, more) = status(mutant.status);
    let reason = match (more, &mutant.detail) {
        (None, detail) => detail.clone(),
        (Some(more), None) => Some(more.to_owned()),
        (Some(more), Some(detail)) => Some(format!("{more}: {detail}")),
    };
    Entry {
        id: mutant.id.as_str(),
        mutator_name: &mutant.operator.name,
        replacement: mutant.replacement.as_deref(),
        description: mutant.description.as_deref(),
        location: location(mutant, lines),
        status,
        status_reason: reason,
        killed_by: &mutant.killed_by,
        covered_by: &mutant.covered_by,
        duration: mutant.duration.filter(|seconds| seconds.is_finite()).map(|seconds| seconds * 1000.0),
        is_static: mutant.is_static,
    }
}

/// The format's word, and what it has no word for.
fn status(status: Status) -> (&'static str, Option<&'static str>) {
    match status {
        Status::Killed => ("Killed", None),
        Status::Timeout => ("Timeout", None),
        Status::OutOfMemory => ("Timeout", Some("out of memory")),
        Status::Survived => ("Survived", None),
        Status::NoCoverage => ("NoCoverage", None),
        Status::Unviable => ("CompileError", None),
        Status::Ignored => ("Ignored", None),
        Status::NotRun => ("Pending", Some("not run")),
        Status::Errored => ("RuntimeError", None),
        Status::Flaky => ("Pending", Some("judged twice with two answers")),
    }
}

fn location(mutant: &Mutant, lines: &[&str]) -> Location {
    let Some(span) = mutant.span else {
        return Location { start: Point { line: 1, column: 1 }, end: Point { line: 1, column: 2 } };
    };
    let start = point(span.start, lines).unwrap_or(Point { line: span.start.line, column: 1 });
    let end = span.end.and_then(|end| point(end, lines));
    let end = end.filter(|end| (end.line, end.column) > (start.line, start.column));
    let rest = || Point { line: start.line, column: (line_end(lines, start.line)).max(start.column + 1) };
    Location { start, end: end.unwrap_or_else(rest) }
}

/// The column counted in UTF-16 units, as the format's viewers do.
fn point(position: Position, lines: &[&str]) -> Option<Point> {
    let column = position.column?;
    let text = at(lines, position.line);
    let before = text.chars().take(column.saturating_sub(1) as usize);
    let (scalars, units) = before.fold((0_u32, 0_u32), |(scalars, units), character| {
        (scalars + 1, units + if character.len_utf16() == 2 { 2 } else { 1 })
    });
    // Beyond the known text a scalar counts as one unit.
    Some(Point { line: position.line, column: column + units - scalars })
}

fn line_end(lines: &[&str], line: u32) -> u32 {
    let units = at(lines, line).trim_end_matches('\r').encode_utf16().count();
    u32::try_from(units).unwrap_or(u32::MAX - 1) + 1
}

fn at<'a>(lines: &[&'a str], line: u32) -> &'a str {
    lines.get(line.saturating_sub(1) as usize).copied().unwrap_or_default()
}

/// The name that the format's highlighter knows, by file ending.
fn language(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "rs" => "rust",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "tsx",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "jsx",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "cs" => "cs",
        "go" => "go",
        "py" => "python",
        "scala" => "scala",
        "vue" | "svelte" | "html" => "html",
        "php" => "php",
        _ => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_utf16_units() {
        let lines = ["let a = \"😀é\"; a < b"];
        let column =
            |column| point(Position { line: 1, column: Some(column) }, &lines).map(|point| point.column);
        assert_eq!(column(10), Some(10));
        assert_eq!(column(11), Some(12));
        assert_eq!(column(12), Some(13));
        assert_eq!(column(500), Some(501));
    }
}
