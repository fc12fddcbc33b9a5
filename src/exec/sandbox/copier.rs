//! Copies files and folders so that build tools take them for the originals: same bytes, mode and time.
//!
//! In: paths. Out: copies; reflinks where the file system can. I/O: reads anywhere, writes below the target.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use fs_err as fs;
use polymut_schemas::RepoDir;

use super::host::failed;
use super::{SandboxError, links};
use crate::exec::Stop;

/// Copies; remembers whether the file system shares blocks.
#[derive(Debug)]
pub(super) struct Copier {
    reflink: AtomicBool,
    stop: Stop,
}

impl Copier {
    /// A copier that tries to share blocks until the file system says no.
    pub(super) fn new(stop: &Stop) -> Self {
        Self { reflink: AtomicBool::new(cfg!(target_os = "linux")), stop: stop.clone() }
    }

    /// Copies one regular file. The target must not exist.
    pub(super) fn file(&self, from: &Path, to: &Path) -> Result<(), SandboxError> {
        if self.stop.is_asked() {
            return Err(SandboxError::Stopped);
        }
        self.copy(from, to).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(from).is_err() {
                SandboxError::Vanished { path: from.display().to_string() }
            } else {
                failed(format!("cannot copy {}", from.display()))(error)
            }
        })
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let source = fs::File::open(from)?;
        let meta = source.metadata()?;
        let target = fs::OpenOptions::new().write(true).create_new(true).open(to)?;
        if !self.share_blocks(&source, &target) {
            io::copy(&mut &source, &mut &target)?;
        }
        target.set_permissions(meta.permissions())?;
        target.file().set_times(times_of(&meta)?)
    }

    /// Lets both files share their blocks; whether that worked.
    #[cfg(target_os = "linux")]
    fn share_blocks(&self, source: &fs::File, target: &fs::File) -> bool {
        if !self.reflink.load(Ordering::Relaxed) {
            return false;
        }
        let shared = rustix::fs::ioctl_ficlone(target.file(), source.file()).is_ok();
        if !shared {
            self.reflink.store(false, Ordering::Relaxed);
        }
        shared
    }

    #[cfg(not(target_os = "linux"))]
    fn share_blocks(&self, _source: &fs::File, _target: &fs::File) -> bool {
        self.reflink.load(Ordering::Relaxed)
    }

    /// Whether blocks are still shared, as far as was seen.
    pub(super) fn shares_blocks(&self) -> bool {
        self.reflink.load(Ordering::Relaxed)
    }

    /// Copies everything below `from` to the new folder `to`, except folders for which `skip` says so (given relative
    /// to `from`). Links get the target that means the same below `roots.1` as it did below `roots.0`.
    pub(super) fn tree(
        &self,
        from: &Utf8Path,
        to: &Utf8Path,
        roots: (&Utf8Path, &Utf8Path),
        skip: &dyn Fn(&RepoDir) -> bool,
    ) -> Result<(), SandboxError> {
        let mut walk = Walk { copier: self, roots, skip, hard: BTreeMap::new() };
        walk.folder(from.as_std_path(), to.as_std_path(), Some(&RepoDir::root()))
    }
}

/// One recursive copy.
struct Walk<'a> {
    copier: &'a Copier,
    roots: (&'a Utf8Path, &'a Utf8Path),
    skip: &'a dyn Fn(&RepoDir) -> bool,
    /// Where a file with several names was copied to first: Cargo links its outputs.
    hard: BTreeMap<(u64, u64), PathBuf>,
}

impl Walk<'_> {
    /// `dir` is the folder relative to the start; `None` below a name that is not UTF-8.
    fn folder(&mut self, from: &Path, to: &Path, dir: Option<&RepoDir>) -> Result<(), SandboxError> {
        let what = || format!("cannot copy the folder {}", from.display());
        let meta = fs::symlink_metadata(from).map_err(failed(what()))?;
        fs::create_dir_all(to).map_err(failed(what()))?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(from).map_err(failed(what()))? {
            let entry = entry.map_err(failed(what()))?;
            entries.push((entry.file_name(), entry.file_type().map_err(failed(what()))?));
        }
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, kind) in entries {
            let (from, to) = (from.join(&name), to.join(&name));
            if kind.is_symlink() {
                self.link(&from, &to)?;
            } else if kind.is_dir() {
                let below = dir.and_then(|dir| dir.resolve(name.to_str()?).ok());
                if !below.as_ref().is_some_and(self.skip) {
                    self.folder(&from, &to, below.as_ref())?;
                }
            } else if kind.is_file() {
                self.file(&from, &to)?;
            }
        }
        keep_folder_meta(&meta, to).map_err(failed(what()))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<(), SandboxError> {
        let what = || format!("cannot copy the link {}", from.display());
        let target = fs::read_link(from).map_err(failed(what()))?;
        let at = from.strip_prefix(self.roots.0).unwrap_or(from);
        let target = match (Utf8Path::from_path(at), target.to_str()) {
            (Some(at), Some(target)) => {
                links::retarget(at, target, self.roots.0, self.roots.1).into_std_path_buf()
            }
            (None, _) | (_, None) => target,
        };
        make_link(&target, to).map_err(failed(what()))
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<(), SandboxError> {
        let Some(inode) = several_names(from) else { return self.copier.file(from, to) };
        if let Some(first) = self.hard.get(&inode) {
            return fs::hard_link(first, to).map_err(failed(format!("cannot copy {}", from.display())));
        }
        self.copier.file(from, to)?;
        self.hard.insert(inode, to.to_path_buf());
        Ok(())
    }
}

/// Device and inode of a file that has more than one name.
#[cfg(unix)]
fn several_names(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::symlink_metadata(path).ok()?;
    (meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn several_names(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Mode and time of a folder, set after its content was written. Cargo's `rerun-if-changed` reads both.
fn keep_folder_meta(meta: &std::fs::Metadata, to: &Path) -> io::Result<()> {
    let folder = fs::File::open(to)?;
    folder.file().set_times(times_of(meta)?)?;
    folder.set_permissions(meta.permissions())
}

fn times_of(meta: &std::fs::Metadata) -> io::Result<std::fs::FileTimes> {
    let modified = meta.modified()?;
    Ok(std::fs::FileTimes::new().set_modified(modified).set_accessed(meta.accessed().unwrap_or(modified)))
}

/// Makes a symbolic link.
#[cfg(unix)]
pub(super) fn make_link(target: &Path, at: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, at)
}

/// Makes a symbolic link; Windows wants to know whether it is one to a folder.
#[cfg(windows)]
pub(super) fn make_link(target: &Path, at: &Path) -> io::Result<()> {
    let meant = at.parent().map_or_else(|| target.to_path_buf(), |folder| folder.join(target));
    if meant.is_dir() {
        fs_err::os::windows::fs::symlink_dir(target, at)
    } else {
        fs_err::os::windows::fs::symlink_file(target, at)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_copied_tree_keeps_modes_times_links_and_shared_names() {
        let temp = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(temp.path()).unwrap();
        let (from, to) = (base.join("from"), base.join("to"));
        fs::create_dir_all(from.join("target/deps")).unwrap();
        fs::write(from.join("target/deps/app"), "binary").unwrap();
        fs::set_permissions(from.join("target/deps/app"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::OpenOptions::new()
            .write(true)
            .open(from.join("target/deps/app"))
            .unwrap()
            .file()
            .set_modified(old)
            .unwrap();
        fs::hard_link(from.join("target/deps/app"), from.join("target/app")).unwrap();
        make_link(from.join("target").as_ref(), from.join("out").as_ref()).unwrap();
        fs::File::open(from.join("target/deps")).unwrap().file().set_modified(old).unwrap();

        Copier::new(&Stop::new()).tree(&from, &to, (&from, &to), &|_| false).unwrap();

        let copied = fs::metadata(to.join("target/deps/app")).unwrap();
        assert_eq!(copied.mode() & 0o777, 0o755);
        assert_eq!(copied.modified().unwrap(), old);
        assert_eq!(fs::metadata(to.join("target/deps")).unwrap().modified().unwrap(), old);
        assert_eq!(copied.ino(), fs::metadata(to.join("target/app")).unwrap().ino());
        assert_ne!(copied.ino(), fs::metadata(from.join("target/app")).unwrap().ino());
        assert_eq!(fs::read_link(to.join("out")).unwrap(), to.join("target"));
    }

    #[test]
    fn a_file_that_vanished_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(temp.path()).unwrap();
        let ended = Copier::new(&Stop::new()).file(base.join("gone").as_ref(), base.join("copy").as_ref());
        assert!(matches!(ended, Err(SandboxError::Vanished { path }) if path.ends_with("gone")));
    }
}
