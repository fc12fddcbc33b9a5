//! Compares what came out of a round with what its fixture expects.
//!
//! In: [`Played`], [`Expect`]. Out: failures as sentences. I/O: none.

use std::collections::BTreeMap;

use globset::GlobBuilder;
use polymut_adapters::{Finish, Gather, ParseError, Parsed, Place, Plan, PlanError, Promised, RawMutant};
use polymut_schemas::{RepoDir, Status};

use crate::case::{Expect, RoundSpec};
use crate::input::Input;
use crate::play::Played;
use crate::show::{show_path, show_place};

/// Failures of one round.
pub(crate) fn check(round: &RoundSpec, input: &Input, outcome: &Played) -> Vec<String> {
    let expect = &round.expect;
    let mut wrong = Vec::new();
    match &outcome.plan {
        Some(Err(error)) => {
            same(&mut wrong, "plan error", &expect.plan_error.as_deref(), &Some(plan_error(error)));
        }
        Some(Ok(None)) if !expect.no_plan => wrong.push("plan says that there is no such stage".to_owned()),
        Some(Ok(None)) => {}
        Some(Ok(Some(plan))) => check_plan(&mut wrong, round, input, plan),
        None => {}
    }
    match &outcome.parsed {
        Some(Err(error)) if expect.error.is_none() => wrong.push(format!("parse fails: {error}")),
        Some(Err(error)) => same(&mut wrong, "error", &expect.error.as_deref(), &Some(error_word(error))),
        Some(Ok(parsed)) => check_parsed(&mut wrong, expect, parsed),
        None if expect.plan_error.is_none() && !expect.no_plan => wrong.push("nothing was parsed".to_owned()),
        None => {}
    }
    wrong
}

fn check_plan(wrong: &mut Vec<String>, round: &RoundSpec, input: &Input, plan: &Plan) {
    if round.expect.no_plan || round.expect.plan_error.is_some() {
        wrong.push("plan was expected to refuse, but gives steps".to_owned());
    }
    for step in &round.step {
        if !plan.steps.iter().any(|planned| planned.name == step.name) {
            let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
            wrong.push(format!("step `{}` is not in the plan, which has {names:?}", step.name));
        }
    }
    for (place, _) in &input.ran.files {
        if !plan.gather.iter().any(|gather| gathers(gather, place)) {
            wrong.push(format!("no gather of the plan takes {}", show_place(place)));
        }
    }
}

fn gathers(gather: &Gather, place: &Place) -> bool {
    match gather {
        Gather::Nearest(_) => true,
        Gather::Files { under, glob, fresh: _ } => {
            let Some(relative) = below(under, place) else { return false };
            let glob = GlobBuilder::new(glob).literal_separator(true).build();
            glob.is_ok_and(|glob| glob.compile_matcher().is_match(relative))
        }
    }
}

fn below(under: &Place, place: &Place) -> Option<String> {
    let (under, place) = match (under, place) {
        (Place::Work(under), Place::Work(place)) => (under.as_str(), place.as_str()),
        (Place::Sandbox(under), Place::Sandbox(place)) => (under.as_str(), place.as_str()),
        (Place::Work(_), Place::Sandbox(_)) | (Place::Sandbox(_), Place::Work(_)) => return None,
    };
    let path = polymut_schemas::RepoPath::new(place).ok()?;
    RepoDir::new(under).ok()?.relative(&path).map(str::to_owned)
}

fn check_parsed(wrong: &mut Vec<String>, expect: &Expect, parsed: &Parsed) {
    if let Some(error) = &expect.error {
        wrong.push(format!("`{error}` was expected, but parse gives {:?}", parsed.finish));
    }
    let (finish, quote) = finish_words(&parsed.finish);
    same(wrong, "finish", expect.finish.as_deref().unwrap_or("complete"), finish);
    if let Some(words) = &expect.quote
        && !quote.contains(words.as_str())
    {
        wrong.push(format!("the quote `{quote}` does not hold `{words}`"));
    }
    same(wrong, "counts", &expect.counts, &counts(&parsed.mutants));
    same(wrong, "doubts", &expect.doubts, &doubts(&parsed.mutants));
    same(wrong, "more", &expect.more, &parsed.more);
    if let Some(promised) = expect.promised {
        same(wrong, "promised", &Some(promised), &promised_number(&parsed.promised));
    }
    if let Some(wanted) = &expect.baseline {
        let state = parsed.baseline.as_ref().map(|baseline| if baseline.green { "green" } else { "red" });
        same(wrong, "baseline", &Some(wanted.as_str()), &state);
    }
    let seen: Vec<String> = parsed.seen.iter().map(show_path).collect();
    for path in expect.seen.iter().filter(|path| !seen.contains(path)) {
        wrong.push(format!("`{path}` is not among the files seen: {seen:?}"));
    }
    for (name, values) in &expect.facts {
        same(wrong, &format!("fact {name}"), values.as_slice(), parsed.facts.all(name));
    }
    for words in &expect.notes {
        if !parsed.notes.iter().any(|note| note.0.contains(words.as_str())) {
            wrong.push(format!("no note holds `{words}`: {:?}", parsed.notes));
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(wrong: &mut Vec<String>, what: &str, wanted: &T, found: &T) {
    if wanted != found {
        wrong.push(format!("{what}: expected {wanted:?}, found {found:?}"));
    }
}

/// Mutants per status word.
pub(crate) fn counts(mutants: &[RawMutant]) -> BTreeMap<String, u64> {
    tally(mutants.iter().map(|mutant| mutant.status.map_or("listed", Status::word).to_owned()))
}

fn doubts(mutants: &[RawMutant]) -> BTreeMap<String, u64> {
    tally(mutants.iter().filter_map(|mutant| mutant.doubt).map(|doubt| snake(&format!("{doubt:?}"))))
}

fn tally(words: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn snake(camel: &str) -> String {
    let mut text = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

fn promised_number(promised: &Promised) -> Option<u64> {
    match promised {
        Promised::Listed(number) | Promised::Announced(number) => Some(*number),
        Promised::Unknown(_) => None,
    }
}

fn finish_words(finish: &Finish) -> (&'static str, &str) {
    match finish {
        Finish::Complete => ("complete", ""),
        Finish::Partial(quote) => ("partial", &quote.text),
        Finish::Nothing(quote) => ("nothing", &quote.text),
        Finish::RedBaseline(quote) => ("red_baseline", &quote.text),
        Finish::Broken(quote) => ("broken", &quote.text),
    }
}

fn plan_error(error: &PlanError) -> &'static str {
    match error {
        PlanError::Version { .. } => "version",
        PlanError::UserConfig { .. } => "user_config",
        PlanError::Missing { .. } => "missing",
        PlanError::Setting { .. } => "setting",
    }
}

fn error_word(error: &ParseError) -> &'static str {
    match error {
        ParseError::UnknownStatus { .. } => "unknown_status",
        ParseError::Malformed { .. } => "malformed",
        ParseError::Truncated { .. } => "truncated",
        ParseError::Encoding { .. } => "encoding",
        ParseError::FormatVersion { .. } => "format_version",
        ParseError::MissingArtifact { .. } => "missing_artifact",
        ParseError::NoImport { .. } => "no_import",
    }
}
