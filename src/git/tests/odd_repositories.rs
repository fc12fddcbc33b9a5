//! Repositories that are not plain clones.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

use polymut_schemas::{FileChange, NewSide};

use super::{AbsPath, GitError, Place, Repo, against, scope, summary};

const CODE: &str = "fn a() {\n    one();\n    two();\n}\n";

fn edited() -> Place {
    let place = Place::with(&[("a.rs", CODE), ("d/b.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place
}

fn abs(path: &std::path::Path) -> AbsPath {
    AbsPath::new(path.to_str().unwrap()).unwrap()
}

#[test]
fn a_folder_below_the_root_finds_the_root() {
    let place = edited();
    let repo = Repo::open(&abs(&place.path().join("d"))).unwrap();
    assert_eq!(repo.root(), &place.root());
}

#[cfg(unix)]
#[test]
fn the_root_is_the_real_folder_behind_links() {
    let place = edited();
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("link");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    assert_eq!(Repo::open(&abs(&link)).unwrap().root(), &place.root());
}

#[test]
fn a_linked_worktree_is_a_repository_of_its_own() {
    let place = edited();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("w");
    place.git(&["worktree", "add", "-q", "-b", "other", path.to_str().unwrap(), "main"]);
    fs_err::write(path.join("a.rs"), CODE.replace("two", "due")).unwrap();
    let repo = Repo::open(&abs(&path)).unwrap();
    assert_eq!(repo.root(), &abs(&path));
    let scope = scope(&repo, &against("main")).unwrap();
    assert_eq!(summary(&scope.files), vec![("a.rs", FileChange::Modified, vec![3], None)]);
}

#[test]
fn a_submodule_checkout_is_a_repository_of_its_own() {
    let inner = Place::with(&[("a.rs", CODE)]);
    let outer = Place::new();
    let url = inner.root().to_string();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    let sub = outer.path().canonicalize().unwrap().join("sub");
    fs_err::write(sub.join("a.rs"), CODE.replace("one", "uno")).unwrap();
    let repo = Repo::open(&abs(&sub)).unwrap();
    assert_eq!(repo.root(), &abs(&sub));
    let scope = scope(&repo, &against("origin/change")).unwrap();
    assert_eq!(summary(&scope.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
}

#[test]
fn a_partial_clone_is_read_through_the_git_program() {
    let origin = edited();
    origin.commit();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", origin.root());
    let place = Place::cloned(&["--filter=blob:none", "--no-checkout", "-b", "change", &url]);
    place.git(&["sparse-checkout", "set", "--no-cone", "/a.rs"]);
    place.git(&["checkout", "-q"]);
    let found = scope(&place.open(), &against("origin/main")).unwrap();
    assert_eq!(summary(&found.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
    let files = place.open().files(NewSide::WorkingTree).unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn an_index_that_libgit2_cannot_read_goes_through_the_git_program() {
    let place = edited();
    place.git(&["update-index", "--split-index"]);
    let found = place.scope(&against("main"));
    assert_eq!(summary(&found.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
}

#[test]
fn a_repository_with_longer_hashes_goes_through_the_git_program() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    place.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    place.configure();
    place.write("a.rs", CODE);
    place.commit();
    place.git(&["switch", "-q", "-c", "change"]);
    place.write("a.rs", CODE.replace("one", "uno"));
    let found = place.scope(&against("main"));
    assert_eq!(summary(&found.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
    assert_eq!(found.merge_base.unwrap().len(), 64);
}

#[test]
fn files_that_a_sparse_checkout_leaves_out_are_not_deleted() {
    let place = edited();
    place.commit();
    place.git(&["sparse-checkout", "set", "--no-cone", "/a.rs"]);
    assert!(!place.path().join("d/b.rs").exists());
    assert_eq!(
        summary(&place.files(NewSide::WorkingTree)),
        vec![("a.rs", FileChange::Modified, vec![2], None)]
    );
    assert_eq!(place.open().files(NewSide::WorkingTree).unwrap().len(), 1);
}

#[test]
fn a_nested_repository_that_nobody_added_is_not_ours() {
    let place = edited();
    fs_err::create_dir(place.path().join("nested")).unwrap();
    place.git(&["init", "-q", "nested"]);
    place.write("nested/x.rs", CODE);
    let found = place.scope(&against("main"));
    assert_eq!(summary(&found.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
}

#[test]
fn no_repository_and_a_bare_one_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = abs(&folder.path().canonicalize().unwrap());
    assert!(matches!(Repo::open(&path), Err(GitError::NotARepository { .. })));
    let place = edited();
    place.git(&["clone", "-q", "--bare", ".", path.join("bare.git").as_str()]);
    assert!(matches!(Repo::open(&path.join("bare.git")), Err(GitError::Bare { .. })));
}

/// B10
#[test]
#[expect(clippy::disallowed_methods, reason = "the variables of a hook can only be set for another process")]
fn the_variables_of_a_hook_do_not_move_the_repository() {
    let elsewhere = edited();
    let git = elsewhere.path().join(".git");
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "git::tests::change::the_three_new_sides_hold_what_git_says_they_hold"])
        .env("GIT_DIR", &git)
        .env("GIT_WORK_TREE", elsewhere.path())
        .env("GIT_INDEX_FILE", git.join("index"))
        .env("GIT_OBJECT_DIRECTORY", git.join("objects"))
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true")
        .env("GIT_EXTERNAL_DIFF", "false")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && words.contains("1 passed"), "{words}");
}
