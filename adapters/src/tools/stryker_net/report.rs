//! Reads the tool's JSON report: mutants with keys that later stages know them by, and whether it holds what was wanted.
//!
//! In: a mutation-testing-elements report, the project. Out: [`Reading`], [`Key`]s. I/O: none.
//!
//! The tool's ids count up over a whole run and are the same for the same tree. They switch a mutant on, so they are
//! part of the key; place and a digest of the change are in it too, so that a foreign id is noticed.

use std::collections::BTreeMap;

use polymut_schemas::{RepoDir, RepoPath, Status};

use super::operators;
use crate::formats::elements::{ElementsMutant, ElementsReport, ElementsStatus, mutants};
use crate::formats::elements_import::raw_path;
use crate::{Change, Doubt, Key, ParseError, RawMutant, Tests};

/// The reason of mutants that our own choice of files leaves out.
pub(super) const NOT_CHOSEN: &str = "Removed by mutate filter";

/// The reason of mutants that a comparison with another commit leaves out. It is never asked for.
pub(super) const UNCHANGED: &[&str] =
    &["Removed by since filter", "Mutant not changed compared to target commit"];

/// A report with the folders that its paths start with.
pub(super) struct Reading {
    report: ElementsReport,
    artifact: String,
    project: Option<String>,
    repository: Option<String>,
}

/// What a report says of a file that had to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// Its mutants, or that it has none.
    Seen,
    /// It is listed, but our choice of files did not reach it.
    LeftOut,
    /// It is not listed.
    Absent,
}

impl Reading {
    /// Takes a report of the project in `dir`.
    pub(super) fn new(report: ElementsReport, artifact: &str, dir: &RepoDir) -> Self {
        let project = report.project_root.as_ref().map(|root| slashes(root).trim_end_matches('/').to_owned());
        let repository = project.as_ref().and_then(|root| {
            let rest = root.strip_suffix(dir.as_str())?;
            (rest.is_empty() || rest.ends_with('/') || dir.is_root())
                .then(|| rest.trim_end_matches('/').to_owned())
        });
        Self { report, artifact: artifact.to_owned(), project, repository }
    }

    /// Every mutant.
    pub(super) fn mutants(&self) -> Result<Vec<RawMutant>, ParseError> {
        let names = test_names(&self.report);
        let sources: BTreeMap<&str, &str> =
            self.report.files.iter().map(|(path, file)| (path.as_str(), file.source.as_str())).collect();
        mutants(&self.report)
            .map(|(pointer, path, mutant)| {
                let source = sources.get(path).copied().unwrap_or_default();
                let mut raw = raw(path, mutant, source, &names)?;
                raw.key = self.key(path, mutant);
                raw.pointer = Some(pointer);
                raw.artifact.clone_from(&self.artifact);
                Ok(raw)
            })
            .collect()
    }

    /// What the report says of `path`.
    pub(super) fn presence(&self, dir: &RepoDir, path: &RepoPath) -> Presence {
        let wanted = name_of(dir, path);
        let Some((_, file)) = self.report.files.iter().find(|(listed, _)| self.name(listed) == wanted) else {
            return Presence::Absent;
        };
        let filtered = |mutant: &ElementsMutant| mutant.status_reason.as_deref() == Some(NOT_CHOSEN);
        // Out of reach: a file in a folder loses language and mutants, one beside the project file keeps both, and a
        // comment or attribute in the code may have come first.
        let unmade = [ElementsStatus::Ignored.word(), ElementsStatus::CompileError.word()];
        let none_left = file.mutants.iter().all(|mutant| unmade.contains(&mutant.status.as_str()));
        let all_filtered = none_left && file.mutants.iter().any(filtered);
        if file.language == "none" || all_filtered { Presence::LeftOut } else { Presence::Seen }
    }

    fn key(&self, path: &str, mutant: &ElementsMutant) -> Key {
        let place = mutant.location;
        let (from, to) = (place.start, place.end);
        let change =
            format!("{}\0{}", mutant.mutator_name, mutant.replacement.as_deref().unwrap_or_default());
        Key(format!(
            "{}@{}:{}-{}:{}~{:08x} {}",
            mutant.id,
            from.line,
            from.column,
            to.line,
            to.column,
            digest(&change),
            self.name(path)
        ))
    }

    /// A file by its place in the project, or with a leading `/` in the repository.
    fn name(&self, path: &str) -> String {
        let path = slashes(path);
        let below = |root: &Option<String>| {
            root.as_ref()
                .and_then(|root| path.strip_prefix(root.as_str())?.strip_prefix('/').map(str::to_owned))
        };
        below(&self.project)
            .or_else(|| below(&self.repository).map(|rest| format!("/{rest}")))
            .unwrap_or(path.clone())
    }
}

fn name_of(dir: &RepoDir, path: &RepoPath) -> String {
    dir.relative(path).map_or_else(|| format!("/{path}"), str::to_owned)
}

/// The tool's id in a key.
pub(super) fn id_of(key: &Key) -> Option<&str> {
    key.0.split_once('@').map(|(id, _)| id)
}

/// The file in a key.
pub(super) fn file_of(dir: &RepoDir, key: &Key) -> Option<RepoPath> {
    let (_, name) = key.0.split_once(' ')?;
    match name.strip_prefix('/') {
        Some(rest) => RepoPath::new(rest).ok(),
        None => dir.join(name).ok(),
    }
}

/// What a key says of the change, without the id: equal for one change under several target frameworks.
pub(super) fn change_of(key: &Key) -> &str {
    key.0.split_once('@').map_or(key.0.as_str(), |(_, rest)| rest)
}

/// A mutant of the report, still without the adapter's key.
pub(super) fn raw(
    path: &str,
    mutant: &ElementsMutant,
    source: &str,
    names: &BTreeMap<&str, &str>,
) -> Result<RawMutant, ParseError> {
    let reason = mutant.status_reason.as_deref();
    let (status, doubt) = judge(mutant, reason)?;
    let name = |id: &String| names.get(id.as_str()).copied().unwrap_or(id).to_owned();
    let tests = |ids: &Option<Vec<String>>| ids.iter().flatten().map(name).collect();
    let span = mutant.location.raw();
    let original = slice(source, mutant);
    let replacement = mutant.replacement.as_ref();
    Ok(RawMutant {
        key: Key(String::new()),
        path: raw_path(path),
        span,
        status: Some(status),
        word: mutant.status.clone(),
        doubt,
        change: Change {
            operator: mutant.mutator_name.clone(),
            class: Some(operators::class(&mutant.mutator_name)),
            original: None,
            replacement: replacement
                .map(|text| operators::as_text(&mutant.mutator_name, original.as_deref(), text)),
            diff: None,
            description: mutant.description.clone(),
        },
        tests: Tests { killed_by: tests(&mutant.killed_by), covered_by: tests(&mutant.covered_by) },
        function: None,
        detail: mutant.status_reason.clone(),
        duration: mutant.duration.map(|milliseconds| milliseconds / 1000.0),
        is_static: mutant.is_static,
        pointer: None,
        artifact: String::new(),
    })
}

/// What a status means. The words alone do not say it: a survivor that only red tests reach was not judged, and a test
/// host that died is a time-out for one runner and a runtime error for the other.
fn judge(mutant: &ElementsMutant, reason: Option<&str>) -> Result<(Status, Option<Doubt>), ParseError> {
    let says = |words: &str| reason.is_some_and(|reason| reason.contains(words));
    let Some(status) = ElementsStatus::of(&mutant.status) else {
        let at = format!("mutant {}", mutant.id);
        return Err(ParseError::UnknownStatus { tool: super::ID, word: mutant.status.clone(), at });
    };
    let at_load = mutant.is_static == Some(true);
    Ok(match status {
        ElementsStatus::Survived if says("already failing tests") => (Status::NotRun, None),
        // Its code ran before the switch was set, unless the tool started a host for it alone.
        ElementsStatus::Survived => (Status::Survived, at_load.then_some(Doubt::LoadedBefore)),
        ElementsStatus::Timeout if says("crashed or became unreachable") => {
            (Status::Timeout, Some(Doubt::Died))
        }
        ElementsStatus::Timeout => (Status::Timeout, Some(Doubt::Load)),
        ElementsStatus::RuntimeError => (Status::Errored, Some(Doubt::Died)),
        ElementsStatus::Killed
        | ElementsStatus::NoCoverage
        | ElementsStatus::CompileError
        | ElementsStatus::Ignored
        | ElementsStatus::Pending => (status.status(), None),
    })
}

/// Names of tests by id. The files before them are absolute paths of one machine and are left out.
pub(super) fn test_names(report: &ElementsReport) -> BTreeMap<&str, &str> {
    let files = report.test_files.iter().flat_map(BTreeMap::values);
    files.flat_map(|file| &file.tests).map(|test| (test.id.as_str(), test.name.as_str())).collect()
}

/// The text that a mutant replaces; columns count UTF-16 units.
fn slice(source: &str, mutant: &ElementsMutant) -> Option<String> {
    let units: Vec<u16> = source.encode_utf16().collect();
    let mut starts = vec![0];
    starts.extend(
        units.iter().enumerate().filter(|(_, unit)| **unit == u16::from(b'\n')).map(|(at, _)| at + 1),
    );
    let offset = |place: crate::formats::elements::Place| {
        let line = usize::try_from(place.line.checked_sub(1)?).ok()?;
        Some(starts.get(line)? + usize::try_from(place.column.checked_sub(1)?).ok()?)
    };
    let (from, to) = (offset(mutant.location.start)?, offset(mutant.location.end)?);
    String::from_utf16(units.get(from..to)?).ok()
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

/// FNV-1a: short, and the same everywhere.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::elements::read;

    fn reading(root: &str, file: &str, language: &str, mutants: &str) -> Reading {
        let json = format!(
            r#"{{"schemaVersion":"2","projectRoot":"{root}","files":{{"{file}":{{"language":"{language}","source":"a || b;","mutants":[{mutants}]}}}}}}"#
        );
        let report = read("stryker-net", "r.json", json.as_bytes()).unwrap();
        Reading::new(report, "r.json", &RepoDir::new("src/A").unwrap())
    }

    fn mutant(status: &str, more: &str) -> String {
        format!(
            r#"{{"id":"7","mutatorName":"Logical mutation","replacement":"a && b","status":"{status}"{more},
            "location":{{"start":{{"line":1,"column":1}},"end":{{"line":1,"column":7}}}}}}"#
        )
    }

    #[test]
    fn a_key_names_id_place_change_and_file_whatever_the_machine() {
        let one = reading("/x/src/A", "/x/src/A/Sub/B.cs", "cs", &mutant("Killed", ""));
        let key = one.mutants().unwrap()[0].key.clone();
        assert_eq!(id_of(&key), Some("7"));
        let dir = RepoDir::new("src/A").unwrap();
        assert_eq!(file_of(&dir, &key), RepoPath::new("src/A/Sub/B.cs").ok());
        for (root, file) in [
            ("/elsewhere/src/A", "/elsewhere/src/A/Sub/B.cs"),
            ("/x/src/A", "Sub/B.cs"),
            ("C:\\\\x\\\\src\\\\A", "C:\\\\x\\\\src\\\\A\\\\Sub\\\\B.cs"),
        ] {
            assert_eq!(
                reading(root, file, "cs", &mutant("Killed", "")).mutants().unwrap()[0].key,
                key,
                "{root}"
            );
        }
        let linked = reading("/x/src/A", "/x/shared/C.cs", "cs", &mutant("Killed", ""));
        assert_eq!(file_of(&dir, &linked.mutants().unwrap()[0].key), RepoPath::new("shared/C.cs").ok());
    }

    #[test]
    fn a_file_out_of_reach_is_not_seen() {
        let dir = RepoDir::new("src/A").unwrap();
        let at = |language: &str, mutants: &str| {
            reading("/x/src/A", "/x/src/A/B.cs", language, mutants)
                .presence(&dir, &RepoPath::new("src/A/B.cs").unwrap())
        };
        assert_eq!(at("none", ""), Presence::LeftOut);
        assert_eq!(
            at("cs", &mutant("Ignored", r#","statusReason":"Removed by mutate filter""#)),
            Presence::LeftOut
        );
        assert_eq!(
            at("cs", &mutant("Ignored", r#","statusReason":"Removed by block already covered filter""#)),
            Presence::Seen
        );
        assert_eq!(at("cs", ""), Presence::Seen);
        let other = reading("/x/src/A", "/x/src/A/C.cs", "cs", "");
        assert_eq!(other.presence(&dir, &RepoPath::new("src/A/B.cs").unwrap()), Presence::Absent);
    }

    #[test]
    fn reasons_change_what_a_word_means() {
        let judged = |status: &str, more: &str| {
            let raw = reading("/x/src/A", "/x/src/A/B.cs", "cs", &mutant(status, more))
                .mutants()
                .unwrap()
                .remove(0);
            (raw.status.unwrap(), raw.doubt)
        };
        let red = r#","statusReason":"Only covered by already failing tests.""#;
        assert_eq!(judged("Survived", red), (Status::NotRun, None));
        assert_eq!(judged("Survived", r#","static":true"#), (Status::Survived, Some(Doubt::LoadedBefore)));
        assert_eq!(judged("RuntimeError", ""), (Status::Errored, Some(Doubt::Died)));
        assert_eq!(judged("Timeout", ""), (Status::Timeout, Some(Doubt::Load)));
        assert_eq!(judged("Pending", ""), (Status::NotRun, None));
    }

    #[test]
    fn the_replacement_has_the_parentheses_of_its_tree() {
        let raw =
            reading("/x/src/A", "/x/src/A/B.cs", "cs", &mutant("Killed", "")).mutants().unwrap().remove(0);
        assert_eq!(raw.change.replacement.as_deref(), Some("(a && b)"));
    }
}
