//! One run of `polymut demo`, held against what each tool itself reports.
//!
//! In: the example. Out: counts per project. I/O: real tools.

use std::collections::BTreeMap;

use polymut_schemas::{Mutant, Outcome, Report, RunState, Status};
use serde_json::Value;

use super::machine::{Live, expected};

/// Counts per status of the mutants below a folder.
fn statuses(report: &Report, folder: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let below = |mutant: &&Mutant| {
        mutant.file.as_ref().is_some_and(|file| file.as_str().starts_with(&format!("{folder}/")))
    };
    for mutant in report.mutants.iter().filter(below).filter(|mutant| mutant.in_scope) {
        *counts.entry(mutant.status.word().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn the_demo_finds_what_each_project_of_the_example_is_built_to_show() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    let demo = Live::demo(&[]);
    let report = &demo.report;
    let mut wrong = Vec::new();
    for (folder, project) in expected() {
        if !live.has_toolchain(&project.tool) {
            continue;
        }
        let wanted: BTreeMap<String, u64> = project.judged;
        let found = statuses(report, &folder);
        if found != wanted {
            wrong.push(format!("{folder} ({}): wanted {wanted:?}, found {found:?}", project.tool));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), demo.stderr);
    assert_eq!(report.verdict.outcome, Outcome::Fail, "{:#?}", report.verdict);
    assert_eq!(demo.code, 1, "{}", demo.stderr);
    for run in &report.runs {
        assert!(
            matches!(run.state, RunState::Complete | RunState::NothingToMutate),
            "{}: {:?}\n{:?}",
            run.project,
            run.state,
            run.notes
        );
    }
    let page = std::fs::read_to_string(&demo.page).unwrap();
    for mutant in report.mutants.iter().filter(|mutant| mutant.status == Status::Survived) {
        assert!(page.contains(mutant.id.as_str()), "the page lacks the survivor {}", mutant.id);
    }
    let again: Value = serde_json::from_str(&demo.json).unwrap();
    assert_eq!(again["schema"], "polymut/1.1");
}
