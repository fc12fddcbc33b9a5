//! A small mutation tool made of shell scripts in the repository itself, and a machine to run it on.
//!
//! `tool.sh list` prints `KEY LINE`, `tool.sh test` prints `KEY LINE WORD`; `suite.sh` is the suite. A test decides what
//! they do by writing them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use polymut::exec::{
    Caches, Containment, EventSender, HostEnv, Journal, MOST_PROCESSES, ProbeRequest, Schedule, SourceBytes,
    SourceEntry, SourceKind, Stop, StopReason, Store,
};
use polymut::job::{JobOptions, JobOutcome, Machine, MachineParts, SideFiles, View, run_job};
use polymut::paths::AbsPath;
use polymut::planner::PlannedJob;
use polymut::sources::Sources;
use polymut_adapters::{
    Adapter, Baseline, Change, Changed, ChangedFile, ColumnUnit, CommandSpec, Cost, Doubt, End, Find, Finish,
    Gather, Job, Key, ParseError, Parsed, Piece, Plan, PlanError, Project, ProjectSettings, Promised, Ran,
    RawMutant, RawPath, RawPosition, RawSpan, Recipe, Role, ScopeFit, Spread, Stage, Step, Tests, ToolInfo,
    Tree, TreeUse, Units,
};
use polymut_schemas::{
    FileChange, IsolationLevel, LineSet, NewSide, Quote, RepoDir, RepoPath, Scope, ScopeFile, ScopeSource,
    ScopeWidth, Status, ToolId,
};

/// The tool.
pub(crate) struct Fake;

pub(crate) static FAKE: Fake = Fake;

static INFO: ToolInfo = ToolInfo {
    id: "fake",
    languages: &["words"],
    extensions: &["txt"],
    reads: &[],
    dependency_dirs: &[],
    supported: "*",
    tree: TreeUse::Writes,
    spread: Spread::Sandboxes,
    cost: Cost { start: 0, mutant: 0 },
    recipe: Recipe { version: "1", provides: "bin/fake", steps: &[], hint: "write tool.sh" },
    scrub: &[],
};

/// The changed file; each line is one word, and a mutant replaces the word by `MUTATED`.
pub(crate) const SOURCE: &str = "source.txt";

fn step(name: &str, role: Role, words: &[&str]) -> Step {
    Step {
        name: name.to_owned(),
        about: None,
        role,
        files: Vec::new(),
        command: CommandSpec {
            program: vec![Find::OnPath("sh")],
            args: words.iter().map(|word| Piece::word(*word)).collect(),
            cwd: RepoDir::root(),
            env: BTreeMap::new(),
        },
        go_on: &[0],
        limit: None,
    }
}

fn plan(steps: Vec<Step>) -> Plan {
    Plan { steps, gather: Vec::<Gather>::new(), fit: ScopeFit::Mutant }
}

impl Adapter for Fake {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, _: &Tree) -> Vec<Project> {
        vec![project()]
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        let test = job.limits.test();
        Ok(match stage {
            Stage::Probe => Some(plan(vec![step("version", Role::Work, &["tool.sh", "version"])])),
            Stage::Prepare => Some(plan(vec![step("suite", Role::Baseline, &["suite.sh"])])),
            Stage::List => Some(plan(vec![step("list", Role::Work, &["tool.sh", "list"])])),
            Stage::Test(units) => {
                let Units::Mutants(keys) = units else { return Ok(None) };
                let mut words = vec!["tool.sh", "test"];
                words.extend(keys.iter().map(|key| key.0.as_str()));
                Some(plan(vec![step("test", Role::Work, &words)]))
            }
            Stage::Confirm(suspects) => {
                let steps = suspects.iter().map(|suspect| Step {
                    about: Some(suspect.key.clone()),
                    limit: test,
                    ..step(
                        &format!("confirm-{}", suspect.key.0),
                        Role::Work,
                        &["tool.sh", "confirm", &suspect.key.0],
                    )
                });
                Some(plan(steps.collect()))
            }
            Stage::Replay(_) => None,
        })
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        let mut parsed = Parsed { finish: finish(stage, ran), ..Parsed::default() };
        if matches!(stage, Stage::Prepare) {
            let green = ran.steps.iter().all(|step| step.end == End::Exit(0));
            parsed.baseline = Some(Baseline { green, seconds: None });
        }
        for step in &ran.steps {
            for line in step.stdout.text().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                match words.as_slice() {
                    ["seen", file] => parsed.seen.push(RawPath::FromProject((*file).to_owned())),
                    ["mutant", key, line] => parsed.mutants.push(mutant(job, key, line, None)?),
                    ["mutant", key, line, word] => parsed.mutants.push(mutant(job, key, line, Some(word))?),
                    _ => {}
                }
            }
        }
        if matches!(stage, Stage::List) {
            parsed.promised = Promised::Listed(u64::try_from(parsed.mutants.len()).unwrap_or(0));
        }
        Ok(parsed)
    }
}

fn finish(stage: Stage<'_>, ran: &Ran) -> Finish {
    let Some(bad) = ran.steps.iter().find(|step| step.end != End::Exit(0)) else { return Finish::Complete };
    let quote = Quote { text: format!("{:?} {}", bad.end, bad.stderr.text()), at: bad.name.clone() };
    match (stage, bad.end) {
        (Stage::Prepare, End::Exit(_)) => Finish::RedBaseline(quote),
        (Stage::Probe, End::NoProgram) => Finish::Nothing(quote),
        (
            Stage::Probe
            | Stage::Prepare
            | Stage::List
            | Stage::Test(_)
            | Stage::Confirm(_)
            | Stage::Replay(_),
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory | End::Stopped | End::NoProgram,
        ) => Finish::Partial(quote),
    }
}

fn mutant(job: &Job<'_>, key: &str, line: &str, word: Option<&&str>) -> Result<RawMutant, ParseError> {
    let number: u32 = line.parse().unwrap_or(0);
    let (status, doubt) = match word.copied() {
        None => (None, None),
        Some("killed") => (Some(Status::Killed), None),
        Some("survived") => (Some(Status::Survived), None),
        Some("timeout") => (Some(Status::Timeout), Some(Doubt::Load)),
        Some("hung") => (Some(Status::Timeout), None),
        Some("unreached") => (Some(Status::NoCoverage), None),
        Some("untested") => (Some(Status::Survived), Some(Doubt::NoTestRun)),
        Some(other) => {
            return Err(ParseError::UnknownStatus {
                tool: "fake",
                word: other.to_owned(),
                at: "stdout".to_owned(),
            });
        }
    };
    let path = RepoPath::new(SOURCE).unwrap();
    let text = job.changed.files.get(&path).map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let length = text.and_then(|text| text.lines().nth(number as usize - 1).map(|line| line.chars().count()));
    let end = u32::try_from(length.unwrap_or(0)).unwrap_or(0) + 1;
    Ok(RawMutant {
        key: Key(key.to_owned()),
        path: RawPath::FromProject(SOURCE.to_owned()),
        span: RawSpan {
            start: RawPosition { line: number, column: Some(1) },
            end: Some(RawPosition { line: number, column: Some(end) }),
            unit: ColumnUnit::Chars,
        },
        status,
        word: word.copied().unwrap_or("listed").to_owned(),
        doubt,
        change: Change {
            operator: "word".to_owned(),
            // The tool does not say what it changes where the key begins so.
            replacement: (!key.starts_with("secret")).then(|| "MUTATED".to_owned()),
            ..Change::default()
        },
        tests: Tests::default(),
        function: None,
        detail: None,
        duration: None,
        is_static: None,
        pointer: None,
        artifact: "stdout".to_owned(),
    })
}

fn project() -> Project {
    Project {
        tool: ToolId::from("fake"),
        dir: RepoDir::root(),
        owns: vec![RepoDir::root()],
        memo: BTreeMap::new(),
    }
}

/// What a test decides.
pub(crate) struct Scene {
    pub(crate) tool: &'static str,
    pub(crate) suite: &'static str,
    pub(crate) source: &'static str,
    pub(crate) changed: Vec<u32>,
    /// `suite.sh` and `source.txt` at the merge base.
    pub(crate) base: Option<(&'static str, &'static str)>,
    pub(crate) budget: Option<Duration>,
    pub(crate) isolation: Option<IsolationLevel>,
    pub(crate) options: JobOptions,
    pub(crate) journal: Journal,
    /// Ctrl-C comes once the tool has said this.
    pub(crate) stop_at: Option<&'static str>,
}

/// Everything as it should be: three words, each changed; the suite wants the first one.
pub(crate) fn scene() -> Scene {
    Scene {
        tool: "case $1 in\nversion) echo 1;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2; echo mutant c 3;;\ntest) shift; for key; do case $key in a) echo mutant a 1 killed;; b) echo mutant b 2 survived;; c) echo mutant c 3 hung;; esac; done;;\nesac\n",
        suite: "grep -q one source.txt && ! grep -q broken source.txt\n",
        source: "one\ntwo\nthree\n",
        changed: vec![1, 2, 3],
        base: None,
        budget: None,
        journal: Journal::none(),
        stop_at: None,
        isolation: Some(IsolationLevel::BestEffort),
        options: JobOptions {
            project: ProjectSettings::default(),
            timeout_factor: 5.0,
            timeout_floor: Duration::from_secs(1),
            baseline_runs: 2,
            confirm: 20,
            provision: false,
            memory: None,
            network: false,
            wall: Duration::from_mins(1),
            exclusive: Vec::new(),
        },
    }
}

/// Runs the scene in a repository of its own; asserts that not a byte of it changed.
pub(crate) async fn play(scene: Scene) -> JobOutcome {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("repo");
    std::fs::create_dir_all(&root).unwrap();
    let files = [("tool.sh", scene.tool), ("suite.sh", scene.suite), (SOURCE, scene.source)];
    for (name, text) in files {
        std::fs::write(root.join(name), text).unwrap();
    }
    let path = |text: &str| RepoPath::new(text).unwrap();
    let machine = machine(&scene, &root, folder.path(), &files).await;
    let tree = Tree::new(files.iter().map(|(name, _)| path(name)), BTreeMap::new());
    let lines = LineSet::from_lines(scene.changed.iter().copied());
    let (mut sources, mut old) = (Sources::default(), Sources::default());
    sources.insert(path(SOURCE), scene.source.as_bytes().to_vec());
    if let Some((_, text)) = scene.base {
        old.insert(path(SOURCE), text.as_bytes().to_vec());
    }
    let changed = ChangedFile { lines: lines.clone(), bytes: scene.source.as_bytes().to_vec(), added: false };
    let job = PlannedJob {
        adapter: &FAKE,
        project: project(),
        changed: Changed { files: [(path(SOURCE), changed)].into(), width: ScopeWidth::Line },
    };
    let scope = scope(lines);
    let view = View { tree: &tree, sources: &sources, scope: &scope, base: &old, claimed: &[] };
    let outcome = run_job(&machine, view, &job, &scene.options).await;
    for (name, text) in files {
        assert_eq!(
            std::fs::read_to_string(root.join(name)).unwrap(),
            text,
            "{name} of the user's tree changed"
        );
    }
    assert_eq!(
        std::fs::read_dir(&root).unwrap().count(),
        files.len(),
        "something was left in the user's tree"
    );
    outcome
}

type Files<'a> = [(&'a str, &'a str); 3];

/// A machine on the scene's repository, with its scratch folders beside it.
async fn machine(scene: &Scene, root: &Path, folder: &Path, files: &Files<'_>) -> Machine {
    let path = |text: &str| RepoPath::new(text).unwrap();
    let entries = |at: SourceBytes| {
        files
            .iter()
            .map(move |(name, _)| SourceEntry { path: path(name), kind: SourceKind::File, at })
            .collect()
    };
    let stop = Stop::new();
    if let Some(words) = scene.stop_at {
        let (stop, logs) = (stop.clone(), folder.join("logs"));
        tokio::spawn(async move {
            while !said(&logs, words) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stop.request(StopReason::Interrupted);
        });
    }
    if let Some(budget) = scene.budget {
        stop.set_budget(budget, &EventSender::nobody());
    }
    let base = scene.base.map(|(suite, source)| {
        let texts: BTreeMap<RepoPath, Vec<u8>> =
            [("tool.sh", scene.tool), ("suite.sh", suite), (SOURCE, source)]
                .into_iter()
                .map(|(name, text)| (path(name), text.as_bytes().to_vec()))
                .collect();
        SideFiles {
            entries: entries(SourceBytes::Blob),
            blobs: Box::new(move |path| Ok(texts.get(path).cloned().unwrap_or_default())),
        }
    });
    let host: HostEnv =
        std::env::vars_os().chain([("SHOP_API_TOKEN".into(), "s3cr3t-value".into())]).collect();
    let containment = Containment::probe(&ProbeRequest {
        helper: &abs(Path::new(env!("CARGO_BIN_EXE_polymut"))),
        root: &abs(root),
        scratch: &abs(&folder.join("probe")),
        host: &host,
        wanted: scene.isolation,
        require: &[],
        pids: MOST_PROCESSES,
        caches: &Caches::default(),
    })
    .await
    .unwrap();
    Machine::new(MachineParts {
        root: abs(root),
        new: SideFiles { entries: entries(SourceBytes::Disk), blobs: Box::new(|_| Ok(Vec::new())) },
        base,
        work: abs(&folder.join("work")),
        logs: abs(&folder.join("logs")),
        store: Store::at(abs(&folder.join("tools"))),
        host,
        containment,
        allow_env: Vec::new(),
        stop,
        events: EventSender::nobody(),
        lockfiles: BTreeMap::new(),
        schedule: Schedule::new(2, 1),
        journal: scene.journal.clone(),
    })
}

/// Whether a file below `folder` holds `words`.
fn said(folder: &Path, words: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.into_iter().any(|path| {
        said(&path, words) || std::fs::read_to_string(path).is_ok_and(|text| text.contains(words))
    })
}

fn scope(lines: LineSet) -> Scope {
    Scope {
        source: ScopeSource::Git,
        new_side: NewSide::WorkingTree,
        width: ScopeWidth::Line,
        base: None,
        head: None,
        merge_base: None,
        files: vec![ScopeFile {
            path: RepoPath::new(SOURCE).unwrap(),
            change: FileChange::Modified,
            old_path: None,
            lines,
            same_tokens: LineSet::default(),
            outside: None,
            projects: Vec::new(),
        }],
    }
}

fn abs(path: &Path) -> AbsPath {
    AbsPath::new(camino::Utf8PathBuf::try_from(path.to_path_buf()).unwrap()).unwrap()
}
