//! What each kind of change becomes.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

use polymut_schemas::{FileChange, NewSide, OutsideReason};

use super::{Place, against, lines, repo_path, summary};

const CODE: &str = "fn a() {\n    one();\n    two();\n    three();\n}\n";

#[test]
fn the_three_new_sides_hold_what_git_says_they_hold() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", CODE), ("c.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.commit();
    place.write("b.rs", CODE.replace("two", "due"));
    place.git(&["add", "b.rs"]);
    place.write("c.rs", CODE.replace("three", "tre"));
    place.write("new.rs", "fn n() {}\n");
    place.write(".gitignore", "out/\n");
    place.write("out/x.rs", "fn ignored() {}\n");
    let (a, b, c) = (("a.rs", vec![2]), ("b.rs", vec![3]), ("c.rs", vec![4]));
    let of = |side| {
        let files = place.files(side);
        files.iter().map(|file| (file.path.to_string(), lines(file))).collect::<Vec<_>>()
    };
    let owned = |pairs: Vec<(&str, Vec<u32>)>| {
        pairs.into_iter().map(|(path, lines)| (path.to_owned(), lines)).collect::<Vec<_>>()
    };
    assert_eq!(of(NewSide::Head), owned(vec![a.clone()]));
    assert_eq!(of(NewSide::Index), owned(vec![a.clone(), b.clone()]));
    let rest = [(".gitignore", vec![1]), a, b, c, ("new.rs", vec![1])];
    assert_eq!(of(NewSide::WorkingTree), owned(rest.to_vec()));
}

#[test]
fn a_staged_change_that_was_taken_back_on_disk_is_no_change() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.git(&["add", "a.rs"]);
    place.write("a.rs", CODE);
    assert_eq!(place.files(NewSide::WorkingTree), vec![]);
    assert_eq!(place.files(NewSide::Index).len(), 1);
}

#[test]
fn a_file_that_left_the_index_but_not_the_disk_is_compared_with_its_old_self() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.git(&["rm", "-q", "--cached", "a.rs"]);
    place.write("a.rs", CODE.replace("one", "uno"));
    assert_eq!(summary(&[place.only()]), vec![("a.rs", FileChange::Modified, vec![2], None)]);
}

#[test]
fn a_touched_file_is_no_change() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.write("a.rs", CODE);
    assert_eq!(place.files(NewSide::WorkingTree), vec![]);
}

/// B09
#[test]
fn what_the_base_got_after_the_branch_point_is_not_part_of_the_change() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.commit();
    place.git(&["switch", "-q", "main"]);
    place.write("b.rs", CODE.replace("two", "due"));
    let tip = place.commit();
    place.git(&["switch", "-q", "change"]);
    let scope = place.scope(&against("main"));
    assert_eq!(summary(&scope.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
    assert_eq!(scope.base.unwrap().commit, tip);
    assert_eq!(scope.merge_base, Some(place.git(&["rev-parse", "main~1"]).trim().to_owned()));
}

#[test]
fn the_lines_around_a_deletion_count() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.write("a.rs", CODE.replace("    two();\n", ""));
    assert_eq!(lines(&place.only()), vec![2, 3]);
}

#[test]
fn only_the_real_edit_of_a_reindented_and_commented_file_counts() {
    let old: Vec<String> = (0..300).map(|at| format!("call({at});\n")).collect();
    let mut new: Vec<String> = (0..300).map(|at| format!("        call({at}); // {at}\n")).collect();
    "        call(-1); // edit\n".clone_into(&mut new[200]);
    let place = Place::with(&[("a.rs", &old.concat()), ("b.rs", &old.concat())]);
    place.write("a.rs", new.concat());
    place.write("b.rs", old.concat().replace("call", "  call"));
    let files = place.files(NewSide::WorkingTree);
    assert_eq!(
        summary(&files),
        vec![
            ("a.rs", FileChange::Modified, vec![201], None),
            ("b.rs", FileChange::Modified, vec![], Some(OutsideReason::SameTokens)),
        ]
    );
    assert_eq!(files[0].same_tokens.count(), 299);
    assert_eq!(files[1].same_tokens.count(), 300);
}

/// B03, B04
#[test]
fn binaries_and_deletions_are_listed_with_their_reason() {
    let place =
        Place::with(&[("x.png", "\0old"), ("gone1.rs", CODE), ("gone2.rs", "fn z() {}\n"), ("a.rs", CODE)]);
    place.write("x.png", "\0new");
    place.write("new.png", "\0new");
    place.remove("gone1.rs");
    place.remove("gone2.rs");
    place.write("a.rs", CODE.replace("one", "uno"));
    assert_eq!(
        summary(&place.files(NewSide::WorkingTree)),
        vec![
            ("a.rs", FileChange::Modified, vec![2], None),
            ("gone1.rs", FileChange::Deleted, vec![], Some(OutsideReason::Deleted)),
            ("gone2.rs", FileChange::Deleted, vec![], Some(OutsideReason::Deleted)),
            ("new.png", FileChange::Added, vec![], Some(OutsideReason::Binary)),
            ("x.png", FileChange::Modified, vec![], Some(OutsideReason::Binary)),
        ]
    );
}

#[test]
fn a_file_that_was_binary_and_is_text_now_counts_whole() {
    let place = Place::with(&[("a.rs", "\0")]);
    place.write("a.rs", CODE);
    assert_eq!(lines(&place.only()), vec![1, 2, 3, 4, 5]);
}

#[test]
fn renames_are_followed_with_and_without_an_edit() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", &CODE.replace("fn a", "fn b"))]);
    place.remove("a.rs");
    place.remove("b.rs");
    place.write("src/a.rs", CODE.replace("one", "uno"));
    place.write("src/b2.rs", CODE.replace("fn a", "fn b"));
    let untracked = place.files(NewSide::WorkingTree);
    assert_eq!(
        summary(&untracked),
        vec![
            ("src/a.rs", FileChange::Renamed, vec![2], None),
            ("src/b2.rs", FileChange::Renamed, vec![], Some(OutsideReason::RenameOnly)),
        ]
    );
    assert_eq!(untracked[0].old_path, Some(repo_path("a.rs")));
    assert_eq!(untracked[1].old_path, Some(repo_path("b.rs")));
    place.commit();
    assert_eq!(place.files(NewSide::Head), untracked);
}

#[test]
fn an_unrelated_new_file_is_no_rename() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.remove("a.rs");
    place.write("b.rs", "struct Other;\nimpl Other {\n    const X: u8 = 1;\n}\n");
    let files = place.files(NewSide::WorkingTree);
    assert_eq!(files[1].change, FileChange::Added);
    assert_eq!(lines(&files[1]), vec![1, 2, 3, 4]);
}

#[test]
fn many_moved_files_with_the_same_lines_find_their_own_old_selves() {
    let text = |at: usize| format!("{CODE}const X: usize = {at};\n");
    let names: Vec<(String, String)> = (0..40).map(|at| (format!("a/f{at}.rs"), text(at))).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let place = Place::with(&files);
    place.git(&["mv", "a", "b"]);
    for file in place.files(NewSide::WorkingTree) {
        assert_eq!(file.outside, Some(OutsideReason::RenameOnly));
        assert_eq!(file.old_path.unwrap().file_name(), file.path.file_name());
    }
}

#[cfg(unix)]
#[test]
fn modes_and_links_are_listed_with_their_reason() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place =
        Place::with(&[("run.py", "a()\n"), ("both.py", "a()\n"), ("real.py", "a()\n"), ("was.py", "a()\n")]);
    for name in ["run.py", "both.py"] {
        let file = place.path().join(name);
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.write("both.py", "b()\n");
    symlink("real.py", place.path().join("link.py")).unwrap();
    place.remove("was.py");
    symlink("real.py", place.path().join("was.py")).unwrap();
    let expected = vec![
        ("both.py", FileChange::Modified, vec![1], None),
        ("link.py", FileChange::Added, vec![], Some(OutsideReason::Symlink)),
        ("run.py", FileChange::ModeChanged, vec![], Some(OutsideReason::ModeOnly)),
        ("was.py", FileChange::ModeChanged, vec![], Some(OutsideReason::Symlink)),
    ];
    assert_eq!(summary(&place.files(NewSide::WorkingTree)), expected);
    place.commit();
    assert_eq!(summary(&place.files(NewSide::Head)), expected);
}

/// B15
#[test]
fn a_moved_submodule_is_listed_and_nothing_crashes() {
    let inner = Place::with(&[("a.rs", CODE)]);
    let place = Place::new();
    let url = inner.root().to_string();
    place.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    place.write("a.rs", CODE);
    place.commit();
    place.git(&["switch", "-q", "-c", "change"]);
    assert_eq!(place.files(NewSide::WorkingTree), vec![]);
    let sub = place.path().join("sub");
    fs_err::write(sub.join("a.rs"), CODE.replace("one", "uno")).unwrap();
    place.git(&["-C", "sub", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "x"]);
    let moved = vec![("sub", FileChange::Modified, vec![], Some(OutsideReason::Submodule))];
    assert_eq!(summary(&place.files(NewSide::WorkingTree)), moved);
    place.commit();
    assert_eq!(summary(&place.files(NewSide::Head)), moved);
    assert_eq!(summary(&place.files(NewSide::WorkingTree)), moved);
}

/// B16
#[test]
fn line_endings_of_the_working_tree_are_no_change() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", CODE)]);
    place.git(&["config", "core.autocrlf", "true"]);
    place.write("a.rs", CODE.replace("one", "uno").replace('\n', "\r\n"));
    place.write("b.rs", CODE.replace('\n', "\r\n"));
    let file = place.only();
    assert_eq!((file.path.as_str(), lines(&file), file.same_tokens.count()), ("a.rs", vec![2], 0));
}

/// B16
#[test]
fn attributes_fold_line_endings_as_the_setting_does() {
    let place = Place::with(&[
        (".gitattributes", "*.rs text eol=crlf\n*.py -text\n"),
        ("a.rs", CODE),
        ("a.py", "a()\n"),
    ]);
    place.write("a.rs", CODE.replace('\n', "\r\n"));
    assert_eq!(place.files(NewSide::WorkingTree), vec![]);
    place.write("a.py", "a()\r\n");
    let file = place.only();
    assert_eq!((file.path.as_str(), file.outside), ("a.py", Some(OutsideReason::SameTokens)));
}

/// B16
#[test]
fn a_commit_that_only_changes_line_endings_says_so() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.write("a.rs", CODE.replace('\n', "\r\n"));
    place.commit();
    for side in [NewSide::Head, NewSide::WorkingTree] {
        let files = place.files(side);
        assert_eq!(
            summary(&files),
            vec![("a.rs", FileChange::Modified, vec![], Some(OutsideReason::SameTokens))]
        );
        assert_eq!(files[0].same_tokens.count(), 5);
    }
}

#[test]
fn a_stored_pointer_is_listed_as_such() {
    let pointer =
        |hash: &str| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 3\n");
    let content = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let place = Place::with(&[
        ("a.rs", &pointer(&"0".repeat(64))),
        ("b.rs", &pointer(content)),
        ("c.rs", &pointer(&"1".repeat(64))),
    ]);
    place.write("a.rs", pointer(&"2".repeat(64)));
    place.write("b.rs", "abc");
    place.write("c.rs", "fn real() {}\n");
    assert_eq!(
        summary(&place.files(NewSide::WorkingTree)),
        vec![
            ("a.rs", FileChange::Modified, vec![], Some(OutsideReason::LfsPointer)),
            ("c.rs", FileChange::Modified, vec![1], None),
        ]
    );
}

#[test]
fn a_file_without_a_line_is_empty_and_one_of_comments_has_no_tokens() {
    let place = Place::with(&[("was.rs", CODE)]);
    place.write("new.py", "");
    place.write("note.rs", "// nothing\n");
    place.write("was.rs", "");
    assert_eq!(
        summary(&place.files(NewSide::WorkingTree)),
        vec![
            ("new.py", FileChange::Added, vec![], Some(OutsideReason::Empty)),
            ("note.rs", FileChange::Added, vec![], Some(OutsideReason::SameTokens)),
            ("was.rs", FileChange::Modified, vec![], Some(OutsideReason::Empty)),
        ]
    );
}

#[test]
fn settings_that_change_what_git_prints_change_nothing_here() {
    let place = Place::with(&[("caf\u{e9}.rs", CODE), ("old.rs", &CODE.replace("fn a", "fn o"))]);
    place.write("caf\u{e9}.rs", CODE.replace("one", "uno"));
    place.git(&["mv", "old.rs", "new.rs"]);
    let plain = place.files(NewSide::WorkingTree);
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "false"),
        ("diff.renames", "copies"),
        ("core.quotePath", "true"),
        ("diff.context", "9"),
        ("diff.ignoreSubmodules", "all"),
        ("status.showUntrackedFiles", "no"),
    ] {
        place.git(&["config", name, value]);
    }
    assert_eq!(place.files(NewSide::WorkingTree), plain);
    assert_eq!(plain.len(), 2);
}

/// B72
#[test]
fn nothing_in_the_repository_is_written() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.git(&["add", "a.rs"]);
    place.write("b.rs", CODE.replace("two", "due"));
    place.write("new.rs", CODE);
    let before = snapshot(place.path());
    place.scope(&against("main"));
    place.open().files(NewSide::WorkingTree).unwrap();
    assert_eq!(snapshot(place.path()), before);
}

/// Every file below `folder` with its bytes and time.
fn snapshot(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs_err::read(&path).unwrap(), metadata.modified().unwrap()));
            }
        }
    }
    found.sort();
    found
}
