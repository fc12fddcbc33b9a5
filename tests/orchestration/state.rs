//! polymut itself being ended: by signals, and by KILL, after which the next start clears up.
//!
//! In: a process that listens as polymut does, a state folder with a dead run. Out: claims. I/O: processes, temporary
//! folders.

use std::ffi::OsString;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use polymut::exec::{HostEnv, MARKER, State};
use polymut::paths::AbsPath;

use crate::fake::ENTRY;
use crate::rig::{lives, patiently};

#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "stands for a polymut that was killed after it had started a process"
)]
#[tokio::test]
async fn what_a_killed_polymut_left_running_ends_at_the_next_start() {
    let temp = tempfile::tempdir().unwrap();
    let host: HostEnv =
        [(OsString::from("POLYMUT_STATE"), temp.path().as_os_str().to_owned())].into_iter().collect();
    let state = State::open(&host, &AbsPath::new("/repo").unwrap()).unwrap();
    let dead = state.repository().join("runs/0/work/s0");
    let alive = state.repository().join("runs/01/work/s0");
    fs_err::create_dir_all(dead.as_std_path()).unwrap();
    let start = |work: &AbsPath| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(ENTRY).args(["deaf", "hang"]).env(MARKER, work.join("work/.t/00-0").as_str());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let (mut left, mut other) = (start(&dead), start(&alive));
    let run = state.begin().unwrap();
    patiently("the left process is dead", || !lives(left.id().cast_signed())).await;
    assert!(lives(other.id().cast_signed()), "a process of another run is not touched");
    assert!(!dead.as_path().exists());
    drop(run);
    other.kill().unwrap();
    left.wait().unwrap();
    other.wait().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "stands for polymut as its user starts it")]
async fn ended_by(signals: &[Signal]) -> Option<i32> {
    let temp = tempfile::tempdir().unwrap();
    let ready = temp.path().join("ready");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(ENTRY).arg(format!("obey={}", ready.display())).stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    let mut after = ready.clone();
    for signal in signals {
        patiently("it listens", || after.exists()).await;
        kill(pid, *signal).unwrap();
        after = temp.path().join("ready.once");
    }
    patiently("it has ended", || child.try_wait().is_ok_and(|status| status.is_some())).await;
    child.wait().unwrap().code()
}

#[tokio::test]
async fn a_signal_says_who_asked_and_a_second_one_is_heard() {
    assert_eq!(ended_by(&[Signal::SIGTERM]).await, Some(143));
    assert_eq!(ended_by(&[Signal::SIGHUP]).await, Some(143));
    assert_eq!(ended_by(&[Signal::SIGINT, Signal::SIGINT]).await, Some(130));
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "stands for polymut as its user starts it")]
#[tokio::test]
async fn the_end_of_polymut_is_the_end_of_everything_below_it() {
    let temp = tempfile::tempdir().unwrap();
    let pid = temp.path().join("pid");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(ENTRY).arg(format!("bare={}", pid.display())).arg("end-everything");
    assert!(command.stdout(std::process::Stdio::null()).status().unwrap().success());
    assert!(!lives(fs_err::read_to_string(&pid).unwrap().parse().unwrap()));
}
