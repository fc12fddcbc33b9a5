//! The suite without mutants, as the baseline step left it.
//!
//! In: ends of steps. Out: [`Baseline`], [`Finish`]. I/O: none.

use polymut_schemas::Quote;

use super::{prepared, quote_end};
use crate::{Baseline, End, Finish, Parsed, Ran, StepEnd};

/// The suite without mutants. Every run has to be green; without tests there is nothing that could kill.
pub(in crate::tools) fn baseline(ran: &Ran, parsed: &mut Parsed) {
    suite(ran, parsed);
    let lacking = prepared(ran).map(|environment| environment.note).filter(|note| !note.is_empty());
    if let (Some(note), Finish::RedBaseline(words)) = (lacking, &parsed.finish) {
        // What the project asks for is not there: the suite says nothing of the code.
        let text = format!("{note}\n{}", words.text);
        parsed.finish = Finish::Broken(Quote { text, at: words.at.clone() });
    }
}

fn suite(ran: &Ran, parsed: &mut Parsed) {
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name == "baseline").collect();
    let Some(last) = runs.last() else {
        let text = "the baseline was not run".to_owned();
        parsed.finish = Finish::Broken(Quote { text, at: "prepare".to_owned() });
        return;
    };
    let slowest = runs.iter().map(|step| step.wall.as_secs_f64()).fold(0.0, f64::max);
    let bad = runs.iter().find(|step| step.end != End::Exit(0));
    parsed.baseline = Some(Baseline { green: bad.is_none(), seconds: Some(slowest) });
    let Some(bad) = bad else { return };
    if runs.iter().any(|step| step.end == End::Exit(0)) {
        // Once green and once red is a finding of its own, which the pipeline makes.
        return;
    }
    let words = quote_end(bad, 12);
    parsed.finish = match (bad.end, last.end) {
        (End::Stopped | End::NoProgram, _) | (_, End::Stopped | End::NoProgram) => {
            parsed.baseline = None;
            Finish::Partial(words)
        }
        // pytest found no tests.
        (End::Exit(5), _) if words.text.to_lowercase().contains("no tests ran") => {
            parsed.baseline = None;
            Finish::Nothing(words)
        }
        (End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory, _) => Finish::RedBaseline(words),
    };
}
