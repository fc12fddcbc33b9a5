//! The example as a repository of a test, and polymut started in it.
//!
//! In: edits, words. Out: how polymut ended. I/O: a temporary folder, git, polymut.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use polymut::commands::lay_out_example;
use polymut::paths::AbsPath;
use polymut_schemas::{Report, RunState, Status, ToolRun};
use sha2::{Digest as _, Sha256};

use super::edits::{Edits, PROJECTS};
use super::machine::Live;
use super::program::polymut;

/// The example on its branch `surcharges`; what a test does stands on top.
pub(crate) struct Repo {
    pub(crate) root: PathBuf,
    _folder: tempfile::TempDir,
}

/// How one run ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) report: Report,
    pub(crate) stderr: String,
}

impl Repo {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap().join("parcelwright");
        lay_out_example(&AbsPath::new(root.to_str().unwrap()).unwrap()).unwrap();
        Self { root, _folder: folder }
    }

    /// A repository of these files, committed on `main`.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap().join("repo");
        for (path, text) in files {
            let file = root.join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, text).unwrap();
        }
        let repo = Self { root, _folder: folder };
        repo.git(&["init", "-q", "-b", "start"]);
        repo.commit("main");
        repo
    }

    pub(crate) fn git(&self, words: &[&str]) {
        let out = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
            .args(words)
            .current_dir(&self.root)
            .output()
            .unwrap();
        assert!(out.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// Commits everything, on a branch of this name.
    pub(crate) fn commit(&self, branch: &str) {
        self.git(&["switch", "-q", "-c", branch]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", branch]);
    }

    /// Puts `to` where `from` stands first.
    pub(crate) fn replace(&self, path: &str, (from, to): (&str, &str)) {
        let file = self.root.join(path);
        let text = fs_err::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{path} lacks {from:?}");
        fs_err::write(&file, text.replacen(from, to, 1)).unwrap();
    }

    pub(crate) fn append(&self, path: &str, more: &str) {
        let file = self.root.join(path);
        let text = fs_err::read_to_string(&file).unwrap();
        fs_err::write(&file, text + more).unwrap();
    }

    /// Where polymut keeps the state of these runs.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.with_file_name("state")
    }

    /// `polymut run` with the tools of this machine, provisioned where they are missing.
    pub(crate) fn start(&self, words: &[&str]) -> Command {
        let mut command = polymut(&self.root, &self.state());
        command.args(["run", "--provision", "--format=json=../report.json"]).args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        let out = self.start(words).output().unwrap();
        self.ended(&out)
    }

    pub(crate) fn ended(&self, out: &std::process::Output) -> Ran {
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        let json = self.root.with_file_name("report.json");
        let text = fs_err::read_to_string(&json).unwrap_or_else(|error| panic!("{error}\n{stderr}"));
        let report = serde_json::from_str(&text).unwrap();
        Ran { code: out.status.code().unwrap_or(-1), report, stderr }
    }

    /// Every file of the tree with the hash of its bytes, git's own folder left out.
    pub(crate) fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(dir) = waiting.pop() {
            for entry in fs_err::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    if path.file_name().is_some_and(|name| name != ".git") {
                        waiting.push(path);
                    }
                } else {
                    found.insert(path.clone(), hash(&path));
                }
            }
        }
        found
    }
}

fn hash(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_default();
    Sha256::digest(bytes).to_vec()
}

impl Ran {
    /// The run of the project in this folder.
    pub(crate) fn of(&self, folder: &str) -> &ToolRun {
        let inside = |run: &&ToolRun| {
            run.dir.to_string() == folder || run.dir.to_string().starts_with(&format!("{folder}/"))
        };
        self.report.runs.iter().find(inside).unwrap_or_else(|| panic!("{folder} has no run\n{}", self.stderr))
    }

    /// How many mutants in scope of this folder have the status.
    pub(crate) fn count(&self, folder: &str, status: Status) -> usize {
        self.statuses(folder).filter(|found| *found == status).count()
    }

    /// How many mutants in scope of this folder were judged at all.
    pub(crate) fn answered(&self, folder: &str) -> usize {
        self.statuses(folder).filter(|found| *found != Status::NotRun).count()
    }

    fn statuses(&self, folder: &str) -> impl Iterator<Item = Status> {
        let here = format!("{folder}/");
        let below = move |file: &polymut_schemas::RepoPath| file.as_str().starts_with(&here);
        let mutants = self.report.mutants.iter().filter(|mutant| mutant.in_scope);
        mutants.filter(move |mutant| mutant.file.as_ref().is_some_and(&below)).map(|mutant| mutant.status)
    }

    /// Everything that a reader of a failed test needs.
    pub(crate) fn story(&self) -> String {
        let runs =
            self.report.runs.iter().map(|run| format!("{}: {:?} {:?}", run.project, run.state, run.notes));
        let mutants = self.report.mutants.iter().map(|mutant| {
            let line = mutant.span.map_or(0, |span| span.start.line);
            format!("{:?}:{line} {} {:?}", mutant.file, mutant.operator.name, mutant.status)
        });
        runs.chain(mutants).chain([format!("{:#?}", self.report.verdict)]).collect::<Vec<_>>().join("\n")
    }
}

/// The projects whose toolchain is here, and the words that leave the others out.
pub(crate) fn projects(live: &Live) -> Vec<&'static Edits> {
    PROJECTS.iter().filter(|edits| live.has_folder(edits.folder)).collect()
}

/// `--project` for each of them.
pub(crate) fn words(projects: &[&Edits]) -> Vec<String> {
    // The C# project lies deeper than its solution.
    projects
        .iter()
        .map(|edits| {
            format!(
                "--project={}{}",
                edits.folder,
                if edits.folder.ends_with("customs") { "/**" } else { "" }
            )
        })
        .collect()
}

/// Whether a state is a complete one.
pub(crate) fn is_complete(state: &RunState) -> bool {
    matches!(state, RunState::Complete)
}
