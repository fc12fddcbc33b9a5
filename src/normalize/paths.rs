//! Turns the tool's own path into a path of the repository: the one place that does.
//!
//! In: a raw path, the tree. Out: [`RepoPath`] or why not. I/O: none.

use polymut_adapters::{RawPath, Tree};
use polymut_schemas::{RepoDir, RepoPath};

use crate::sources::Sources;

/// Why a record has no place in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathProblem {
    /// Not below the repository root.
    Outside(String),
    /// Below the root, but not a file of the new side (generated, ignored).
    NotInTree(String),
    /// A bare name that several files answer to.
    Ambiguous(String),
    /// A line that the file does not have.
    PastEnd(String),
}

impl PathProblem {
    /// The reason as the stage's counts show it.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Outside(_) => "outside the repository",
            Self::NotInTree(_) => "not a file of the repository",
            Self::Ambiguous(_) => "ambiguous file name",
            Self::PastEnd(_) => "past the end of the file",
        }
    }

    /// A sentence for the run's notes, where a reader should know.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Outside(_) | Self::NotInTree(_) => None,
            Self::Ambiguous(name) => {
                Some(format!("ambiguous: more than one file may be `{name}`; its mutants have no place"))
            }
            Self::PastEnd(place) => {
                Some(format!("{place} is past the end of the file (inlined or generated code)"))
            }
        }
    }
}

/// Resolves raw paths for one project.
pub struct Resolver<'a> {
    dir: &'a RepoDir,
    tree: &'a Tree,
    sources: &'a Sources,
    roots: &'a [String],
}

impl<'a> Resolver<'a> {
    /// A resolver for the project in `dir`; `roots` are the absolute folders that stood for the repository root.
    pub fn new(dir: &'a RepoDir, tree: &'a Tree, sources: &'a Sources, roots: &'a [String]) -> Self {
        Self { dir, tree, sources, roots }
    }

    /// The repository's name for `raw`.
    pub fn resolve(&self, raw: &RawPath) -> Result<RepoPath, PathProblem> {
        match raw {
            RawPath::FromProject(text) => self.relative(self.dir, text),
            RawPath::FromRepo(text) => self.relative(&RepoDir::root(), text),
            RawPath::Absolute(text) => self.absolute(text),
            RawPath::Declared { roots, package, file } => self.declared(roots, package, file),
        }
    }

    fn relative(&self, dir: &RepoDir, text: &str) -> Result<RepoPath, PathProblem> {
        if text.starts_with('/') {
            return self.absolute(text);
        }
        let path = dir.join(text).map_err(|_| PathProblem::Outside(text.to_owned()))?;
        self.known(path)
    }

    fn absolute(&self, text: &str) -> Result<RepoPath, PathProblem> {
        // The longest root first: one sandbox may lie inside another.
        let mut roots: Vec<&String> = self.roots.iter().collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        for root in roots {
            if let Some(rest) = text.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/')) {
                return RepoDir::root()
                    .join(rest)
                    .map_err(|_| PathProblem::Outside(text.to_owned()))
                    .and_then(|path| self.known(path));
            }
        }
        Err(PathProblem::Outside(text.to_owned()))
    }

    fn known(&self, path: RepoPath) -> Result<RepoPath, PathProblem> {
        if self.tree.has(&path) { Ok(path) } else { Err(PathProblem::NotInTree(path.to_string())) }
    }

    /// By package folder first; else by the `package` line of files of that name (Kotlin's folders may be shorter).
    fn declared(&self, roots: &[RepoDir], package: &str, file: &str) -> Result<RepoPath, PathProblem> {
        let folder = package.replace('.', "/");
        let by_folder: Vec<RepoPath> = roots
            .iter()
            .filter_map(|root| root.join(format!("{folder}/{file}")).ok())
            .filter(|path| self.tree.has(path))
            .collect();
        match by_folder.as_slice() {
            [one] => return Ok(one.clone()),
            [] => {}
            [_, _, ..] => return Err(PathProblem::Ambiguous(file.to_owned())),
        }
        let named: Vec<&RepoPath> =
            self.tree.named(file).filter(|path| roots.iter().any(|root| root.contains(path))).collect();
        let declaring: Vec<&RepoPath> =
            named.iter().copied().filter(|path| self.declares(path, package)).collect();
        match declaring.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(PathProblem::NotInTree(format!("{folder}/{file}"))),
            [_, _, ..] => Err(PathProblem::Ambiguous(file.to_owned())),
        }
    }

    fn declares(&self, path: &RepoPath, package: &str) -> bool {
        let Some(text) = self.sources.text(path) else { return false };
        let declared = text.lines().find_map(|line| {
            let rest = line.trim_start_matches('\u{feff}').trim().strip_prefix("package ")?;
            Some(rest.trim().trim_end_matches(';').trim().to_owned())
        });
        declared.unwrap_or_default() == package
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn tree(files: &[&str]) -> Tree {
        Tree::new(files.iter().map(|file| path(file)), BTreeMap::new())
    }

    #[test]
    fn a_path_is_read_from_where_the_tool_stood() {
        let tree = tree(&["rust/core/src/lib.rs", "shared/src/lib.rs"]);
        let (dir, sources, roots) =
            (RepoDir::new("rust").unwrap(), Sources::default(), ["/sandbox/1".to_owned()]);
        let resolver = Resolver::new(&dir, &tree, &sources, &roots);
        let ok = |raw: RawPath| resolver.resolve(&raw).map(|path| path.to_string());
        assert_eq!(ok(RawPath::FromProject("core/src/lib.rs".into())), Ok("rust/core/src/lib.rs".into()));
        assert_eq!(ok(RawPath::FromProject("../shared/src/lib.rs".into())), Ok("shared/src/lib.rs".into()));
        assert_eq!(
            ok(RawPath::Absolute("/sandbox/1/shared/src/lib.rs".into())),
            Ok("shared/src/lib.rs".into())
        );
        assert!(matches!(
            ok(RawPath::Absolute("/sandbox/10/shared/src/lib.rs".into())),
            Err(PathProblem::Outside(_))
        ));
        assert!(matches!(ok(RawPath::FromProject("target/gen.rs".into())), Err(PathProblem::NotInTree(_))));
    }

    #[test]
    fn a_bare_name_that_two_files_answer_to_is_said_not_guessed() {
        let tree = tree(&["a/src/Util.kt", "b/src/Util.kt"]);
        let mut sources = Sources::default();
        sources.insert(path("a/src/Util.kt"), b"package x.y\nclass A".to_vec());
        sources.insert(path("b/src/Util.kt"), b"package x.y\nclass B".to_vec());
        let (dir, roots) = (RepoDir::root(), []);
        let resolver = Resolver::new(&dir, &tree, &sources, &roots);
        let declared = |roots: &[&str]| RawPath::Declared {
            roots: roots.iter().map(|root| RepoDir::new(root).unwrap()).collect(),
            package: "x.y".into(),
            file: "Util.kt".into(),
        };
        assert_eq!(
            resolver.resolve(&declared(&["a/src", "b/src"])),
            Err(PathProblem::Ambiguous("Util.kt".into()))
        );
        assert_eq!(resolver.resolve(&declared(&["a/src"])), Ok(path("a/src/Util.kt")));
    }
}
