//! The id of a mutant: survives shifted lines and moved blocks, and depends on nothing else that was tested.
//!
//! In: settled mutants, sources. Out: ids. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::{LineRange, Mutant, MutantId, RepoPath};

use super::{Function, Keyed, functions};
use crate::sources::Sources;

/// Stands in until [`assign`] has run.
pub(super) fn placeholder() -> MutantId {
    MutantId::of(&[])
}

/// Gives every mutant its id. Equal mutants on one line (two copies of a `finally` block) are told apart by a rank
/// in the order of their keys, which an adapter keeps equal for equal source.
pub(super) fn assign(mutants: &mut [Keyed], sources: &Sources) {
    let mut files: BTreeMap<RepoPath, FileLines> = BTreeMap::new();
    let mut order: Vec<usize> = (0..mutants.len()).collect();
    order.sort_by(|a, b| {
        let key = |i: usize| {
            mutants.get(i).map(|keyed| (keyed.mutant.file.clone(), keyed.mutant.span, keyed.key.clone()))
        };
        key(*a).cmp(&key(*b))
    });
    let mut equal: BTreeMap<Vec<String>, u32> = BTreeMap::new();
    for index in order {
        let Some(keyed) = mutants.get_mut(index) else { continue };
        let mut parts = parts(keyed, sources, &mut files);
        let mut counted = parts.clone();
        counted.push(keyed.mutant.span.map_or(0, |span| span.start.line).to_string());
        let rank = equal.entry(counted).or_default();
        parts.push(rank.to_string());
        *rank += 1;
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        keyed.mutant.id = MutantId::of(&words);
    }
}

fn parts(keyed: &Keyed, sources: &Sources, files: &mut BTreeMap<RepoPath, FileLines>) -> Vec<String> {
    let mutant = &keyed.mutant;
    let file = mutant.file.as_ref();
    let lines = mutant.span.map(|span| span.lines());
    let (text, rank, occurrence) = match (file, lines) {
        (Some(path), Some(range)) => {
            let known = files.entry(path.clone()).or_insert_with(|| FileLines::of(path, sources.text(path)));
            (known.trimmed(range), known.rank(range), known.occurrence(mutant))
        }
        (Some(_) | None, Some(_) | None) => (String::new(), 0, 0),
    };
    vec![
        mutant.tool.to_string(),
        file.map_or_else(String::new, ToString::to_string),
        mutant.operator.name.clone(),
        mutant.original.clone().unwrap_or_default(),
        mutant.replacement.clone().or_else(|| mutant.description.clone()).unwrap_or_default(),
        text,
        mutant.function.clone().unwrap_or_default(),
        rank.to_string(),
        occurrence.to_string(),
    ]
}

/// The trimmed lines of one file and its functions.
struct FileLines {
    full: Vec<String>,
    lines: Vec<String>,
    functions: Vec<Function>,
}

impl FileLines {
    fn of(path: &RepoPath, text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        Self {
            full: text.split('\n').map(str::to_owned).collect(),
            lines: text.split('\n').map(|line| line.trim().to_owned()).collect(),
            functions: functions(path, text),
        }
    }

    fn line(&self, number: u32) -> &str {
        let index = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        self.lines.get(index).map_or("", String::as_str)
    }

    /// How often the original text stands on the line before the mutant: two equal edits on one line differ by it,
    /// whatever else was tested.
    fn occurrence(&self, mutant: &Mutant) -> usize {
        let (Some(span), Some(original)) = (mutant.span, mutant.original.as_ref()) else { return 0 };
        let Some(column) = span.start.column else { return 0 };
        let index = usize::try_from(span.start.line).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(line) = self.full.get(index) else { return 0 };
        let before: String =
            line.chars().take(usize::try_from(column).unwrap_or(0).saturating_sub(1)).collect();
        before.matches(original.split('\n').next().unwrap_or_default()).count()
    }

    fn trimmed(&self, range: LineRange) -> String {
        (range.first..=range.last).map(|number| self.line(number)).collect::<Vec<_>>().join("\n")
    }

    /// How many lines equal to the first one stand before it in its function, else in the file.
    fn rank(&self, range: LineRange) -> usize {
        let first = self
            .functions
            .iter()
            .filter(|function| function.lines.first <= range.first && range.first <= function.lines.last)
            .map(|function| function.lines.first)
            .max()
            .unwrap_or(1);
        let wanted = self.line(range.first);
        (first..range.first).filter(|number| self.line(*number) == wanted).count()
    }
}
