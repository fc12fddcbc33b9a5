//! A git repository in a temporary folder, and the program in it.
//!
//! In: files. Out: [`Place`]. I/O: temporary folders, git.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use polymut_schemas::Report;

use crate::program::{Ran, polymut};

/// A repository with branch `main` and a checked-out branch `change`, and a state folder beside it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    /// A repository whose base holds `files`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self::named("repo", files)
    }

    /// The same in a folder of this name.
    pub(crate) fn named(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        fs_err::create_dir_all(&root).unwrap();
        let place = Self { folder, root };
        place.git(&["init", "-q", "-b", "main"]);
        place.write(".gitignore", "target/\n");
        for (path, text) in files {
            place.write(path, text);
        }
        place.commit("base");
        place.git(&["switch", "-q", "-c", "change"]);
        place
    }

    /// The root of the working tree.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// polymut's own folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.beside("state")
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let at = self.root.join(path);
        fs_err::create_dir_all(at.parent().unwrap()).unwrap();
        fs_err::write(at, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.root.join(path)).unwrap()
    }

    /// Replaces the one place where `old` stands.
    #[track_caller]
    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) {
        let text = fs_err::read_to_string(self.root.join(path)).unwrap();
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {path}");
        self.write(path, text.replace(old, new));
    }

    /// Runs git with an identity and a clock of its own.
    #[track_caller]
    pub(crate) fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
            command.env_remove(name);
        }
        let output = command
            .args(["-c", "user.name=dev", "-c", "user.email=dev@repo.example", "-c", "commit.gpgsign=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(words)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// A start of the program in this repository.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = polymut(&self.root, &self.state());
        command.args(words);
        command
    }

    /// The program's run to its end.
    pub(crate) fn polymut(&self, words: &[&str]) -> Ran {
        Ran::of(&self.command(words).output().unwrap())
    }

    /// `polymut run --base main --format json …`, its exit code and its document.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str], code: i32) -> Report {
        let ran = self.polymut(&[&["run", "--base", "main", "--format", "json"], words].concat());
        ran.ends(code).report()
    }

    /// Every file, link and folder of the working tree with its mode and bytes; `.git` aside.
    pub(crate) fn snapshot(&self) -> Snapshot {
        snapshot(&self.root)
    }
}

/// Mode and bytes by path.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Every file, link and folder below `root` with its mode and bytes, ignored and untracked ones too; `.git` aside.
pub(crate) fn snapshot(root: &Path) -> Snapshot {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path == root.join(".git") {
                continue;
            }
            let meta = fs_err::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs_err::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                fs_err::read(&path).unwrap()
            };
            found.insert(path, (meta.permissions().mode(), bytes));
        }
    }
    found
}
