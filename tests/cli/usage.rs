//! Exit 2: wrong use and configuration are found before anything is run.
//!
//! In: words and files that are wrong. Out: exit codes and messages. I/O: processes.

use std::process::Command;

use crate::crates::fare;
use crate::place::Place;
use crate::program::{Ran, polymut};

/// Exit 2 with these words, and nothing was made: no run folder, no report.
#[track_caller]
fn refused(place: &Place, words: &[&str], said: &str) -> Ran {
    let report = place.beside("report.json");
    let file = format!("--format=json={}", report.display());
    let ran = place.polymut(&[&["run", &file], words].concat()).ends(2).says(said);
    assert!(!report.exists(), "a report was written");
    assert!(!place.state().exists(), "something was run");
    ran
}

#[test]
fn an_unknown_key_of_the_configuration_is_refused_with_its_place() {
    let place = fare();
    place.write("polymut.toml", "[run]\nbugdet = \"1m\"\n");
    refused(&place, &["--base", "main"], "error: polymut.toml:2:1: unknown key `bugdet` in `run`")
        .says("help: did you mean `budget`?");
}

#[test]
fn a_configuration_that_is_no_toml_is_refused_with_its_place() {
    let place = fare();
    place.write("polymut.toml", "[run]\njobs = \n");
    refused(&place, &["--base", "main"], "error: polymut.toml:2:");
}

#[test]
fn a_base_that_does_not_exist_is_refused() {
    let place = fare();
    refused(&place, &["--base", "release"], "error: --base release names no commit here").says("help: fetch");
}

#[test]
fn a_branch_that_ci_names_and_nobody_fetched_is_refused_and_not_replaced_by_a_guess() {
    let place = fare();
    let ran = Ran::of(&place.command(&["run"]).env("GITHUB_BASE_REF", "release").output().unwrap());
    ran.ends(2).says("release (GITHUB_BASE_REF)").says("fetch");
}

#[test]
fn a_shallow_clone_is_refused_with_the_fetch_that_is_missing() {
    let origin = fare();
    origin.edit("src/lib.rs", "age < 16", "age < 17");
    origin.commit("change");
    origin.git(&["switch", "-q", "main"]);
    origin.write("README.md", "# Ferry\n");
    origin.commit("main moves on");
    let clone = origin.beside("clone");
    let url = format!("file://{}", origin.root().display());
    origin.git(&["clone", "-q", "--depth", "1", "-b", "change", &url, clone.to_str().unwrap()]);
    let run = || {
        let mut command = polymut(&clone, &origin.state());
        command.args(["run", "--base", "origin/main"]);
        Ran::of(&command.output().unwrap()).ends(2)
    };
    run().says("origin/main names no commit").says("fetch-depth: 0");
    // The base alone, fetched at depth 1, makes a second cut: still no common commit.
    let fetch = ["fetch", "-q", "--depth=1", "origin", "+main:refs/remotes/origin/main"];
    assert!(Command::new("git").args(fetch).current_dir(&clone).status().unwrap().success());
    run().says("no common commit here (this is a shallow clone)").says("fetch-depth: 0");
}

#[test]
fn a_full_clone_that_a_later_shallow_fetch_cut_is_refused_as_well() {
    let origin = fare();
    origin.git(&["switch", "-q", "main"]);
    origin.write("README.md", "# Ferry\n");
    origin.commit("main moves on");
    let clone = origin.beside("clone");
    let url = format!("file://{}", origin.root().display());
    origin.git(&["clone", "-q", "-b", "change", &url, clone.to_str().unwrap()]);
    origin.write("README.md", "# The ferry\n");
    origin.commit("and on");
    let fetch = ["fetch", "-q", "--depth=1", "origin", "+main:refs/remotes/origin/main"];
    assert!(Command::new("git").args(fetch).current_dir(&clone).status().unwrap().success());
    fs_err::write(clone.join("src/lib.rs"), "pub fn one() -> u32 { 1 }\n").unwrap();
    let mut command = polymut(&clone, &origin.state());
    let ran = Ran::of(&command.args(["run", "--base", "origin/main"]).output().unwrap());
    ran.ends(2).says("no common commit").says("fetch-depth: 0");
}

#[test]
fn an_output_that_cannot_be_had_is_refused_before_anything_runs() {
    let place = fare();
    refused(&place, &["--base", "main", "--format", "pdf"], "`pdf` is not a format; formats: text, json");
    let both = ["--base", "main", "--format", "text", "--format", "html"];
    refused(&place, &both, "two formats want stdout");
    let folder = ["--base", "main", "--format", "html=src"];
    refused(&place, &folder, "src cannot be written").says("help: name a file, not a folder");
    let below_a_file = ["--base", "main", "--format", "html=Cargo.toml/page.html"];
    refused(&place, &below_a_file, "Cargo.toml/page.html cannot be written");
}

#[test]
fn wrong_words_are_refused() {
    let place = fare();
    refused(&place, &["--base", "main", "--tool", "cargo-mutant"], "cargo-mutants");
    refused(&place, &["--base", "main", "--jobs", "0"], "--jobs");
    refused(&place, &["--base", "main", "--budget", "soon"], "not a time such as");
    refused(&place, &["--base", "main", "--all"], "cannot be used with");
    refused(&place, &["--base", "main", "--project", "no-such"], "no project matches `no-such`");
    refused(&place, &["--base", "main", "--project", "[z-a]"], "is not a glob");
    refused(&place, &["--diff-file", "no-such.diff"], "no-such.diff");
}

#[test]
fn a_folder_without_a_repository_is_refused() {
    let place = fare();
    let folder = place.beside("elsewhere");
    fs_err::create_dir_all(&folder).unwrap();
    let ran = Ran::of(&polymut(&folder, &place.state()).arg("run").output().unwrap());
    ran.ends(2).says("is not in a git repository").says("help: run polymut inside a git checkout");
}

#[test]
fn a_folder_that_does_not_exist_is_refused() {
    let place = fare();
    let ran = place.polymut(&["-C", "no-such-folder", "run"]).ends(2);
    assert!(ran.err.contains("no-such-folder"), "{}", ran.err);
}
