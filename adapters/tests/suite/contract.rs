//! What every adapter promises, tried on every recorded case: damage is noticed, plans are pure, no word is unknown.
//!
//! In: fixtures, damaged. Out: failures. I/O: see the suite.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use polymut_adapters::tools::REGISTRY;
use polymut_adapters::{Finish, ParseError, Parsed, Piece, Plan};
use polymut_schemas::Status;
use proptest::test_runner::{Config, TestRunner};

use crate::case::{Case, RoundSpec, all_cases, cases_of, words_of};
use crate::input::{Input, read_input};
use crate::play::{Player, with_nothing_known};
use crate::show::show_place;

pub(crate) type Reading = Result<Result<Parsed, ParseError>, String>;

#[test]
fn every_adapter_has_a_fixture_and_a_list_of_words() {
    for adapter in REGISTRY {
        let info = adapter.info();
        if std::env::var_os("POLYMUT_CASE").is_none() {
            assert!(!cases_of(*adapter).is_empty(), "tests/fixtures/{}/ has no case", info.id);
        }
        assert!(!words_of(*adapter).word.is_empty(), "tests/fixtures/{}/words.toml is empty", info.id);
        // A format that is only imported has no sources of its own.
        let only_read = info.recipe.provides.is_empty();
        assert!(!info.languages.is_empty(), "{} names no language", info.id);
        assert!(only_read || !info.extensions.is_empty(), "{} names no source files", info.id);
    }
}

#[test]
fn every_tool_says_so_at_a_version_that_it_was_not_tested_with() {
    for adapter in REGISTRY {
        let info = adapter.info();
        let pinned = info.recipe.version;
        assert!(pinned.is_empty() || info.untested(pinned).is_none(), "{} pins {pinned}", info.id);
        for version in ["0.0.1", "0.1", "999.0.0", "999.1", "999.0.0-beta.1"] {
            let said = info.untested(version);
            assert!(
                said.is_some_and(|text| text.contains(version) && text.contains(info.supported)),
                "{}",
                info.id
            );
        }
        // A gremlins that was built from source knows no more of itself.
        assert_eq!(info.untested("dev"), None);
    }
}

#[test]
fn plans_are_deterministic_and_hold_no_machine_path() {
    let mut wrong = Vec::new();
    for case in all_cases() {
        let mut player = Player::new(&case);
        for (at, round) in case.spec.round.iter().enumerate() {
            let first = player.peek(round, &read_input(&case, round));
            let outcome = player.play(round);
            if first.plan != outcome.plan {
                wrong.push(format!("{} round {at}: two plans differ", case.name));
            }
            if let Some(Ok(Some(plan))) = &outcome.plan {
                wrong.extend(
                    plan_faults(plan).into_iter().map(|text| format!("{} round {at}: {text}", case.name)),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn plan_faults(plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for step in &plan.steps {
        if !names.insert(&step.name) {
            faults.push(format!("step `{}` stands twice", step.name));
        }
        if step.command.program.is_empty() {
            faults.push(format!("step `{}` has no program", step.name));
        }
        for piece in step.command.args.iter().chain(step.command.env.values()).flatten() {
            if let Piece::Text(text) = piece
                && (text.starts_with('/') || text.contains("=/") || text.contains(env!("CARGO_MANIFEST_DIR")))
                && text != "/dev/null"
            {
                faults.push(format!("step `{}` has an absolute path: {text}", step.name));
            }
        }
        for file in &step.files {
            if String::from_utf8_lossy(&file.bytes).contains(env!("CARGO_MANIFEST_DIR")) {
                faults.push(format!("{} holds a machine path", show_place(&file.at)));
            }
        }
    }
    faults
}

#[test]
fn nothing_known_is_no_panic() {
    for case in all_cases() {
        for round in &case.spec.round {
            if round.stage == "replay" {
                continue;
            }
            let mut player = Player::new(&case);
            with_nothing_known(&mut player);
            let empty = Input { ran: polymut_adapters::Ran::default(), named: Vec::new() };
            let outcome = catch_unwind(AssertUnwindSafe(|| player.peek(round, &empty)));
            assert!(outcome.is_ok(), "{} {}: panics when nothing ran", case.name, round.stage);
            let parsed = outcome.ok().and_then(|outcome| outcome.parsed);
            let complete = matches!(&parsed, Some(Ok(parsed)) if parsed.finish == Finish::Complete);
            let judges = ["prepare", "list", "test", "confirm", "import"].contains(&round.stage.as_str());
            assert!(!(complete && judges), "{} {}: complete, though nothing ran", case.name, round.stage);
        }
    }
}

#[test]
fn a_damaged_artifact_is_never_a_complete_success() {
    let mut wrong = Vec::new();
    for_each_essential(|case, round, player, input, item| {
        let whole = bytes_of(input, item);
        let damages: [(&str, Option<&[u8]>); 4] = [
            ("empty", Some(b"")),
            ("missing", None),
            ("garbage", Some(b"\x00\xff\xfe<garbage {[ \"\n")),
            ("a message instead", Some(b"Segmentation fault (core dumped)\n")),
        ];
        for (what, bytes) in damages {
            wrong.extend(judge(read_as(player, round, &with(input, item, bytes)), case, item, what));
        }
        wrong.extend(cuts(case, round, player, input, item, &whole));
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn cuts(
    case: &Case,
    round: &RoundSpec,
    player: &mut Player<'_>,
    input: &Input,
    item: &str,
    whole: &[u8],
) -> Vec<String> {
    let solid = whole.trim_ascii_end().len();
    let mut wrong = Vec::new();
    let mut cut = |player: &mut Player<'_>, at: usize| {
        let reading = read_as(player, round, &with(input, item, Some(&whole[..at])));
        wrong.extend(judge(reading, case, item, &format!("cut at byte {at} of {}", whole.len())));
    };
    for back in 1..=4 {
        cut(player, solid.saturating_sub(back));
    }
    let config = Config { cases: 16, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let places = std::cell::RefCell::new(Vec::new());
    runner
        .run(&(0..solid.max(1)), |at| {
            places.borrow_mut().push(at);
            Ok(())
        })
        .expect("places to cut");
    for at in places.into_inner() {
        cut(player, at.min(solid.saturating_sub(1)));
    }
    wrong
}

fn judge(reading: Reading, case: &Case, item: &str, what: &str) -> Option<String> {
    match reading {
        Err(panic) => Some(format!("{}: {item} {what}: panics: {panic}", case.name)),
        Ok(Ok(parsed)) if parsed.finish == Finish::Complete => {
            Some(format!("{}: {item} {what}: still complete, {} mutants", case.name, parsed.mutants.len()))
        }
        Ok(Ok(_) | Err(_)) => None,
    }
}

#[test]
fn damage_anywhere_is_no_panic() {
    for case in all_cases() {
        let mut player = Player::new(&case);
        for round in &case.spec.round {
            let input = read_input(&case, round);
            for file in 0..input.ran.files.len().min(12) {
                for bytes in [Vec::new(), b"\xff\xfe\x00{".to_vec()] {
                    let mut damaged = input.clone();
                    damaged.ran.files[file].1 = bytes;
                    let reading = read_as(&mut player, round, &damaged);
                    assert!(reading.is_ok(), "{} {}: {reading:?}", case.name, round.stage);
                }
            }
            player.play(round);
        }
    }
}

#[test]
fn every_status_word_is_mapped_and_seen() {
    let mut wrong = Vec::new();
    for adapter in REGISTRY {
        let words = words_of(*adapter).word;
        let mut seen = BTreeSet::new();
        for case in cases_of(*adapter) {
            let mut player = Player::new(&case);
            for round in &case.spec.round {
                let Some(Ok(parsed)) = player.play(round).parsed else { continue };
                let mutants = parsed.mutants.into_iter();
                seen.extend(mutants.filter_map(|mutant| Some((mutant.word, mutant.status?.word()))));
            }
        }
        let id = adapter.info().id;
        for word in &words {
            assert!(Status::ALL.iter().any(|status| status.word() == word.status), "{id}: `{}`", word.status);
            let known = seen.contains(&(word.text.clone(), word.status.as_str()));
            if !known && word.unseen.is_none() && std::env::var_os("POLYMUT_CASE").is_none() {
                wrong.push(format!("{id}: no fixture shows `{}` as {}", word.text, word.status));
            }
        }
        for (word, status) in &seen {
            if !words.iter().any(|listed| listed.text == *word && listed.status == *status) {
                wrong.push(format!("{id}: `{word}` as {status} is not in words.toml"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn an_unknown_status_word_is_an_error() {
    let mut wrong = Vec::new();
    for_each_essential(|case, round, player, input, item| {
        for word in words_of(case.adapter).word {
            if word.untwistable.is_some() || !round.expect.counts.contains_key(&word.status) {
                continue;
            }
            let whole = bytes_of(input, item);
            let Some(twisted) = twist(&whole, word.text.as_bytes()) else { continue };
            match read_as(player, round, &with(input, item, Some(&twisted))) {
                Ok(Err(ParseError::UnknownStatus { .. })) => {}
                other => wrong.push(format!("{}: {item} with `{}` twisted: {other:?}", case.name, word.text)),
            }
        }
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every quoted or bracketed occurrence of `word` with its first letter exchanged; `None` where there is none.
fn twist(bytes: &[u8], word: &[u8]) -> Option<Vec<u8>> {
    let mut twisted = bytes.to_vec();
    let mut found = false;
    for at in 1..bytes.len().saturating_sub(word.len()) {
        let around = (bytes[at - 1], bytes[at + word.len()]);
        let whole_word = matches!(around, (b'"', b'"') | (b'\'', b'\'') | (b'>', b'<'));
        if whole_word && &bytes[at..at + word.len()] == word {
            twisted[at] = if twisted[at] == b'Q' { b'Z' } else { b'Q' };
            found = true;
        }
    }
    found.then_some(twisted)
}

/// Calls `act` for each essential item of each round that ends complete with at least one mutant.
pub(crate) fn for_each_essential(mut act: impl FnMut(&Case, &RoundSpec, &mut Player<'_>, &Input, &str)) {
    for case in all_cases() {
        let mut player = Player::new(&case);
        for round in &case.spec.round {
            let complete = round.expect.finish.as_deref().unwrap_or("complete") == "complete";
            let fails =
                round.expect.error.is_some() || round.expect.plan_error.is_some() || round.expect.no_plan;
            if complete && !fails && !round.expect.counts.is_empty() {
                let input = read_input(&case, round);
                for item in essentials(round, &input) {
                    act(&case, round, &mut player, &input, &item);
                }
            }
            player.play(round);
        }
    }
}

fn essentials(round: &RoundSpec, input: &Input) -> Vec<String> {
    if let Some(items) = &round.essential {
        return items.clone();
    }
    let gathered = input.ran.files.iter().map(|(place, _)| place.as_str().to_owned());
    gathered.chain(input.named.iter().map(|(name, _)| name.clone())).collect()
}

pub(crate) fn bytes_of(input: &Input, item: &str) -> Vec<u8> {
    if let Some(step) = item.strip_prefix("stdout of ") {
        return input.ran.step(step).map(|step| step.stdout.bytes.clone()).unwrap_or_default();
    }
    let gathered = input.ran.file_ending(item).map(<[u8]>::to_vec);
    let named = || input.named.iter().find(|(name, _)| name.ends_with(item)).map(|(_, bytes)| bytes.clone());
    gathered.or_else(named).unwrap_or_else(|| panic!("no file ends with `{item}`"))
}

pub(crate) fn with(input: &Input, item: &str, bytes: Option<&[u8]>) -> Input {
    let mut changed = input.clone();
    if let Some(step) = item.strip_prefix("stdout of ") {
        let steps = changed.ran.steps.iter_mut().filter(|end| end.name == step);
        steps.for_each(|end| end.stdout.bytes = bytes.unwrap_or_default().to_vec());
        return changed;
    }
    changed.ran.files.retain_mut(|(place, held)| replace(place.as_str(), held, item, bytes));
    changed.named.retain_mut(|(name, held)| replace(name, held, item, bytes));
    changed
}

/// Whether the file stays; its bytes are exchanged when it is the item.
fn replace(name: &str, held: &mut Vec<u8>, item: &str, bytes: Option<&[u8]>) -> bool {
    match (name.ends_with(item), bytes) {
        (true, Some(bytes)) => {
            bytes.clone_into(held);
            true
        }
        (true, None) => false,
        (false, _) => true,
    }
}

pub(crate) fn read_as(player: &mut Player<'_>, round: &RoundSpec, input: &Input) -> Reading {
    let outcome = catch_unwind(AssertUnwindSafe(|| player.peek(round, input)));
    match outcome {
        Ok(outcome) => Ok(outcome.parsed.expect("a round with a plan")),
        Err(panic) => Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "panic".to_owned())),
    }
}
