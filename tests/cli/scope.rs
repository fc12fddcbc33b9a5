//! What counts as changed: the edit itself, whatever the layout, the clone, the user's git settings or a hook around it.
//!
//! In: repositories with a change. Out: claims about `plan --format json`. I/O: processes.

use std::fmt::Write as _;
use std::process::Command;

use polymut_schemas::{OutsideReason, Scope};
use serde_json::Value;

use crate::crates::{fare, workspace_below_the_root};
use crate::place::Place;
use crate::program::{Ran, polymut};

/// `plan --format json` as a value.
fn plan_of(command: &mut Command) -> Value {
    let ran = Ran::of(&command.output().unwrap()).ends(0);
    serde_json::from_str(&ran.out).unwrap()
}

fn plan(place: &Place, words: &[&str]) -> Value {
    plan_of(&mut place.command(&[&["plan", "--format", "json"], words].concat()))
}

/// The files in scope with the numbers of their changed lines.
fn lines(plan: &Value) -> Vec<(String, Vec<u32>)> {
    let scope: Scope = serde_json::from_value(plan["scope"].clone()).unwrap();
    let inside = scope.files.into_iter().filter(|file| file.outside.is_none());
    inside.map(|file| (file.path.to_string(), file.lines.lines().collect())).collect()
}

fn only(path: &str, line: u32) -> Vec<(String, Vec<u32>)> {
    vec![(path.to_owned(), vec![line])]
}

/// A table of 300 rows in a function, indented by `indent`, with a comment before each row where `comments` says so.
fn table(indent: &str, note: Option<&str>, limit: u32) -> String {
    let mut text = String::from("pub fn surcharge(zone: u32) -> u32 {\n");
    for zone in 0..300 {
        if let Some(note) = note {
            writeln!(text, "{indent}// {note} {zone}").unwrap();
        }
        let limit = if zone == 150 { limit } else { 7 };
        writeln!(text, "{indent}if zone == {zone} {{ return {limit}; }}").unwrap();
    }
    text + "    0\n}\n"
}

#[test]
fn one_edit_among_three_hundred_re_indented_and_commented_lines_is_one_line() {
    let place = fare();
    place.write("src/table.rs", table("  ", None, 7));
    place.commit("table");
    place.git(&["branch", "-f", "main"]);
    place.write("src/table.rs", table("    ", Some("Zone"), 8));
    let text = fs_err::read_to_string(place.root().join("src/table.rs")).unwrap();
    let edit = text.lines().position(|line| line.contains("return 8")).unwrap() + 1;
    let plan = plan(&place, &["--base", "main"]);
    assert_eq!(lines(&plan), only("src/table.rs", u32::try_from(edit).unwrap()));
    // What left the scope is told, not lost: the 300 comments and the other 299 rows.
    let same: Scope = serde_json::from_value(plan["scope"].clone()).unwrap();
    assert_eq!(same.files[0].same_tokens.count(), 599, "{plan:#}");
}

#[test]
fn a_file_that_was_only_laid_out_anew_has_no_job() {
    let place = fare();
    place.write("src/table.rs", table("  ", None, 7));
    place.commit("table");
    place.git(&["branch", "-f", "main"]);
    place.write("src/table.rs", table("\t", Some("Row"), 7));
    let plan = plan(&place, &["--base", "main"]);
    assert_eq!(plan["jobs"], Value::Array(Vec::new()));
    let scope: Scope = serde_json::from_value(plan["scope"].clone()).unwrap();
    assert_eq!(scope.files[0].outside, Some(OutsideReason::SameTokens));
}

#[test]
fn no_setting_of_the_user_and_no_hook_changes_the_plan() {
    let place = workspace_below_the_root();
    let plain = plan(&place, &["--base", "main"]);
    assert_eq!(lines(&plain), only("services/rating/crates/quote/src/lib.rs", 3));
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("diff.external", "false"),
        ("core.pager", "false"),
        ("diff.renames", "false"),
    ];
    for (name, value) in settings {
        place.git(&["config", name, value]);
        assert_eq!(plan(&place, &["--base", "main"]), plain, "{name}");
    }
    // A hook of another repository, and a hook's view of this one.
    let other = fare();
    let git_dir = other.root().join(".git");
    let hooks: [&[(&str, &str)]; 2] = [
        &[("GIT_DIR", git_dir.to_str().unwrap()), ("GIT_WORK_TREE", other.root().to_str().unwrap())],
        &[("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index"), ("GIT_PREFIX", "services/")],
    ];
    for hook in hooks {
        let mut command = place.command(&["plan", "--format", "json", "--base", "main"]);
        assert_eq!(plan_of(command.envs(hook.iter().copied())), plain, "{hook:?}");
    }
    // From a folder further down.
    let mut command = polymut(&place.root().join("services/rating"), &place.state());
    assert_eq!(plan_of(command.args(["plan", "--format", "json", "--base", "main"])), plain, "from below");
    assert_eq!(plan(&other, &["-C", place.root().to_str().unwrap(), "--base", "main"]), plain, "-C");
}

#[test]
fn the_base_branch_s_own_commits_are_not_the_change() {
    let place = fare();
    place.edit("src/lib.rs", "age < 16", "age < 17");
    place.commit("change");
    place.git(&["switch", "-q", "main"]);
    place.write("src/other.rs", "pub fn other() -> u32 {\n    3\n}\n");
    place.edit("src/lib.rs", "free = free.max(wanted);", "free = wanted.max(free);");
    place.commit("main moves on");
    place.git(&["switch", "-q", "change"]);
    let plan = plan(&place, &["--base", "main"]);
    assert_eq!(lines(&plan), only("src/lib.rs", 5));
    assert_ne!(plan["scope"]["merge_base"], plan["scope"]["base"]["commit"]);
}

#[test]
fn at_the_merge_commit_that_ci_makes_the_change_is_the_branch_s() {
    let place = fare();
    place.edit("src/lib.rs", "age < 16", "age < 17");
    place.commit("change");
    place.git(&["switch", "-q", "main"]);
    place.write("src/other.rs", "pub fn other() -> u32 {\n    3\n}\n");
    place.commit("main moves on");
    place.git(&["switch", "-q", "--detach"]);
    place.git(&["merge", "-q", "--no-ff", "-m", "merge", "change"]);
    let mut command = place.command(&["plan", "--format", "json"]);
    let plan = plan_of(command.env("GITHUB_BASE_REF", "main"));
    assert_eq!(lines(&plan), only("src/lib.rs", 5));
    assert_eq!(plan["scope"]["base"]["found_by"], "GITHUB_BASE_REF");
    assert_eq!(plan["scope"]["merge_base"], place.git(&["rev-parse", "main"]));
}

#[test]
fn line_ends_of_the_checkout_are_no_change() {
    let place = fare();
    place.git(&["config", "core.autocrlf", "true"]);
    let text = fs_err::read_to_string(place.root().join("src/lib.rs")).unwrap();
    place.write("src/lib.rs", text.replace("age < 16", "age < 17").replace('\n', "\r\n"));
    assert_eq!(lines(&plan(&place, &["--base", "main"])), only("src/lib.rs", 5));
}

#[test]
fn a_commit_that_changes_line_ends_alone_is_no_change() {
    let place = fare();
    let text = fs_err::read_to_string(place.root().join("src/lib.rs")).unwrap();
    place.git(&["config", "core.autocrlf", "false"]);
    place.write("src/lib.rs", text.replace('\n', "\r\n"));
    place.commit("line ends");
    let plan = plan(&place, &["--base", "main"]);
    assert_eq!(lines(&plan), []);
    let scope: Scope = serde_json::from_value(plan["scope"].clone()).unwrap();
    assert_eq!(scope.files[0].outside, Some(OutsideReason::SameTokens));
}
