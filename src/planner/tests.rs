//! Claims, conflicts and what nobody claims, with two small tools.

use std::collections::BTreeMap;

use polymut_adapters::{
    Adapter, Cost, Job, ParseError, Parsed, Plan, PlanError, Project, Ran, Recipe, Spread, Stage, ToolInfo,
    Tree, TreeUse,
};
use polymut_schemas::{
    FileChange, LineSet, NewSide, OutsideReason, RepoDir, RepoPath, Scope, ScopeFile, ScopeSource,
    ScopeWidth, ToolId,
};

use super::*;

/// Claims every folder with its manifest.
struct Fake {
    info: &'static ToolInfo,
    manifest: &'static str,
    configured_by: &'static str,
}

const fn info(id: &'static str) -> ToolInfo {
    ToolInfo {
        id,
        languages: &["Python"],
        extensions: &["py"],
        reads: &["pyproject.toml"],
        dependency_dirs: &[],
        supported: "*",
        tree: TreeUse::Writes,
        spread: Spread::Own,
        cost: Cost { start: 0, mutant: 0 },
        recipe: Recipe { version: "1", provides: "bin/x", steps: &[], hint: "" },
        scrub: &[],
    }
}

static SNAKE_INFO: ToolInfo = info("snake");
static ADDER_INFO: ToolInfo = info("adder");
static SNAKE: Fake = Fake { info: &SNAKE_INFO, manifest: "pyproject.toml", configured_by: "snake.toml" };
static ADDER: Fake = Fake { info: &ADDER_INFO, manifest: "pyproject.toml", configured_by: "adder.toml" };

impl Adapter for Fake {
    fn info(&self) -> &'static ToolInfo {
        self.info
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        let found = tree.named(self.manifest).map(|path| {
            let dir = path.dir();
            // Every project shares this file, as projects of one solution link one.
            let shared = RepoDir::new("shared/common.py").unwrap();
            let mut memo = BTreeMap::new();
            if tree.has_in(&dir, self.configured_by) {
                memo.insert(Project::CONFIGURED.to_owned(), Vec::new());
            }
            Project { tool: ToolId::from(self.info.id), owns: vec![dir.clone(), shared], dir, memo }
        });
        found.collect()
    }

    fn plan(&self, _: &Job<'_>, _: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        Ok(None)
    }

    fn parse(&self, _: &Job<'_>, _: Stage<'_>, _: &Ran) -> Result<Parsed, ParseError> {
        Ok(Parsed::default())
    }

    fn is_test(&self, _: &Project, path: &RepoPath) -> bool {
        path.file_name().starts_with("test_")
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn scope(files: &[&str]) -> Scope {
    let mut files: Vec<ScopeFile> = files
        .iter()
        .map(|file| ScopeFile {
            path: path(file),
            change: FileChange::Modified,
            old_path: None,
            lines: LineSet::from_lines([1]),
            same_tokens: LineSet::default(),
            outside: None,
            projects: Vec::new(),
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Scope {
        source: ScopeSource::Git,
        new_side: NewSide::WorkingTree,
        width: ScopeWidth::Line,
        base: None,
        head: None,
        merge_base: None,
        files,
    }
}

fn planned(
    tree: &[&str],
    changed: &[&str],
    adapters: &[&'static dyn Adapter],
    choice: &Choice,
) -> Result<Assignment, PlannerError> {
    let tree = Tree::new(tree.iter().chain(changed).map(|file| path(file)), BTreeMap::new());
    assign(&scope(changed), &tree, &Sources::default(), adapters, choice)
}

fn jobs(assignment: &Assignment) -> Vec<String> {
    assignment.jobs.iter().map(|job| job.project.id().to_string()).collect()
}

fn outside(assignment: &Assignment, file: &str) -> Option<OutsideReason> {
    assignment.scope.file(&path(file)).and_then(|entry| entry.outside)
}

#[test]
fn the_deepest_project_owns_a_file() {
    let tree = ["pyproject.toml", "tools/x/pyproject.toml"];
    let assignment = planned(&tree, &["a.py", "tools/x/b.py"], &[&SNAKE], &Choice::default()).unwrap();
    assert_eq!(jobs(&assignment), ["snake:.", "snake:tools/x"]);
    assert_eq!(assignment.jobs[1].changed.files.len(), 1);
}

#[test]
fn a_source_file_that_nobody_claims_is_named() {
    let assignment =
        planned(&["x/pyproject.toml"], &["y/a.py", "notes.md"], &[&SNAKE], &Choice::default()).unwrap();
    assert_eq!(outside(&assignment, "y/a.py"), Some(OutsideReason::Unclaimed));
    assert_eq!(outside(&assignment, "notes.md"), Some(OutsideReason::NotSource));
    assert!(assignment.jobs.is_empty());
}

#[test]
fn a_change_of_tests_alone_makes_no_job_and_says_so() {
    let assignment = planned(&["pyproject.toml"], &["test_a.py"], &[&SNAKE], &Choice::default()).unwrap();
    assert!(assignment.jobs.is_empty());
    assert_eq!(outside(&assignment, "test_a.py"), Some(OutsideReason::Test));
}

#[test]
fn of_two_tools_the_configured_one_runs() {
    let adapters: [&'static dyn Adapter; 2] = [&SNAKE, &ADDER];
    let own = planned(&["pyproject.toml", "adder.toml"], &["a.py"], &adapters, &Choice::default()).unwrap();
    assert_eq!(jobs(&own), ["adder:."]);
    let named = Choice { configured: vec![("**".to_owned(), "snake".to_owned())], ..Choice::default() };
    let told = planned(&["x/pyproject.toml", "x/adder.toml"], &["x/a.py"], &adapters, &named).unwrap();
    assert_eq!(jobs(&told), ["snake:x"]);
}

#[test]
fn two_tools_with_none_or_both_configured_are_a_conflict_that_names_the_setting() {
    let adapters: [&'static dyn Adapter; 2] = [&SNAKE, &ADDER];
    for tree in [&["pyproject.toml"][..], &["pyproject.toml", "snake.toml", "adder.toml"][..]] {
        let Err(error) = planned(tree, &["a.py"], &adapters, &Choice::default()) else {
            panic!("no conflict")
        };
        assert!(error.to_string().contains("adder and snake"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("[[project]]") && hint.contains("tool = ")));
    }
    let chosen = Choice { tools: vec!["snake".to_owned()], ..Choice::default() };
    assert_eq!(jobs(&planned(&["pyproject.toml"], &["a.py"], &adapters, &chosen).unwrap()), ["snake:."]);
}

#[test]
fn a_project_that_was_left_out_is_not_called_unclaimed() {
    let choice = Choice { projects: vec!["x".to_owned()], ..Choice::default() };
    let assignment =
        planned(&["x/pyproject.toml", "y/pyproject.toml"], &["x/a.py", "y/b.py"], &[&SNAKE], &choice)
            .unwrap();
    assert_eq!(jobs(&assignment), ["snake:x"]);
    assert_eq!(outside(&assignment, "y/b.py"), Some(OutsideReason::NotChosen));
}

#[test]
fn a_file_that_two_projects_of_one_tool_share_is_judged_in_both() {
    let tree = ["x/pyproject.toml", "y/pyproject.toml"];
    let assignment = planned(&tree, &["shared/common.py"], &[&SNAKE], &Choice::default()).unwrap();
    assert_eq!(jobs(&assignment), ["snake:x", "snake:y"]);
}

fn own(dir: &str, format: &str) -> Choice {
    let own = OwnCommand {
        command: vec!["make".to_owned(), "mutants".to_owned()],
        reports: vec!["out/*.json".to_owned()],
        format: format.to_owned(),
    };
    Choice { own: vec![(RepoDir::new(dir).unwrap(), own)], ..Choice::default() }
}

#[test]
fn a_command_of_its_own_stands_in_place_of_every_tool_at_its_folder_and_below() {
    let tree = ["pyproject.toml", "x/deep/pyproject.toml"];
    let adapters: [&'static dyn Adapter; 2] = [&SNAKE, &ADDER];
    let assignment = planned(&tree, &["x/deep/a.py", "x/b.py"], &adapters, &own("x", "elements")).unwrap();
    assert_eq!(jobs(&assignment), ["elements:x"]);
    assert_eq!(assignment.jobs[0].changed.files.len(), 2);
}

#[test]
fn a_format_that_nothing_reads_is_named() {
    let Err(error) = planned(&[], &["x/b.py"], &[&SNAKE], &own("x", "elemnts")) else { panic!("no error") };
    assert!(error.hint().is_some_and(|hint| hint.contains("elements")), "{error}");
}
