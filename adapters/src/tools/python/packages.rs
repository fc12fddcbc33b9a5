//! Python packages of a tree: folders with a manifest, and what in them is test code.
//!
//! In: the tree. Out: folders, tables. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoDir, RepoPath};

use crate::{PlanError, Tree};

/// Tables of a `pyproject.toml` that belong to a package or its tests; a file with linter settings alone is none.
const PACKAGE_TABLES: &[&str] = &["project", "build-system"];
const PACKAGE_TOOLS: &[&str] =
    &["poetry", "flit", "hatch", "pdm", "setuptools", "pytest", "mutmut", "cosmic-ray"];
const PACKAGE_SECTIONS: &[&str] = &["metadata", "options", "tool:pytest", "mutmut"];

/// Folders of Python packages that have code besides their tests, sorted.
pub(in crate::tools) fn packages(tree: &Tree) -> Vec<RepoDir> {
    let stale = stale_outputs(tree);
    let manifests = tree.named("pyproject.toml").chain(tree.named("setup.cfg")).chain(tree.named("setup.py"));
    let found: BTreeSet<RepoDir> = manifests
        .filter(|path| !stale.iter().any(|dir| dir.contains(path)))
        .filter(|path| is_manifest(tree, path))
        .map(RepoPath::dir)
        .collect();
    found
        .iter()
        .filter(|dir| {
            let deeper = |path: &RepoPath| {
                found.iter().any(|other| other != *dir && dir.contains_dir(other) && other.contains(path))
            };
            tree.below(dir).any(|path| {
                path.extension() == Some("py")
                    && path.file_name() != "setup.py"
                    && !is_test(dir, path)
                    && !deeper(path)
            })
        })
        .cloned()
        .collect()
}

/// Folders that mutmut left in the tree: they hold a copy of the manifest and are no projects.
fn stale_outputs(tree: &Tree) -> BTreeSet<RepoDir> {
    tree.files()
        .filter(|path| path.as_str().ends_with(".py.meta") || path.file_name() == "mutmut-stats.json")
        .filter_map(|path| {
            let mut dir = Some(path.dir());
            while let Some(folder) = dir {
                if folder.as_path().file_name() == Some("mutants") {
                    return Some(folder);
                }
                dir = folder.parent();
            }
            None
        })
        .collect()
}

fn is_manifest(tree: &Tree, path: &RepoPath) -> bool {
    let Some(bytes) = tree.bytes(path) else { return path.file_name() == "setup.py" };
    let text = String::from_utf8_lossy(bytes);
    match path.file_name() {
        "setup.cfg" => PACKAGE_SECTIONS.iter().any(|name| !ini_section(&text, name).is_empty()),
        "pyproject.toml" => match text.parse::<toml::Table>() {
            Ok(table) => {
                PACKAGE_TABLES.iter().any(|name| table.contains_key(*name))
                    || table
                        .get("tool")
                        .and_then(toml::Value::as_table)
                        .is_some_and(|tools| PACKAGE_TOOLS.iter().any(|name| tools.contains_key(*name)))
            }
            // A manifest that cannot be read is said when it is planned for.
            Err(_) => true,
        },
        _ => true,
    }
}

/// Whether `path` is test code of the package in `dir`.
pub(in crate::tools) fn is_test(dir: &RepoDir, path: &RepoPath) -> bool {
    let relative = dir.relative(path).unwrap_or(path.as_str());
    let (folders, name) = relative.rsplit_once('/').unwrap_or(("", relative));
    let stem = name.strip_suffix(".py").unwrap_or(name);
    folders.split('/').any(|folder| matches!(folder, "tests" | "test"))
        || name == "conftest.py"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || matches!(stem, "tests" | "test")
}

/// The parsed `name` in `dir`: `None` when it is not there.
pub(in crate::tools) fn toml_file(
    tree: &Tree,
    dir: &RepoDir,
    name: &str,
) -> Result<Option<toml::Table>, PlanError> {
    let Some(bytes) = tree.bytes_in(dir, name) else { return Ok(None) };
    let file = dir.join(name).map_or_else(|_| name.to_owned(), |path| path.to_string());
    let broken = |why: String| PlanError::UserConfig {
        file: file.clone(),
        why,
        remedy: "mend the file: the Python tools read it as well".to_owned(),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| broken("it is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.parse::<toml::Table>().map(Some).map_err(|error| broken(error.message().to_owned()))
}

/// The keys of one section of an INI file as Python's configparser reads them: continuation lines are indented.
pub(in crate::tools) fn ini_section(text: &str, section: &str) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let (mut inside, mut open) = (false, None::<String>);
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') || bare.starts_with(';') {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (inside, open) = (name == section, None);
        } else if !inside {
        } else if line.starts_with([' ', '\t'])
            && let Some(value) = open.as_ref().and_then(|key| values.get_mut(key))
        {
            value.push('\n');
            value.push_str(bare);
        } else if let Some((key, value)) = bare.split_once(['=', ':']) {
            let key = key.trim().to_lowercase();
            values.insert(key.clone(), value.trim().to_owned());
            open = Some(key);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let path = |name: &str| RepoPath::new(name).unwrap();
        Tree::new([], files.iter().map(|(name, text)| (path(name), text.as_bytes().to_vec())).collect())
    }

    #[test]
    fn a_package_has_a_manifest_and_code() {
        let tree = tree(&[
            ("pyproject.toml", "[tool.ruff]\n"),
            ("a/pyproject.toml", "[project]\nname = \"a\"\n"),
            ("a/src/a/x.py", ""),
            ("b/setup.cfg", "[mutmut]\nsource_paths = src\n"),
            ("b/b.py", ""),
            ("c/pyproject.toml", "[project]\n"),
            ("c/tests/test_c.py", ""),
            ("a/mutants/pyproject.toml", "[project]\n"),
            ("a/mutants/src/a/x.py", ""),
            ("a/mutants/src/a/x.py.meta", "{}"),
        ]);
        let dirs: Vec<String> = packages(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(dirs, ["a", "b"]);
    }

    #[test]
    fn tests_are_known_by_folder_and_name() {
        let dir = RepoDir::new("tests/pkg").unwrap();
        let test = |name: &str| is_test(&dir, &RepoPath::new(format!("tests/pkg/{name}")).unwrap());
        assert!(
            ["tests/x.py", "test_x.py", "src/x_test.py", "a/conftest.py", "src/a/tests/x.py"].map(test)
                == [true; 5]
        );
        assert!(["src/x.py", "src/testing/x.py", "latest.py", "contest.py"].map(test) == [false; 4]);
    }

    #[test]
    fn an_ini_value_goes_on_in_indented_lines() {
        let section =
            ini_section("[a]\nx=1\n[mutmut]\nTests_Dir=\n    tests/\n  # no\n    more/\nb: 2\n", "mutmut");
        assert_eq!(section["tests_dir"], "\ntests/\nmore/");
        assert_eq!(section["b"], "2");
        assert_eq!(section.len(), 2);
    }
}
