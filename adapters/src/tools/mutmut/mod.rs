//! mutmut 3.7 and newer: Python, one job per package, exact mutants, tested by pytest inside the tool's own process.
//!
//! In: manifests, what mutmut leaves in `mutants/`. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - It has to load in the interpreter that has pytest and the project's requirements: Prepare makes one
//!   (`.polymut-env`), with the project's packages first and the tool's store last.
//! - Its configuration is `pyproject.toml` alone, so that file is rewritten in the sandbox: the changed files, no caches,
//!   a limit measured by polymut. The user's own is checked first: some values would make it overwrite sources.
//! - It cannot list. Run with a name that nothing has, it makes every mutant, maps tests to functions and then fails:
//!   exit 1 with one certain message is a good list. Places are worked out from the generated files.
//! - It switches mutants on in a process that has loaded the code before. The list run notes each function that is
//!   called while some module loads; survivors in those are run again in a process of their own.
//! - Its exit code says nothing of survivors: only `.meta` files are read, and only those of this job.
//!
//! mutmut 2 mutates in place, one after the other: its reports are imported, it is never run.

mod answer;
mod config;
mod difference;
mod generated;
mod glob;
mod import;
mod import_two;
mod list;
mod map;
mod meta;
mod operator;
mod plan;
mod prepare;

use polymut_schemas::RepoPath;

use super::python;
use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    Tick, ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct Mutmut;

const ID: &str = "mutmut";
const PINNED: &str = "3.8.1";

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Python"],
    extensions: &["py"],
    reads: &["pyproject.toml", "setup.cfg"],
    dependency_dirs: &[".venv", "venv"],
    supported: ">=3.7.0, <4.0.0",
    tree: TreeUse::Writes,
    spread: Spread::Own,
    cost: Cost { start: 3000, mutant: 300 },
    recipe: Recipe {
        version: PINNED,
        provides: "bin/mutmut",
        steps: &[
            RecipeStep { program: "python3", args: &["-m", "venv", "{store}"] },
            RecipeStep {
                program: "bin/python",
                args: &[
                    "-m",
                    "pip",
                    "install",
                    "--disable-pip-version-check",
                    "mutmut=={version}",
                    "pytest==9.2.0",
                ],
            },
        ],
        hint: "pip install 'mutmut>=3.7,<4' into the environment that has pytest and the project's requirements",
    },
    scrub: &[
        "MUTANT_UNDER_TEST",
        "MUTMUT_*",
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "PYTHONSTARTUP",
        "COVERAGE_*",
        "COV_CORE_*",
    ],
};

impl Adapter for Mutmut {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        prepare::detect(tree)
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        plan::plan(job, stage).map(Some)
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(prepare::probe(ran)),
            Stage::Prepare => Ok(prepare::prepare(ran)),
            Stage::List => list::list(job, ran),
            Stage::Test(units) => answer::test(job, units, ran),
            Stage::Confirm(suspects) => answer::confirm(job, suspects, ran),
            Stage::Replay(mutant) => answer::replay(job, mutant, ran),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        python::is_test(&project.dir, path)
    }

    fn watch(&self, step: &str, line: &str) -> Option<Tick> {
        prepare::watch(step, line)
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        import::import(files)
    }
}
