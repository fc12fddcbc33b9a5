//! Scopes of the user's systemd: where one cannot be had, the tool is not started without its ceiling.
//!
//! In: programs in the place of `systemd-run`. Out: claims. I/O: processes in copies.
//!
//! Limits that systemd sets are read back in the unit tests of `exec::contain`; here stands what a machine without it
//! can show.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use fs_err as fs;
use polymut::exec::contain::{Cgroups, Scope};
use polymut::exec::{
    CopiedSandbox, ExecError, Request, SandboxError, SourceBytes, SourceEntry, SourceKind, Starter, Stop,
    copied_level,
};
use polymut_schemas::RepoPath;

use super::rig::{Rig, helper};

/// What became of a program that writes a file, started through this `systemd-run`; and whether it ran.
async fn started_through(script: &str) -> (Result<polymut_adapters::End, ExecError>, bool, String) {
    let rig = Rig::new();
    let program = rig.base.join("systemd-run");
    fs::write(&program, format!("#!/bin/sh\nprintf '%s ' \"$@\" > {}\n{script}\n", rig.base.join("words")))
        .unwrap();
    fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let scope = Scope {
        program: program.as_path().to_path_buf(),
        mount: rig.base.as_path().to_path_buf(),
        bus: BTreeMap::from([("XDG_RUNTIME_DIR".to_owned(), "/run/user/0".to_owned())]),
    };
    let entries = [SourceEntry {
        path: RepoPath::new("readme").unwrap(),
        kind: SourceKind::File,
        at: SourceBytes::Disk,
    }];
    let request = Request {
        root: &rig.repo,
        entries: &entries,
        blobs: &|_| Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
        folder: &rig.scratch,
        name: "scoped",
        dependency_dirs: &[],
        stop: &Stop::new(),
    };
    let starter = Starter { helper: helper(), cgroups: Some(Cgroups::Scope(scope)), pids: 100 };
    let sandbox = CopiedSandbox::create(&request, copied_level()).unwrap().kept_by(starter).unwrap();
    let ended = rig.run(&sandbox, "echo ran > \"$BESIDE/ran\"", |_| {}).await.map(|ended| ended.end);
    let words = fs::read_to_string(rig.base.join("words")).unwrap();
    (ended, rig.beside.join("ran").as_std_path().exists(), words)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_systemd_refuses_is_no_end_of_the_tool() {
    let (ended, ran, words) = started_through("echo 'Failed to connect to bus' >&2; exit 1").await;
    assert!(matches!(&ended, Err(ExecError::Sandbox(SandboxError::Walls { .. }))), "{ended:?}");
    assert!(!ran);
    assert!(words.contains("--user --scope") && words.contains("--property=TasksMax=100"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_nobody_was_moved_into_is_no_wall() {
    let (ended, ran, _) = started_through("while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"").await;
    let Err(ExecError::Sandbox(SandboxError::Walls { why })) = &ended else { panic!("{ended:?}") };
    assert!(why.contains("no scope of systemd"), "{why}");
    assert!(!ran);
}
