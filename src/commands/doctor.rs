//! `polymut doctor`: what works here, what does not, and what would lift it.
//!
//! In: the machine. Out: findings. I/O: store, PATH, probes of containment, stdout.

use std::fmt::Write as _;

use serde::Serialize;

use super::context::{Place, adapters};
use crate::cli::{DoctorArgs, PlanFormat};
use crate::exec::{State, Store, copied_level};
use crate::exit::Exit;

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
    findings.extend(containment());
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

fn containment() -> Vec<Finding> {
    let reached = copied_level();
    let word =
        |guarantee| serde_json::to_value(guarantee).ok().and_then(|value| value.as_str().map(str::to_owned));
    reached
        .guarantees
        .iter()
        .map(|(guarantee, reached)| Finding {
            what: format!("contains {}", word(guarantee).unwrap_or_default()),
            good: reached.held,
            words: reached.by.clone(),
        })
        .collect()
}
