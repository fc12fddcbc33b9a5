//! Where polymut keeps its own files: the state folder, one locked folder per run, the logs of the last run.
//!
//! In: the user's environment, the repository's root. Out: [`State`], [`RunDir`]. I/O: file system below the state
//! folder.
//!
//! ```text
//! $POLYMUT_STATE/                 default: the user's state folder + polymut
//!   tools/<tool>/<version>/       the store, shared by all repositories
//!   <repository key>/
//!     runs/<n>/{lock,work/,logs/} one per live run; the lowest free number, so that paths recur from run to run
//!     runs/<n>/journal/           what had ended; stays when a run is interrupted, until it is resumed or another begins
//!     last/                       the logs of the last run that ended
//! ```

use std::fs::TryLockError;

use fs_err as fs;
use polymut_schemas::MutantId;

use super::env::HostEnv;
use super::family::kill_marked;
use super::{ExecError, disk, sandbox};
use crate::paths::AbsPath;

/// The room that a run needs at the least, beside what its sandboxes ask for.
const LEAST_ROOM: u64 = 256 << 20;

/// The folder of the journal.
pub(super) const JOURNAL: &str = "journal";

/// polymut's folder for one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    tools: AbsPath,
    repository: AbsPath,
}

/// The folder of one live run. Dropping it removes the work and keeps the logs as those of the last run; a journal stays
/// until it is removed.
#[derive(Debug)]
pub struct RunDir {
    pub(super) folder: AbsPath,
    pub(super) last: AbsPath,
    pub(super) lock: Option<std::fs::File>,
    pub(super) number: u32,
}

impl State {
    /// Finds and makes the state folder of the repository at `root`.
    pub fn open(host: &HostEnv, root: &AbsPath) -> Result<Self, ExecError> {
        let state = state_root(host)?;
        let tools = match host.text("POLYMUT_TOOLS") {
            Some(folder) => absolute(folder)?,
            None => state.join("tools"),
        };
        make_private(&state)?;
        // A state folder inside of a repository (some CI caches want it there) must not become part of the repository,
        // and backups need not hold it.
        put_once(&state.join(".gitignore"), b"*\n")?;
        put_once(&state.join("CACHEDIR.TAG"), b"Signature: 8a477f597d28d172789f06886806bc55\n")?;
        let repository = state.join(key(root));
        make_private(&repository.join("runs"))?;
        Ok(Self { tools, repository })
    }

    /// Where provisioned tools are.
    pub fn tools(&self) -> &AbsPath {
        &self.tools
    }

    /// The logs of the last run that ended.
    pub fn last(&self) -> AbsPath {
        self.repository.join("last")
    }

    /// Where this repository's history and cache are.
    pub fn repository(&self) -> &AbsPath {
        &self.repository
    }

    /// Makes a folder for a run that begins now. Folders of runs that died are cleared first, and what they left
    /// running is killed; a run that lives keeps its own.
    pub fn begin(&self) -> Result<RunDir, ExecError> {
        let runs = self.repository.join("runs");
        disk::require(&runs, LEAST_ROOM)?;
        let _one_at_a_time = lock_blocking(&runs.join("lock"))?;
        for number in 0_u32.. {
            let folder = runs.join(number.to_string());
            make_private(&folder)?;
            let Some(lock) = try_lock(&folder.join("lock"))? else { continue };
            let run = RunDir { folder, last: self.last(), lock: Some(lock), number };
            run.clear();
            run.remove_journal();
            run.make()?;
            self.clear_the_dead(number + 1)?;
            return Ok(run);
        }
        Err(ExecError::NoState)
    }

    pub(super) fn numbers(&self) -> Result<Vec<u32>, ExecError> {
        let runs = self.repository.join("runs");
        let entries = fs::read_dir(runs.as_std_path())
            .map_err(|source| ExecError::io(format!("list {runs}"), &runs, source))?;
        let mut names: Vec<u32> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Clears the folders of dead runs from number `from` on.
    fn clear_the_dead(&self, from: u32) -> Result<(), ExecError> {
        for number in self.numbers()?.into_iter().filter(|number| *number >= from) {
            let folder = self.repository.join("runs").join(number.to_string());
            if let Some(lock) = try_lock(&folder.join("lock"))? {
                RunDir { folder, last: self.last(), lock: Some(lock), number }.remove_journal();
            }
        }
        Ok(())
    }
}

impl RunDir {
    /// For sandboxes; gone when the run ends.
    pub fn work(&self) -> AbsPath {
        self.folder.join("work")
    }

    /// For logs, plans and artifacts; kept as those of the last run.
    pub fn logs(&self) -> AbsPath {
        self.folder.join("logs")
    }

    /// Where the journal is, if there is one.
    pub fn journal(&self) -> AbsPath {
        self.folder.join(JOURNAL)
    }

    /// Removes the journal: its run has come to its end.
    pub fn remove_journal(&self) {
        if self.journal().as_path().exists() {
            remove_tree(&self.journal());
        }
    }

    /// Whether other runs of this repository live.
    pub fn is_beside_others(&self) -> bool {
        self.number > 0
    }

    /// Fresh folders in place of those that a dead run had left.
    pub fn restart(&self) -> Result<(), ExecError> {
        self.clear();
        self.make()
    }

    fn make(&self) -> Result<(), ExecError> {
        make_private(&self.work())?;
        make_private(&self.logs())
    }

    pub(super) fn end_processes(&self) {
        let killed = kill_marked(self.work().as_std_path().as_os_str());
        if killed > 0 {
            tracing::warn!(killed, folder = %self.folder, "a run that died had left processes; they are killed");
        }
    }

    /// Ends what runs here, removes the work, and moves logs to `last`.
    fn clear(&self) {
        self.end_processes();
        remove_tree(&self.work());
        let logs = self.logs();
        if fs::read_dir(logs.as_std_path()).is_ok_and(|mut entries| entries.next().is_some()) {
            remove_tree(&self.last);
            if let Err(error) = fs::rename(logs.as_std_path(), self.last.as_std_path()) {
                tracing::warn!(%error, "the logs of this run are not kept");
            }
        }
        remove_tree(&logs);
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        self.clear();
        // The lock goes last, and its file stays: whoever waits for it must not lock a file that has no name any more.
        drop(self.lock.take());
    }
}

/// Removes a folder with everything in it. What cannot be removed is said, and tried again when the next run begins.
pub(super) fn remove_tree(folder: &AbsPath) {
    if let Err(error) = sandbox::remove_tree(folder.as_path()) {
        tracing::warn!(%error, %folder, "a temporary folder cannot be removed");
    }
}

fn state_root(host: &HostEnv) -> Result<AbsPath, ExecError> {
    if let Some(folder) = host.text("POLYMUT_STATE") {
        return absolute(folder);
    }
    if let Some(folder) = host.text("XDG_STATE_HOME").filter(|folder| folder.starts_with('/')) {
        return Ok(absolute(folder)?.join("polymut"));
    }
    let (base, below) = if cfg!(windows) {
        ("LOCALAPPDATA", "polymut")
    } else if cfg!(target_os = "macos") {
        ("HOME", "Library/Application Support/polymut")
    } else {
        ("HOME", ".local/state/polymut")
    };
    host.text(base).map(absolute).transpose()?.map(|base| base.join(below)).ok_or(ExecError::NoState)
}

/// A folder that the user named; relative to the current folder, as a shell user expects.
fn absolute(folder: &str) -> Result<AbsPath, ExecError> {
    let path = std::path::absolute(folder)
        .map_err(|source| ExecError::Io { what: format!("resolve {folder}"), source })?;
    let text = path.to_str().ok_or_else(|| ExecError::NotUtf8(folder.to_owned()))?;
    AbsPath::new(text).map_err(|_| ExecError::NotUtf8(folder.to_owned()))
}

/// A short name for a repository: sockets are made below it, whose paths may have some hundred bytes only.
fn key(root: &AbsPath) -> String {
    let name: String = root
        .as_path()
        .file_name()
        .unwrap_or("root")
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(12)
        .collect();
    let hash = MutantId::of(&[root.as_str()]);
    format!("{name}-{}", &hash.as_str()[..8])
}

fn make_private(folder: &AbsPath) -> Result<(), ExecError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder.as_std_path())
        .map_err(|source| ExecError::io(format!("create {folder}"), folder, source))
}

fn put_once(file: &AbsPath, bytes: &[u8]) -> Result<(), ExecError> {
    if file.as_path().exists() {
        return Ok(());
    }
    fs::write(file.as_std_path(), bytes)
        .map_err(|source| ExecError::io(format!("write {file}"), file, source))
}

fn open_lock(path: &AbsPath) -> Result<std::fs::File, ExecError> {
    fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.as_std_path())
        .map(fs::File::into_file)
        .map_err(|source| ExecError::io(format!("open {path}"), path, source))
}

/// The lock, or `None` while somebody else has it.
pub(super) fn try_lock(path: &AbsPath) -> Result<Option<std::fs::File>, ExecError> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(ExecError::io(format!("lock {path}"), path, source)),
    }
}

/// The lock, as soon as it is free; only for what takes a moment.
pub(super) fn lock_blocking(path: &AbsPath) -> Result<std::fs::File, ExecError> {
    let file = open_lock(path)?;
    file.lock().map_err(|source| ExecError::io(format!("lock {path}"), path, source))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn host(vars: &[(&str, &str)]) -> HostEnv {
        vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    fn state(dir: &tempfile::TempDir) -> State {
        let host = host(&[("POLYMUT_STATE", dir.path().to_str().unwrap())]);
        State::open(&host, &AbsPath::new("/repo/shop").unwrap()).unwrap()
    }

    #[test]
    fn the_state_folder_follows_the_environment() {
        let root = |vars: &[(&str, &str)]| state_root(&host(vars)).map(|path| path.to_string());
        assert_eq!(root(&[("POLYMUT_STATE", "/s"), ("HOME", "/h")]).unwrap(), "/s");
        assert_eq!(root(&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")]).unwrap(), "/x/polymut");
        assert!(root(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]).unwrap().starts_with("/h/"));
        assert!(matches!(state_root(&host(&[])), Err(ExecError::NoState)));
    }

    #[test]
    fn two_live_runs_work_apart_and_a_freed_place_is_used_again() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(&dir);
        let first = state.begin().unwrap();
        let second = state.begin().unwrap();
        assert_ne!(first.work(), second.work());
        let place = first.work();
        drop(first);
        assert!(!place.as_path().exists());
        assert_eq!(state.begin().unwrap().work(), place);
        assert!(second.work().as_path().exists());
    }

    #[test]
    fn the_logs_of_the_last_run_are_kept_and_its_work_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(&dir);
        let run = state.begin().unwrap();
        fs::write(run.logs().join("a.log").as_std_path(), b"words").unwrap();
        fs::write(run.work().join("big").as_std_path(), b"x").unwrap();
        drop(run);
        assert_eq!(fs::read(state.last().join("a.log").as_std_path()).unwrap(), b"words");
        // A run that wrote no log does not take the place of one that did.
        drop(state.begin().unwrap());
        assert!(state.last().join("a.log").as_path().exists());
    }

    #[test]
    fn what_a_dead_run_left_is_cleared_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(&dir);
        let dead = state.repository().join("runs/3");
        fs::create_dir_all(dead.join("work/s0").as_std_path()).unwrap();
        fs::create_dir_all(dead.join("logs").as_std_path()).unwrap();
        fs::write(dead.join("logs/a.log").as_std_path(), b"last words").unwrap();
        let run = state.begin().unwrap();
        assert!(!dead.join("work").as_path().exists());
        assert!(state.last().join("a.log").as_path().exists());
        drop(run);
    }

    #[test]
    fn two_repositories_of_one_name_have_two_keys() {
        let key = |path: &str| key(&AbsPath::new(path).unwrap());
        assert_ne!(key("/a/shop"), key("/b/shop"));
        assert!(key("/a/a very long näme indeed").len() <= 21);
    }
}
