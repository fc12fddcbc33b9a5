//! Diffs that somebody else made.
//!
//! In: repositories and diffs made here. Out: assertions. I/O: temporary folders.

use polymut_schemas::{FileChange, NewSide, OutsideReason, ScopeSource};

use super::super::DiffFileError;
use super::{GitError, Place, lines, summary, with_diff};

const CODE: &str = "fn a() {\n    one();\n    two();\n    three();\n    four();\n}\n";

/// A change of every kind.
fn sample() -> Place {
    let place = Place::with(&[
        ("src/a.rs", CODE),
        ("my file.rs", CODE),
        ("caf\u{e9} \"x\".rs", CODE),
        ("old/name.rs", &CODE.replace("fn a", "fn moved")),
        ("gone.rs", "fn gone() { unlike(); the(); others(); }\n"),
        ("x.bin", "\0old"),
        ("same.rs", CODE),
        ("cut.rs", CODE),
    ]);
    place.write("src/a.rs", CODE.replace("one", "uno").replace("four", "quattro"));
    place.write("my file.rs", CODE.replace("two", "due"));
    place.write("caf\u{e9} \"x\".rs", CODE.replace("two", "due"));
    place.git(&["mv", "old/name.rs", "named.rs"]);
    place.write("named.rs", CODE.replace("fn a", "fn moved").replace("three", "tre"));
    place.remove("gone.rs");
    place.write("x.bin", "\0new");
    place.write("same.rs", CODE.replace("    ", "  "));
    place.write("cut.rs", CODE.replace("    two();\n", ""));
    place.write("new.rs", "fn n() {}\n");
    place.commit();
    place
}

#[test]
fn a_diff_in_any_dress_gives_the_scope_that_git_gives() {
    let place = sample();
    let expected = place.files(NewSide::Head);
    for args in [
        &[][..],
        &["-U0"],
        &["-U0", "--no-prefix"],
        &["--no-prefix"],
        &["-c", "diff.mnemonicPrefix=true"],
        &["--src-prefix=old/", "--dst-prefix=new/"],
        &["--binary"],
        &["--full-index", "--stat", "-p"],
    ] {
        let (settings, args): (Vec<&str>, Vec<&str>) = match args {
            ["-c", setting] => (vec!["-c", setting], vec![]),
            other => (vec![], other.to_vec()),
        };
        let command = [settings, vec!["diff", "-M"], args, vec!["main"]].concat();
        let diff = place.git_bytes(&command);
        let scope = place.scope(&with_diff(&diff));
        assert_eq!(scope.source, ScopeSource::DiffFile);
        assert_eq!(scope.files, expected, "{command:?}");
        let windows = String::from_utf8_lossy(&diff).replace('\n', "\r\n");
        if !command.contains(&"--binary") {
            assert_eq!(place.scope(&with_diff(windows)).files, expected, "{command:?} with CRLF");
        }
    }
}

#[test]
fn a_mail_with_a_patch_is_read() {
    let place = sample();
    let mail = place.git(&["format-patch", "--stdout", "-M", "main"]);
    assert_eq!(place.scope(&with_diff(mail)).files, place.files(NewSide::Head));
}

#[test]
fn a_plain_diff_without_git_headers_is_read() {
    let place = Place::with(&[("src/a.c", "a\nb\nc\n"), ("b.c", "x\n")]);
    let diff = "diff -u old/src/a.c new/src/a.c\n--- old/src/a.c\t2024-01-01 10:00:00.0 +0000\n+++ new/src/a.c\t2024-01-02 10:00:00.0 +0000\n@@ -1,2 +1,3 @@\n a\n+b\n c\n--- old/b.c\t2024\n+++ new/b.c\t2024\n@@ -1 +1 @@\n-y\n+x\n";
    assert_eq!(
        summary(&place.scope(&with_diff(diff)).files),
        vec![("b.c", FileChange::Modified, vec![1], None), ("src/a.c", FileChange::Modified, vec![2], None)]
    );
}

#[test]
fn the_token_rule_holds_for_diffs() {
    let place = Place::with(&[("a.rs", "fn a() {\n    one(); // note\n    two();\n}\n")]);
    let diff = "--- a/a.rs\n+++ b/a.rs\n@@ -1,4 +1,4 @@\n fn a() {\n-one();\n-zwei();\n+    one(); // note\n+    two();\n }\n";
    let scope = place.scope(&with_diff(diff));
    assert_eq!((lines(&scope.files[0]), scope.files[0].same_tokens.count()), (vec![3], 1));
}

#[test]
fn modes_and_pure_renames_without_hunks_are_listed() {
    let place = Place::with(&[("b c.sh", "x\n"), ("new.rs", CODE)]);
    let diff = "diff --git a/b c.sh b/b c.sh\nold mode 100644\nnew mode 100755\ndiff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n";
    assert_eq!(
        summary(&place.scope(&with_diff(diff)).files),
        vec![
            ("b c.sh", FileChange::ModeChanged, vec![], Some(OutsideReason::ModeOnly)),
            ("new.rs", FileChange::Renamed, vec![], Some(OutsideReason::RenameOnly)),
        ]
    );
}

#[test]
fn a_folder_called_like_a_prefix_is_not_taken_for_one() {
    let place = Place::with(&[("a/x.py", "one()\n"), ("b/y.py", "two()\n")]);
    let diff = "--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n-uno()\n+one()\n--- b/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-due()\n+two()\n";
    let files = place.scope(&with_diff(diff)).files;
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a/x.py", "b/y.py"]);
}

#[track_caller]
fn error(place: &Place, diff: impl AsRef<[u8]>) -> DiffFileError {
    match place.try_scope(&with_diff(diff)) {
        Err(GitError::DiffFile { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

/// B06
#[test]
fn a_diff_of_another_tree_is_an_error_that_names_file_and_line() {
    let place = sample();
    let diff = place.git(&["diff", "main"]);
    place.write("src/a.rs", CODE.replace("one", "eins").replace("four", "quattro"));
    let found = error(&place, &diff);
    assert!(found.to_string().contains("src/a.rs:2 is `    eins();`"), "{found}");
    assert!(matches!(found, DiffFileError::OtherText { at: 2, .. }));
    place.write("src/a.rs", "fn a() {\n");
    assert!(matches!(error(&place, &diff), DiffFileError::OtherText { .. }));
    place.remove("src/a.rs");
    assert!(matches!(error(&place, &diff), DiffFileError::NoSuchFile { .. }));
}

#[test]
fn a_deleted_file_that_is_still_there_is_an_error() {
    let place = Place::with(&[("a.rs", "x\n")]);
    let diff = "--- a/a.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    assert!(matches!(error(&place, diff), DiffFileError::StillThere { .. }));
}

#[test]
fn what_is_no_whole_diff_is_an_error() {
    let place = Place::with(&[("a.rs", "x\ny\n")]);
    let head = "--- a/a.rs\n+++ b/a.rs\n";
    assert_eq!(error(&place, ""), DiffFileError::Empty);
    assert_eq!(error(&place, "\n \n"), DiffFileError::Empty);
    assert_eq!(error(&place, "hello\nworld\n"), DiffFileError::NoDiff);
    assert_eq!(error(&place, b"\xff\xfed\0i\0f\0f\0"), DiffFileError::Utf16);
    assert!(matches!(error(&place, head), DiffFileError::Malformed { line: 1, .. }));
    let cut = format!("{head}@@ -1,2 +1,2 @@\n-x\n");
    assert!(matches!(error(&place, cut), DiffFileError::Truncated { line: 3, missing: 2, .. }));
    let long = format!("{head}@@ -1 +1 @@\n-z\n+x\n+y\n");
    assert!(matches!(error(&place, long), DiffFileError::Malformed { line: 6, .. }));
    let short = format!("{head}@@ -1,3 +1,3 @@\n-z\n+x\ndiff --git a/b b/b\n");
    assert!(matches!(error(&place, short), DiffFileError::Malformed { line: 6, .. }));
    let header = format!("{head}@@ -1 @@\n");
    assert!(matches!(error(&place, header), DiffFileError::Malformed { line: 3, .. }));
    assert!(matches!(error(&place, "@@ -1 +1 @@\n-z\n+x\n"), DiffFileError::Malformed { line: 1, .. }));
    assert!(matches!(error(&place, "diff --cc a.rs\n@@@ -1 -1 +1 @@@\n"), DiffFileError::Malformed { .. }));
    let twice = format!("{head}@@ -1 +1 @@\n-z\n+x\n{head}@@ -2 +2 @@\n-z\n+y\n");
    assert!(matches!(error(&place, twice), DiffFileError::Malformed { .. }));
}

#[test]
fn every_diff_cut_short_is_an_error_or_a_smaller_diff_and_never_a_panic() {
    let place = sample();
    let diff = place.git_bytes(&["diff", "-M", "main"]);
    let whole = place.open();
    for end in 0..diff.len() {
        let request = with_diff(&diff[..end]);
        if let Ok(scope) = super::scope(&whole, &request) {
            assert!(!scope.files.is_empty(), "cut at {end}");
        }
    }
}
