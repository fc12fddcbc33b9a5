//! Reads `mutants.out` folders that cargo-mutants 0.2 to 27 left elsewhere.
//!
//! In: files of one folder with their names. Out: [`Parsed`], one mutant per planned mutant. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{Quote, Status};

use super::run::{Folder, Reading, name_lists, notes, outcomes};
use crate::{Facts, Finish, Note, ParseError, Parsed, Promised, RawMutant};

/// Reads one folder. Only `outcomes.json` says how a run ended; without it the result is never complete.
pub(super) fn import(files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
    let folder = folder(files)?;
    let known = |name: &str| folder.files.contains_key(name);
    let reading = if known("outcomes.json") {
        outcomes(&folder)?
    } else if known("mutants.json") {
        name_lists(&folder)?
    } else {
        return Err(ParseError::MissingArtifact { what: "outcomes.json or mutants.json".to_owned() });
    };
    let mut found = notes(&reading.mutants);
    found.extend(disagreement(&folder, &reading));
    let finish = finish(&folder, &reading);
    let mut mutants = reading.mutants;
    mutants.extend(reading.untested.into_iter().map(not_run));
    let promised = match reading.planned {
        Some(planned) => Promised::Listed(planned),
        None => Promised::Unknown("mutants.json is not among the files"),
    };
    let mut facts = Facts::default();
    if let Some(version) = reading.version {
        facts.set("tool.version", version);
    }
    Ok(Parsed { finish, promised, mutants, facts, notes: found, ..Parsed::default() })
}

/// The files by their paths below the folder that holds `outcomes.json` (or `mutants.json`).
fn folder(files: &[(String, Vec<u8>)]) -> Result<Folder<'_>, ParseError> {
    let root = |wanted: &str| {
        let found: Vec<&str> = files.iter().filter_map(|(name, _)| strip_name(name, wanted)).collect();
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            [first, second, ..] => Err(ParseError::Malformed {
                at: format!("{second}{wanted}"),
                why: format!("{first}{wanted} is given as well; import one run at a time"),
            }),
        }
    };
    let at = match root("outcomes.json")? {
        Some(at) => at,
        None => root("mutants.json")?.unwrap_or_default(),
    };
    let files: BTreeMap<&str, &[u8]> =
        files.iter().filter_map(|(name, bytes)| Some((name.strip_prefix(at)?, bytes.as_slice()))).collect();
    Ok(Folder { at: at.trim_end_matches('/').to_owned(), files })
}

fn strip_name<'a>(name: &'a str, wanted: &str) -> Option<&'a str> {
    name.strip_suffix(wanted).filter(|root| root.is_empty() || root.ends_with('/'))
}

fn not_run(mut mutant: RawMutant) -> RawMutant {
    mutant.status = Some(Status::NotRun);
    "no outcome".clone_into(&mut mutant.word);
    mutant
}

fn finish(folder: &Folder<'_>, reading: &Reading) -> Finish {
    let quote = |text: String| Quote { text, at: folder.path("outcomes.json") };
    let (tested, left) = (reading.mutants.len(), reading.untested.len());
    if let Some(red) = &reading.red_baseline {
        return Finish::RedBaseline(red.clone());
    }
    if reading.planned == Some(0) || (tested == 0 && left == 0) {
        return Finish::Nothing(quote("no mutant was planned".to_owned()));
    }
    if let Some(text) = &reading.broken_off {
        let text = format!("{tested} of {} mutants have an outcome; {text}", tested + left);
        return if tested == 0 { Finish::Nothing(quote(text)) } else { Finish::Partial(quote(text)) };
    }
    if left > 0 {
        return Finish::Partial(quote(format!("{tested} of {} mutants have an outcome", tested + left)));
    }
    if reading.planned.is_some_and(|planned| planned != tested as u64) {
        let planned = reading.planned.unwrap_or_default();
        return Finish::Broken(quote(format!("{tested} outcomes of {planned} planned mutants")));
    }
    Finish::Complete
}

/// The lists of names beside `outcomes.json`, where they tell another story: a folder that mixes runs.
fn disagreement(folder: &Folder<'_>, reading: &Reading) -> Vec<Note> {
    let lists = [
        ("caught.txt", Status::Killed),
        ("missed.txt", Status::Survived),
        ("timeout.txt", Status::Timeout),
        ("unviable.txt", Status::Unviable),
    ];
    let mut notes = Vec::new();
    for (file, status) in lists {
        let Some(bytes) = folder.files.get(file) else { continue };
        let listed = String::from_utf8_lossy(bytes).lines().count();
        let word = |mutant: &&RawMutant| match mutant.word.as_str() {
            "CaughtMutant" => status == Status::Killed,
            "MissedMutant" => status == Status::Survived,
            "Timeout" => status == Status::Timeout,
            "Unviable" => status == Status::Unviable,
            _ => false,
        };
        let counted = reading.mutants.iter().filter(word).count();
        if listed != counted {
            let text = format!(
                "{file} has {listed} lines, outcomes.json {counted} such outcomes; the latter counts"
            );
            notes.push(Note(text));
        }
    }
    notes
}
