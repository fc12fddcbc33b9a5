//! Suites that need what walls take away, and trees that change while they are read.
//!
//! In: small crates, walls around them. Out: verdicts that name the wall. I/O: processes, a listener on loopback.
#![cfg(target_os = "linux")]

use std::net::TcpListener;

use polymut_schemas::{BaselineState, Cause, Report, RunState};

use crate::crates::with_a_hanging_mutant;
use crate::live_stops::testing;
use crate::place::Place;
use crate::program::CargoMutants;

const MANIFEST: &str = "[package]\nname = \"fare\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"fare\"\nversion = \"0.1.0\"\n";
const SEALED: &[&str] = &["--isolation", "sealed", "--baseline-runs", "1", "--confirm", "0"];

/// A crate with one well-tested line that changed, and a test of the given body beside it.
fn crate_with(body: &str) -> Place {
    let tests = format!(
        "#[test]\nfn half() {{\n    assert_eq!(fare::half(8), 4);\n}}\n\n#[test]\nfn other() {{\n{body}\n}}\n"
    );
    let place = Place::with(&[
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/lib.rs", "pub fn half(cents: u32) -> u32 {\n    cents / 2\n}\n"),
        ("tests/half.rs", &tests),
    ]);
    place.edit("src/lib.rs", "    cents / 2", "    (cents) / 2");
    place
}

/// The words of a suite that is red on this machine.
#[track_caller]
fn red(report: &Report) -> String {
    match &report.runs[0].state {
        RunState::RedBaseline { quote, cause: Cause::Machine } => quote.text.clone(),
        other => panic!("{other:?}\n{:#?}", report.runs[0].notes),
    }
}

#[test]
fn a_suite_that_talks_over_loopback_passes_inside_of_the_walls() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = crate_with(
        "    let listener = std::net::TcpListener::bind(\"127.0.0.1:0\").unwrap();\n    \
         std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();\n    listener.accept().unwrap();",
    );
    let report = place.run(SEALED, 0);
    assert_eq!(report.runs[0].baseline.as_ref().unwrap().state, BaselineState::Green);
    assert!(!report.mutants.is_empty());
    assert!(
        report.runs[0].timing.peak_memory.is_some_and(|peak| peak > 1 << 20),
        "{:?}",
        report.runs[0].timing
    );
}

#[test]
fn a_suite_that_needs_the_outside_is_told_so_and_runs_with_the_network_that_it_asks_for() {
    if CargoMutants::get().is_none() {
        return;
    }
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let place = crate_with(&format!(
        "    std::net::TcpStream::connect((\"127.0.0.1\", {port})).expect(\"the tariff server\");"
    ));
    let words = red(&place.run(SEALED, 3));
    assert!(words.contains("needs the network") && words.contains("network = \"host\""), "{words}");
    assert!(words.contains("failing: other"), "the suite's own words are missing: {words}");
    place.write(
        "polymut.toml",
        "[[project]]\npath = \".\"\nnetwork = \"host\"\nreason = \"asks the tariff server\"\n",
    );
    let open = place.run(SEALED, 0);
    assert_eq!(open.runs[0].state, RunState::Complete, "{:?}", open.runs[0].notes);
    let reached = open.runs[0].containment.as_ref().unwrap();
    assert!(!reached.guarantees[&polymut_schemas::Guarantee::Network].held, "{reached:?}");
}

#[test]
fn a_suite_that_needs_more_memory_than_it_is_given_is_told_so() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = crate_with(
        "    let tariff = vec![1_u8; 700 << 20];\n    assert_eq!(tariff.iter().step_by(4096).map(|b| u64::from(*b)).sum::<u64>(), 179_200);",
    );
    place.write("polymut.toml", "[[project]]\npath = \".\"\nmemory = \"500MiB\"\n");
    let words = red(&place.run(SEALED, 3));
    assert!(words.contains("needs more memory") && words.contains("memory = "), "{words}");
}

#[test]
fn a_file_that_is_edited_while_a_sealed_run_reads_it_makes_the_run_inconclusive() {
    if CargoMutants::get().is_none() {
        return;
    }
    let place = with_a_hanging_mutant();
    let out = place.beside("r.json");
    let json = format!("json={}", out.display());
    let mut child = testing(&place, &["--isolation", "sealed", "--confirm", "0", "--format", &json]);
    place.write("src/lib.rs", place.read("src/lib.rs") + "\n// edited meanwhile\n");
    child.wait().unwrap();
    let report: Report = serde_json::from_str(&fs_err::read_to_string(out).unwrap()).unwrap();
    let RunState::Partial { quote, cause: Cause::Machine } = &report.runs[0].state else {
        panic!("{:?}", report.runs[0].state)
    };
    assert!(quote.text.contains("`src/lib.rs` was edited while"), "{quote:?}");
}
