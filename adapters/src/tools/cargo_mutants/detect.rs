//! Finds Cargo workspaces and packages outside any workspace.
//!
//! In: the tree's `Cargo.toml` files. Out: projects with their packages. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;
use polymut_schemas::{RepoDir, RepoPath, ToolId};
use toml::{Table, Value};

use super::ID;
use crate::{Project, Tree};

/// A package of a workspace, remembered in [`Project::memo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    /// Empty where the manifest does not say it.
    pub(super) version: String,
    pub(super) dir: RepoDir,
}

impl Package {
    /// `name@version`, as the tool writes it.
    pub(super) fn spec(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{}@{}", self.name, self.version) }
    }
}

const PACKAGES: &str = "packages";

/// Every workspace, and every package that no workspace holds.
pub(super) fn detect(tree: &Tree) -> Vec<Project> {
    let manifests: BTreeMap<RepoDir, Table> = tree
        .named("Cargo.toml")
        .map(|path| {
            // A manifest that does not parse is a project all the same: the tool's own words will say what is wrong.
            let text = tree.bytes(path).map(String::from_utf8_lossy).unwrap_or_default();
            (path.dir(), text.parse().unwrap_or_default())
        })
        .collect();
    let mut projects: BTreeMap<RepoDir, BTreeSet<RepoDir>> = BTreeMap::new();
    for (dir, table) in manifests.iter().filter(|(_, table)| table.contains_key("workspace")) {
        projects.insert(dir.clone(), members(dir, table, &manifests));
    }
    let held: BTreeSet<RepoDir> = projects.values().flatten().cloned().collect();
    for (dir, table) in &manifests {
        if !held.contains(dir) && !table.contains_key("workspace") {
            projects.insert(dir.clone(), BTreeSet::from([dir.clone()]));
        }
    }
    projects
        .into_iter()
        .filter(|(_, members)| !members.is_empty())
        .map(|(dir, members)| project(tree, &dir, &members, &manifests))
        .collect()
}

fn project(
    tree: &Tree,
    dir: &RepoDir,
    members: &BTreeSet<RepoDir>,
    manifests: &BTreeMap<RepoDir, Table>,
) -> Project {
    let root = manifests.get(dir);
    let packages = members.iter().filter_map(|member| {
        let package = manifests.get(member)?.get("package")?.as_table()?;
        let name = package.get("name")?.as_str()?;
        Some(format!("{name} {} {}", version(package, root), member.as_str()))
    });
    let mut memo = BTreeMap::from([(PACKAGES.to_owned(), packages.collect())]);
    if tree.has_in(dir, ".cargo/mutants.toml") {
        memo.insert(Project::CONFIGURED.to_owned(), vec![".cargo/mutants.toml".to_owned()]);
    }
    let outside = members.iter().filter(|member| !dir.contains_dir(member)).cloned();
    Project {
        tool: ToolId::from(ID),
        dir: dir.clone(),
        owns: std::iter::once(dir.clone()).chain(outside).collect(),
        memo,
    }
}

fn version(package: &Table, root: Option<&Table>) -> String {
    let inherited = || root?.get("workspace")?.get("package")?.get("version")?.as_str();
    match package.get("version") {
        None => "0.0.0".to_owned(),
        Some(Value::String(version)) => version.clone(),
        Some(_) => inherited().unwrap_or_default().to_owned(),
    }
}

/// The packages of the project.
pub(super) fn packages(project: &Project) -> Vec<Package> {
    let lines = project.memo.get(PACKAGES).map(Vec::as_slice).unwrap_or_default();
    lines
        .iter()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (name, version) = (parts.next()?, parts.next()?);
            let dir = RepoDir::new(parts.next().unwrap_or_default()).ok()?;
            Some(Package { name: name.to_owned(), version: version.to_owned(), dir })
        })
        .collect()
}

/// The package whose folder is the deepest above `path`.
pub(super) fn owner<'a>(packages: &'a [Package], path: &RepoPath) -> Option<&'a Package> {
    packages.iter().filter(|package| package.dir.contains(path)).max_by_key(|package| package.dir.depth())
}

/// Tests, benches and examples of a package are targets that the tool never mutates; inside `src` the names `tests`
/// and `tests.rs` are by convention modules under `#[cfg(test)]`, which it leaves out.
pub(super) fn is_test(project: &Project, path: &RepoPath) -> bool {
    let packages = packages(project);
    let dir = owner(&packages, path).map_or_else(|| project.dir.clone(), |package| package.dir.clone());
    let Some(relative) = dir.relative(path) else { return false };
    let mut parts: Vec<&str> = relative.split('/').collect();
    let file = parts.pop().unwrap_or_default();
    let target = parts.first().is_some_and(|first| ["tests", "benches", "examples"].contains(first));
    let module = parts.first() == Some(&"src") && (file == "tests.rs" || parts.contains(&"tests"));
    target || module
}

/// Folders of the members of the workspace at `root`: named ones, the root package, and whatever they reach by path
/// inside the root folder, as Cargo counts them.
fn members(root: &RepoDir, table: &Table, manifests: &BTreeMap<RepoDir, Table>) -> BTreeSet<RepoDir> {
    let workspace = table.get("workspace").and_then(Value::as_table).cloned().unwrap_or_default();
    let excluded: Vec<RepoDir> =
        strings(&workspace, "exclude").filter_map(|path| root.resolve(path).ok()).collect();
    let mut open: Vec<RepoDir> = named(root, &workspace, manifests);
    if table.contains_key("package") {
        open.push(root.clone());
    }
    let mut found = BTreeSet::new();
    while let Some(dir) = open.pop() {
        let Some(manifest) = manifests.get(&dir).filter(|manifest| manifest.contains_key("package")) else {
            continue;
        };
        let foreign = dir != *root && manifest.contains_key("workspace");
        if foreign || !found.insert(dir.clone()) {
            continue;
        }
        let reached = path_dependencies(&dir, manifest).chain(path_dependencies(root, &workspace));
        open.extend(reached.filter(|reached| {
            root.contains_dir(reached) && !excluded.iter().any(|excluded| excluded.contains_dir(reached))
        }));
    }
    found
}

/// Folders that `workspace.members` names, also through globs.
fn named(root: &RepoDir, workspace: &Table, manifests: &BTreeMap<RepoDir, Table>) -> Vec<RepoDir> {
    let excluded: Vec<RepoDir> =
        strings(workspace, "exclude").filter_map(|path| root.resolve(path).ok()).collect();
    let mut found = Vec::new();
    for member in strings(workspace, "members") {
        if !member.contains(['*', '?', '[']) {
            found.extend(root.resolve(member).ok());
            continue;
        }
        let Ok(glob) = GlobBuilder::new(member.trim_start_matches("./").trim_end_matches('/'))
            .literal_separator(true)
            .build()
        else {
            continue;
        };
        let glob = glob.compile_matcher();
        let below = manifests.keys().filter(|dir| root.contains_dir(dir) && *dir != root);
        found.extend(
            below
                .filter(|dir| !excluded.iter().any(|excluded| excluded.contains_dir(dir)))
                .filter(|dir| relative_dir(root, dir).is_some_and(|relative| glob.is_match(relative)))
                .cloned(),
        );
    }
    found
}

fn relative_dir(root: &RepoDir, dir: &RepoDir) -> Option<String> {
    RepoPath::new(dir.as_str()).ok().and_then(|path| root.relative(&path).map(str::to_owned))
}

fn strings<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    table.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Folders that the dependency tables of a manifest reach by path.
fn path_dependencies(dir: &RepoDir, manifest: &Table) -> impl Iterator<Item = RepoDir> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table).chain([manifest]);
    let mut paths = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = table.get(kind).and_then(Value::as_table);
            let given = dependencies.into_iter().flat_map(Table::values);
            paths.extend(given.filter_map(|dependency| dir.resolve(dependency.get("path")?.as_str()?).ok()));
        }
    }
    paths.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(manifests: &[(&str, &str)]) -> Tree {
        let bytes = manifests
            .iter()
            .map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec()))
            .collect();
        Tree::new([], bytes)
    }

    fn dirs(tree: &Tree) -> Vec<String> {
        detect(tree).iter().map(|project| project.dir.to_string()).collect()
    }

    const PLAIN: &str = "[package]\nname = \"p\"\nversion = \"1.0.0\"\n";

    #[test]
    fn a_crate_outside_the_workspace_is_a_project_of_its_own() {
        let tree = tree(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"sdk\"]\n"),
            ("crates/a/Cargo.toml", PLAIN),
            ("sdk/Cargo.toml", PLAIN),
            ("tools/x/Cargo.toml", PLAIN),
        ]);
        assert_eq!(dirs(&tree), [".", "sdk", "tools/x"]);
    }

    #[test]
    fn a_nested_workspace_keeps_its_members() {
        let tree = tree(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b/*\"]\nexclude = [\"b/inner\"]\n"),
            ("a/Cargo.toml", PLAIN),
            ("b/c/Cargo.toml", PLAIN),
            ("b/inner/Cargo.toml", "[workspace]\nmembers = [\"d\"]\n"),
            ("b/inner/d/Cargo.toml", PLAIN),
        ]);
        assert_eq!(dirs(&tree), [".", "b/inner"]);
    }

    #[test]
    fn a_path_dependency_inside_the_root_is_a_member_and_a_member_outside_is_owned() {
        let tree = tree(&[
            (
                "w/Cargo.toml",
                "[workspace]\nmembers = [\"a\", \"../out\"]\n[workspace.package]\nversion = \"3.0.0\"\n",
            ),
            (
                "w/a/Cargo.toml",
                "[package]\nname = \"a\"\nversion.workspace = true\n[dependencies]\nb = { path = \"../b\" }\n",
            ),
            ("w/b/Cargo.toml", PLAIN),
            ("out/Cargo.toml", PLAIN),
        ]);
        let found = detect(&tree);
        assert_eq!(dirs(&tree), ["w"]);
        assert_eq!(found[0].owns, [RepoDir::new("w").unwrap(), RepoDir::new("out").unwrap()]);
        let specs: Vec<String> = packages(&found[0]).iter().map(Package::spec).collect();
        assert_eq!(specs, ["p@1.0.0", "a@3.0.0", "p@1.0.0"]);
    }

    #[test]
    fn a_manifest_that_does_not_parse_is_still_a_project() {
        assert_eq!(dirs(&tree(&[("x/Cargo.toml", "[package\n")])), ["x"]);
    }

    #[test]
    fn test_targets_and_test_modules_are_tests() {
        let tree = tree(&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/Cargo.toml", PLAIN)]);
        let project = detect(&tree).remove(0);
        let test = |path: &str| is_test(&project, &RepoPath::new(path).unwrap());
        assert!(test("a/tests/it.rs") && test("a/benches/b.rs") && test("a/src/x/tests.rs"));
        assert!(!test("a/src/contest.rs") && !test("a/src/lib.rs") && !test("a/build.rs"));
    }
}
