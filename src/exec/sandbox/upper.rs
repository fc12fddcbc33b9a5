//! Writes into the upper layer of a stack from outside, the way an overlay would.
//!
//! In: an upper folder, a view. Out: changed layers. I/O: writes the upper layer only.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use fs_err as fs;
use nix::sys::stat::{Mode, SFlag, mknod};

use super::SandboxError;
use super::copier::{Copier, make_link};
use super::host::failed;
use super::layers::{is_opaque, is_whiteout, make_opaque};
use crate::exec::Stop;

/// Writes a file into `upper` at `path`, which is relative to it. `seen` gives the lower folders of a path, so that a
/// folder made here looks like the one it covers.
pub(super) fn write(
    upper: &Path,
    path: &Utf8Path,
    bytes: &[u8],
    seen: &dyn Fn(&Utf8Path) -> Option<PathBuf>,
) -> Result<(), SandboxError> {
    put(upper, path, bytes, seen).map_err(failed(format!("cannot write {path} in the sandbox")))
}

fn put(
    upper: &Path,
    path: &Utf8Path,
    bytes: &[u8],
    seen: &dyn Fn(&Utf8Path) -> Option<PathBuf>,
) -> io::Result<()> {
    let mut folder = upper.to_path_buf();
    let mut at = Utf8Path::new("").to_path_buf();
    for part in path.parent().into_iter().flat_map(Utf8Path::components) {
        at.push(part.as_str());
        folder.push(part.as_str());
        enter(&folder, seen(&at).as_deref())?;
    }
    let target = upper.join(path.as_std_path());
    match fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_dir() => return Err(io::Error::other("there is a folder of this name")),
        Ok(_) => fs::remove_file(&target)?,
        Err(_) => {}
    }
    fs::OpenOptions::new().write(true).create_new(true).open(&target)?.write_all(bytes)
}

/// Makes a folder of the upper layer unless it is there. One that was removed inside comes back empty.
fn enter(folder: &Path, like: Option<&Path>) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(meta) if is_whiteout(&meta) => {
            fs::remove_file(folder)?;
            fs::create_dir(folder)?;
            return make_opaque(folder);
        }
        Ok(_) => return Err(io::Error::other(format!("{} is not a folder", folder.display()))),
        Err(_) => {}
    }
    fs::create_dir(folder)?;
    match like {
        Some(like) => fs::set_permissions(folder, fs::metadata(like)?.permissions()),
        None => Ok(()),
    }
}

/// Copies a whole upper layer with its marks; for a stack that cannot be stacked on, because the scratch folder lies
/// below it.
pub(super) fn copy(from: &Path, to: &Path, stop: &Stop) -> Result<(), SandboxError> {
    copy_folder(&Copier::new(stop), from, to)
}

fn copy_folder(copier: &Copier, from: &Path, to: &Path) -> Result<(), SandboxError> {
    let what = || format!("cannot copy the layer {}", from.display());
    for entry in fs::read_dir(from).map_err(failed(what()))? {
        let entry = entry.map_err(failed(what()))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let meta = fs::symlink_metadata(&from).map_err(failed(what()))?;
        if meta.is_dir() {
            fs::create_dir(&to).map_err(failed(what()))?;
            copy_folder(copier, &from, &to)?;
            if is_opaque(&from) {
                make_opaque(&to).map_err(failed(what()))?;
            }
            fs::set_permissions(&to, meta.permissions()).map_err(failed(what()))?;
        } else if meta.is_symlink() {
            let target = fs::read_link(&from).map_err(failed(what()))?;
            make_link(&target, &to).map_err(failed(what()))?;
        } else if is_whiteout(&meta) {
            mknod(&to, SFlag::S_IFCHR, Mode::empty(), 0).map_err(|error| failed(what())(error.into()))?;
        } else if meta.is_file() {
            copier.file(&from, &to)?;
        }
    }
    Ok(())
}

/// Whether a layer has nothing.
pub(super) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
