//! How much room a disk has.
//!
//! In: a folder. Out: free bytes. I/O: asks the file system.

use super::ExecError;
use crate::paths::AbsPath;

/// Below this much room tests fail for want of disk, and such a failure must not count as a killed mutant.
const LEAST: u64 = 32 << 20;

/// Bytes that polymut may still write in `folder`; `None` where that cannot be asked.
#[cfg(unix)]
pub(super) fn free(folder: &AbsPath) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder.as_std_path()).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes that polymut may still write in `folder`; `None` where that cannot be asked.
#[cfg(not(unix))]
pub(super) fn free(_folder: &AbsPath) -> Option<u64> {
    None
}

/// Whether the disk of `folder` is so full that what runs there cannot be believed.
pub(super) fn is_nearly_full(folder: &AbsPath) -> bool {
    free(folder).is_some_and(|free| free < LEAST)
}

/// Refuses to begin with less than `needed` bytes of room in `folder`.
pub fn require(folder: &AbsPath, needed: u64) -> Result<(), ExecError> {
    match free(folder) {
        Some(free) if free < needed.max(LEAST) => {
            Err(ExecError::NoSpace { folder: folder.to_string(), free: Some(free) })
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_disk_has_is_refused_with_the_folders_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = AbsPath::new(dir.path().to_str().unwrap()).unwrap();
        assert!(require(&folder, 0).is_ok(), "the tests need some room");
        let error = require(&folder, u64::MAX).unwrap_err();
        assert!(error.to_string().contains(folder.as_str()), "{error}");
        assert!(error.hint().unwrap().contains("POLYMUT_STATE"));
    }
}
