//! Which version of a Python tool may run: the one that the project asks for, and none before the adapter's oldest.
//!
//! In: facts, settings. Out: a version, or why not. I/O: none.

use semver::Version;

use crate::{Job, PlanError, ToolInfo};

/// The version that the project asks for, else the one that polymut installs.
pub(in crate::tools) fn wanted<'a>(job: &'a Job<'_>, info: &'a ToolInfo) -> &'a str {
    job.settings.version.as_deref().unwrap_or(info.recipe.version)
}

/// Refuses a tool that is missing, another version than `polymut.toml` asks for, and all before `oldest`, for `why`.
pub(in crate::tools) fn check_version(
    job: &Job<'_>,
    info: &ToolInfo,
    oldest: &Version,
    why: &str,
) -> Result<(), PlanError> {
    let hint = info.recipe.hint.to_owned();
    let Some(found) = job.facts.one("tool.version") else {
        return Err(PlanError::Missing { missing: info.id.to_owned(), remedy: hint });
    };
    let refuse = |why: String, remedy: String| {
        Err(PlanError::Version { tool: info.id, found: found.to_owned(), why, remedy })
    };
    if let Some(wanted) = job.settings.version.as_deref().filter(|wanted| *wanted != found) {
        let remedy = format!("pip install {}=={wanted} in the project's environment", info.id);
        return refuse(format!("`version` of polymut.toml asks for {wanted}"), remedy);
    }
    // Versions of Python tools need not be of three numbers: what cannot be read is refused, too.
    if Version::parse(found).is_ok_and(|version| version >= *oldest) {
        Ok(())
    } else {
        refuse(why.to_owned(), hint)
    }
}
