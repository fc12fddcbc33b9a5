//! Which PIT and which JUnit 5 plugin are run.
//!
//! In: settings, detection. Out: versions. I/O: none.

use semver::Version;

use super::detect::Memo;
use crate::{Job, PlanError};

/// Used where neither settings nor project name one.
pub(crate) const NEWEST: &str = "1.30.2";

/// The version to run; `None`: the project names the plugin, and only Maven knows the version.
pub(crate) fn wanted(job: &Job<'_>) -> Result<Option<String>, PlanError> {
    let memo = Memo(job.project);
    let named = job.settings.version.clone().or_else(|| memo.pit_version());
    if named.is_none() && memo.declares_pit() {
        return Ok(None);
    }
    let version = named.unwrap_or_else(|| NEWEST.to_owned());
    if parsed(&version).is_some_and(|found| found < Version::new(1, 15, 0)) {
        return Err(PlanError::Version {
            tool: super::ID,
            found: version,
            why: "its options and its report are older than what polymut drives".to_owned(),
            remedy: format!(
                "set `version = \"{NEWEST}\"` under `[[project]]`, or raise pitest-maven to 1.15 or newer"
            ),
        });
    }
    Ok(Some(version))
}

/// The JUnit 5 plugin that goes with a PIT version: 1.2.3 needs 1.19.4, 1.2.1 needs 1.15.2.
pub(crate) fn junit5_plugin(pit: Option<&str>) -> &'static str {
    match pit.and_then(parsed) {
        Some(version) if version < Version::new(1, 15, 2) => "1.2.0",
        Some(version) if version < Version::new(1, 19, 4) => "1.2.1",
        Some(_) | None => "1.2.3",
    }
}

/// A version as far as it is one; `1.15` counts as `1.15.0`.
pub(crate) fn parsed(text: &str) -> Option<Version> {
    Version::parse(text).or_else(|_| Version::parse(&format!("{text}.0"))).ok()
}
