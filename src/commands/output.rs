//! Where output goes: `--format NAME[=PATH]`, stdout, files.
//!
//! In: a report. Out: rendered bytes. I/O: stdout, files through `report::write_atomic`.

use std::io::Write as _;

use polymut_schemas::Report;

use super::context::Place;
use crate::cli::ColorWhen;
use crate::report::{FORMATS, Renderer, write_atomic};
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
    FORMATS.iter().copied().find(|format| format.info().name == name).ok_or_else(|| {
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
        let bytes = target.renderer.render(report, sources)?;
        match &target.path {
            Some(path) => write_atomic(place.path(path)?.as_path(), &bytes)?,
            None => stdout(&bytes)?,
        }
    }
    Ok(())
}

/// Whether text on stdout is coloured.
#[expect(dead_code, reason = "wired up with the text renderer's colours")]
pub(super) fn colored(place: &Place) -> bool {
    match place.color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// Writes to stdout. A reader that went away (`| head`) is no error.
pub(super) fn stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a line to stderr; nothing can be done about a stderr that is gone.
pub(super) fn say(line: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{line}");
}
