//! The processes below a process, where no namespace holds them together.
//!
//! In: a process id. Out: its descendants, their memory; or their end. I/O: `/proc`, signals.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fs_err as fs;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// A process as `/proc/<pid>/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    pid: i32,
    parent: i32,
    dead: bool,
}

/// Everything below `root`, dead ones that wait for their parent left out.
pub(super) fn below(root: i32) -> BTreeSet<i32> {
    let all = all();
    let mut children: BTreeMap<i32, Vec<Seen>> = BTreeMap::new();
    for seen in all {
        children.entry(seen.parent).or_default().push(seen);
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![root];
    while let Some(parent) = waiting.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            waiting.push(child.pid);
            if !child.dead {
                found.insert(child.pid);
            }
        }
    }
    found
}

fn all() -> Vec<Seen> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            parse(pid, &fs::read_to_string(entry.path().join("stat")).ok()?)
        })
        .collect()
}

/// The name of a program may hold spaces and brackets: what counts follows the last bracket.
fn parse(pid: i32, stat: &str) -> Option<Seen> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    Some(Seen { pid, parent, dead: matches!(state, "Z" | "X") })
}

/// Memory that only these processes hold: their anonymous and shared pages in bytes. Pages of files are left out, the
/// kernel takes them back when it needs them.
pub(super) fn resident(pids: &BTreeSet<i32>) -> u64 {
    pids.iter()
        .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/status")).ok())
        .map(|status| kilobytes(&status, "RssAnon:") + kilobytes(&status, "RssShmem:"))
        .sum::<u64>()
        * 1024
}

/// How many threads the user of this process has on the whole machine: that is what a process limit counts outside of
/// a user namespace.
/// The machine's root is not limited that way.
pub(super) fn threads_of_user() -> u64 {
    let own = nix::unistd::getuid();
    if own.is_root() {
        return 0;
    }
    let own = own.as_raw().to_string();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok())
        .filter(|status| word(status, "Uid:") == Some(&own))
        .filter_map(|status| word(&status, "Threads:")?.parse::<u64>().ok())
        .sum()
}

/// The first word after a name of a `name: words` file.
fn word<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next())
}

fn kilobytes(status: &str, name: &str) -> u64 {
    word(status, name).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Kills everything below this process until nothing is left, and reaps it. This process has to be a subreaper, so
/// that whoever loses its parent comes to it.
pub(super) fn kill_all() {
    let own = Pid::this().as_raw();
    while has_children() {
        let left = below(own);
        // Stopped first: a family that forks faster than it is listed would outrun its end.
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for pid in &left {
                let _ = kill(Pid::from_raw(*pid), signal);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Reaps whoever has ended; whether anybody is left. All that is below a subreaper hangs on one of its children.
fn has_children() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_hide_the_parent() {
        let seen = parse(7, "7 (evil) S 1 (x) R 42 7 7 0 -1 4194304");
        assert_eq!(seen, Some(Seen { pid: 7, parent: 42, dead: false }));
    }

    #[test]
    fn memory_counts_private_and_shared_pages_only() {
        let status = "VmRSS:\t  900 kB\nRssAnon:\t     100 kB\nRssFile:\t 790 kB\nRssShmem:\t 10 kB\n";
        assert_eq!(kilobytes(status, "RssAnon:") + kilobytes(status, "RssShmem:"), 110);
    }

    #[test]
    fn this_process_is_not_below_itself_and_is_below_its_parent() {
        let own = Pid::this().as_raw();
        assert!(!below(own).contains(&own));
        assert!(below(nix::unistd::getppid().as_raw()).contains(&own));
    }
}
