//! The sealed sandbox: an overlay over the repository at its own path, in a room of its own.
//!
//! In: a [`Request`], how rooms are built here. Out: [`SealedSandbox`]. I/O: scratch folder; reads the user's tree.
//!
//! The new side is the working tree itself when every file of it is on disk; then build outputs and installed
//! dependencies of the user are there as well, and stay untouched. Another side (index, commit) is laid out in a
//! scratch folder that takes the tree's place; dependencies and `.git` show through.
//!
//! One command runs in a sandbox at a time: two mounts of one upper layer would not see each other's writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_err as fs;
use polymut_adapters::WorkPath;
use polymut_schemas::{ContainmentReached, RepoDir, RepoPath};

use super::fill::Fill;
use super::host::failed;
use super::layers::{Found, View};
use super::room_plan::RoomPlan;
use super::stack::{Lower, Owned, Stack};
use super::surroundings::{Surroundings, real};
use super::{Launch, Remains, Request, Sandbox, SandboxError, SandboxFile, SourceBytes, SourceKind};
use super::{NotStarted, Starter, Usage, dependencies, space, upper};
use crate::exec::Stop;
use crate::exec::contain::{Power, mounts_below};
use crate::paths::AbsPath;

/// How rooms are built on this machine.
#[derive(Debug, Clone)]
pub struct Builder {
    /// How keepers are started.
    pub starter: Starter,
    /// How the walls are built.
    pub power: Power,
    /// What is around the repository.
    pub surroundings: Surroundings,
    /// What its processes get.
    pub reached: ContainmentReached,
}

/// An overlay over the repository, and walls.
#[derive(Debug)]
pub struct SealedSandbox {
    builder: Arc<Builder>,
    /// The repository, as its user writes it.
    root: AbsPath,
    /// Holds this sandbox and its forks.
    folder: AbsPath,
    own: Arc<Owned>,
    linked: BTreeSet<RepoDir>,
    stacks: Mutex<Vec<Stack>>,
    numbers: AtomicU32,
}

impl SealedSandbox {
    /// A sandbox over the new side.
    pub fn create(request: &Request<'_>, builder: &Arc<Builder>) -> Result<Self, SandboxError> {
        let own = Arc::new(lay_out(request.folder, request.name, request.stop)?);
        space::check_margin(request.folder)?;
        let folder = real(request.folder.as_str()).unwrap_or_else(|| request.folder.clone());
        let mut sandbox = Self {
            builder: Arc::clone(builder),
            root: request.root.clone(),
            folder,
            own,
            linked: dependencies::present(request),
            stacks: Mutex::new(Vec::new()),
            numbers: AtomicU32::new(0),
        };
        let stacks = sandbox.first_stacks(request)?;
        sandbox.stacks = Mutex::new(stacks);
        Ok(sandbox)
    }

    fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn first_stacks(&self, request: &Request<'_>) -> Result<Vec<Stack>, SandboxError> {
        let root = real(request.root.as_str()).ok_or_else(|| gone(request.root))?;
        let is_live = request
            .entries
            .iter()
            .all(|entry| entry.at == SourceBytes::Disk || entry.kind == SourceKind::Submodule);
        let mut places: BTreeMap<AbsPath, Vec<Lower>> = BTreeMap::new();
        let plain = |at: &AbsPath| vec![Lower { at: at.clone(), of: None }];
        for at in self.builder.surroundings.overlays(&self.folder) {
            if !(is_live && at.as_path().starts_with(root.as_path())) {
                places.insert(at.clone(), plain(&at));
            }
        }
        if is_live {
            places.insert(root.clone(), plain(&root));
        } else {
            places.extend(self.other_side(request, &root)?);
        }
        // An overlay does not show what is mounted inside of its layers: that gets an overlay of its own.
        for outer in places.keys().cloned().collect::<Vec<_>>() {
            if is_live || outer != root {
                places.extend(self.mounted_below(&outer).into_iter().map(|at| (at.clone(), plain(&at))));
            }
        }
        places.into_iter().map(|(at, lower)| Stack::over(&at, lower, &self.own, self.number())).collect()
    }

    /// Folders below `outer` that are mounts of their own.
    fn mounted_below(&self, outer: &AbsPath) -> Vec<AbsPath> {
        mounts_below(outer.as_path())
            .into_iter()
            .filter(|at| at.is_dir() && !at.starts_with(self.folder.as_path()))
            .filter_map(|at| AbsPath::new(at).ok())
            .collect()
    }

    /// The places of a side that is not on disk: its files, and what shows through.
    fn other_side(
        &self,
        request: &Request<'_>,
        root: &AbsPath,
    ) -> Result<BTreeMap<AbsPath, Vec<Lower>>, SandboxError> {
        let side = self.own.0.join("side");
        fs::create_dir(&side).map_err(failed(format!("cannot make {side}")))?;
        Fill { request, tree: &side, seen: request.root }.all()?;
        let mut places = BTreeMap::new();
        let git = root.join(".git");
        for through in self.linked.iter().map(|dir| root.at(dir)).chain([git.clone()]) {
            // A link is no place to mount on; its target is outside or comes along.
            if fs::symlink_metadata(&through).is_ok_and(|meta| meta.is_dir()) {
                places.insert(through.clone(), vec![Lower { at: through, of: None }]);
            }
        }
        if git.as_std_path().is_file() {
            fs::copy(&git, side.join(".git")).map_err(failed(format!("cannot copy {git}")))?;
        }
        places.insert(root.clone(), vec![Lower { at: side, of: Some(Arc::clone(&self.own)) }]);
        Ok(places)
    }

    fn stacks(&self) -> MutexGuard<'_, Vec<Stack>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The repository as it is seen inside, and the upper layer of each of its places.
    fn view(&self) -> (View<'_>, BTreeMap<RepoDir, AbsPath>) {
        let root = real(self.root.as_str()).unwrap_or_else(|| self.root.clone());
        let mut view = View { root: &self.root, stacks: BTreeMap::new() };
        let mut uppers = BTreeMap::new();
        for stack in self.stacks().iter() {
            let inside = stack.at.as_path().strip_prefix(root.as_path()).ok();
            if let Some(dir) = inside.and_then(|inside| RepoDir::new(inside).ok()) {
                view.stacks.insert(dir.clone(), stack.layers());
                uppers.insert(dir, stack.upper.clone());
            }
        }
        (view, uppers)
    }
}

impl Sandbox for SealedSandbox {
    fn reached(&self) -> &ContainmentReached {
        &self.builder.reached
    }

    fn seen(&self, path: &RepoDir) -> AbsPath {
        self.root.at(path)
    }

    fn work(&self, path: &WorkPath) -> AbsPath {
        self.own.0.join("work").join(path.as_str())
    }

    fn exists(&self, path: &RepoDir) -> bool {
        match self.view().0.find(path) {
            Found::Nothing => false,
            Found::File(..) | Found::Folder(..) => true,
            Found::Outside(path) => fs::metadata(path).is_ok(),
        }
    }

    fn files(&self, under: &RepoDir) -> Result<Vec<SandboxFile>, SandboxError> {
        Ok(self.view().0.files(under, &self.linked))
    }

    fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError> {
        self.view().0.read(path)
    }

    fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), SandboxError> {
        let (view, uppers) = self.view();
        let place = placed(&view, path)?;
        let (stack, upper) = uppers
            .iter()
            .filter(|(stack, _)| stack.contains(&place))
            .max_by_key(|(stack, _)| stack.depth())
            .ok_or_else(|| gone(&self.root))?;
        let relative = camino::Utf8Path::new(stack.relative(&place).unwrap_or_default());
        upper::write(upper.as_ref(), relative, bytes, &|below| match view
            .find(&stack.resolve(below.as_str()).ok()?)
        {
            Found::Folder(_, layers) => layers.into_iter().next(),
            Found::Nothing | Found::File(..) | Found::Outside(_) => None,
        })
    }

    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError> {
        let number = self.number();
        let plan = RoomPlan {
            builder: &self.builder,
            root: &self.root,
            own: &self.own.0,
            folder: &self.folder,
            number,
        };
        let room = plan.room(&inside, &self.stacks())?;
        self.builder.starter.wrap(&self.own.0, number, Some(room), inside)
    }

    fn not_started(&self, leader: u32) -> Option<NotStarted> {
        self.builder.starter.not_started(&self.own.0, leader)
    }

    fn usage(&self) -> Usage {
        Starter::usage(&self.own.0)
    }

    fn over_memory(&self, leader: u32) -> bool {
        Starter::told(&self.own.0, leader).is_some_and(|told| told.over_memory)
    }

    fn remains(&self) -> Option<Remains> {
        let text = |layer: std::path::PathBuf| layer.into_os_string().into_string().ok();
        let (view, _) = self.view();
        let layers = view
            .stacks
            .into_iter()
            .map(|(dir, layers)| Some((dir, layers.into_iter().map(text).collect::<Option<Vec<_>>>()?)));
        Some(Remains {
            root: self.root.to_string(),
            work: self.own.0.join("work").to_string(),
            linked: self.linked.clone(),
            layers: layers.collect::<Option<_>>()?,
        })
    }

    fn fork(&self, name: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
        let own = Arc::new(lay_out(&self.folder, name, &self.own.1)?);
        let mut stacks = Vec::new();
        for stack in self.stacks().iter_mut() {
            let theirs = u32::try_from(stacks.len()).unwrap_or(u32::MAX);
            stacks.push(stack.fork(&self.own, &own, (self.number(), theirs))?);
        }
        let first_free = u32::try_from(stacks.len()).unwrap_or(u32::MAX);
        Ok(Box::new(Self {
            builder: Arc::clone(&self.builder),
            root: self.root.clone(),
            folder: self.folder.clone(),
            own,
            linked: self.linked.clone(),
            stacks: Mutex::new(stacks),
            numbers: AtomicU32::new(first_free),
        }))
    }
}

/// Makes the folders of a sandbox; a name is used once.
fn lay_out(folder: &AbsPath, name: &str, stop: &Stop) -> Result<Owned, SandboxError> {
    fs::create_dir_all(folder).map_err(failed(format!("cannot make {folder}")))?;
    let own = real(folder.as_str()).unwrap_or_else(|| folder.clone()).join(name);
    fs::create_dir(&own).map_err(failed(format!("cannot make the sandbox {own}")))?;
    let own = Owned(own, stop.clone());
    let work = own.0.join("work");
    fs::create_dir(&work).map_err(failed(format!("cannot make {work}")))?;
    Starter::prepare(&own.0)?;
    Ok(own)
}

/// The place of a file to write, links of its folders followed.
fn placed(view: &View<'_>, path: &RepoPath) -> Result<RepoPath, SandboxError> {
    let refuse = |why: &str| {
        failed(format!("cannot write {path} in the sandbox"))(std::io::Error::other(why.to_owned()))
    };
    let mut missing = vec![path.file_name().to_owned()];
    let mut dir = path.dir();
    loop {
        match view.find(&dir) {
            Found::Folder(at, _) => {
                missing.reverse();
                return at.join(missing.join("/")).map_err(|error| refuse(&error.to_string()));
            }
            Found::File(at, _) => return Err(refuse(&format!("{at} is not a folder"))),
            Found::Outside(_) => return Err(refuse("a link leads out of the sandbox")),
            Found::Nothing => {
                missing.push(dir.as_path().file_name().unwrap_or_default().to_owned());
                dir = dir.parent().ok_or_else(|| refuse("the repository is gone"))?;
            }
        }
    }
}

fn gone(root: &AbsPath) -> SandboxError {
    failed(format!("cannot open {root}"))(std::io::Error::from(std::io::ErrorKind::NotFound))
}
