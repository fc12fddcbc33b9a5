//! `polymut import mutmut`: `.meta` files of mutmut 3, cache and JUnit of mutmut 2.
//!
//! In: files by name. Out: [`Parsed`]. I/O: none.

use polymut_schemas::{Quote, Status};

use super::answer::blank;
use super::import_two::{cache, junit};
use super::meta::{Meta, answer};
use crate::formats::{sqlite, text};
use crate::{Doubt, Finish, ParseError, Parsed, Promised, RawMutant};

/// Files of `mutants/` that hold no answers.
const BESIDE: &[&str] = &[".py", ".spans", "mutmut-stats.json", "mutmut-cicd-stats.json", ".toml", ".cfg"];

/// Reads reports by what they are, not by their names.
pub(super) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    let mut mutants = Vec::new();
    let mut notes = Vec::new();
    let mut read = 0;
    for (name, bytes) in files {
        if sqlite::is_sqlite(bytes) {
            mutants.extend(cache(name, bytes)?);
        } else if BESIDE.iter().any(|ending| name.ends_with(ending)) {
            continue;
        } else if text::decode(name, bytes)?.trim_start().starts_with('<') {
            let (found, note) = junit(name, bytes)?;
            mutants.extend(found);
            notes.extend(note);
        } else {
            mutants.extend(meta(name, bytes)?);
        }
        read += 1;
    }
    if read == 0 {
        return Err(ParseError::MissingArtifact {
            what: "a `.py.meta` file of mutmut 3, or a `.mutmut-cache` or JUnit file of mutmut 2,".to_owned(),
        });
    }
    let promised = Promised::Listed(u64::try_from(mutants.len()).unwrap_or(u64::MAX));
    let open = mutants.iter().filter(|mutant| mutant.status == Some(Status::NotRun)).count();
    let finish = if open == 0 {
        Finish::Complete
    } else {
        let text = format!("{open} of {} mutants were not run", mutants.len());
        Finish::Partial(Quote { text, at: "import".to_owned() })
    };
    Ok(Parsed { finish, promised, mutants, notes, ..Parsed::default() })
}

fn meta(name: &str, bytes: &[u8]) -> Result<Vec<RawMutant>, ParseError> {
    let meta = Meta::read(name, bytes)?;
    // `mutants/` mirrors the project's folder.
    let path = name.strip_suffix(".meta").unwrap_or(name);
    let path = path.rsplit_once("mutants/").map_or(path, |(_, below)| below);
    let mutant = |(key, code): &(String, Option<i64>)| {
        let found = answer(*code);
        let detail = match (found.status, code) {
            (Status::Unviable, _) => meta.type_errors.get(key).cloned(),
            (Status::Errored, Some(code)) => Some(format!("exit code {code}")),
            (_, _) => None,
        };
        let duration = meta.durations.get(key).copied().filter(|seconds| *seconds > 0.0);
        RawMutant {
            detail,
            duration,
            doubt: None::<Doubt>,
            pointer: Some(key.clone()),
            artifact: name.to_owned(),
            ..blank(key, path, found)
        }
    };
    Ok(meta.codes.iter().map(mutant).collect())
}
