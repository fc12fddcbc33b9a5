//! Every recorded case gives the plan, the mutants, the counts and the end that its folder says.
//!
//! In: fixtures. Out: failures. I/O: see the suite.

use std::path::Path;

use crate::case::{Case, RoundSpec, all_cases};
use crate::check::{check, counts};
use crate::count::count;
use crate::input::read_input;
use crate::play::{Played, Player};
use crate::show::{mutants_text, plan_text};

#[test]
fn every_fixture_gives_what_it_expects() {
    let mut wrong = Vec::new();
    for case in all_cases() {
        let mut player = Player::new(&case);
        for (at, round) in case.spec.round.iter().enumerate() {
            let outcome = player.play(round);
            let found = check(round, &read_input(&case, round), &outcome)
                .into_iter()
                .chain(snapshots(&case, at, round, &outcome))
                .chain(independent(&case, round, &outcome));
            wrong.extend(found.map(|text| format!("{} round {at} ({}): {text}", case.name, round.stage)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn snapshots(case: &Case, at: usize, round: &RoundSpec, outcome: &Played) -> Vec<String> {
    let mut wrong = Vec::new();
    let stem = format!("{at:02}-{}", round.stage);
    if let Some(Ok(Some(plan))) = &outcome.plan {
        wrong.extend(snapshot(&case.dir, &format!("{stem}.plan.txt"), &plan_text(plan)));
    }
    if let Some(Ok(parsed)) = &outcome.parsed
        && round.expect.mutants
        && !parsed.mutants.is_empty()
    {
        wrong.extend(snapshot(&case.dir, &format!("{stem}.mutants.jsonl"), &mutants_text(&parsed.mutants)));
    }
    wrong
}

fn snapshot(dir: &Path, name: &str, text: &str) -> Option<String> {
    let path = dir.join("expect").join(name);
    if std::fs::read_to_string(&path).is_ok_and(|held| held == text) {
        return None;
    }
    if std::env::var_os("POLYMUT_BLESS").is_some() {
        std::fs::create_dir_all(dir.join("expect")).expect("a writable fixture folder");
        std::fs::write(&path, text).expect("a writable fixture folder");
        return None;
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    let line = held.lines().zip(text.lines()).find(|(held, found)| held != found);
    Some(format!(
        "expect/{name} differs ({line:?}); `POLYMUT_BLESS=1 cargo test -p polymut-adapters --test suite` rewrites it"
    ))
}

fn independent(case: &Case, round: &RoundSpec, outcome: &Played) -> Option<String> {
    let Some(Ok(parsed)) = &outcome.parsed else { return None };
    if round.stage != "import" && round.independent.is_empty() {
        return None;
    }
    let (own, adapter) = (count(&case.dir, &round.independent), counts(&parsed.mutants));
    (own != adapter).then(|| format!("an independent count gives {own:?}, the adapter {adapter:?}"))
}
