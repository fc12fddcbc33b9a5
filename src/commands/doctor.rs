//! `polymut doctor`: what works here, what does not, and what would lift it.
//!
//! In: the machine. Out: findings. I/O: store, PATH, probes of containment, stdout.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use serde::Serialize;

use super::context::{Place, adapters, containment};
use crate::cli::{DoctorArgs, PlanFormat};
use crate::exec::{Caches, State, Store};
use crate::exit::Exit;
use crate::paths::AbsPath;

#[derive(Serialize)]
struct Finding {
    what: String,
    good: bool,
    words: String,
}

/// Looks and says.
pub(super) fn doctor(place: &Place, args: &DoctorArgs) -> anyhow::Result<Exit> {
    let mut findings = vec![repository(place)];
    findings.extend(tools(place)?);
    findings.extend(walls(place)?);
    match args.format {
        PlanFormat::Json => {
            let mut text = serde_json::to_string_pretty(&findings)?;
            text.push('\n');
            place.terminal.data(text.as_bytes())?;
        }
        PlanFormat::Text => {
            let mut text = String::new();
            for finding in &findings {
                let mark = if finding.good { "ok  " } else { "--  " };
                let _ = writeln!(text, "{mark}{:<28} {}", finding.what, finding.words);
            }
            place.terminal.data(text.as_bytes())?;
        }
    }
    Ok(Exit::Pass)
}

fn repository(place: &Place) -> Finding {
    match place.repo() {
        Ok(repo) => Finding { what: "repository".to_owned(), good: true, words: repo.root().to_string() },
        Err(error) => Finding { what: "repository".to_owned(), good: false, words: error.to_string() },
    }
}

fn tools(place: &Place) -> anyhow::Result<Vec<Finding>> {
    let root = place.repo().map_or_else(|_| place.here.clone(), |repo| repo.root().clone());
    let state = State::open(&place.host, &root)?;
    let store = Store::at(state.tools().clone());
    let mut findings: Vec<Finding> = adapters()
        .iter()
        .map(|adapter| {
            let info = adapter.info();
            let stored = store.has(info);
            let words = if stored {
                format!("{} in the private store", info.recipe.version)
            } else {
                format!(
                    "not in the private store; a project's own is used where there is one ({})",
                    info.recipe.hint
                )
            };
            Finding { what: info.id.to_owned(), good: stored, words }
        })
        .collect();
    let mut programs: Vec<&str> = adapters()
        .iter()
        .flat_map(|adapter| adapter.info().recipe.steps.iter().map(|step| step.program))
        .collect();
    programs.sort_unstable();
    programs.dedup();
    for program in programs {
        let found = which::which(program);
        let good = found.is_ok();
        let words = found.map_or_else(|_| "not on PATH".to_owned(), |path| path.display().to_string());
        findings.push(Finding { what: format!("program {program}"), good, words });
    }
    Ok(findings)
}

fn walls(place: &Place) -> anyhow::Result<Vec<Finding>> {
    let folder = tempfile::Builder::new().prefix("polymut-doctor-").tempdir()?;
    let scratch = AbsPath::new(Utf8PathBuf::try_from(folder.path().to_path_buf())?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let contained = runtime.block_on(containment(place, &scratch, None, &[], &Caches::default()))?;
    let reached = contained.reached();
    let mut findings: Vec<Finding> = reached
        .guarantees
        .iter()
        .map(|(guarantee, held)| Finding {
            what: format!("contains {}", word(guarantee)),
            good: held.held,
            words: held.by.clone(),
        })
        .collect();
    let shared: Vec<String> = contained.shared_caches().iter().map(ToString::to_string).collect();
    if !shared.is_empty() {
        // The same in every run; `--cache` and `--private-caches` change it.
        let words = shared.join(", ");
        findings.push(Finding { what: "downloads are shared in".to_owned(), good: true, words });
    }
    findings.push(Finding {
        what: "isolation".to_owned(),
        good: reached.level == polymut_schemas::IsolationLevel::Sealed,
        words: word(&reached.level),
    });
    findings.extend(contained.obstacles().iter().map(|obstacle| Finding {
        what: format!("not {}", word(&obstacle.level)),
        good: false,
        words: match &obstacle.lift {
            Some(lift) => format!("{}; this lifts it: {lift}", obstacle.why),
            None => obstacle.why.clone(),
        },
    }));
    Ok(findings)
}

/// The document's word for a value.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
