//! The report as one self-contained page: no script, no outside resource, readable without its style.
//!
//! In: a report and sources. Out: HTML that is also well-formed XML. I/O: none.
//!
//! # Invariants
//! - Every word passes the template engine's escaping; only our own style sheet does not.
//! - Structure carries the meaning (`<del>`, `<ins>`, `<mark>`, tables, headings): a server that forbids styles and
//!   scripts shows a plain page that reads the same.
//! - Survivors are never cut. Beyond [`FULL_CARDS`] they lose their code, not their line.

mod cards;
mod lists;
mod model;
mod page;
mod runs;

use handlebars::Handlebars;
use polymut_schemas::Report;

use super::{FormatInfo, RenderError, Renderer};
use crate::sources::Sources;

/// How many survivors and uncovered mutants are shown with their code.
pub(super) const FULL_CARDS: usize = 600;
/// How many lines each folded list has.
pub(super) const LIST_ROWS: usize = 1000;

/// The HTML format.
#[derive(Debug, Clone, Copy)]
pub struct Html;

impl Renderer for Html {
    fn info(&self) -> &'static FormatInfo {
        &FormatInfo {
            name: "html",
            ending: "html",
            about: "one self-contained page for review: no script, nothing loaded from elsewhere",
        }
    }

    fn render(&self, report: &Report, sources: &Sources) -> Result<Vec<u8>, RenderError> {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        for (name, template) in TEMPLATES {
            engine
                .register_template_string(name, template)
                .map_err(|error| RenderError::Template(Box::new(error)))?;
        }
        let page = page::page(report, sources);
        let html = engine.render("page", &page).map_err(|error| RenderError::Html(Box::new(error)))?;
        Ok(html.into_bytes())
    }
}

const TEMPLATES: &[(&str, &str)] = &[
    ("page", include_str!("../templates/page.hbs")),
    ("find", include_str!("../templates/find.hbs")),
    ("card", include_str!("../templates/card.hbs")),
    ("rows", include_str!("../templates/rows.hbs")),
    ("run", include_str!("../templates/run.hbs")),
    ("tables", include_str!("../templates/tables.hbs")),
];
