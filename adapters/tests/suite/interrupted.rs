//! What a tool had written when it was stopped is taken over by a run that goes on: it may be less than the whole, and
//! never anything else.
//!
//! In: fixtures, cut. Out: failures. I/O: see the suite.

use std::collections::BTreeMap;

use polymut_adapters::{End, Finish, Key, Parsed};
use polymut_schemas::Status;

use crate::case::{Case, RoundSpec};
use crate::contract::{bytes_of, for_each_essential, read_as, with};
use crate::input::Input;
use crate::play::Player;

/// How often each file is cut.
const CUTS: usize = 60;

#[test]
fn a_stopped_tool_gives_no_answer_that_it_would_not_have_given() {
    let (mut wrong, mut kept) = (Vec::new(), 0);
    for_each_essential(|case, round, player, input, item| {
        if round.stage == "test" {
            let (faults, answers) = stopped(case, (round, player), input, item);
            wrong.extend(faults);
            kept += answers;
        }
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(kept > 0 || std::env::var_os("POLYMUT_CASE").is_some(), "no case has kept an answer");
}

fn stopped(
    case: &Case,
    (round, player): (&RoundSpec, &mut Player<'_>),
    input: &Input,
    item: &str,
) -> (Vec<String>, usize) {
    let Ok(Ok(whole)) = read_as(player, round, input) else { return (Vec::new(), 0) };
    let whole = answers(&whole);
    let mut cut = input.clone();
    if let Some(last) = cut.ran.steps.last_mut() {
        last.end = End::Stopped;
    }
    let bytes = bytes_of(input, item);
    let (mut wrong, mut kept) = (Vec::new(), 0);
    for at in (0..=CUTS).map(|part| bytes.len() * part / CUTS) {
        let mut part = bytes[..at].to_vec();
        if item.starts_with("stdout of ") {
            // The executor keeps whole lines of a step that was stopped.
            let end = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            part.truncate(end);
        }
        let reading = read_as(player, round, &with(&cut, item, Some(&part)));
        let Ok(Ok(parsed)) = reading else { continue };
        if !matches!(parsed.finish, Finish::Complete | Finish::Partial(_)) {
            continue;
        }
        for (key, status) in answers(&parsed) {
            kept += 1;
            if whole.get(&key) != Some(&status) {
                let full = whole.get(&key);
                wrong.push(format!("{}: {item} cut at {at}: {key:?} {status:?}, not {full:?}", case.name));
            }
        }
    }
    (wrong, kept)
}

/// The answers that would be taken over.
fn answers(parsed: &Parsed) -> BTreeMap<Key, Status> {
    let answered = parsed.mutants.iter().filter_map(|mutant| Some((mutant.key.clone(), mutant.status?)));
    answered
        .filter(|(_, status)| {
            !matches!(status, Status::NotRun | Status::Errored | Status::Flaky | Status::OutOfMemory)
        })
        .collect()
}
