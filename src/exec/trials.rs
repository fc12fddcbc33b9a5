//! The trials of the probe: sandboxes of each level around the program that tries to get out.
//!
//! In: a [`ProbeRequest`]. Out: the highest [`Containment`] that held. I/O: short processes, a folder of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use polymut_adapters::{End, WorkPath};
use polymut_schemas::{ContainmentReached, Guarantee, IsolationLevel, RepoDir, RepoPath};

use super::contain::{Cgroups, Power, Scope, TRY, Tried, WORD};
use super::obstacle;
use super::probe::{Containment, How, Obstacle, ProbeRequest, reached};
use super::sandbox::failed;
use super::{Builder, SealedSandbox, Starter, Surroundings};
use super::{
    CacheUse, Cap, CopiedSandbox, Ended, ExecError, HostEnv, Launch, Process, Request, Sandbox, SandboxError,
    SourceBytes, SourceEntry, SourceKind, Stop, copied_level, run_process,
};
use crate::paths::AbsPath;

/// Longest that one trial may take; on a loaded machine a process start can take a while.
const WALL: Duration = Duration::from_secs(20);

/// The ceiling of the memory trial, and what it takes.
const CEILING: u64 = 96 << 20;
const TAKEN: u64 = 384 << 20;

/// The highest level that holds.
pub(super) async fn best(request: &ProbeRequest<'_>) -> Result<Containment, SandboxError> {
    let place = Place::make(request.scratch)?;
    let mut obstacles = Vec::new();
    if request.wanted != Some(IsolationLevel::Copied) {
        for power in powers() {
            match try_sealed(request, &place, power).await {
                Ok((reached, builder)) => {
                    return Ok(Containment { reached, obstacles, how: How::Sealed(Arc::new(builder)) });
                }
                Err(why) => obstacles.push(Obstacle {
                    level: IsolationLevel::Sealed,
                    lift: obstacle::lift(&why, &obstacle::machine),
                    why,
                }),
            }
        }
        if request.wanted == Some(IsolationLevel::Sealed) {
            let why: Vec<String> = obstacles.iter().map(|obstacle| obstacle.why.clone()).collect();
            return Err(SandboxError::Required {
                guarantee: "sealed".to_owned(),
                why: why.join("; "),
                lift: obstacles.into_iter().find_map(|obstacle| obstacle.lift),
            });
        }
    }
    match try_kept(request, &place).await {
        Ok((reached, starter)) => Ok(Containment { reached, obstacles, how: How::Kept(starter) }),
        Err(why) => {
            obstacles.push(Obstacle { level: IsolationLevel::Copied, why, lift: None });
            Ok(Containment::bare(obstacles, IsolationLevel::Copied))
        }
    }
}

/// How walls could be built, best first.
fn powers() -> Vec<Power> {
    if nix::unistd::geteuid().is_root() { vec![Power::Root, Power::User] } else { vec![Power::User] }
}

async fn try_sealed(
    request: &ProbeRequest<'_>,
    place: &Place,
    power: Power,
) -> Result<(ContainmentReached, Builder), String> {
    let mut builder = Builder {
        starter: starter(request, None),
        power,
        surroundings: Surroundings::of(request.host, request.caches),
        reached: copied_level(),
    };
    let make = |builder: &Builder, name: &str| {
        SealedSandbox::create(&place.request(name), &Arc::new(builder.clone()))
            .map_err(|error| error.to_string())
    };
    let walls = walls(&make(&builder, &format!("walls-{power:?}"))?, place, request.helper).await?;
    if !walls.files || !walls.network || !walls.tree {
        return Err(format!("the walls were built but do not hold: {walls:?}"));
    }
    stands_over(request, place, &builder).await?;
    let mut memory = "nothing";
    for (index, cgroups) in places_of_groups(request.host).into_iter().enumerate() {
        builder.starter = starter(request, cgroups);
        let sandbox = make(&builder, &format!("memory-{power:?}-{index}"))?;
        if holds_memory(&sandbox, place, request.helper).await {
            memory = name_of(&builder.starter);
            break;
        }
    }
    let reached = reached(
        IsolationLevel::Sealed,
        [
            (Guarantee::Memory, memory != "nothing", memory),
            (Guarantee::Network, walls.network, "network namespace"),
            (Guarantee::Files, walls.files, "overlay"),
            (Guarantee::Tree, walls.tree, "process namespace"),
        ],
    );
    builder.reached = reached.clone();
    Ok((reached, builder))
}

/// Whether the room can be built over the user's own tree; nothing is tried there.
async fn stands_over(request: &ProbeRequest<'_>, place: &Place, builder: &Builder) -> Result<(), String> {
    let over = Request { root: request.root, entries: &[], ..place.request("over") };
    let sandbox =
        SealedSandbox::create(&over, &Arc::new(builder.clone())).map_err(|error| error.to_string())?;
    let ended = run(&sandbox, request.helper, &["nothing"], None).await.map_err(|error| error.to_string())?;
    if ended.end == End::Exit(0) {
        Ok(())
    } else {
        Err(format!("a program in {} ended with {:?}", request.root, ended.end))
    }
}

async fn try_kept(
    request: &ProbeRequest<'_>,
    place: &Place,
) -> Result<(ContainmentReached, Starter), String> {
    let make = |starter: &Starter, name: &str| {
        CopiedSandbox::create(&place.request(name), copied_level())
            .and_then(|sandbox| sandbox.kept_by(starter.clone()))
            .map_err(|error| error.to_string())
    };
    let mut kept = starter(request, None);
    let walls = walls(&make(&kept, "kept")?, place, request.helper).await?;
    let mut memory = "nothing";
    for (index, cgroups) in places_of_groups(request.host).into_iter().enumerate() {
        kept = starter(request, cgroups);
        if holds_memory(&make(&kept, &format!("kept-{index}"))?, place, request.helper).await {
            memory = name_of(&kept);
            break;
        }
    }
    let reached = reached(
        IsolationLevel::Copied,
        [
            (Guarantee::Memory, memory != "nothing", memory),
            (Guarantee::Network, walls.network, "nothing"),
            (Guarantee::Files, walls.files, "copy: relative paths are caught, absolute ones are not"),
            (Guarantee::Tree, walls.tree, "subreaper and sweep"),
        ],
    );
    Ok((reached, kept))
}

fn starter(request: &ProbeRequest<'_>, cgroups: Option<Cgroups>) -> Starter {
    Starter { helper: request.helper.clone(), cgroups, pids: request.pids }
}

/// Where control groups might be made, best first; at last none, for the watchdog.
fn places_of_groups(host: &HostEnv) -> Vec<Option<Cgroups>> {
    let mount = Utf8Path::new("/sys/fs/cgroup");
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let found = Cgroups::look(mount, &own);
    let program = which::which("systemd-run").ok().and_then(|path| Utf8PathBuf::try_from(path).ok());
    let scope = Scope::look(mount, program, |name| host.text(name).map(str::to_owned)).map(Cgroups::Scope);
    found.into_iter().chain(scope).map(Some).chain([None]).collect()
}

fn name_of(starter: &Starter) -> &'static str {
    starter.cgroups.as_ref().map_or("watchdog", Cgroups::name)
}

/// A tiny repository, its neighbour, and a folder for sandboxes.
struct Place {
    folder: AbsPath,
    repo: AbsPath,
    beside: AbsPath,
    entries: Vec<SourceEntry>,
    stop: Stop,
}

impl Place {
    fn make(scratch: &AbsPath) -> Result<Self, SandboxError> {
        let top = scratch.join(format!("probe-{}", std::process::id()));
        let place = Self {
            folder: top.join("box"),
            repo: top.join("repo"),
            beside: top.join("beside"),
            entries: entry(),
            stop: Stop::new(),
        };
        for folder in [&place.folder, &place.repo, &place.beside] {
            fs::create_dir_all(folder).map_err(failed(format!("cannot make {folder}")))?;
        }
        place.restore()?;
        Ok(place)
    }

    /// The two files as they were.
    fn restore(&self) -> Result<(), SandboxError> {
        for file in self.files() {
            fs::write(&file, UNTOUCHED).map_err(failed(format!("cannot write {file}")))?;
        }
        Ok(())
    }

    fn files(&self) -> [AbsPath; 2] {
        [self.repo.join("file"), self.beside.join("file")]
    }

    fn is_untouched(&self) -> bool {
        self.files().iter().all(|file| fs::read(file).is_ok_and(|bytes| bytes == UNTOUCHED))
    }

    fn request<'a>(&'a self, name: &'a str) -> Request<'a> {
        Request {
            root: &self.repo,
            entries: &self.entries,
            blobs: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
            folder: &self.folder,
            name,
            dependency_dirs: &[],
            stop: &self.stop,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(top) = self.folder.parent() {
            let _ = super::sandbox::remove_tree(top.as_path());
        }
    }
}

const UNTOUCHED: &[u8] = b"untouched";

fn entry() -> Vec<SourceEntry> {
    RepoPath::new("file")
        .map(|path| SourceEntry { path, kind: SourceKind::File, at: SourceBytes::Disk })
        .into_iter()
        .collect()
}

/// What held against the program.
#[derive(Debug, Clone, Copy)]
struct Walls {
    files: bool,
    network: bool,
    tree: bool,
}

async fn walls(sandbox: &dyn Sandbox, place: &Place, helper: &AbsPath) -> Result<Walls, String> {
    place.restore().map_err(|error| error.to_string())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port().to_string();
    let (answer, lock) = (work(sandbox, "answer"), work(sandbox, "lock"));
    let [inside, beside] = place.files();
    let words = ["walls", &port, answer.as_str(), lock.as_str(), inside.as_str(), beside.as_str()];
    let ended = run(sandbox, helper, &words, None).await.map_err(|error| error.to_string())?;
    if ended.end != End::Exit(0) {
        return Err(format!("the trial ended with {:?}", ended.end));
    }
    let bytes = fs::read(&answer).map_err(|error| error.to_string())?;
    let tried: Tried = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    // Whoever was left behind holds the lock.
    let left = fs::File::open(lock.as_std_path()).map_err(|error| error.to_string())?;
    Ok(Walls {
        files: place.is_untouched(),
        network: !tried.left_network && tried.has_loopback,
        tree: left.file().try_lock().is_ok(),
    })
}

async fn holds_memory(sandbox: &dyn Sandbox, _place: &Place, helper: &AbsPath) -> bool {
    let taken = TAKEN.to_string();
    run(sandbox, helper, &["memory", &taken], Some(CEILING))
        .await
        .is_ok_and(|ended| ended.end == End::OutOfMemory)
}

fn work(sandbox: &dyn Sandbox, name: &str) -> AbsPath {
    let folder = WorkPath::new("").map(|root| sandbox.work(&root));
    folder.map_or_else(|_| sandbox.seen(&RepoDir::root()), |folder| folder.join(name))
}

async fn run(
    sandbox: &dyn Sandbox,
    helper: &AbsPath,
    words: &[&str],
    memory: Option<u64>,
) -> Result<Ended, ExecError> {
    let inside = Launch {
        program: helper.clone(),
        args: [WORD, TRY, "--"].iter().chain(words).map(OsString::from).collect(),
        cwd: sandbox.seen(&RepoDir::root()),
        env: BTreeMap::new(),
        network: false,
        memory,
        caches: CacheUse::Private,
    };
    let process = Process {
        name: "probe",
        launch: sandbox.launch(inside)?,
        wall: Some(WALL),
        grace: Duration::from_millis(100),
        stdout: work(sandbox, "stdout"),
        stderr: work(sandbox, "stderr"),
        cap: Cap::default(),
        on_line: Arc::new(|_| ()),
        sandbox: Some(sandbox),
        disk: work(sandbox, ""),
        before_stop: None,
    };
    run_process(process, &Stop::new()).await
}
