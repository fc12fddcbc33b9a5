//! Nobody pays for old code: a survivor that the base had as well is `pre_existing`.
//!
//! In: survivors whose line stands at the merge base too. Out: their origin. I/O: through the machine.
//!
//! The line beside a deletion and a moved block are changed lines with old text. For those the same edit is made at
//! the merge base and its suite is run: green means that the base had the survivor.

use polymut_adapters::{Plan, ScopeFit, Stage};
use polymut_schemas::{LineRange, Mutant, Origin, Position, RepoPath, Span, Status};

use super::machine::Side;
use super::state::JobState;
use super::{Step, broken};
use crate::exec::Sandbox;
use crate::normalize::change::apply;

/// A survivor and the same edit at the merge base.
struct Candidate {
    key: polymut_adapters::Key,
    path: RepoPath,
    text: Option<String>,
}

impl JobState<'_> {
    /// Tells new survivors from those that the base had.
    pub(crate) async fn settle_origin(&mut self) -> Step<()> {
        let candidates: Vec<Candidate> = self
            .ledger
            .values()
            .filter(|keyed| {
                keyed.mutant.in_scope && matches!(keyed.mutant.status, Status::Survived | Status::NoCoverage)
            })
            .filter_map(|keyed| self.candidate(&keyed.mutant))
            .collect();
        if candidates.is_empty() || self.options.confirm == 0 || self.machine.stop_cause().is_some() {
            return Ok(());
        }
        let Some(prepared) = self.base_prepared().await? else {
            self.notes.push(
                "whether the base had its survivors is unknown: its suite is not green here".to_owned(),
            );
            self.mark(&candidates, Origin::Unknown);
            return Ok(());
        };
        let limit = usize::try_from(self.options.confirm).unwrap_or(usize::MAX);
        for (number, candidate) in candidates.iter().enumerate() {
            let origin = match (&candidate.text, number < limit) {
                (Some(text), true) => self.at_base(prepared.as_ref(), &candidate.path, text).await?,
                (Some(_), false) | (None, _) => Origin::Unknown,
            };
            self.mark(std::slice::from_ref(candidate), origin);
        }
        Ok(())
    }

    fn mark(&mut self, candidates: &[Candidate], origin: Origin) {
        for candidate in candidates {
            if let Some(keyed) = self.ledger.get_mut(&candidate.key) {
                keyed.mutant.origin = origin;
            }
        }
    }

    /// The same edit in the base's text, when the mutated lines stand there unchanged.
    fn candidate(&self, mutant: &Mutant) -> Option<Candidate> {
        let (file, span) = (mutant.file.as_ref()?, mutant.span?);
        let old_path = self
            .view
            .scope
            .file(file)
            .and_then(|entry| entry.old_path.clone())
            .unwrap_or_else(|| file.clone());
        let (new, old) = (self.view.sources.text(file)?, self.view.base.text(&old_path)?);
        let (path, text) = match counterpart(new, old, span.lines()) {
            Some(first) => {
                let moved = shift(span, first, new, old);
                (
                    old_path,
                    mutant.replacement.as_deref().and_then(|replacement| apply(old, moved, replacement)),
                )
            }
            None => return None,
        };
        Some(Candidate { key: polymut_adapters::Key(mutant.key.clone()), path, text })
    }

    /// A sandbox of the merge base with a green suite.
    async fn base_prepared(&mut self) -> Step<Option<Box<dyn Sandbox>>> {
        let Some(plan) = self.prepared.clone().filter(|_| self.machine.has_base()) else { return Ok(None) };
        let sandbox =
            self.machine.sandbox(Side::Base, self.planned.adapter.info()).map_err(|e| broken(&e))?;
        let cores = self.machine.cores(self.ask(1)).await;
        let mut at = self.at(Stage::Prepare, sandbox.as_ref(), cores.count());
        (at.number, at.baseline_runs) = (9, 1);
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        let green = ran.steps.iter().all(|step| step.end == polymut_adapters::End::Exit(0));
        let whole = plan.steps.iter().all(|step| ran.step(&step.name).is_some());
        Ok((green && whole).then_some(sandbox))
    }

    async fn at_base(&mut self, sandbox: &dyn Sandbox, path: &RepoPath, text: &str) -> Step<Origin> {
        let Some(steps) = self.tests(polymut_adapters::Role::Work) else { return Ok(Origin::Unknown) };
        let fork = self.machine.fork(sandbox, "base-replay").await.map_err(|error| broken(&error))?;
        self.machine.write(fork.as_ref(), path, text.as_bytes()).map_err(|error| broken(&error))?;
        let plan = Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant };
        let cores = self.machine.cores(self.ask(1)).await;
        let mut at = self.at(Stage::Prepare, fork.as_ref(), cores.count());
        (at.number, at.baseline_runs) = (10, 1);
        let ran = self.machine.run(&plan, at).await.map_err(|error| broken(&error))?;
        let survived = ran.steps.len() == plan.steps.len()
            && ran.steps.iter().all(|step| step.end == polymut_adapters::End::Exit(0));
        Ok(if survived { Origin::PreExisting } else { Origin::New })
    }
}

/// The first line at the base whose lines equal the range, trimmed; of several the one with as many equals before it.
fn counterpart(new: &str, old: &str, range: LineRange) -> Option<u32> {
    let lines = |text: &str| text.split('\n').map(|line| line.trim().to_owned()).collect::<Vec<String>>();
    let (new, old) = (lines(new), lines(old));
    let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    let wanted = new.get(index(range.first)..=index(range.last))?;
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    let equal =
        |text: &[String], at: usize| text.get(at..at + wanted.len()).is_some_and(|found| found == wanted);
    let rank = (0..index(range.first)).filter(|at| equal(&new, *at)).count();
    let places: Vec<usize> = (0..old.len()).filter(|at| equal(&old, *at)).collect();
    let place = places.get(rank).or_else(|| places.last())?;
    u32::try_from(place + 1).ok()
}

/// The span at its place in the base: other line, and other indentation.
fn shift(span: Span, first: u32, new: &str, old: &str) -> Span {
    let indent = |text: &str, line: u32| {
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        text.split('\n').nth(index).map_or(0, |line| line.chars().take_while(|c| c.is_whitespace()).count())
    };
    let by = i64::from(first) - i64::from(span.start.line);
    let moved = |position: Position| {
        let line = u32::try_from(i64::from(position.line) + by).unwrap_or(position.line);
        let before = i64::try_from(indent(new, position.line)).unwrap_or(0);
        let after = i64::try_from(indent(old, line)).unwrap_or(0);
        let column =
            position.column.map(|column| u32::try_from(i64::from(column) - before + after).unwrap_or(column));
        Position { line, column }
    };
    Span { start: moved(span.start), end: span.end.map(moved) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_and_re_indented_line_is_found_with_its_columns() {
        let new = "fn b() {}\nmod x {\n        if a < b {\n}\n";
        let old = "    if a < b {\nfn b() {}\n";
        let first = counterpart(new, old, LineRange { first: 3, last: 3 }).unwrap();
        assert_eq!(first, 1);
        let span = Span {
            start: Position { line: 3, column: Some(14) },
            end: Some(Position { line: 3, column: Some(15) }),
        };
        assert_eq!(
            apply(old, shift(span, first, new, old), "<=").as_deref(),
            Some("    if a <= b {\nfn b() {}\n")
        );
    }

    #[test]
    fn a_line_that_the_base_lacks_has_no_counterpart() {
        assert_eq!(counterpart("x = 2\n", "x = 1\n", LineRange { first: 1, last: 1 }), None);
    }
}
