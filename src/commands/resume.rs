//! `polymut run --resume`: finds the interrupted run, and makes sure that it was about exactly the same.
//!
//! In: what is to be run now. Out: the run's folder and journal. I/O: the state folder; reads the new side's files.

use std::collections::BTreeMap;

use polymut_schemas::ProjectId;

use super::context::Place;
use super::run::Start;
use crate::cli::HowArgs;
use crate::exec::{Containment, EventSender, Header, Identity, Interrupted, Journal, RunDir, State};
use crate::git::{Repo, contents};
use crate::hash::sha256;
use crate::job::JobOptions;
use crate::pipeline::Planned;
use crate::ui::Help;

/// The name of the walls in the header: they are known later than the rest.
const WALLS: &str = "isolation";

/// The folder and the journal of a run whose walls are not known yet.
pub(super) struct Opened {
    pub(super) folder: RunDir,
    journal: Journal,
    /// Of a run that is continued: what it was about.
    was: Option<Header>,
}

/// Begins a run, or finds the interrupted one.
pub(super) fn open(
    (place, state): (&Place, &State),
    start: Start,
    header: Header,
    events: &EventSender,
) -> anyhow::Result<Opened> {
    match start {
        Start::Afresh => {
            let folder = state.begin()?;
            if folder.is_beside_others() {
                place.terminal.say(
                    "another polymut is at work in this repository: this run works apart from it, in folders of its own",
                );
            }
            let journal = Journal::create(&folder.journal(), header, events)?;
            Ok(Opened { folder, journal, was: None })
        }
        Start::Resumed => {
            let (run, journal, was) = find(state, &header, events)?;
            Ok(Opened { folder: run.adopt(), journal, was: Some(was) })
        }
    }
}

/// The newest interrupted run about the same.
fn find(
    state: &State,
    header: &Header,
    events: &EventSender,
) -> anyhow::Result<(Interrupted, Journal, Header)> {
    let (runs, live) = state.interrupted()?;
    let mut nearest = None;
    for run in runs {
        let Some((journal, was)) = Journal::open(&run.journal(), events)? else { continue };
        let differs = was.differs(header);
        if differs.is_empty() {
            return Ok((run, journal, was));
        }
        nearest = nearest.or(Some(differs));
    }
    Err(refusal(nearest, live).into())
}

fn refusal(nearest: Option<Vec<String>>, live: usize) -> Help {
    match (nearest, live) {
        (Some(differs), _) => Help {
            message: format!("the interrupted run was about something else\n{}", differs.join("\n")),
            help: "make it the same again, or start afresh without --resume".to_owned(),
        },
        (None, 0) => Help {
            message: "there is no interrupted run of this repository to resume".to_owned(),
            help: "start one with `polymut run`".to_owned(),
        },
        (None, _) => Help {
            message: "the run of this repository is not interrupted: it is still at work".to_owned(),
            help: "wait for it, or stop it first".to_owned(),
        },
    }
}

impl Opened {
    /// Goes on when the walls are known.
    pub(super) fn walled(self, walls: &Containment) -> anyhow::Result<(RunDir, Journal)> {
        let mut header = Header::default();
        let reached = format!("{:?}", walls.reached());
        header.set(WALLS, Identity::hash(reached.as_bytes()));
        let Some(was) = &self.was else {
            self.journal.add_header(header);
            return Ok((self.folder, self.journal));
        };
        // It may have died before it knew its walls; then nothing had run behind them.
        if was.has(WALLS) {
            let differs = was.differs(&header);
            anyhow::ensure!(differs.is_empty(), refusal(Some(differs), 0));
        } else {
            self.journal.add_header(header);
        }
        Ok((self.folder, self.journal))
    }
}

/// Everything on which an answer depends, as far as polymut knows beforehand.
pub(super) fn header(
    (repo, planned): (&Repo, &Planned),
    how: &HowArgs,
    options: &BTreeMap<ProjectId, JobOptions>,
) -> anyhow::Result<Header> {
    let scope = &planned.assignment.scope;
    let mut header = Header::default();
    header.set("polymut", Identity::Word(program()));
    let base = scope.merge_base.as_deref().unwrap_or("none");
    header.set("merge base", Identity::Word(base.to_owned()));
    header.set("files", Identity::Each(contents(repo, &repo.files(scope.new_side)?)?));
    header.set("scope", Identity::hash(serde_json::to_string(scope)?.as_bytes()));
    let jobs = planned.assignment.jobs.iter().map(|job| {
        let settings = options.get(&job.project.id());
        let what = format!("{:?} {settings:?}", job.project);
        (job.project.id().to_string(), sha256(what.as_bytes()))
    });
    header.set("jobs and options", Identity::Each(jobs.collect()));
    header.set("allowed variables", Identity::Word(format!("{:?}", how.allow_env)));
    Ok(header)
}

/// This program: another build of one version may do things otherwise.
fn program() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let built = std::env::current_exe().and_then(fs_err::metadata).ok();
    let built =
        built.and_then(|meta| Some((meta.len(), jiff::Timestamp::try_from(meta.modified().ok()?).ok()?)));
    built.map_or_else(|| version.to_owned(), |(size, time)| format!("{version} ({size} bytes of {time})"))
}

/// The words of this command line that start a run, for it to be continued.
pub(super) fn own_words() -> Vec<String> {
    std::env::args().skip(1).filter(|word| word != "--resume").collect()
}

/// How the run goes on, for whoever interrupted it.
pub(super) fn words(again: &[String]) -> String {
    let quoted = |word: &String| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into);
    let words: Vec<String> = again.iter().map(quoted).collect();
    format!("what has ended is kept: `polymut {} --resume` continues this run", words.join(" "))
}
