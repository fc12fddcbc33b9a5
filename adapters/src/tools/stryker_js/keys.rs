//! The key of a mutant: file, span, operator and replacement, as JSON, so that every stage can take it apart again.
//!
//! In: a reported mutant or a [`Key`]. Out: [`Spot`]. I/O: none.
//!
//! Stryker's own ids are per run; these four are equal in every stage for equal source and version.

use serde::{Deserialize, Serialize};

use crate::formats::elements::ElementsMutant;
use crate::{ColumnUnit, Key, RawPosition, RawSpan};

/// One mutant by what never changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Spot(pub(super) String, pub(super) [u32; 4], pub(super) String, pub(super) Option<String>);

impl Spot {
    pub(super) fn of(file: &str, mutant: &ElementsMutant) -> Self {
        let (start, end) = (mutant.location.start, mutant.location.end);
        let span = [start.line, start.column, end.line, end.column];
        Self(file.to_owned(), span, mutant.mutator_name.clone(), mutant.replacement.clone())
    }

    /// `None` for a text that is no key of this adapter.
    pub(super) fn read(key: &Key) -> Option<Self> {
        serde_json::from_str(&key.0).ok()
    }

    pub(super) fn key(&self) -> Key {
        // A tuple of texts and numbers always serialises.
        Key(serde_json::to_string(self).unwrap_or_default())
    }

    pub(super) fn file(&self) -> &str {
        &self.0
    }

    pub(super) fn raw_span(&self) -> RawSpan {
        let [line, column, end_line, end_column] = self.1;
        RawSpan {
            start: RawPosition { line, column: Some(column) },
            end: Some(RawPosition { line: end_line, column: Some(end_column) }),
            unit: ColumnUnit::Utf16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_can_be_taken_apart_again() {
        let spot = Spot("a \"b\".ts".to_owned(), [1, 2, 3, 4], "X".to_owned(), Some("a\n|| b".to_owned()));
        assert_eq!(Spot::read(&spot.key()), Some(spot));
        assert_eq!(Spot::read(&Key("<chosen>".to_owned())), None);
    }
}
