//! Detection, Probe and Prepare: where mutmut can run, which version there is, whether the suite passes.
//!
//! In: the tree, ends of steps. Out: projects, facts, a baseline. I/O: none.

use std::collections::BTreeMap;

use polymut_schemas::Quote;
use serde_json::Value;

use super::ID;
use crate::tools::python::{baseline, environment, ini_section, packages, quote_end};
use crate::{End, Facts, Finish, Parsed, Project, Ran, Tick, Tree};

/// Every Python package with code.
pub(super) fn detect(tree: &Tree) -> Vec<Project> {
    packages(tree)
        .into_iter()
        .map(|dir| {
            let pyproject =
                tree.bytes_in(&dir, "pyproject.toml").map(String::from_utf8_lossy).unwrap_or_default();
            let setup = tree.bytes_in(&dir, "setup.cfg").map(String::from_utf8_lossy).unwrap_or_default();
            let in_pyproject = pyproject
                .parse::<toml::Table>()
                .is_ok_and(|table| table.get("tool").and_then(|tool| tool.get(ID)).is_some());
            let mut memo = BTreeMap::new();
            if in_pyproject || !ini_section(&setup, ID).is_empty() {
                memo.insert(Project::CONFIGURED.to_owned(), Vec::new());
            }
            Project { tool: super::INFO.tool_id(), owns: vec![dir.clone()], dir, memo }
        })
        .collect()
}

/// Reads versions.
pub(super) fn probe(ran: &Ran) -> Parsed {
    let mut parsed = Parsed::default();
    match versions(ran, &mut parsed.facts) {
        Ok(()) => {}
        Err(words) => parsed.finish = Finish::Nothing(words),
    }
    parsed
}

fn versions(ran: &Ran, facts: &mut Facts) -> Result<(), Quote> {
    let nothing = |text: &str| Quote { text: text.to_owned(), at: "probe".to_owned() };
    let own = ran.step("python").ok_or_else(|| nothing("no Python was asked for its version"))?;
    if own.end == End::NoProgram {
        return Err(nothing("there is no Python: neither .venv nor python3 on PATH"));
    }
    let words = own.stdout.text();
    let line = words.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(line).map_err(|_| quote_end(own, 4))?;
    if let Some(python) = value.get("python").and_then(Value::as_str) {
        facts.set("python.version", python);
    }
    if value.get("fork").and_then(Value::as_bool) != Some(true) {
        return Err(nothing("mutmut needs fork(), which this system lacks: run it under WSL"));
    }
    if let Some(version) = value.get("mutmut").and_then(Value::as_str) {
        facts.set("tool.version", version);
        return Ok(());
    }
    let stored = ran.step("mutmut").ok_or_else(|| quote_end(own, 4))?;
    if stored.end == End::NoProgram {
        return Err(nothing("mutmut is neither in the project's Python nor in polymut's store"));
    }
    let words = stored.stdout.text();
    let version = words.trim().rsplit(' ').next().filter(|_| stored.end == End::Exit(0));
    facts.set("tool.version", version.filter(|text| !text.is_empty()).ok_or_else(|| quote_end(stored, 4))?);
    Ok(())
}

/// Reads what the environment has, and how the suite ended.
pub(super) fn prepare(ran: &Ran) -> Parsed {
    let mut parsed = Parsed::default();
    let Some(environment) = environment(ran, &mut parsed) else { return parsed };
    for (name, version) in &environment.versions {
        match name.as_str() {
            ID => parsed.facts.set("tool.version", version),
            name if name == "pytest" || name.starts_with("pytest-") => {
                parsed.facts.set(&format!("python.{name}"), version);
            }
            _ => {}
        }
    }
    baseline(ran, &mut parsed);
    parsed
}

/// Progress from the spinner: `⠋ 12/89  🎉 11 🫥 0 …`.
pub(super) fn watch(step: &str, line: &str) -> Option<Tick> {
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    let counts = words.iter().find_map(|word| {
        let (done, total) = word.split_once('/')?;
        Some((done.parse::<u64>().ok()?, total.parse::<u64>().ok()?))
    });
    match (step, counts) {
        ("test", Some((done, total))) => Some(Tick { done: Some(done), total: Some(total), word: None }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spinner_counts() {
        let tick = watch("test", "⠋ 12/89  🎉 11 🫥 0  ⏰ 0");
        assert_eq!(tick, Some(Tick { done: Some(12), total: Some(89), word: None }));
        assert_eq!(watch("test", "    done in 3ms (2 files mutated, 0 ignored, 0 unmodified)"), None);
        assert_eq!(watch("test", "tests/a.py 1/2"), Some(Tick { done: Some(1), total: Some(2), word: None }));
    }
}
