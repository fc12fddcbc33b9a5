//! Finds Go modules.
//!
//! In: the tree. Out: projects. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{RepoDir, RepoPath, ToolId};

use crate::{Project, Tree};

/// Names that a project's own configuration may have.
pub(crate) const CONFIGS: [&str; 2] = [".gremlins.yaml", ".gremlins.yml"];
const MODULE: &str = "module";

/// Every module, sorted by folder. Modules below `vendor` and `testdata` are somebody else's.
pub(crate) fn detect(tree: &Tree) -> Vec<Project> {
    let mut projects: Vec<Project> = tree
        .named("go.mod")
        .filter(|path| !path.as_str().split('/').any(|part| matches!(part, "vendor" | "testdata")))
        .filter_map(|path| {
            let name = module_name(tree.bytes(path)?)?;
            let dir = path.dir();
            let mut memo = BTreeMap::from([(MODULE.to_owned(), vec![name])]);
            if let Some(config) = CONFIGS.iter().find(|config| tree.has_in(&dir, config)) {
                memo.insert(Project::CONFIGURED.to_owned(), vec![(*config).to_owned()]);
            }
            Some(Project { tool: ToolId::from(super::ID), owns: vec![dir.clone()], dir, memo })
        })
        .collect();
    projects.sort_by(|a, b| a.dir.cmp(&b.dir));
    projects
}

/// The name behind `module`, wherever that line stands.
fn module_name(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().find_map(|line| {
        let rest = line.trim_start_matches('\u{feff}').trim().strip_prefix("module")?;
        let rest = rest.strip_prefix([' ', '\t', '"', '('])?;
        let name = rest.split("//").next()?.trim().trim_matches(['"', '(', ')', ' ']);
        (!name.is_empty()).then(|| name.to_owned())
    })
}

/// `go.mod` as the tool reads it: it takes the first line for the module's, and finds nothing covered when a comment
/// stands there. `None`: it already is so.
pub(crate) fn readable_go_mod(project: &Project, tree: &Tree) -> Option<Vec<u8>> {
    let name = project.memo.get(MODULE)?.first()?;
    let bytes = tree.bytes_in(&project.dir, "go.mod")?;
    let text = String::from_utf8_lossy(bytes);
    let line = format!("module {name}");
    if text.lines().next() == Some(line.as_str()) {
        return None;
    }
    let others = text.lines().filter(|other| {
        let trimmed = other.trim_start_matches('\u{feff}').trim();
        !(trimmed.starts_with("module ")
            || trimmed.starts_with("module\t")
            || trimmed.starts_with("module\""))
    });
    let all: Vec<&str> = std::iter::once(line.as_str()).chain(others).collect();
    Some(format!("{}\n", all.join("\n")).into_bytes())
}

/// Test code, data of tests, and vendored code: never mutated.
pub(crate) fn is_test(project: &Project, path: &RepoPath) -> bool {
    let inside = project.dir.relative(path).unwrap_or(path.as_str());
    let folders = inside.rsplit_once('/').map_or("", |(folders, _)| folders);
    path.file_name().ends_with("_test.go")
        || folders.split('/').any(|part| matches!(part, "testdata" | "vendor"))
}

/// The folder of a file inside the module, `.` for its root.
pub(crate) fn package_dir(dir: &RepoDir, path: &RepoPath) -> String {
    match dir.relative(path).and_then(|inside| inside.rsplit_once('/')) {
        Some((folder, _)) => format!("./{folder}"),
        None => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_line_below_a_comment_is_moved_up_for_the_tool() {
        let files = BTreeMap::from([
            (
                RepoPath::new("a/go.mod").unwrap(),
                b"// why\nmodule x.test/a // deprecated\n\ngo 1.22\n".to_vec(),
            ),
            (RepoPath::new("b/go.mod").unwrap(), b"module x.test/b\n".to_vec()),
            (RepoPath::new("b/testdata/m/go.mod").unwrap(), b"module m\n".to_vec()),
        ]);
        let tree = Tree::new([], files);
        let found = detect(&tree);
        assert_eq!(found.iter().map(|project| project.dir.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let written = readable_go_mod(&found[0], &tree).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "module x.test/a\n// why\n\ngo 1.22\n");
        assert_eq!(readable_go_mod(&found[1], &tree), None);
    }

    #[test]
    fn tests_and_vendored_code_are_not_mutated() {
        let project = Project {
            tool: ToolId::from("gremlins"),
            dir: RepoDir::new("svc").unwrap(),
            owns: Vec::new(),
            memo: BTreeMap::new(),
        };
        let is = |path: &str| is_test(&project, &RepoPath::new(path).unwrap());
        assert!(is("svc/a/b_test.go") && is("svc/vendor/x/y.go") && is("svc/a/testdata/z.go"));
        assert!(!is("svc/a/b.go"));
    }
}
