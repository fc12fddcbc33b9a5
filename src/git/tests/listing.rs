//! The files of each side, and their bytes.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

use polymut_schemas::NewSide;

use super::super::{EntryAt, EntryKind};
use super::{Place, Repo, repo_path};

/// Both readers, which must agree.
fn readers(place: &Place) -> [Repo; 2] {
    [place.open(), Repo::through_program(&place.root(), "a test").unwrap()]
}

#[cfg(unix)]
fn sample() -> Place {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place =
        Place::with(&[("a.py", "a()\n"), ("gone.py", "a()\n"), ("run.sh", "x\n"), ("d/e.py", "e()\n")]);
    let run = place.path().join("run.sh");
    fs_err::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.py", place.path().join("link.py")).unwrap();
    place.commit();
    place.remove("gone.py");
    place.write("a.py", "b()\n");
    place.write("new/x.py", "n()\n");
    place.write("staged.py", "s()\n");
    place.git(&["add", "staged.py"]);
    place.write("promised.py", "p()\n");
    place.git(&["add", "-N", "promised.py"]);
    place.write(".gitignore", "*.log\n");
    place.write("x.log", "log\n");
    place
}

#[cfg(unix)]
#[test]
fn each_side_lists_its_files() {
    let place = sample();
    for repo in readers(&place) {
        let names = |side| {
            repo.files(side).unwrap().into_iter().map(|entry| entry.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(NewSide::Head), ["a.py", "d/e.py", "gone.py", "link.py", "run.sh"]);
        assert_eq!(names(NewSide::Index), ["a.py", "d/e.py", "gone.py", "link.py", "run.sh", "staged.py"]);
        assert_eq!(
            names(NewSide::WorkingTree),
            [".gitignore", "a.py", "d/e.py", "link.py", "new/x.py", "promised.py", "run.sh", "staged.py"]
        );
    }
}

#[cfg(unix)]
#[test]
fn entries_say_what_they_are_and_give_their_bytes() {
    let place = sample();
    for repo in readers(&place) {
        for side in [NewSide::WorkingTree, NewSide::Head] {
            let files = repo.files(side).unwrap();
            let find = |name: &str| files.iter().find(|entry| entry.path.as_str() == name).unwrap();
            assert_eq!(find("run.sh").kind, EntryKind::File { executable: true });
            assert_eq!(find("a.py").kind, EntryKind::File { executable: false });
            assert_eq!(find("link.py").kind, EntryKind::Symlink);
            assert_eq!(repo.bytes(find("link.py")).unwrap(), b"a.py");
            let (bytes, on_disk): (&[u8], _) = match side {
                NewSide::WorkingTree => (b"b()\n", true),
                NewSide::Head | NewSide::Index => (b"a()\n", false),
            };
            assert_eq!(repo.bytes(find("a.py")).unwrap(), bytes);
            assert_eq!(matches!(find("a.py").at, EntryAt::Disk(_)), on_disk);
        }
    }
}

#[test]
fn a_commit_gives_its_files_and_bytes() {
    let place = Place::with(&[("d/a b.py", "a()\n"), ("[x].py", "x()\n")]);
    let first = place.git(&["rev-parse", "HEAD"]).trim().to_owned();
    place.write("d/a b.py", "b()\n");
    place.commit();
    for repo in readers(&place) {
        let names: Vec<String> =
            repo.files_at(&first).unwrap().into_iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["[x].py", "d/a b.py"]);
        assert_eq!(repo.bytes_at(&first, &repo_path("d/a b.py")).unwrap(), Some(b"a()\n".to_vec()));
        assert_eq!(repo.bytes_at(&first, &repo_path("[x].py")).unwrap(), Some(b"x()\n".to_vec()));
        assert_eq!(repo.bytes_at(&first, &repo_path("none.py")).unwrap(), None);
        assert_eq!(repo.bytes_at(&first, &repo_path("d")).unwrap(), None);
    }
}

#[cfg(unix)]
#[test]
fn a_file_has_one_hash_however_git_knows_it_and_another_once_it_is_edited() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = sample();
    let hashes = |place: &Place| {
        let [one, two] = readers(place).map(|repo| {
            let files = repo.files(NewSide::WorkingTree).unwrap();
            super::super::contents(&repo, &files).unwrap()
        });
        // The program is asked for nothing: it reads every file.
        assert_eq!(one, two);
        one
    };
    let before = hashes(&place);
    assert_eq!(before.len(), 8);
    place.git(&["add", "-A"]);
    place.write("d/e.py", "e()\n");
    assert_eq!(hashes(&place), before, "staging and writing the same again change nothing");
    place.write("d/e.py", "f()\n");
    let run = place.path().join("run.sh");
    fs_err::set_permissions(run, std::fs::Permissions::from_mode(0o644)).unwrap();
    let after = hashes(&place);
    let changed: Vec<&str> =
        before.keys().filter(|path| before[*path] != after[*path]).map(String::as_str).collect();
    assert_eq!(changed, ["d/e.py", "run.sh"]);
}
