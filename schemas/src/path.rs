//! Paths of the document: relative to the repository root, `/` between parts, never absolute, never `..`.
//!
//! In: text. Out: [`RepoPath`], [`RepoDir`]. I/O: none.

use std::borrow::Cow;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a text is not a path of the repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing, or only `.`: the root is a [`RepoDir`], never a [`RepoPath`].
    #[error("a repository path may not be empty")]
    Empty,
    /// Starts with `/`, a drive letter or a UNC prefix.
    #[error("`{0}` is absolute; a repository path is relative to the repository root")]
    Absolute(String),
    /// Has a `..` part.
    #[error("`{0}` leaves the repository through `..`")]
    Escapes(String),
    /// Has a NUL character, which no file system can name.
    #[error("`{0}` holds a NUL character")]
    Nul(String),
}

/// A file (or folder below the root) of the repository, relative to its root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct RepoPath(#[schemars(with = "String")] Utf8PathBuf);

/// A folder of the repository relative to its root; `""` is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct RepoDir(#[schemars(with = "String")] Utf8PathBuf);

impl RepoPath {
    /// Checks and normalises `text`: `./` and doubled slashes go, `..` and absolute paths are refused.
    pub fn new(text: impl AsRef<str>) -> Result<Self, PathError> {
        let clean = normalise(text.as_ref())?;
        if clean.as_str().is_empty() { Err(PathError::Empty) } else { Ok(Self(clean)) }
    }

    /// The path as text with `/` between parts.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path as a relative camino path.
    pub fn as_path(&self) -> &Utf8Path {
        &self.0
    }

    /// The folder that holds this file.
    pub fn dir(&self) -> RepoDir {
        RepoDir(self.0.parent().map(Utf8Path::to_path_buf).unwrap_or_default())
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.file_name().unwrap_or_default()
    }

    /// What follows the last dot of the last part, if anything does.
    pub fn extension(&self) -> Option<&str> {
        self.0.extension()
    }
}

impl RepoDir {
    /// The repository root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Checks and normalises `text`; `""` and `.` are the root.
    pub fn new(text: impl AsRef<str>) -> Result<Self, PathError> {
        normalise(text.as_ref()).map(Self)
    }

    /// The folder as text; empty for the root.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The folder as a relative camino path.
    pub fn as_path(&self) -> &Utf8Path {
        &self.0
    }

    /// Whether this is the repository root.
    pub fn is_root(&self) -> bool {
        self.0.as_str().is_empty()
    }

    /// `relative` below this folder; `..` parts are resolved as long as they stay in the repository.
    pub fn join(&self, relative: impl AsRef<str>) -> Result<RepoPath, PathError> {
        let joined = self.resolve(relative)?;
        if joined.is_root() { Err(PathError::Empty) } else { Ok(RepoPath(joined.0)) }
    }

    /// Like [`RepoDir::join`] for a folder: the result may be the root.
    pub fn resolve(&self, relative: impl AsRef<str>) -> Result<Self, PathError> {
        let text = relative.as_ref();
        refuse(text)?;
        let mut parts: Vec<&str> = self.0.as_str().split('/').filter(|part| !part.is_empty()).collect();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathError::Escapes(text.to_owned()));
                    }
                }
                other => parts.push(other),
            }
        }
        Ok(Self(Utf8PathBuf::from(parts.join("/"))))
    }

    /// Whether `path` lies in this folder or below it.
    pub fn contains(&self, path: &RepoPath) -> bool {
        self.is_root() || path.0.starts_with(&self.0)
    }

    /// Whether `dir` is this folder or lies below it.
    pub fn contains_dir(&self, dir: &Self) -> bool {
        self.is_root() || dir.0.starts_with(&self.0)
    }

    /// `path` relative to this folder, when it lies below it.
    pub fn relative<'a>(&self, path: &'a RepoPath) -> Option<&'a str> {
        if self.is_root() {
            Some(path.as_str())
        } else {
            path.0.strip_prefix(&self.0).ok().map(Utf8Path::as_str)
        }
    }

    /// The folder above; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            None
        } else {
            Some(Self(self.0.parent().map(Utf8Path::to_path_buf).unwrap_or_default()))
        }
    }

    /// How many parts the folder has; 0 for the root.
    pub fn depth(&self) -> usize {
        self.0.components().count()
    }
}

impl From<RepoPath> for RepoDir {
    fn from(path: RepoPath) -> Self {
        Self(path.0)
    }
}

impl From<&RepoPath> for RepoDir {
    fn from(path: &RepoPath) -> Self {
        Self(path.0.clone())
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The root is shown as `.`, as a shell user would write it.
impl fmt::Display for RepoDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { self.as_str() })
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(text).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for RepoDir {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(text).map_err(serde::de::Error::custom)
    }
}

/// Refuses what can never name a file below the root. A backslash is a legal character of a Unix file name
/// and stays; a Windows drive or UNC prefix is refused.
fn refuse(text: &str) -> Result<(), PathError> {
    if text.contains('\0') {
        return Err(PathError::Nul(text.replace('\0', "\\0")));
    }
    let bytes = text.as_bytes();
    let drive = bytes.len() >= 3
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && (bytes[2] == b'\\' || bytes[2] == b'/');
    if text.starts_with('/') || text.starts_with("\\\\") || drive {
        return Err(PathError::Absolute(text.to_owned()));
    }
    Ok(())
}

fn normalise(text: &str) -> Result<Utf8PathBuf, PathError> {
    refuse(text)?;
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(PathError::Escapes(text.to_owned())),
            other => parts.push(other),
        }
    }
    Ok(Utf8PathBuf::from(parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalised_and_checked() {
        assert_eq!(RepoPath::new("./a//b.rs").map(|p| p.to_string()), Ok("a/b.rs".to_owned()));
        assert_eq!(RepoPath::new("."), Err(PathError::Empty));
        assert_eq!(RepoPath::new("a/../b"), Err(PathError::Escapes("a/../b".to_owned())));
        assert_eq!(RepoPath::new("/a"), Err(PathError::Absolute("/a".to_owned())));
        assert_eq!(RepoPath::new("C:\\a"), Err(PathError::Absolute("C:\\a".to_owned())));
    }

    #[test]
    fn deserialisation_checks_as_well() {
        assert!(serde_json::from_str::<RepoPath>("\"a/../../etc/passwd\"").is_err());
        assert!(serde_json::from_str::<RepoDir>("\"/etc\"").is_err());
    }

    #[test]
    fn a_folder_resolves_parents_inside_the_repository_only() {
        let dir = RepoDir::new("rust/core").unwrap_or_default();
        assert_eq!(
            dir.join("../shared/src/lib.rs").map(|p| p.to_string()),
            Ok("rust/shared/src/lib.rs".to_owned())
        );
        assert!(dir.join("../../../x").is_err());
        assert!(dir.resolve("../..").is_ok_and(|d| d.is_root()));
    }

    #[test]
    fn a_folder_does_not_contain_a_sibling_with_the_same_prefix() {
        let dir = RepoDir::new("app").unwrap_or_default();
        assert!(RepoPath::new("application/x.rs").is_ok_and(|p| !dir.contains(&p)));
    }
}
