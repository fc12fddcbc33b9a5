//! PIT, the mutation tool of the JVM, through Maven or Gradle: the adapter itself, and what holds in every repository.
//!
//! In: a job and a stage. Out: plans, parsed stages. I/O: none.
//!
//! Rooms: `detect` and `pom` find projects; `classes`, `classfile`, `extents` and `source` turn changed lines into
//! classes and methods; `maven` and `gradle` plan; `log`, `report` and `mutants` read; `parse` judges.

mod classes;
mod classfile;
mod detect;
mod extents;
mod gradle;
mod log;
mod maven;
mod mutants;
mod parse;
mod pom;
mod prepare;
mod report;
mod source;
mod version;

use polymut_schemas::RepoPath;

use crate::formats::xml;
use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, RecipeStep, Spread, Stage,
    ToolInfo, Tree, TreeUse,
};
use detect::{Build, Memo};

/// The tool's name in the registry.
pub(crate) const ID: &str = "pit";

/// PIT through Maven or Gradle.
pub(crate) struct Pit;

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Java", "Kotlin"],
    extensions: &["java", "kt"],
    reads: &["pom.xml", "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"],
    dependency_dirs: &[],
    supported: ">=1.15, <1.31",
    tree: TreeUse::Writes,
    spread: Spread::Own,
    cost: Cost { start: 30000, mutant: 300 },
    recipe: Recipe {
        version: version::NEWEST,
        provides: "pitest-junit5-plugin-1.2.3.jar",
        // Fills the user's own repository of Maven; a run fetches what it needs by itself.
        steps: &[
            RecipeStep {
                program: "mvn",
                args: &["-B", "dependency:get", "-Dartifact=org.pitest:pitest-maven:{version}"],
            },
            RecipeStep {
                program: "mvn",
                args: &[
                    "-B",
                    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
                    "-Dartifact=org.pitest:pitest-junit5-plugin:1.2.3",
                    "-DoutputDirectory={store}",
                ],
            },
        ],
        hint: "PIT comes by its Maven coordinates; install a JDK and Maven 3.6 or newer, or commit the Maven or Gradle wrapper",
    },
    scrub: &[
        "MAVEN_ARGS",
        "MAVEN_CMD_LINE_ARGS",
        "MAVEN_DEBUG_OPTS",
        "MAVEN_BASEDIR",
        "MAVEN_PROJECTBASEDIR",
    ],
};

impl Adapter for Pit {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        detect::detect(tree)
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        match Memo(job.project).build() {
            Build::Maven => maven::plan(job, stage),
            Build::Gradle => gradle::plan(job, stage),
        }
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(prepare::probe(job, ran)),
            Stage::Prepare => Ok(prepare::prepare(job, ran)),
            Stage::List => Ok(Parsed::default()),
            Stage::Test(units) => parse::test(job, units, ran),
            Stage::Confirm(suspects) => parse::confirm(job, suspects, ran),
            Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        Memo(project).is_test(path)
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        parse::import(files)
    }
}
