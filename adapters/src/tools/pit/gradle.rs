//! The commands of each stage for a Gradle build, through an init script.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.
//!
//! **Not run live**: no Gradle was at hand where this was written. It follows the sources of gradle-pitest-plugin 1.19 and
//! is held by plan snapshots.
//!
//! The plugin has no option for classes on the command line, so an init script sets them; it applies the plugin where a
//! project has none. Its task is cacheable and PIT's command line ends with 0 after an option that it cannot read: the
//! script takes the task out of the cache, and only a fresh report counts.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::{Compiled, Selection};
use super::maven::{BASELINE, PIT, RESOLVE, VERSION, mutators};
use super::parse::Target;
use super::version;
use crate::{
    CommandSpec, Find, Gather, Job, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    Units, WorkPath,
};

/// The plugin that is applied where a project has none.
const PLUGIN: &str = "1.19.0";
const SCRIPT: &str = "polymut.init.gradle";
const TEMPLATE: &str = include_str!("polymut.init.gradle");

/// The steps of a stage.
pub(crate) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    match stage {
        Stage::Probe => {
            let words = vec![Piece::word("--version")];
            Ok(Some(Plan {
                steps: vec![step(job, VERSION, Role::Fetch, words)],
                gather: Vec::new(),
                fit: ScopeFit::Project,
            }))
        }
        Stage::Prepare => prepare(job).map(Some),
        Stage::List | Stage::Replay(_) => Ok(None),
        Stage::Test(units) => {
            let wanted = match units {
                Units::Files(files) => Some(files.as_slice()),
                Units::Mutants(_) => None,
            };
            let selection = Selection::of(job, &Compiled::of(job), wanted);
            run(job, &selection.modules.into_values().flatten().collect(), Pace::Many).map(Some)
        }
        Stage::Confirm(suspects) => {
            let targets = suspects.iter().filter_map(|suspect| Target::of(&suspect.key));
            run(job, &targets.map(|target| target.class).collect(), Pace::Alone).map(Some)
        }
    }
}

/// Every build starts with these. No daemon of Gradle's, and none of Kotlin's compiler: they would outlive the build and
/// could be found by the next one.
const BATCH: &[&str] = &["--console=plain", "--no-daemon", "-Pkotlin.compiler.execution.strategy=in-process"];

fn prepare(job: &Job<'_>) -> Result<Plan, PlanError> {
    let mut resolve = words(&[BATCH, &["clean", "testClasses"]].concat(), job)?;
    resolve.push(Piece::word("-PpolymutResolve"));
    let mut resolve = step(job, RESOLVE, Role::Fetch, resolve);
    resolve.files = vec![script(job, &BTreeSet::new(), Pace::Many)?];
    let baseline = [BATCH, &["--offline", "cleanTest", "test"]].concat();
    let baseline =
        step(job, BASELINE, Role::Baseline, baseline.iter().map(|word| Piece::word(*word)).collect());
    let classes = Gather::Files {
        under: Place::Sandbox(job.project.dir.clone()),
        glob: "**/build/classes/**/*.class".to_owned(),
        fresh: true,
    };
    Ok(Plan { steps: vec![resolve, baseline], gather: vec![classes], fit: ScopeFit::Project })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Many,
    Alone,
}

fn run(job: &Job<'_>, classes: &BTreeSet<String>, pace: Pace) -> Result<Plan, PlanError> {
    let mut plan = Plan { steps: Vec::new(), gather: Vec::new(), fit: ScopeFit::File };
    if classes.is_empty() {
        return Ok(plan);
    }
    let words = words(&[BATCH, &["--offline", "--continue", "pitest"]].concat(), job)?;
    let mut step = step(job, PIT, Role::Work, words);
    step.go_on = &[0, 1];
    step.files = vec![script(job, classes, pace)?];
    if pace == Pace::Many {
        step.command.args.push(vec![Piece::Text("-PpolymutThreads=".to_owned()), Piece::Cores]);
    }
    plan.steps.push(step);
    plan.gather.push(Gather::Files {
        under: Place::Sandbox(job.project.dir.clone()),
        glob: "**/mutations.xml".to_owned(),
        fresh: true,
    });
    Ok(plan)
}

fn words(words: &[&str], job: &Job<'_>) -> Result<Vec<Vec<Piece>>, PlanError> {
    let mut all: Vec<Vec<Piece>> = words.iter().map(|word| Piece::word(*word)).collect();
    all.extend([Piece::word("--init-script"), vec![Piece::Work(work(SCRIPT)?)]]);
    all.extend(job.settings.args.iter().map(Piece::word));
    Ok(all)
}

fn script(job: &Job<'_>, classes: &BTreeSet<String>, pace: Pace) -> Result<NewFile, PlanError> {
    let version = version::wanted(job)?.unwrap_or_else(|| version::NEWEST.to_owned());
    let listed: Vec<String> = classes.iter().map(|class| quoted(class)).collect();
    let listed = if listed.is_empty() { quoted("polymut.None") } else { listed.join(", ") };
    let constant = job.limits.floor.as_millis().max(5_000);
    let (threads, unit) = match pace {
        Pace::Many => ("(p.findProperty('polymutThreads') ?: '1') as int", "0"),
        Pace::Alone => ("1", "1"),
    };
    let mutators = mutators(job.settings.operators).map(|names| {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        format!("mutators = [{}]", names.join(", "))
    });
    let values = [
        ("@PLUGIN@", PLUGIN.to_owned()),
        ("@PIT@", version.clone()),
        ("@JUNIT5@", version::junit5_plugin(Some(&version)).to_owned()),
        ("@CLASSES@", listed),
        ("@FACTOR@", job.limits.factor.max(1.25).to_string()),
        ("@CONSTANT@", constant.to_string()),
        ("@THREADS@", threads.to_owned()),
        ("@UNIT@", unit.to_owned()),
        ("@MUTATORS@", mutators.unwrap_or_default()),
    ];
    let text = values.iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, value));
    Ok(NewFile { at: Place::Work(work(SCRIPT)?), bytes: text.into_bytes() })
}

/// A single-quoted Groovy text: a `$` in it is a dollar.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn step(job: &Job<'_>, name: &str, role: Role, args: Vec<Vec<Piece>>) -> Step {
    let env: BTreeMap<String, Vec<Piece>> =
        job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value))).collect();
    Step {
        name: name.to_owned(),
        about: None,
        role,
        files: Vec::new(),
        command: CommandSpec {
            program: vec![Find::Upward(job.project.dir.clone(), "gradlew"), Find::OnPath("gradle")],
            args,
            cwd: job.project.dir.clone(),
            env,
        },
        go_on: &[0],
        limit: None,
    }
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path)
        .map_err(|error| PlanError::Missing { missing: error.to_string(), remedy: String::new() })
}
