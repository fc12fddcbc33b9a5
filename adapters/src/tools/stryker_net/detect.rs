//! Finds the source projects of a repository, the test projects that reach each, and the files that it links.
//!
//! In: the tree's project files. Out: projects, and typed access to what they remember. I/O: none.
//!
//! One project per folder with a source `.csproj`. It owns its folder, the folders of its test projects (so that a
//! changed test is known as one) and linked files that lie in no project's folder. A test project that reaches no
//! source is a project of its own in which every file is a test.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;
use polymut_schemas::{RepoDir, RepoPath, ToolId};

use super::csproj::{self, Csproj};
use super::{ID, config};
use crate::{Project, Tree};

const SOURCES: &str = "sources";
const TESTS: &str = "tests";
const DEPENDENTS: &str = "dependents";
const CONFIG: &str = "config";

/// Typed access to what detection remembers.
#[derive(Clone, Copy)]
pub(super) struct Memo<'a>(pub(super) &'a Project);

impl Memo<'_> {
    /// Source `.csproj` files of the folder: one, as a rule.
    pub(super) fn sources(self) -> Vec<RepoPath> {
        self.paths(SOURCES)
    }

    /// Test projects that reach the source by their project files.
    pub(super) fn tests(self) -> Vec<RepoPath> {
        self.paths(TESTS)
    }

    /// Other projects that reach the source and look like no test projects.
    pub(super) fn dependents(self) -> Vec<RepoPath> {
        self.paths(DEPENDENTS)
    }

    /// The user's own configuration of the tool.
    pub(super) fn config(self) -> Option<RepoPath> {
        self.paths(CONFIG).into_iter().next()
    }

    fn paths(self, name: &str) -> Vec<RepoPath> {
        let named = self.0.memo.get(name).map(Vec::as_slice).unwrap_or_default();
        named.iter().filter_map(|path| RepoPath::new(path).ok()).collect()
    }
}

/// Every source project, and every test project without one; sorted by folder.
pub(super) fn detect(tree: &Tree) -> Vec<Project> {
    let solution = Solution::read(tree);
    let mut projects: BTreeMap<RepoDir, Project> = BTreeMap::new();
    for path in solution.files.keys().filter(|path| !solution.tests.contains(*path)) {
        let dir = path.dir();
        if !projects.contains_key(&dir) {
            projects.insert(dir.clone(), solution.project(tree, dir));
        }
    }
    let reached: BTreeSet<RepoPath> = projects.values().flat_map(|project| Memo(project).tests()).collect();
    for path in solution.tests.iter().filter(|path| !reached.contains(*path)) {
        let dir = path.dir();
        projects.entry(dir.clone()).or_insert_with(|| lone(dir, path));
    }
    projects.into_values().collect()
}

/// Whether `path` belongs to a test project: the deepest folder of a project file above it is one of tests.
pub(super) fn is_test(project: &Project, path: &RepoPath) -> bool {
    let memo = Memo(project);
    if memo.sources().is_empty() {
        return true;
    }
    let own = if project.dir.contains(path) { project.dir.depth() + 1 } else { 0 };
    let tests = memo.tests();
    let deepest = tests.iter().map(RepoPath::dir).filter(|dir| dir.contains(path)).map(|dir| dir.depth() + 1);
    deepest.max().is_some_and(|depth| depth > own)
}

/// Every project file of a repository.
struct Solution {
    files: BTreeMap<RepoPath, Csproj>,
    tests: BTreeSet<RepoPath>,
}

impl Solution {
    fn read(tree: &Tree) -> Self {
        let files: BTreeMap<RepoPath, Csproj> = tree
            .files()
            .filter(|path| path.extension() == Some("csproj"))
            .map(|path| (path.clone(), csproj::read(path, tree.bytes(path).unwrap_or_default())))
            .collect();
        let is_test = |(path, project): (&RepoPath, &Csproj)| {
            project.test.unwrap_or_else(|| project.has_test_package() || named_and_given(tree, path))
        };
        let tests = files.iter().filter(|entry| is_test(*entry)).map(|(path, _)| path.clone()).collect();
        Self { files, tests }
    }

    /// Whether `from` reaches one of `targets` through project references.
    fn reaches(&self, from: &RepoPath, targets: &[RepoPath]) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for reference in self.files.get(at).into_iter().flat_map(|project| &project.references) {
                if targets.contains(reference) {
                    return true;
                }
                if seen.insert(reference) {
                    open.push(reference);
                }
            }
        }
        false
    }

    fn project(&self, tree: &Tree, dir: RepoDir) -> Project {
        let sources: Vec<RepoPath> = self
            .files
            .keys()
            .filter(|path| path.dir() == dir && !self.tests.contains(*path))
            .cloned()
            .collect();
        let reaching: Vec<&RepoPath> =
            self.files.keys().filter(|path| self.reaches(path, &sources)).collect();
        let (tests, others): (Vec<&RepoPath>, Vec<&RepoPath>) =
            reaching.into_iter().partition(|path| self.tests.contains(*path));
        let names = |paths: &[&RepoPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut memo = BTreeMap::from([
            (SOURCES.to_owned(), sources.iter().map(ToString::to_string).collect()),
            (TESTS.to_owned(), names(&tests)),
            (DEPENDENTS.to_owned(), names(&others)),
        ]);
        let dirs: BTreeSet<RepoDir> = tests.iter().map(|path| path.dir()).filter(|at| *at != dir).collect();
        if let Some(found) = config::find(tree, dirs.iter().chain([&dir]), &dir) {
            memo.insert(CONFIG.to_owned(), vec![found.to_string()]);
            memo.insert(Project::CONFIGURED.to_owned(), vec![found.to_string()]);
        }
        let linked = self.linked(tree, &sources).into_iter().map(RepoDir::from);
        let owns = std::iter::once(dir.clone()).chain(dirs).chain(linked).collect();
        Project { tool: ToolId::from(ID), dir, owns, memo }
    }

    /// Files outside every project's folder that the project compiles by name.
    fn linked(&self, tree: &Tree, sources: &[RepoPath]) -> BTreeSet<RepoPath> {
        let dirs: BTreeSet<RepoDir> = self.files.keys().map(RepoPath::dir).collect();
        let mut found = BTreeSet::new();
        for path in sources {
            for include in self.files.get(path).into_iter().flat_map(|project| &project.compiled) {
                found.extend(matching(tree, &path.dir(), include));
            }
        }
        found.retain(|path| !dirs.iter().any(|dir| dir.contains(path)));
        found
    }
}

/// Whether `Directory.Build.props` makes the project one of tests: by its word, or by packages that it gives to a
/// project which is named as tests are.
fn named_and_given(tree: &Tree, path: &RepoPath) -> bool {
    const PROPS: &str = "Directory.Build.props";
    let nearest = tree.nearest(&path.dir(), PROPS).and_then(|dir| dir.join(PROPS).ok());
    let Some(props) = nearest.and_then(|at| Some(csproj::read(&at, tree.bytes(&at)?))) else { return false };
    let name = path.file_name().to_lowercase();
    let named = ["test", "spec"].iter().any(|word| name.contains(word));
    props.test == Some(true) || (named && props.has_test_package())
}

/// Files that an `Include` of a project in `dir` names.
fn matching(tree: &Tree, dir: &RepoDir, include: &str) -> Vec<RepoPath> {
    let (base, pattern) = include.split_at(include.find(['*', '?']).unwrap_or(include.len()));
    if pattern.is_empty() {
        return dir.join(include).into_iter().filter(|path| tree.has(path)).collect();
    }
    let (base, first) = base.rsplit_once('/').unwrap_or((".", base));
    let glob = GlobBuilder::new(&format!("{first}{pattern}")).literal_separator(true).build();
    let (Ok(below), Ok(glob)) = (dir.resolve(base), glob) else { return Vec::new() };
    let glob = glob.compile_matcher();
    let hit = |path: &&RepoPath| below.relative(path).is_some_and(|relative| glob.is_match(relative));
    tree.below(&below).filter(hit).cloned().collect()
}

fn lone(dir: RepoDir, path: &RepoPath) -> Project {
    let memo = BTreeMap::from([(TESTS.to_owned(), vec![path.to_string()])]);
    Project { tool: ToolId::from(ID), owns: vec![dir.clone()], dir, memo }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "<Project Sdk=\"Microsoft.NET.Sdk\" />";

    fn tests_of(references: &[&str]) -> String {
        let references = references.join(";");
        format!(
            "<Project><ItemGroup><PackageReference Include=\"xunit\" /><ProjectReference Include=\"{references}\" />\
             </ItemGroup></Project>"
        )
    }

    fn tree(projects: &[(&str, &str)], files: &[&str]) -> Tree {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let bytes = projects.iter().map(|(at, text)| (path(at), text.as_bytes().to_vec())).collect();
        Tree::new(files.iter().map(|at| path(at)), bytes)
    }

    fn found(project: &Project) -> (String, Vec<String>, Vec<String>) {
        let texts = |paths: Vec<RepoPath>| paths.iter().map(ToString::to_string).collect();
        (project.dir.to_string(), texts(Memo(project).sources()), texts(Memo(project).tests()))
    }

    #[test]
    fn a_test_project_belongs_to_every_source_that_it_reaches() {
        let extra = "<Project><ItemGroup><ProjectReference Include=\"..\\Core\\Core.csproj\" /></ItemGroup></Project>";
        let tree = tree(
            &[
                ("src/Core/Core.csproj", PLAIN),
                ("src/Extra/Extra.csproj", extra),
                ("tests/Extra.Tests/Extra.Tests.csproj", &tests_of(&["../../src/Extra/Extra.csproj"])),
                ("tests/E2e/E2e.csproj", &tests_of(&[])),
            ],
            &[],
        );
        let projects = detect(&tree);
        let tests = vec!["tests/Extra.Tests/Extra.Tests.csproj".to_owned()];
        assert_eq!(
            projects.iter().map(found).collect::<Vec<_>>(),
            [
                ("src/Core".to_owned(), vec!["src/Core/Core.csproj".to_owned()], tests.clone()),
                ("src/Extra".to_owned(), vec!["src/Extra/Extra.csproj".to_owned()], tests),
                ("tests/E2e".to_owned(), vec![], vec!["tests/E2e/E2e.csproj".to_owned()]),
            ]
        );
        assert_eq!(Memo(&projects[0]).dependents(), [RepoPath::new("src/Extra/Extra.csproj").unwrap()]);
    }

    #[test]
    fn files_of_test_projects_are_tests_also_below_the_source_folder() {
        let tree = tree(&[("a/A.csproj", PLAIN), ("a/tests/T.csproj", &tests_of(&["../A.csproj"]))], &[]);
        let project = &detect(&tree)[0];
        let at = |text: &str| is_test(project, &RepoPath::new(text).unwrap());
        assert!(at("a/tests/X.cs") && !at("a/X.cs"));
    }

    #[test]
    fn a_linked_file_belongs_to_every_project_that_links_it_unless_it_has_a_project_of_its_own() {
        let links = "<Project><ItemGroup><Compile Include=\"..\\shared\\**\\*.cs;../B/Own.cs\" /></ItemGroup></Project>";
        let tree = tree(
            &[("A/A.csproj", links), ("B/B.csproj", PLAIN), ("C/C.csproj", links)],
            &["shared/x/Info.cs", "B/Own.cs"],
        );
        let owners: Vec<String> = detect(&tree)
            .iter()
            .filter(|project| project.owns.contains(&RepoDir::new("shared/x/Info.cs").unwrap()))
            .map(|project| project.dir.to_string())
            .collect();
        assert_eq!(owners, ["A", "C"]);
        assert!(!detect(&tree)[0].owns.contains(&RepoDir::new("B/Own.cs").unwrap()));
    }

    #[test]
    fn packages_of_the_folder_make_a_project_of_tests_only_with_a_name_of_tests() {
        let tree = tree(
            &[
                ("Directory.Build.props", &tests_of(&[])),
                ("A/A.csproj", PLAIN),
                (
                    "A.Tests/A.Tests.csproj",
                    "<Project><ItemGroup><ProjectReference Include=\"../A/A.csproj\" /></ItemGroup></Project>",
                ),
            ],
            &[],
        );
        let projects = detect(&tree);
        assert_eq!(projects.len(), 1);
        assert_eq!(Memo(&projects[0]).tests(), [RepoPath::new("A.Tests/A.Tests.csproj").unwrap()]);
    }
}
