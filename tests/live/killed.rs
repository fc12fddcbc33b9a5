//! Tools that are killed half-way: what they reached counts, and nothing else does.
//!
//! In: the example's whole change. Out: verdicts. I/O: real tools, /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use globset::Glob;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::{Process, all_processes};
use rusqlite::{Connection, OpenFlags};

use super::machine::Live;
use super::repo::{Repo, is_complete, projects, words};

/// How a tool's test stage looks in a process table, and when it is half-way.
struct Prey {
    folder: &'static str,
    /// Where the step's output is, below the logs of the run.
    logs: &'static str,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
    when: When,
    /// Whether the tool leaves what it reached.
    keeps: bool,
}

/// When a tool is killed.
enum When {
    /// Its output has this word, followed by a number that is not zero.
    Counts(&'static str),
    /// Its output has this word.
    Says(&'static str),
    /// It is silent, but the session that it was started with holds a result.
    HasResult,
    /// It runs for so many seconds: nothing tells how far it is.
    Runs(u64),
}

const PREY: &[Prey] = &[
    Prey {
        folder: "services/rating",
        logs: "cargo-mutants_services_rating",
        has: &["bin/cargo-mutants", "--in-place"],
        lacks: &["--list"],
        when: When::Says("caught "),
        keeps: true,
    },
    Prey {
        folder: "web/packages/checkout",
        logs: "stryker-js_web_packages_checkout",
        has: &["stryker"],
        lacks: &["list.mjs", "child-proxy", "dotnet"],
        when: When::Counts("polymut "),
        keeps: true,
    },
    Prey {
        folder: "services/ledger",
        logs: "pit_services_ledger",
        has: &["plexus", "mutationCoverage"],
        lacks: &["polymut.None"],
        when: When::Runs(5),
        keeps: false,
    },
    Prey {
        folder: "services/dispatch",
        logs: "gremlins_services_dispatch",
        has: &["gremlins", "unleash"],
        lacks: &["--dry-run"],
        when: When::Says("KILLED"),
        keeps: false,
    },
    Prey {
        folder: "tools/manifest",
        logs: "mutmut_tools_manifest",
        has: &["driver.py", "test"],
        lacks: &[],
        when: When::Counts("🎉 "),
        keeps: true,
    },
    Prey {
        folder: "tools/labels",
        logs: "cosmic-ray_tools_labels",
        has: &["cosmic-ray", "exec"],
        lacks: &["unittest"],
        when: When::HasResult,
        keeps: true,
    },
    Prey {
        folder: "services/customs",
        logs: "stryker-net_services_customs_src_Customs",
        has: &["dotnet-stryker", "stryker-config"],
        lacks: &[],
        when: When::Runs(8),
        keeps: false,
    },
];

impl Prey {
    fn is(&self, process: &Running) -> bool {
        let line = &process.line;
        process.cwd.to_string_lossy().contains(self.folder)
            && self.has.iter().all(|word| line.contains(word))
            && !self.lacks.iter().any(|word| line.contains(word))
    }

    fn is_half_way(&self, repo: &Repo, process: &Running, since: Instant) -> bool {
        match self.when {
            When::HasResult => process.results() > 0,
            When::Runs(seconds) => since.elapsed() >= Duration::from_secs(seconds),
            When::Says(word) => outputs(repo, self.logs).iter().any(|text| text.contains(word)),
            When::Counts(word) => outputs(repo, self.logs).iter().any(|text| counts(text, word)),
        }
    }
}

/// Whether `word` stands before a number that is not zero.
fn counts(text: &str, word: &str) -> bool {
    text.split(word).skip(1).any(|rest| rest.starts_with(|first| ('1'..='9').contains(&first)))
}

/// What the steps of a project's test stage have said so far.
fn outputs(repo: &Repo, project: &str) -> Vec<String> {
    let pattern = Glob::new(&format!("*/runs/*/logs/{project}/*-test-*/*.std{{out,err}}")).unwrap();
    let pattern = pattern.compile_matcher();
    let state = repo.state();
    let mut found = Vec::new();
    let mut waiting = vec![state.clone()];
    while let Some(dir) = waiting.pop() {
        // Folders of the run come and go while it runs.
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let below = path.strip_prefix(&state).unwrap();
            let depth = below.components().count();
            let logs = depth < 4 || below.components().nth(3).is_some_and(|part| part.as_os_str() == "logs");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && logs && depth < 7 {
                waiting.push(path);
            } else if pattern.is_match(below) {
                found.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned());
            }
        }
    }
    found
}

/// A process and what tells whose it is.
struct Running {
    pid: i32,
    line: String,
    cwd: PathBuf,
}

impl Running {
    /// How many results there are in the session of cosmic-ray that it was started with, seen through its own root.
    fn results(&self) -> i64 {
        let Some(session) = self.line.split(' ').find(|word| word.ends_with(".sqlite")) else { return 0 };
        let file = format!("/proc/{}/root{session}", self.pid);
        let Ok(session) = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
            return 0;
        };
        // While it is written there is none to be had.
        session.query_row("select count(*) from work_results", [], |row| row.get(0)).unwrap_or(0)
    }
}

/// Processes below `root`. Ours alone: nobody else's tool is touched.
fn below(root: u32) -> Vec<Running> {
    let root = i32::try_from(root).unwrap();
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in all_processes().unwrap().filter_map(Result::ok) {
        if let Ok(stat) = process.stat() {
            children.entry(stat.ppid).or_default().push(process.pid);
        }
    }
    let (mut found, mut waiting) = (Vec::new(), vec![root]);
    while let Some(pid) = waiting.pop() {
        waiting.extend(children.remove(&pid).unwrap_or_default());
        let Ok(process) = Process::new(pid) else { continue };
        if let (Ok(words), Ok(cwd)) = (process.cmdline(), process.cwd()) {
            found.push(Running { pid, line: words.join(" "), cwd });
        }
    }
    found
}

#[test]
fn a_tool_that_is_killed_half_way_never_passes_and_keeps_what_it_reached() {
    let Some(live) = Live::new() else { return };
    let _alone = Live::alone();
    let repo = Repo::new();
    let before = repo.bytes();
    let here = projects(&live);
    let list = words(&here);
    let all: Vec<&str> = list.iter().map(String::as_str).chain(["--base=main"]).collect();
    let log = fs_err::File::create(repo.root.with_file_name("stderr")).unwrap();
    let mut child = repo.start(&all).stdout(Stdio::null()).stderr(log.into_parts().0).spawn().unwrap();
    let mut at_work: BTreeMap<i32, Instant> = BTreeMap::new();
    let mut hit: BTreeSet<&str> = BTreeSet::new();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        for process in below(child.id()) {
            let Some(prey) = PREY.iter().find(|prey| prey.is(&process)) else { continue };
            let since = *at_work.entry(process.pid).or_insert_with(Instant::now);
            // It may have ended by itself meanwhile.
            if prey.is_half_way(&repo, &process, since)
                && kill(Pid::from_raw(process.pid), Signal::SIGKILL).is_ok()
            {
                hit.insert(prey.folder);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let text = fs_err::read(repo.root.with_file_name("stderr")).unwrap();
    let output = std::process::Output { status, stdout: Vec::new(), stderr: text };
    let ran = repo.ended(&output);
    let wanted: BTreeSet<&str> =
        PREY.iter().map(|prey| prey.folder).filter(|folder| live.has_folder(folder)).collect();
    assert_eq!(hit, wanted, "not every tool was caught at work: {}\n{}", ran.stderr, ran.story());
    for folder in hit {
        assert!(!is_complete(&ran.of(folder).state), "{folder} counts as complete: {}", ran.story());
    }
    let proved =
        ran.report.verdict.reasons.iter().any(|reason| reason.outcome == polymut_schemas::Outcome::Fail);
    assert_eq!(ran.code, if proved { 1 } else { 3 }, "{}\n{}", ran.stderr, ran.story());
    for prey in PREY.iter().filter(|prey| prey.keeps && live.has_folder(prey.folder)) {
        let kept = ran.answered(prey.folder);
        assert!(kept > 0, "{}: nothing of what was reached is kept: {}", prey.folder, ran.story());
    }
    // The neighbour that nobody touched.
    let other = "services/tracking";
    assert!(!live.has_folder(other) || is_complete(&ran.of(other).state), "{}", ran.story());
    assert_eq!(repo.bytes(), before);
}
