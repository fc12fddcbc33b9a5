//! Finds Maven reactors and Gradle builds.
//!
//! In: the tree. Out: projects, and typed access to what they remember. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoDir, RepoPath, ToolId};

use super::pom::{self, Pom};
use crate::{Project, Tree};

const BUILD: &str = "build";
const MODULE: &str = "module";
const ARTIFACT: &str = "artifact";
const VERSION: &str = "pit.version";
pub(super) const DECLARED: &str = "pit.declared";
const SIBLINGS: &str = "siblings";
const TESTS: &str = "tests";

/// Which build tool a project has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// `pom.xml`.
    Maven,
    /// `settings.gradle` or `build.gradle`, Groovy or Kotlin.
    Gradle,
}

/// Every reactor and build, sorted by folder; where both build tools are at home in one folder, Maven is taken.
pub(crate) fn detect(tree: &Tree) -> Vec<Project> {
    let mut projects: BTreeMap<RepoDir, Project> = BTreeMap::new();
    for project in reactors(tree) {
        projects.insert(project.dir.clone(), project);
    }
    for project in gradle(tree) {
        projects.entry(project.dir.clone()).or_insert(project);
    }
    projects.into_values().collect()
}

fn reactors(tree: &Tree) -> Vec<Project> {
    let poms: BTreeMap<RepoDir, Pom> = tree
        .named("pom.xml")
        .filter(|path| !path.as_str().contains("src/test/resources/") && !path.as_str().contains("src/it/"))
        .filter_map(|path| Some((path.dir(), pom::read(tree.bytes(path)?)?)))
        .collect();
    let children: BTreeMap<&RepoDir, Vec<RepoDir>> =
        poms.iter().map(|(dir, pom)| (dir, modules(dir, pom, &poms))).collect();
    let inner: BTreeSet<&RepoDir> = children.values().flatten().collect();
    let roots = poms.keys().filter(|dir| !inner.contains(dir));
    roots.map(|root| reactor(root, &children, &poms)).collect()
}

/// Folders of the modules that `pom` names and that have a POM of their own.
fn modules(dir: &RepoDir, pom: &Pom, poms: &BTreeMap<RepoDir, Pom>) -> Vec<RepoDir> {
    let named = pom.modules.iter().filter_map(|module| dir.resolve(module.trim_end_matches("/pom.xml")).ok());
    named.filter(|module| module != dir && poms.contains_key(module)).collect()
}

fn reactor(
    root: &RepoDir,
    children: &BTreeMap<&RepoDir, Vec<RepoDir>>,
    poms: &BTreeMap<RepoDir, Pom>,
) -> Project {
    let mut owns: BTreeSet<RepoDir> = BTreeSet::new();
    let mut open = vec![root.clone()];
    while let Some(dir) = open.pop() {
        if owns.insert(dir.clone()) {
            open.extend(children.get(&dir).into_iter().flatten().cloned());
        }
    }
    let members: Vec<(&RepoDir, &Pom)> =
        owns.iter().filter_map(|dir| poms.get(dir).map(|pom| (dir, pom))).collect();
    let names: BTreeSet<&str> = members.iter().map(|(_, pom)| pom.artifact.as_str()).collect();
    let mut memo: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |key: &str, value: String| memo.entry(key.to_owned()).or_default().push(value);
    add(BUILD, "maven".to_owned());
    let mut properties = BTreeMap::new();
    for (dir, pom) in &members {
        add(MODULE, dir.as_str().to_owned());
        add(ARTIFACT, pom.artifact.clone());
        properties.extend(pom.properties.clone());
        if pom.dependencies.iter().any(|name| names.contains(name.as_str())) {
            add(SIBLINGS, dir.as_str().to_owned());
        }
        if let Some(tests) = pom.test_sources.as_ref().and_then(|tests| dir.resolve(tests).ok()) {
            add(TESTS, tests.as_str().to_owned());
        }
    }
    if members.iter().any(|(_, pom)| pom.has_pit) {
        add(DECLARED, "yes".to_owned());
        add(Project::CONFIGURED, "pom.xml".to_owned());
    }
    let mut versions = members.iter().filter_map(|(_, pom)| pom.pit_version.as_deref());
    if let Some(version) = versions.find_map(|written| pom::interpolate(written, &properties)) {
        add(VERSION, version);
    }
    Project { tool: ToolId::from(super::ID), dir: root.clone(), owns: owns.into_iter().collect(), memo }
}

const GRADLE_SETTINGS: [&str; 2] = ["settings.gradle", "settings.gradle.kts"];
const GRADLE_BUILDS: [&str; 2] = ["build.gradle", "build.gradle.kts"];

fn gradle(tree: &Tree) -> Vec<Project> {
    let dirs = |names: &[&'static str; 2]| -> BTreeSet<RepoDir> {
        names.iter().flat_map(|name| tree.named(name)).map(RepoPath::dir).collect()
    };
    let (settings, builds) = (dirs(&GRADLE_SETTINGS), dirs(&GRADLE_BUILDS));
    let mut roots = settings.clone();
    let covered = |dir: &RepoDir| settings.iter().any(|root| root.contains_dir(dir));
    roots.extend(builds.iter().filter(|dir| !covered(dir)).cloned());
    let of_root =
        |dir: &RepoDir| roots.iter().filter(|root| root.contains_dir(dir)).max_by_key(|r| r.depth()).cloned();
    roots
        .iter()
        .map(|root| {
            let mut owns = vec![root.clone()];
            owns.extend(
                builds.iter().filter(|dir| *dir != root && of_root(dir).as_ref() == Some(root)).cloned(),
            );
            let mut memo = BTreeMap::from([(BUILD.to_owned(), vec!["gradle".to_owned()])]);
            memo.insert(MODULE.to_owned(), owns.iter().map(|dir| dir.as_str().to_owned()).collect());
            memo.insert(ARTIFACT.to_owned(), owns.iter().map(|dir| gradle_path(root, dir)).collect());
            Project { tool: ToolId::from(super::ID), dir: root.clone(), owns, memo }
        })
        .collect()
}

/// `:core:api` of the folder `core/api`, as Gradle names projects that are not renamed; `:` is the root.
fn gradle_path(root: &RepoDir, dir: &RepoDir) -> String {
    let below = dir.as_str().strip_prefix(root.as_str()).unwrap_or_default().trim_start_matches('/');
    format!(":{}", below.replace('/', ":"))
}

/// Typed access to what a project remembers.
#[derive(Clone, Copy)]
pub(crate) struct Memo<'a>(pub(crate) &'a Project);

impl Memo<'_> {
    /// The build tool.
    pub(crate) fn build(self) -> Build {
        if self.list(BUILD).iter().any(|build| build == "gradle") { Build::Gradle } else { Build::Maven }
    }

    /// Folders of the modules, the root among them.
    pub(crate) fn modules(self) -> Vec<RepoDir> {
        self.dirs(MODULE)
    }

    /// The folder of the module called `artifact`.
    pub(crate) fn module_of(self, artifact: &str) -> Option<RepoDir> {
        let at = self.list(ARTIFACT).iter().position(|name| name == artifact)?;
        self.modules().get(at).cloned()
    }

    /// The module that holds `path`: the deepest one.
    pub(crate) fn module_with(self, path: &RepoPath) -> RepoDir {
        let holding = self.modules().into_iter().filter(|dir| dir.contains(path));
        holding.max_by_key(RepoDir::depth).unwrap_or_else(|| self.0.dir.clone())
    }

    /// Whether a module depends on another one of the reactor.
    pub(crate) fn needs_siblings(self, module: &RepoDir) -> bool {
        self.dirs(SIBLINGS).contains(module)
    }

    /// The version of the PIT plugin that the project names.
    pub(crate) fn pit_version(self) -> Option<String> {
        self.list(VERSION).first().cloned()
    }

    /// Whether the project names the PIT plugin at all.
    pub(crate) fn declares_pit(self) -> bool {
        !self.list(DECLARED).is_empty()
    }

    /// Whether `path` is test code: a source set whose name says so, or a configured test folder.
    pub(crate) fn is_test(self, path: &RepoPath) -> bool {
        if self.dirs(TESTS).iter().any(|dir| dir.contains(path)) {
            return true;
        }
        let parts: Vec<&str> = path.as_str().split('/').collect();
        parts.windows(2).any(|pair| match pair {
            ["src", set] => {
                *set == "it" || set.starts_with("test") || set.ends_with("Test") || set.ends_with("-test")
            }
            _ => false,
        })
    }

    fn list(&self, key: &str) -> &[String] {
        self.0.memo.get(key).map(Vec::as_slice).unwrap_or_default()
    }

    fn dirs(self, key: &str) -> Vec<RepoDir> {
        self.list(key).iter().filter_map(|dir| RepoDir::new(dir).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let bytes = files.iter().map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec()));
        Tree::new([], bytes.collect())
    }

    fn pom(artifact: &str, inside: &str) -> String {
        format!("<project><artifactId>{artifact}</artifactId>{inside}</project>")
    }

    #[test]
    fn a_reactor_is_one_project_and_a_loose_module_another() {
        let root = pom("root", "<modules><module>core</module><module>app/pom.xml</module></modules>");
        let app =
            pom("app", "<dependencies><dependency><artifactId>core</artifactId></dependency></dependencies>");
        let tree = tree(&[
            ("jvm/pom.xml", &root),
            ("jvm/core/pom.xml", &pom("core", "")),
            ("jvm/app/pom.xml", &app),
            ("jvm/loose/pom.xml", &pom("loose", "")),
            ("g/settings.gradle.kts", ""),
            ("g/lib/build.gradle", ""),
        ]);
        let found = detect(&tree);
        let dirs: Vec<&str> = found.iter().map(|project| project.dir.as_str()).collect();
        assert_eq!(dirs, ["g", "jvm", "jvm/loose"]);
        let memo = Memo(&found[1]);
        assert_eq!(memo.module_of("app").unwrap().as_str(), "jvm/app");
        assert!(memo.needs_siblings(&RepoDir::new("jvm/app").unwrap()));
        assert!(!memo.needs_siblings(&RepoDir::new("jvm/core").unwrap()));
        assert_eq!(found[0].owns.len(), 2);
    }

    #[test]
    fn tests_are_told_by_their_source_set() {
        let tree =
            tree(&[("pom.xml", &pom("a", "<build><testSourceDirectory>spec</testSourceDirectory></build>"))]);
        let found = detect(&tree);
        let is_test = |path: &str| Memo(&found[0]).is_test(&RepoPath::new(path).unwrap());
        assert!(is_test("src/test/java/ATest.java") && is_test("src/integrationTest/java/B.java"));
        assert!(is_test("spec/A.java"));
        assert!(!is_test("src/main/java/test/A.java"));
    }
}
