//! One subcommand each: settings in, pipeline call, output.
//!
//! # Invariants
//! - Data goes to stdout, progress and words to stderr.
//! - The output format never changes the exit code.

mod context;
mod demo;
mod doctor;
mod gate;
mod import;
mod output;
mod plan;
mod report;
mod repro;
mod resume;
mod run;
mod tools;
mod words;

pub use demo::lay_out_example;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Runs one command.
pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    let place = context::Place::new(cli.directory, cli.color)?;
    match cli.command {
        Command::Run(args) => run::run(&place, &args),
        Command::Plan(args) => plan::plan(&place, &args),
        Command::Report(args) => report::report(&place, &args),
        Command::Repro(args) => repro::repro(&place, &args),
        Command::Gate(args) => gate::gate(&place, &args),
        Command::Import(args) => import::import(&place, &args),
        Command::Tools(args) => tools::tools(&place, args.action),
        Command::Doctor(args) => doctor::doctor(&place, &args),
        Command::Demo(args) => demo::demo(&place, &args),
        Command::Schema(args) => words::schema(&place, &args),
        Command::Completions(args) => words::completions(&place, &args),
        Command::Man => words::man(&place),
    }
}

/// The exit code of an error: wrong input is 2, a failure of this machine or of polymut is 70. An output that turns out
/// to be unwritable after the work belongs to the latter: something was run.
pub fn code_of(error: &anyhow::Error) -> Exit {
    let ours = error
        .chain()
        .any(|cause| cause.is::<crate::exec::ExecError>() || cause.is::<crate::report::WriteError>());
    if ours { Exit::Internal } else { Exit::Usage }
}
