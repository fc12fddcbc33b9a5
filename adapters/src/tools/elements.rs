//! Any tool that writes mutation-testing-elements reports, for `polymut import elements` alone.
//!
//! In: reports. Out: raw mutants. I/O: none.
//!
//! It claims no project and plans nothing: Stryker4s, Infection and whatever else writes the format is read with it.

use polymut_schemas::OperatorClass;

use crate::formats::elements_import;
use crate::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, Spread, Stage, ToolInfo,
    Tree, TreeUse,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct Elements;

static INFO: ToolInfo = ToolInfo {
    id: "elements",
    languages: &["any, by import only"],
    extensions: &[],
    reads: &[],
    dependency_dirs: &[],
    supported: ">=1.0.0, <3.0.0",
    tree: TreeUse::Reads,
    spread: Spread::Own,
    cost: Cost { start: 0, mutant: 0 },
    recipe: Recipe {
        version: "",
        provides: "",
        steps: &[],
        hint: "write a mutation-testing-elements report with the tool itself",
    },
    scrub: &[],
};

impl Adapter for Elements {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, _tree: &Tree) -> Vec<Project> {
        Vec::new()
    }

    fn plan(&self, _job: &Job<'_>, _stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        Err(PlanError::Missing {
            missing: "a command".to_owned(),
            remedy: "this format is only read: `polymut import elements FILE`".to_owned(),
        })
    }

    fn parse(&self, _job: &Job<'_>, _stage: Stage<'_>, _ran: &Ran) -> Result<Parsed, ParseError> {
        Err(ParseError::MissingArtifact { what: "a mutation-testing-elements report".to_owned() })
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        elements_import::import(INFO.id, |_| OperatorClass::Other, files)
    }
}
