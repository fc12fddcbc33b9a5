//! The report for a terminal: the verdict, survivors first, what was not tested and why, then counts.
//!
//! In: a report. Out: text that reads well without colour. I/O: none.

use std::fmt::{self, Write as _};

use owo_colors::{OwoColorize as _, Style};
use polymut_schemas::{
    Mutant, Outcome, OutsideReason, Reason, Report, ScopeFile, Status, StatusGroup, ToolRun, Verdict,
};

use super::change::{Kind, change};
use super::escape::{one_line, visible};
use super::view::{
    View, cause_label, headline, len, outcome_label, outside_label, place, plural, scope_phrase, score,
    state_label, status_label,
};
use super::{FormatInfo, RenderError, Renderer};
use crate::exit::{Exit, softened};
use crate::sources::Sources;

/// Longest change that is shown in full.
const CHANGE_LINES: usize = 24;
/// How many mutants of a list that is no survivor list are named.
const NAMED: usize = 20;

/// Whether the text holds colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// Plain text, for files and for terminals without colour.
    Plain,
    /// ANSI colours.
    Ansi,
}

/// The text format.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Whether it is coloured.
    pub palette: Palette,
}

impl Renderer for Text {
    fn info(&self) -> &'static FormatInfo {
        &FormatInfo { name: "text", ending: "txt", about: "for people at a terminal; the default" }
    }

    fn render(&self, report: &Report, sources: &Sources) -> Result<Vec<u8>, RenderError> {
        let mut page = Page { text: String::new(), palette: self.palette, sources };
        // Writing to a `String` cannot fail.
        let _ = page.report(report);
        Ok(page.text.into_bytes())
    }
}

/// What a colour says.
#[derive(Clone, Copy)]
enum Ink {
    Good,
    Bad,
    Doubt,
    Quiet,
    Loud,
}

struct Page<'a> {
    text: String,
    palette: Palette,
    sources: &'a Sources,
}

impl Page<'_> {
    fn report(&mut self, report: &Report) -> fmt::Result {
        let view = View::of(report);
        let lead = verdict_line(&report.verdict, &view);
        let headed = self.paint(&lead, outcome_ink(report.verdict.outcome));
        writeln!(self.text, "{headed}\n{}", scope_phrase(&report.scope))?;
        self.reasons(&report.verdict)?;
        self.mutants("Survivors", &view.survivors, usize::MAX)?;
        self.mutants("No test reaches these", &view.uncovered, usize::MAX)?;
        self.untested(report, &view)?;
        self.mutants("Accepted by a waiver", &view.waived, NAMED)?;
        self.mutants("The base had these as well", &view.old, NAMED)?;
        self.limited(&view.limited)?;
        self.left_out(report)?;
        self.projects(report)?;
        writeln!(self.text, "\n{headed}")
    }

    fn paint(&self, text: &str, ink: Ink) -> String {
        let style = match ink {
            Ink::Good => Style::new().green().bold(),
            Ink::Bad => Style::new().red().bold(),
            Ink::Doubt => Style::new().yellow().bold(),
            Ink::Quiet => Style::new().dimmed(),
            Ink::Loud => Style::new().bold(),
        };
        match self.palette {
            Palette::Plain => text.to_owned(),
            Palette::Ansi => text.style(style).to_string(),
        }
    }

    fn title(&mut self, words: &str) -> fmt::Result {
        let title = self.paint(words, Ink::Loud);
        writeln!(self.text, "\n{title}")
    }

    fn reasons(&mut self, verdict: &Verdict) -> fmt::Result {
        if !verdict.reasons.is_empty() {
            writeln!(self.text)?;
        }
        for reason in &verdict.reasons {
            let word = match reason.outcome {
                Outcome::Pass => "note",
                Outcome::Fail | Outcome::Inconclusive => outcome_label(reason.outcome),
            };
            let word = self.paint(&format!("{word:<12}"), reason_ink(reason));
            let project = reason.project.as_ref().map(|project| format!("{}: ", one_line(project.as_str())));
            let cause = reason.cause.map(|cause| format!(" [{}]", cause_label(cause)));
            let message = one_line(&reason.message);
            writeln!(
                self.text,
                "  {word}  {}{message}{}",
                project.unwrap_or_default(),
                cause.unwrap_or_default()
            )?;
        }
        Ok(())
    }

    fn mutants(&mut self, title: &str, mutants: &[&Mutant], most: usize) -> fmt::Result {
        if mutants.is_empty() {
            return Ok(());
        }
        self.title(&format!("{title} ({})", mutants.len()))?;
        for mutant in mutants.iter().take(most) {
            self.mutant(mutant)?;
        }
        self.more(mutants.len().saturating_sub(most))
    }

    fn mutant(&mut self, mutant: &Mutant) -> fmt::Result {
        let place = self.paint(&one_line(&place(mutant)), Ink::Loud);
        let function = mutant.function.as_ref().map(|name| format!(" in {}", one_line(name)));
        let operator = one_line(&mutant.operator.name);
        writeln!(self.text, "\n  {place}  {operator}{}", function.unwrap_or_default())?;
        self.change(mutant)?;
        let mut notes = vec![mutant.project.to_string()];
        if let Some(confirmed) = &mutant.confirmed {
            notes.push(format!("replayed {} of {} times the same", confirmed.agreed, confirmed.replays));
        }
        if !mutant.owners.is_empty() {
            notes.push(mutant.owners.join(" "));
        }
        // A diff speaks for itself.
        notes.extend(mutant.description.clone().filter(|_| mutant.diff.is_none()));
        notes.extend(mutant.detail.clone());
        let again = self.paint(&format!("polymut repro {}", mutant.id), Ink::Quiet);
        writeln!(self.text, "      {} · {again}", one_line(&notes.join(" · ")))
    }

    fn change(&mut self, mutant: &Mutant) -> fmt::Result {
        let lines = change(mutant, self.sources);
        // Where no line goes and none comes, the place itself is marked.
        let unmarked = lines.iter().all(|line| line.kind == Kind::Same);
        let place = mutant.span.map(|span| span.lines()).filter(|_| unmarked);
        for line in lines.iter().take(CHANGE_LINES) {
            let here = place
                .zip(line.number)
                .is_some_and(|(place, number)| (place.first..=place.last).contains(&number));
            let whole = line.text();
            let text = visible(&whole);
            let shown = match line.kind {
                Kind::Same if here => self.paint(&format!("> {text}"), Ink::Bad),
                Kind::Same => format!("  {text}"),
                Kind::Gap => "…".to_owned(),
                Kind::Gone => self.paint(&format!("- {text}"), Ink::Bad),
                Kind::New => self.paint(&format!("+ {text}"), Ink::Good),
            };
            writeln!(self.text, "      {}", shown.trim_end())?;
        }
        let more = lines.len().saturating_sub(CHANGE_LINES);
        if more > 0 {
            writeln!(self.text, "      … {more} more lines")?;
        }
        Ok(())
    }

    fn more(&mut self, number: usize) -> fmt::Result {
        if number == 0 {
            Ok(())
        } else {
            writeln!(self.text, "\n  … and {number} more, in the JSON document")
        }
    }

    /// Jobs that gave no full answer, mutants without one, files that nobody looked at.
    fn untested(&mut self, report: &Report, view: &View<'_>) -> fmt::Result {
        let jobs: Vec<&ToolRun> = report.runs.iter().filter(|run| quote(run).is_some()).collect();
        let files: Vec<&ScopeFile> = report.scope.files.iter().filter(|file| unseen(file)).collect();
        if jobs.is_empty() && files.is_empty() && view.unknown.is_empty() {
            return Ok(());
        }
        self.title("Not tested, and why")?;
        for run in jobs {
            let words = quote(run).unwrap_or_default();
            writeln!(
                self.text,
                "  {}: {}: {words}",
                one_line(run.project.as_str()),
                state_label(&run.state)
            )?;
        }
        for file in files {
            let why = file.outside.map_or("", outside_label);
            writeln!(self.text, "  {}: {why}", one_line(file.path.as_str()))?;
        }
        for mutant in view.unknown.iter().take(NAMED) {
            let detail = mutant.detail.as_ref().map(|detail| format!(": {}", one_line(detail)));
            let (place, status) = (one_line(&place(mutant)), status_label(mutant.status));
            writeln!(self.text, "  {place}: {status}{} ({})", detail.unwrap_or_default(), mutant.id)?;
        }
        self.more(view.unknown.len().saturating_sub(NAMED))
    }

    fn limited(&mut self, mutants: &[&Mutant]) -> fmt::Result {
        if mutants.is_empty() {
            return Ok(());
        }
        self.title(&format!("Stopped by a limit ({}); they count as detected", mutants.len()))?;
        for mutant in mutants.iter().take(NAMED) {
            let (place, status) = (one_line(&place(mutant)), status_label(mutant.status));
            writeln!(self.text, "  {place}  {}: {status} ({})", one_line(&mutant.operator.name), mutant.id)?;
        }
        self.more(mutants.len().saturating_sub(NAMED))
    }

    /// Changed files that hold no mutant, counted by reason.
    fn left_out(&mut self, report: &Report) -> fmt::Result {
        let mut reasons: Vec<OutsideReason> =
            report.scope.files.iter().filter_map(|file| file.outside).collect();
        if reasons.is_empty() {
            return Ok(());
        }
        reasons.sort_unstable();
        self.title("Changed files that hold no mutant")?;
        for group in reasons.chunk_by(PartialEq::eq) {
            let why = group.first().map_or("", |reason| outside_label(*reason));
            writeln!(self.text, "  {}: {why}", plural(len(group), "file", "files"))?;
        }
        Ok(())
    }

    fn projects(&mut self, report: &Report) -> fmt::Result {
        if report.runs.is_empty() {
            return Ok(());
        }
        self.title("Projects")?;
        let heads = [
            "project",
            "state",
            "killed",
            "limits",
            "survived",
            "no coverage",
            "not scored",
            "unknown",
            "score",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(report.runs.iter().map(|run| row(report, run)));
        for line in table(&rows) {
            writeln!(self.text, "  {line}")?;
        }
        Ok(())
    }
}

/// The line that opens and closes the text.
fn verdict_line(verdict: &Verdict, view: &View<'_>) -> String {
    let word = outcome_label(verdict.outcome).to_uppercase();
    let exit = Exit::of(verdict).code();
    let soft = softened(verdict).map(|words| format!("; {words}"));
    format!("{word} (exit {exit}): {}{}", headline(view), soft.unwrap_or_default())
}

fn outcome_ink(outcome: Outcome) -> Ink {
    match outcome {
        Outcome::Pass => Ink::Good,
        Outcome::Fail => Ink::Bad,
        Outcome::Inconclusive => Ink::Doubt,
    }
}

fn reason_ink(reason: &Reason) -> Ink {
    match reason.outcome {
        Outcome::Pass => Ink::Quiet,
        Outcome::Fail => Ink::Bad,
        Outcome::Inconclusive => Ink::Doubt,
    }
}

/// The words of a job that gave no full answer.
fn quote(run: &ToolRun) -> Option<String> {
    super::view::quote(run).map(|(quote, cause)| {
        format!("{} ({}) [{}]", one_line(&quote.text), one_line(&quote.at), cause_label(cause))
    })
}

fn unseen(file: &ScopeFile) -> bool {
    matches!(file.outside, Some(OutsideReason::Unclaimed | OutsideReason::NameNotUtf8))
}

fn row(report: &Report, run: &ToolRun) -> Vec<String> {
    let group = report.summary.projects.get(&run.project).cloned();
    let counts = group.as_ref().map(|group| group.statuses.clone()).unwrap_or_default();
    let score = score(group.as_ref(), &run.state);
    let limits = counts.of(Status::Timeout) + counts.of(Status::OutOfMemory);
    vec![
        one_line(run.project.as_str()),
        state_label(&run.state).to_owned(),
        counts.of(Status::Killed).to_string(),
        limits.to_string(),
        counts.of(Status::Survived).to_string(),
        counts.of(Status::NoCoverage).to_string(),
        counts.group(StatusGroup::NotScored).to_string(),
        counts.group(StatusGroup::Unknown).to_string(),
        score.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// Columns as wide as their widest cell; numbers to the right.
fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
