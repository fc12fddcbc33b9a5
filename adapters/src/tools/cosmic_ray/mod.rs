//! cosmic-ray 8: Python, one job per package, exact mutants dealt over sandboxes, tested by any command.
//!
//! In: manifests, `cosmic-ray.toml`, sessions. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - `init` names every mutant of the changed files in a session (an `SQLite` file). Each sandbox gets the rows of its share, and
//!   `exec` runs what has no result yet: the tool's own git filter skips everything when git is set up differently.
//! - It has no baseline and asks for a limit: both come from polymut's own run of the test command. With a broken suite
//!   it calls every mutant killed.
//! - Sessions are read from their bytes: `cosmic-ray dump` crashes on skipped rows and on sessions of other versions.
//! - "killed" with the output `timeout` is a timeout. "incompetent" is no verdict: the command did not start, or what it
//!   wrote is not UTF-8; the latter is run again by polymut itself.
//! - It edits the sources in place and leaves them mutated when it is killed: never outside a sandbox.

mod answer;
mod config;
mod diff;
mod import;
mod operator;
mod plan;
mod prepare;
mod session;

use polymut_schemas::RepoPath;

use super::python;
use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct CosmicRay;

const ID: &str = "cosmic-ray";
const PINNED: &str = "8.7.0";

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Python"],
    extensions: &["py"],
    reads: &["pyproject.toml", "setup.cfg", "*cosmic-ray*.toml", "*cosmic_ray*.toml", "cr.toml"],
    dependency_dirs: &[".venv", "venv"],
    supported: ">=8.4.0, <9.0.0",
    tree: TreeUse::Writes,
    spread: Spread::Sandboxes,
    cost: Cost { start: 3000, mutant: 600 },
    recipe: Recipe {
        version: PINNED,
        provides: "bin/cosmic-ray",
        steps: &[
            RecipeStep { program: "python3", args: &["-m", "venv", "{store}"] },
            RecipeStep {
                program: "bin/python",
                args: &[
                    "-m",
                    "pip",
                    "install",
                    "--disable-pip-version-check",
                    "cosmic-ray=={version}",
                    "pytest==9.2.0",
                ],
            },
        ],
        hint: "pipx install cosmic-ray",
    },
    scrub: &["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONSTARTUP", "COVERAGE_*", "COV_CORE_*"],
};

impl Adapter for CosmicRay {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        config::detect(tree)
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        plan::plan(job, stage)
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(prepare::probe(ran)),
            Stage::Prepare => Ok(prepare::prepare(ran)),
            Stage::List => prepare::list(job, ran),
            Stage::Test(units) => answer::test(job, units, ran),
            Stage::Confirm(suspects) => answer::confirm(job, suspects, ran),
            Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        python::is_test(&project.dir, path)
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        import::import(files)
    }
}
