//! Stryker.NET 5: C#, one job per source project with every test project that reaches it.
//!
//! In: project files, MSBuild's answers, JSON reports. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - It scopes by whole files: the changed ones are named in a configuration of ours, and polymut filters lines. Its
//!   `--since` compares with the wrong tree in worktrees and in solution mode, ignores everything and ends with 0.
//! - It is started outside of a solution's folder, with the source project and each test project by absolute path: in
//!   solution mode it ignores the choice of tests.
//! - Exit 0 says little: no report, a report without the wanted files, or a runner that lets every mutant survive.
//!   Only a fresh report that holds the wanted files, with as many answers as the tool announced, is complete.
//! - All mutants are in one assembly, behind a switch. So a doubt is settled, and a mutant replayed, by running the
//!   tests with that switch set, after a run with none active.
//!
//! Rooms: `csproj`, `detect` and `msbuild` find projects; `config` writes the tool's configuration; `plan` plans;
//! `report`, `operators` and `log` read; `prepare`, `run` and `import` judge.

mod config;
mod csproj;
mod detect;
mod import;
mod log;
mod msbuild;
mod operators;
mod plan;
mod prepare;
mod report;
mod run;

use polymut_schemas::RepoPath;

use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    Tick, ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct StrykerNet;

const ID: &str = "stryker-net";
const PINNED: &str = "5.1.0";

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["C#"],
    extensions: &["cs"],
    reads: &[
        "*.csproj",
        "Directory.Build.props",
        "global.json",
        "stryker-config.json",
        "stryker-config.yaml",
        "stryker-config.yml",
    ],
    dependency_dirs: &[],
    supported: ">=5.1.0, <6.0.0",
    // The mutated assembly overwrites the one that was built.
    tree: TreeUse::Writes,
    spread: Spread::Own,
    cost: Cost { start: 40000, mutant: 2000 },
    recipe: Recipe {
        version: PINNED,
        provides: "dotnet-stryker",
        steps: &[RecipeStep {
            program: "dotnet",
            args: &["tool", "install", "dotnet-stryker", "--version", "{version}", "--tool-path", "{store}"],
        }],
        hint: "install the .NET 10 SDK, then: dotnet tool install --global dotnet-stryker",
    },
    scrub: &[
        // Left by a `dotnet` command that started polymut: paths of another MSBuild.
        "DOTNET_HOST_PATH",
        "MSBUILD_EXE_PATH",
        "MSBuildExtensionsPath",
        "MSBuildSDKsPath",
        // Test hosts would wait for a debugger.
        "TESTINGPLATFORM_LAUNCH_ATTACH_DEBUGGER",
        "VSTEST_DEBUG*",
        "VSTEST_HOST_DEBUG*",
        "VSTEST_RUNNER_DEBUG*",
    ],
};

impl Adapter for StrykerNet {
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
            Stage::Probe => Ok(prepare::probe(ran)),
            Stage::Prepare => Ok(prepare::prepare(job, ran)),
            Stage::List => Ok(Parsed::default()),
            Stage::Test(units) => run::test(job, units, ran),
            Stage::Confirm(suspects) => run::confirm(job, suspects, ran),
            Stage::Replay(mutant) => run::replay(job, mutant, ran),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        detect::is_test(project, path)
    }

    fn watch(&self, _step: &str, line: &str) -> Option<Tick> {
        log::tick(line)
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        import::import(files)
    }
}
