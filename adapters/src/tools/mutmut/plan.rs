//! The commands of each stage.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use polymut_schemas::{Mutant, RepoDir, StageName};
use semver::Version;

use super::config::{Chosen, UserConfig, pyproject};
use super::generated::Generated;
use super::{ID, INFO};
use crate::tools::python::{Environment, check_version, interpreter, python, start_folders, wanted};
use crate::{
    CommandSpec, Find, Gather, Job, Key, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    StorePath, Suspect, Units, WorkPath,
};

const DRIVER: &str = include_str!("driver.py");

/// Says which mutmut the project's own interpreter has; exit 10: none.
const PROBE: &str = "import importlib.metadata as m, json, os, sys
def version(name):
    try:
        return m.version(name)
    except m.PackageNotFoundError:
        return None
print(json.dumps({'python': sys.version.split()[0], 'mutmut': version('mutmut'), 'fork': hasattr(os, 'fork')}))
sys.exit(0 if version('mutmut') else 10)
";

/// Plans a stage.
pub(super) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Plan, PlanError> {
    let user = UserConfig::read(job)?;
    let planner = Planner { job, chosen: Chosen::of(job, &user), user };
    if !matches!(stage, Stage::Probe) {
        planner.check_version()?;
    }
    match stage {
        Stage::Probe => planner.probe(),
        Stage::Prepare => planner.prepare(),
        Stage::List => planner.list(),
        Stage::Test(Units::Mutants(keys)) => planner.test(keys),
        Stage::Test(Units::Files(_)) => Err(PlanError::Missing {
            missing: "a list of mutants".to_owned(),
            remedy: "this is a fault of polymut: mutmut is always asked for exact mutants".to_owned(),
        }),
        Stage::Confirm(suspects) => planner.confirm(suspects),
        Stage::Replay(mutant) => planner.replay(mutant),
    }
}

struct Planner<'a> {
    job: &'a Job<'a>,
    user: UserConfig,
    chosen: Chosen,
}

impl Planner<'_> {
    fn dir(&self) -> &RepoDir {
        &self.job.project.dir
    }

    fn check_version(&self) -> Result<(), PlanError> {
        check_version(
            self.job,
            &INFO,
            &Version::new(3, 7, 0),
            "versions before 3.7 do not say where their mutants are",
        )
    }

    fn probe(&self) -> Result<Plan, PlanError> {
        let mut own =
            self.step("python", interpreter(self.dir()), vec![Piece::word("-c"), Piece::word(PROBE)]);
        own.go_on = &[10];
        let store = StorePath::new(format!("{ID}/{}/bin/mutmut", wanted(self.job, &INFO)))
            .map_err(|error| fault(&error))?;
        let stored = self.step("mutmut", vec![Find::Store(store)], vec![Piece::word("--version")]);
        Ok(plan_of(vec![own, stored], Vec::new()))
    }

    fn prepare(&self) -> Result<Plan, PlanError> {
        let needs = ["pytest".to_owned(), format!("{ID}=={}", wanted(self.job, &INFO))];
        let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
        let store = format!("{ID}/{}", wanted(self.job, &INFO));
        let environment = Environment { dir: self.dir(), store: &store, needs: &needs };
        let steps = vec![environment.step()?, self.baseline()];
        Ok(plan_of(steps, vec![Environment::gather()?]))
    }

    /// The suite on unchanged code, as mutmut will start it; a declared test command instead where there is one.
    fn baseline(&self) -> Step {
        let declared = self.job.settings.test_command.as_deref().filter(|words| !words.is_empty());
        let mut step = if let Some(words) = declared {
            self.step("baseline", vec![Find::OnPath("env")], words.iter().map(Piece::word).collect())
        } else {
            let mut words = ["-m", "pytest", "-q"].map(str::to_owned).to_vec();
            words.extend(outputs_ignored());
            words.extend(self.user.pytest_words(self.job));
            words.extend(self.user.selection());
            self.step("baseline", python(self.dir()), words.into_iter().map(Piece::word).collect())
        };
        step.role = Role::Baseline;
        step
    }

    fn list(&self) -> Result<Plan, PlanError> {
        if self.job.round(StageName::List) > 0 {
            return self.reach();
        }
        let mut step = self.driver(
            "generate",
            vec![Piece::word("list"), vec![Piece::Cores], vec![Piece::Work(work("loaded.json")?)]],
        )?;
        let manifest = self.dir().join("pyproject.toml").map_err(|error| fault(&error))?;
        step.files.push(NewFile {
            at: Place::Sandbox(RepoDir::from(manifest)),
            bytes: pyproject(self.job, &self.user, &self.chosen)?,
        });
        step.go_on = &[1];
        let mut gather = self.metas()?;
        let outputs = self.outputs()?;
        let file = |glob: String| Gather::Files { under: outputs.clone(), glob, fresh: true };
        gather.extend(["**/*.py.spans".to_owned(), "mutmut-stats.json".to_owned()].map(file));
        gather.extend(self.chosen.files.iter().map(|name| file(globset::escape(name))));
        gather.push(Gather::Files {
            under: Place::Work(work("")?),
            glob: "loaded.json".to_owned(),
            fresh: true,
        });
        Ok(plan_of(vec![step], gather))
    }

    /// No test called any mutated function: either no test runs the code, or mutmut does not see it. This step knows.
    fn reach(&self) -> Result<Plan, PlanError> {
        let mut words = vec![Piece::word("reach"), vec![Piece::Work(work("reached.json")?)]];
        words.extend(self.chosen.files.iter().map(Piece::word));
        words.extend([Piece::word("--"), Piece::word("-q")]);
        words.extend(outputs_ignored().map(Piece::word));
        words.extend(
            self.user.pytest_words(self.job).into_iter().chain(self.user.selection()).map(Piece::word),
        );
        let step = self.driver("reach", words)?;
        let gather =
            Gather::Files { under: Place::Work(work("")?), glob: "reached.json".to_owned(), fresh: true };
        Ok(plan_of(vec![step], vec![gather]))
    }

    fn test(&self, keys: &[Key]) -> Result<Plan, PlanError> {
        if Generated::unreached(self.job) {
            // The list knows all answers: no test runs any of it.
            return Ok(plan_of(Vec::new(), Vec::new()));
        }
        let names: Vec<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        let file = work("names.json")?;
        let mut step = self
            .driver("test", vec![Piece::word("test"), vec![Piece::Cores], vec![Piece::Work(file.clone())]])?;
        step.files.push(NewFile { at: Place::Work(file), bytes: json(&names) });
        step.limit = None;
        Ok(plan_of(vec![step], self.metas()?))
    }

    fn confirm(&self, suspects: &[Suspect]) -> Result<Plan, PlanError> {
        let generated = Generated::of(self.job);
        let mut steps = Vec::new();
        for (at, suspect) in suspects.iter().enumerate() {
            let name = suspect.key.0.as_str();
            let tests =
                if generated.runs_while_loading(name) { Vec::new() } else { generated.tests_of(name) };
            steps.push(self.alone(&format!("alone-{at}"), &suspect.key, &tests)?);
        }
        Ok(plan_of(steps, Vec::new()))
    }

    fn replay(&self, mutant: &Mutant) -> Result<Plan, PlanError> {
        let step = self.alone("alone", &Key(mutant.key.clone()), &[])?;
        Ok(plan_of(vec![step], Vec::new()))
    }

    /// One mutant in a process of its own, with these tests; none: the whole suite.
    fn alone(&self, name: &str, key: &Key, tests: &[String]) -> Result<Step, PlanError> {
        let selection = if tests.is_empty() { self.user.selection() } else { tests.to_vec() };
        let file = work(&format!("{name}.json"))?;
        let mut words = vec![Piece::word("alone"), Piece::word(&key.0), vec![Piece::Work(file.clone())]];
        words.extend(["--rootdir=.", "--tb=short", "-x", "-q"].map(Piece::word));
        words.extend(self.user.pytest_words(self.job).into_iter().map(Piece::word));
        let mut step = self.driver(name, words)?;
        step.files.push(NewFile { at: Place::Work(file), bytes: json(&selection) });
        step.about = Some(key.clone());
        step.limit = Some(self.job.limits.test().unwrap_or(Duration::from_mins(5)));
        Ok(step)
    }

    /// A step of the driver, in the interpreter that Prepare made.
    fn driver(&self, name: &str, words: Vec<Vec<Piece>>) -> Result<Step, PlanError> {
        let script = work("driver.py")?;
        let mut args = vec![vec![Piece::Work(script.clone())]];
        args.extend(words);
        let mut step = self.step(name, python(self.dir()), args);
        step.files.push(NewFile { at: Place::Work(script), bytes: DRIVER.as_bytes().to_vec() });
        Ok(step)
    }

    fn step(&self, name: &str, program: Vec<Find>, args: Vec<Vec<Piece>>) -> Step {
        let mut env = BTreeMap::from([
            // Compiled files of the unchanged code would be copied beside the mutated.
            ("PYTHONDONTWRITEBYTECODE".to_owned(), Piece::word("1")),
            // Sets come in the same order in every run, with a mutant and without.
            ("PYTHONHASHSEED".to_owned(), Piece::word("0")),
            ("PATH".to_owned(), start_folders(self.dir())),
        ]);
        if let Some(paths) = self.search_path() {
            env.insert("PYTHONPATH".to_owned(), paths);
        }
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

    /// mutmut finds modules in `src` and `source` too, so the baseline must.
    fn search_path(&self) -> Option<Vec<Piece>> {
        let dir = self.dir();
        let tops: BTreeSet<&str> = self
            .job
            .tree
            .below(dir)
            .filter(|path| path.extension() == Some("py"))
            .filter_map(|path| dir.relative(path)?.split_once('/').map(|(top, _)| top))
            .filter(|top| matches!(*top, "src" | "source"))
            .collect();
        let mut word = Vec::new();
        for top in &tops {
            word.extend([Piece::Sandbox(dir.resolve(top).ok()?), Piece::Text(":".to_owned())]);
        }
        word.push(Piece::Inherit("PYTHONPATH"));
        (!tops.is_empty()).then_some(word)
    }

    fn outputs(&self) -> Result<Place, PlanError> {
        self.dir().resolve("mutants").map(Place::Sandbox).map_err(|error| fault(&error))
    }

    fn metas(&self) -> Result<Vec<Gather>, PlanError> {
        // The list made them anew, and mutmut writes each again when a mutant of it ends.
        Ok(vec![Gather::Files { under: self.outputs()?, glob: "**/*.py.meta".to_owned(), fresh: false }])
    }
}

/// Words that keep pytest out of folders that are not the project's.
fn outputs_ignored() -> [String; 2] {
    ["mutants", ".polymut-env"].map(|name| format!("--ignore={name}"))
}

fn plan_of(steps: Vec<Step>, gather: Vec<Gather>) -> Plan {
    Plan { steps, gather, fit: ScopeFit::Mutant }
}

/// Texts as JSON, one per line.
fn json<T: AsRef<str>>(texts: &[T]) -> Vec<u8> {
    let mut out = String::from("[");
    for (at, text) in texts.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n {}", serde_json::Value::from(text.as_ref()));
    }
    out.push_str("\n]\n");
    out.into_bytes()
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path).map_err(|error| fault(&error))
}

fn fault(error: &polymut_schemas::PathError) -> PlanError {
    PlanError::Missing { missing: error.to_string(), remedy: "this is a fault of polymut".to_owned() }
}
