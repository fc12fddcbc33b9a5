//! Stages: which step follows which, what is written before and gathered after, what words become.
//!
//! In: plans of the fake tool. Out: claims. I/O: processes, temporary folders.

use std::collections::BTreeMap;
use std::time::Duration;

use polymut::exec::{Event, ExecError, LARGEST_ARTIFACT, MARKER, Sandbox, StopReason};
use polymut_adapters::{End, Find, Gather, NewFile, Piece, Place, Plan, Role, Step, StorePath, WorkPath};
use polymut_schemas::{RepoDir, RepoPath};

use crate::rig::{Rig, about, environment, gather, in_time, plan, program, step};

fn ends(ran: &polymut_adapters::Ran) -> Vec<(&str, End)> {
    ran.steps.iter().map(|step| (step.name.as_str(), step.end)).collect()
}

#[tokio::test]
async fn the_next_step_starts_only_after_an_end_that_the_plan_named() {
    let rig = Rig::new();
    let listed = Step { go_on: &[0, 1], ..step("list", &["exit=1"]) };
    let steps = vec![listed, step("test", &["exit=2"]), step("report", &[])];
    let ran = in_time(rig.run(&plan(steps))).await;
    assert_eq!(ends(&ran), [("list", End::Exit(1)), ("test", End::Exit(2))]);
}

#[tokio::test]
async fn a_hanging_mutant_does_not_keep_the_others_from_being_settled() {
    let rig = Rig::new();
    let hang = Step { limit: Some(Duration::from_secs(1)), ..about("a", &["hang"]) };
    let steps = vec![hang, about("a", &["say=after the hang"]), about("b", &["exit=1"]), about("c", &[])];
    let ran = in_time(rig.run(&plan(steps))).await;
    assert_eq!(
        ends(&ran),
        [("confirm a", End::Limit), ("confirm b", End::Exit(1)), ("confirm c", End::Exit(0))]
    );
}

#[tokio::test]
async fn a_baseline_is_run_each_time_also_after_a_red_run() {
    let rig = Rig { baseline_runs: 3, ..Rig::new() };
    let flip = format!("flip={}", rig.file("count"));
    let baseline = Step { role: Role::Baseline, ..step("baseline", &[&flip]) };
    let ran = in_time(rig.run(&plan(vec![baseline, step("next", &[])]))).await;
    assert_eq!(
        ends(&ran),
        [("baseline", End::Exit(0)), ("baseline", End::Exit(1)), ("baseline", End::Exit(0))]
    );
}

#[tokio::test]
async fn a_missing_program_is_an_end_of_its_own() {
    let rig = Rig::new();
    let mut missing = step("list", &[]);
    missing.command.program = vec![
        Find::Upward(RepoDir::new("app").unwrap(), "node_modules/.bin/stryker"),
        Find::OnPath("polymut-no-such-tool"),
        Find::Store(StorePath::new("stryker/9/bin/stryker").unwrap()),
    ];
    let ran = in_time(rig.run(&plan(vec![missing, step("next", &[])]))).await;
    assert_eq!(ends(&ran), [("list", End::NoProgram)]);
}

#[tokio::test]
async fn what_cannot_start_because_polymut_stops_is_in_the_result() {
    let rig = Rig::new();
    rig.stop.request(StopReason::Budget);
    let wrote = format!("write={}:x", rig.file("out/started"));
    let ran = in_time(rig.run(&gather(vec![step("test", &[&wrote])], &[("out", "*")]))).await;
    assert_eq!(ends(&ran), [("test", End::Stopped)]);
    assert_eq!(ran.files, []);
}

#[tokio::test]
async fn a_report_of_an_earlier_run_is_not_fresh() {
    let rig = Rig::new();
    for name in ["out/old.json", "out/both.json"] {
        rig.sandbox.write(&RepoPath::new(name).unwrap(), b"old").unwrap();
    }
    let new = format!("write={}:new", rig.sandbox.seen(&RepoDir::new("out/both.json").unwrap()));
    let files = |fresh| Gather::Files {
        under: Place::Sandbox(RepoDir::new("out").unwrap()),
        glob: "**/*.json".to_owned(),
        fresh,
    };
    let place = |name| Place::Sandbox(RepoDir::new(name).unwrap());
    let fresh = Plan { gather: vec![files(true)], ..plan(vec![step("test", &[&new])]) };
    assert_eq!(in_time(rig.run(&fresh)).await.files, [(place("out/both.json"), b"new".to_vec())]);
    let all = Plan { gather: vec![files(false)], ..plan(Vec::new()) };
    assert_eq!(
        in_time(rig.run(&all)).await.files,
        [(place("out/both.json"), b"new".to_vec()), (place("out/old.json"), b"old".to_vec())]
    );
}

#[tokio::test]
async fn a_file_that_a_step_was_given_is_there_and_its_words_name_this_machine() {
    let rig = Rig::new();
    let mut given = step("given", &[]);
    given.files = vec![
        NewFile { at: Place::Sandbox(RepoDir::new("conf/a.toml").unwrap()), bytes: b"a".to_vec() },
        NewFile { at: Place::Work(WorkPath::new("driver/b.mjs").unwrap()), bytes: b"b".to_vec() },
    ];
    given.command.args.push(vec![
        Piece::Text("say=".to_owned()),
        Piece::Cores,
        Piece::Text(" ".to_owned()),
        Piece::Sandbox(RepoDir::new("conf/a.toml").unwrap()),
        Piece::Text(" ".to_owned()),
        Piece::Work(WorkPath::new("driver/b.mjs").unwrap()),
    ]);
    let ran = in_time(rig.run(&plan(vec![given]))).await;
    let (a, b) = (rig.sandbox.seen(&RepoDir::new("conf/a.toml").unwrap()), rig.file("driver/b.mjs"));
    assert!(ran.steps[0].stdout.text().contains(&format!("3 {a} {b}")));
    assert_eq!(fs_err::read(a.as_std_path()).unwrap(), b"a");
    assert_eq!(fs_err::read(b.as_std_path()).unwrap(), b"b");
    let users = rig.temp.path().join("user");
    assert_eq!(fs_err::read_dir(&users).unwrap().count(), 1, "the user's tree has its one file");
}

#[tokio::test]
async fn a_plans_link_in_the_work_folder_is_not_written_through() {
    let rig = Rig::new();
    let target = rig.temp.path().join("user/kept.txt");
    std::os::unix::fs::symlink(&target, rig.file("config.json").as_std_path()).unwrap();
    let mut given = step("given", &[]);
    given.files =
        vec![NewFile { at: Place::Work(WorkPath::new("config.json").unwrap()), bytes: b"new".to_vec() }];
    in_time(rig.run(&plan(vec![given]))).await;
    assert_eq!(fs_err::read(&target).unwrap(), b"as it was");
}

#[tokio::test]
async fn the_environment_is_the_plans_over_the_scrubbed_users() {
    let rig = Rig {
        env: environment(&[("GIT_DIR", "/hook"), ("USERS", "own"), ("OVER", "user"), ("API_TOKEN", "t")]),
        ..Rig::new()
    };
    let mut asks = step("asks", &["environment="]);
    asks.command.env = BTreeMap::from([
        ("OVER".to_owned(), Piece::word("plan")),
        ("FROM".to_owned(), vec![Piece::Inherit("GIT_DIR"), Piece::Inherit("API_TOKEN")]),
    ]);
    let ran = in_time(rig.run(&plan(vec![asks]))).await;
    let said = ran.steps[0].stdout.text().into_owned();
    let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
    assert_eq!(value("USERS"), Some("own"));
    assert_eq!(value("OVER"), Some("plan"));
    assert_eq!(value("FROM"), Some("/hook"), "a plan may inherit what is scrubbed, never a credential");
    assert_eq!((value("GIT_DIR"), value("API_TOKEN")), (None, None));
    let own = value("TMPDIR").unwrap();
    assert_eq!(value(MARKER), Some(own));
    assert!(own.starts_with(rig.file("").as_str()), "{own}");
    assert!(!std::path::Path::new(own).exists(), "the step's temporary folder goes with it");
}

#[tokio::test]
async fn the_first_program_that_exists_wins_and_is_looked_for_upwards() {
    let rig = Rig::new();
    let tool = rig.sandbox.seen(&RepoDir::new("web/node_modules/.bin/tool").unwrap());
    fs_err::create_dir_all(tool.parent().unwrap().as_std_path()).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), tool.as_std_path()).unwrap();
    let mut found = step("found", &[]);
    found.command.program = vec![
        Find::Upward(RepoDir::new("web/packages/shop").unwrap(), "node_modules/.bin/tool"),
        Find::OnPath(program()),
    ];
    in_time(rig.run(&plan(vec![found]))).await;
    let record = fs_err::read_to_string(rig.logs().join("00-0-found.json").as_std_path()).unwrap();
    assert!(record.contains(tool.as_str()), "{record}");
}

#[tokio::test]
async fn a_path_of_the_plan_is_the_one_that_is_searched() {
    let rig = Rig::new();
    let bin = rig.sandbox.seen(&RepoDir::new("venv/bin").unwrap());
    fs_err::create_dir_all(bin.as_std_path()).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), bin.join("only-here").as_std_path())
        .unwrap();
    let mut found = step("found", &[]);
    found.command.program = vec![Find::OnPath("only-here")];
    assert_eq!(ends(&in_time(rig.run(&plan(vec![found.clone()]))).await), [("found", End::NoProgram)]);
    found.command.env =
        BTreeMap::from([("PATH".to_owned(), vec![Piece::Sandbox(RepoDir::new("venv/bin").unwrap())])]);
    assert_eq!(ends(&in_time(rig.run(&plan(vec![found]))).await), [("found", End::Exit(0))]);
}

#[tokio::test]
async fn the_nearest_file_is_gathered_with_the_place_where_it_was_found() {
    let rig = Rig::new();
    rig.sandbox.write(&RepoPath::new("web/tsconfig.json").unwrap(), b"{}").unwrap();
    let nearest = Gather::Nearest(Find::Upward(RepoDir::new("web/packages/shop").unwrap(), "tsconfig.json"));
    let ran = in_time(rig.run(&Plan { gather: vec![nearest], ..plan(Vec::new()) })).await;
    assert_eq!(ran.files, [(Place::Sandbox(RepoDir::new("web/tsconfig.json").unwrap()), b"{}".to_vec())]);
}

#[tokio::test]
async fn an_artifact_beyond_the_cap_is_an_error_that_names_it() {
    let rig = Rig::new();
    fs_err::create_dir_all(rig.file("out").as_std_path()).unwrap();
    let file = fs_err::File::create(rig.file("out/huge.json").as_std_path()).unwrap();
    file.set_len(LARGEST_ARTIFACT + 1).unwrap();
    let files = Gather::Files {
        under: Place::Work(WorkPath::new("out").unwrap()),
        glob: "*".to_owned(),
        fresh: false,
    };
    let error = in_time(rig.try_run(&Plan { gather: vec![files], ..plan(Vec::new()) })).await.unwrap_err();
    assert!(
        matches!(error, ExecError::TooLarge { .. }) && error.to_string().contains("out/huge.json"),
        "{error}"
    );
}

#[tokio::test]
async fn logs_hold_argv_names_outputs_and_artifacts_but_no_values() {
    let rig = Rig { env: environment(&[("USERS", "own-value")]), ..Rig::new() };
    let wrote = format!("write={}:[]", rig.file("out/report.json"));
    in_time(rig.run(&gather(vec![step("run all/tests", &["say=hello", &wrote])], &[("out", "*.json")])))
        .await;
    let logs = rig.logs();
    let read = |name: &str| fs_err::read_to_string(logs.join(name).as_std_path()).unwrap();
    assert!(read("00-0-run_all_tests.stdout").contains("hello"));
    assert_eq!(read("artifacts/work/out/report.json"), "[]");
    let record = read("00-0-run_all_tests.json");
    assert!(record.contains("\"say=hello\"") && record.contains("\"USERS\"") && record.contains("Exit(0)"));
    assert!(!record.contains("own-value"));
}

#[tokio::test]
async fn listeners_are_told_of_starts_lines_and_ends_in_order() {
    let rig = Rig::new();
    let (_, told) =
        in_time(rig.watched(&plan(vec![step("a", &["say=hello"]), step("b", &["exit=3"])]))).await;
    let kinds: Vec<String> = told
        .iter()
        .filter_map(|event| match event {
            Event::StageStarted { steps, .. } => Some(format!("stage of {steps}")),
            Event::StepStarted { step, .. } => Some(format!("{step} starts")),
            Event::StepEnded { step, end, .. } => Some(format!("{step} {end:?}")),
            Event::StageEnded { .. } => Some("over".to_owned()),
            Event::Line { .. }
            | Event::Tick { .. }
            | Event::Note { .. }
            | Event::Stopping { .. }
            | Event::Killing
            | Event::Installing { .. }
            | Event::Installed { .. } => None,
        })
        .collect();
    assert_eq!(kinds, ["stage of 2", "a starts", "a Exit(0)", "b starts", "b Exit(3)", "over"]);
    assert!(told.iter().any(|event| matches!(event, Event::Line { .. })));
}
