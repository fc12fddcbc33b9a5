//! The environment that tools get: the user's, less what bends a tool and what looks like a credential.
//!
//! In: the user's environment, an adapter's scrub list, names that are allowed. Out: [`ToolEnv`]. I/O: reads the
//! environment once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::secrets::is_credential;

/// Names that are taken away from every tool; a trailing `*` is a prefix. Each bends a tool, its output or its
/// tests in a way that differs between a shell, a hook and a CI runner.
pub const SCRUB: &[&str] = &[
    // A shared target folder gives wrong verdicts: workers run each other's binaries.
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    // Left by `cargo run` and by build scripts that started polymut.
    "CARGO_BIN_*",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_*",
    "CARGO_PKG_*",
    "CARGO_PRIMARY_PACKAGE",
    "OUT_DIR",
    // A job server whose descriptors do not reach the tool.
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    // The tools' own switches: they overrule the command line.
    "CARGO_MUTANTS_*",
    "GREMLINS_*",
    "MUTANT_UNDER_TEST",
    "PIT_*",
    "STRYKER_*",
    "__STRYKER_*",
    // Colour in what is parsed.
    "CARGO_TERM_*",
    "CLICOLOR*",
    "FORCE_COLOR",
    "PY_COLORS",
    // Set by git hooks and by users' habits: another repository, index, pager or diff format.
    "GIT_*",
    // Runners that switch annotations on, and files through which a test could steer the workflow.
    "GITHUB_ACTION",
    "GITHUB_ACTIONS",
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
    "TEAMCITY_VERSION",
    // Left by npm scripts and forked Node processes that started polymut.
    "NODE_CHANNEL_*",
    "NODE_UNIQUE_ID",
    "npm_lifecycle_*",
    "npm_package_*",
    // Left by a test run that started polymut.
    "PYTEST_CURRENT_TEST",
    "NEXTEST*",
    // polymut's own.
    "POLYMUT_*",
];

/// What the prefixes of [`SCRUB`] would take but dependencies are fetched with.
const KEEP: &[&str] =
    &["GIT_HTTP_*", "GIT_PROXY_*", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_*"];

/// Set for every tool.
const SET: &[(&str, &str)] = &[("CARGO_TERM_COLOR", "never"), ("NO_COLOR", "1")];

/// Set where the user has not.
const DEFAULT: &[(&str, &str)] = &[("LC_ALL", UTF8_LOCALE), ("PYTHONUTF8", "1")];

/// A locale with English words and UTF-8 that exists without being installed.
const UTF8_LOCALE: &str = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };

/// The user's environment, read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostEnv(BTreeMap<OsString, OsString>);

/// The environment of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolEnv {
    vars: BTreeMap<OsString, OsString>,
    inheritable: BTreeMap<OsString, OsString>,
    withheld: Vec<String>,
}

impl HostEnv {
    /// The environment of this process.
    pub fn read() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of `name`; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of `name` as text, when it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// What a tool with the scrub list `scrub` gets. `allow` names credentials that it may see; a trailing `*` is a
    /// prefix.
    pub fn for_tool(&self, scrub: &[&str], allow: &[String]) -> ToolEnv {
        let mut env = ToolEnv::default();
        for (name, value) in &self.0 {
            let text = name.to_string_lossy();
            if is_credential(&text) && !allow.iter().any(|pattern| matches(pattern, &text)) {
                env.withheld.push(text.into_owned());
                continue;
            }
            env.inheritable.insert(name.clone(), value.clone());
            let ours = SCRUB.iter().any(|pattern| matches(pattern, &text))
                && !KEEP.iter().any(|pattern| matches(pattern, &text));
            if !ours && !scrub.iter().any(|pattern| matches(pattern, &text)) {
                env.vars.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in DEFAULT {
            let slot = env.vars.entry(OsString::from(name)).or_default();
            if slot.is_empty() {
                *slot = OsString::from(value);
            }
        }
        env.vars.extend(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        env
    }
}

impl FromIterator<(OsString, OsString)> for HostEnv {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(vars: I) -> Self {
        Self(vars.into_iter().collect())
    }
}

impl ToolEnv {
    /// Every variable, before those of the plan.
    pub fn vars(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }

    /// Sets what `polymut.toml` gives a project, over everything that was inherited.
    pub fn set(&mut self, vars: &BTreeMap<String, String>) {
        self.vars.extend(vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    }

    /// The user's own value of `name`, scrubbed or not; never a withheld one.
    pub fn inherit(&self, name: &str) -> Option<&OsStr> {
        self.inheritable.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Names of the variables that were withheld because they look like credentials, sorted.
    pub fn withheld(&self) -> &[String] {
        &self.withheld
    }
}

/// Whether `name` is `pattern`, or starts with it when it ends with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(vars: &[(&str, &str)]) -> HostEnv {
        vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    fn value<'a>(env: &'a ToolEnv, name: &str) -> Option<&'a str> {
        env.vars().get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    #[test]
    fn what_bends_a_tool_is_taken_away() {
        let host = host(&[
            ("CARGO_TARGET_DIR", "/t"),
            ("CARGO_MUTANTS_JOBS", "9"),
            ("GIT_DIR", "/g"),
            ("GIT_AUTHOR_DATE", "now"),
            ("CLICOLOR_FORCE", "1"),
            ("POLYMUT_STATE", "/s"),
            ("MY_TOOL_MODE", "odd"),
            ("RUSTFLAGS", "-Copt-level=0"),
            ("GIT_SSL_CAINFO", "/ca.pem"),
        ]);
        let env = host.for_tool(&["MY_TOOL_*"], &[]);
        let left: Vec<&str> = env.vars().keys().filter_map(|name| name.to_str()).collect();
        assert_eq!(
            left,
            ["CARGO_TERM_COLOR", "GIT_SSL_CAINFO", "LC_ALL", "NO_COLOR", "PYTHONUTF8", "RUSTFLAGS"]
        );
    }

    #[test]
    fn colour_is_off_and_a_locale_is_only_set_where_none_is() {
        let env = host(&[("LC_ALL", "de_DE.UTF-8"), ("CARGO_TERM_COLOR", "always")]).for_tool(&[], &[]);
        assert_eq!(value(&env, "LC_ALL"), Some("de_DE.UTF-8"));
        assert_eq!(value(&env, "CARGO_TERM_COLOR"), Some("never"));
        assert_eq!(value(&env, "NO_COLOR"), Some("1"));
        assert_eq!(value(&host(&[("LC_ALL", "")]).for_tool(&[], &[]), "LC_ALL"), Some(UTF8_LOCALE));
    }

    #[test]
    fn credentials_are_withheld_and_named_unless_allowed() {
        let host = host(&[("NPM_TOKEN", "a"), ("DB_PASSWORD", "b"), ("HOME", "/h")]);
        let env = host.for_tool(&[], &["DB_*".to_owned()]);
        assert_eq!(env.withheld(), ["NPM_TOKEN"]);
        assert_eq!(value(&env, "NPM_TOKEN"), None);
        assert_eq!(env.inherit("NPM_TOKEN"), None);
        assert_eq!(value(&env, "DB_PASSWORD"), Some("b"));
    }

    #[test]
    fn a_plan_may_inherit_what_is_scrubbed() {
        let env = host(&[("GIT_DIR", "/g")]).for_tool(&[], &[]);
        assert_eq!(value(&env, "GIT_DIR"), None);
        assert_eq!(env.inherit("GIT_DIR"), Some(OsStr::new("/g")));
    }
}
