//! A small repository with a neighbour and a home, and programs that are run in sandboxes of it.
//!
//! In: nothing. Out: [`Rig`]. I/O: temporary folders, processes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use fs_err as fs;
use polymut::exec::{
    CacheUse, Caches, Cap, Containment, Ended, ExecError, HostEnv, Launch, MARKER, ProbeRequest, Process,
    Request, Sandbox, SandboxError, SourceBytes, SourceEntry, SourceKind, Stop, run_process,
};
use polymut::paths::AbsPath;
use polymut_adapters::WorkPath;
use polymut_schemas::{Guarantee, IsolationLevel, RepoDir, RepoPath};

/// Longest that a program may run before the executor ends it.
pub(crate) const WALL: Duration = Duration::from_secs(30);

pub(crate) struct Rig {
    _temp: tempfile::TempDir,
    pub(crate) base: AbsPath,
    pub(crate) repo: AbsPath,
    pub(crate) home: AbsPath,
    pub(crate) beside: AbsPath,
    pub(crate) scratch: AbsPath,
    host: HostEnv,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    pub(crate) fn in_folder(folder: &std::path::Path) -> Self {
        let temp = tempfile::tempdir_in(folder).unwrap();
        let base = AbsPath::new(fs::canonicalize(temp.path()).unwrap().to_str().unwrap()).unwrap();
        let rig = Self {
            repo: base.join("home/me/shop"),
            home: base.join("home/me"),
            beside: base.join("home/me/sibling"),
            scratch: base.join("home/me/.local/state/polymut/work"),
            host: [(OsString::from("HOME"), OsString::from(base.join("home/me").as_str()))]
                .into_iter()
                .collect(),
            base,
            _temp: temp,
        };
        for (file, text) in [
            ("home/me/shop/src/lib.rs", "one"),
            ("home/me/shop/readme", "two"),
            ("home/me/shop/target/cache", "warm"),
            ("home/me/sibling/notes", "three"),
            ("home/me/.profile", "four"),
            ("home/me/.cargo/registry/index", "five"),
        ] {
            let file = rig.base.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        rig
    }

    pub(crate) async fn probe(
        &self,
        wanted: Option<IsolationLevel>,
        require: &[Guarantee],
    ) -> Result<Containment, SandboxError> {
        let request = ProbeRequest {
            helper: &helper(),
            root: &self.repo,
            scratch: &self.scratch,
            host: &self.host,
            wanted,
            require,
            pids: 100,
            caches: &Caches::default(),
        };
        Containment::probe(&request).await
    }

    pub(crate) async fn at(&self, level: IsolationLevel) -> Containment {
        let found = self.probe(Some(level), &[]).await.unwrap();
        assert_eq!(found.reached().level, level, "{found:?}");
        found
    }

    pub(crate) fn sandbox(&self, containment: &Containment, name: &str) -> Box<dyn Sandbox> {
        self.try_sandbox(containment, name).unwrap()
    }

    pub(crate) fn try_sandbox(
        &self,
        containment: &Containment,
        name: &str,
    ) -> Result<Box<dyn Sandbox>, SandboxError> {
        let entries: Vec<SourceEntry> = ["readme", "src/lib.rs"]
            .map(|path| SourceEntry {
                path: RepoPath::new(path).unwrap(),
                kind: SourceKind::File,
                at: SourceBytes::Disk,
            })
            .into();
        self.sandbox_of(containment, name, &entries)
    }

    /// A sandbox of a side; the bytes of a blob are its path.
    pub(crate) fn sandbox_of(
        &self,
        containment: &Containment,
        name: &str,
        entries: &[SourceEntry],
    ) -> Result<Box<dyn Sandbox>, SandboxError> {
        let request = Request {
            root: &self.repo,
            entries,
            blobs: &|path| Ok(path.as_str().as_bytes().to_vec()),
            folder: &self.scratch,
            name,
            dependency_dirs: &["node_modules"],
            stop: &Stop::new(),
        };
        containment.sandbox(&request)
    }

    /// Every file below home with its bytes, the scratch folder left out.
    pub(crate) fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.home.as_std_path().to_path_buf()];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.starts_with(self.home.join(".local")) {
                    continue;
                }
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    found.insert(path.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// Runs a shell script in a sandbox.
    pub(crate) async fn shell(&self, sandbox: &dyn Sandbox, script: &str) -> Ended {
        self.run(sandbox, script, |_| {}).await.unwrap()
    }

    pub(crate) async fn run(
        &self,
        sandbox: &dyn Sandbox,
        script: &str,
        change: impl FnOnce(&mut Process<'_>),
    ) -> Result<Ended, ExecError> {
        self.run_with(sandbox, script, Limits::default(), change).await
    }

    pub(crate) async fn run_with(
        &self,
        sandbox: &dyn Sandbox,
        script: &str,
        limits: Limits,
        change: impl FnOnce(&mut Process<'_>),
    ) -> Result<Ended, ExecError> {
        let work = sandbox.work(&WorkPath::new("").unwrap());
        let env = [
            ("HOME", self.home.as_str()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
            ("WORK", work.as_str()),
            ("BESIDE", self.beside.as_str()),
            (MARKER, work.as_str()),
        ];
        let inside = Launch {
            program: AbsPath::new("/bin/sh").unwrap(),
            args: ["-c", script].map(OsString::from).into(),
            cwd: sandbox.seen(&RepoDir::root()),
            env: env.map(|(name, value)| (OsString::from(name), OsString::from(value))).into(),
            network: limits.network,
            memory: limits.memory,
            caches: limits.caches,
        };
        let mut process = Process {
            name: "hostile",
            launch: sandbox.launch(inside)?,
            wall: Some(WALL),
            grace: Duration::from_millis(300),
            stdout: work.join("stdout"),
            stderr: work.join("stderr"),
            cap: Cap::default(),
            on_line: Arc::new(|_| ()),
            sandbox: Some(sandbox),
            disk: work.clone(),
            before_stop: None,
        };
        change(&mut process);
        run_process(process, &Stop::new()).await
    }
}

#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) network: bool,
    pub(crate) memory: Option<u64>,
    pub(crate) caches: CacheUse,
}

/// The program whose hidden processes build the walls. Another user may not be able to read the build folder.
pub(crate) fn helper() -> AbsPath {
    let named = std::env::var(HELPER).ok();
    AbsPath::new(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_polymut").to_owned())).unwrap()
}

/// Names a copy of the program.
pub(crate) const HELPER: &str = "POLYMUT_TEST_HELPER";

/// Whether a process has this word in its command line.
pub(crate) fn lives(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
    })
}

/// Waits until something is so; a test that waits for ever is ended by its runner.
pub(crate) async fn patiently(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came about that {what}");
}
