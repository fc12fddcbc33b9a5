//! One overlay of a sealed sandbox: read-only layers, the present upper one, and how a fork starts from it.
//!
//! In: folders. Out: [`Stack`]. I/O: makes and copies layer folders in the scratch folder.

use std::sync::Arc;

use camino::Utf8PathBuf;
use fs_err as fs;

use super::host::{self, failed};
use super::{SandboxError, upper};
use crate::exec::Stop;
use crate::exec::contain::{Need, Piece};
use crate::paths::AbsPath;

/// A scratch folder that is removed with its last user: a fork reads layers of the sandbox it came from. Of a run that is
/// being stopped it stays.
#[derive(Debug)]
pub(super) struct Owned(pub(super) AbsPath, pub(super) Stop);

impl Drop for Owned {
    fn drop(&mut self) {
        if self.1.is_asked() {
            return;
        }
        if let Err(error) = host::remove_tree(self.0.as_path()) {
            tracing::warn!(folder = %self.0, %error, "a sandbox could not be removed");
        }
    }
}

/// A read-only layer.
#[derive(Debug, Clone)]
pub(super) struct Lower {
    /// Its folder.
    pub(super) at: AbsPath,
    /// What has to stay for it.
    #[expect(dead_code, reason = "held so that the folder is not removed")]
    pub(super) of: Option<Arc<Owned>>,
}

/// Folders that make one place of the view.
#[derive(Debug)]
pub(super) struct Stack {
    /// The place; a real path.
    pub(super) at: AbsPath,
    /// Nearest first.
    pub(super) lower: Vec<Lower>,
    /// Takes the writes.
    pub(super) upper: AbsPath,
    /// The overlay's own scratch folder, beside `upper`.
    work: AbsPath,
}

impl Stack {
    /// A stack over `lower` with an empty upper layer in the folder of `own`.
    pub(super) fn over(
        at: &AbsPath,
        lower: Vec<Lower>,
        own: &Owned,
        number: u32,
    ) -> Result<Self, SandboxError> {
        Self::at(at, lower, &own.0, &number.to_string())
    }

    /// The same with layers called `name` in `folder`.
    pub(super) fn at(
        at: &AbsPath,
        lower: Vec<Lower>,
        folder: &AbsPath,
        name: &str,
    ) -> Result<Self, SandboxError> {
        let (upper, work) = (folder.join(format!("upper-{name}")), folder.join(format!("work-{name}")));
        for folder in [&upper, &work] {
            fs::create_dir(folder).map_err(failed(format!("cannot make the layer {folder}")))?;
        }
        if let Some(nearest) = lower.first() {
            // The root of the view has the mode of its upper layer.
            fs::metadata(&nearest.at)
                .and_then(|meta| fs::set_permissions(&upper, meta.permissions()))
                .map_err(failed(format!("cannot make the layer {upper}")))?;
        }
        Ok(Self { at: at.clone(), lower, upper, work })
    }

    /// Whether a fork can use the upper layer as it is: the kernel refuses a layer that lies below another one.
    fn is_stackable(&self) -> bool {
        self.lower.iter().all(|lower| !self.upper.as_path().starts_with(lower.at.as_path()))
    }

    /// A stack that starts from the present state. Where there is something to share, the upper layer becomes
    /// read-only for both, and this stack goes on with an empty one, made with `next`.
    pub(super) fn fork(
        &mut self,
        mine: &Arc<Owned>,
        theirs: &Owned,
        numbers: (u32, u32),
    ) -> Result<Self, SandboxError> {
        if !upper::is_empty(self.upper.as_ref()) && self.is_stackable() {
            let frozen = Lower { at: self.upper.clone(), of: Some(Arc::clone(mine)) };
            let lower = std::iter::once(frozen).chain(self.lower.iter().cloned()).collect();
            *self = Self::over(&self.at, lower, mine, numbers.0)?;
        }
        let fork = Self::over(&self.at, self.lower.clone(), theirs, numbers.1)?;
        upper::copy(self.upper.as_ref(), fork.upper.as_ref(), &theirs.1)?;
        Ok(fork)
    }

    /// Every layer, nearest first.
    pub(super) fn layers(&self) -> Vec<std::path::PathBuf> {
        std::iter::once(&self.upper)
            .chain(self.lower.iter().map(|lower| &lower.at))
            .map(|layer| layer.as_std_path().to_path_buf())
            .collect()
    }

    /// The mount.
    pub(super) fn piece(&self, need: Need) -> Piece {
        let path = |folder: &AbsPath| -> Utf8PathBuf { folder.as_path().to_path_buf() };
        Piece::Overlay {
            at: path(&self.at),
            lower: self.lower.iter().map(|lower| path(&lower.at)).collect(),
            upper: path(&self.upper),
            work: path(&self.work),
            need,
        }
    }
}
