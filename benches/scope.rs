//! How long the scope of a large diff takes, beside what git itself needs for the same question.
//!
//! In: nothing; a repository of 6,000 files is made, 1,500 of them changed. Out: medians and their ratio on stderr.
//! I/O: a temporary folder, the `git` program.
//!
//! `cargo bench --bench scope`. Rounds are interleaved, so that a busy machine slows both sides.

#![expect(clippy::print_stderr, reason = "a benchmark speaks to whoever started it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has nothing else to do")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use polymut::git::{Repo, ScopeRequest, scope};
use polymut::paths::AbsPath;
use polymut_schemas::{NewSide, ScopeWidth};

const FILES: usize = 6_000;
const CHANGED: usize = 1_500;
const ROUNDS: usize = 15;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    build(&root);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(timed(|| {
            git(&root, &["diff", "-U0", "main"]);
            git(&root, &["ls-files", "-co", "--exclude-standard"]);
        }));
        ours.push(timed(|| assert_eq!(stations(&root), CHANGED)));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    eprintln!("scope and files: {ours:?}; git diff and ls-files: {theirs:?}; ratio {ratio:.2} (goal 1.3)");
}

/// Stations 1 and 2 as far as git has a part in them; gives the number of changed files.
fn stations(root: &Path) -> usize {
    let repo = Repo::open(&AbsPath::new(root.to_str().unwrap()).unwrap()).unwrap();
    let request = ScopeRequest {
        base: Some("main".to_owned()),
        side: NewSide::WorkingTree,
        diff_file: None,
        all: false,
        width: ScopeWidth::Line,
        env: BTreeMap::new(),
    };
    let scope = scope(&repo, &request).unwrap();
    assert!(repo.files(NewSide::WorkingTree).unwrap().len() >= FILES);
    scope.files.len()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn build(root: &Path) {
    git(root, &["init", "-q", "-b", "main"]);
    for (name, value) in [("user.name", "A"), ("user.email", "a@example.org"), ("gc.auto", "0")] {
        git(root, &["config", name, value]);
    }
    fs_err::write(root.join(".gitignore"), "out/\n*.log\n").unwrap();
    (0..FILES).for_each(|file| write(root, file, false));
    commit(root);
    git(root, &["switch", "-q", "-c", "change"]);
    (0..CHANGED).for_each(|file| write(root, file * FILES / CHANGED, true));
    commit(root);
}

fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "x"]);
}

/// A source file of some 100 lines; edited: some lines differ, some are only indented anew.
fn write(root: &Path, file: usize, edited: bool) {
    let extension = ["rs", "ts", "py", "java", "go"].get(file % 5).copied().unwrap_or_default();
    let folder = root.join(format!("part{}/src/module{}", file % 30, file % 200));
    fs_err::create_dir_all(&folder).unwrap();
    let mut text = String::new();
    for line in 0..100 {
        let value = if edited && line % 37 == 5 { file + 1 } else { line };
        let indent = if edited && (60..70).contains(&line) && extension != "py" { "    " } else { "" };
        writeln!(text, "{indent}call_{line}(\"name of {file}\", {value}, value_{});", line % 7).unwrap();
    }
    fs_err::write(folder.join(format!("file{file}.{extension}")), text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "git itself is what is measured")]
fn git(root: &Path, args: &[&str]) {
    let status = Command::new("git")
        .current_dir(root)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {args:?}");
}
