//! The one place that writes reports: the old file or the whole new one, never half of it.
//!
//! In: a path and bytes. Out: a file. I/O: writes it, by way of a temporary file in the same folder.

use std::io::{self, Write as _};
use std::path::Path;

use camino::Utf8Path;

/// A report cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be written")]
pub struct WriteError {
    /// The file.
    pub path: String,
    /// The file system's words.
    #[source]
    pub source: io::Error,
}

impl WriteError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self.source.kind() {
            io::ErrorKind::StorageFull => Some(format!("free some room on the disk of {}", self.path)),
            io::ErrorKind::IsADirectory => Some("name a file, not a folder".to_owned()),
            io::ErrorKind::PermissionDenied => Some("choose a folder that you may write to".to_owned()),
            _ => None,
        }
    }
}

/// Writes `bytes` to `path`, with the folders that are missing. A reader sees the old file or the new one. A link is
/// followed; a device or pipe is written to, not replaced.
pub fn write_atomic(path: &Utf8Path, bytes: &[u8]) -> Result<(), WriteError> {
    write(path.as_std_path(), bytes).map_err(|source| WriteError { path: path.to_string(), source })
}

/// Whether a report could be written to `path`, before anybody works for it. Leaves nothing behind.
pub fn check_writable(path: &Utf8Path) -> Result<(), WriteError> {
    check(path.as_std_path()).map_err(|source| WriteError { path: path.to_string(), source })
}

fn check(path: &Path) -> io::Result<()> {
    let target = if path.is_symlink() { fs_err::canonicalize(path)? } else { path.to_path_buf() };
    match fs_err::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(_) | Err(_) => {}
    }
    let above = target.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".polymut-").tempfile_in(above).map(drop)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = if path.is_symlink() { fs_err::canonicalize(path)? } else { path.to_path_buf() };
    match fs_err::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let mut open = fs_err::OpenOptions::new().write(true).open(&target)?;
            return open.write_all(bytes);
        }
        Ok(_) | Err(_) => {}
    }
    let folder = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".polymut-");
    shared(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// A report is for others to read: the usual mode less the umask, not that of a private temporary file.
#[cfg(unix)]
fn shared(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn shared(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().to_path_buf()).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_stays_behind() {
        let (_keep, folder) = folder();
        let file = folder.join("out/report.json");
        write_atomic(&file, b"a long first text").unwrap();
        write_atomic(&file, b"new").unwrap();
        assert_eq!(fs_err::read(&file).unwrap(), b"new");
        assert_eq!(fs_err::read_dir(folder.join("out")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_with_a_remedy() {
        let (_keep, folder) = folder();
        let error = write_atomic(&folder, b"x").unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("name a file, not a folder"));
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let (_keep, folder) = folder();
        fs_err::write(folder.join("file"), "x").unwrap();
        assert!(check_writable(&folder).is_err());
        assert!(check_writable(&folder.join("file/report.json")).is_err());
        check_writable(&folder.join("new/folder/report.json")).unwrap();
        check_writable(&folder.join("file")).unwrap();
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(fs_err::read(folder.join("file")).unwrap(), b"x");
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_the_file_as_the_umask_says() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_keep, folder) = folder();
        fs_err::write(folder.join("plain"), "x").unwrap();
        write_atomic(&folder.join("report"), b"x").unwrap();
        let mode = |name: &str| fs_err::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode("report"), mode("plain"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_device_is_not_replaced() {
        let (_keep, folder) = folder();
        fs_err::write(folder.join("real"), "old").unwrap();
        fs_err::os::unix::fs::symlink(folder.join("real"), folder.join("link")).unwrap();
        write_atomic(&folder.join("link"), b"new").unwrap();
        assert!(folder.join("link").as_std_path().is_symlink());
        assert_eq!(fs_err::read(folder.join("real")).unwrap(), b"new");
        write_atomic(Utf8Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs_err::metadata("/dev/null").unwrap().is_file());
    }
}
