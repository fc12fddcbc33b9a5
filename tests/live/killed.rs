//! Tools that are killed half-way: what they reached counts, and nothing else does.
//!
//! In: the example's whole change. Out: verdicts. I/O: real tools, /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use polymut_schemas::Status;
use procfs::process::{Process, all_processes};

use super::machine::Live;
use super::repo::{Repo, is_complete, projects, words};

/// How a tool's test stage looks in a process table: words of its command line, words that it must not have, and how old
/// it is when it is killed.
struct Prey {
    folder: &'static str,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
    after: Duration,
}

const PREY: &[Prey] = &[
    prey("services/rating", &["bin/cargo-mutants", "--in-place"], &["--list"], 4),
    prey("web/packages/checkout", &["stryker"], &["list.mjs", "child-proxy", "dotnet"], 3),
    prey("services/ledger", &["plexus", "mutationCoverage"], &["polymut.None"], 5),
    prey("services/dispatch", &["gremlins", "unleash"], &["--dry-run"], 2),
    prey("tools/manifest", &["driver.py", "test"], &[], 2),
    prey("tools/labels", &["cosmic-ray", "exec"], &[], 3),
    prey("services/customs", &["dotnet-stryker", "stryker-config"], &[], 20),
];

const fn prey(
    folder: &'static str,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
    seconds: u64,
) -> Prey {
    Prey { folder, has, lacks, after: Duration::from_secs(seconds) }
}

impl Prey {
    fn is(&self, line: &str) -> bool {
        self.has.iter().all(|word| line.contains(word)) && !self.lacks.iter().any(|word| line.contains(word))
    }
}

/// Processes below `root`, with their command lines. Ours alone: nobody else's tool is touched.
fn below(root: u32) -> Vec<(i32, String)> {
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
        if let Ok(words) = Process::new(pid).and_then(|process| process.cmdline()) {
            found.push((pid, words.join(" ")));
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
    let mut first_seen: BTreeMap<i32, Instant> = BTreeMap::new();
    let mut hit: BTreeSet<&str> = BTreeSet::new();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        for (pid, line) in below(child.id()) {
            let Some(prey) = PREY.iter().find(|prey| prey.is(&line)) else { continue };
            if first_seen.entry(pid).or_insert_with(Instant::now).elapsed() >= prey.after {
                // It may have ended by itself meanwhile.
                if kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok() {
                    hit.insert(prey.folder);
                }
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
    let reached = ["services/rating", "web/packages/checkout", "tools/manifest", "tools/labels"];
    let kept: usize = reached.iter().map(|folder| ran.count(folder, Status::Killed)).sum();
    assert!(kept > 0 || !live.has_folder(reached[0]), "nothing of what was reached is kept: {}", ran.story());
    assert_eq!(repo.bytes(), before);
}
