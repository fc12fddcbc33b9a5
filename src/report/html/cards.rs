//! Mutants with their code, by project and file; beyond the budget, one line each.
//!
//! In: mutants and sources. Out: [`Find`], [`Row`]. I/O: none.

use polymut_schemas::Mutant;

use super::model::{Card, CodeLine, Fact, Find, FindFile, FindProject, Row};
use crate::report::change::{ChangeLine, Kind, change};
use crate::report::escape::{one_line, visible};
use crate::report::view::{len, place, status_label};
use crate::sources::Sources;

/// Longest change that is shown in full.
const CODE_LINES: usize = 60;
/// Longest line of code that is shown in full.
const LINE_CHARS: usize = 400;
/// How many covering tests are named.
const TESTS: usize = 8;

/// What a section of finds says of itself.
pub(super) struct Heading {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) lead: &'static str,
    pub(super) tone: &'static str,
}

/// A section: the first `full` mutants with code, the others as lines.
pub(super) fn find(heading: &Heading, mutants: &[&Mutant], full: usize, sources: &Sources) -> Find {
    let (carded, listed) = mutants.split_at(full.min(mutants.len()));
    Find {
        id: heading.id,
        title: heading.title,
        lead: heading.lead,
        tone: heading.tone,
        count: len(mutants),
        projects: by_project(carded, sources),
        rows: listed.iter().map(|mutant| row(mutant)).collect(),
        listed: len(listed),
    }
}

fn by_project(mutants: &[&Mutant], sources: &Sources) -> Vec<FindProject> {
    let mut sorted = mutants.to_vec();
    // Stable: within a file the report's own order stays.
    sorted.sort_by(|a, b| (&a.project, file(a)).cmp(&(&b.project, file(b))));
    let projects = sorted.chunk_by(|a, b| a.project == b.project);
    projects
        .map(|group| FindProject {
            name: group.first().map(|mutant| one_line(mutant.project.as_str())).unwrap_or_default(),
            count: len(group),
            files: group.chunk_by(|a, b| file(a) == file(b)).map(|group| by_file(group, sources)).collect(),
        })
        .collect()
}

fn by_file(mutants: &[&Mutant], sources: &Sources) -> FindFile {
    let first = mutants.first();
    FindFile {
        path: first.map(|mutant| one_line(file(mutant))).unwrap_or_default(),
        owners: first.map(|mutant| one_line(&mutant.owners.join(" "))).unwrap_or_default(),
        cards: mutants.iter().map(|mutant| card(mutant, sources)).collect(),
    }
}

/// The file of a mutant, as far as it is known.
pub(super) fn file(mutant: &Mutant) -> &str {
    let named = mutant.file.as_ref().map(polymut_schemas::RepoPath::as_str).or(mutant.tool_file.as_deref());
    named.unwrap_or("(no file)")
}

fn card(mutant: &Mutant, sources: &Sources) -> Card {
    let lines = change(mutant, sources);
    let place = mutant.span.map(|span| {
        let lines = span.lines();
        let end = if lines.last > lines.first { format!("–{}", lines.last) } else { String::new() };
        format!("Line {}{end}", lines.first)
    });
    Card {
        id: mutant.id.to_string(),
        line: place.unwrap_or_else(|| "No line".to_owned()),
        operator: one_line(&mutant.operator.name),
        function: mutant.function.as_deref().map(one_line),
        more: len(&lines).saturating_sub(CODE_LINES as u64),
        code: lines.iter().take(CODE_LINES).map(code_line).collect(),
        facts: facts(mutant),
    }
}

fn facts(mutant: &Mutant) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add =
        |name, value: Option<String>| facts.extend(value.map(|value| Fact { name, value: one_line(&value) }));
    add("What the tool says", mutant.description.clone());
    add("More", mutant.detail.clone());
    add(
        "Replayed",
        mutant.confirmed.as_ref().map(|confirmed| {
            format!("{} of {} times the same, with {}", confirmed.agreed, confirmed.replays, confirmed.with)
        }),
    );
    add("Tests that reach it", tests(&mutant.covered_by));
    add("Runs at load time", mutant.is_static.filter(|at_load| *at_load).map(|_| "yes".to_owned()));
    let same = mutant.tool_status.eq_ignore_ascii_case(mutant.status.word());
    add("Tool's word", (!same).then(|| mutant.tool_status.clone()));
    facts
}

fn tests(names: &[String]) -> Option<String> {
    let shown = names.iter().take(TESTS).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TESTS) {
        0 if names.is_empty() => None,
        0 => Some(shown),
        more => Some(format!("{shown} and {more} more")),
    }
}

fn code_line(line: &ChangeLine) -> CodeLine {
    let short = |text: &str| {
        let cut: String = text.chars().take(LINE_CHARS).collect();
        let more = if text.chars().nth(LINE_CHARS).is_some() { "…" } else { "" };
        format!("{}{more}", visible(cut.trim_end_matches(['\r', '\n'])))
    };
    let (sign, before) = match line.kind {
        Kind::Same => (" ", short(&line.before)),
        Kind::Gone => ("-", short(&line.before)),
        Kind::New => ("+", short(&line.before)),
        Kind::Gap => ("…", String::new()),
    };
    CodeLine {
        gone: line.kind == Kind::Gone,
        new: line.kind == Kind::New,
        number: format!("{:>5}", line.number.map(|number| number.to_string()).unwrap_or_default()),
        sign,
        before,
        marked: short(&line.marked),
        after: short(&line.after),
    }
}

/// One mutant on one line.
pub(super) fn row(mutant: &Mutant) -> Row {
    let change = match (&mutant.original, &mutant.replacement) {
        (Some(original), Some(replacement)) => format!("{} → {}", clip(original), clip(replacement)),
        (None, Some(replacement)) => format!("→ {}", clip(replacement)),
        (Some(original), None) => format!("{} removed", clip(original)),
        (None, None) => String::new(),
    };
    let detail = mutant.detail.as_deref().map(clip).unwrap_or_default();
    let note = [change, detail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    Row {
        id: mutant.id.to_string(),
        place: one_line(&place(mutant)),
        operator: one_line(&mutant.operator.name),
        status: status_label(mutant.status),
        note,
    }
}

/// A text as a short line.
fn clip(text: &str) -> String {
    let line = one_line(text);
    let cut: String = line.chars().take(80).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
