//! gremlins 0.6: Go, one job per module, whole changed files, every kill on a changed line confirmed by `go test`.
//!
//! In: `go.mod`, `.gremlins.yaml`, reports. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - Its `--diff` misses untracked files, second edits of a hunk and every module below the git root: it is not used.
//!   A generated configuration excludes every file that did not change.
//! - It tests in a copy of the module, where `go.work` and relative `replace` lead nowhere, and `go test` ends with 1
//!   for failed tests and for code that does not build alike: its kills are doubts. Confirm builds each mutant in
//!   place through `go test -overlay`, beside the unchanged code of the same package.
//! - Its limit is a multiple of a coverage run that the test cache can shrink to nothing: the cache is off, and the
//!   multiple comes from the measured baseline.
//! - It ends with 0 when it is terminated, and writes no report then, nor when it found nothing: only a fresh report
//!   counts.

mod config;
mod confirm;
mod detect;
mod mutant;
mod parse;
mod plan;
mod report;
mod token;

use polymut_schemas::RepoPath;

use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    Tick, ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct Gremlins;

pub(crate) const ID: &str = "gremlins";
pub(crate) const PINNED: &str = "0.6.0";

pub(crate) static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Go"],
    extensions: &["go"],
    reads: &["go.mod", ".gremlins.yaml", ".gremlins.yml"],
    dependency_dirs: &[],
    supported: ">=0.6.0, <0.7.0",
    tree: TreeUse::Reads,
    spread: Spread::Own,
    cost: Cost { start: 3000, mutant: 600 },
    recipe: Recipe {
        version: PINNED,
        provides: "bin/gremlins",
        steps: &[RecipeStep {
            program: "env",
            args: &[
                "GOBIN={store}/bin",
                "go",
                "install",
                "github.com/go-gremlins/gremlins/cmd/gremlins@v{version}",
            ],
        }],
        hint: "go install github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0",
    },
    // Of its variables only texts work; a `true` becomes false.
    scrub: &["GREMLINS_*"],
};

impl Adapter for Gremlins {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        detect::detect(tree)
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        plan::plan(job, stage)
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(parse::probe(ran)),
            Stage::Prepare => Ok(parse::prepare(ran)),
            Stage::List => parse::list(job, ran),
            Stage::Test(_) => parse::test(job, ran),
            Stage::Confirm(suspects) => Ok(confirm::parse(job, suspects, ran)),
            // Planned as none: the diff is applied and the baseline command is run.
            Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        detect::is_test(project, path)
    }

    fn watch(&self, step: &str, line: &str) -> Option<Tick> {
        parse::tick(step, line)
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        parse::import(files)
    }
}
