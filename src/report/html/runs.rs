//! How each job was run: versions, walls, suite, counts, commands.
//!
//! In: runs. Out: [`RunDetails`]. I/O: none.

use polymut_schemas::{
    BaselineRun, BaselineState, CommandLine, ContainmentReached, Guarantee, IsolationLevel, StageCount,
    StageName, ToolRun,
};

use super::model::{CommandRow, Fact, RunDetails, StageRow};
use crate::report::escape::one_line;
use crate::report::view::{plural, state_label};

/// The details of a job; `number` makes its anchor.
pub(super) fn details(number: usize, run: &ToolRun) -> RunDetails {
    RunDetails {
        anchor: anchor(number),
        name: one_line(run.project.as_str()),
        facts: facts(run),
        stages: run.stages.iter().map(stage).collect(),
        commands: run.commands.iter().map(command).collect(),
        notes: run.notes.iter().map(|note| one_line(note)).collect(),
    }
}

/// Where the details of a job stand on the page.
pub(super) fn anchor(number: usize) -> String {
    format!("run-{}", number + 1)
}

/// `1.5 s`, `2 min 5 s`.
pub(super) fn seconds(value: f64) -> String {
    let whole = value.max(0.0).round();
    if value < 60.0 {
        return format!("{value:.1} s");
    }
    format!("{:.0} min {:.0} s", (whole / 60.0).floor(), whole % 60.0)
}

/// A tool with its version.
pub(super) fn tool(run: &ToolRun) -> String {
    let version = run.tool_version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    one_line(&format!("{}{version}", run.tool))
}

fn facts(run: &ToolRun) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add =
        |name, value: Option<String>| facts.extend(value.map(|value| Fact { name, value: one_line(&value) }));
    add("Tool", Some(tool(run)));
    add("Folder", Some(run.dir.to_string()));
    add("Ended", Some(state_label(&run.state).to_owned()));
    add("Suite without mutants", run.baseline.as_ref().map(baseline));
    add("Containment", run.containment.as_ref().map(containment));
    add("Wall time", Some(seconds(run.timing.wall)));
    add("Peak memory", run.timing.peak_memory.map(|bytes| format!("{} MiB", bytes >> 20)));
    let versions = run.environment.versions.iter().map(|(name, version)| format!("{name} {version}"));
    add("Found here", Some(versions.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty()));
    let locks = run.environment.lockfiles.keys().map(ToString::to_string);
    add("Lock files", Some(locks.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty()));
    facts
}

fn baseline(baseline: &BaselineRun) -> String {
    let state = match baseline.state {
        BaselineState::Green => "green",
        BaselineState::Red => "red",
        BaselineState::Flickers => "passes and fails",
        BaselineState::ByTool => "green by the tool's own word",
        BaselineState::NotRun => "not measured",
    };
    let took = baseline.duration.map(|duration| format!(", {}", seconds(duration))).unwrap_or_default();
    let still = match baseline.still_green {
        Some(true) => ", still green at the end",
        Some(false) => ", red at the end",
        None => "",
    };
    format!("{state} ({}{took}){still}", plural(baseline.runs, "run", "runs"))
}

fn containment(reached: &ContainmentReached) -> String {
    let level = match reached.level {
        IsolationLevel::Sealed => "sealed",
        IsolationLevel::Copied => "copied",
        IsolationLevel::BestEffort => "best effort",
    };
    let parts = reached.guarantees.iter().map(|(guarantee, reached)| {
        let name = match guarantee {
            Guarantee::Memory => "memory",
            Guarantee::Network => "network",
            Guarantee::Files => "files",
            Guarantee::Tree => "processes",
        };
        let held = if reached.held { "held by" } else { "NOT held" };
        format!("{name} {held} {}", reached.by)
    });
    format!("{level}: {}", parts.collect::<Vec<_>>().join("; "))
}

fn stage(count: &StageCount) -> StageRow {
    let dropped = count.dropped.iter().map(|(why, number)| format!("{number} {}", one_line(why)));
    StageRow {
        stage: stage_label(count.stage).to_owned(),
        planned: count.planned.map_or_else(|| "not said".to_owned(), |number| number.to_string()),
        parsed: count.parsed,
        reported: count.reported,
        dropped: dropped.collect::<Vec<_>>().join(", "),
        missing: count.missing,
    }
}

fn command(command: &CommandLine) -> CommandRow {
    CommandRow {
        stage: stage_label(command.stage).to_owned(),
        step: one_line(&command.step),
        cwd: one_line(&command.cwd.to_string()),
        line: one_line(&command.line),
    }
}

fn stage_label(stage: StageName) -> &'static str {
    match stage {
        StageName::Probe => "probe",
        StageName::Prepare => "prepare",
        StageName::List => "list",
        StageName::Test => "test",
        StageName::Confirm => "confirm",
        StageName::Replay => "replay",
        StageName::Close => "close",
    }
}
