//! The state folder when polymut died: what it left running and lying about is gone at the next start.
//!
//! In: a state folder with a dead run. Out: claims. I/O: processes, temporary folders.

use std::ffi::OsString;

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
