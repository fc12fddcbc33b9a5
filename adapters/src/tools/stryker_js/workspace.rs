//! Manifests of npm packages: dependencies, scripts, and which workspace root a package belongs to.
//!
//! In: [`Tree`]. Out: [`Manifest`], [`Install`]. I/O: none.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use polymut_schemas::RepoDir;
use serde::Deserialize;

use crate::Tree;

/// What polymut reads of a `package.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Manifest {
    dependencies: BTreeMap<String, serde_json::Value>,
    dev_dependencies: BTreeMap<String, serde_json::Value>,
    scripts: BTreeMap<String, serde_json::Value>,
    workspaces: Workspaces,
    package_manager: Option<String>,
}

/// `["packages/*"]`, or `{ "packages": [...] }`.
#[derive(Debug, Default)]
struct Workspaces(Vec<String>);

impl<'de> Deserialize<'de> for Workspaces {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let list = value.get("packages").unwrap_or(&value).as_array().cloned().unwrap_or_default();
        Ok(Self(list.iter().filter_map(|glob| glob.as_str().map(str::to_owned)).collect()))
    }
}

impl Manifest {
    /// The manifest in `dir`; `None` without one, or where it is not JSON.
    pub(super) fn read(tree: &Tree, dir: &RepoDir) -> Option<Self> {
        let bytes = tree.bytes_in(dir, "package.json")?;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn declares(&self, package: &str) -> bool {
        self.dependencies.contains_key(package) || self.dev_dependencies.contains_key(package)
    }

    /// Whether anything is to be installed for it.
    pub(super) fn has_dependencies(&self) -> bool {
        !(self.dependencies.is_empty() && self.dev_dependencies.is_empty())
    }

    /// The test script, unless it is the one that `npm init` writes.
    pub(super) fn test_script(&self) -> Option<&str> {
        let script = self.scripts.get("test")?.as_str()?;
        (!script.contains("no test specified")).then_some(script)
    }
}

/// The nearest folder above that names `dir` among its workspaces.
pub(super) fn workspace_root(tree: &Tree, dir: &RepoDir) -> Option<RepoDir> {
    let mut above = dir.parent();
    while let Some(folder) = above {
        let relative = dir.as_str().strip_prefix(folder.as_str()).unwrap_or_default().trim_start_matches('/');
        if is_member(&workspace_globs(tree, &folder), relative) {
            return Some(folder);
        }
        above = folder.parent();
    }
    None
}

fn workspace_globs(tree: &Tree, folder: &RepoDir) -> Vec<String> {
    let mut globs = Manifest::read(tree, folder).map(|manifest| manifest.workspaces.0).unwrap_or_default();
    if let Some(bytes) = tree.bytes_in(folder, "pnpm-workspace.yaml") {
        globs.extend(pnpm_packages(&String::from_utf8_lossy(bytes)));
    }
    globs
}

/// The list below `packages:`; the rest of the file is of no concern here.
fn pnpm_packages(yaml: &str) -> Vec<String> {
    let below = yaml.lines().skip_while(|line| !line.starts_with("packages:")).skip(1);
    let items = below.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '-', '#', '\t']));
    items
        .filter_map(|line| line.trim().strip_prefix('-'))
        .map(|item| item.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']).to_owned())
        .collect()
}

fn is_member(globs: &[String], relative: &str) -> bool {
    let mut member = false;
    for glob in globs {
        let (negated, glob) = glob.strip_prefix('!').map_or((false, glob.as_str()), |rest| (true, rest));
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        if matcher(glob).is_some_and(|glob| glob.is_match(relative)) {
            member = !negated;
        }
    }
    member
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// How the dependencies of a package are brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Install {
    /// Program on `PATH`.
    pub(super) program: &'static str,
    /// Its words.
    pub(super) words: &'static [&'static str],
}

/// The command for the lock file in `dir`, without one `npm install`.
pub(super) fn install(tree: &Tree, dir: &RepoDir) -> Install {
    let has = |name| tree.has_in(dir, name);
    let manager = Manifest::read(tree, dir).and_then(|manifest| manifest.package_manager).unwrap_or_default();
    let berry = has(".yarnrc.yml") || (manager.starts_with("yarn@") && !manager.starts_with("yarn@1"));
    let (program, words): (&str, &[&str]) = if has("pnpm-lock.yaml") {
        ("pnpm", &["install", "--frozen-lockfile"])
    } else if has("yarn.lock") && berry {
        ("yarn", &["install", "--immutable"])
    } else if has("yarn.lock") {
        ("yarn", &["install", "--frozen-lockfile", "--non-interactive"])
    } else if has("bun.lock") || has("bun.lockb") {
        ("bun", &["install", "--frozen-lockfile"])
    } else if has("package-lock.json") || has("npm-shrinkwrap.json") {
        ("npm", &["ci", "--no-audit", "--no-fund"])
    } else if manager.starts_with("pnpm@") || has("pnpm-workspace.yaml") {
        ("pnpm", &["install"])
    } else {
        ("npm", &["install", "--no-audit", "--no-fund"])
    };
    Install { program, words }
}

#[cfg(test)]
mod tests {
    use polymut_schemas::RepoPath;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let bytes = files.iter().map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec()));
        Tree::new([], bytes.collect())
    }

    fn dir(text: &str) -> RepoDir {
        RepoDir::new(text).unwrap()
    }

    #[test]
    fn npm_and_pnpm_workspaces_are_followed() {
        let npm =
            tree(&[("web/package.json", r#"{"workspaces":{"packages":["packages/*","!packages/old"]}}"#)]);
        assert_eq!(workspace_root(&npm, &dir("web/packages/a")), Some(dir("web")));
        assert_eq!(workspace_root(&npm, &dir("web/packages/old")), None);
        assert_eq!(workspace_root(&npm, &dir("web/packages/a/b")), None);
        let pnpm = tree(&[(
            "pnpm-workspace.yaml",
            "packages:\n  # all\n  - 'apps/**' # deep\n  - lib\ncatalog:\n  - x\n",
        )]);
        assert_eq!(workspace_root(&pnpm, &dir("apps/a/b")), Some(dir("")));
        assert_eq!(workspace_root(&pnpm, &dir("lib")), Some(dir("")));
        assert_eq!(workspace_root(&pnpm, &dir("x")), None);
    }

    #[test]
    fn the_lock_file_chooses_the_command() {
        let program = |files: &[(&str, &str)]| {
            let install = install(&tree(files), &dir(""));
            format!("{} {}", install.program, install.words[0])
        };
        assert_eq!(program(&[("package-lock.json", "")]), "npm ci");
        assert_eq!(program(&[("package.json", "{}")]), "npm install");
        assert_eq!(program(&[("pnpm-lock.yaml", "")]), "pnpm install");
        assert_eq!(
            install(&tree(&[("yarn.lock", ""), (".yarnrc.yml", "")]), &dir("")).words,
            ["install", "--immutable"]
        );
    }
}
