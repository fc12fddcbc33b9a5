//! Where output goes: `--format NAME[=PATH]`, stdout, files.
//!
//! In: a report. Out: rendered bytes. I/O: stdout, files through `report::write_atomic`.

use polymut_schemas::Report;

use super::context::Place;
use crate::report::{FORMATS, Renderer, Text, format, write_atomic};
use crate::sources::Sources;

/// Where one format goes.
pub(super) struct Target {
    renderer: &'static dyn Renderer,
    path: Option<camino::Utf8PathBuf>,
}

/// Reads `NAME[=PATH]` words; none: text on stdout. Checked before anything runs.
pub(super) fn targets(words: &[String]) -> anyhow::Result<Vec<Target>> {
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
    Ok(targets)
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

/// Writes every target.
pub(super) fn write(
    place: &Place,
    targets: &[Target],
    report: &Report,
    sources: &Sources,
) -> anyhow::Result<()> {
    for target in targets {
        match &target.path {
            Some(path) => {
                write_atomic(place.path(path)?.as_path(), &target.renderer.render(report, sources)?)?;
            }
            None => place.terminal.data(&shown(place, target, report, sources)?)?,
        }
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
