//! Programs that destroy, at the level that does not hold them: run by `outer` inside of a sealed sandbox only.
//!
//! In: the mark that `outer` sets, and what it can see. Out: claims. I/O: processes.

use polymut_adapters::End;
use polymut_schemas::{Guarantee, IsolationLevel};

use crate::rig::{HELPER, Rig};

/// Set by `outer`; holds a path of the machine that must not be writable here.
pub(crate) const INSIDE: &str = "POLYMUT_TEST_INSIDE";

/// Ends the test unless walls are seen: process 1 is ours, and the machine's folders cannot be written.
fn demand_walls() {
    assert!(std::env::var_os(INSIDE).is_some(), "only `outer` runs this");
    assert!(std::env::var_os(HELPER).is_some());
    let first = fs_err::read_to_string("/proc/1/cmdline").unwrap();
    assert!(first.contains("__contain"), "no process namespace: {first}");
    let outside = std::env::var(INSIDE).unwrap();
    assert!(fs_err::write(&outside, "x").is_err(), "{outside} can be written");
}

#[tokio::test]
#[ignore = "destroys what it reaches: run by `outer` inside of a sealed sandbox"]
async fn a_copy_keeps_the_repository_from_relative_paths_only() {
    demand_walls();
    let rig = Rig::new();
    let containment = rig.at(IsolationLevel::Copied).await;
    assert!(!containment.reached().guarantees[&Guarantee::Files].held);
    let sandbox = rig.sandbox(&containment, "base");
    rig.shell(sandbox.as_ref(), "rm -rf ./*").await;
    assert!(rig.repo.join("src/lib.rs").as_std_path().exists());
    rig.shell(sandbox.as_ref(), "echo x > $BESIDE/notes").await;
    assert_eq!(fs_err::read_to_string(rig.beside.join("notes")).unwrap(), "x\n", "so it is not claimed");
    rig.shell(sandbox.as_ref(), &format!("rm -rf {} $BESIDE", rig.repo)).await;
    assert!(!rig.repo.as_std_path().exists(), "so it is not claimed");
}

#[tokio::test]
#[ignore = "forks without end: run by `outer` inside of a sealed sandbox"]
async fn a_fork_bomb_in_a_copy_leaves_nothing() {
    demand_walls();
    let rig = Rig::new();
    let containment = rig.at(IsolationLevel::Copied).await;
    assert!(containment.reached().guarantees[&Guarantee::Tree].held);
    let sandbox = rig.sandbox(&containment, "base");
    let ended = rig
        .run(sandbox.as_ref(), "bomb() { bomb | bomb & }; bomb; sleep 60.125", |process| {
            process.wall = Some(std::time::Duration::from_secs(2));
        })
        .await
        .unwrap();
    assert!(matches!(ended.end, End::Limit | End::Exit(_)), "{:?}", ended.end);
    let own = std::process::id().to_string();
    let left = fs_err::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        let stat = fs_err::read_to_string(entry.path().join("stat")).unwrap_or_default();
        name.parse::<u32>().is_ok() && name != "1" && name != own && !stat.contains(") Z ")
    });
    let left: Vec<_> = left.map(|entry| fs_err::read_to_string(entry.path().join("stat"))).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
#[ignore = "fills a disk: run by `outer` inside of a sealed sandbox, on a small disk of its own"]
async fn a_full_disk_is_an_error_that_names_the_folder() {
    demand_walls();
    let small = std::env::var("POLYMUT_TEST_SMALL").unwrap();
    let rig = Rig::in_folder(std::path::Path::new(&small));
    for level in [IsolationLevel::Sealed, IsolationLevel::Copied] {
        let name = format!("{level:?}");
        let sandbox = rig.sandbox(&rig.at(level).await, &name);
        let ended = rig.run(sandbox.as_ref(), "cat /dev/zero > big; sleep 60", |_| {}).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(&small), "{error}");
        drop(sandbox);
    }
    // Now the room is foreseen to be too small.
    fs_err::write(rig.base.join("ballast"), vec![1; 60 << 20]).unwrap();
    let containment = rig.probe(Some(IsolationLevel::Copied), &[]).await;
    assert!(containment.is_err() || rig.try_sandbox(&containment.unwrap(), "late").is_err());
}

#[tokio::test]
#[ignore = "mounts: run by `outer` inside of a sealed sandbox, in a mount namespace of its own"]
async fn a_volume_inside_of_the_repository_is_seen_and_kept() {
    demand_walls();
    let rig = Rig::new();
    let volume = rig.repo.join("volume");
    fs_err::create_dir(&volume).unwrap();
    nix::mount::mount(
        Some("none"),
        volume.as_std_path(),
        Some("tmpfs"),
        nix::mount::MsFlags::empty(),
        None::<&str>,
    )
    .unwrap();
    fs_err::write(volume.join("file"), "kept").unwrap();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let ended =
        rig.shell(sandbox.as_ref(), "cat volume/file readme; echo lost > volume/file; rm readme").await;
    assert_eq!(ended.stdout.text(), "kepttwo", "{}", ended.stderr.text());
    assert_eq!(fs_err::read_to_string(volume.join("file")).unwrap(), "kept");
    let read = sandbox.read(&polymut_schemas::RepoPath::new("volume/file").unwrap()).unwrap();
    assert_eq!(read.as_deref(), Some(&b"lost\n"[..]));
}
