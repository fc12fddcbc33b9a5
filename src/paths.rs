//! Absolute paths of this machine, which never reach the document.
//!
//! In: camino paths. Out: [`AbsPath`]. I/O: none.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use polymut_schemas::{RepoDir, RepoPath};

/// An absolute path of this machine. It has no `Serialize`, so that it cannot leak into a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsPath(Utf8PathBuf);

/// A path that is not absolute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an absolute path")]
pub struct NotAbsolute(String);

impl AbsPath {
    /// Checks that `path` is absolute. Nothing is resolved.
    pub fn new(path: impl Into<Utf8PathBuf>) -> Result<Self, NotAbsolute> {
        let path = path.into();
        if path.is_absolute() { Ok(Self(path)) } else { Err(NotAbsolute(path.into_string())) }
    }

    /// The path.
    pub fn as_path(&self) -> &Utf8Path {
        &self.0
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path for `std` functions.
    pub fn as_std_path(&self) -> &std::path::Path {
        self.0.as_std_path()
    }

    /// `part` below this path; an empty part is this path.
    #[must_use]
    pub fn join(&self, part: impl AsRef<str>) -> Self {
        let part = part.as_ref();
        if part.is_empty() { self.clone() } else { Self(self.0.join(part)) }
    }

    /// The repository folder `dir` below this root.
    #[must_use]
    pub fn at(&self, dir: &RepoDir) -> Self {
        self.join(dir.as_str())
    }

    /// The repository file `path` below this root.
    #[must_use]
    pub fn file(&self, path: &RepoPath) -> Self {
        self.join(path.as_str())
    }

    /// The folder above.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_path_buf()))
    }
}

impl fmt::Display for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl AsRef<std::path::Path> for AbsPath {
    fn as_ref(&self) -> &std::path::Path {
        self.0.as_std_path()
    }
}
