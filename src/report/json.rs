//! The verdict document as JSON: keys in the order of the schema, two spaces, a line feed at the end.
//!
//! In: a report. Out: bytes. I/O: none.

use polymut_schemas::{Group, Report};

use super::{FormatInfo, RenderError, Renderer};
use crate::sources::Sources;

/// The document itself.
#[derive(Debug, Clone, Copy)]
pub struct Json;

impl Renderer for Json {
    fn info(&self) -> &'static FormatInfo {
        &FormatInfo {
            name: "json",
            ending: "json",
            about: "the whole verdict document, schema `polymut/1`; every other format can be made from it",
        }
    }

    fn render(&self, report: &Report, _sources: &Sources) -> Result<Vec<u8>, RenderError> {
        finite(report)?;
        let mut bytes = serde_json::to_vec_pretty(report)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// JSON has no word for NaN; `null` in its place would be a document that nobody reads back.
fn finite(report: &Report) -> Result<(), RenderError> {
    let check = |value: Option<f64>, at: String| match value {
        Some(number) if !number.is_finite() => Err(RenderError::NotFinite { at }),
        Some(_) | None => Ok(()),
    };
    for mutant in &report.mutants {
        check(mutant.duration, format!("the duration of mutant {}", mutant.id))?;
    }
    for run in &report.runs {
        check(Some(run.timing.wall), format!("the wall time of {}", run.project))?;
        check(
            run.baseline.as_ref().and_then(|base| base.duration),
            format!("the baseline time of {}", run.project),
        )?;
        for (stage, seconds) in &run.timing.stages {
            check(Some(*seconds), format!("the time of {stage:?} of {}", run.project))?;
        }
    }
    let summary = &report.summary;
    let groups: Vec<&Group> = std::iter::once(&summary.total)
        .chain(summary.projects.values())
        .chain(summary.tools.values())
        .chain(summary.owners.values())
        .chain(summary.operators.values())
        .collect();
    groups.iter().try_for_each(|group| check(group.score, "a score of the summary".to_owned()))
}
