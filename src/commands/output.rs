//! Where output goes: `--format NAME[=PATH]`, stdout, files.
//!
//! In: a report. Out: rendered bytes. I/O: stdout, files through `report::write_atomic`.

use polymut_schemas::Report;

use super::context::Place;
use crate::report::{FORMATS, Renderer, Text, WriteError, check_writable, format, write_atomic};
use crate::sources::Sources;
use crate::ui::Help;

/// Where one format goes.
pub(super) struct Target {
    renderer: &'static dyn Renderer,
    path: Option<camino::Utf8PathBuf>,
}

/// Reads `NAME[=PATH]` words; none: text on stdout. Checked before anything runs.
pub(super) fn targets(place: &Place, words: &[String]) -> anyhow::Result<Vec<Target>> {
    let mut targets = Vec::new();
    for word in words {
        let (name, path) = match word.split_once('=') {
            Some((name, path)) if !path.is_empty() && path != "-" => (name, Some(path.into())),
            Some((name, _)) => (name, None),
            None => (word.as_str(), None),
        };
        targets.push(Target { renderer: renderer(name)?, path });
    }
    if targets.is_empty() {
        targets.push(Target { renderer: renderer("text")?, path: None });
    }
    if targets.iter().filter(|target| target.path.is_none()).count() > 1 {
        anyhow::bail!("two formats want stdout; give one a path, as in `--format html=report.html`");
    }
    for path in targets.iter().filter_map(|target| target.path.as_ref()) {
        check_writable(place.path(path)?.as_path()).map_err(|error| refused(&error))?;
    }
    Ok(targets)
}

/// As an error of the user's words, not of a write: nothing was run.
fn refused(error: &WriteError) -> Help {
    let help = error.hint().unwrap_or_else(|| "nothing was run; choose another path".to_owned());
    let message = match error.source.kind() {
        std::io::ErrorKind::IsADirectory => error.to_string(),
        _ => format!("{error}: {}", error.source),
    };
    Help { message, help }
}

impl Target {
    /// The format `name` into the file `path`.
    pub(super) fn file(name: &str, path: camino::Utf8PathBuf) -> anyhow::Result<Self> {
        Ok(Self { renderer: renderer(name)?, path: Some(path) })
    }
}

fn renderer(name: &str) -> anyhow::Result<&'static dyn Renderer> {
    format(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.info().name).collect();
        anyhow::anyhow!("`{name}` is not a format; formats: {}", known.join(", "))
    })
}

/// Writes every target; one that cannot be written keeps no other from its reader.
pub(super) fn write(
    place: &Place,
    targets: &[Target],
    report: &Report,
    sources: &Sources,
) -> anyhow::Result<()> {
    let written: Vec<anyhow::Result<()>> =
        targets.iter().map(|target| write_one(place, target, report, sources)).collect();
    written.into_iter().collect()
}

fn write_one(place: &Place, target: &Target, report: &Report, sources: &Sources) -> anyhow::Result<()> {
    match &target.path {
        Some(path) => {
            write_atomic(place.path(path)?.as_path(), &target.renderer.render(report, sources)?)?;
        }
        None => place.terminal.data(&shown(place, target, report, sources)?)?,
    }
    Ok(())
}

/// What stdout gets: text in the colours of the terminal, anything else as it is.
fn shown(place: &Place, target: &Target, report: &Report, sources: &Sources) -> anyhow::Result<Vec<u8>> {
    let colored = Text { palette: place.terminal.data };
    let renderer: &dyn Renderer =
        if target.renderer.info().name == colored.info().name { &colored } else { target.renderer };
    Ok(renderer.render(report, sources)?)
}
