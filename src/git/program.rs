//! The repository as the `git` program reads it: what libgit2 cannot open (partial clones, other hashes and indexes).
//!
//! In: a folder. Out: [`Delta`]s, [`Listed`] files, bytes.
//! I/O: starts `git`, with no `GIT_*` variable of ours but those set here; it takes no lock and asks nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use polymut_schemas::{NewSide, Revision};

use super::delta::{Delta, Listed, Side};
use super::entry::EntryKind;
use super::error::GitError;
use super::program_text as text;
use super::repo::kind_on_disk;
use crate::paths::AbsPath;

/// Settings of the user that would change what is printed or run something else.
const PINNED: [&str; 8] = [
    "core.quotePath=false",
    "core.fsmonitor=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.renames=false",
    "diff.ignoreSubmodules=none",
    "color.ui=false",
    "submodule.recurse=false",
];

/// How to print a comparison for a reader that is no person.
const RAW: [&str; 6] = ["--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev"];

/// A repository that the `git` program can read.
pub(super) struct Program {
    git: PathBuf,
    root: AbsPath,
    shallow: bool,
    /// Whether objects are fetched when they are first read.
    partial: bool,
    reader: RefCell<Option<Reader>>,
}

/// A running `git cat-file --batch`.
struct Reader {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Its input closes with us; a failure here leaves nothing behind but a process that ends by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command of git that sees no variable of a hook and asks nobody.
#[expect(
    clippy::disallowed_methods,
    reason = "the one program that runs outside a sandbox, before any exists"
)]
fn command(git: &Path, folder: &AbsPath) -> Command {
    let mut command = Command::new(git);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.stdin(Stdio::null()).arg("--no-pager").arg("-C").arg(folder.as_std_path());
    for setting in PINNED {
        command.arg("-c").arg(setting);
    }
    command
}

impl Program {
    /// Opens the repository around `start`; `why` says what libgit2 could not do.
    pub(super) fn open(start: &AbsPath, why: &str) -> Result<Self, GitError> {
        let refuse = |words: String| GitError::NoProgram { why: why.to_owned(), words };
        let git = which::which("git").map_err(|error| refuse(error.to_string()))?;
        let output = command(&git, start)
            .args(["rev-parse", "--show-toplevel", "--is-shallow-repository"])
            .output()
            .map_err(|error| refuse(error.to_string()))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = printed.lines();
        let (true, Some(root), Some(shallow)) = (output.status.success(), lines.next(), lines.next()) else {
            return Err(refuse(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        };
        let root = AbsPath::new(root).map_err(|error| refuse(error.to_string()))?;
        let reader = RefCell::new(None);
        let mut program = Self { git, root, shallow: shallow == "true", partial: false, reader };
        program.partial = program.ask(&["config", "--get-regexp", r"^remote\..*\.promisor$"])?.is_some();
        Ok(program)
    }

    fn output(&self, args: &[&str]) -> Result<Output, GitError> {
        let output = command(&self.git, &self.root).args(args).output();
        output.map_err(|error| wrong(args, error.to_string()))
    }

    /// What a command prints; its failure is an error.
    fn print(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.output(args)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(wrong(args, String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }

    /// The one line that a command prints; `None` when it says no with exit 1.
    fn ask(&self, args: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.output(args)?;
        match output.status.code() {
            Some(0) => {
                let line = String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned);
                Ok(line.filter(|line| !line.is_empty()))
            }
            Some(1) => Ok(None),
            Some(_) | None => Err(wrong(args, String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    pub(super) fn root(&self) -> &AbsPath {
        &self.root
    }

    pub(super) fn is_shallow(&self) -> bool {
        self.shallow
    }

    pub(super) fn commit(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).ok().flatten()
    }

    pub(super) fn symbolic(&self, name: &str) -> Option<String> {
        let target = self.ask(&["symbolic-ref", "--quiet", name]).ok().flatten()?;
        Some(target.strip_prefix("refs/remotes/").map(str::to_owned).unwrap_or(target))
    }

    pub(super) fn head(&self) -> Result<Option<Revision>, GitError> {
        let Some(commit) = self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])? else {
            return Ok(None);
        };
        let name = self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?.unwrap_or("HEAD".to_owned());
        Ok(Some(Revision { name, commit, found_by: "HEAD".to_owned() }))
    }

    pub(super) fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, GitError> {
        self.ask(&["merge-base", one, two])
    }

    pub(super) fn side_at(&self, commit: &str, path: &[u8]) -> Result<Option<Side>, GitError> {
        let path = format!(":(top,literal){}", String::from_utf8_lossy(path));
        let output = self.print(&["ls-tree", "-z", "--full-tree", commit, "--", &path])?;
        Ok(self.read(&output, text::tree_entries)?.into_iter().next().map(|file| file.side))
    }

    fn read<T>(&self, output: &[u8], reader: impl Fn(&[u8]) -> Option<T>) -> Result<T, GitError> {
        reader(output).ok_or_else(|| wrong(&["…"], format!("unreadable output in {}", self.root)))
    }

    /// Every path that differs between a commit and a side.
    pub(super) fn compare(&self, base: &str, side: NewSide) -> Result<Vec<Delta>, GitError> {
        let compare = |how: &[&str]| {
            let args: Vec<&str> = match side {
                NewSide::Head => [&["diff-tree", "-r"], how, &[base, "HEAD"]].concat(),
                NewSide::Index => [&["diff-index", "--cached"], how, &[base]].concat(),
                NewSide::WorkingTree => [&["diff-index"], how, &[base]].concat(),
            };
            self.print(&args)
        };
        let mut deltas = self.read(&compare(&RAW)?, text::raw_deltas)?;
        if self.partial {
            // Fetches every missing blob at once; one by one would be a round trip per file.
            compare(&["--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"])?;
        }
        if side == NewSide::WorkingTree {
            for delta in deltas.values_mut() {
                self.to_disk(delta);
            }
            self.add_untracked(&mut deltas)?;
        }
        Ok(deltas.into_values().filter(|delta| delta.old.is_some() || delta.new.is_some()).collect())
    }

    /// The file of a path that `diff-index` named is the one in the working tree, if there is one.
    fn to_disk(&self, delta: &mut Delta) {
        if let Some(kind) = kind_on_disk(&self.root, &delta.path)
            && delta.new.as_ref().is_none_or(|new| new.kind != EntryKind::Submodule)
        {
            delta.new = Some(Side::disk(delta.new.as_ref().map_or(kind, |new| new.kind)));
        }
    }

    fn add_untracked(&self, deltas: &mut BTreeMap<Vec<u8>, Delta>) -> Result<(), GitError> {
        for path in text::paths(&self.print(&["ls-files", "-o", "--exclude-standard", "-z"])?) {
            let new = kind_on_disk(&self.root, path).map(Side::disk);
            deltas
                .entry(path.to_vec())
                .or_insert_with(|| Delta { path: path.to_vec(), old_path: None, old: None, new: None })
                .new = new;
        }
        Ok(())
    }

    fn index(&self) -> Result<Vec<text::IndexEntry>, GitError> {
        self.read(&self.print(&["ls-files", "-t", "-s", "-z"])?, text::index_entries)
    }

    /// Unmerged paths of the index.
    pub(super) fn unmerged(&self) -> Result<Vec<Vec<u8>>, GitError> {
        Ok(self.index()?.into_iter().filter(|entry| entry.unmerged).map(|entry| entry.file.path).collect())
    }

    /// Every file of a side.
    pub(super) fn listing(&self, side: NewSide) -> Result<Vec<Listed>, GitError> {
        let files: BTreeMap<Vec<u8>, Side> = match side {
            NewSide::Head if self.head()?.is_none() => BTreeMap::new(),
            NewSide::Head => return self.listing_at("HEAD"),
            NewSide::Index => {
                // `git add -N` only announces a file; `diff-files` calls it added.
                let announced = self.print(&[&["diff-files", "--diff-filter=A"][..], &RAW].concat())?;
                let announced = self.read(&announced, text::raw_deltas)?;
                let files = self.index()?.into_iter().map(|entry| (entry.file.path, entry.file.side));
                files.filter(|(path, _)| !announced.contains_key(path)).collect()
            }
            NewSide::WorkingTree => {
                let untracked = self.print(&["ls-files", "-o", "--exclude-standard", "-z"])?;
                let tracked = self.index()?.into_iter().filter(|entry| !entry.absent);
                let mut files: BTreeMap<Vec<u8>, Side> = BTreeMap::new();
                for Listed { path, side } in tracked.map(|entry| entry.file) {
                    if side.kind == EntryKind::Submodule {
                        files.insert(path, side);
                    } else if let Some(kind) = kind_on_disk(&self.root, &path) {
                        files.insert(path, Side::disk(kind));
                    }
                }
                for path in text::paths(&untracked) {
                    if let Some(kind) = kind_on_disk(&self.root, path) {
                        files.insert(path.to_vec(), Side::disk(kind));
                    }
                }
                files
            }
        };
        Ok(files.into_iter().map(|(path, side)| Listed { path, side }).collect())
    }

    pub(super) fn listing_at(&self, commit: &str) -> Result<Vec<Listed>, GitError> {
        self.read(&self.print(&["ls-tree", "-r", "-z", "--full-tree", commit])?, text::tree_entries)
    }

    /// The bytes of a blob.
    pub(super) fn blob(&self, id: &str) -> Result<Vec<u8>, GitError> {
        let args = ["cat-file", "--batch"];
        let mut slot = self.reader.borrow_mut();
        let reader = match &mut *slot {
            Some(reader) => reader,
            None => slot.insert(self.start_reader().map_err(|error| wrong(&args, error.to_string()))?),
        };
        match reader.blob(id) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(wrong(&args, format!("object {id} is missing"))),
            Err(error) => {
                *slot = None;
                Err(wrong(&args, error.to_string()))
            }
        }
    }

    fn start_reader(&self) -> io::Result<Reader> {
        let mut child = command(&self.git, &self.root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => {
                Ok(Reader { child, requests, answers: BufReader::new(answers) })
            }
            _ => Err(io::Error::other("no pipe")),
        }
    }

    /// Whether git stores this file with other line endings than the working tree has.
    pub(super) fn folds_line_ends(&self, path: &str) -> bool {
        let attributes = self.print(&["check-attr", "-z", "text", "eol", "--", path]).unwrap_or_default();
        text::folding_attributes(&attributes).unwrap_or_else(|| {
            let value = self.ask(&["config", "--get", "core.autocrlf"]).ok().flatten();
            value.is_some_and(|value| text::is_folding(&value))
        })
    }
}

impl Reader {
    fn blob(&mut self, id: &str) -> io::Result<Option<Vec<u8>>> {
        writeln!(self.requests, "{id}")?;
        self.requests.flush()?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let mut words = header.split_whitespace().skip(1);
        match (words.next(), words.next().and_then(|size| size.parse::<usize>().ok())) {
            (Some("missing"), _) => Ok(None),
            (Some(_), Some(size)) => {
                let mut bytes = vec![0; size + 1];
                self.answers.read_exact(&mut bytes)?;
                bytes.pop();
                Ok(Some(bytes))
            }
            _ => Err(io::Error::other(format!("unexpected answer `{}`", header.trim()))),
        }
    }
}

fn wrong<S: AsRef<OsStr>>(args: &[S], words: String) -> GitError {
    let name = args.first().map(|name| name.as_ref().to_string_lossy().into_owned());
    GitError::Program { command: name.unwrap_or_default(), words }
}
