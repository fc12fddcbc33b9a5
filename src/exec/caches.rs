//! The folders in which downloads are shared with the user's own toolchains.
//!
//! In: the command line. Out: [`Caches`]. I/O: none.

use crate::paths::AbsPath;

/// Which folders downloads are shared in with the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caches {
    /// Whether those of the toolchains that polymut knows are; else a download stays in the sandbox that made it.
    pub known: bool,
    /// Further folders.
    pub more: Vec<AbsPath>,
}

impl Default for Caches {
    fn default() -> Self {
        Self { known: true, more: Vec::new() }
    }
}
