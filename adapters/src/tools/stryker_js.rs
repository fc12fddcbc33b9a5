//! StrykerJS 8.7 and newer, for npm, pnpm and yarn packages.
//!
//! In: trees, jobs, recorded bytes. Out: projects, plans, raw mutants. I/O: none.
//!
//! What Stryker does not offer is added by a plugin of polymut's own, laid into the work folder: an *ignorer* that leaves
//! out every node which holds no chosen mutant (ranges of `--mutate` select by inclusion, cannot name every path, and
//! make Stryker overlook `// Stryker disable` comments outside of them), and a *reporter* that writes a line per mutant,
//! so that a run that is stopped keeps its results. Stryker mutates in place, in polymut's sandbox.
//!
//! # Facts that the code leans on
//! - An exit code of 1 says nothing (break threshold, no tests, crash): a fresh, whole report decides.
//! - `Survived` with no test completed is no survivor (runner and vitest that do not fit, code that throws at load).
//! - "No tests were executed" comes from runners that look for related tests by static imports; it is tried again
//!   without that, and only code that the whole suite never runs has no coverage.
//! - Versions before 9.3 cannot list mutants: their units are files, narrowed to the changed lines.

mod command;
mod confirm;
mod detect;
mod events;
mod keys;
mod operators;
mod outcome;
mod patch;
mod plan;
mod prepare;
mod scripts;
mod untested;
mod versions;
mod words;
mod workspace;

use polymut_schemas::RepoPath;

use crate::formats::elements_import;
use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    Tick, ToolInfo, Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct StrykerJs;

/// Names of what detection remembers.
mod memo {
    /// Folder of the workspace root, or of the package itself.
    pub(super) const ROOT: &str = "root";
    /// Present when the core is a dependency of the package or of its workspace root.
    pub(super) const DECLARED: &str = "declares";
    /// Present when the package or its workspace root brings its own Node (npm's `node` package).
    pub(super) const NODE: &str = "node";
    /// The test runner that the manifest names.
    pub(super) const RUNNER: &str = "runner";
}

static INFO: ToolInfo = ToolInfo {
    id: "stryker-js",
    languages: &["JavaScript", "TypeScript"],
    extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
    reads: &["package.json", "pnpm-workspace.yaml"],
    dependency_dirs: &["node_modules"],
    supported: ">=8.7.0, <11.0.0",
    tree: TreeUse::Writes,
    spread: Spread::Own,
    cost: Cost { start: 7000, mutant: 200 },
    recipe: Recipe {
        // The newest that Node 20 runs; 10 wants Node 22.
        version: "9.6.1",
        provides: "node_modules/@stryker-mutator/core/package.json",
        steps: &[RecipeStep {
            program: "npm",
            // Peer dependencies (vitest, jest, mocha) must be the project's own: a module hook finds them there.
            args: &[
                "install",
                "--prefix",
                "{store}",
                "--legacy-peer-deps",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "@stryker-mutator/core@{version}",
                "@stryker-mutator/vitest-runner@{version}",
                "@stryker-mutator/jest-runner@{version}",
                "@stryker-mutator/mocha-runner@{version}",
                "@stryker-mutator/jasmine-runner@{version}",
            ],
        }],
        hint: "npm install --save-dev @stryker-mutator/core and the plugin of your test runner",
    },
    scrub: &[
        "FORCE_COLOR",
        "NODE_OPTIONS",
        "STRYKER_*",
        "__STRYKER_*",
        "VITEST*",
        "JEST_WORKER_ID",
        "npm_lifecycle_*",
        "npm_package_*",
    ],
};

impl Adapter for StrykerJs {
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
            Stage::Probe => prepare::probed(job, ran),
            Stage::Prepare => prepare::prepared(ran),
            Stage::List => outcome::listed(job, ran),
            Stage::Test(units) => outcome::tested(job, units, ran),
            Stage::Confirm(suspects) => Ok(confirm::confirmed(suspects, ran)),
            // Never planned: the shown diff and the project's own test command replay a mutant, independent of Stryker.
            Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        detect::is_test(project, path)
    }

    fn watch(&self, _step: &str, line: &str) -> Option<Tick> {
        let mut words = line.strip_prefix("polymut ")?.split(' ');
        let (done, total) = words.next()?.split_once('/')?;
        let word = words.next().map(str::to_owned);
        Some(Tick { done: done.parse().ok(), total: total.parse().ok(), word })
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        elements_import::import(INFO.id, operators::class, files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_from_the_reporter_s_lines() {
        let tick = StrykerJs.watch("stryker", "polymut 3/57 Killed").unwrap();
        assert_eq!((tick.done, tick.total, tick.word.as_deref()), (Some(3), Some(57), Some("Killed")));
        assert_eq!(StrykerJs.watch("stryker", "03:41:16 (1) INFO X"), None);
    }
}
