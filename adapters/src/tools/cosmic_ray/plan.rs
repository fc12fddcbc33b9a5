//! The commands of each stage.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use polymut_schemas::{RepoDir, StageName};
use semver::Version;

use super::answer::{mutated_files, session_of};
use super::config::Config;
use super::session;
use super::{ID, INFO};
use crate::tools::python::{Environment, check_version, start_folders, wanted};
use crate::{
    CommandSpec, Find, Gather, Job, Key, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    StorePath, Suspect, Units, WorkPath,
};

/// A comment that keeps cosmic-ray's own filter from mutating a line.
const PRAGMA: &[u8] = b"no mutate";

/// Plans a stage. A mutant is replayed by its diff and the baseline's command: the tool has nothing to add.
pub(super) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    let planner = Planner { job, config: Config::read(job)? };
    if !matches!(stage, Stage::Probe) {
        planner.check_version()?;
    }
    planner.check_settings()?;
    match stage {
        Stage::Probe => planner.probe().map(Some),
        Stage::Prepare => planner.prepare().map(Some),
        Stage::List => planner.list().map(Some),
        Stage::Test(Units::Mutants(keys)) => planner.test(keys).map(Some),
        Stage::Test(Units::Files(_)) => Err(PlanError::Missing {
            missing: "a list of mutants".to_owned(),
            remedy: "this is a fault of polymut: cosmic-ray is always asked for exact mutants".to_owned(),
        }),
        Stage::Confirm(suspects) => planner.confirm(suspects).map(Some),
        Stage::Replay(_) => Ok(None),
    }
}

struct Planner<'a> {
    job: &'a Job<'a>,
    config: Config,
}

impl Planner<'_> {
    fn dir(&self) -> &RepoDir {
        &self.job.project.dir
    }

    fn check_version(&self) -> Result<(), PlanError> {
        check_version(self.job, &INFO, &Version::new(8, 4, 0), "versions before 8.4.0 were not tried")
    }

    /// `cosmic-ray exec` takes no further words.
    fn check_settings(&self) -> Result<(), PlanError> {
        if self.job.settings.args.is_empty() {
            return Ok(());
        }
        Err(PlanError::Setting {
            tool: ID,
            setting: "args".to_owned(),
            why: "cosmic-ray takes no further words; put those of the tests into `test-command`".to_owned(),
        })
    }

    fn probe(&self) -> Result<Plan, PlanError> {
        let step = self.tool("version", "cosmic-ray", vec![Piece::word("--version")])?;
        Ok(plan_of(vec![step], Vec::new()))
    }

    fn prepare(&self) -> Result<Plan, PlanError> {
        let store = format!("{ID}/{}", wanted(self.job, &INFO));
        let pytest = self.config.command.iter().any(|word| word.contains("pytest"));
        let needs: &[&str] = if pytest { &["pytest"] } else { &[] };
        let environment = Environment { dir: self.dir(), store: &store, needs };
        let mut baseline = self.command("baseline");
        baseline.role = Role::Baseline;
        Ok(plan_of(vec![environment.step()?, baseline], vec![Environment::gather()?]))
    }

    fn list(&self) -> Result<Plan, PlanError> {
        let (config, session) = (work("list/config.toml")?, work("list/session.sqlite")?);
        let words = |name: &str| {
            vec![Piece::word(name), vec![Piece::Work(config.clone())], vec![Piece::Work(session.clone())]]
        };
        let mut init = self.tool("init", "cosmic-ray", words("init"))?;
        // No test runs here; the tool wants a limit all the same.
        init.files.push(NewFile {
            at: Place::Work(config.clone()),
            bytes: self.config.bytes(Duration::from_mins(1)),
        });
        let mut steps = vec![init];
        if self.config.filters_operators() {
            let args = vec![vec![Piece::Work(session.clone())], vec![Piece::Work(config.clone())]];
            steps.push(self.tool("filter-operators", "cr-filter-operators", args)?);
        }
        let pragma = |bytes: &[u8]| bytes.windows(PRAGMA.len()).any(|window| window == PRAGMA);
        if self.job.changed.files.values().any(|file| pragma(&file.bytes)) {
            let args = vec![vec![Piece::Work(session.clone())]];
            steps.push(self.tool("filter-pragma", "cr-filter-pragma", args)?);
        }
        Ok(plan_of(steps, vec![sessions("list")?]))
    }

    fn test(&self, keys: &[Key]) -> Result<Plan, PlanError> {
        let wanted: BTreeSet<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        let (config, session) = (work("test/config.toml")?, work("test/session.sqlite")?);
        let listed = session_of(self.job, StageName::List).ok_or_else(|| PlanError::Missing {
            missing: "the session of the list stage".to_owned(),
            remedy: "this is a fault of polymut: cosmic-ray is asked for its mutants first".to_owned(),
        })?;
        let share = session::select(&listed, &wanted).map_err(|error| PlanError::Missing {
            missing: format!("a readable session of the list stage ({error})"),
            remedy: "this is a fault of polymut or of a full disk".to_owned(),
        })?;
        let args =
            vec![Piece::word("exec"), vec![Piece::Work(config.clone())], vec![Piece::Work(session.clone())]];
        let mut exec = self.tool("exec", "cosmic-ray", args)?;
        exec.files.push(NewFile { at: Place::Work(config), bytes: self.config.bytes(self.limit()) });
        exec.files.push(NewFile { at: Place::Work(session), bytes: share });
        Ok(plan_of(vec![exec], vec![sessions("test")?]))
    }

    /// The mutated file and the test command, without the tool: its limit and its reading of the output are the doubt.
    fn confirm(&self, suspects: &[Suspect]) -> Result<Plan, PlanError> {
        let mutated = mutated_files(self.job, suspects);
        let mut steps = Vec::new();
        let mut dirty: Option<&str> = None;
        for (at, suspect) in suspects.iter().enumerate() {
            let Some((path, text)) = mutated.get(&suspect.key) else { continue };
            let mut step = self.command(&format!("confirm-{at}"));
            if let Some(before) = dirty.filter(|before| before != path) {
                step.files.extend(self.original(before)?);
            }
            dirty = Some(path);
            let place = self.dir().resolve(path).map_err(|error| fault(&error))?;
            step.files.push(NewFile { at: Place::Sandbox(place), bytes: text.clone().into_bytes() });
            step.about = Some(suspect.key.clone());
            step.limit = Some(self.limit());
            steps.push(step);
        }
        Ok(plan_of(steps, Vec::new()))
    }

    fn original(&self, relative: &str) -> Result<Option<NewFile>, PlanError> {
        let path = self.dir().join(relative).map_err(|error| fault(&error))?;
        let bytes = self.job.changed.files.get(&path).map(|file| file.bytes.clone());
        Ok(bytes.map(|bytes| NewFile { at: Place::Sandbox(RepoDir::from(&path)), bytes }))
    }

    fn limit(&self) -> Duration {
        self.job.limits.test().unwrap_or(Duration::from_mins(5))
    }

    /// The test command as cosmic-ray starts it.
    fn command(&self, name: &str) -> Step {
        self.step(name, vec![Find::OnPath("env")], self.config.command.iter().map(Piece::word).collect())
    }

    fn tool(&self, name: &str, program: &'static str, args: Vec<Vec<Piece>>) -> Result<Step, PlanError> {
        let (own, old) = match program {
            "cr-filter-operators" => (".venv/bin/cr-filter-operators", "venv/bin/cr-filter-operators"),
            "cr-filter-pragma" => (".venv/bin/cr-filter-pragma", "venv/bin/cr-filter-pragma"),
            _ => (".venv/bin/cosmic-ray", "venv/bin/cosmic-ray"),
        };
        let store = StorePath::new(format!("{ID}/{}/bin/{program}", wanted(self.job, &INFO)))
            .map_err(|error| fault(&error))?;
        let mut find = vec![
            Find::Upward(self.dir().clone(), own),
            Find::Upward(self.dir().clone(), old),
            Find::Store(store),
        ];
        if self.job.settings.version.is_none() {
            find.push(Find::OnPath(program));
        }
        Ok(self.step(name, find, args))
    }

    fn step(&self, name: &str, program: Vec<Find>, args: Vec<Vec<Piece>>) -> Step {
        let env = BTreeMap::from([
            // Two edits within one second and of one size would share a compiled file.
            ("PYTHONDONTWRITEBYTECODE".to_owned(), Piece::word("1")),
            // Sets come in the same order in every run, with a mutant and without.
            ("PYTHONHASHSEED".to_owned(), Piece::word("0")),
            ("PATH".to_owned(), start_folders(self.dir())),
        ]);
        Step {
            name: name.to_owned(),
            about: None,
            role: Role::Work,
            files: Vec::new(),
            command: CommandSpec { program, args, cwd: self.dir().clone(), env },
            go_on: &[0],
            limit: None,
        }
    }
}

/// The session and the journal that a killed writer leaves beside it.
fn sessions(folder: &str) -> Result<Gather, PlanError> {
    Ok(Gather::Files { under: Place::Work(work(folder)?), glob: "session.sqlite*".to_owned(), fresh: true })
}

fn plan_of(steps: Vec<Step>, gather: Vec<Gather>) -> Plan {
    Plan { steps, gather, fit: ScopeFit::Mutant }
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path).map_err(|error| fault(&error))
}

fn fault(error: &polymut_schemas::PathError) -> PlanError {
    PlanError::Missing { missing: error.to_string(), remedy: "this is a fault of polymut".to_owned() }
}
