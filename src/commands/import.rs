//! `polymut import`: reports that a tool wrote elsewhere, as the document; no repository or source at hand.
//!
//! In: a tool's files. Out: a report. I/O: the files, stdout.

use camino::{Utf8Path, Utf8PathBuf};
use polymut_adapters::Finish;
use polymut_schemas::{
    BaselineRun, BaselineState, Cause, NewSide, Outcome, RepoDir, Report, RunState, SchemaVersion, Scope,
    ScopeSource, ScopeWidth, StageCount, StageName, Summary, Timing, ToolId, ToolRun, Verdict,
};

use super::context::{Place, today};
use super::output;
use crate::assemble::{GateInput, judged};
use crate::cli::ImportArgs;
use crate::config::{Config, Waivers};
use crate::exit::Exit;
use crate::normalize;
use crate::owners::Owners;
use crate::sources::Sources;

/// Reads and renders. 0: read whole; 3: the report is incomplete; the policy does not count here.
pub(super) fn import(place: &Place, args: &ImportArgs) -> anyhow::Result<Exit> {
    let targets = output::targets(place, &args.format)?;
    let Some(adapter) = polymut_adapters::tools::adapter(&args.tool) else {
        anyhow::bail!("`{}` is not a tool that polymut reads", args.tool);
    };
    let mut files = Vec::new();
    for given in &args.files {
        collect(place, given, &mut files)?;
    }
    let parsed = adapter.import(&files)?;
    let whole = parsed.finish == Finish::Complete;
    let (tool, cause) = (ToolId::from(adapter.info().id), Cause::Machine);
    let state = match parsed.finish.clone() {
        Finish::Complete => RunState::Complete,
        Finish::Partial(quote) => RunState::Partial { quote, cause },
        Finish::Nothing(quote) => RunState::Nothing { quote, cause },
        Finish::RedBaseline(quote) => RunState::RedBaseline { quote, cause },
        Finish::Broken(quote) => RunState::Broken { quote, cause },
    };
    let notes = parsed.notes.iter().map(|note| note.0.clone()).collect();
    let version = parsed.facts.one("tool.version").map(str::to_owned);
    let mutants = normalize::foreign(&tool, parsed.mutants);
    let count = u64::try_from(mutants.len()).unwrap_or(u64::MAX);
    let run = ToolRun {
        project: polymut_schemas::ProjectId::of(&tool, &RepoDir::root()),
        dir: RepoDir::root(),
        tool,
        tool_version: version,
        state,
        commands: Vec::new(),
        containment: None,
        // Whether the suite was green then, only the tool knows.
        baseline: Some(BaselineRun {
            state: BaselineState::ByTool,
            duration: None,
            runs: 0,
            still_green: None,
        }),
        stages: vec![StageCount {
            stage: StageName::Test,
            planned: None,
            parsed: count,
            reported: count,
            dropped: std::collections::BTreeMap::new(),
            missing: 0,
        }],
        seen: Vec::new(),
        unseen: Vec::new(),
        timing: Timing::default(),
        environment: polymut_schemas::Environment::default(),
        notes,
    };
    let report = document(run, mutants);
    output::write(place, &targets, &report, &Sources::default())?;
    Ok(if whole { Exit::Pass } else { Exit::Inconclusive })
}

fn document(run: ToolRun, mutants: Vec<polymut_schemas::Mutant>) -> Report {
    let report = Report {
        schema: SchemaVersion::current(),
        polymut: env!("CARGO_PKG_VERSION").to_owned(),
        scope: Scope {
            source: ScopeSource::All,
            new_side: NewSide::WorkingTree,
            width: ScopeWidth::All,
            base: None,
            head: None,
            merge_base: None,
            files: Vec::new(),
        },
        runs: vec![run],
        summary: Summary::of(&mutants),
        mutants,
        waivers: Vec::new(),
        verdict: Verdict {
            outcome: Outcome::Inconclusive,
            mode: polymut_schemas::GateMode::default(),
            reasons: Vec::new(),
        },
    };
    let input = GateInput { waivers: Waivers::default(), owners: Owners::default(), today: today() };
    judged(report, &Config::default(), &input)
}

/// A file with its name as given, or every file below a folder with its name relative to it, sorted.
fn collect(place: &Place, given: &Utf8PathBuf, files: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    let path = place.path(given)?;
    if !path.as_path().is_dir() {
        files.push((given.to_string(), fs_err::read(path.as_std_path())?));
        return Ok(());
    }
    let mut found: Vec<Utf8PathBuf> = Vec::new();
    let mut open = vec![path.as_path().to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8()? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path().to_path_buf());
            } else if kind.is_file() {
                found.push(entry.path().to_path_buf());
            }
        }
    }
    found.sort();
    for file in found {
        let name = file.strip_prefix(path.as_path()).map_or_else(
            |_| file.to_string(),
            |rest: &Utf8Path| format!("{}/{rest}", given.as_str().trim_end_matches('/')),
        );
        files.push((name, fs_err::read(file.as_std_path())?));
    }
    Ok(())
}
