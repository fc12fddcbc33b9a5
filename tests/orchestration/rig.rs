//! What every test of this suite needs: a copied sandbox in a temporary folder, a store, plans of the fake tool.
//!
//! In: words for the fake tool. Out: [`Rig`]. I/O: temporary folders, looks at processes.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use polymut::exec::{
    CopiedSandbox, Event, EventSender, ExecError, HostEnv, Launch, Request, Sandbox, SandboxError,
    SandboxFile, StageContext, StageLabel, Stop, Store, ToolEnv, copied_level, run_stage,
};
use polymut::paths::AbsPath;
use polymut_adapters::{
    CommandSpec, Find, Gather, Key, Piece, Place, Plan, Ran, Role, ScopeFit, Step, WorkPath,
};
use polymut_schemas::{ContainmentReached, ProjectId, RepoDir, RepoPath, StageName};

use crate::fake::ENTRY;

/// A sandbox with one file, and everything else that a stage needs.
pub(crate) struct Rig {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) sandbox: CopiedSandbox,
    pub(crate) store: Store,
    pub(crate) env: ToolEnv,
    pub(crate) stop: Stop,
    pub(crate) baseline_runs: u32,
    pub(crate) grace: Duration,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = folder(temp.path(), "user");
        fs_err::write(root.join("kept.txt").as_std_path(), "as it was").unwrap();
        let entries = [polymut::exec::SourceEntry {
            path: RepoPath::new("kept.txt").unwrap(),
            kind: polymut::exec::SourceKind::File,
            at: polymut::exec::SourceBytes::Disk,
        }];
        let request = Request {
            root: &root,
            entries: &entries,
            blobs: &|_| Ok(Vec::new()),
            folder: &folder(temp.path(), "scratch"),
            name: "s0",
            dependency_dirs: &[],
            stop: &Stop::new(),
        };
        let sandbox = CopiedSandbox::create(&request, copied_level()).unwrap();
        Self {
            sandbox,
            store: Store::at(folder(temp.path(), "tools")),
            env: environment(&[]),
            stop: Stop::new(),
            baseline_runs: 1,
            grace: Duration::from_millis(200),
            temp,
        }
    }

    pub(crate) fn context(&self) -> StageContext<'_> {
        StageContext {
            label: StageLabel {
                project: ProjectId("fake:.".to_owned()),
                stage: StageName::Test,
                round: 0,
                sandbox: 0,
            },
            sandbox: &self.sandbox,
            store: &self.store,
            env: &self.env,
            cores: 3,
            wall: Some(Duration::from_mins(2)),
            grace: self.grace,
            baseline_runs: self.baseline_runs,
            memory: None,
            network: false,
            logs: self.logs(),
            watch: None,
        }
    }

    pub(crate) fn logs(&self) -> AbsPath {
        AbsPath::new(self.temp.path().to_str().unwrap()).unwrap().join("logs")
    }

    pub(crate) async fn run(&self, plan: &Plan) -> Ran {
        self.try_run(plan).await.unwrap()
    }

    pub(crate) async fn try_run(&self, plan: &Plan) -> Result<Ran, ExecError> {
        run_stage(plan, &self.context(), &self.stop, &EventSender::nobody()).await
    }

    /// Runs and tells what listeners were told.
    pub(crate) async fn watched(&self, plan: &Plan) -> (Ran, Vec<Event>) {
        let (events, mut told) = EventSender::channel();
        let ran = run_stage(plan, &self.context(), &self.stop, &events).await.unwrap();
        drop(events);
        let mut all = Vec::new();
        while let Some(event) = told.recv().await {
            all.push(event);
        }
        (ran, all)
    }

    /// A file in the work folder, as the fake tool is told of it.
    pub(crate) fn file(&self, name: &str) -> AbsPath {
        self.sandbox.work(&WorkPath::new(name).unwrap())
    }

    /// The process that wrote its id to `name`, once it has.
    pub(crate) async fn pid(&self, name: &str) -> i32 {
        let file = self.file(name);
        patiently(&format!("{name} is written"), || file.as_path().exists()).await;
        fs_err::read_to_string(file.as_std_path()).unwrap().parse().unwrap()
    }
}

/// A sandbox whose processes are over their ceiling as soon as their child has started.
pub(crate) struct Heavy<'a>(pub(crate) &'a CopiedSandbox);

impl Sandbox for Heavy<'_> {
    fn over_memory(&self, _leader: u32) -> bool {
        self.work(&WorkPath::new("child").unwrap()).as_path().exists()
    }
    fn reached(&self) -> &ContainmentReached {
        self.0.reached()
    }
    fn seen(&self, path: &RepoDir) -> AbsPath {
        self.0.seen(path)
    }
    fn work(&self, path: &WorkPath) -> AbsPath {
        self.0.work(path)
    }
    fn exists(&self, path: &RepoDir) -> bool {
        self.0.exists(path)
    }
    fn files(&self, under: &RepoDir) -> Result<Vec<SandboxFile>, SandboxError> {
        self.0.files(under)
    }
    fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError> {
        self.0.read(path)
    }
    fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), SandboxError> {
        self.0.write(path, bytes)
    }
    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError> {
        self.0.launch(inside)
    }
    fn fork(&self, name: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.0.fork(name)
    }
}

/// The environment of tools: a `PATH` on which this test binary is found.
pub(crate) fn environment(more: &[(&str, &str)]) -> ToolEnv {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().unwrap().as_os_str().to_owned();
    let mut vars = vec![(OsString::from("PATH"), path)];
    vars.extend(more.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    HostEnv::from_iter(vars).for_tool(&[], &[])
}

/// The file name of this test binary.
pub(crate) fn program() -> &'static str {
    static NAME: LazyLock<String> =
        LazyLock::new(|| std::env::current_exe().unwrap().file_name().unwrap().to_str().unwrap().to_owned());
    &NAME
}

/// A step of the fake tool.
pub(crate) fn step(name: &str, words: &[&str]) -> Step {
    let args = ENTRY.iter().chain(words).map(|word| Piece::word(*word)).collect();
    Step {
        name: name.to_owned(),
        about: None,
        role: Role::Work,
        files: Vec::new(),
        command: CommandSpec {
            program: vec![Find::OnPath(program())],
            args,
            cwd: RepoDir::root(),
            env: std::collections::BTreeMap::new(),
        },
        go_on: &[0],
        limit: None,
    }
}

/// The step about a mutant.
pub(crate) fn about(key: &str, words: &[&str]) -> Step {
    Step { about: Some(Key(key.to_owned())), ..step(&format!("confirm {key}"), words) }
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant }
}

pub(crate) fn gather(steps: Vec<Step>, files: &[(&str, &str)]) -> Plan {
    let gather = files
        .iter()
        .map(|(folder, glob)| Gather::Files {
            under: Place::Work(WorkPath::new(folder).unwrap()),
            glob: (*glob).to_owned(),
            fresh: true,
        })
        .collect();
    Plan { gather, ..plan(steps) }
}

pub(crate) fn folder(below: &Path, name: &str) -> AbsPath {
    let folder = below.join(name);
    fs_err::create_dir_all(&folder).unwrap();
    AbsPath::new(folder.to_str().unwrap()).unwrap()
}

/// Whether a process lives; one that only waits to be reaped does not.
pub(crate) fn lives(pid: i32) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Waits until something holds; fails after a minute, so that a broken promise is not a hanging test.
pub(crate) async fn patiently(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(holds(), "a minute has passed and not: {what}");
}

/// Fails after two minutes, so that a broken promise is not a hanging test.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(2), future).await.unwrap()
}
