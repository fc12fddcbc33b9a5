//! What the benchmarks that run real tools share: the example with its dependencies in place, timed commands, ratios.
//!
//! In: nothing. Out: folders, durations, lines of a table. I/O: a temporary folder, processes.
#![allow(dead_code, reason = "each benchmark uses a part of this room")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use polymut::commands::lay_out_example;
use polymut::paths::AbsPath;

/// The example, laid out once; its branch `surcharges` is checked out over `main`.
pub(crate) struct Example {
    /// The repository.
    pub(crate) root: PathBuf,
    /// Where polymut keeps its state in this benchmark; the tools are those of the user.
    pub(crate) state: PathBuf,
    _folder: tempfile::TempDir,
}

impl Example {
    /// Lays it out and installs what its projects need, as on a developer's machine.
    pub(crate) fn lay_out() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap().join("parcelwright");
        lay_out_example(&AbsPath::new(root.to_str().unwrap()).unwrap()).unwrap();
        let state = folder.path().join("state");
        Self { root, state, _folder: folder }
    }

    /// A script of the benchmark, in a folder of the repository; its output goes to `log`.
    pub(crate) fn script(&self, folder: &str, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg("-euo").arg("pipefail").arg("-c").arg(script).current_dir(self.root.join(folder));
        command
    }

    /// polymut as a user starts it here.
    pub(crate) fn polymut(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_polymut"));
        command.args(words).current_dir(&self.root).env("POLYMUT_STATE", &self.state);
        command.env("POLYMUT_TOOLS", tools());
        command
    }

    /// Throws away what a tool left in the tree, so that the next one finds it as the first did. What is ignored by git
    /// stays, if `keep` names it.
    pub(crate) fn clean(&self, keep: &[&str]) {
        quietly(Command::new("git").args(["checkout", "-q", "."]).current_dir(&self.root));
        let mut command = Command::new("git");
        command.args(["clean", "-q", "-ffdx"]);
        for name in keep {
            command.args(["-e", name]);
        }
        quietly(command.current_dir(&self.root));
    }
}

/// Where polymut keeps the tools that it installed for this user.
pub(crate) fn tools() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("POLYMUT_TOOLS")
        .or_else(|| set("POLYMUT_STATE").map(|folder| folder.join("tools")))
        .or_else(|| set("XDG_STATE_HOME").map(|folder| folder.join("polymut/tools")))
        .or_else(|| set("HOME").map(|folder| folder.join(".local/state/polymut/tools")))
        .unwrap()
}

/// Runs a command whose failure ends the benchmark.
pub(crate) fn quietly(command: &mut Command) {
    let out = command.stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&out.stderr));
}

/// Runs a command that may end with any of these codes; gives how long it took.
pub(crate) fn timed(command: &mut Command, codes: &[i32]) -> Duration {
    let start = Instant::now();
    let out = command.stdin(Stdio::null()).output().unwrap();
    let wall = start.elapsed();
    let code = out.status.code().unwrap_or(-1);
    assert!(
        codes.contains(&code),
        "{command:?} ended with {code}\n{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    wall
}

/// A number from the environment, for a shorter or longer benchmark.
pub(crate) fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Cores of this machine.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// The middle and the quartiles of some numbers.
pub(crate) fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let place = part * (values.len() - 1) as f64;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    [at(0.25), at(0.5), at(0.75)]
}

/// Medians of two columns and the median and quartiles of the ratios of their pairs.
pub(crate) fn compare(name: &str, ours: &[Duration], theirs: &[Duration]) {
    let seconds = |times: &[Duration]| spread(times.iter().map(Duration::as_secs_f64).collect())[1];
    let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64());
    let [low, middle, high] = spread(ratios.collect());
    println!(
        "{name}: {:.2} s against {:.2} s, ratio {middle:.3} (quartiles {low:.3} to {high:.3}, {} pairs, {} cores)",
        seconds(ours),
        seconds(theirs),
        ours.len(),
        cores()
    );
}

/// Whether a file with this content exists below `root`: what a script says it did must have happened.
pub(crate) fn demand(root: &Path, path: &str) {
    let file = root.join(path);
    assert!(fs_err::metadata(&file).is_ok_and(|meta| meta.len() > 0), "{} is missing", file.display());
}
