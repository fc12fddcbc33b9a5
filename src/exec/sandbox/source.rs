//! What a sandbox is made from: the new side's files and where to put them.
//!
//! In: the git room's answer. Out: [`Request`]. I/O: none.

use std::fmt;
use std::io;

use polymut_schemas::RepoPath;

use crate::exec::Stop;
use crate::paths::AbsPath;

/// The most processes and threads of one tool, unless told otherwise; a build of a large project has some hundred.
pub const MOST_PROCESSES: u64 = 4096;

/// What an entry of the new side is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A file.
    File,
    /// A file with the executable bit.
    Executable,
    /// A symbolic link; its bytes are the target.
    Symlink,
    /// The folder of a submodule: what is checked out in the user's tree, if anything.
    Submodule,
}

/// Where the bytes of an entry are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceBytes {
    /// In the user's tree, at the entry's own path.
    Disk,
    /// In git; asked of [`Request::blobs`].
    Blob,
}

/// One file of the new side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its path.
    pub path: RepoPath,
    /// What it is.
    pub kind: SourceKind,
    /// Where its bytes are.
    pub at: SourceBytes,
}

/// What a sandbox is made from and where it goes.
pub struct Request<'a> {
    /// Root of the user's tree.
    pub root: &'a AbsPath,
    /// The new side's files.
    pub entries: &'a [SourceEntry],
    /// Gives the bytes of an entry at [`SourceBytes::Blob`].
    pub blobs: &'a dyn Fn(&RepoPath) -> io::Result<Vec<u8>>,
    /// Scratch folder that holds the sandbox and its forks; made when missing, never inside the user's tree.
    pub folder: &'a AbsPath,
    /// Name of the sandbox, unique in `folder`.
    pub name: &'a str,
    /// Names of folders that hold installed dependencies (`node_modules`).
    pub dependency_dirs: &'a [&'a str],
    /// Once the run is being stopped, nothing more is copied, and what has been made is left to whoever clears `folder`:
    /// both take time that a run which is to end does not have.
    pub stop: &'a Stop,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("root", &self.root)
            .field("entries", &self.entries.len())
            .field("folder", &self.folder)
            .field("name", &self.name)
            .field("dependency_dirs", &self.dependency_dirs)
            .finish_non_exhaustive()
    }
}
