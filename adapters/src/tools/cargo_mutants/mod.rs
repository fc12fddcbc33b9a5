//! cargo-mutants 26.1 to 27: Rust, one job per Cargo workspace, exact mutants dealt over in-place sandboxes.
//!
//! In: manifests, `mutants.toml`, `mutants.out`. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - Its own copy of the tree breaks repositories with paths that leave the Cargo root, and its own baseline leaves
//!   out the packages that `test_package` adds. So polymut measures the baseline, and each sandbox runs
//!   `--in-place --baseline=skip --timeout T`.
//! - Names are no keys (a module that two targets compile is listed twice): key = package, ordinal, name.
//! - Its exit code says neither "complete" nor "no mutants": only `outcomes.json` with an `end_time` and as many
//!   outcomes as `mutants.json` has mutants is complete.
//! - Command-line filters widen those of the user's `mutants.toml`, so every run gets a generated configuration that
//!   carries the user's other keys over.

mod config;
mod detect;
mod import;
mod judge;
mod key;
mod list;
mod log;
mod outcome;
mod plan;
mod prepare;
mod run;

use polymut_schemas::RepoPath;

use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    Tick, ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct CargoMutants;

const ID: &str = "cargo-mutants";
const PINNED: &str = "27.1.0";

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Rust"],
    extensions: &["rs"],
    // `lib.rs` and `main.rs` say which lints the crate denies; `config.toml` whether it sets rustflags.
    reads: &["Cargo.toml", "mutants.toml", "config.toml", "lib.rs", "main.rs"],
    dependency_dirs: &[],
    supported: ">=26.1.0, <28.0.0",
    tree: TreeUse::Writes,
    spread: Spread::Sandboxes,
    cost: Cost { start: 3000, mutant: 900 },
    recipe: Recipe {
        version: PINNED,
        provides: "bin/cargo-mutants",
        steps: &[RecipeStep {
            program: "cargo",
            // A debug build is ready in half the time, and the tool itself does little.
            args: &["install", ID, "--version", "{version}", "--locked", "--debug", "--root", "{store}"],
        }],
        hint: "cargo install cargo-mutants --locked",
    },
    scrub: &[
        // A shared target folder gives workers each other's binaries and with them wrong verdicts
        // (seen with 27.1.0; its issue 407).
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
        "CARGO_MUTANTS_*",
        "CARGO_TERM_*",
        "CLICOLOR_FORCE",
        // Set by a `cargo run` or `cargo test` around polymut; the tool would call back into that cargo.
        "CARGO",
        "CARGO_MANIFEST_*",
        "CARGO_PKG_*",
        "CARGO_BIN_*",
        "CARGO_CRATE_NAME",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_MAKEFLAGS",
        "MAKEFLAGS",
        "MFLAGS",
        "NEXTEST",
        "NEXTEST_*",
        "INSTA_*",
    ],
};

impl Adapter for CargoMutants {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        detect::detect(tree)
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        plan::plan(job, stage).map(Some)
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(prepare::probe(ran)),
            Stage::Prepare => Ok(prepare::prepare(job, ran)),
            Stage::List => list::list(job, ran),
            Stage::Test(units) => run::test(units, ran),
            Stage::Confirm(suspects) => run::confirm(suspects, ran),
            Stage::Replay(mutant) => Ok(prepare::replay(mutant, ran)),
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
