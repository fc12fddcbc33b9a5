//! The copied sandbox: a copy of the repository's files in a scratch folder, dependency folders linked.
//!
//! In: a [`Request`]. Out: [`CopiedSandbox`]. I/O: reads the user's tree, writes the scratch folder.
//!
//! The copy has no `.git`: a build that asks git for a version (`git describe` in a build script) fails here as it does
//! in a source archive, and its baseline is red with git's own words.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use fs_err as fs;
use polymut_adapters::WorkPath;
use polymut_schemas::{ContainmentReached, Guarantee, IsolationLevel, Reached, RepoDir, RepoPath};

use super::copier::{Copier, make_link};
use super::host::{self, failed};
use super::{Launch, Request, Sandbox, SandboxError, SandboxFile, SourceBytes, SourceEntry, SourceKind};
use super::{dependencies, links, space};
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
}

impl CopiedSandbox {
    /// Copies the new side. `reached` is what the processes of this sandbox get.
    pub fn create(request: &Request<'_>, reached: ContainmentReached) -> Result<Self, SandboxError> {
        let copier = Copier::new();
        // The folder is named after the repository: build tools take project names from it.
        let base = request.root.as_path().file_name().unwrap_or("repository");
        let mut sandbox = Self::lay_out(request.folder, request.name, base, reached)?;
        space::check(request, &copier)?;
        for entry in request.entries {
            sandbox.put(entry, request, &copier)?;
        }
        sandbox.linked = dependencies::link_all(request, &sandbox.tree)?;
        Ok(sandbox)
    }

    /// Makes the empty folders of a sandbox; a name is used once.
    fn lay_out(
        folder: &AbsPath,
        name: &str,
        base: &str,
        reached: ContainmentReached,
    ) -> Result<Self, SandboxError> {
        let own = folder.join(name);
        let (tree, work) = (own.join("repo").join(base), own.join("work"));
        fs::create_dir_all(folder).map_err(failed(format!("cannot make {folder}")))?;
        fs::create_dir(&own).map_err(failed(format!("cannot make the sandbox {own}")))?;
        let sandbox = Self { folder: folder.clone(), own, tree, work, linked: BTreeSet::new(), reached };
        for dir in [&sandbox.tree, &sandbox.work] {
            fs::create_dir_all(dir).map_err(failed(format!("cannot make {dir}")))?;
        }
        Ok(sandbox)
    }

    fn put(&self, entry: &SourceEntry, request: &Request<'_>, copier: &Copier) -> Result<(), SandboxError> {
        let path = &entry.path;
        let what = || format!("cannot put {path} into the sandbox");
        let (from, to) = (request.root.file(path), self.tree.file(path));
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(failed(what()))?;
        }
        match (entry.kind, entry.at) {
            (SourceKind::Submodule, _) => self.put_submodule(path, request, copier),
            (SourceKind::Symlink, at) => {
                let target = match at {
                    SourceBytes::Disk => link_target(&from)?,
                    SourceBytes::Blob => text((request.blobs)(path).map_err(failed(what()))?, path)?,
                };
                let target =
                    links::retarget(path.as_path(), &target, request.root.as_path(), self.tree.as_path());
                make_link(target.as_std_path(), to.as_std_path()).map_err(failed(what()))
            }
            (SourceKind::File | SourceKind::Executable, SourceBytes::Disk) => {
                copier.file(from.as_std_path(), to.as_std_path())
            }
            (SourceKind::File, SourceBytes::Blob) => self.put_blob(path, request),
            (SourceKind::Executable, SourceBytes::Blob) => {
                self.put_blob(path, request)?;
                make_executable(&to).map_err(failed(what()))
            }
        }
    }

    fn put_blob(&self, path: &RepoPath, request: &Request<'_>) -> Result<(), SandboxError> {
        let bytes = (request.blobs)(path).map_err(failed(format!("cannot read {path} from git")))?;
        fs::write(self.tree.file(path), bytes).map_err(failed(format!("cannot put {path} into the sandbox")))
    }

    /// Copies what is checked out in a submodule's folder; git's own files stay away.
    fn put_submodule(
        &self,
        path: &RepoPath,
        request: &Request<'_>,
        copier: &Copier,
    ) -> Result<(), SandboxError> {
        let (from, to) = (request.root.file(path), self.tree.file(path));
        if !from.as_std_path().is_dir() {
            return fs::create_dir_all(&to).map_err(failed(format!("cannot make {to}")));
        }
        let roots = (request.root.as_path(), self.tree.as_path());
        copier.tree(from.as_path(), to.as_path(), roots, &|dir| dir.as_path().file_name() == Some(".git"))?;
        // In a submodule `.git` is a file that names a folder of the user's repository.
        let pointer = to.join(".git");
        match fs::remove_file(&pointer) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(format!("cannot remove {pointer}"))(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
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

    fn launch(&self, inside: Launch) -> Result<Launch, SandboxError> {
        Ok(inside)
    }

    fn fork(&self, name: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
        let base = self.tree.as_path().file_name().unwrap_or("repository");
        let mut fork = Self::lay_out(&self.folder, name, base, self.reached.clone())?;
        let roots = (self.tree.as_path(), fork.tree.as_path());
        Copier::new().tree(roots.0, roots.1, roots, &|_| false)?;
        fork.linked.clone_from(&self.linked);
        Ok(Box::new(fork))
    }
}

impl Drop for CopiedSandbox {
    fn drop(&mut self) {
        if let Err(error) = host::remove_tree(self.own.as_path()) {
            tracing::warn!(folder = %self.own, %error, "a sandbox could not be removed");
        }
    }
}

fn link_target(link: &AbsPath) -> Result<String, SandboxError> {
    let target = fs::read_link(link).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            SandboxError::Vanished { path: link.to_string() }
        } else {
            failed(format!("cannot read the link {link}"))(error)
        }
    })?;
    let lossy = target.to_string_lossy().into_owned();
    target.to_str().map(str::to_owned).ok_or_else(|| not_utf8(&lossy))
}

fn text(bytes: Vec<u8>, path: &RepoPath) -> Result<String, SandboxError> {
    String::from_utf8(bytes).map_err(|_| not_utf8(path.as_str()))
}

fn not_utf8(name: &str) -> SandboxError {
    failed(format!("cannot copy the link {name}"))(io::Error::other("its target is not UTF-8"))
}

#[cfg(unix)]
fn make_executable(path: &AbsPath) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)?.permissions().mode();
    // As git does: who may read may run.
    fs::set_permissions(path, std::fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2)))
}

#[cfg(not(unix))]
fn make_executable(_path: &AbsPath) -> io::Result<()> {
    Ok(())
}
