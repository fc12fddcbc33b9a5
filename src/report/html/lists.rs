//! Tables and folded lists of the page: counts, changed files, waivers, everything that is no survivor.
//!
//! In: a report and its view. Out: rows. I/O: none.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use polymut_schemas::{
    FileChange, Group, LineSet, Mutant, Outcome, OutsideReason, Report, RunState, ScopeFile, Status,
    StatusCounts, StatusGroup, WaiverState,
};

use super::LIST_ROWS;
use super::cards::{file, row};
use super::model::{ChangedRow, Counts, FileRow, JobRow, List, OwnerRow, ProjectRow, Untested, WaiverRow};
use super::runs::{anchor, seconds, tool};
use crate::report::escape::one_line;
use crate::report::view::{
    View, cause_label, len, outcome_label, outside_label, percent, quote, score, state_label,
};

/// Everything without an answer, or nothing.
pub(super) fn untested(report: &Report, view: &View<'_>) -> Option<Untested> {
    let jobs: Vec<JobRow> = report
        .runs
        .iter()
        .filter_map(|run| {
            let (quote, cause) = quote(run)?;
            Some(JobRow {
                project: one_line(run.project.as_str()),
                state: state_label(&run.state),
                quote: one_line(&quote.text),
                at: one_line(&quote.at),
                cause: cause_label(cause),
            })
        })
        .collect();
    let unclaimed = |file: &&ScopeFile| {
        matches!(file.outside, Some(OutsideReason::Unclaimed | OutsideReason::NameNotUtf8))
    };
    let files: Vec<ChangedRow> = report.scope.files.iter().filter(unclaimed).map(changed_row).collect();
    let rows = view.unknown.iter().take(LIST_ROWS).map(|mutant| row(mutant)).collect();
    let more = len(&view.unknown).saturating_sub(LIST_ROWS as u64);
    let any = !jobs.is_empty() || !files.is_empty() || !view.unknown.is_empty();
    any.then_some(Untested { jobs, files, rows, more })
}

/// The lists that stay folded; empty ones are left out.
pub(super) fn lists(view: &View<'_>) -> Vec<List> {
    let list = |id, title, lead, mutants: &[&Mutant]| List {
        id,
        title,
        lead,
        count: len(mutants),
        rows: mutants.iter().take(LIST_ROWS).map(|mutant| row(mutant)).collect(),
        more: len(mutants).saturating_sub(LIST_ROWS as u64),
    };
    let all = [
        list(
            "limits",
            "Stopped by a limit",
            "Their tests did not end within the time or memory limit. They count as detected.",
            &view.limited,
        ),
        list("old", "Survivors that the base had as well", "Not the fault of this change.", &view.old),
        list("waived", "Accepted by a waiver", "Shown, and not held against the change.", &view.waived),
        list("killed", "Killed", "A test failed, as it should.", &view.killed),
        list(
            "unscored",
            "Not scored",
            "They do not build, or configuration leaves them out.",
            &view.unscored,
        ),
        list("outside", "Not on a changed line", "Reported by a tool beyond what was asked.", &view.outside),
    ];
    all.into_iter().filter(|list| list.count > 0).collect()
}

/// One row per job.
pub(super) fn projects(report: &Report) -> Vec<ProjectRow> {
    let rows = report.runs.iter().enumerate().map(|(number, run)| {
        let group = report.summary.projects.get(&run.project);
        let counts = counts(group);
        let tone = match run.state {
            RunState::Complete | RunState::NothingToMutate => "pass",
            RunState::Partial { .. }
            | RunState::Nothing { .. }
            | RunState::RedBaseline { .. }
            | RunState::Broken { .. }
            | RunState::Skipped { .. } => "inconclusive",
        };
        ProjectRow {
            name: one_line(run.project.as_str()),
            tool: tool(run),
            state: state_label(&run.state),
            tone,
            counts,
            score: score(group, &run.state).unwrap_or_else(|| "–".to_owned()),
            time: seconds(run.timing.wall),
            anchor: anchor(number),
        }
    });
    rows.collect()
}

/// One row per owner.
pub(super) fn owners(report: &Report) -> Vec<OwnerRow> {
    let owners = report.summary.owners.iter();
    owners
        .map(|(name, group)| OwnerRow {
            name: one_line(name),
            counts: counts(Some(group)),
            score: group.score.map_or_else(|| "–".to_owned(), percent),
        })
        .collect()
}

/// One row per file, those with most survivors first, and how many rows are left out.
pub(super) fn files(report: &Report) -> (Vec<FileRow>, u64) {
    let mut by_file: BTreeMap<&str, StatusCounts> = BTreeMap::new();
    for mutant in report.mutants.iter().filter(|mutant| mutant.in_scope) {
        by_file.entry(file(mutant)).or_default().add(mutant.status);
    }
    let mut rows: Vec<(&str, StatusCounts)> = by_file.into_iter().collect();
    rows.sort_by_key(|(path, counts)| {
        (Reverse(counts.group(StatusGroup::Undetected)), Reverse(counts.group(StatusGroup::Unknown)), *path)
    });
    let more = len(&rows).saturating_sub(LIST_ROWS as u64);
    let shown = rows.iter().take(LIST_ROWS);
    (shown.map(|(path, counts)| FileRow { path: one_line(path), counts: sorted(counts) }).collect(), more)
}

/// One row per waiver that met a mutant.
pub(super) fn waivers(report: &Report) -> Vec<WaiverRow> {
    let rows = report.waivers.iter().map(|used| WaiverRow {
        id: used.waiver.id.to_string(),
        state: match used.state {
            WaiverState::Used => "used",
            WaiverState::Stale => "stale",
            WaiverState::Expired => "expired",
        },
        reason: one_line(&used.waiver.reason),
        owner: used.waiver.owner.as_deref().map(one_line).unwrap_or_default(),
        date: one_line(&used.waiver.date),
        expires: used.waiver.expires.as_deref().map(one_line).unwrap_or_default(),
    });
    rows.collect()
}

/// One row per changed file, and how many are left out.
pub(super) fn changed(report: &Report) -> (Vec<ChangedRow>, u64) {
    let files = &report.scope.files;
    let rows = files.iter().take(LIST_ROWS).map(changed_row).collect();
    (rows, len(files).saturating_sub(LIST_ROWS as u64))
}

/// The words and the style of an outcome.
pub(super) fn tone(outcome: Outcome) -> &'static str {
    outcome_label(outcome)
}

fn changed_row(file: &ScopeFile) -> ChangedRow {
    let change = match file.change {
        FileChange::Added => "added",
        FileChange::Modified => "modified",
        FileChange::Renamed => "renamed",
        FileChange::Deleted => "deleted",
        FileChange::ModeChanged => "mode",
        FileChange::Whole => "whole file",
    };
    let from = file.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    let projects = file.projects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let same = file.same_tokens.count();
    let spared = if same > 0 { format!(" ({same} more with the same tokens)") } else { String::new() };
    ChangedRow {
        path: one_line(file.path.as_str()),
        change: one_line(&format!("{change}{from}")),
        lines: format!("{}{spared}", ranges(&file.lines)),
        what: one_line(&file.outside.map_or(projects, |reason| outside_label(reason).to_owned())),
    }
}

/// `3, 7–9`; the first dozen ranges.
fn ranges(lines: &LineSet) -> String {
    let shown = lines.ranges().iter().take(12).map(|range| {
        if range.first == range.last {
            range.first.to_string()
        } else {
            format!("{}–{}", range.first, range.last)
        }
    });
    let more = if lines.ranges().len() > 12 { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

fn counts(group: Option<&Group>) -> Counts {
    group.map(|group| sorted(&group.statuses)).unwrap_or_default()
}

fn sorted(counts: &StatusCounts) -> Counts {
    Counts {
        survived: counts.of(Status::Survived),
        uncovered: counts.of(Status::NoCoverage),
        unknown: counts.group(StatusGroup::Unknown),
        killed: counts.of(Status::Killed),
        limited: counts.of(Status::Timeout) + counts.of(Status::OutOfMemory),
        unscored: counts.group(StatusGroup::NotScored),
    }
}
