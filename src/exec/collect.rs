//! Gathers what a stage left, as bytes, and keeps a copy beside the logs.
//!
//! In: the plan's [`Gather`]s, a sandbox, the stage's start by the disk's own clock. Out: files by [`Place`]. I/O:
//! reads the sandbox and the work folder, writes copies to the log folder.
//!
//! What a hostile program left in place of a report (a pipe, a link that leads out) is no file and is not read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use polymut_adapters::{Find, Gather, Place, WorkPath};
use polymut_schemas::{PathError, RepoDir};

use super::resolve::Resolver;
use super::sandbox::{list, read_regular};
use super::{ExecError, Sandbox, SandboxFile};
use crate::paths::AbsPath;

/// The largest artifact that is read.
pub const LARGEST_ARTIFACT: u64 = 512 << 20;

/// How long the clock of a file system may stand still: two seconds on the coarsest that are in use.
const COARSEST_CLOCK: Duration = Duration::from_millis(2500);

/// The start of a stage by the clock that stamps the sandbox's files.
///
/// Two files are written until the second is younger than the first. So whatever is at least as young as the second
/// was written after this call, however coarse the clock is.
pub(super) async fn stage_start(sandbox: &dyn Sandbox, marker: &WorkPath) -> Result<SystemTime, ExecError> {
    let path = sandbox.work(marker);
    let stamp = || -> Result<SystemTime, ExecError> {
        let written = fs_err::write(path.as_std_path(), b"")
            .and_then(|()| fs_err::metadata(path.as_std_path()))
            .and_then(|metadata| metadata.modified());
        written.map_err(|source| ExecError::io(format!("write {path}"), &path, source))
    };
    let first = stamp()?;
    let mut waited = Duration::ZERO;
    let mut pause = Duration::from_millis(1);
    loop {
        tokio::time::sleep(pause).await;
        waited += pause;
        pause = (pause * 2).min(Duration::from_millis(100));
        let now = stamp()?;
        if now > first || waited > COARSEST_CLOCK {
            let _ = fs_err::remove_file(path.as_std_path());
            return Ok(now);
        }
    }
}

/// Reads the files of a plan.
pub(super) struct Collector<'a> {
    pub(super) resolver: &'a Resolver<'a>,
    /// Set when some gather wants fresh files.
    pub(super) since: Option<SystemTime>,
    /// Where copies go.
    pub(super) keep: &'a AbsPath,
    pub(super) largest: u64,
}

impl Collector<'_> {
    /// Reads everything that `wanted` names, sorted by place.
    pub(super) fn collect(&self, wanted: &[Gather]) -> Result<Vec<(Place, Vec<u8>)>, ExecError> {
        let mut files = BTreeMap::new();
        for gather in wanted {
            match gather {
                Gather::Files { under, glob, fresh } => {
                    let glob = matcher(glob)?;
                    for (place, found) in self.below(under, &glob)? {
                        let young = self.since.is_none_or(|since| found.modified >= since);
                        if (young || !*fresh)
                            && !files.contains_key(&place)
                            && let Some(bytes) = self.read(&found.host)?
                        {
                            files.insert(place, bytes);
                        }
                    }
                }
                Gather::Nearest(find) => {
                    if let Some((place, bytes)) = self.nearest(find)? {
                        files.insert(place, bytes);
                    }
                }
            }
        }
        for (place, bytes) in &files {
            self.keep(place, bytes)?;
        }
        Ok(files.into_iter().collect())
    }

    fn below(&self, under: &Place, glob: &GlobMatcher) -> Result<Vec<(Place, SandboxFile)>, ExecError> {
        let sandbox = self.resolver.sandbox;
        let (dir, files) = match under {
            Place::Sandbox(dir) => (dir.clone(), sandbox.files(dir)?),
            Place::Work(path) => {
                let dir = RepoDir::new(path.as_str()).map_err(|source| not_a_place(under, source))?;
                let root = sandbox.work(&work_root()?);
                let files = list(&root, &dir, &BTreeSet::new())?;
                (dir, files)
            }
        };
        let mut found = Vec::new();
        for file in files {
            if dir.relative(&file.path).is_some_and(|relative| glob.is_match(relative)) {
                let place = match under {
                    Place::Sandbox(_) => Place::Sandbox(RepoDir::from(&file.path)),
                    Place::Work(_) => Place::Work(
                        WorkPath::new(file.path.as_str()).map_err(|source| not_a_place(under, source))?,
                    ),
                };
                found.push((place, file));
            }
        }
        Ok(found)
    }

    fn nearest(&self, find: &Find) -> Result<Option<(Place, Vec<u8>)>, ExecError> {
        match find {
            Find::Upward(dir, name) => {
                let Some(place) = self.resolver.upward(dir, name) else { return Ok(None) };
                let Some(path) = place
                    .parent()
                    .and_then(|dir| place.as_path().file_name().and_then(|name| dir.join(name).ok()))
                else {
                    return Ok(None);
                };
                let bytes = self.resolver.sandbox.read(&path)?;
                Ok(bytes.map(|bytes| (Place::Sandbox(place), bytes)))
            }
            Find::OnPath(name) => Err(ExecError::Gather { what: (*name).to_owned() }),
            Find::Named(name) => Err(ExecError::Gather { what: name.clone() }),
            Find::Store(path) => Err(ExecError::Gather { what: path.to_string() }),
        }
    }

    /// The bytes of a listed file; `None` when it has gone since.
    fn read(&self, host: &AbsPath) -> Result<Option<Vec<u8>>, ExecError> {
        let size = fs_err::metadata(host.as_std_path()).map_or(0, |metadata| metadata.len());
        if size > self.largest {
            return Err(ExecError::TooLarge { file: host.to_string(), size, cap: self.largest });
        }
        Ok(read_regular(host.as_path())?)
    }

    /// The copy beside the logs: a bug report is made by copying that folder.
    fn keep(&self, place: &Place, bytes: &[u8]) -> Result<(), ExecError> {
        let root = match place {
            Place::Sandbox(_) => self.keep.join("sandbox"),
            Place::Work(_) => self.keep.join("work"),
        };
        write_all(&root.join(place.as_str()), bytes)
    }
}

/// Writes a file with its folders.
pub(super) fn write_all(file: &AbsPath, bytes: &[u8]) -> Result<(), ExecError> {
    let parent = file.parent().unwrap_or_else(|| file.clone());
    fs_err::create_dir_all(parent.as_std_path())
        .and_then(|()| fs_err::write(file.as_std_path(), bytes))
        .map_err(|source| ExecError::io(format!("write {file}"), &parent, source))
}

fn matcher(glob: &str) -> Result<GlobMatcher, ExecError> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|source| ExecError::Glob { glob: glob.to_owned(), source })
}

fn work_root() -> Result<WorkPath, ExecError> {
    WorkPath::new("").map_err(|source| ExecError::Place { place: String::new(), source })
}

fn not_a_place(place: &Place, source: PathError) -> ExecError {
    ExecError::Place { place: place.as_str().to_owned(), source }
}
