//! The joint of every format, and the only list of formats.
//!
//! In: a report and sources. Out: bytes. I/O: none.

use polymut_schemas::Report;

use super::{Elements, Html, Json, Palette, Text};
use crate::sources::Sources;

/// What is known of a format beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// The name that `--format` takes.
    pub name: &'static str,
    /// Usual ending of its files, without the dot.
    pub ending: &'static str,
    /// Who it is for, as the README says it.
    pub about: &'static str,
}

/// A report cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A number that JSON has no word for.
    #[error("{at} is not a finite number")]
    NotFinite {
        /// Which field of the report.
        at: String,
    },
    /// JSON could not be made.
    #[error("the report cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A template is wrong.
    #[error("the HTML template cannot be filled")]
    Html(#[source] Box<handlebars::RenderError>),
    /// A template cannot be read.
    #[error("the HTML template cannot be read")]
    Template(#[source] Box<handlebars::TemplateError>),
}

impl RenderError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        Some("this is a fault of polymut; the JSON document of the run holds everything".to_owned())
    }
}

/// One format.
pub trait Renderer: Sync {
    /// Name, ending and purpose.
    fn info(&self) -> &'static FormatInfo;

    /// The report in this format. Sources are used where they are at hand; no format needs them.
    fn render(&self, report: &Report, sources: &Sources) -> Result<Vec<u8>, RenderError>;
}

/// Every format, in the order of the README's table.
pub static FORMATS: &[&dyn Renderer] = &[&Text { palette: Palette::Plain }, &Json, &Html, &Elements];

/// The format called `name`.
pub fn format(name: &str) -> Option<&'static dyn Renderer> {
    FORMATS.iter().copied().find(|format| format.info().name == name)
}
