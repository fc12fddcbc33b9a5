//! `schema`, `completions`, `man`: texts that polymut carries.
//!
//! In: which. Out: text on stdout. I/O: stdout.

use clap::CommandFactory as _;

use super::context::Place;
use crate::cli::{Cli, CompletionsArgs, SchemaArgs};
use crate::exit::Exit;

/// Prints a JSON Schema.
pub(super) fn schema(place: &Place, args: &SchemaArgs) -> anyhow::Result<Exit> {
    let Some(schema) = crate::schema::schema(&args.which) else {
        anyhow::bail!("no schema `{}`", args.which)
    };
    place.terminal.data(schema.text()?.as_bytes())?;
    Ok(Exit::Pass)
}

/// Prints completions for a shell.
pub(super) fn completions(place: &Place, args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "polymut", &mut bytes);
    place.terminal.data(&bytes)?;
    Ok(Exit::Pass)
}

/// Prints the manual page.
pub(super) fn man(place: &Place) -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut bytes)?;
    place.terminal.data(&bytes)?;
    Ok(Exit::Pass)
}
