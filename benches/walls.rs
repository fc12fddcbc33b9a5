//! What the walls cost: the example sealed beside the example without walls.
//!
//! In: nothing. Out: medians, ratio and spread on stdout. I/O: the example in a temporary folder, real tools.
//!
//! `cargo bench --bench walls` (`ROUNDS`: pairs, default 10; `PROJECTS`: globs, separated by blanks). Pairs are
//! interleaved, and which side comes first changes with every pair. The default leaves out the projects whose own start
//! takes most of the time, so that ten pairs end within a quarter of an hour.
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

use std::time::Duration;

use support::{Example, compare, number, quietly, timed};

fn main() {
    let example = Example::lay_out();
    let chosen = std::env::var("PROJECTS").unwrap_or_else(|_| {
        "services/rating services/tracking tools/labels web/packages/checkout".to_owned()
    });
    quietly(&mut example.script("web", "npm ci --no-audit --no-fund"));
    let projects: Vec<String> = chosen.split_whitespace().map(|glob| format!("--project={glob}")).collect();
    let run = |level: &str| {
        let mut command =
            example.polymut(&["run", "--base=main", "--quiet", "--format=json=../r.json", "--provision"]);
        command.arg(format!("--isolation={level}")).args(&projects);
        timed(&mut command, &[1])
    };
    // Tools and downloads are there before anything is timed.
    run("sealed");
    let (mut sealed, mut open): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    for round in 0..number("ROUNDS", 10) {
        if round % 2 == 0 {
            sealed.push(run("sealed"));
            open.push(run("none"));
        } else {
            open.push(run("none"));
            sealed.push(run("sealed"));
        }
        println!("round {round}: sealed {:.2?}, none {:.2?}", sealed[round], open[round]);
    }
    compare("sealed against no walls (goal 1.03)", &sealed, &open);
}
