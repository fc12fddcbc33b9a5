//! Finds the npm packages that StrykerJS can run in, and tells test code and build configuration from sources.
//!
//! In: [`Tree`]. Out: [`Project`]s. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoDir, RepoPath};

use super::workspace::{Manifest, workspace_root};
use super::{INFO, memo};
use crate::{Project, Tree};

pub(super) const CORE: &str = "@stryker-mutator/core";

/// Test runners that Stryker has a plugin for, in the order in which a project that declares several is read.
pub(super) const RUNNERS: [&str; 7] = ["vitest", "jest", "mocha", "jasmine", "cucumber", "tap", "karma"];

const DEPENDENCIES: &str = "node_modules";

/// Every package that has sources and something to test them with.
pub(super) fn detect(tree: &Tree) -> Vec<Project> {
    let manifests: Vec<RepoDir> = tree
        .named("package.json")
        .map(RepoPath::dir)
        .filter(|dir| !dir.as_str().split('/').any(|part| part == DEPENDENCIES))
        .collect();
    let mut claimed: BTreeSet<RepoDir> = BTreeSet::new();
    let mut projects: Vec<Project> = Vec::new();
    let mut deepest_first = manifests;
    deepest_first.sort_by_key(|dir| std::cmp::Reverse((dir.depth(), dir.clone())));
    for dir in deepest_first {
        if let Some(project) = project(tree, &dir)
            && has_sources(tree, &project, &claimed)
        {
            claimed.insert(dir);
            projects.push(project);
        }
    }
    projects.sort_by(|a, b| a.dir.cmp(&b.dir));
    projects
}

fn project(tree: &Tree, dir: &RepoDir) -> Option<Project> {
    let own = Manifest::read(tree, dir)?;
    let root = workspace_root(tree, dir);
    let above = root.as_ref().and_then(|root| Manifest::read(tree, root)).unwrap_or_default();
    let config = config_names().find(|name| tree.has_in(dir, name));
    let declares = own.declares(CORE) || above.declares(CORE);
    let runner = runner(&own).or_else(|| runner(&above));
    let tested = own.test_script().is_some() || runner.is_some();
    if config.is_none() && !declares && !tested {
        return None;
    }
    let mut memo = BTreeMap::new();
    memo.insert(memo::ROOT.to_owned(), vec![root.unwrap_or_else(|| dir.clone()).as_str().to_owned()]);
    if let Some(config) = config {
        memo.insert(Project::CONFIGURED.to_owned(), vec![config]);
    }
    if declares {
        memo.insert(memo::DECLARED.to_owned(), vec![CORE.to_owned()]);
    }
    if own.declares(memo::NODE) || above.declares(memo::NODE) {
        memo.insert(memo::NODE.to_owned(), vec![memo::NODE.to_owned()]);
    }
    if let Some(runner) = runner {
        memo.insert(memo::RUNNER.to_owned(), vec![runner.to_owned()]);
    }
    Some(Project { tool: INFO.tool_id(), dir: dir.clone(), owns: vec![dir.clone()], memo })
}

/// The names in the order in which Stryker looks; the first hit wins.
fn config_names() -> impl Iterator<Item = String> {
    ["", "."].into_iter().flat_map(|prefix| {
        ["conf", "config"].into_iter().flat_map(move |suffix| {
            ["json", "js", "mjs", "cjs"].map(|extension| format!("{prefix}stryker.{suffix}.{extension}"))
        })
    })
}

/// The runner that the test script names, else the first that is declared.
fn runner(manifest: &Manifest) -> Option<&'static str> {
    let script = manifest.test_script().unwrap_or_default();
    let named = |runner: &&str| script.split(|c: char| !c.is_alphanumeric()).any(|word| word == *runner);
    RUNNERS.into_iter().find(named).or_else(|| RUNNERS.into_iter().find(|runner| manifest.declares(runner)))
}

fn has_sources(tree: &Tree, project: &Project, claimed: &BTreeSet<RepoDir>) -> bool {
    tree.below(&project.dir).any(|path| {
        path.extension().is_some_and(|extension| INFO.extensions.contains(&extension))
            && !path.as_str().split('/').any(|part| part == DEPENDENCIES)
            && !is_test(project, path)
            && !claimed.iter().any(|deeper| deeper != &project.dir && deeper.contains(path))
    })
}

/// Tests, their helpers, type declarations, and configuration of build and test tools. None is ever mutated: a mutant
/// there says nothing about the suite.
pub(super) fn is_test(project: &Project, path: &RepoPath) -> bool {
    let relative = project.dir.relative(path).unwrap_or(path.as_str());
    let mut folders: Vec<&str> = relative.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    let anywhere = ["__tests__", "__mocks__", "__fixtures__", "__snapshots__"];
    let at_top = ["test", "tests", "spec", "specs", "e2e", "cypress", "playwright"];
    let top = if matches!(folders.first(), Some(&("src" | "lib"))) { 2 } else { 1 };
    folders.iter().any(|folder| anywhere.contains(folder))
        || folders.iter().take(top).any(|folder| at_top.contains(folder))
        || is_test_name(name)
        || (folders.is_empty() && is_build_configuration(name))
}

/// `vitest.config.ts`, `karma.conf.js`, `jest.setup.js`: at the top of a package only, because `src/app.config.ts` is
/// part of many a program.
fn is_build_configuration(name: &str) -> bool {
    let mut middle = name.split('.').skip(1);
    middle.any(|part| ["config", "conf", "setup", "workspace"].contains(&part))
}

fn is_test_name(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let (stem, middle) = match parts.as_slice() {
        [stem, middle @ .., _extension] => (*stem, middle),
        _ => return false,
    };
    let kinds = ["test", "spec", "e2e", "cy", "bench", "d"];
    middle.iter().any(|part| kinds.contains(part))
        || stem == "setupTests"
        // `.eslintrc.js`: the stem of a hidden file is empty.
        || (stem.is_empty() && middle.iter().any(|part| part.ends_with("rc")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let manifests = files.iter().filter(|(_, text)| !text.is_empty());
        Tree::new(
            files.iter().map(|(name, _)| path(name)),
            manifests.map(|(name, text)| (path(name), text.as_bytes().to_vec())).collect(),
        )
    }

    fn dirs(files: &[(&str, &str)]) -> Vec<String> {
        detect(&tree(files)).into_iter().map(|project| project.dir.to_string()).collect()
    }

    #[test]
    fn a_workspace_gives_one_project_per_package_with_sources() {
        let found = dirs(&[
            (
                "web/package.json",
                r#"{"workspaces":["packages/*"],"devDependencies":{"vitest":"1","@stryker-mutator/core":"9"}}"#,
            ),
            ("web/eslint.config.js", ""),
            ("web/packages/a/package.json", "{}"),
            ("web/packages/a/src/index.ts", ""),
            ("web/packages/b/package.json", "{}"),
            ("web/packages/b/README.md", ""),
            ("web/packages/a/node_modules/x/package.json", r#"{"scripts":{"test":"jest"}}"#),
            ("web/packages/a/node_modules/x/index.js", ""),
        ]);
        assert_eq!(found, ["web/packages/a"]);
    }

    #[test]
    fn a_package_without_any_test_is_not_claimed_and_belongs_to_the_one_above() {
        let found = dirs(&[
            ("package.json", r#"{"scripts":{"test":"node --test"}}"#),
            ("src/esm/package.json", r#"{"type":"module"}"#),
            ("src/esm/a.mjs", ""),
            ("docs/package.json", r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#),
            ("docs/a.js", ""),
        ]);
        assert_eq!(found, ["."]);
    }

    #[test]
    fn a_config_file_is_enough_and_marks_the_project_as_configured() {
        let found = detect(&tree(&[("package.json", "{}"), ("stryker.conf.js", ""), ("a.js", "")]));
        assert!(found[0].is_configured());
    }

    #[test]
    fn tests_and_build_configuration_are_no_sources() {
        let project = &detect(&tree(&[("p/package.json", r#"{"scripts":{"test":"x"}}"#), ("p/a.js", "")]))[0];
        let test = |name: &str| is_test(project, &RepoPath::new(format!("p/{name}")).unwrap());
        for name in [
            "src/a.test.ts",
            "src/a.spec.jsx",
            "__tests__/a.js",
            "src/x/__mocks__/b.ts",
            "test/a.js",
            "src/tests/h.ts",
            "vitest.config.ts",
            "stryker.conf.js",
            ".eslintrc.cjs",
            "src/types.d.ts",
            "vitest.setup.ts",
            "cypress/a.ts",
        ] {
            assert!(test(name), "{name}");
        }
        for name in [
            "src/a.ts",
            "src/spec.ts",
            "src/contest/a.ts",
            "src/api/test/a.ts",
            "src/latest.ts",
            "src/app.config.ts",
        ] {
            assert!(!test(name), "{name}");
        }
    }
}
