//! `polymut repro`: one mutant of a report again: its exact change, and the commands that show it.
//!
//! In: an id, a report. Out: a recipe for a scratch checkout. I/O: the report file, stdout.

use std::fmt::Write as _;

use polymut_schemas::{Mutant, Report, StageName};

use super::context::Place;
use crate::cli::ReproArgs;
use crate::exec::State;
use crate::exit::Exit;
use crate::report::{read_report, visible};
use crate::ui::Help;

/// The report that every run leaves in its logs.
pub(super) const LAST: &str = "report.json";

/// Prints the recipe.
pub(super) fn repro(place: &Place, args: &ReproArgs) -> anyhow::Result<Exit> {
    let (bytes, name) = if let Some(file) = &args.report {
        (place.read(file)?, file.to_string())
    } else {
        let state = State::open(&place.host, place.repo()?.root())?;
        let last = state.last().join(LAST);
        (fs_err::read(last.as_std_path())?, last.to_string())
    };
    let report = read_report(&bytes, &name)?;
    let mutant = find(&report, &args.id)?;
    place.terminal.data(recipe(&report, mutant).as_bytes())?;
    Ok(Exit::Pass)
}

/// The only mutant whose id starts with `id`.
fn find<'a>(report: &'a Report, id: &str) -> anyhow::Result<&'a Mutant> {
    let found: Vec<&Mutant> =
        report.mutants.iter().filter(|mutant| mutant.id.as_str().starts_with(id)).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Help {
            message: format!("no mutant of this report has the id `{id}`"),
            help: "ids are in the report; of another run, name its file: `polymut repro ID report.json`"
                .to_owned(),
        }
        .into()),
        [_, _, ..] => {
            anyhow::bail!("{} mutants have an id that starts with `{id}`; give more digits", found.len())
        }
    }
}

fn recipe(report: &Report, mutant: &Mutant) -> String {
    let mut out = String::new();
    let file = mutant
        .file
        .as_ref()
        .map_or_else(|| mutant.tool_file.clone().unwrap_or_default(), ToString::to_string);
    let line = mutant.span.map_or_else(String::new, |span| format!(":{}", span.start.line));
    let _ = writeln!(out, "# {} {} of {}", mutant.id, mutant.status.word(), mutant.project);
    let _ = writeln!(out, "# {}{line}  {}", visible(&file), visible(&mutant.operator.name));
    match (&mutant.diff, &mutant.description) {
        (Some(diff), _) => {
            let _ = write!(out, "git apply <<'MUTANT'\n{}\nMUTANT\n", diff.trim_end_matches('\n'));
        }
        (None, words) => {
            let words = words.as_deref().unwrap_or(mutant.key.as_str());
            let _ = writeln!(out, "# {} gives no source change: {}", mutant.tool, visible(words));
        }
    }
    let run = report.runs.iter().find(|run| run.project == mutant.project);
    let commands = run.map(|run| run.commands.as_slice()).unwrap_or_default();
    let suite = |stage| commands.iter().filter(move |command| command.stage == stage);
    let _ = writeln!(out, "# the suite as it was run; {{sandbox}} stands for the root of the checkout");
    for command in suite(StageName::Prepare) {
        let _ = writeln!(out, "(cd {} && {})", command.cwd, command.line);
    }
    out
}
