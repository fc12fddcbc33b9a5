//! `version` of `polymut.toml`: installed, refused with a remedy, or run with a word of warning.
//!
//! In: small crates, tools that say they are of other versions. Out: states, remedies and notes. I/O: processes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use polymut_schemas::{Outcome, Report, RunState};

use crate::crates::well_tested;
use crate::place::Place;
use crate::program::{CargoMutants, Ran};

/// A store that holds the real tool under another version, which is also what it says of itself.
fn store_with(place: &Place, tool: &CargoMutants, version: &str) -> PathBuf {
    let store = place.beside("tools");
    let folder = store.join("cargo-mutants").join(version);
    let program = folder.join("bin/cargo-mutants");
    fs_err::create_dir_all(program.parent().unwrap()).unwrap();
    let real = tool.program.display();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) echo cargo-mutants {version};; *) exec '{real}' \"$@\";; esac\n"
    );
    fs_err::write(&program, script).unwrap();
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    fs_err::write(folder.join(".complete"), "").unwrap();
    store
}

/// Runs a crate that asks for this version, with a store that has it.
fn run_at(tool: &CargoMutants, version: &str, code: i32) -> Report {
    let place = well_tested();
    ask_for(&place, version);
    let store = store_with(&place, tool, version);
    let mut command = place.command(&["run", "--base", "main", "--format", "json", "--baseline-runs", "1"]);
    Ran::of(&command.args(["--confirm", "0"]).env("POLYMUT_TOOLS", store).output().unwrap())
        .ends(code)
        .report()
}

fn ask_for(place: &Place, version: &str) {
    place.write("polymut.toml", format!("[[project]]\npath = \".\"\nversion = \"{version}\"\n"));
}

#[test]
fn a_version_that_is_too_old_is_refused_with_a_remedy() {
    let Some(tool) = CargoMutants::get() else { return };
    let report = run_at(tool, "24.11.0", 3);
    assert_eq!(report.verdict.outcome, Outcome::Inconclusive);
    let RunState::Skipped { quote, .. } = &report.runs[0].state else { panic!("{:#?}", report.runs) };
    assert!(quote.text.contains("cargo-mutants 24.11.0 cannot be driven"), "{}", quote.text);
    assert!(quote.text.contains("cargo install cargo-mutants"), "no remedy: {}", quote.text);
    assert!(report.mutants.is_empty());
}

#[test]
fn a_version_that_is_newer_than_any_tried_runs_and_says_so() {
    let Some(tool) = CargoMutants::get() else { return };
    let report = run_at(tool, "99.0.0", 0);
    assert_eq!(report.runs[0].state, RunState::Complete, "{:?}", report.runs[0].notes);
    assert_eq!(report.runs[0].tool_version.as_deref(), Some("99.0.0"));
    let notes = &report.runs[0].notes;
    let said = "cargo-mutants 99.0.0 is not among the versions that polymut was tested with";
    assert_eq!(notes.iter().filter(|note| note.contains(said)).count(), 1, "{notes:?}");
}

#[test]
fn a_version_that_is_not_there_is_named_with_the_command_that_brings_it() {
    let place = well_tested();
    ask_for(&place, "26.2.0");
    let mut command = place.command(&["run", "--base", "main", "--format", "json"]);
    let ran = Ran::of(&command.env("POLYMUT_TOOLS", place.beside("none")).output().unwrap()).ends(3);
    let report = ran.report();
    let RunState::Skipped { quote, .. } = &report.runs[0].state else { panic!("{:#?}", report.runs) };
    let remedy = "`polymut run --provision` installs cargo-mutants 26.2.0";
    assert!(quote.text.contains(remedy), "{}", quote.text);
}

#[test]
fn a_version_that_is_a_path_or_a_range_is_refused_before_anything_runs() {
    for version in ["../../../elsewhere", "1/../../x", ">=27", "latest", "27.1.0 --git x"] {
        let place = well_tested();
        ask_for(&place, version);
        let ran = place.polymut(&["run", "--base", "main", "--provision"]).ends(2);
        ran.says(&format!("`{version}` is not an exact version"));
    }
}
