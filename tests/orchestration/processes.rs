//! Ends of processes: limits, stopping, left-overs, outputs.
//!
//! In: plans of the fake tool. Out: claims. I/O: processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use polymut::exec::{
    CacheUse, Cap, EventSender, ExecError, Launch, Process, StageContext, StopReason, run_process, run_stage,
};
use polymut::paths::AbsPath;
use polymut_adapters::{End, Step};

use crate::fake::ENTRY;
use crate::rig::{Heavy, Rig, gather, in_time, lives, patiently, plan, step};

fn word(verb: &str, rig: &Rig, name: &str) -> String {
    format!("{verb}={}", rig.file(name))
}

#[tokio::test]
async fn a_step_that_hangs_ends_at_its_limit_and_leaves_nothing() {
    let rig = Rig::new();
    let beside = word("beside", &rig, "child");
    let hang = Step { limit: Some(Duration::from_millis(1500)), ..step("hang", &[&beside, "hang"]) };
    let ran = in_time(rig.run(&plan(vec![hang, step("next", &[])]))).await;
    let ends: Vec<End> = ran.steps.iter().map(|step| step.end).collect();
    assert_eq!(ends, [End::Limit]);
    assert!(!lives(rig.pid("child").await));
}

#[tokio::test]
async fn a_step_that_ignores_term_is_killed_and_counts_as_stopped() {
    let rig = Rig::new();
    let deaf = plan(vec![step("deaf", &["deaf", &word("pid", &rig, "pid"), "hang"])]);
    let (ran, pid) = in_time(async {
        tokio::join!(rig.run(&deaf), async {
            let pid = rig.pid("pid").await;
            rig.stop.request(StopReason::Budget);
            pid
        })
    })
    .await;
    assert_eq!(ran.steps[0].end, End::Stopped);
    assert!(!lives(pid));
}

#[tokio::test]
async fn a_stopped_step_is_stopped_whatever_code_it_ends_with() {
    let rig = Rig::new();
    // Without a handler TERM ends it by signal; what counts is who wanted it.
    let hang = plan(vec![step("hang", &[&word("pid", &rig, "pid"), "hang"]), step("next", &[])]);
    let (ran, ()) = in_time(async {
        tokio::join!(rig.run(&hang), async {
            rig.pid("pid").await;
            rig.stop.request(StopReason::Interrupted);
        })
    })
    .await;
    assert_eq!(ran.steps.len(), 1);
    assert_eq!(ran.steps[0].end, End::Stopped);
}

#[tokio::test]
async fn a_second_signal_does_not_wait_for_the_grace() {
    let rig = Rig { grace: Duration::from_hours(1), ..Rig::new() };
    let deaf = plan(vec![step("deaf", &["deaf", &word("pid", &rig, "pid"), "hang"])]);
    let (ran, pid) = in_time(async {
        tokio::join!(rig.run(&deaf), async {
            let pid = rig.pid("pid").await;
            rig.stop.request(StopReason::Interrupted);
            tokio::time::sleep(Duration::from_millis(50)).await;
            rig.stop.request(StopReason::Interrupted);
            pid
        })
    })
    .await;
    assert_eq!(ran.steps[0].end, End::Stopped);
    assert!(!lives(pid));
}

#[tokio::test]
async fn a_daemon_in_a_session_of_its_own_does_not_outlive_its_step() {
    let rig = Rig::new();
    let ran = in_time(rig.run(&plan(vec![step("daemon", &[&word("stray", &rig, "daemon")])]))).await;
    assert_eq!(ran.steps[0].end, End::Exit(0));
    assert!(!lives(rig.pid("daemon").await));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_without_session_and_environment_is_found_when_it_was_seen_before() {
    let rig = Rig::new();
    let ran =
        in_time(rig.run(&plan(vec![step("daemon", &[&word("bare", &rig, "daemon"), "sleep=2500"])]))).await;
    assert_eq!(ran.steps[0].end, End::Exit(0));
    assert!(!lives(rig.pid("daemon").await));
}

#[tokio::test]
async fn dropping_the_future_kills_the_whole_tree() {
    let rig = Rig::new();
    let words = [word("stray", &rig, "daemon"), word("pid", &rig, "leader")];
    let tree = plan(vec![step("tree", &["deaf", &words[0], &words[1], "hang"])]);
    let pids = in_time(async {
        tokio::select! {
            _ = rig.run(&tree) => unreachable!("it hangs"),
            pids = async { [rig.pid("daemon").await, rig.pid("leader").await] } => pids,
        }
    })
    .await;
    patiently("the tree is dead", || pids.iter().all(|pid| !lives(*pid))).await;
}

#[tokio::test]
async fn ending_one_step_leaves_its_neighbours_alone() {
    let (rig, neighbour) = (Rig::new(), Rig::new());
    let long = plan(vec![step(
        "long",
        &[&word("stray", &neighbour, "daemon"), &word("pid", &neighbour, "pid"), "hang"],
    )]);
    let ran = in_time(async {
        let ((), ran) = tokio::join!(
            async {
                let pids = [neighbour.pid("daemon").await, neighbour.pid("pid").await];
                rig.run(&plan(vec![step("daemon", &[&word("stray", &rig, "daemon")])])).await;
                assert!(pids.iter().all(|pid| lives(*pid)));
                neighbour.stop.request(StopReason::Budget);
            },
            neighbour.run(&long)
        );
        ran
    })
    .await;
    assert_eq!(ran.steps[0].end, End::Stopped);
    assert!(!lives(neighbour.pid("daemon").await));
}

#[tokio::test]
async fn a_tool_that_dies_half_way_leaves_its_signal_and_half_a_report() {
    let rig = Rig::new();
    let half = format!("write={}:{{\"mutants\": [", rig.file("out/report.json"));
    let ran = in_time(rig.run(&gather(vec![step("dies", &[&half, "abort"])], &[("out", "*.json")]))).await;
    assert_eq!(ran.steps[0].end, End::Signal(6));
    assert_eq!(ran.file_ending("out/report.json"), Some(&b"{\"mutants\": ["[..]));
}

#[tokio::test]
async fn a_tool_that_closes_its_output_early_is_waited_for() {
    let rig = Rig::new();
    let ran =
        in_time(rig.run(&plan(vec![step("shut", &["shut", "sleep=300", "cry=still here", "exit=4"])]))).await;
    assert_eq!(ran.steps[0].end, End::Exit(4));
    assert!(ran.steps[0].stderr.text().contains("still here"));
}

#[tokio::test]
async fn output_that_is_not_utf8_arrives_byte_by_byte() {
    let rig = Rig::new();
    let ran = in_time(rig.run(&plan(vec![step("bytes", &["bytes"])]))).await;
    let bytes = &ran.steps[0].stdout.bytes;
    assert!(bytes.windows(8).any(|window| window == b"caf\xe9 \xff\xfe\n"), "{bytes:?}");
}

#[tokio::test]
async fn a_tool_gets_no_input() {
    let rig = Rig::new();
    let ran = in_time(rig.run(&plan(vec![step("read", &["read="])]))).await;
    assert!(ran.steps[0].stdout.text().contains("stdin has 0 bytes"));
}

#[tokio::test]
async fn a_flood_of_output_is_drained_capped_and_counted() {
    let rig = Rig::new();
    let ran = in_time(rig.run(&plan(vec![step("flood", &["flood=96", "say=done"])]))).await;
    let step = &ran.steps[0];
    assert_eq!(step.end, End::Exit(0));
    assert!(step.stdout.text().contains("done"));
    assert_eq!(step.stderr.bytes.len() as u64 + step.stderr.lost, 96 << 20);
    assert!(step.stderr.lost >= 24 << 20);
    assert!(step.stderr.bytes.starts_with(b"00000000."));
    let last = format!("{:08}.", 96 * 1024 - 1);
    let tail = &step.stderr.bytes[step.stderr.bytes.len() - 1024..];
    assert!(tail.starts_with(last.as_bytes()));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_under_the_logs_stops_the_tool_and_names_the_folder() {
    let rig = Rig::new();
    let exe = AbsPath::new(std::env::current_exe().unwrap().to_str().unwrap()).unwrap();
    let words = [&ENTRY[..], &["flood=1", "hang"]].concat();
    let request = Process {
        name: "flood",
        launch: Launch {
            program: exe,
            args: words.into_iter().map(Into::into).collect(),
            cwd: rig.file(""),
            env: BTreeMap::new(),
            network: false,
            memory: None,
            caches: CacheUse::Private,
        },
        wall: None,
        grace: rig.grace,
        stdout: rig.file("out"),
        stderr: AbsPath::new("/dev/full").unwrap(),
        cap: Cap::default(),
        on_line: Arc::new(|_| ()),
        sandbox: None,
        disk: rig.file(""),
        before_stop: None,
    };
    let error = in_time(run_process(request, &rig.stop)).await.unwrap_err();
    assert!(matches!(&error, ExecError::NoSpace { folder, .. } if folder == "/dev/full"), "{error}");
    assert!(error.hint().unwrap().contains("POLYMUT_STATE"));
}

#[tokio::test]
async fn a_tree_over_its_memory_ceiling_is_ended_and_named_so() {
    let rig = Rig::new();
    let heavy = Heavy(&rig.sandbox);
    let context = StageContext { sandbox: &heavy, ..rig.context() };
    let hang = plan(vec![step("heavy", &[&word("beside", &rig, "child"), "hang"])]);
    let ran = in_time(run_stage(&hang, &context, &rig.stop, &EventSender::nobody())).await.unwrap();
    assert_eq!(ran.steps[0].end, End::OutOfMemory);
    assert!(!lives(rig.pid("child").await));
}
