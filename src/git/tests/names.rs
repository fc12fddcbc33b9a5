//! Names that git quotes, and names that no text can hold.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

use polymut_schemas::{FileChange, NewSide, OutsideReason};

use super::{Place, lines, repo_path, summary};

/// B12, B13
#[test]
fn names_of_any_kind_are_kept() {
    let names = [
        "a b/c.py",
        "a b/my file.py",
        "back\\slash.py",
        "caf\u{e9}.py",
        "tab\there.py",
        "we\"ird.py",
        "line\nend.py",
        "-dash.py",
        ":colon.py",
    ];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "a()\n")).collect();
    let place = Place::with(&files);
    for name in names {
        place.write(name, "a()\nb()\n");
    }
    let found = place.files(NewSide::WorkingTree);
    let mut expected: Vec<_> = names.iter().map(|name| repo_path(name)).collect();
    expected.sort();
    assert_eq!(found.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|file| lines(file) == vec![2]), "{found:?}");
    place.commit();
    assert_eq!(place.files(NewSide::Head), found);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_is_listed_with_that_reason() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::with(&[("a.py", "a()\n")]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.py");
    fs_err::write(place.path().join(name), "a()\n").unwrap();
    place.write("a.py", "b()\n");
    let expected = vec![
        ("a.py", FileChange::Modified, vec![1], None),
        ("caf\u{fffd}.py", FileChange::Added, vec![], Some(OutsideReason::NameNotUtf8)),
    ];
    assert_eq!(summary(&place.files(NewSide::WorkingTree)), expected);
    place.commit();
    assert_eq!(summary(&place.files(NewSide::Head)), expected);
}
