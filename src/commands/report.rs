//! `polymut report`: a report file in any format again.
//!
//! In: a report file. Out: rendered bytes. I/O: files, stdout.

use super::context::Place;
use super::output;
use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::report::read_report;
use crate::sources::Sources;

/// Renders. Excerpts come from the diffs in the report; the sources of then are not at hand.
pub(super) fn report(place: &Place, args: &ReportArgs) -> anyhow::Result<Exit> {
    let targets = output::targets(place, &args.format)?;
    let report = read_report(&place.read(&args.file)?, args.file.as_str())?;
    output::write(place, &targets, &report, &Sources::default())?;
    Ok(Exit::Pass)
}
