//! The report inside an HTML page of the Stryker family.
//!
//! In: the page's text. Out: the report. I/O: none.
//!
//! Two forms are known: a script that assigns `….report = {…}` with every `<` of the JSON written as `<"+"` (StrykerJS,
//! Stryker.NET), and an inert `<script type="application/json">` with `<` as `\u003c`, which is JSON as it stands.

use serde::Deserialize as _;

use super::elements::{ElementsReport, failure};
use crate::ParseError;

const MARKS: [&str; 3] = [".report = ", ".report=", "<script type=\"application/json\""];

/// The first embedded report of the page.
pub(super) fn embedded(name: &str, page: &str) -> Result<ElementsReport, ParseError> {
    if !is_whole(page) {
        return Err(ParseError::Truncated {
            at: name.to_owned(),
            why: "an HTML page without its end".to_owned(),
        });
    }
    let mut worst = None;
    for json in candidates(page) {
        let plain = json.replace("<\"+\"", "<");
        match ElementsReport::deserialize(&mut serde_json::Deserializer::from_str(&plain)) {
            Ok(report) => return Ok(report),
            Err(error) => worst = Some(failure(name, &error)),
        }
    }
    let why = "no mutation-testing-elements report inside this page".to_owned();
    Err(worst.unwrap_or(ParseError::Malformed { at: name.to_owned(), why }))
}

/// Whether the page has its end: `</html>` where it opens one, else any closed tag.
fn is_whole(page: &str) -> bool {
    let head: String = page.chars().take(400).collect();
    let end = page.trim_end();
    if head.to_ascii_lowercase().contains("<html") { end.ends_with("</html>") } else { end.ends_with('>') }
}

/// What follows each mark, from its first brace on. Libraries on the page have marks of their own; only an object that
/// begins with a quoted name can be a report.
fn candidates(page: &str) -> impl Iterator<Item = &str> {
    MARKS.into_iter().flat_map(move |mark| {
        page.match_indices(mark).filter_map(move |(at, _)| {
            let after = page.get(at + mark.len()..)?;
            let body = if mark.starts_with('<') { after.split_once('>')?.1 } else { after };
            let body = body.trim_start();
            let inner = body.strip_prefix('{')?.trim_start();
            (inner.is_empty() || inner.starts_with('"')).then_some(body)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"schemaVersion":"1.0","thresholds":{"high":80,"low":60},"files":{"a<b.js":{"language":"javascript","source":"1 < 2","mutants":[]}}}"#;

    fn page(body: &str) -> String {
        format!("<!DOCTYPE html><html><script>x.report=e;y.report={{a:1}}</script><body>{body}</body></html>")
    }

    #[test]
    fn both_forms_are_read() {
        let assigned = REPORT.replace('<', "<\"+\"");
        let assigned = page(&format!("<script>const app = q('x');\n app.report = {assigned};\n</script>"));
        let inert = page(&format!(
            "<script type=\"application/json\" id=\"r\">{}</script>",
            REPORT.replace('<', "\\u003c")
        ));
        for text in [assigned, inert] {
            let report = embedded("r.html", &text).unwrap();
            assert_eq!(report.files["a<b.js"].source, "1 < 2");
        }
    }

    #[test]
    fn a_cut_page_is_truncated_and_a_foreign_page_is_malformed() {
        let whole = page(&format!("<script>app.report = {REPORT};</script>"));
        let cut = &whole[..whole.find("mutants").unwrap()];
        assert!(matches!(embedded("r.html", cut), Err(ParseError::Truncated { .. })));
        assert!(matches!(embedded("r.html", "<html><body>"), Err(ParseError::Truncated { .. })));
        assert!(matches!(embedded("r.html", &page("hello")), Err(ParseError::Malformed { .. })));
    }
}
