//! A record of the report as a raw mutant, with the token and its replacement from the source.
//!
//! In: a record, the changed files. Out: [`RawMutant`]. I/O: none.

use polymut_schemas::{RepoPath, Status};

use super::report::Record;
use super::{detect, token};
use crate::{Change, ColumnUnit, Doubt, Job, Key, RawMutant, RawPath, RawPosition, RawSpan, Tests};

/// The edit that a mutant makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Byte offset in the file.
    pub(crate) at: usize,
    /// The token there.
    pub(crate) token: &'static str,
    /// What replaces it.
    pub(crate) replacement: &'static str,
}

impl Edit {
    /// The edit of `record` in `bytes`; `None` where the position holds no token of that operator (a `//line`
    /// directive shifts positions).
    pub(crate) fn of(record: &Record, bytes: &[u8]) -> Option<Self> {
        let at = token::offset(bytes, record.line, record.column)?;
        let found = token::token_at(bytes.get(at..)?)?;
        Some(Self { at, token: found, replacement: token::replacement(&record.operator, found)? })
    }

    /// `bytes` with the edit made.
    pub(crate) fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let (before, rest) = bytes.split_at(self.at.min(bytes.len()));
        let after = rest.get(self.token.len()..).unwrap_or_default();
        [before, self.replacement.as_bytes(), after].concat()
    }
}

/// The mutant of a record that names its file from the module's folder.
pub(crate) fn raw(
    job: Option<&Job<'_>>,
    record: &Record,
    artifact: &str,
    status: Option<(Status, Option<Doubt>)>,
) -> RawMutant {
    let path = job.and_then(|job| job.project.dir.join(&record.file).ok());
    let file = path.as_ref().and_then(|path| job.and_then(|job| job.changed.files.get(path)));
    let edit = file.and_then(|file| Edit::of(record, &file.bytes));
    let length = edit.map_or(0, |edit| edit.token.len());
    let start = RawPosition { line: record.line, column: Some(record.column) };
    let end_column = u32::try_from(length).unwrap_or_default() + record.column;
    let end = edit.map(|_| RawPosition { line: record.line, column: Some(end_column) });
    let changes_nothing = edit.is_some_and(|edit| edit.token == edit.replacement);
    let (status, doubt) = match status {
        Some((Status::Survived, _)) if changes_nothing => (Some(Status::Ignored), None),
        Some((Status::Survived, _)) => (Some(Status::Survived), wrong_package(path.as_ref(), job)),
        Some((status, doubt)) => (Some(status), doubt),
        None => (None, None),
    };
    RawMutant {
        key: Key(record.key()),
        path: RawPath::FromProject(record.file.clone()),
        span: RawSpan { start, end, unit: ColumnUnit::Bytes },
        status,
        word: record.word.clone(),
        doubt,
        change: Change {
            operator: record.operator.clone(),
            class: Some(token::class(&record.operator)),
            original: edit.map(|edit| edit.token.to_owned()),
            replacement: edit.map(|edit| edit.replacement.to_owned()),
            diff: None,
            description: None,
        },
        tests: Tests::default(),
        function: None,
        detail: changes_nothing.then(|| "the tool's mutant changes nothing".to_owned()),
        duration: None,
        is_static: None,
        pointer: Some(record.pointer.clone()),
        artifact: artifact.to_owned(),
    }
}

/// The tool looks for the package of a file among the folders whose name ends with the package's; where none does
/// (`package main` in `cmd/tool`) it tests the module's root instead, and the mutant lives because nothing ran.
fn wrong_package(path: Option<&RepoPath>, job: Option<&Job<'_>>) -> Option<Doubt> {
    let (path, job) = path.zip(job)?;
    let name = package(&job.changed.files.get(path)?.bytes)?;
    let folder = detect::package_dir(&job.project.dir, path);
    (folder != "." && !folder.ends_with(&name)).then_some(Doubt::NoTestRun)
}

/// The name in the package clause.
fn package(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find_map(|line| line.trim().strip_prefix("package "))?;
    Some(line.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}
