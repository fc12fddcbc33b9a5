//! Which base is used, and what happens without one.
//!
//! In: repositories built here. Out: assertions. I/O: temporary folders.

use polymut_schemas::{FileChange, NewSide};

use super::{GitError, Place, against, detected, lines, summary};

const CODE: &str = "fn a() {\n    one();\n    two();\n}\n";

/// A clone with a branch `change` that edits line 2, of an origin whose `main` and `next` are apart.
fn clone() -> (Place, Place) {
    let origin = Place::with(&[("a.rs", CODE)]);
    origin.git(&["switch", "-q", "-c", "next", "main"]);
    origin.write("next.rs", CODE);
    origin.commit();
    origin.git(&["switch", "-q", "main"]);
    let place = Place::cloned(&[origin.path().to_str().unwrap()]);
    place.git(&["switch", "-q", "-c", "change"]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.commit();
    (origin, place)
}

#[track_caller]
fn used(place: &Place, env: &[(&str, &str)]) -> (String, String) {
    let base = place.scope(&detected(env)).base.unwrap();
    (base.name, base.found_by)
}

fn pair(name: &str, found_by: &str) -> (String, String) {
    (name.to_owned(), found_by.to_owned())
}

#[test]
fn ci_variables_are_asked_in_order_and_the_one_used_is_named() {
    let (_origin, place) = clone();
    let next = place.git(&["rev-parse", "origin/next"]).trim().to_owned();
    assert_eq!(used(&place, &[("GITHUB_BASE_REF", "next")]), pair("origin/next", "GITHUB_BASE_REF"));
    assert_eq!(
        used(
            &place,
            &[("CI_MERGE_REQUEST_DIFF_BASE_SHA", &next), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")]
        ),
        pair(&next, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
    );
    for variable in [
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
        "CHANGE_TARGET",
        "BITBUCKET_PR_DESTINATION_BRANCH",
    ] {
        assert_eq!(used(&place, &[(variable, "next")]), pair("origin/next", variable));
    }
    assert_eq!(
        used(&place, &[("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/next")]),
        pair("origin/next", "SYSTEM_PULLREQUEST_TARGETBRANCH")
    );
    assert_eq!(used(&place, &[("GITHUB_BASE_REF", "")]), pair("origin/main", "origin/HEAD"));
}

#[test]
fn a_missing_commit_falls_to_the_branch_that_ci_names_beside_it() {
    let (_origin, place) = clone();
    let gone = "1".repeat(40);
    let env =
        [("CI_MERGE_REQUEST_DIFF_BASE_SHA", gone.as_str()), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")];
    assert_eq!(used(&place, &env), pair("origin/main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"));
}

#[test]
fn a_local_branch_serves_where_the_remote_one_is_missing() {
    let place = Place::with(&[("a.rs", CODE)]);
    assert_eq!(used(&place, &[("GITHUB_BASE_REF", "main")]), pair("main", "GITHUB_BASE_REF"));
    assert_eq!(used(&place, &[]), pair("main", "default branch"));
    place.git(&["branch", "-m", "main", "master"]);
    assert_eq!(used(&place, &[]), pair("master", "default branch"));
}

#[test]
fn the_remote_default_branch_goes_before_the_local_one() {
    let (_origin, place) = clone();
    assert_eq!(used(&place, &[]), pair("origin/main", "origin/HEAD"));
    place.git(&["remote", "set-head", "origin", "--delete"]);
    assert_eq!(used(&place, &[]), pair("origin/main", "default branch"));
}

#[test]
fn a_ci_branch_that_is_not_here_is_an_error_and_no_other_base_is_taken() {
    let (_origin, place) = clone();
    let error = place.try_scope(&detected(&[("GITHUB_BASE_REF", "release/1")])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no base to compare with: origin/release/1 (GITHUB_BASE_REF), release/1 (GITHUB_BASE_REF) do not exist here"
    );
    assert!(error.hint().unwrap().contains("git fetch origin"), "{:?}", error.hint());
}

#[test]
fn a_wrong_base_names_the_one_that_exists() {
    let (_origin, place) = clone();
    let error = place.try_scope(&against("next")).unwrap_err();
    assert_eq!(error.to_string(), "--base next names no commit here");
    assert_eq!(error.hint().unwrap(), "`--base origin/next` exists");
    assert!(place.try_scope(&against("--help")).is_err());
}

#[test]
fn without_any_base_what_was_tried_is_named() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.git(&["branch", "-D", "-q", "main"]);
    let error = place.try_scope(&detected(&[])).unwrap_err();
    assert!(error.to_string().contains("origin/HEAD, origin/main, main, origin/master, master"), "{error}");
}

/// B07
#[test]
fn a_shallow_clone_is_an_error_that_names_the_missing_fetch() {
    let (_origin, upstream) = clone();
    let url = format!("file://{}", upstream.root());
    let place = Place::cloned(&["--depth=1", "--no-single-branch", &url]);
    place.write("a.rs", CODE.replace("two", "due"));
    let error = place.try_scope(&against("origin/main")).unwrap_err();
    assert!(matches!(error, GitError::NoMergeBase { shallow: true, .. }), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("git fetch --unshallow") && hint.contains("fetch-depth: 0"), "{hint}");
}

/// B07
#[test]
fn a_base_fetched_with_depth_one_into_a_full_clone_is_an_error_as_well() {
    let (origin, place) = clone();
    origin.write("b.rs", CODE);
    origin.commit();
    place.git(&[
        "fetch",
        "-q",
        "--depth=1",
        &format!("file://{}", origin.root()),
        "+main:refs/remotes/origin/main",
    ]);
    let error = place.try_scope(&against("origin/main")).unwrap_err();
    assert!(matches!(error, GitError::NoMergeBase { shallow: true, .. }), "{error}");
}

#[test]
fn unrelated_histories_are_an_error() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.git(&["switch", "-q", "--orphan", "other"]);
    place.write("b.rs", CODE);
    place.commit();
    let error = place.try_scope(&against("main")).unwrap_err();
    assert!(matches!(error, GitError::NoMergeBase { shallow: false, .. }), "{error}");
}

/// B10
#[test]
fn on_a_merge_commit_made_by_ci_the_change_is_what_it_adds_to_the_base() {
    let place = Place::with(&[("a.rs", CODE), ("b.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.commit();
    place.git(&["switch", "-q", "main"]);
    place.write("b.rs", CODE.replace("two", "due"));
    let tip = place.commit();
    place.git(&["switch", "-q", "--detach"]);
    place.git(&["merge", "-q", "--no-edit", "change"]);
    let scope = place.scope(&detected(&[("GITHUB_BASE_REF", "main")]));
    assert_eq!(summary(&scope.files), vec![("a.rs", FileChange::Modified, vec![2], None)]);
    assert_eq!((scope.merge_base, scope.base.unwrap().commit), (Some(tip.clone()), tip));
}

#[test]
fn before_the_first_commit_only_everything_can_be_asked_for() {
    let place = Place::new();
    place.write("a.rs", CODE);
    assert!(matches!(place.try_scope(&against("main")), Err(GitError::NoCommit)));
    let all = place.scope(&super::ScopeRequest { all: true, ..detected(&[]) });
    assert_eq!(lines(&all.files[0]), vec![1, 2, 3, 4]);
}

#[test]
fn an_unmerged_index_cannot_be_the_new_side_but_the_working_tree_can() {
    let place = Place::with(&[("a.rs", CODE)]);
    place.write("a.rs", CODE.replace("one", "uno"));
    place.commit();
    place.git(&["switch", "-q", "main"]);
    place.write("a.rs", CODE.replace("one", "eins"));
    place.commit();
    place.git(&["switch", "-q", "change"]);
    place.git(&["-c", "merge.conflictStyle=merge", "rerere", "status"]);
    // The merge fails on purpose.
    let merge = std::panic::catch_unwind(|| place.git(&["merge", "-q", "main"]));
    assert!(merge.is_err());
    place.write("a.rs", CODE.replace("one", "un"));
    let base = place.git(&["rev-parse", "main~1"]).trim().to_owned();
    let index = super::ScopeRequest { side: NewSide::Index, ..against(&base) };
    assert!(matches!(place.try_scope(&index), Err(GitError::Unmerged { path }) if path == "a.rs"));
    assert_eq!(
        summary(&place.scope(&against(&base)).files),
        vec![("a.rs", FileChange::Modified, vec![2], None)]
    );
}
