//! Reads reports that Stryker.NET wrote elsewhere, JSON or HTML.
//!
//! In: named files. Out: [`Parsed`], one mutant per reported mutant. I/O: none.

use super::ID;
use super::report::{raw, test_names};
use crate::formats::elements::{mutants, read};
use crate::formats::elements_import::raw_path;
use crate::{Finish, Key, ParseError, Parsed, Promised};

/// Every mutant of every report.
pub(super) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    if files.is_empty() {
        return Err(ParseError::MissingArtifact {
            what: "mutation-report.json or mutation-report.html".to_owned(),
        });
    }
    let mut parsed = Parsed { finish: Finish::Complete, ..Parsed::default() };
    for (name, bytes) in files {
        let report = read(ID, name, bytes)?;
        let names = test_names(&report);
        parsed.seen.extend(
            report.files.iter().filter(|(_, file)| file.language != "none").map(|(path, _)| raw_path(path)),
        );
        for (pointer, path, mutant) in mutants(&report) {
            let source = report.files.get(path).map(|file| file.source.as_str()).unwrap_or_default();
            let mut record = raw(path, mutant, source, &names)?;
            record.key = Key(format!("{name}#{pointer}"));
            record.pointer = Some(pointer);
            record.artifact.clone_from(name);
            parsed.mutants.push(record);
        }
    }
    parsed.promised = Promised::Announced(parsed.mutants.len() as u64);
    Ok(parsed)
}
