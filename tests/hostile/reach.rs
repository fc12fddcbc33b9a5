//! Programs that reach for what is not theirs, in a sealed sandbox.
//!
//! In: scripts. Out: nothing of the user's has changed. I/O: processes behind walls. What is destroyed if a wall fails
//! is a temporary folder that plays repository, home and neighbour.

use std::net::{Ipv4Addr, TcpListener};

use polymut::exec::CacheUse;
use polymut_adapters::{End, WorkPath};
use polymut_schemas::{IsolationLevel, RepoDir, RepoPath};

use crate::rig::{Limits, Rig};

#[tokio::test]
async fn who_deletes_repository_and_home_deletes_nothing_of_the_user() {
    let rig = Rig::new();
    let before = rig.snapshot();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let ended = rig.shell(sandbox.as_ref(), "rm -rf \"$PWD\"/* \"$HOME\" 2>/dev/null; ls -A").await;
    assert_eq!(ended.stdout.text(), "", "the tool's own view is empty");
    assert_eq!(rig.snapshot(), before);
    assert!(sandbox.files(&RepoDir::root()).unwrap().is_empty());
    // The next command starts from what was left.
    assert_eq!(rig.shell(sandbox.as_ref(), "test -e readme").await.end, End::Exit(1));
}

#[tokio::test]
async fn who_writes_to_a_neighbour_or_to_the_machine_writes_nowhere() {
    let rig = Rig::new();
    let before = rig.snapshot();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let mark = format!("/var/tmp/polymut-{}", std::process::id());
    let script = format!("echo x > $BESIDE/notes; echo x > {mark}; echo x > /usr/polymut-was-here");
    rig.shell(sandbox.as_ref(), &script).await;
    assert_eq!(rig.snapshot(), before);
    assert!(!std::path::Path::new(&mark).exists());
    assert!(!std::path::Path::new("/usr/polymut-was-here").exists());
}

#[tokio::test]
async fn who_floods_a_listener_of_the_machine_reaches_nobody_unless_the_network_was_asked_for() {
    let rig = Rig::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let script =
        format!("bash -c 'for i in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; done'");
    rig.shell(sandbox.as_ref(), &script).await;
    assert!(listener.accept().is_err(), "a connection came out");
    let open = Limits { network: true, ..Limits::default() };
    rig.run_with(sandbox.as_ref(), &script, open, |_| {}).await.unwrap();
    assert!(listener.accept().is_ok(), "the same script with network reaches it");
}

#[tokio::test]
async fn who_takes_away_walls_takes_none() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let script = "umount -l \"$PWD\"; mount -o remount,rw /; mount -o remount,rw /usr; echo 1 > /proc/sysrq-trigger; \
                  kill -9 1; cat readme; touch /usr/polymut-was-here";
    let ended = rig.shell(sandbox.as_ref(), script).await;
    assert_eq!(ended.stdout.text(), "two", "{}", ended.stderr.text());
    assert!(!std::path::Path::new("/usr/polymut-was-here").exists());
}

#[tokio::test]
async fn caches_are_written_by_fetch_steps_only() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let index = rig.home.join(".cargo/registry/index");
    let script = "echo new > $HOME/.cargo/registry/index; cat $HOME/.cargo/registry/index";
    let ended = rig.shell(sandbox.as_ref(), script).await;
    assert_eq!(ended.stdout.text(), "new\n");
    assert_eq!(fs_err::read_to_string(&index).unwrap(), "five");
    let fetch = Limits { network: true, caches: CacheUse::Shared, ..Limits::default() };
    rig.run_with(sandbox.as_ref(), script, fetch, |_| {}).await.unwrap();
    assert_eq!(fs_err::read_to_string(&index).unwrap(), "new\n");
}

#[tokio::test]
async fn a_fork_sees_what_was_built_and_nobody_sees_what_a_fork_does() {
    let rig = Rig::new();
    let before = rig.snapshot();
    let base = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let build = "mkdir out; echo built > out/app; rm readme; echo h > $HOME/state; mkdir -p $HOME/.cargo/git; \
                 echo c > $HOME/.cargo/git/db";
    assert_eq!(rig.shell(base.as_ref(), build).await.end, End::Exit(0));
    let forks = ["one", "two"].map(|name| base.fork(name).unwrap());
    let look = "cat out/app $HOME/state $HOME/.cargo/git/db src/lib.rs; ls; rm -rf out; mkdir out; echo mine > out/own";
    for fork in &forks {
        let ended = rig.shell(fork.as_ref(), look).await;
        assert_eq!(ended.stdout.text(), "built\nh\nc\noneout\nsrc\ntarget\n", "{}", ended.stderr.text());
        assert_eq!(fork.read(&RepoPath::new("out/app").unwrap()).unwrap(), None);
        assert!(fork.read(&RepoPath::new("out/own").unwrap()).unwrap().is_some());
    }
    let ended = rig.shell(base.as_ref(), "cat out/app; ls out").await;
    assert_eq!(ended.stdout.text(), "built\napp\n");
    let of_fork = forks[0].fork("three").unwrap();
    drop(base);
    drop(forks);
    let ended = rig.shell(of_fork.as_ref(), "cat out/own $HOME/state; ls").await;
    assert_eq!(ended.stdout.text(), "mine\nh\nout\nsrc\ntarget\n", "{}", ended.stderr.text());
    assert_eq!(rig.snapshot(), before);
}

#[tokio::test]
async fn what_polymut_writes_into_the_view_is_seen_inside() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    rig.shell(sandbox.as_ref(), "rm -r target").await;
    for path in ["src/lib.rs", "target/fresh/file", "deep/er/file"] {
        sandbox.write(&RepoPath::new(path).unwrap(), b"planned ").unwrap();
    }
    let ended = rig.shell(sandbox.as_ref(), "cat src/lib.rs target/fresh/file deep/er/file; ls target").await;
    assert_eq!(ended.stdout.text(), "planned planned planned fresh\n", "{}", ended.stderr.text());
    assert_eq!(fs_err::read_to_string(rig.repo.join("src/lib.rs")).unwrap(), "one");
}

#[tokio::test]
async fn other_sandboxes_of_the_run_are_out_of_sight() {
    let rig = Rig::new();
    let containment = rig.at(IsolationLevel::Sealed).await;
    let (one, two) = (rig.sandbox(&containment, "one"), rig.sandbox(&containment, "two"));
    let theirs = two.work(&WorkPath::new("secret").unwrap());
    fs_err::write(&theirs, "x").unwrap();
    let script = format!("cat {theirs}; echo y > {theirs}; echo z > $WORK/mine; cat $WORK/mine");
    let ended = rig.shell(one.as_ref(), &script).await;
    assert_eq!(ended.stdout.text(), "z\n");
    assert_eq!(fs_err::read_to_string(&theirs).unwrap(), "x");
}
