//! How long the whole change takes: polymut beside the seven tools one after another, on the shipped example.
//!
//! In: nothing. Out: seconds per tool, medians and ratios on stdout. I/O: the example in a temporary folder, seven tools.
//!
//! `cargo bench --bench wall_time` (`ROUNDS`: rounds, default 3). Two comparisons, interleaved round by round:
//! - polymut without its re-checks against the tools with the same scope, one after another, on every core;
//! - polymut as it comes against a script that scopes them as a person would: changed files, modules, packages.
//!
//! Dependencies and tools lie ready for both sides, and every script must leave its tool's report.
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

#[path = "wall_time/alone.rs"]
mod alone;
mod support;

use std::time::Duration;

use alone::{Alone, Scoped, scripts};
use support::{Example, compare, demand, number, quietly, timed, tools};

/// What stays between rounds: installed dependencies, not build output.
const KEPT: &[&str] = &["node_modules", ".venv", "polymut-tools"];

fn main() {
    let example = Example::lay_out();
    ready(&example);
    let store = tools();
    let finest = scripts(store.to_str().unwrap(), Scoped::Finest);
    let files = scripts(store.to_str().unwrap(), Scoped::Files);
    let lean: &[&str] =
        &["run", "--base=main", "--baseline-runs=1", "--confirm=0", "--quiet", "--format=json=../r.json"];
    let usual: &[&str] = &["run", "--base=main", "--quiet", "--format=json=../r.json"];
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..number("ROUNDS", 3) {
        times[0].push(polymut(&example, lean));
        times[1].push(serial(&example, &finest));
        times[2].push(polymut(&example, usual));
        times[3].push(serial(&example, &files));
        println!("round {round}: {:.1?}", times.iter().map(|column| column[round]).collect::<Vec<_>>());
    }
    compare(
        "polymut without re-checks against the tools one after another (goal 0.85)",
        &times[0],
        &times[1],
    );
    compare("polymut as it comes against a person's script (goal 0.8)", &times[2], &times[3]);
}

/// Tools and dependencies, before anything is timed. Both sides find them in the project, as on a developer's machine.
fn ready(example: &Example) {
    for tool in ["cargo-mutants", "gremlins", "stryker-net"] {
        quietly(&mut example.polymut(&["tools", "install", tool]));
    }
    quietly(&mut example.script("web", "npm ci --no-audit --no-fund"));
    quietly(&mut example.script(
        "tools/manifest",
        "python3 -m venv .venv; .venv/bin/pip install -q -r requirements-dev.txt mutmut==3.8.1",
    ));
    quietly(
        &mut example
            .script("tools/labels", "python3 -m venv .venv; .venv/bin/pip install -q cosmic-ray==8.7.0"),
    );
    quietly(&mut example.script("services/rating", "cargo fetch"));
    quietly(&mut example.script("services/ledger", alone::PIT_READY));
    example.clean(KEPT);
}

/// One polymut run; the example fails its gate.
fn polymut(example: &Example, words: &[&str]) -> Duration {
    example.clean(KEPT);
    timed(&mut example.polymut(words), &[1])
}

/// Every tool after the other.
fn serial(example: &Example, scripts: &[Alone]) -> Duration {
    example.clean(KEPT);
    let mut total = Duration::ZERO;
    for one in scripts {
        let wall = timed(&mut example.script(one.folder, &one.script), one.codes);
        demand(&example.root.join(one.folder), one.report);
        println!("  {} in {}: {wall:.1?}", one.tool, one.folder);
        total += wall;
    }
    total
}
