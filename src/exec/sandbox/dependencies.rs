//! Installed dependencies of a copied sandbox: folders that git ignores, linked instead of copied.
//!
//! In: the user's tree and names of folders. Out: folders of links in the copy. I/O: reads the tree, writes the copy.
//!
//! A folder is never linked as a whole: `node_modules/<own package>` and the `.pth` files of an editable install lead
//! back into the repository, and a link to the whole folder would make tests import the user's files instead of the
//! mutated copy. So the folder is made anew, its entries are linked, and what leads back leads into the copy.

use std::collections::BTreeSet;
use std::path::Path;

use camino::Utf8Path;
use fs_err as fs;
use polymut_schemas::RepoDir;

use super::copier::make_link;
use super::host::failed;
use super::{Request, SandboxError, links};
use crate::paths::AbsPath;

/// Entries that tools write into: left out, so that the copy gets its own.
const WRITTEN: &[&str] = &[".cache", ".vite", ".vite-temp", ".vitest"];

/// The largest script of a virtual environment that is looked into.
const SCRIPT_LIMIT: u64 = 256 * 1024;

/// Makes the dependency folders of the request in `copy` and names them.
pub(super) fn link_all(request: &Request<'_>, copy: &AbsPath) -> Result<BTreeSet<RepoDir>, SandboxError> {
    let tracked = tracked_folders(request);
    let mut linked = BTreeSet::new();
    for dir in &tracked {
        for name in request.dependency_dirs {
            let Ok(path) = dir.join(name).map(RepoDir::from) else { continue };
            if tracked.contains(&path) {
                continue;
            }
            let from = request.root.at(&path);
            let Ok(meta) = fs::symlink_metadata(&from) else { continue };
            let relink = Relink { old: request.root, new: copy };
            if meta.is_symlink() {
                relink.link(path.as_path())?;
            } else if meta.is_dir() {
                let style =
                    if from.join("pyvenv.cfg").as_std_path().exists() { Style::Python } else { Style::Node };
                relink.folder(path.as_path(), style)?;
            } else {
                continue;
            }
            linked.insert(path);
        }
    }
    Ok(linked)
}

/// The dependency folders that the user's tree has.
pub(super) fn present(request: &Request<'_>) -> BTreeSet<RepoDir> {
    let tracked = tracked_folders(request);
    tracked
        .iter()
        .flat_map(|dir| request.dependency_dirs.iter().filter_map(|name| dir.join(name).ok()))
        .map(RepoDir::from)
        .filter(|path| !tracked.contains(path) && request.root.at(path).as_std_path().exists())
        .collect()
}

/// Every folder that holds an entry, with the folders above it.
fn tracked_folders(request: &Request<'_>) -> BTreeSet<RepoDir> {
    let mut folders = BTreeSet::from([RepoDir::root()]);
    for entry in request.entries {
        let mut dir = Some(entry.path.dir());
        while let Some(this) = dir.take_if(|this| !folders.contains(this)) {
            dir = this.parent();
            folders.insert(this);
        }
    }
    folders
}

/// How deep a folder of links goes.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// Entries, those of `@scopes` and of `.bin`.
    Node,
    /// Down to `bin` and `site-packages`, where files that name the repository are rewritten.
    Python,
}

struct Relink<'a> {
    old: &'a AbsPath,
    new: &'a AbsPath,
}

impl Relink<'_> {
    fn folder(&self, at: &Utf8Path, style: Style) -> Result<(), SandboxError> {
        let what = || format!("cannot link the dependency folder {at}");
        fs::create_dir_all(self.new.join(at)).map_err(failed(what()))?;
        for entry in fs::read_dir(self.old.join(at).as_std_path()).map_err(failed(what()))? {
            let entry = entry.map_err(failed(what()))?;
            let kind = entry.file_type().map_err(failed(what()))?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let below = at.join(&name);
            if kind.is_symlink() {
                self.link(&below)?;
            } else if kind.is_dir() && opens(&name, style) {
                self.folder(&below, style)?;
            } else if kind.is_dir() && WRITTEN.contains(&name.as_str()) {
                tracing::debug!(folder = %below, "left out: tools write there");
            } else if let Some(text) = self.leads_back(&below, style) {
                self.rewrite(&below, &text)?;
            } else {
                self.point(&below)?;
            }
        }
        Ok(())
    }

    /// Makes a link again, with the meaning it has in the copy.
    fn link(&self, at: &Utf8Path) -> Result<(), SandboxError> {
        let what = || format!("cannot copy the link {at}");
        let target = fs::read_link(self.old.join(at)).map_err(failed(what()))?;
        let target = target.to_str().map_or_else(
            || target.clone(),
            |text| links::retarget(at, text, self.old.as_path(), self.new.as_path()).into_std_path_buf(),
        );
        make_link(&target, self.new.join(at).as_std_path()).map_err(failed(what()))
    }

    /// Links to the user's own entry.
    fn point(&self, at: &Utf8Path) -> Result<(), SandboxError> {
        make_link(self.old.join(at).as_std_path(), self.new.join(at).as_std_path())
            .map_err(failed(format!("cannot link the dependency {at}")))
    }

    /// The text of a file of a virtual environment that names the repository's root.
    fn leads_back(&self, at: &Utf8Path, style: Style) -> Option<String> {
        match style {
            Style::Node => return None,
            Style::Python => {}
        }
        let name = at.file_name()?;
        let folder = at.parent().and_then(Utf8Path::file_name);
        let looked_into = at.extension() == Some("pth")
            || name.starts_with("__editable__")
            || matches!(folder, Some("bin" | "Scripts"));
        let host = self.old.join(at);
        if !looked_into || fs::metadata(&host).ok()?.len() > SCRIPT_LIMIT {
            return None;
        }
        fs::read_to_string(&host).ok().filter(|text| text.contains(self.old.as_str()))
    }

    /// Writes a file with the copy's root in place of the repository's.
    fn rewrite(&self, at: &Utf8Path, text: &str) -> Result<(), SandboxError> {
        let what = || format!("cannot copy {at}");
        let target = self.new.join(at);
        fs::write(&target, text.replace(self.old.as_str(), self.new.as_str())).map_err(failed(what()))?;
        let meta = fs::metadata(self.old.join(at)).map_err(failed(what()))?;
        fs::set_permissions::<&Path>(target.as_ref(), meta.permissions()).map_err(failed(what()))
    }
}

/// Whether a folder inside a dependency folder is made anew instead of linked.
fn opens(name: &str, style: Style) -> bool {
    match style {
        Style::Node => name == ".bin" || name.starts_with('@'),
        Style::Python => {
            matches!(name, "bin" | "Scripts" | "lib" | "Lib" | "site-packages")
                || name.starts_with("python3")
                || name.starts_with("pypy3")
        }
    }
}
