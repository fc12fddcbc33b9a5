//! `polymut gate`: judges a report file by the policy alone.
//!
//! In: a report file, `polymut.toml`, waivers. Out: the same report with a new verdict, the exit code.
//! I/O: files, stdout.

use super::context::{Place, gate_input, today};
use super::output;
use super::run::code;
use crate::assemble::{GateInput, judged};
use crate::cli::GateArgs;
use crate::config::{self, Config, Waivers};
use crate::exit::Exit;
use crate::owners::Owners;
use crate::report::read_report;
use crate::sources::Sources;

/// Judges. Outside of a repository the default policy counts, with the waivers that the report itself holds.
pub(super) fn gate(place: &Place, args: &GateArgs) -> anyhow::Result<Exit> {
    let targets = output::targets(place, &args.format)?;
    let report = read_report(&place.read(&args.file)?, args.file.as_str())?;
    let (config, input) = match place.repo() {
        Ok(repo) => (config::load(repo.root())?, gate_input(repo.root())?),
        Err(_) => (
            Config::default(),
            GateInput {
                waivers: Waivers::of_report(&report.waivers),
                owners: Owners::default(),
                today: today(),
            },
        ),
    };
    let report = judged(report, &config, &input);
    output::write(place, &targets, &report, &Sources::default())?;
    Ok(code(&report, args.no_fail))
}
