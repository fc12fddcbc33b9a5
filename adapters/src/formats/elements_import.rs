//! Mutation-testing-elements reports that were written elsewhere, as raw mutants.
//!
//! In: named bytes. Out: [`Parsed`] with one raw mutant per reported one. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::OperatorClass;

use super::elements::{ElementsMutant, ElementsReport, ElementsStatus, mutants, read};
use crate::{Change, Doubt, Finish, Key, ParseError, Parsed, Promised, RawMutant, RawPath, Tests};

/// Everything that reports written elsewhere hold: one raw mutant per reported one, with `class` naming operators.
pub fn import(
    tool: &'static str,
    class: fn(&str) -> OperatorClass,
    files: &[(String, Vec<u8>)],
) -> Result<Parsed, ParseError> {
    if files.is_empty() {
        return Err(ParseError::MissingArtifact { what: "a mutation-testing-elements report".to_owned() });
    }
    let mut parsed = Parsed::default();
    for (name, bytes) in files {
        let report = read(tool, name, bytes)?;
        if let Some(version) = report.framework.as_ref().and_then(|framework| framework.version.as_deref()) {
            parsed.facts.set("tool.version", version);
        }
        parsed.seen.extend(report.files.keys().map(|path| raw_path(path)));
        let names = test_names(&report);
        for (pointer, path, mutant) in mutants(&report) {
            parsed.mutants.push(raw(path, mutant, &names, class(&mutant.mutator_name), (name, pointer)));
        }
    }
    parsed.promised = Promised::Announced(parsed.mutants.len() as u64);
    parsed.finish = Finish::Complete;
    Ok(parsed)
}

/// Test names by id, with the file before them where it is known.
pub fn test_names(report: &ElementsReport) -> BTreeMap<&str, String> {
    let files = report.test_files.iter().flatten();
    files
        .flat_map(|(path, file)| file.tests.iter().map(move |test| (path, test)))
        .map(|(path, test)| {
            let name = if path.is_empty() { test.name.clone() } else { format!("{path}: {}", test.name) };
            (test.id.as_str(), name)
        })
        .collect()
}

/// A path of a report: absolute where the writer put one.
pub fn raw_path(path: &str) -> RawPath {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with('/') || drive {
        RawPath::Absolute(path.to_owned())
    } else {
        RawPath::FromProject(path.to_owned())
    }
}

fn raw(
    path: &str,
    mutant: &ElementsMutant,
    names: &BTreeMap<&str, String>,
    class: OperatorClass,
    (artifact, pointer): (&str, String),
) -> RawMutant {
    let name = |id: &String| names.get(id.as_str()).unwrap_or(id).clone();
    let tests = |ids: &Option<Vec<String>>| ids.iter().flatten().map(name).collect();
    let status = ElementsStatus::of(&mutant.status);
    let unrun = status == Some(ElementsStatus::Survived) && mutant.tests_completed == Some(0.0);
    RawMutant {
        key: Key(format!("{artifact}#{pointer}")),
        path: raw_path(path),
        span: mutant.location.raw(),
        status: status.map(ElementsStatus::status),
        word: mutant.status.clone(),
        doubt: unrun.then_some(Doubt::NoTestRun),
        change: Change {
            operator: mutant.mutator_name.clone(),
            class: Some(class),
            original: None,
            replacement: mutant.replacement.clone(),
            diff: None,
            description: mutant.description.clone(),
        },
        tests: Tests { killed_by: tests(&mutant.killed_by), covered_by: tests(&mutant.covered_by) },
        function: None,
        detail: mutant.status_reason.clone(),
        duration: mutant.duration.map(|milliseconds| milliseconds / 1000.0),
        is_static: mutant.is_static,
        pointer: Some(pointer),
        artifact: artifact.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_without_a_test_run_is_doubted_and_every_word_is_kept() {
        for status in ElementsStatus::ALL {
            let bytes = format!(
                r#"{{"schemaVersion":"1","files":{{"a.js":{{"mutants":[{{"id":7,"status":"{}","testsCompleted":0,
                "location":{{"start":{{"line":1,"column":1}},"end":{{"line":1,"column":2}}}}}}]}}}}}}"#,
                status.word()
            )
            .into_bytes();
            let parsed = import("t", |_| OperatorClass::Other, &[("r.json".to_owned(), bytes)]).unwrap();
            let mutant = &parsed.mutants[0];
            assert_eq!((mutant.word.as_str(), mutant.status), (status.word(), Some(status.status())));
            assert_eq!(mutant.doubt.is_some(), status == ElementsStatus::Survived);
        }
    }
}
