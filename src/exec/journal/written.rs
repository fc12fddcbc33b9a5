//! The records of a journal as JSON.
//!
//! In: what ended. Out: serde types, and the values of the executor made from them. I/O: none; bytes go through `Shelf`.

use std::time::Duration;

use polymut_adapters::{End, Gather, Key, Output, Place, Ran, StepEnd, Units, WorkPath};
use polymut_schemas::{Mutant, ProjectId, RepoDir, RepoPath, StageName, ToolRun};
use serde::{Deserialize, Serialize};

use super::header::Header;
use crate::exec::sandbox::Remains;

/// The most bytes that stand in a line; longer ones get a file.
const INLINE: usize = 1024;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "record")]
pub(super) enum Record {
    /// The first one: what is run.
    Run {
        /// By name.
        header: Header,
    },
    /// A round of the test stage was about to start.
    Began(Box<Beginning>),
    /// A round has ended.
    Round(Box<Round>),
    /// A job has ended.
    Job {
        /// How it ran.
        run: Box<ToolRun>,
        /// Every chosen mutant.
        mutants: Vec<Mutant>,
    },
    /// What was written about a job until here does not hold any more.
    Void {
        /// The job.
        project: ProjectId,
    },
    /// Every job has ended.
    Sealed,
}

/// What is needed to read what a dead round left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Beginning {
    pub(super) serial: u64,
    pub(super) project: ProjectId,
    pub(super) key: String,
    pub(super) root: String,
    pub(super) share: Chosen,
    pub(super) steps: Vec<(String, Option<String>)>,
    pub(super) gather: Vec<Wanted>,
    /// Nanoseconds since 1970: artifacts of this round are younger.
    pub(super) since: u64,
    /// Names the time since the machine was started.
    pub(super) boot: String,
    pub(super) logs: String,
    pub(super) remains: Remains,
}

/// A round as it ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) project: ProjectId,
    pub(super) stage: StageName,
    pub(super) key: String,
    pub(super) root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) began: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<Chosen>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) cut: bool,
    pub(super) steps: Vec<Ended>,
    pub(super) files: Files,
}

/// Gathered files.
type Files = Vec<(At, Bytes)>;

/// What one sandbox of the test stage was to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub(super) number: u32,
    pub(super) round: u32,
    pub(super) units: ChosenUnits,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChosenUnits {
    Files(Vec<RepoPath>),
    Mutants(Vec<String>),
}

/// Files to gather.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wanted {
    under: At,
    glob: String,
    fresh: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum At {
    Sandbox(RepoDir),
    Work(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    end: EndWord,
    nanos: u64,
    stdout: Written,
    stderr: Written,
}

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    bytes: Bytes,
    #[serde(default, skip_serializing_if = "is_zero")]
    lost: u64,
}

/// Short text stands in the line, everything else in a file of its own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bytes {
    Text(String),
    File(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndWord {
    Exit(i32),
    Signal(i32),
    Limit,
    OutOfMemory,
    Stopped,
    NoProgram,
}

/// Keeps bytes under a name, and gives them back.
pub(super) trait Shelf {
    type Error;
    fn keep(&mut self, bytes: &[u8]) -> Result<String, Self::Error>;
    fn kept(&mut self, name: &str) -> Result<Vec<u8>, Self::Error>;
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Bytes {
    fn keep<S: Shelf>(bytes: &[u8], shelf: &mut S) -> Result<Self, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() <= INLINE => Ok(Self::Text(text.to_owned())),
            Ok(_) | Err(_) => Ok(Self::File(shelf.keep(bytes)?)),
        }
    }

    fn take<S: Shelf>(self, from: &mut S) -> Result<Vec<u8>, S::Error> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::File(name) => from.kept(&name),
        }
    }
}

impl Written {
    fn keep<S: Shelf>(output: &Output, shelf: &mut S) -> Result<Self, S::Error> {
        Ok(Self { bytes: Bytes::keep(&output.bytes, shelf)?, lost: output.lost })
    }

    fn take<S: Shelf>(self, from: &mut S) -> Result<Output, S::Error> {
        Ok(Output { bytes: self.bytes.take(from)?, lost: self.lost })
    }
}

impl Ended {
    fn keep<S: Shelf>(step: &StepEnd, shelf: &mut S) -> Result<Self, S::Error> {
        Ok(Self {
            name: step.name.clone(),
            about: step.about.as_ref().map(|key| key.0.clone()),
            end: EndWord::from(step.end),
            nanos: u64::try_from(step.wall.as_nanos()).unwrap_or(u64::MAX),
            stdout: Written::keep(&step.stdout, shelf)?,
            stderr: Written::keep(&step.stderr, shelf)?,
        })
    }

    fn take<S: Shelf>(self, from: &mut S) -> Result<StepEnd, S::Error> {
        Ok(StepEnd {
            name: self.name,
            about: self.about.map(Key),
            end: self.end.into(),
            wall: Duration::from_nanos(self.nanos),
            stdout: self.stdout.take(from)?,
            stderr: self.stderr.take(from)?,
        })
    }
}

/// What a round left, for the journal.
pub(super) fn keep<S: Shelf>(ran: &Ran, shelf: &mut S) -> Result<(Vec<Ended>, Files), S::Error> {
    let steps = ran.steps.iter().map(|step| Ended::keep(step, shelf)).collect::<Result<_, _>>()?;
    let files = ran.files.iter().map(|(place, bytes)| Ok((At::from(place), Bytes::keep(bytes, shelf)?)));
    Ok((steps, files.collect::<Result<_, _>>()?))
}

/// What a round left, from the journal.
pub(super) fn take<S: Shelf>(steps: Vec<Ended>, files: Files, shelf: &mut S) -> Result<Ran, S::Error> {
    let steps = steps.into_iter().map(|step| step.take(shelf)).collect::<Result<_, _>>()?;
    let files = files.into_iter().map(|(at, bytes)| Ok((Place::from(at), bytes.take(shelf)?)));
    Ok(Ran { steps, files: files.collect::<Result<_, _>>()? })
}

impl From<End> for EndWord {
    fn from(end: End) -> Self {
        match end {
            End::Exit(code) => Self::Exit(code),
            End::Signal(number) => Self::Signal(number),
            End::Limit => Self::Limit,
            End::OutOfMemory => Self::OutOfMemory,
            End::Stopped => Self::Stopped,
            End::NoProgram => Self::NoProgram,
        }
    }
}

impl From<EndWord> for End {
    fn from(word: EndWord) -> Self {
        match word {
            EndWord::Exit(code) => Self::Exit(code),
            EndWord::Signal(number) => Self::Signal(number),
            EndWord::Limit => Self::Limit,
            EndWord::OutOfMemory => Self::OutOfMemory,
            EndWord::Stopped => Self::Stopped,
            EndWord::NoProgram => Self::NoProgram,
        }
    }
}

impl From<&Place> for At {
    fn from(place: &Place) -> Self {
        match place {
            Place::Sandbox(dir) => Self::Sandbox(dir.clone()),
            Place::Work(path) => Self::Work(path.as_str().to_owned()),
        }
    }
}

impl From<At> for Place {
    fn from(at: At) -> Self {
        match at {
            At::Sandbox(dir) => Self::Sandbox(dir),
            // It was one when it was written, and the line is whole.
            At::Work(text) => Self::Work(WorkPath::new(text).unwrap_or_default()),
        }
    }
}

impl From<&Units> for ChosenUnits {
    fn from(units: &Units) -> Self {
        match units {
            Units::Files(files) => Self::Files(files.clone()),
            Units::Mutants(keys) => Self::Mutants(keys.iter().map(|key| key.0.clone()).collect()),
        }
    }
}

impl From<ChosenUnits> for Units {
    fn from(units: ChosenUnits) -> Self {
        match units {
            ChosenUnits::Files(files) => Self::Files(files),
            ChosenUnits::Mutants(keys) => Self::Mutants(keys.into_iter().map(Key).collect()),
        }
    }
}

impl Wanted {
    /// `None`: what is gathered depends on more than the files that are there.
    pub(super) fn of(gather: &Gather) -> Option<Self> {
        match gather {
            Gather::Files { under, glob, fresh } => {
                Some(Self { under: At::from(under), glob: glob.clone(), fresh: *fresh })
            }
            Gather::Nearest(_) => None,
        }
    }
}

impl From<Wanted> for Gather {
    fn from(wanted: Wanted) -> Self {
        Self::Files { under: wanted.under.into(), glob: wanted.glob, fresh: wanted.fresh }
    }
}
