//! The command line: words in, values out.
//!
//! In: argv. Out: [`Cli`]. I/O: none.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use polymut_schemas::ScopeWidth;

use crate::ui::Colour;

/// One verdict for the mutation tests of a change, in every language that it touches.
#[derive(Debug, Parser)]
#[command(name = "polymut", version, max_term_width = 110, disable_help_subcommand = true)]
pub struct Cli {
    /// Work as if started in this folder.
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub directory: Option<Utf8PathBuf>,
    /// Colour of text output.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Colour,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run every project that the diff touches, with its tool, and judge the survivors.
    Run(Box<RunArgs>),
    /// Show what `run` would do: projects, changed lines, exact command lines. Runs nothing.
    Plan(Box<PlanArgs>),
    /// Render a report file again, in any format.
    Report(ReportArgs),
    /// Show one mutant again: its exact change, and the commands of its suite.
    Repro(ReproArgs),
    /// Judge a report file by the policy alone.
    Gate(GateArgs),
    /// Read reports that a tool wrote elsewhere, with no repository at hand.
    Import(ImportArgs),
    /// List the tools, or put them into the private store.
    Tools(ToolsArgs),
    /// Say what works here, what does not, and what would lift it.
    Doctor(DoctorArgs),
    /// Lay the shipped example out as a git repository and run on it.
    Demo(Box<DemoArgs>),
    /// Print a JSON Schema.
    Schema(SchemaArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page.
    Man,
}

/// Which lines.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Scope")]
pub struct ScopeArgs {
    /// Compare with the merge base of REF and HEAD; without it: the CI's target branch, origin/HEAD, main, master.
    #[arg(long, value_name = "REF", conflicts_with_all = ["diff_file", "all"])]
    pub base: Option<String>,
    /// Test what is staged, not the files on disk.
    #[arg(long, conflicts_with_all = ["committed", "diff_file"])]
    pub staged: bool,
    /// Test HEAD, not the files on disk.
    #[arg(long, conflicts_with = "diff_file")]
    pub committed: bool,
    /// Take the changed lines from a unified diff of the files on disk; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    pub diff_file: Option<Utf8PathBuf>,
    /// Every line of every project.
    #[arg(long)]
    pub all: bool,
    /// How far a changed line reaches.
    #[arg(long, value_enum, default_value_t, value_name = "WIDTH")]
    pub scope: Width,
    /// Only projects whose folder or id matches; may be given again.
    #[arg(long, value_name = "GLOB")]
    pub project: Vec<String>,
    /// Only this tool; may be given again.
    #[arg(long, value_name = "NAME", value_parser = tool_names())]
    pub tool: Vec<String>,
}

/// How far a changed line reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Width {
    /// Mutants that touch a changed line.
    #[default]
    Line,
    /// Mutants of functions that hold a changed line.
    Function,
    /// Mutants of changed files.
    File,
    /// Every mutant of the changed projects.
    All,
}

impl From<Width> for ScopeWidth {
    fn from(width: Width) -> Self {
        match width {
            Width::Line => Self::Line,
            Width::Function => Self::Function,
            Width::File => Self::File,
            Width::All => Self::All,
        }
    }
}

/// Where the steps that install something share their downloads.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run")]
pub struct CacheArgs {
    /// Share the downloads of installations in this folder, too; may be given again. `polymut doctor` lists those that
    /// are shared anyway.
    #[arg(long, value_name = "DIR")]
    pub cache: Vec<Utf8PathBuf>,
    /// Share no download with the toolchains' own caches: what is installed for a run goes with its sandbox.
    #[arg(long)]
    pub private_caches: bool,
}

/// How to run and what to write.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run")]
pub struct HowArgs {
    /// Cores to use; default: all.
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Output: a format, or format=path; may be given again. Default: text.
    #[arg(long, value_name = "NAME[=PATH]")]
    pub format: Vec<String>,
    /// Stop politely after this long and judge what was reached, such as `20m`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Replay at most N survivors that would fail the gate; default 20. With 0, timeouts are not tried again either.
    #[arg(long, value_name = "N")]
    pub confirm: Option<u32>,
    /// Run each suite N times without mutants first; default 2.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub baseline_runs: Option<u32>,
    /// Walls around the tools; default: the highest level that holds here.
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub isolation: Option<IsolationArg>,
    /// Refuse to run where these guarantees do not hold: memory, network, files, tree.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub require: Vec<GuaranteeArg>,
    /// Where downloads are shared.
    #[command(flatten)]
    pub caches: CacheArgs,
    /// Put missing tools into the private store at pinned versions, and say so.
    #[arg(long)]
    pub provision: bool,
    /// Let tools see this environment variable though it looks like a credential; may be given again.
    #[arg(long, value_name = "NAME")]
    pub allow_env: Vec<String>,
    /// End with 0 where the gate would fail (1); an inconclusive run still ends with 3.
    #[arg(long)]
    pub no_fail: bool,
    /// Write less to stderr.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Walls around the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationArg {
    /// Namespaces and an overlay over the repository.
    Sealed,
    /// A copy of the repository's files.
    Copy,
    /// The sandbox only, no walls.
    None,
}

/// A guarantee of containment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GuaranteeArg {
    /// A memory ceiling.
    Memory,
    /// No network beyond loopback.
    Network,
    /// The user's files cannot change.
    Files,
    /// No process outlives the run.
    Tree,
}

/// `polymut run`.
#[derive(Debug, Clone, Default, Args)]
pub struct RunArgs {
    /// Which lines.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// How.
    #[command(flatten)]
    pub how: HowArgs,
    /// Continue the run that was interrupted last: same files, same scope, same options.
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

/// `polymut plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Which lines.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// text or json.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub format: PlanFormat,
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// `polymut report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A report in the format json; `-` reads standard input.
    pub file: Utf8PathBuf,
    /// Output: a format, or format=path; may be given again. Default: text.
    #[arg(long, value_name = "NAME[=PATH]")]
    pub format: Vec<String>,
}

/// `polymut repro`.
#[derive(Debug, Args)]
pub struct ReproArgs {
    /// The mutant's id, or its first digits.
    pub id: String,
    /// A report in the format json; default: that of the last run in this repository.
    pub report: Option<Utf8PathBuf>,
}

/// `polymut gate`.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// A report in the format json; `-` reads standard input.
    pub file: Utf8PathBuf,
    /// Output: a format, or format=path; may be given again. Default: text.
    #[arg(long, value_name = "NAME[=PATH]")]
    pub format: Vec<String>,
    /// End with 0 where the gate would fail (1).
    #[arg(long)]
    pub no_fail: bool,
}

/// `polymut import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The tool that wrote the reports, or `elements` for mutation-testing-elements JSON of any tool.
    #[arg(value_parser = tool_names())]
    pub tool: String,
    /// Its files; of a folder, every file below it.
    #[arg(required = true)]
    pub files: Vec<Utf8PathBuf>,
    /// Output: a format, or format=path; may be given again. Default: text.
    #[arg(long, value_name = "NAME[=PATH]")]
    pub format: Vec<String>,
}

/// `polymut tools`.
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// What to do; default: list.
    #[command(subcommand)]
    pub action: Option<ToolsAction>,
}

/// What to do with tools.
#[derive(Debug, Subcommand)]
pub enum ToolsAction {
    /// Put tools into the private store at their pinned versions.
    Install {
        /// Which; none: all.
        #[arg(value_parser = tool_names())]
        tools: Vec<String>,
    },
}

/// `polymut doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// text or json.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub format: PlanFormat,
}

/// `polymut demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the repository in this folder, which must be empty or absent.
    #[arg(long, value_name = "DIR")]
    pub into: Option<Utf8PathBuf>,
    /// Which lines.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// How.
    #[command(flatten)]
    pub how: HowArgs,
}

/// `polymut schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which.
    #[arg(default_value = "report", value_parser = schema_names())]
    pub which: String,
}

/// `polymut completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// The names of the registry, in its order.
fn tool_names() -> PossibleValuesParser {
    PossibleValuesParser::new(polymut_adapters::tools::REGISTRY.iter().map(|adapter| adapter.info().id))
}

/// The schemas that polymut ships.
fn schema_names() -> PossibleValuesParser {
    PossibleValuesParser::new(crate::schema::SCHEMAS.iter().map(|schema| schema.name))
}

/// `90s`, `20m`, `2h`, or seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time such as 90s, 20m or 2h");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit.trim() {
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_budget_has_a_unit() {
        assert_eq!(duration("20m"), Ok(Duration::from_mins(20)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(duration("20 parsecs").is_err());
    }
}
