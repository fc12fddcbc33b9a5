//! What polymut adds to one tool: cargo-mutants through polymut beside the same cargo-mutants alone.
//!
//! In: nothing. Out: medians, ratio and spread on stdout. I/O: the example in a temporary folder, cargo, cargo-mutants.
//!
//! `cargo bench --bench overhead` (`ROUNDS`: pairs, default 10). Rounds are interleaved. Both test the same mutants of
//! `services/rating/crates/quote` on as many cores; the lean run has one baseline and replays nothing, as cargo-mutants
//! does, and the other is polymut as it comes. A hanging mutant is stopped after as long on every side.
#![expect(clippy::print_stdout, reason = "a benchmark speaks to whoever started it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on has to say so"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark starts programs as a user does")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of rounds are small"
)]

mod support;

use support::{Example, compare, cores, number, quietly, spread, timed, tools};

const FOLDER: &str = "services/rating";

fn main() {
    let example = Example::lay_out();
    quietly(&mut example.polymut(&["tools", "install", "cargo-mutants"]));
    // Registry and lock file are warm for both.
    quietly(&mut example.script(FOLDER, "cargo fetch"));
    let alone = alone();
    let report = example.root.with_file_name("report.json");
    let json = format!("--format=json={}", report.display());
    let lean = [
        "run",
        "--base=main",
        "--project=services/rating",
        "--baseline-runs=1",
        "--confirm=0",
        "--quiet",
        &json,
    ];
    let usual = ["run", "--base=main", "--project=services/rating", "--quiet", &json];
    let (mut ours, mut theirs, mut full) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..number("ROUNDS", 10) {
        theirs.push(timed(&mut example.script(FOLDER, &alone), &[2, 3]));
        example.clean(&[]);
        ours.push(timed(&mut example.polymut(&lean), &[1]));
        full.push(timed(&mut example.polymut(&usual), &[1]));
        println!(
            "round {round}: alone {:.2?}, lean {:.2?}, usual {:.2?}",
            theirs[round], ours[round], full[round]
        );
    }
    compare(
        "polymut --baseline-runs 1 --confirm 0 against cargo-mutants alone (goal 1.02 + 0.15 s)",
        &ours,
        &theirs,
    );
    let over =
        ours.iter().zip(&theirs).map(|(ours, theirs)| ours.as_secs_f64() - 1.02 * theirs.as_secs_f64());
    println!("  beyond 1.02 times: {:.3} s in the middle", spread(over.collect())[1]);
    compare("polymut as it comes against cargo-mutants alone", &full, &theirs);
}

/// cargo-mutants as a person calls it for the change, on every core. A mutant of the example never ends: both sides stop
/// it after as long, else the tool's own least limit of 20 s would be most of the difference.
fn alone() -> String {
    format!(
        "git diff --relative main > ../../change.diff
         {}/cargo-mutants/*/bin/cargo-mutants mutants --workspace --in-diff ../../change.diff --minimum-test-timeout 6 --jobs {} --output ../../out",
        tools().display(),
        cores()
    )
}
