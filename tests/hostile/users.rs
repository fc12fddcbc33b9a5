//! The same as an unprivileged user, with namespaces refused, and when polymut itself is killed.
//!
//! In: this test program again. Out: claims. I/O: processes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use fs_err as fs;
use polymut::paths::AbsPath;
use polymut_schemas::{Guarantee, IsolationLevel};

use crate::rig::{HELPER, Rig, helper, lives, patiently};

/// This test program and polymut, copied to where everybody can read them.
struct Copies {
    folder: tempfile::TempDir,
}

impl Copies {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path());
        fs::copy(std::env::current_exe().unwrap(), folder.path().join("test")).unwrap();
        fs::copy(helper(), folder.path().join("polymut")).unwrap();
        Self { folder }
    }

    #[expect(clippy::disallowed_methods, reason = "stands for a user who starts polymut")]
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env(HELPER, self.folder.path().join("polymut")).env_remove("HOME");
        if nix::unistd::geteuid().is_root() {
            command.uid(65534).gid(65534);
        }
        command
    }

    fn test(&self) -> String {
        self.folder.path().join("test").to_str().unwrap().to_owned()
    }
}

fn open(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_unprivileged_user_has_the_same_walls() {
    let copies = Copies::make();
    let output = copies
        .command(&copies.test())
        .args(["ends::", "reach::", "levels::", "--skip", "a_gigabyte"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !words.contains("running 0 tests"), "{words}");
}

#[test]
fn where_namespaces_are_refused_the_copy_holds_what_it_claims() {
    let copies = Copies::make();
    let script = "for kind in user mnt pid net; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 9; done; \
                  exec \"$0\" --ignored --exact users::only_the_copy_holds --nocapture";
    let output =
        copies.command("unshare").args(["-Ur", "sh", "-c", script, &copies.test()]).output().unwrap();
    let words =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && words.contains("1 passed"), "{words}");
}

#[tokio::test]
#[ignore = "run by the test above, where namespaces are refused"]
async fn only_the_copy_holds() {
    let rig = Rig::new();
    let found = rig.probe(None, &[]).await.unwrap();
    assert_eq!(found.reached().level, IsolationLevel::Copied, "{found:?}");
    assert!(found.obstacles().iter().any(|obstacle| {
        obstacle.level == IsolationLevel::Sealed && obstacle.lift.as_ref().unwrap().contains("namespaces")
    }));
    let held = |guarantee| found.reached().guarantees[&guarantee].held;
    assert!(held(Guarantee::Memory) && held(Guarantee::Tree), "{found:?}");
    assert!(!held(Guarantee::Network) && !held(Guarantee::Files), "{found:?}");
    let demand = rig.probe(None, &[Guarantee::Memory, Guarantee::Network]).await.unwrap_err();
    assert!(demand.to_string().contains("network"), "{demand}");
    assert!(rig.probe(Some(IsolationLevel::Sealed), &[]).await.is_err());
}

/// Starts `victim` at a level, waits until its tool runs, and kills it.
async fn kill_polymut(level: &str) {
    // The tests of both levels run at once in one process.
    let part = if level == "sealed" { "0625" } else { "125" };
    let word = format!("{}.{part}", std::process::id());
    let mark = tempfile::tempdir().unwrap();
    let mut victim = start_victim(level, &word, mark.path());
    patiently("the tool runs", || lives(&word)).await;
    let before = mounts();
    victim.kill().unwrap();
    victim.wait().unwrap();
    patiently("everything is gone", || !lives(&word)).await;
    assert_eq!(mounts(), before);
    let scratch = fs::read_to_string(mark.path().join("base")).unwrap();
    let snapshot =
        fs::read_to_string(AbsPath::new(scratch).unwrap().join("home/me/shop/src/lib.rs")).unwrap();
    assert_eq!(snapshot, "one");
}

#[expect(clippy::disallowed_methods, reason = "stands for a polymut that is killed")]
fn start_victim(level: &str, word: &str, mark: &std::path::Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "users::victim"])
        .env("POLYMUT_TEST_VICTIM", format!("{level} {word} {}", mark.display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap()
}

#[tokio::test]
async fn a_sealed_tool_dies_with_polymut() {
    kill_polymut("sealed").await;
}

#[tokio::test]
async fn a_tool_in_a_copy_dies_with_polymut() {
    kill_polymut("copied").await;
}

#[tokio::test]
#[ignore = "killed by the tests above"]
async fn victim() {
    let told = std::env::var("POLYMUT_TEST_VICTIM").unwrap();
    let words: Vec<&str> = told.split(' ').collect();
    let level = if words[0] == "sealed" { IsolationLevel::Sealed } else { IsolationLevel::Copied };
    let rig = Rig::new();
    fs::write(std::path::Path::new(words[2]).join("base"), rig.base.as_str()).unwrap();
    let sandbox = rig.sandbox(&rig.at(level).await, "base");
    let script = format!("echo mutant > src/lib.rs; (setsid sleep {} &); sleep {}", words[1], words[1]);
    rig.shell(sandbox.as_ref(), &script).await;
}
