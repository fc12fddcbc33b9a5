//! Which versions can be driven, and on which Node.
//!
//! In: facts. Out: [`PlanError`]s, decisions. I/O: none.

use semver::{Version, VersionReq};

use super::INFO;
use super::detect::CORE;
use crate::{Facts, Job, PlanError};

/// Refuses a core or Node that cannot work. With nothing probed yet (a plan that is only shown) all is well.
pub(super) fn check(job: &Job<'_>) -> Result<(), PlanError> {
    let Some(node) = job.facts.one("node.version") else { return Ok(()) };
    let Some(found) = job.facts.one("tool.version") else {
        return Err(PlanError::Missing { missing: CORE.to_owned(), remedy: INFO.recipe.hint.to_owned() });
    };
    if !is_at_least(found, ">=8.7.0") {
        return Err(PlanError::Version {
            tool: INFO.id,
            found: found.to_owned(),
            why: "versions before 8.7 leave out files that are named twice and share one temporary folder"
                .to_owned(),
            remedy: format!(
                "npm install --save-dev {CORE}@9.6.1 and the plugin of your test runner at that version"
            ),
        });
    }
    if let Some(wanted) = job.settings.version.as_ref().filter(|wanted| wanted.as_str() != found) {
        return Err(PlanError::Version {
            tool: INFO.id,
            found: found.to_owned(),
            why: format!("`version` of polymut.toml asks for {wanted}"),
            remedy: format!("npm install --save-dev {CORE}@{wanted} and the plugin of your test runner"),
        });
    }
    let engines = job.facts.one("tool.engines").unwrap_or_default();
    if !node_fits(node, engines) {
        return Err(PlanError::Version {
            tool: "node",
            found: node.to_owned(),
            why: format!("{CORE} {found} wants Node {engines}"),
            remedy: format!(
                "put such a Node first on PATH, or `npm install --save-dev node@24` in the project, or take {CORE}@9.6.1"
            ),
        });
    }
    Ok(())
}

/// Whether this version can name its mutants without running tests (`serve stdio`).
pub(super) fn lists(facts: &Facts) -> bool {
    facts.one("tool.version").is_none_or(|version| is_at_least(version, ">=9.3.0"))
}

/// vitest from version 4 on: coverage per test can miss tests, and verdicts were seen to flip.
pub(super) fn flips(facts: &Facts) -> bool {
    facts.one("runner") == Some("vitest")
        && facts.one("coverage") == Some("perTest")
        && facts.one("runner.version").is_some_and(|version| is_at_least(version, ">=4.0.0"))
}

/// vitest 5 wants a plugin of 10.1: older ones filter by names that match no test.
pub(super) fn misfit(facts: &Facts) -> bool {
    let at_least = |name, least| facts.one(name).is_some_and(|version| is_at_least(version, least));
    facts.one("runner") == Some("vitest")
        && at_least("runner.version", ">=5.0.0")
        && !at_least("plugin.version", ">=10.1.0")
}

/// Compares without regard to pre-release tags, which `VersionReq` would never match.
fn is_at_least(version: &str, requirement: &str) -> bool {
    let parsed =
        Version::parse(version).map(|version| Version::new(version.major, version.minor, version.patch));
    match (parsed, VersionReq::parse(requirement)) {
        (Ok(version), Ok(requirement)) => requirement.matches(&version),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// npm's ranges: alternatives between `||`, conditions between blanks. One that cannot be read refuses nothing: Stryker
/// checks for itself as well.
fn node_fits(node: &str, engines: &str) -> bool {
    let alternatives: Vec<Option<VersionReq>> =
        engines.split("||").map(|range| VersionReq::parse(&range.trim().replace(' ', ", ")).ok()).collect();
    let Ok(node) = Version::parse(node) else { return true };
    alternatives.iter().any(|range| range.as_ref().is_none_or(|range| range.matches(&node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_ranges_are_read() {
        assert!(!node_fits("20.20.2", ">=22.0.0"));
        assert!(node_fits("20.20.2", ">=20.0.0"));
        assert!(node_fits("18.1.0", "^18.0.0 || >=20.0.0"));
        assert!(!node_fits("19.1.0", "^18.0.0 || >=20.0.0"));
        assert!(node_fits("19.1.0", ""));
    }
}
