//! Runs the tests of `inner` inside of a sealed sandbox.
//!
//! In: their names. Out: their outcome. I/O: this test program again, behind walls.

use polymut_adapters::End;
use polymut_schemas::IsolationLevel;

use crate::inner::INSIDE;
use crate::rig::{HELPER, Rig, helper};

/// Runs one inner test, through the command `by` when there is one.
async fn inside(test: &str, by: &str) {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "outer");
    let own = std::env::current_exe().unwrap();
    let script = format!(
        "export {INSIDE}={} {HELPER}={}; exec {by} {} --ignored --exact inner::{test} --nocapture 2>&1",
        "/usr/polymut-was-here",
        helper(),
        own.display(),
    );
    let ended = rig.shell(sandbox.as_ref(), &script).await;
    let words = ended.stdout.text();
    assert!(ended.end == End::Exit(0) && words.contains("1 passed"), "{:?}\n{words}", ended.end);
}

#[tokio::test]
async fn a_copy_protects_against_relative_paths_and_claims_no_more() {
    inside("a_copy_keeps_the_repository_from_relative_paths_only", "").await;
}

#[tokio::test]
async fn a_copy_survives_a_fork_bomb() {
    inside("a_fork_bomb_in_a_copy_leaves_nothing", "").await;
}

#[tokio::test]
async fn a_full_disk_is_said_at_both_levels() {
    let on_a_small_disk = "unshare -Urm sh -c 'mkdir $WORK/small && mount -t tmpfs -o size=110m none $WORK/small && \
                           POLYMUT_TEST_SMALL=$WORK/small exec \"$@\"' sh";
    inside("a_full_disk_is_an_error_that_names_the_folder", on_a_small_disk).await;
}

#[tokio::test]
async fn a_mount_inside_of_the_repository_is_part_of_the_view() {
    inside("a_volume_inside_of_the_repository_is_seen_and_kept", "unshare -Urm").await;
}
