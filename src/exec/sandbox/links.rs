//! Where a symbolic link has to point after its folder was copied elsewhere.
//!
//! In: a link, its old and new root. Out: a target. I/O: none.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The target that the link at `at` (relative to the root) needs below `new_root`, so that it means what `target`
/// meant below `old_root`: inside stays inside the copy, outside keeps its absolute meaning.
pub(super) fn retarget(at: &Utf8Path, target: &str, old_root: &Utf8Path, new_root: &Utf8Path) -> Utf8PathBuf {
    let path = Utf8Path::new(target);
    if path.is_absolute() {
        return match lexical(path).strip_prefix(old_root) {
            Ok(inside) => new_root.join(inside),
            Err(_) => path.to_path_buf(),
        };
    }
    let folder = at.parent().unwrap_or_else(|| Utf8Path::new(""));
    if stays_below(folder, path) {
        return path.to_path_buf();
    }
    let meant = lexical(&old_root.join(folder).join(path));
    match meant.strip_prefix(old_root) {
        Ok(inside) => new_root.join(inside),
        Err(_) => meant,
    }
}

/// Whether walking `target` from `folder` never climbs above the root, not even for a moment.
fn stays_below(folder: &Utf8Path, target: &Utf8Path) -> bool {
    let mut depth = folder.components().count();
    for part in target.components() {
        match part {
            Utf8Component::Normal(_) => depth += 1,
            Utf8Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            Utf8Component::CurDir => {}
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return false,
        }
    }
    true
}

/// `path` without `.` and with `..` taken back, by text alone.
pub(super) fn lexical(path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                clean.pop();
            }
            Utf8Component::Prefix(_) | Utf8Component::RootDir | Utf8Component::Normal(_) => {
                clean.push(part.as_str());
            }
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(at: &str, target: &str) -> String {
        retarget(Utf8Path::new(at), target, Utf8Path::new("/home/me/repo"), Utf8Path::new("/scratch/copy"))
            .into_string()
    }

    #[test]
    fn a_link_that_stays_inside_is_kept_as_written() {
        assert_eq!(moved("a/b/link", "../c/./file"), "../c/./file");
        assert_eq!(moved("link", "a/../b"), "a/../b");
    }

    #[test]
    fn a_relative_link_that_leaves_keeps_its_absolute_meaning() {
        assert_eq!(moved("a/link", "../../shared/x"), "/home/me/shared/x");
        assert_eq!(moved("a/link", "/etc/hosts"), "/etc/hosts");
    }

    #[test]
    fn a_link_that_comes_back_from_outside_points_into_the_copy() {
        assert_eq!(moved("a/link", "../../repo/src"), "/scratch/copy/src");
        assert_eq!(moved("a/link", "/home/me/repo/src/../lib"), "/scratch/copy/lib");
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_outside() {
        assert_eq!(moved("link", "/home/me/repository/x"), "/home/me/repository/x");
    }
}
