//! Fills the page: verdict, finds, what was not tested, tables, lists, how it was run.
//!
//! In: a report and sources. Out: [`Page`]. I/O: none.

use std::collections::BTreeSet;

use polymut_schemas::{MutantId, NewSide, Outcome, Reason, Report, Scope, ScopeWidth};

use super::cards::{Heading, find};
use super::lists::{changed, files, lists, owners, projects, tone, untested, waivers};
use super::model::{Fact, Find, Page, ReasonLine, Tile};
use super::{FULL_CARDS, LIST_ROWS, runs};
use crate::exit::softened;
use crate::report::escape::one_line;
use crate::report::view::{View, cause_label, headline, len, outcome_label, scope_phrase};
use crate::sources::Sources;

/// How many mutants of a reason are linked.
const LINKS: usize = 6;

/// The page of a report.
pub(super) fn page(report: &Report, sources: &Sources) -> Page {
    let view = View::of(report);
    let verdict = &report.verdict;
    let word = outcome_label(verdict.outcome);
    let anchored = anchored(&view);
    let (files, more_files) = files(report);
    let (changed, more_changed) = changed(report);
    Page {
        title: format!("{}: {}", capital(word), headline(&view)),
        style: include_str!("../templates/style.css"),
        tone: tone(verdict.outcome),
        word: capital(word),
        headline: headline(&view),
        soft: softened(verdict),
        scope: one_line(&scope_phrase(&report.scope)),
        facts: scope_facts(&report.scope),
        reasons: verdict.reasons.iter().map(|reason| reason_line(reason, &anchored)).collect(),
        tiles: tiles(&view),
        finds: finds(&view, sources),
        untested: untested(report, &view),
        projects: projects(report),
        owners: owners(report),
        files,
        more_files,
        lists: lists(&view),
        waivers: waivers(report),
        changed,
        more_changed,
        runs: report.runs.iter().enumerate().map(|(number, run)| runs::details(number, run)).collect(),
        polymut: one_line(&report.polymut),
        schema: polymut_schemas::SCHEMA.to_owned(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn finds(view: &View<'_>, sources: &Sources) -> Vec<Find> {
    let survived = Heading {
        id: "survivors",
        title: "Survivors",
        lead: "Each of these changes was made to a changed line, and every test still passed.",
        tone: "fail",
    };
    let uncovered = Heading {
        id: "uncovered",
        title: "No test reaches these",
        lead: "Changed lines that run in no test at all.",
        tone: "fail",
    };
    let left = FULL_CARDS.saturating_sub(view.survivors.len());
    let both = [
        find(&survived, &view.survivors, FULL_CARDS, sources),
        find(&uncovered, &view.uncovered, left, sources),
    ];
    both.into_iter().filter(|find| find.count > 0).collect()
}

/// The mutants that have a place on the page.
fn anchored<'a>(view: &View<'a>) -> BTreeSet<&'a MutantId> {
    let whole = [&view.survivors, &view.uncovered];
    let cut =
        [&view.unknown, &view.limited, &view.killed, &view.unscored, &view.old, &view.waived, &view.outside];
    let whole = whole.into_iter().flatten();
    let cut = cut.into_iter().flat_map(|drawer| drawer.iter().take(LIST_ROWS));
    whole.chain(cut).map(|mutant| &mutant.id).collect()
}

fn reason_line(reason: &Reason, anchored: &BTreeSet<&MutantId>) -> ReasonLine {
    let links = reason.mutants.iter().filter(|id| anchored.contains(id)).take(LINKS);
    ReasonLine {
        tone: tone(reason.outcome),
        word: match reason.outcome {
            Outcome::Pass => "note",
            Outcome::Fail | Outcome::Inconclusive => outcome_label(reason.outcome),
        },
        project: reason.project.as_ref().map(|project| one_line(project.as_str())),
        message: one_line(&reason.message),
        cause: reason.cause.map(cause_label),
        links: links.map(ToString::to_string).collect(),
    }
}

fn tiles(view: &View<'_>) -> Vec<Tile> {
    let tile =
        |tone, number: u64, label, href| Tile { tone, number, label, href: (number > 0).then_some(href) };
    vec![
        tile("fail", len(&view.survivors), "survived", "#survivors"),
        tile("fail", len(&view.uncovered), "not covered", "#uncovered"),
        tile("inconclusive", len(&view.unknown), "without an answer", "#untested"),
        tile("pass", len(&view.killed), "killed", "#killed"),
        tile("pass", len(&view.limited), "stopped by a limit", "#limits"),
        tile("note", len(&view.old), "old survivors", "#old"),
        tile("note", len(&view.waived), "waived", "#waived"),
    ]
}

fn scope_facts(scope: &Scope) -> Vec<Fact> {
    let short = |commit: &str| one_line(commit.get(..12).unwrap_or(commit));
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| Fact { name, value }));
    add(
        "Base",
        scope.base.as_ref().map(|base| {
            format!("{} ({}), from {}", one_line(&base.name), short(&base.commit), one_line(&base.found_by))
        }),
    );
    add("Merge base", scope.merge_base.as_deref().map(short));
    add("Head", scope.head.as_ref().map(|head| short(&head.commit)));
    let side = match scope.new_side {
        NewSide::WorkingTree => "the working tree, with uncommitted and untracked files",
        NewSide::Index => "what is staged",
        NewSide::Head => "the commit that is checked out",
    };
    add("Tested", Some(side.to_owned()));
    let width = match scope.width {
        ScopeWidth::Line => "mutants that touch a changed line",
        ScopeWidth::Function => "mutants of functions with a changed line",
        ScopeWidth::File => "mutants of files with a changed line",
        ScopeWidth::All => "every mutant of every project",
    };
    add("Scope", Some(width.to_owned()));
    facts
}
