//! What the page's template is filled with: words only, ready to be shown.
//!
//! In: nothing. Out: types. I/O: none.

use serde::Serialize;

/// The whole page.
#[derive(Serialize)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) style: &'static str,
    pub(super) tone: &'static str,
    pub(super) word: String,
    pub(super) headline: String,
    pub(super) soft: Option<&'static str>,
    pub(super) scope: String,
    pub(super) facts: Vec<Fact>,
    pub(super) reasons: Vec<ReasonLine>,
    pub(super) tiles: Vec<Tile>,
    pub(super) finds: Vec<Find>,
    pub(super) untested: Option<Untested>,
    pub(super) projects: Vec<ProjectRow>,
    pub(super) owners: Vec<OwnerRow>,
    pub(super) files: Vec<FileRow>,
    pub(super) more_files: u64,
    pub(super) lists: Vec<List>,
    pub(super) waivers: Vec<WaiverRow>,
    pub(super) changed: Vec<ChangedRow>,
    pub(super) more_changed: u64,
    pub(super) runs: Vec<RunDetails>,
    pub(super) polymut: String,
    pub(super) schema: String,
}

/// A name and its value.
#[derive(Serialize)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// One reason of the verdict.
#[derive(Serialize)]
pub(super) struct ReasonLine {
    pub(super) tone: &'static str,
    pub(super) word: &'static str,
    pub(super) project: Option<String>,
    pub(super) message: String,
    pub(super) cause: Option<&'static str>,
    pub(super) links: Vec<String>,
}

/// One number at the top, and where it leads.
#[derive(Serialize)]
pub(super) struct Tile {
    pub(super) tone: &'static str,
    pub(super) number: u64,
    pub(super) label: &'static str,
    pub(super) href: Option<&'static str>,
}

/// Survivors, or mutants that no test reaches.
#[derive(Serialize)]
pub(super) struct Find {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) lead: &'static str,
    pub(super) tone: &'static str,
    pub(super) count: u64,
    pub(super) projects: Vec<FindProject>,
    /// Those beyond the page's budget for code: still each with its line.
    pub(super) rows: Vec<Row>,
    pub(super) listed: u64,
}

/// The finds of one project.
#[derive(Serialize)]
pub(super) struct FindProject {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) files: Vec<FindFile>,
}

/// The finds of one file.
#[derive(Serialize)]
pub(super) struct FindFile {
    pub(super) path: String,
    pub(super) owners: String,
    pub(super) cards: Vec<Card>,
}

/// One mutant with its code.
#[derive(Serialize)]
pub(super) struct Card {
    pub(super) id: String,
    pub(super) line: String,
    pub(super) operator: String,
    pub(super) function: Option<String>,
    pub(super) code: Vec<CodeLine>,
    pub(super) more: u64,
    pub(super) facts: Vec<Fact>,
}

/// One line of code.
#[derive(Serialize)]
pub(super) struct CodeLine {
    pub(super) gone: bool,
    pub(super) new: bool,
    pub(super) number: String,
    pub(super) sign: &'static str,
    pub(super) before: String,
    pub(super) marked: String,
    pub(super) after: String,
}

/// One mutant on one line.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) place: String,
    pub(super) operator: String,
    pub(super) status: &'static str,
    pub(super) note: String,
}

/// A list that stays folded.
#[derive(Serialize)]
pub(super) struct List {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) lead: &'static str,
    pub(super) count: u64,
    pub(super) rows: Vec<Row>,
    pub(super) more: u64,
}

/// Everything that has no answer.
#[derive(Serialize)]
pub(super) struct Untested {
    pub(super) jobs: Vec<JobRow>,
    pub(super) files: Vec<ChangedRow>,
    pub(super) rows: Vec<Row>,
    pub(super) more: u64,
}

/// One job that gave no full answer.
#[derive(Serialize)]
pub(super) struct JobRow {
    pub(super) project: String,
    pub(super) state: &'static str,
    pub(super) quote: String,
    pub(super) at: String,
    pub(super) cause: &'static str,
}

/// Counts of one project.
#[derive(Serialize)]
pub(super) struct ProjectRow {
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    pub(super) counts: Counts,
    pub(super) score: String,
    pub(super) time: String,
    pub(super) anchor: String,
}

/// Counts by drawer.
#[derive(Default, Serialize)]
pub(super) struct Counts {
    pub(super) survived: u64,
    pub(super) uncovered: u64,
    pub(super) unknown: u64,
    pub(super) killed: u64,
    pub(super) limited: u64,
    pub(super) unscored: u64,
}

/// Counts of one owner.
#[derive(Serialize)]
pub(super) struct OwnerRow {
    pub(super) name: String,
    pub(super) counts: Counts,
    pub(super) score: String,
}

/// Counts of one file.
#[derive(Serialize)]
pub(super) struct FileRow {
    pub(super) path: String,
    pub(super) counts: Counts,
}

/// One waiver that met a mutant.
#[derive(Serialize)]
pub(super) struct WaiverRow {
    pub(super) id: String,
    pub(super) state: &'static str,
    pub(super) reason: String,
    pub(super) owner: String,
    pub(super) date: String,
    pub(super) expires: String,
}

/// One changed file.
#[derive(Serialize)]
pub(super) struct ChangedRow {
    pub(super) path: String,
    pub(super) change: String,
    pub(super) lines: String,
    pub(super) what: String,
}

/// How one job was run.
#[derive(Serialize)]
pub(super) struct RunDetails {
    pub(super) anchor: String,
    pub(super) name: String,
    pub(super) facts: Vec<Fact>,
    pub(super) stages: Vec<StageRow>,
    pub(super) commands: Vec<CommandRow>,
    pub(super) notes: Vec<String>,
}

/// Counts of one stage.
#[derive(Serialize)]
pub(super) struct StageRow {
    pub(super) stage: String,
    pub(super) planned: String,
    pub(super) parsed: u64,
    pub(super) reported: u64,
    pub(super) dropped: String,
    pub(super) missing: u64,
}

/// One command.
#[derive(Serialize)]
pub(super) struct CommandRow {
    pub(super) stage: String,
    pub(super) step: String,
    pub(super) cwd: String,
    pub(super) line: String,
}
