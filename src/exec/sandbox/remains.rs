//! What is left of a sandbox when its run has died: enough to read files from it, and nothing else.
//!
//! In: a description made while it lived. Out: a [`Sandbox`] that can only be read. I/O: reads what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use polymut_adapters::WorkPath;
use polymut_schemas::{ContainmentReached, RepoDir, RepoPath};
use serde::{Deserialize, Serialize};

use super::copied::copied_level;
use super::host::{self, failed};
#[cfg(target_os = "linux")]
use super::layers::View;
use super::{Launch, Sandbox, SandboxError, SandboxFile};
use crate::paths::AbsPath;

/// Where the files of a sandbox are on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remains {
    /// The repository as it is seen inside; of a copy, the copy.
    pub(super) root: String,
    /// The work folder.
    pub(super) work: String,
    /// Dependency folders, which are not listed.
    pub(super) linked: BTreeSet<RepoDir>,
    /// Folders that make the view, nearest first, by place; none: the root is a plain folder.
    pub(super) layers: BTreeMap<RepoDir, Vec<String>>,
}

impl Remains {
    /// Whether the user's own files show through.
    pub fn shows_the_tree(&self) -> bool {
        !self.layers.is_empty()
    }

    /// A sandbox to read from; `None`: nothing is there any more, or not on this system.
    pub fn open(self) -> Option<Box<dyn Sandbox>> {
        let root = AbsPath::new(self.root).ok()?;
        let work = AbsPath::new(self.work).ok().filter(|work| work.as_path().is_dir())?;
        let dead = Dead { reached: copied_level(), root, work, linked: self.linked, layers: self.layers };
        (cfg!(target_os = "linux") || dead.layers.is_empty()).then(|| Box::new(dead) as Box<dyn Sandbox>)
    }
}

struct Dead {
    reached: ContainmentReached,
    root: AbsPath,
    work: AbsPath,
    linked: BTreeSet<RepoDir>,
    layers: BTreeMap<RepoDir, Vec<String>>,
}

#[cfg(target_os = "linux")]
impl Dead {
    fn view(&self) -> Option<View<'_>> {
        let paths = |layers: &Vec<String>| layers.iter().map(std::path::PathBuf::from).collect();
        let stacks: BTreeMap<_, _> =
            self.layers.iter().map(|(dir, layers)| (dir.clone(), paths(layers))).collect();
        (!stacks.is_empty()).then_some(View { root: &self.root, stacks })
    }
}

fn dead() -> SandboxError {
    failed("cannot use a sandbox of a dead run")(io::Error::from(io::ErrorKind::Unsupported))
}

impl Sandbox for Dead {
    fn reached(&self) -> &ContainmentReached {
        &self.reached
    }

    fn seen(&self, path: &RepoDir) -> AbsPath {
        self.root.at(path)
    }

    fn work(&self, path: &WorkPath) -> AbsPath {
        self.work.join(path.as_str())
    }

    fn exists(&self, _path: &RepoDir) -> bool {
        false
    }

    fn files(&self, under: &RepoDir) -> Result<Vec<SandboxFile>, SandboxError> {
        #[cfg(target_os = "linux")]
        if let Some(view) = self.view() {
            return Ok(view.files(under, &self.linked));
        }
        host::list(&self.root, under, &self.linked)
    }

    fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError> {
        #[cfg(target_os = "linux")]
        if let Some(view) = self.view() {
            return view.read(path);
        }
        host::read_regular(self.root.file(path).as_path())
    }

    fn write(&self, _path: &RepoPath, _bytes: &[u8]) -> Result<(), SandboxError> {
        Err(dead())
    }

    fn launch(&self, _inside: Launch) -> Result<Launch, SandboxError> {
        Err(dead())
    }

    fn fork(&self, _name: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
        Err(dead())
    }
}
