//! The copied sandbox: a copy of the repository's files in a scratch folder, dependency folders linked.
//!
//! In: a [`Request`]. Out: [`CopiedSandbox`]. I/O: reads the user's tree, writes the scratch folder.
//!
//! The copy has no `.git`: a build that asks git for a version (`git describe` in a build script) fails here as it does
//! in a source archive, and its baseline is red with git's own words.

use fs_err as fs;
use polymut_adapters::WorkPath;
use polymut_schemas::{ContainmentReached, Guarantee, IsolationLevel, Reached, RepoDir, RepoPath};
use std::collections::{BTreeMap, BTreeSet};

use super::copier::Copier;
use super::fill::Fill;
use super::host::{self, failed};
use super::{Launch, Request, Sandbox, SandboxError, SandboxFile, dependencies};
#[cfg(target_os = "linux")]
use super::{NotStarted, Remains, Starter, Usage};
use crate::exec::Stop;
use crate::paths::AbsPath;

/// What this level holds by itself: nothing that a program could not get around. Whoever adds a watchdog or a sweep
/// of descendants says so in the answer.
pub fn copied_level() -> ContainmentReached {
    let not = |by: &str| Reached { held: false, by: by.to_owned() };
    ContainmentReached {
        level: IsolationLevel::Copied,
        guarantees: BTreeMap::from([
            (Guarantee::Memory, not("nothing")),
            (Guarantee::Network, not("nothing")),
            (Guarantee::Files, not("copy: relative paths are caught, absolute ones are not")),
            (Guarantee::Tree, not("process group")),
        ]),
    }
}

/// A copy of the repository's files.
#[derive(Debug)]
pub struct CopiedSandbox {
    /// Holds this sandbox and its forks.
    folder: AbsPath,
    /// `folder/name`: all that this sandbox owns.
    own: AbsPath,
    tree: AbsPath,
    work: AbsPath,
    linked: BTreeSet<RepoDir>,
    reached: ContainmentReached,
    stop: Stop,
    #[cfg(target_os = "linux")]
    starter: Option<Starter>,
    #[cfg(target_os = "linux")]
    numbers: std::sync::atomic::AtomicU32,
}

impl CopiedSandbox {
    /// Copies the new side. `reached` is what the processes of this sandbox get.
    pub fn create(request: &Request<'_>, reached: ContainmentReached) -> Result<Self, SandboxError> {
        // The folder is named after the repository: build tools take project names from it.
        let base = request.root.as_path().file_name().unwrap_or("repository");
        let mut sandbox = Self::lay_out(request.folder, request.name, base, (reached, request.stop))?;
        Fill { request, tree: &sandbox.tree, seen: &sandbox.tree }.all()?;
        sandbox.linked = dependencies::link_all(request, &sandbox.tree)?;
        Ok(sandbox)
    }

    /// Puts a keeper around every process of the sandbox: it holds a memory ceiling and ends them with polymut.
    #[cfg(target_os = "linux")]
    pub fn kept_by(mut self, starter: Starter) -> Result<Self, SandboxError> {
        Starter::prepare(&self.own)?;
        self.starter = Some(starter);
        Ok(self)
    }

    /// Makes the empty folders of a sandbox; a name is used once.
    fn lay_out(
        folder: &AbsPath,
        name: &str,
        base: &str,
        (reached, stop): (ContainmentReached, &Stop),
    ) -> Result<Self, SandboxError> {
        let own = folder.join(name);
        let (tree, work) = (own.join("repo").join(base), own.join("work"));
        fs::create_dir_all(folder).map_err(failed(format!("cannot make {folder}")))?;
        fs::create_dir(&own).map_err(failed(format!("cannot make the sandbox {own}")))?;
        let sandbox = Self {
            folder: folder.clone(),
            own,
            tree,
            work,
            linked: BTreeSet::new(),
            reached,
            stop: stop.clone(),
            #[cfg(target_os = "linux")]
            starter: None,
            #[cfg(target_os = "linux")]
            numbers: std::sync::atomic::AtomicU32::new(0),
        };
        for dir in [&sandbox.tree, &sandbox.work] {
            fs::create_dir_all(dir).map_err(failed(format!("cannot make {dir}")))?;
        }
        Ok(sandbox)
    }
}

impl Sandbox for CopiedSandbox {
    fn reached(&self) -> &ContainmentReached {
        &self.reached
    }

    fn seen(&self, path: &RepoDir) -> AbsPath {
        self.tree.at(path)
    }

    fn work(&self, path: &WorkPath) -> AbsPath {
        self.work.join(path.as_str())
    }

    fn exists(&self, path: &RepoDir) -> bool {
        fs::metadata(self.tree.at(path)).is_ok()
    }

    fn files(&self, under: &RepoDir) -> Result<Vec<SandboxFile>, SandboxError> {
        host::list(&self.tree, under, &self.linked)
    }

    fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError> {
        host::read_regular(self.tree.file(path).as_path())
    }

    fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), SandboxError> {
        host::write_inside(self.tree.as_path(), path, bytes)
    }

    #[cfg(target_os = "linux")]
    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError> {
        let Some(starter) = &self.starter else { return Ok(inside) };
        let number = self.numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        starter.wrap(&self.own, number, None, inside)
    }

    #[cfg(not(target_os = "linux"))]
    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError> {
        Ok(inside)
    }

    #[cfg(target_os = "linux")]
    fn not_started(&self, leader: u32) -> Option<NotStarted> {
        self.starter.as_ref()?.not_started(&self.own, leader)
    }

    #[cfg(target_os = "linux")]
    fn usage(&self) -> Usage {
        Starter::usage(&self.own)
    }

    #[cfg(target_os = "linux")]
    fn over_memory(&self, leader: u32) -> bool {
        Starter::told(&self.own, leader).is_some_and(|told| told.over_memory)
    }

    /// Without a keeper, a tool outlives polymut, and writes on with its output cut off.
    #[cfg(target_os = "linux")]
    fn remains(&self) -> Option<Remains> {
        self.starter.as_ref()?;
        Some(Remains {
            root: self.tree.to_string(),
            work: self.work.to_string(),
            linked: self.linked.clone(),
            layers: BTreeMap::new(),
        })
    }

    fn fork(&self, name: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
        let base = self.tree.as_path().file_name().unwrap_or("repository");
        let mut fork = Self::lay_out(&self.folder, name, base, (self.reached.clone(), &self.stop))?;
        let roots = (self.tree.as_path(), fork.tree.as_path());
        Copier::new(&self.stop).tree(roots.0, roots.1, roots, &|_| false)?;
        fork.linked.clone_from(&self.linked);
        #[cfg(target_os = "linux")]
        if let Some(starter) = &self.starter {
            fork = fork.kept_by(starter.clone())?;
        }
        Ok(Box::new(fork))
    }
}

impl Drop for CopiedSandbox {
    fn drop(&mut self) {
        if self.stop.is_asked() {
            return;
        }
        if let Err(error) = host::remove_tree(self.own.as_path()) {
            tracing::warn!(folder = %self.own, %error, "a sandbox could not be removed");
        }
    }
}
