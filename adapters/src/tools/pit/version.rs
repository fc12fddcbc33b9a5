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
    let by_maven = named.is_none() && memo.declares_pit();
    // What Maven made of it is known once Prepare has run.
    let said = job.facts.one("tool.version").filter(|_| by_maven).map(str::to_owned);
    let version = named.or(said).unwrap_or_else(|| NEWEST.to_owned());
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
    Ok((!by_maven).then_some(version))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use polymut_schemas::{RepoDir, ToolId};

    use super::*;
    use crate::{Changed, Facts, Limits, Project, ProjectSettings, Tree};

    /// A project whose build names the plugin, at a version that only Maven knows and has said.
    fn said_by_maven(version: &str) -> Result<Option<String>, PlanError> {
        let memo = BTreeMap::from([(super::super::detect::DECLARED.to_owned(), vec!["yes".to_owned()])]);
        let project =
            Project { tool: ToolId::from(super::super::ID), dir: RepoDir::root(), owns: Vec::new(), memo };
        let mut facts = Facts::default();
        facts.set("tool.version", version);
        wanted(&Job {
            project: &project,
            tree: &Tree::default(),
            settings: &ProjectSettings::default(),
            changed: &Changed::default(),
            facts: &facts,
            limits: &Limits { factor: 5.0, floor: Duration::from_secs(2), baseline: None },
            past: &[],
        })
    }

    #[test]
    fn a_plugin_of_the_project_that_is_too_old_is_refused_once_maven_says_so() {
        assert_eq!(said_by_maven("1.15.0"), Ok(None));
        let refused = said_by_maven("1.14.4").unwrap_err();
        assert!(refused.hint().is_some_and(|remedy| remedy.contains("raise pitest-maven")), "{refused}");
    }
}
