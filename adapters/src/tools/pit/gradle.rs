//! The commands of each stage for a Gradle build: not driven yet.
//!
//! In: a job and a stage. Out: a refusal. I/O: none.

use crate::{Job, Plan, PlanError, Stage};

/// Refuses every stage.
pub(crate) fn plan(_job: &Job<'_>, _stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    Err(PlanError::Missing {
        missing: "the Gradle driver".to_owned(),
        remedy: "run the project's own PIT task through `command`, `reports` and `format = \"pit\"`"
            .to_owned(),
    })
}
