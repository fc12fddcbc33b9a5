//! Whether a scratch folder has room for a copy, asked before the first byte is written.
//!
//! In: a [`Request`]. Out: nothing, or [`SandboxError::NoSpace`]. I/O: reads sizes and free space.

use fs_err as fs;

use super::copier::Copier;
use super::host::failed;
use super::{Request, SandboxError, SourceBytes, SourceKind};
use crate::paths::AbsPath;

/// Room that has to be left for build outputs and logs.
const MARGIN: u64 = 64 * 1024 * 1024;

/// Fails when the files of the request do not fit, unless the file system shares their blocks.
pub(super) fn check(request: &Request<'_>, copier: &Copier) -> Result<(), SandboxError> {
    let needed = if shares_blocks(request, copier)? { MARGIN } else { total(request) + MARGIN };
    match free(request.folder)? {
        Some(free) if free < needed => {
            Err(SandboxError::NoSpace { folder: request.folder.to_string(), free, needed })
        }
        Some(_) | None => Ok(()),
    }
}

/// Fails when there is no room for build outputs and logs.
#[cfg(target_os = "linux")]
pub(super) fn check_margin(folder: &AbsPath) -> Result<(), SandboxError> {
    match free(folder)? {
        Some(free) if free < MARGIN => {
            Err(SandboxError::NoSpace { folder: folder.to_string(), free, needed: MARGIN })
        }
        Some(_) | None => Ok(()),
    }
}

/// Free bytes of the file system that holds `folder`; `None` where the system does not say.
#[cfg(unix)]
pub(super) fn free(folder: &AbsPath) -> Result<Option<u64>, SandboxError> {
    let stat = nix::sys::statvfs::statvfs(folder.as_std_path())
        .map_err(|error| failed(format!("cannot ask for the free space of {folder}"))(error.into()))?;
    Ok(Some(stat.blocks_available() * stat.fragment_size()))
}

/// Free bytes of the file system that holds `folder`; `None` where the system does not say.
#[cfg(not(unix))]
pub(super) fn free(_folder: &AbsPath) -> Result<Option<u64>, SandboxError> {
    Ok(None)
}

/// Tries a copy of the first file on disk.
fn shares_blocks(request: &Request<'_>, copier: &Copier) -> Result<bool, SandboxError> {
    let first = request.entries.iter().find(|entry| {
        entry.at == SourceBytes::Disk
            && matches!(entry.kind, SourceKind::File | SourceKind::Executable)
            && size(request.root, entry.path.as_str()) > 0
    });
    let Some(first) = first else { return Ok(false) };
    let trial = request.folder.join(format!(".{}-reflink", request.name));
    let tried = copier.file(request.root.file(&first.path).as_std_path(), trial.as_std_path());
    let _ = fs::remove_file(&trial);
    tried.map(|()| copier.shares_blocks())
}

/// Bytes of the entries on disk; blobs are compressed in git and not counted.
fn total(request: &Request<'_>) -> u64 {
    request.entries.iter().map(|entry| size(request.root, entry.path.as_str())).sum()
}

fn size(root: &AbsPath, path: &str) -> u64 {
    fs::symlink_metadata(root.join(path)).map_or(0, |meta| meta.len())
}
