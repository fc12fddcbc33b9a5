//! Reports of mutmut 2: the `.mutmut-cache` database and `mutmut junitxml`.
//!
//! In: bytes. Out: raw mutants. I/O: none.

use polymut_schemas::Status;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ID;
use super::meta::malformed;
use crate::formats::{sqlite, text};
use crate::{Change, ColumnUnit, Key, Note, ParseError, RawMutant, RawPath, RawPosition, RawSpan, Tests};

/// A status word of mutmut 2.
fn status(at: &str, word: &str) -> Result<Status, ParseError> {
    match word {
        "ok_killed" => Ok(Status::Killed),
        // Killed, and slower than the suite usually is.
        "ok_suspicious" => Ok(Status::Killed),
        "bad_timeout" => Ok(Status::Timeout),
        "bad_survived" => Ok(Status::Survived),
        "untested" => Ok(Status::NotRun),
        "skipped" => Ok(Status::Ignored),
        other => Err(ParseError::UnknownStatus { tool: ID, word: other.to_owned(), at: at.to_owned() }),
    }
}

struct Row {
    id: i64,
    file: String,
    text: String,
    line: i64,
    index: i64,
    word: String,
}

/// Reads the database.
pub(super) fn cache(at: &str, bytes: &[u8]) -> Result<Vec<RawMutant>, ParseError> {
    let session = sqlite::open(at, bytes)?;
    let failed = |error: &rusqlite::Error| malformed(at, &format!("no cache of mutmut 2: {error}"));
    let mut query = session
        .prepare(
            "select m.id, f.filename, l.line, l.line_number, m.\"index\", m.status from Mutant m \
             left join Line l on l.id = m.line left join SourceFile f on f.id = l.sourcefile order by m.id",
        )
        .map_err(|error| failed(&error))?;
    let rows = query
        .query_map([], |row| {
            Ok(Row {
                id: row.get(0)?,
                file: row.get(1)?,
                text: row.get(2)?,
                line: row.get(3)?,
                index: row.get(4)?,
                word: row.get(5)?,
            })
        })
        .map_err(|error| failed(&error))?;
    let mut mutants = Vec::new();
    for row in rows {
        let row = row.map_err(|error| failed(&error))?;
        let place = format!("{at}, Mutant {}", row.id);
        let status = status(&place, &row.word)?;
        // Lines are counted from 0 there.
        let line = u32::try_from(row.line + 1).map_err(|_| malformed(&place, "its line is out of range"))?;
        let key = format!("{}:{}:{}", row.file, row.text, row.index);
        mutants.push(RawMutant {
            pointer: Some(format!("Mutant {}", row.id)),
            ..blank(at, key, &row.file, line, status, &row.word)
        });
    }
    Ok(mutants)
}

fn blank(at: &str, key: String, file: &str, line: u32, status: Status, word: &str) -> RawMutant {
    RawMutant {
        key: Key(key),
        path: RawPath::FromProject(file.to_owned()),
        span: RawSpan { start: RawPosition { line, column: None }, end: None, unit: ColumnUnit::None },
        status: Some(status),
        word: word.to_owned(),
        doubt: None,
        change: Change::default(),
        tests: Tests::default(),
        function: None,
        detail: None,
        duration: None,
        is_static: None,
        pointer: None,
        artifact: at.to_owned(),
    }
}

/// A `testcase` while it is read.
#[derive(Default)]
struct Open {
    name: String,
    file: String,
    line: Option<u32>,
    /// mutmut's word, in the message of a failure or error.
    word: Option<String>,
    diff: String,
}

/// Reads the JUnit report. A case without failure or error was killed, or not tested: the report does not tell.
pub(super) fn junit(at: &str, bytes: &[u8]) -> Result<(Vec<RawMutant>, Option<Note>), ParseError> {
    let text = text::decode(at, bytes)?;
    let mut reader = Reader::from_str(&text);
    let mut junit = Junit { at, mutants: Vec::new(), open: None, in_answer: false, closed: false };
    loop {
        let event = reader.read_event().map_err(|error| {
            let place = format!("{at}, byte {}", reader.error_position());
            ParseError::Truncated { at: place, why: format!("XML: {error}") }
        })?;
        if event == Event::Eof {
            break;
        }
        junit.take(event)?;
    }
    if !junit.closed {
        return Err(ParseError::Truncated { at: at.to_owned(), why: "no </testsuites>".to_owned() });
    }
    let plain = junit.mutants.iter().filter(|mutant| mutant.word == "passed").count();
    let words =
        "cases without a failure count as killed; mutmut's JUnit does not tell them from untested ones";
    Ok((junit.mutants, (plain > 0).then(|| Note(format!("{at}: {plain} {words}")))))
}

struct Junit<'a> {
    at: &'a str,
    mutants: Vec<RawMutant>,
    open: Option<Open>,
    in_answer: bool,
    closed: bool,
}

impl Junit<'_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), ParseError> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::Empty(tag) => {
                self.start(&tag)?;
                self.end(tag.name().as_ref())
            }
            Event::End(tag) => self.end(tag.name().as_ref()),
            Event::Text(words) => {
                self.push(&words);
                Ok(())
            }
            Event::CData(words) => {
                self.push(&words);
                Ok(())
            }
            Event::GeneralRef(name) => {
                self.push(entity(&name));
                Ok(())
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Eof => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), ParseError> {
        match tag.name().as_ref() {
            "testcase" => self.open = Some(case(self.at, tag)?),
            name @ ("failure" | "error" | "skipped") => {
                self.in_answer = true;
                if let Some(case) = &mut self.open {
                    case.word = attribute(tag, "message").or_else(|| Some(name.to_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        match name {
            "testcase" => {
                let case =
                    self.open.take().ok_or_else(|| malformed(self.at, "a case ends that never began"))?;
                self.mutants.push(settle(self.at, case)?);
            }
            "failure" | "error" | "skipped" => self.in_answer = false,
            "testsuites" => self.closed = true,
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        if let Some(case) = self.open.as_mut().filter(|_| self.in_answer) {
            case.diff.push_str(text);
        }
    }
}

fn entity(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

fn case(at: &str, tag: &BytesStart<'_>) -> Result<Open, ParseError> {
    let name = attribute(tag, "name").unwrap_or_default();
    let file = attribute(tag, "file").ok_or_else(|| malformed(at, &format!("`{name}` has no file")))?;
    let line = attribute(tag, "line").and_then(|line| line.parse().ok());
    Ok(Open { name, file, line, ..Open::default() })
}

fn settle(at: &str, case: Open) -> Result<RawMutant, ParseError> {
    let place = format!("{at}, {}", case.name);
    let line = case.line.ok_or_else(|| malformed(&place, "it has no line"))?;
    let (word, status) = match &case.word {
        Some(word) => (word.as_str(), status(&place, word)?),
        None => ("passed", Status::Killed),
    };
    let change = Change { diff: Some(case.diff).filter(|diff| diff.contains("@@")), ..Change::default() };
    let key = format!("{}:{line}:{}", case.file, case.name);
    Ok(RawMutant { change, pointer: Some(case.name), ..blank(at, key, &case.file, line, status, word) })
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.attributes().flatten().find(|attribute| attribute.key.as_ref() == name)?;
    attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}
