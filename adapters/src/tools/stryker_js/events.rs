//! What polymut's plugin wrote, one JSON object per line.
//!
//! In: bytes of `events.ndjson`. Out: [`Events`]. I/O: none.

use serde::Deserialize;

use super::INFO;
use crate::formats::elements::{ElementsMutant, ElementsStatus};
use crate::formats::text;
use crate::{ParseError, Ran};

/// The artifact's name.
pub(super) const EVENTS: &str = "events.ndjson";

/// The word of a mutant that is only listed.
pub(super) const LISTED: &str = "listed";

/// Every event in order, sorted by kind.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Files that Stryker parsed.
    pub(super) files: Vec<String>,
    /// The run without mutants.
    pub(super) dry: Option<Dry>,
    /// How many mutants would be reported.
    pub(super) total: Option<u64>,
    /// Mutants, reported or listed.
    pub(super) mutants: Vec<Told>,
    /// Present when Stryker came to its end: how many mutants were left out as not chosen.
    pub(super) end: Option<u64>,
}

/// The run without mutants.
#[derive(Debug)]
pub(super) struct Dry {
    /// Ids and names.
    pub(super) tests: Vec<(String, String)>,
    /// Whether any mutated code was reached.
    pub(super) covered: bool,
}

/// A mutant and where it is told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) file: String,
    pub(super) mutant: ElementsMutant,
    /// 1-based.
    pub(super) line: usize,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Event {
    File { file: String },
    Dry { tests: Vec<(String, String)>, covered: bool },
    Plan { total: u64 },
    Mutant { file: String, mutant: ElementsMutant },
    Listed { file: String, mutant: ElementsMutant },
    End { not_chosen: u64 },
}

impl Events {
    /// The events that a stage left; none where it wrote no file.
    pub(super) fn of(ran: &Ran) -> Result<Self, ParseError> {
        ran.file_ending(EVENTS).map_or_else(|| Ok(Self::default()), Self::read)
    }

    fn read(bytes: &[u8]) -> Result<Self, ParseError> {
        let text = text::decode(EVENTS, bytes)?;
        let mut events = Self::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str(line) {
                Ok(event) => events.add(event, index + 1)?,
                // The writer was stopped in the middle of its last line.
                Err(error) if error.is_eof() && !line.ends_with('\n') => break,
                Err(error) => {
                    let at = format!("{EVENTS}:{}", index + 1);
                    return Err(ParseError::Malformed { at, why: error.to_string() });
                }
            }
        }
        Ok(events)
    }

    fn add(&mut self, event: Event, line: usize) -> Result<(), ParseError> {
        match event {
            Event::File { file } => self.files.push(file),
            Event::Dry { tests, covered } => self.dry = Some(Dry { tests, covered }),
            Event::Plan { total } => self.total = Some(total),
            Event::Mutant { file, mutant } => {
                known(&mutant, line, false)?;
                self.mutants.push(Told { file, mutant, line });
            }
            Event::Listed { file, mutant } => {
                known(&mutant, line, true)?;
                self.mutants.push(Told { file, mutant, line });
            }
            Event::End { not_chosen } => self.end = Some(not_chosen),
        }
        Ok(())
    }
}

fn known(mutant: &ElementsMutant, line: usize, listed: bool) -> Result<(), ParseError> {
    let word = &mutant.status;
    if ElementsStatus::of(word).is_some() || (listed && word == LISTED) {
        return Ok(());
    }
    Err(ParseError::UnknownStatus { tool: INFO.id, word: word.clone(), at: format!("{EVENTS}:{line}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"event\":\"file\",\"file\":\"a.ts\"}\n{\"event\":\"plan\",\"total\":2}\n{\"event\":\"end\",\"notChosen\":3}\n";

    #[test]
    fn a_cut_last_line_is_no_event_and_a_bad_line_is_an_error() {
        assert_eq!(Events::read(LINES.as_bytes()).unwrap().end, Some(3));
        let cut = Events::read(&LINES.as_bytes()[..LINES.len() - 4]).unwrap();
        assert_eq!((cut.total, cut.end), (Some(2), None));
        let broken = LINES.replace("\"plan\"", "\"plot\"");
        assert!(matches!(Events::read(broken.as_bytes()), Err(ParseError::Malformed { .. })));
    }
}
