//! `schema`, `completions`, `man`: texts that polymut carries.
//!
//! In: which. Out: text on stdout. I/O: stdout.

use clap::CommandFactory as _;

use super::output;
use crate::cli::{Cli, CompletionsArgs, SchemaArgs, SchemaName};
use crate::exit::Exit;

/// Prints a JSON Schema.
pub(super) fn schema(args: &SchemaArgs) -> anyhow::Result<Exit> {
    let text = match args.which {
        SchemaName::Report => crate::generated::report_schema()?,
        SchemaName::Config => crate::generated::config_schema()?,
    };
    output::stdout(text.as_bytes())?;
    Ok(Exit::Pass)
}

/// Prints completions for a shell.
pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "polymut", &mut bytes);
    output::stdout(&bytes)?;
    Ok(Exit::Pass)
}

/// Prints the manual page.
pub(super) fn man() -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut bytes)?;
    output::stdout(&bytes)?;
    Ok(Exit::Pass)
}
