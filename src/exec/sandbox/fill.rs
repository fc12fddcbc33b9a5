//! Puts the new side's files into a folder: same bytes, modes and times, links with their meaning.
//!
//! In: a [`Request`]. Out: a filled folder. I/O: reads the user's tree, writes the folder.

use std::io;

use fs_err as fs;
use polymut_schemas::RepoPath;

use super::copier::{Copier, make_link};
use super::host::failed;
use super::{Request, SandboxError, SourceBytes, SourceEntry, SourceKind, links, space};
use crate::paths::AbsPath;

/// Where files are put.
pub(super) struct Fill<'a> {
    /// Which files.
    pub(super) request: &'a Request<'a>,
    /// The folder.
    pub(super) tree: &'a AbsPath,
    /// Where the folder will be seen: what links are adapted to.
    pub(super) seen: &'a AbsPath,
}

impl Fill<'_> {
    /// Puts every entry, when there is room for them.
    pub(super) fn all(&self) -> Result<(), SandboxError> {
        let copier = Copier::new(self.request.stop);
        space::check(self.request, &copier)?;
        self.request.entries.iter().try_for_each(|entry| self.put(entry, &copier))
    }

    fn put(&self, entry: &SourceEntry, copier: &Copier) -> Result<(), SandboxError> {
        let path = &entry.path;
        let what = || format!("cannot put {path} into the sandbox");
        let (from, to) = (self.request.root.file(path), self.tree.file(path));
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(failed(what()))?;
        }
        match (entry.kind, entry.at) {
            (SourceKind::Submodule, _) => self.put_submodule(path, copier),
            (SourceKind::Symlink, at) => {
                let target = match at {
                    SourceBytes::Disk => link_target(&from)?,
                    SourceBytes::Blob => text((self.request.blobs)(path).map_err(failed(what()))?, path)?,
                };
                let target = links::retarget(
                    path.as_path(),
                    &target,
                    self.request.root.as_path(),
                    self.seen.as_path(),
                );
                make_link(target.as_std_path(), to.as_std_path()).map_err(failed(what()))
            }
            (SourceKind::File | SourceKind::Executable, SourceBytes::Disk) => {
                copier.file(from.as_std_path(), to.as_std_path())
            }
            (SourceKind::File, SourceBytes::Blob) => self.put_blob(path),
            (SourceKind::Executable, SourceBytes::Blob) => {
                self.put_blob(path)?;
                make_executable(&to).map_err(failed(what()))
            }
        }
    }

    fn put_blob(&self, path: &RepoPath) -> Result<(), SandboxError> {
        let bytes = (self.request.blobs)(path).map_err(failed(format!("cannot read {path} from git")))?;
        fs::write(self.tree.file(path), bytes).map_err(failed(format!("cannot put {path} into the sandbox")))
    }

    /// Copies what is checked out in a submodule's folder; git's own files stay away.
    fn put_submodule(&self, path: &RepoPath, copier: &Copier) -> Result<(), SandboxError> {
        let (from, to) = (self.request.root.file(path), self.tree.file(path));
        if !from.as_std_path().is_dir() {
            return fs::create_dir_all(&to).map_err(failed(format!("cannot make {to}")));
        }
        let roots = (self.request.root.as_path(), self.seen.as_path());
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
