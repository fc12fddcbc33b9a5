//! One `mutations.xml`: its records, and whether it is whole.
//!
//! In: bytes of a report. Out: [`Report`]. I/O: none.

use super::mutants::Record;
use super::xml::{self, Damage};
use crate::ParseError;
use crate::formats::text;

/// What a report holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// Whole mutations in order.
    pub(crate) records: Vec<Record>,
    /// Why there may be more.
    pub(crate) damage: Option<Damage>,
}

/// Reads a report. What ends in the middle gives its whole mutations; what is no report of PIT is an error.
pub(crate) fn read(artifact: &str, bytes: &[u8]) -> Result<Report, ParseError> {
    let text = text::lenient(artifact, bytes)?;
    let document = xml::read(&text);
    let Some(root) = document.root else {
        let why = document.damage.map_or_else(|| "no XML element".to_owned(), |damage| damage.why);
        return Err(ParseError::Truncated { at: artifact.to_owned(), why });
    };
    if root.name != "mutations" {
        return Err(ParseError::Malformed {
            at: format!("{artifact}:{}", root.line),
            why: format!("`<{}>` where `<mutations>` is expected", root.name),
        });
    }
    let wanted = root.children.iter().filter(|child| child.name == "mutation");
    let records = wanted.map(|child| Record::read(child, artifact)).collect::<Result<_, _>>()?;
    Ok(Report { records, damage: document.damage })
}
