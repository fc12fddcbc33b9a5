//! Programs that do not end, or not as they should, at both levels that have a keeper.
//!
//! In: scripts. Out: the right end, and nothing left. I/O: processes behind walls.

use std::time::Duration;

use polymut::exec::Sandbox;
use polymut_adapters::End;
use polymut_schemas::IsolationLevel;

use crate::rig::{Limits, Rig, helper, lives};

const LEVELS: [IsolationLevel; 2] = [IsolationLevel::Sealed, IsolationLevel::Copied];

/// Runs a script in a fresh sandbox of each level.
async fn each_level(
    script: impl Fn(&str) -> String,
    check: impl AsyncFn(&Rig, &dyn Sandbox, String, String),
) {
    for level in LEVELS {
        let rig = Rig::new();
        let sandbox = rig.sandbox(&rig.at(level).await, "base");
        // A duration that nobody else sleeps for.
        let word = format!("{}{}.5", std::process::id(), rig.base.as_str().len() + level as usize);
        check(&rig, sandbox.as_ref(), script(&word), word).await;
    }
}

fn soon(process: &mut polymut::exec::Process<'_>) {
    process.wall = Some(Duration::from_millis(700));
}

#[tokio::test]
async fn an_endless_loop_ends_at_its_limit() {
    each_level(
        |_| "while :; do :; done".to_owned(),
        async |rig, sandbox, script, _| {
            let ended = rig.run(sandbox, &script, soon).await.unwrap();
            assert_eq!(ended.end, End::Limit);
        },
    )
    .await;
}

#[tokio::test]
async fn who_is_deaf_to_term_is_killed_with_its_children() {
    each_level(
        |word| format!("trap '' TERM; sleep {word} & while :; do sleep {word}; done"),
        async |rig, sandbox, script, word| {
            let ended = rig.run(sandbox, &script, soon).await.unwrap();
            assert_eq!(ended.end, End::Limit);
            assert!(!lives(&word), "a child outlived its tool");
        },
    )
    .await;
}

#[tokio::test]
async fn a_daemon_of_another_session_ends_with_the_tool() {
    each_level(
        |word| format!("(setsid env -i /bin/sh -c 'sleep {word}' </dev/null >/dev/null 2>&1 &) ; exit 3"),
        async |rig, sandbox, script, word| {
            let ended = rig.shell(sandbox, &script).await;
            assert_eq!(ended.end, End::Exit(3), "{}", ended.stderr.text());
            assert!(!lives(&word), "a daemon outlived its tool");
        },
    )
    .await;
}

#[tokio::test]
async fn a_tool_s_own_code_and_signal_come_through_the_walls() {
    each_level(
        |_| String::new(),
        async |rig, sandbox, _, _| {
            assert_eq!(rig.shell(sandbox, "exit 42").await.end, End::Exit(42));
            assert_eq!(rig.shell(sandbox, "kill -SEGV $$").await.end, End::Signal(11));
            assert_eq!(rig.shell(sandbox, "kill -KILL $$").await.end, End::Signal(9));
        },
    )
    .await;
}

#[tokio::test]
async fn who_takes_memory_without_bound_is_ended_for_it() {
    each_level(
        |_| format!("exec {} __contain try -- memory 500000000", helper()),
        async |rig, sandbox, script, _| {
            let limits = Limits { memory: Some(100 << 20), ..Limits::default() };
            let ended = rig.run_with(sandbox, &script, limits, |_| {}).await.unwrap();
            assert_eq!(ended.end, End::OutOfMemory, "{}", ended.stderr.text());
        },
    )
    .await;
}

#[tokio::test]
async fn who_keeps_below_the_ceiling_is_left_alone() {
    each_level(
        |_| format!("exec {} __contain try -- memory 30000000", helper()),
        async |rig, sandbox, script, _| {
            let limits = Limits { memory: Some(200 << 20), ..Limits::default() };
            let ended = rig.run_with(sandbox, &script, limits, |_| {}).await.unwrap();
            assert_eq!(ended.end, End::Exit(0), "{}", ended.stderr.text());
        },
    )
    .await;
}

#[tokio::test]
async fn a_gigabyte_of_output_is_cut_and_counted() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let script = "head -c 1000000000 /dev/zero";
    let ended = rig.run(sandbox.as_ref(), script, |process| process.wall = None).await.unwrap();
    assert_eq!(ended.end, End::Exit(0));
    assert_eq!(ended.stdout.bytes.len() as u64 + ended.stdout.lost, 1_000_000_000);
    assert!(ended.stdout.bytes.len() < 100_000_000);
}

#[tokio::test]
async fn a_program_that_does_not_exist_inside_is_no_program() {
    each_level(
        |_| String::new(),
        async |rig, sandbox, _, _| {
            let ended = rig
                .run(sandbox, "", |process| {
                    let words = process.launch.args.iter().map(|word| {
                        if word == "/bin/sh" { "/bin/no-such-tool".into() } else { word.clone() }
                    });
                    process.launch.args = words.collect();
                })
                .await
                .unwrap();
            assert_eq!(ended.end, End::NoProgram);
        },
    )
    .await;
}

#[tokio::test]
async fn a_fork_bomb_meets_its_limit_and_is_ended() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let script = "bomb() { bomb | bomb & }; bomb; sleep 60";
    let ended = rig.run(sandbox.as_ref(), script, soon).await.unwrap();
    // A shell that cannot fork gives up by itself; what matters is that nothing is left.
    assert!(matches!(ended.end, End::Limit | End::Exit(_)), "{:?}", ended.end);
    assert!(ended.stderr.text().contains("fork"), "the limit was never met: {}", ended.stderr.text());
}
