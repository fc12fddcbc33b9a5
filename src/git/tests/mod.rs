//! The git room on real repositories, each read by libgit2 and by the git program.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

mod bases;
mod change;
mod diff_files;
mod listing;
mod names;
mod odd_repositories;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use polymut_schemas::{FileChange, NewSide, OutsideReason, RepoPath, Scope, ScopeFile, ScopeWidth};

use super::{DiffFile, GitError, Repo, ScopeRequest, scope};
use crate::paths::AbsPath;

/// A repository in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// An empty repository on branch `main`.
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.git(&["init", "-q", "-b", "main"]);
        place.configure();
        place
    }

    /// A clone made with `args`.
    fn cloned(args: &[&str]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.git(&[&["-c", "protocol.file.allow=always", "clone", "-q"], args, &["."]].concat());
        place.configure();
        place
    }

    /// A repository with these files in its first commit, on branch `change`.
    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (path, text) in files {
            place.write(path, text);
        }
        place.commit();
        place.git(&["switch", "-q", "-c", "change"]);
        place
    }

    fn configure(&self) {
        for (name, value) in [("user.name", "A"), ("user.email", "a@example.org"), ("core.autocrlf", "false")]
        {
            self.git(&["config", name, value]);
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn root(&self) -> AbsPath {
        AbsPath::new(self.path().canonicalize().unwrap().to_str().unwrap()).unwrap()
    }

    /// Runs git here and gives what it prints.
    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        String::from_utf8(self.git_bytes(args)).unwrap()
    }

    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "tests build their repositories with the real program")]
    fn git_bytes(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        let output = command
            .current_dir(self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.path().join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, bytes).unwrap();
    }

    fn remove(&self, path: &str) {
        fs_err::remove_file(self.path().join(path)).unwrap();
    }

    /// Commits everything and gives the hash.
    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn open(&self) -> Repo {
        Repo::open(&self.root()).unwrap()
    }

    /// The scope, which both readers must agree on.
    #[track_caller]
    fn try_scope(&self, request: &ScopeRequest) -> Result<Scope, GitError> {
        let library = scope(&self.open(), request);
        let program = scope(&Repo::through_program(&self.root(), "a test").unwrap(), request);
        match (&library, &program) {
            (Ok(one), Ok(two)) => assert_eq!(one, two, "libgit2 and git disagree"),
            (Err(one), Err(two)) => assert_eq!(one.to_string(), two.to_string()),
            (one, two) => panic!("libgit2 and git disagree: {one:?} and {two:?}"),
        }
        library
    }

    #[track_caller]
    fn scope(&self, request: &ScopeRequest) -> Scope {
        self.try_scope(request).unwrap()
    }

    /// The files of the change against `main`.
    #[track_caller]
    fn files(&self, side: NewSide) -> Vec<ScopeFile> {
        self.scope(&ScopeRequest { side, ..against("main") }).files
    }

    /// The one file of the change in the working tree.
    #[track_caller]
    fn only(&self) -> ScopeFile {
        let files = self.files(NewSide::WorkingTree);
        assert_eq!(files.len(), 1, "{files:?}");
        files.into_iter().next().unwrap()
    }
}

/// A request for the working tree against `base`.
fn against(base: &str) -> ScopeRequest {
    ScopeRequest { base: Some(base.to_owned()), ..detected(&[]) }
}

/// A request without a base, with these variables.
fn detected(env: &[(&str, &str)]) -> ScopeRequest {
    ScopeRequest {
        base: None,
        side: NewSide::WorkingTree,
        diff_file: None,
        all: false,
        width: ScopeWidth::Line,
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
    }
}

/// A request for the lines of a diff.
fn with_diff(bytes: impl AsRef<[u8]>) -> ScopeRequest {
    let diff_file = Some(DiffFile { name: "x.diff".to_owned(), bytes: bytes.as_ref().to_vec() });
    ScopeRequest { diff_file, ..detected(&[]) }
}

fn lines(file: &ScopeFile) -> Vec<u32> {
    file.lines.lines().collect()
}

/// Path, change, lines and reason of each file.
fn summary(files: &[ScopeFile]) -> Vec<(&str, FileChange, Vec<u32>, Option<OutsideReason>)> {
    files.iter().map(|file| (file.path.as_str(), file.change, lines(file), file.outside)).collect()
}

fn repo_path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}
