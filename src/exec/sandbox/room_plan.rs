//! Decides what is mounted where in the room of one command.
//!
//! In: a sandbox's stacks, a command. Out: a [`Room`]. I/O: makes private folders in the scratch folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use fs_err as fs;

use super::host::failed;
use super::sealed::Builder;
use super::stack::{Lower, Stack};
use super::surroundings::{Surroundings, real};
use super::{CacheUse, Launch, SandboxError};
use crate::exec::contain::{Need, Piece, Room};
use crate::paths::AbsPath;

/// One room to be.
pub(super) struct RoomPlan<'a> {
    /// How rooms are built here.
    pub(super) builder: &'a Builder,
    /// The repository.
    pub(super) root: &'a AbsPath,
    /// The sandbox's own folder.
    pub(super) own: &'a AbsPath,
    /// The folder of all sandboxes of this run: hidden, except for what is this one's.
    pub(super) folder: &'a AbsPath,
    /// Used once in this sandbox.
    pub(super) number: u32,
}

impl Surroundings {
    /// Places beside the repository that get an overlay. Home's own upper layer cannot be stacked on when the scratch
    /// folder is below home; then caches get stacks of their own, so that a fork does not copy what was fetched.
    pub(super) fn overlays(&self, folder: &AbsPath) -> Vec<AbsPath> {
        let below = |path: &AbsPath, of: &AbsPath| path.as_path().starts_with(of.as_path());
        let covers = |cache: &AbsPath| {
            self.home.as_ref().is_some_and(|home| below(cache, home) && !below(folder, home))
        };
        let caches = self.caches.iter().map(|cache| &cache.at).filter(|at| !covers(at));
        self.home.iter().chain(caches).cloned().collect()
    }
}

impl RoomPlan<'_> {
    /// The room.
    pub(super) fn room(&self, inside: &Launch, stacks: &[Stack]) -> Result<Room, SandboxError> {
        let root = real(self.root.as_str()).unwrap_or_else(|| self.root.clone());
        let is_inside = |stack: &Stack| stack.at.as_path().starts_with(root.as_path());
        let need = |stack: &Stack| if is_inside(stack) { Need::Must } else { Need::May };
        let mut pieces: Vec<Piece> = stacks.iter().map(|stack| stack.piece(need(stack))).collect();
        for (index, temporary) in self.builder.surroundings.temporary.iter().enumerate() {
            pieces.push(self.writable(temporary, &format!("tmp-{index}"))?);
            pieces.extend(self.named_below(temporary, inside)?);
        }
        pieces.push(self.writable(self.folder, "mask")?);
        let work = self.own.join("work");
        pieces.push(Piece::Writable { at: work.as_path().to_path_buf(), from: work.as_path().to_path_buf() });
        if inside.caches == CacheUse::Shared {
            pieces.extend(self.builder.surroundings.caches.iter().flat_map(|cache| &cache.shared).map(
                |shared| Piece::Writable {
                    at: shared.as_path().to_path_buf(),
                    from: shared.as_path().to_path_buf(),
                },
            ));
        }
        pieces.sort_by(|left, right| left.at().cmp(right.at()));
        let base = self.own.join("base");
        fs::create_dir_all(&base).map_err(failed(format!("cannot make {base}")))?;
        Ok(Room {
            power: self.builder.power,
            network: inside.network,
            base: base.as_path().to_path_buf(),
            pieces,
            sockets: self.builder.surroundings.sockets.iter().map(|at| at.as_path().to_path_buf()).collect(),
        })
    }

    /// A private folder at `at`, kept for the whole life of the sandbox.
    fn writable(&self, at: &AbsPath, name: &str) -> Result<Piece, SandboxError> {
        let from = self.own.join(name);
        fs::create_dir_all(&from)
            .and_then(|()| {
                let meta = fs::metadata(at)?;
                fs::set_permissions(&from, meta.permissions())
            })
            .map_err(failed(format!("cannot make {from}")))?;
        Ok(Piece::Writable { at: at.as_path().to_path_buf(), from: from.as_path().to_path_buf() })
    }

    /// Overlays over the entries of a temporary folder that the command names: a tool may be installed there.
    fn named_below(&self, temporary: &AbsPath, inside: &Launch) -> Result<Vec<Piece>, SandboxError> {
        let mut pieces = Vec::new();
        for name in named(temporary.as_str(), inside) {
            let Some(at) = real(temporary.join(&name).as_str()).filter(|at| at.as_std_path().is_dir()) else {
                continue;
            };
            if !at.as_path().starts_with(temporary.as_path()) {
                continue;
            }
            let number = pieces.len();
            let lower = vec![Lower { at: at.clone(), of: None }];
            pieces.push(
                Stack::at(&at, lower, self.own, &format!("{}-{number}", self.number))?.piece(Need::May),
            );
        }
        Ok(pieces)
    }
}

/// First parts of the paths below `folder` that a command names in its program, words or environment.
fn named(folder: &str, inside: &Launch) -> BTreeSet<String> {
    let prefix = format!("{folder}/");
    let words = std::iter::once(inside.program.as_std_path().as_os_str())
        .chain(inside.args.iter().map(AsRef::as_ref))
        .chain(inside.env.values().map(AsRef::as_ref))
        .chain([inside.cwd.as_std_path().as_os_str()]);
    words
        .filter_map(OsStr::to_str)
        .flat_map(|word| word.split([':', '=', ',', ';', ' ']))
        .filter_map(|part| part.strip_prefix(&prefix)?.split('/').next())
        .filter(|name| !name.is_empty() && !matches!(*name, "." | ".."))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn what_a_command_names_below_a_temporary_folder_is_found() {
        let inside = Launch {
            program: AbsPath::new("/tmp/tools/bin/x").unwrap(),
            args: vec![OsString::from("--config=/tmp/conf/a.json"), OsString::from("/tmpfile/no")],
            cwd: AbsPath::new("/repo").unwrap(),
            env: BTreeMap::from([(OsString::from("PATH"), OsString::from("/bin:/tmp/venv/bin:/tmp"))]),
            network: false,
            memory: None,
            caches: CacheUse::Private,
        };
        let expected: BTreeSet<String> = ["tools", "conf", "venv"].map(str::to_owned).into();
        assert_eq!(named("/tmp", &inside), expected);
    }
}
