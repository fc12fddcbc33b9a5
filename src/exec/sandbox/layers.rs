//! Reads stacked folders from outside the way an overlay shows them inside.
//!
//! In: stacks of layers, nearest first. Out: what a path is in the view. I/O: reads the layers.
//!
//! The format is that of an overlay mounted with `userxattr`: a character device 0/0 hides a name of the layers below
//! it; a folder marked `user.overlay.opaque` hides their content.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use fs_err as fs;
use polymut_schemas::{RepoDir, RepoPath};

use super::host::read_regular;
use super::links::lexical;
use super::{SandboxError, SandboxFile};
use crate::paths::AbsPath;

/// The mark of a folder that hides what is below it.
pub(super) const OPAQUE: &str = "user.overlay.opaque";

/// As many links as the kernel follows.
const MOST_LINKS: u32 = 40;

/// The repository as a process inside sees it.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// Where the repository is, inside and outside.
    pub(super) root: &'a AbsPath,
    /// Layers by place; the root's own are at the root.
    pub(super) stacks: BTreeMap<RepoDir, Vec<PathBuf>>,
}

/// What a path is, links followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A link led out of the repository, to this path of the machine.
    Outside(PathBuf),
    /// A file, pipe, socket or device; the path in the view and the one on the machine.
    File(RepoDir, PathBuf),
    /// A folder; the path in the view and the layers that have it.
    Folder(RepoDir, Vec<PathBuf>),
}

/// What a name is, links not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A folder in these layers.
    Folder(Vec<PathBuf>),
    /// A link.
    Link(PathBuf),
    /// Anything else.
    File(PathBuf),
}

impl View<'_> {
    /// What `path` is.
    pub(super) fn find(&self, path: &RepoDir) -> Found {
        let mut path = path.clone();
        for _ in 0..MOST_LINKS {
            match self.walk(&path) {
                Walk::Ended(found) => return found,
                Walk::Again(next) => path = next,
            }
        }
        Found::Nothing
    }

    fn walk(&self, path: &RepoDir) -> Walk {
        let mut at = RepoDir::root();
        let mut layers = self.stacks.get(&at).cloned().unwrap_or_default();
        let mut parts = path.as_path().components();
        while let Some(part) = parts.next() {
            let Ok(below) = at.resolve(part.as_str()) else { return Walk::Ended(Found::Nothing) };
            let rest = parts.as_path();
            match self.node(&below, &layers) {
                None => return Walk::Ended(Found::Nothing),
                Some(Node::Folder(next)) => layers = next,
                Some(Node::File(host)) if rest.as_str().is_empty() => {
                    return Walk::Ended(Found::File(below, host));
                }
                Some(Node::File(_)) => return Walk::Ended(Found::Nothing),
                Some(Node::Link(host)) => return self.follow(&at, &host, rest.as_str()),
            }
            at = below;
        }
        Walk::Ended(Found::Folder(at, layers))
    }

    /// What is at `path`, given the layers of its folder.
    fn node(&self, path: &RepoDir, layers: &[PathBuf]) -> Option<Node> {
        match self.stacks.get(path) {
            Some(own) => Some(Node::Folder(own.clone())),
            None => pick(layers, path.as_path().file_name()?),
        }
    }

    /// Where the link `host`, seen in the folder `at`, leads with `rest` behind it.
    fn follow(&self, at: &RepoDir, host: &Path, rest: &str) -> Walk {
        let Some(target) =
            fs::read_link(host).ok().and_then(|target| Utf8PathBuf::from_path_buf(target).ok())
        else {
            return Walk::Ended(Found::Nothing);
        };
        let meant = lexical(&self.root.at(at).as_path().join(target).join(rest));
        match meant.strip_prefix(self.root.as_path()).ok().and_then(|inside| RepoDir::new(inside).ok()) {
            Some(inside) => Walk::Again(inside),
            None => Walk::Ended(Found::Outside(meant.into_std_path_buf())),
        }
    }

    /// Regular files below `under`, sorted; folders of `skipped` and `.git` are not entered.
    pub(super) fn files(&self, under: &RepoDir, skipped: &BTreeSet<RepoDir>) -> Vec<SandboxFile> {
        let mut found = Vec::new();
        let mut waiting = match self.find(under) {
            Found::Folder(at, layers) => vec![(at, layers)],
            Found::Nothing | Found::File(..) | Found::Outside(_) => Vec::new(),
        };
        while let Some((at, layers)) = waiting.pop() {
            for (path, node) in self.children(&at, &layers) {
                match node {
                    Node::Folder(layers) => {
                        let below = RepoDir::from(&path);
                        if path.file_name() != ".git" && !skipped.contains(&below) {
                            waiting.push((below, layers));
                        }
                    }
                    Node::File(host) => found.extend(listed(path, host)),
                    Node::Link(_) => match self.find(&RepoDir::from(&path)) {
                        Found::File(_, host) => found.extend(listed(path, host)),
                        Found::Nothing | Found::Folder(..) | Found::Outside(_) => {}
                    },
                }
            }
        }
        found.sort_by(|left, right| left.path.cmp(&right.path));
        found
    }

    /// The bytes of a file; `None` when there is none.
    pub(super) fn read(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, SandboxError> {
        match self.find(&RepoDir::from(path)) {
            Found::Nothing | Found::Folder(..) => Ok(None),
            Found::File(_, host) | Found::Outside(host) => {
                camino::Utf8Path::from_path(&host).map_or(Ok(None), read_regular)
            }
        }
    }

    /// What is in a folder, by name.
    pub(super) fn children(&self, at: &RepoDir, layers: &[PathBuf]) -> BTreeMap<RepoPath, Node> {
        let mut found = BTreeMap::new();
        for layer in layers {
            let Ok(entries) = fs::read_dir(layer) else { continue };
            for entry in entries.flatten() {
                let Some(path) = entry.file_name().to_str().and_then(|name| at.join(name).ok()) else {
                    continue;
                };
                let below = RepoDir::from(&path);
                found.entry(path).or_insert_with(|| self.node(&below, layers));
            }
        }
        found.into_iter().filter_map(|(path, node)| Some((path, node?))).collect()
    }
}

/// A regular file of the view.
fn listed(path: RepoPath, host: PathBuf) -> Option<SandboxFile> {
    let meta = fs::symlink_metadata(&host).ok().filter(std::fs::Metadata::is_file)?;
    let host = AbsPath::new(Utf8PathBuf::from_path_buf(host).ok()?).ok()?;
    Some(SandboxFile { path, host, modified: meta.modified().ok()? })
}

enum Walk {
    Ended(Found),
    Again(RepoDir),
}

/// What `name` is in the folder that these layers make.
fn pick(layers: &[PathBuf], name: &str) -> Option<Node> {
    let mut folders = Vec::new();
    let last = layers.len().saturating_sub(1);
    for (index, layer) in layers.iter().enumerate() {
        let host = layer.join(name);
        let Ok(meta) = fs::symlink_metadata(&host) else { continue };
        if is_whiteout(&meta) {
            break;
        }
        if meta.is_dir() {
            let hides = index < last && is_opaque(&host);
            folders.push(host);
            if hides {
                break;
            }
        } else if folders.is_empty() {
            return Some(if meta.is_symlink() { Node::Link(host) } else { Node::File(host) });
        } else {
            break;
        }
    }
    (!folders.is_empty()).then_some(Node::Folder(folders))
}

/// Whether a file stands for "nothing here".
pub(super) fn is_whiteout(meta: &std::fs::Metadata) -> bool {
    meta.file_type().is_char_device() && meta.rdev() == 0
}

/// Whether a folder hides the ones below it.
pub(super) fn is_opaque(folder: &Path) -> bool {
    let mut value = [0_u8; 8];
    matches!(rustix::fs::getxattr(folder, OPAQUE, &mut value[..]), Ok(1) if value[0] == b'y')
}

/// Marks a folder as hiding the ones below it.
pub(super) fn make_opaque(folder: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::setxattr(folder, OPAQUE, b"y", rustix::fs::XattrFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Stack {
        temp: tempfile::TempDir,
        root: AbsPath,
    }

    impl Stack {
        /// Files as `layer/path`; layer `c` is the user's tree.
        fn of(files: &[&str]) -> Self {
            let temp = tempfile::tempdir().unwrap();
            for file in files {
                let file = temp.path().join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, file.to_str().unwrap()).unwrap();
            }
            let root = AbsPath::new(temp.path().join("c").to_str().unwrap()).unwrap();
            Self { temp, root }
        }

        fn view(&self) -> View<'_> {
            let layers = ["a", "b", "c"].map(|layer| self.temp.path().join(layer)).to_vec();
            View { root: &self.root, stacks: BTreeMap::from([(RepoDir::root(), layers)]) }
        }

        /// Which layer answers for a path.
        fn layer(&self, path: &str) -> Option<String> {
            match self.view().find(&RepoDir::new(path).unwrap()) {
                Found::File(_, host) => {
                    Some(host.strip_prefix(self.temp.path()).unwrap().to_str().unwrap()[..1].to_owned())
                }
                Found::Nothing | Found::Folder(..) => None,
                Found::Outside(path) => Some(path.to_str().unwrap().to_owned()),
            }
        }

        fn hide(&self, path: &str) {
            use nix::sys::stat::{Mode, SFlag, mknod};
            let place = self.temp.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            mknod(&place, SFlag::S_IFCHR, Mode::empty(), 0).unwrap();
        }
    }

    #[test]
    fn the_nearest_layer_answers() {
        let stack = Stack::of(&["c/src/one", "b/src/one", "c/src/two", "a/src/three"]);
        assert_eq!(stack.layer("src/one").as_deref(), Some("b"));
        assert_eq!(stack.layer("src/two").as_deref(), Some("c"));
        assert_eq!(stack.layer("src/three").as_deref(), Some("a"));
        assert_eq!(stack.layer("src/one/below"), None);
    }

    #[test]
    fn what_was_removed_is_gone_and_what_came_instead_is_alone() {
        let stack = Stack::of(&["c/gone", "c/dir/old", "c/again/old", "a/again/new"]);
        stack.hide("a/gone");
        stack.hide("b/dir");
        make_opaque(&stack.temp.path().join("a/again")).unwrap();
        assert_eq!(stack.layer("gone"), None);
        assert_eq!(stack.layer("dir/old"), None);
        assert_eq!(stack.layer("again/old"), None);
        assert_eq!(stack.layer("again/new").as_deref(), Some("a"));
        let names: Vec<String> = stack
            .view()
            .children(&RepoDir::root(), &["a", "b", "c"].map(|layer| stack.temp.path().join(layer)))
            .into_keys()
            .map(|path| path.to_string())
            .collect();
        assert_eq!(names, ["again"]);
    }

    #[test]
    fn a_file_in_place_of_a_folder_hides_it_and_the_other_way_round() {
        let stack = Stack::of(&["c/x/inner", "b/x", "c/y", "b/y/inner"]);
        assert_eq!(stack.layer("x").as_deref(), Some("b"));
        assert_eq!(stack.layer("x/inner"), None);
        assert_eq!(stack.layer("y/inner").as_deref(), Some("b"));
    }

    #[test]
    fn links_are_followed_within_the_view_and_out_of_it() {
        let stack = Stack::of(&["c/real/file", "b/real/file"]);
        symlink("real", stack.temp.path().join("c/link")).unwrap();
        symlink(stack.root.join("link"), stack.temp.path().join("c/absolute")).unwrap();
        symlink("../elsewhere", stack.temp.path().join("c/out")).unwrap();
        symlink("loop", stack.temp.path().join("c/loop")).unwrap();
        assert_eq!(stack.layer("link/file").as_deref(), Some("b"));
        assert_eq!(stack.layer("absolute/file").as_deref(), Some("b"));
        let out = stack.temp.path().join("elsewhere/file");
        assert_eq!(stack.layer("out/file").as_deref(), out.to_str());
        assert_eq!(stack.layer("loop"), None);
    }

    #[test]
    fn a_stack_of_its_own_stands_in_place_of_a_folder() {
        let stack = Stack::of(&["c/deps/old", "a/unrelated"]);
        let own = Stack::of(&["a/new"]);
        let mut view = stack.view();
        view.stacks.insert(RepoDir::new("deps").unwrap(), vec![own.temp.path().join("a")]);
        assert!(matches!(view.find(&RepoDir::new("deps/new").unwrap()), Found::File(..)));
        assert_eq!(view.find(&RepoDir::new("deps/old").unwrap()), Found::Nothing);
    }
}
