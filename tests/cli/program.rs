//! Starts the built program in an environment that no test shares with another or with its user.
//!
//! In: a folder and words. Out: exit code, both streams, the report. I/O: processes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use polymut_schemas::Report;

/// What the user's own environment must not decide: the tools' switches, git's, the CI's and the terminal's.
fn foreign(name: &str) -> bool {
    let prefixes = ["GIT_", "POLYMUT_", "CARGO_", "GITHUB_", "CLICOLOR"];
    let names = [
        "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
        "CHANGE_TARGET",
        "BITBUCKET_PR_DESTINATION_BRANCH",
        "SYSTEM_PULLREQUEST_TARGETBRANCH",
        "NO_COLOR",
        "COLUMNS",
        "RUST_BACKTRACE",
    ];
    let kept = ["CARGO_HOME"];
    !kept.contains(&name) && (names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

/// Where provisioned tools lie for this user: what polymut itself would use.
pub(crate) static STORE: LazyLock<PathBuf> = LazyLock::new(|| {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = || set("XDG_STATE_HOME").map(|folder| folder.join("polymut"));
    let home = || set("HOME").map(|folder| folder.join(".local/state/polymut"));
    let below = || set("POLYMUT_STATE").or_else(state).or_else(home);
    set("POLYMUT_TOOLS").or_else(|| below().map(|folder| folder.join("tools"))).unwrap()
});

/// The real cargo-mutants.
pub(crate) struct CargoMutants {
    /// The tool's own program.
    pub(crate) program: PathBuf,
}

impl CargoMutants {
    /// Installs it into the user's store where it is missing. `None`: live runs are off, which is said.
    pub(crate) fn get() -> Option<&'static Self> {
        static FOUND: LazyLock<Option<CargoMutants>> = LazyLock::new(CargoMutants::find);
        FOUND.as_ref()
    }

    #[expect(clippy::print_stderr, reason = "what is left out is said")]
    fn find() -> Option<Self> {
        let mode = std::env::var("POLYMUT_LIVE").unwrap_or_default();
        if mode == "off" {
            eprintln!("skipped: POLYMUT_LIVE=off");
            return None;
        }
        if which::which("cargo").is_err() {
            assert!(mode != "require", "POLYMUT_LIVE=require, and cargo is missing");
            eprintln!("skipped: cargo is missing");
            return None;
        }
        let ran = Command::new(env!("CARGO_BIN_EXE_polymut"))
            .args(["tools", "install", "cargo-mutants"])
            .env("POLYMUT_TOOLS", &*STORE)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let versions = fs_err::read_dir(STORE.join("cargo-mutants")).unwrap();
        let programs = versions.map(|version| version.unwrap().path().join("bin/cargo-mutants"));
        Some(Self { program: programs.filter(|path| path.exists()).max().unwrap() })
    }
}

/// How one start of the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; -1 for a death by signal.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Demands an exit code, and shows everything where it is another.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Demands words on stderr.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "`{words}` is not in stderr:\n{}", self.err);
        self
    }

    /// Demands words on stdout.
    #[track_caller]
    pub(crate) fn shows(self, words: &str) -> Self {
        assert!(self.out.contains(words), "`{words}` is not in stdout:\n{}", self.out);
        self
    }

    /// The document on stdout.
    #[track_caller]
    pub(crate) fn report(&self) -> Report {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }
}

/// A start of `program` in `folder`, without what the user's environment must not decide.
pub(crate) fn start(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(foreign) {
            command.env_remove(name);
        }
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// A start of polymut in `folder`, with state of its own below `state` and the user's tools.
pub(crate) fn polymut(folder: &Path, state: &Path) -> Command {
    let mut command = start(env!("CARGO_BIN_EXE_polymut"), folder);
    command.env("POLYMUT_STATE", state).env("POLYMUT_TOOLS", &*STORE);
    command
}

/// A `PATH` with these programs of the user's and nothing else.
pub(crate) fn path_with(folder: &Path, programs: &[&str]) -> OsString {
    fs_err::create_dir_all(folder).unwrap();
    for program in programs {
        let found = which::which(program).unwrap();
        std::os::unix::fs::symlink(found, folder.join(program)).unwrap();
    }
    folder.as_os_str().to_owned()
}
