//! Reading, writing and removing files of a folder that a hostile program has filled.
//!
//! In: paths below a sandbox's folder. Out: bytes, listings. I/O: file system. Links, pipes and devices that a mutant
//! left cannot make a reader hang, and cannot lead a writer out of the folder.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use camino::Utf8Path;
use fs_err as fs;
use polymut_schemas::{RepoDir, RepoPath};

use super::{SandboxError, SandboxFile};
use crate::paths::AbsPath;

/// Wraps an error with what was being done.
pub(crate) fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> SandboxError {
    let what = what.into();
    move |source| SandboxError::Io { what, source }
}

/// The bytes of a regular file; `None` when there is none at `path` (a folder, pipe or device counts as none).
pub(in crate::exec) fn read_regular(path: &Utf8Path) -> Result<Option<Vec<u8>>, SandboxError> {
    let file = match open_without_waiting(path) {
        Ok(file) => file,
        Err(error) if is_nothing(&error) => return Ok(None),
        Err(error) => return Err(failed(format!("cannot read {path}"))(error)),
    };
    let meta = file.metadata().map_err(failed(format!("cannot read {path}")))?;
    if !meta.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    (&file).read_to_end(&mut bytes).map_err(failed(format!("cannot read {path}")))?;
    Ok(Some(bytes))
}

/// Whether an error of opening means that there is no such file: missing, behind a file, a link to itself, a socket.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    ) || is_loop_or_socket(error)
}

#[cfg(unix)]
fn is_loop_or_socket(error: &io::Error) -> bool {
    use nix::errno::Errno;
    error.raw_os_error().map(Errno::from_raw).is_some_and(|code| matches!(code, Errno::ELOOP | Errno::ENXIO))
}

#[cfg(not(unix))]
fn is_loop_or_socket(_error: &io::Error) -> bool {
    false
}

#[cfg(unix)]
fn open_without_waiting(path: &Utf8Path) -> io::Result<fs::File> {
    use fs_err::os::unix::fs::OpenOptionsExt;
    let flags = nix::fcntl::OFlag::O_NONBLOCK | nix::fcntl::OFlag::O_NOCTTY;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Utf8Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// Creates or replaces the file at `path` below `root`, with its folders. A link at `path` is replaced, not followed;
/// a folder on the way that is a link out of `root` is refused.
pub(in crate::exec) fn write_inside(
    root: &Utf8Path,
    path: &RepoPath,
    bytes: &[u8],
) -> Result<(), SandboxError> {
    let what = || format!("cannot write {path} in the sandbox");
    let folder = make_folder_inside(root, &path.dir())?;
    let target = folder.join(path.file_name());
    match fs::remove_file(&target) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(what())(error)),
    }
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).open(&target).map_err(failed(what()))?;
    file.write_all(bytes).map_err(failed(what()))
}

/// Makes `dir` below `root` part by part and gives its real path, which is below the real path of `root`.
fn make_folder_inside(root: &Utf8Path, dir: &RepoDir) -> Result<std::path::PathBuf, SandboxError> {
    let what = || format!("cannot make the folder {dir} in the sandbox");
    let real_root = fs::canonicalize(root).map_err(failed(what()))?;
    let mut real = real_root.clone();
    for part in dir.as_path().components() {
        let next = real.join(part.as_str());
        match fs::create_dir(&next) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(what())(error)),
        }
        real = fs::canonicalize(&next).map_err(failed(what()))?;
        if !real.starts_with(&real_root) {
            let source = io::Error::new(io::ErrorKind::PermissionDenied, "a link leads out of the sandbox");
            return Err(failed(what())(source));
        }
    }
    Ok(real)
}

/// Regular files below `under`, sorted. Folders of `skipped`, folders behind links and `.git` are not entered; a link
/// to a file counts when it stays below `root`; names that are not UTF-8 have no path in the document and are left out.
pub(in crate::exec) fn list(
    root: &AbsPath,
    under: &RepoDir,
    skipped: &BTreeSet<RepoDir>,
) -> Result<Vec<SandboxFile>, SandboxError> {
    let mut found = Vec::new();
    let mut waiting = vec![under.clone()];
    while let Some(dir) = waiting.pop() {
        let host = root.at(&dir);
        let entries = match fs::read_dir(host.as_std_path()) {
            Ok(entries) => entries,
            Err(error) if is_nothing(&error) => continue,
            Err(error) => return Err(failed(format!("cannot list {dir} in the sandbox"))(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed(format!("cannot list {dir} in the sandbox")))?;
            let Some(path) = entry.file_name().to_str().and_then(|name| dir.join(name).ok()) else {
                continue;
            };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let below = RepoDir::from(&path);
                if path.file_name() != ".git" && !skipped.contains(&below) {
                    waiting.push(below);
                }
            } else if let Some(file) = regular(root, path) {
                found.push(file);
            }
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// The listing's entry for `path` when it is a file, or a link to one below `root`.
fn regular(root: &AbsPath, path: RepoPath) -> Option<SandboxFile> {
    let host = root.file(&path);
    let own = fs::symlink_metadata(&host).ok()?;
    if own.is_symlink() {
        let real = fs::canonicalize(&host).ok()?;
        if !real.starts_with(fs::canonicalize(root).ok()?) {
            return None;
        }
    }
    let meta = fs::metadata(&host).ok().filter(std::fs::Metadata::is_file)?;
    Some(SandboxFile { path, modified: meta.modified().ok()?, host })
}

/// Removes a folder and all below it, also where a tool took away its own right to write (Go's module cache).
pub(in crate::exec) fn remove_tree(folder: &Utf8Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_up(folder);
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                ended => ended,
            }
        }
        Ok(()) => Ok(()),
    }
}

/// Gives the owner every right on the folders below `folder`; what cannot be changed stays as it is.
#[cfg(unix)]
fn open_up(folder: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut waiting = vec![folder.as_std_path().to_path_buf()];
    while let Some(dir) = waiting.pop() {
        let _ = fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700));
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
}

#[cfg(not(unix))]
fn open_up(_folder: &Utf8Path) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, AbsPath) {
        let temp = tempfile::tempdir().unwrap();
        let path = AbsPath::new(fs::canonicalize(temp.path()).unwrap().to_str().unwrap()).unwrap();
        (temp, path)
    }

    #[test]
    fn a_pipe_in_place_of_a_report_does_not_make_the_reader_wait() {
        let (_temp, root) = scratch();
        let pipe = root.join("report.json");
        nix::unistd::mkfifo(pipe.as_std_path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(read_regular(pipe.as_path()).unwrap(), None);
        assert_eq!(list(&root, &RepoDir::root(), &BTreeSet::new()).unwrap(), vec![]);
    }

    #[test]
    fn a_write_replaces_a_link_and_refuses_a_folder_that_leads_out() {
        let (_outside, target) = scratch();
        let (_temp, root) = scratch();
        fs::write(target.join("mine"), "kept").unwrap();
        std::os::unix::fs::symlink(target.join("mine"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(&target, root.join("out")).unwrap();
        write_inside(root.as_path(), &RepoPath::new("link").unwrap(), b"new").unwrap();
        assert!(write_inside(root.as_path(), &RepoPath::new("out/mine").unwrap(), b"new").is_err());
        assert_eq!(fs::read(target.join("mine")).unwrap(), b"kept");
        assert_eq!(fs::read(root.join("link")).unwrap(), b"new");
    }

    #[test]
    fn a_listing_leaves_out_links_that_lead_out() {
        let (_outside, target) = scratch();
        let (_temp, root) = scratch();
        fs::write(target.join("secret"), "x").unwrap();
        fs::write(root.join("real"), "x").unwrap();
        std::os::unix::fs::symlink(target.join("secret"), root.join("out")).unwrap();
        std::os::unix::fs::symlink("real", root.join("inside")).unwrap();
        let paths: Vec<String> = list(&root, &RepoDir::root(), &BTreeSet::new())
            .unwrap()
            .into_iter()
            .map(|file| file.path.to_string())
            .collect();
        assert_eq!(paths, ["inside", "real"]);
    }

    #[test]
    fn a_folder_without_the_right_to_write_is_removed_as_well() {
        use std::os::unix::fs::PermissionsExt;
        let (_temp, root) = scratch();
        fs::create_dir_all(root.join("mod/x")).unwrap();
        fs::write(root.join("mod/x/file"), "x").unwrap();
        fs::set_permissions(root.join("mod/x"), std::fs::Permissions::from_mode(0o500)).unwrap();
        remove_tree(root.join("mod").as_path()).unwrap();
        assert!(!root.join("mod").as_std_path().exists());
    }
}
