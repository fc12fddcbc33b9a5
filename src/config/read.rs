//! Reads `polymut.toml`: strictly, and with the place of every mistake.
//!
//! In: text, or the repository root. Out: [`Config`]. I/O: reads one file ([`load`]).

use std::io;

use polymut_adapters::tools::REGISTRY;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, Network, ProjectConfig};
use crate::paths::AbsPath;

/// The file's name at the repository root.
pub const FILE: &str = "polymut.toml";

/// Formats that `format` may name beside those of the tools.
const SHARED_FORMATS: &[&str] = &["elements"];

/// Reads the repository's `polymut.toml`; without one, everything is at its default.
pub fn load(root: &AbsPath) -> Result<Config, ConfigError> {
    match fs_err::read(root.join(FILE)) {
        Ok(bytes) => parse(&utf8(bytes, FILE)?, FILE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
        Err(source) => Err(ConfigError::Read { file: FILE.to_owned(), source }),
    }
}

/// Reads a configuration; `at` is the file's name in messages.
pub fn parse(text: &str, at: &str) -> Result<Config, ConfigError> {
    let tools: Vec<&str> = REGISTRY.iter().map(|adapter| adapter.info().id).collect();
    parse_with(text, at, &tools)
}

/// Like [`parse`], with the names that `tool` and `format` may have.
fn parse_with(text: &str, at: &str, tools: &[&str]) -> Result<Config, ConfigError> {
    let config: Config = strict(text, at)?;
    let file = File { text, at };
    for (number, project) in config.projects.iter().enumerate() {
        check_project(&file, number, project, tools)?;
    }
    let reason = config.run.reason.as_deref();
    if config.run.network == Some(Network::Host) && blank(reason) {
        return Err(file.wrong(&["run", "network"], no_reason(), REASON_HELP));
    }
    if config.run.timeout_factor.is_some_and(|factor| !factor.is_finite() || factor < 1.0) {
        let why = "`timeout-factor` is under 1: every mutant would time out".to_owned();
        return Err(file.wrong(&["run", "timeout-factor"], why, "write at least 1.0"));
    }
    Ok(config)
}

/// Reads a strict TOML document; an unknown key is an error that names its place and the nearest key.
pub(super) fn strict<T: DeserializeOwned>(text: &str, at: &str) -> Result<T, ConfigError> {
    let file = File { text, at };
    let body = toml::Deserializer::parse(text).map_err(|error| file.toml_error(&error, ""))?;
    serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        file.toml_error(error.inner(), &path)
    })
}

/// The text of a file, without a byte order mark.
pub(super) fn utf8(bytes: Vec<u8>, file: &str) -> Result<String, ConfigError> {
    let text = String::from_utf8(bytes).map_err(|_| ConfigError::Encoding { file: file.to_owned() })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

const REASON_HELP: &str = "add `reason = \"…\"`: who reads the report wants to know why the network stays on";

fn no_reason() -> String {
    "`network = \"host\"` wants a `reason`".to_owned()
}

fn blank(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.trim().is_empty())
}

fn check_project(
    file: &File<'_>,
    number: usize,
    project: &ProjectConfig,
    tools: &[&str],
) -> Result<(), ConfigError> {
    let index = number.to_string();
    let wrong = |key: &str, why: String, help: &str| file.wrong(&["project", &index, key], why, help);
    if project.network == Some(Network::Host) && blank(project.reason.as_deref()) {
        return Err(wrong("network", no_reason(), REASON_HELP));
    }
    if let Some(tool) = &project.tool {
        known(tool, tools).map_err(|(why, help)| wrong("tool", why, &help))?;
    }
    if let Some(format) = &project.format {
        let formats: Vec<&str> = tools.iter().chain(SHARED_FORMATS).copied().collect();
        known(format, &formats).map_err(|(why, help)| wrong("format", why, &help))?;
    }
    let own = [
        ("command", project.command.is_some()),
        ("reports", project.reports.is_some()),
        ("format", project.format.is_some()),
    ];
    let some = own.iter().find(|(_, given)| *given);
    if let (Some((given, _)), Some((missing, _))) = (some, own.iter().find(|(_, given)| !given)) {
        let help = "the project's own command takes `command`, `reports` and `format` together";
        return Err(wrong(given, format!("`{given}` wants `{missing}` beside it"), help));
    }
    for (key, words) in [
        ("command", &project.command),
        ("reports", &project.reports),
        ("test-command", &project.test_command),
    ] {
        if words.as_ref().is_some_and(Vec::is_empty) {
            return Err(wrong(key, format!("`{key}` is empty"), "write its words, or leave the key out"));
        }
    }
    if project.command.is_some() && project.path.plain().is_none() {
        let why = "the project's own `command` wants one folder, not a pattern".to_owned();
        return Err(wrong("path", why, "write one [[project]] per folder"));
    }
    Ok(())
}

fn known(name: &str, names: &[&str]) -> Result<(), (String, String)> {
    if names.contains(&name) {
        return Ok(());
    }
    Err((format!("`{name}` is not a tool that polymut knows"), suggestion(name, names, "known")))
}

/// A file that is being read, for places in messages.
struct File<'a> {
    text: &'a str,
    at: &'a str,
}

impl File<'_> {
    /// The error at the value that `keys` lead to.
    fn wrong(&self, keys: &[&str], why: String, help: &str) -> ConfigError {
        let at = self.place(self.offset(keys));
        ConfigError::Wrong { at, why, help: (!help.is_empty()).then(|| help.to_owned()) }
    }

    fn toml_error(&self, error: &toml::de::Error, path: &str) -> ConfigError {
        let at = self.place(error.span().map(|span| span.start));
        let message = error.message().trim().replace('\n', " ");
        let inside = path.rsplit_once('.').map_or("", |(table, _)| table);
        match unknown(&message) {
            Some((kind, name, names)) => {
                let place = if inside.is_empty() { String::new() } else { format!(" in `{inside}`") };
                let (noun, list) = if kind == "field" { ("key", "keys here") } else { ("word", "allowed") };
                let why = format!("unknown {noun} `{name}`{place}");
                ConfigError::Wrong { at, why, help: Some(suggestion(name, &names, list)) }
            }
            None => ConfigError::Wrong { at, why: message, help: None },
        }
    }

    /// Byte offset of the value that `keys` lead to; numbers index arrays.
    fn offset(&self, keys: &[&str]) -> Option<usize> {
        let table = DeTable::parse(self.text).ok()?;
        let mut start = table.span().start;
        let mut keys = keys.iter();
        let mut value = table.get_ref().get(*keys.next()?)?;
        loop {
            start = if value.span().is_empty() { start } else { value.span().start };
            let Some(key) = keys.next() else { return Some(start) };
            let next = match value.get_ref() {
                DeValue::Table(table) => table.get(*key),
                DeValue::Array(array) => key.parse::<usize>().ok().and_then(|index| array.get(index)),
                DeValue::String(_)
                | DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_) => None,
            };
            match next {
                Some(inner) => value = inner,
                None => return Some(start),
            }
        }
    }

    /// `file:line:column`, both from 1, the column in characters.
    fn place(&self, offset: Option<usize>) -> String {
        let Some(before) = offset.and_then(|offset| self.text.get(..offset)) else {
            return self.at.to_owned();
        };
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.at)
    }
}

/// Takes serde's "unknown field `x`, expected one of `a`, `b`" apart: field or variant, the name, the names.
fn unknown(message: &str) -> Option<(&str, &str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown ")?;
    let (kind, rest) = rest.split_once(" `")?;
    let mut ticks = rest.split('`');
    let name = ticks.next()?;
    let names = ticks.skip(1).step_by(2).collect();
    Some((kind, name, names))
}

/// "did you mean …" when a name is near, and every name in any case.
fn suggestion(name: &str, names: &[&str], list: &str) -> String {
    let distance = |other: &&&str| strsim::damerau_levenshtein(name, other);
    let near = names.iter().min_by_key(distance).filter(|other| distance(other) <= 1 + name.len() / 3);
    let all = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match near {
        Some(near) => format!("did you mean `{near}`? {list}: {all}"),
        None => format!("{list}: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[&str] = &["alpha", "beta"];

    fn mistake(text: &str) -> String {
        let error = parse_with(text, FILE, TOOLS).unwrap_err();
        format!("{error}\n{}", error.hint().unwrap_or_default())
    }

    #[test]
    fn every_documented_key_is_read() {
        let text = r#"
            [run]
            jobs = 4
            isolation = "copy"
            require = ["memory", "network"]
            memory = "4GiB"
            network = "host"
            reason = "the suite talks to a shared database"
            baseline-runs = 3
            confirm = 0
            budget = "20m"
            timeout-factor = 5.0
            timeout-floor = "2s"
            allow-env = ["NPM_TOKEN"]
            [gate]
            mode = "advisory"
            survivors-in-diff = "fail"
            no-coverage = "allow"
            timeouts = "fail"
            pre-existing = "fail"
            waivers = "fail"
            inconclusive = { machine = "fail" }
            min-score = 0.8
            [[gate.rule]]
            paths = ["services/pay/**"]
            mode = "block"
            min-score = 1
            inconclusive = { change = "fail", budget = "inconclusive" }
            [[project]]
            path = "services/*"
            tool = "alpha"
            version = "1.2"
            args = ["--fast"]
            env = { A = "b" }
            test-command = ["make", "test"]
            timeout = "90s"
            memory = "2GiB"
            network = "host"
            reason = "needs the queue"
            exclusive = ["postgres"]
            operators = "all"
            [[project]]
            path = "apps/web"
            command = ["bazel", "run", "//:mutants"]
            reports = ["build/**/mutations.xml"]
            format = "elements"
        "#;
        let config = parse_with(text, FILE, TOOLS).unwrap();
        assert_eq!(config.projects.len(), 2);
        assert_eq!(config.gate.rules.len(), 1);
        assert_eq!(config.run.jobs.map(u32::from).zip(config.run.confirm), Some((4, 0)));
    }

    #[test]
    fn an_unknown_key_names_its_place_and_the_nearest_key() {
        let text = mistake("[run]\njobs = 2\nbugdet = \"20m\"\n");
        assert!(
            text.starts_with("polymut.toml:3:1: unknown key `bugdet` in `run`\ndid you mean `budget`?"),
            "{text}"
        );
        let text = mistake("[[project]]\npath = \".\"\n\n[[gate.rule]]\npaths = [\"a\"]\nmin_score = 1\n");
        assert!(
            text.starts_with(
                "polymut.toml:6:1: unknown key `min_score` in `gate.rule[0]`\ndid you mean `min-score`?"
            ),
            "{text}"
        );
        let text = mistake("gaet = 1\n");
        assert!(text.starts_with("polymut.toml:1:1: unknown key `gaet`\ndid you mean `gate`?"), "{text}");
    }

    #[test]
    fn a_wrong_value_names_its_place_and_what_would_be_right() {
        let text = mistake("[gate]\nmode = \"blok\"\n");
        assert!(
            text.starts_with("polymut.toml:2:8: unknown word `blok` in `gate`\ndid you mean `block`?"),
            "{text}"
        );
        assert!(mistake("[run]\nbudget = \"20\"\n").starts_with("polymut.toml:2:10: `20` is not a duration"));
        assert!(mistake("[gate]\nmin-score = 80.0\n").starts_with("polymut.toml:2:13: 80 is not a score"));
        assert!(mistake("[run]\njobs = 0\n").starts_with("polymut.toml:2:8: "));
        assert!(mistake("[run\n").starts_with("polymut.toml:1:"));
    }

    #[test]
    fn an_inconclusive_cause_can_be_raised_and_never_lowered() {
        for word in ["pass", "allow", "off"] {
            let text = mistake(&format!("[gate]\ninconclusive = {{ machine = \"{word}\" }}\n"));
            assert!(text.contains(&format!("unknown word `{word}`")), "{text}");
        }
    }

    #[test]
    fn a_network_that_stays_on_wants_a_reason() {
        let text = mistake("[[project]]\npath = \"a\"\n[[project]]\npath = \"b\"\nnetwork = \"host\"\n");
        assert!(text.starts_with("polymut.toml:5:11: `network = \"host\"` wants a `reason`"), "{text}");
        assert!(mistake("[run]\nnetwork = \"host\"\nreason = \" \"\n").starts_with("polymut.toml:2:11: "));
    }

    #[test]
    fn tools_and_formats_are_checked_by_name() {
        let text = mistake("[[project]]\npath = \"a\"\ntool = \"alhpa\"\n");
        assert!(text.starts_with("polymut.toml:3:8: `alhpa` is not a tool"), "{text}");
        assert!(text.contains("did you mean `alpha`?"), "{text}");
    }

    #[test]
    fn an_own_command_wants_its_reports_their_format_and_one_folder() {
        let text = mistake("[[project]]\npath = \"a\"\ncommand = [\"make\"]\nformat = \"alpha\"\n");
        assert!(text.contains("`command` wants `reports` beside it"), "{text}");
        let text = mistake(
            "[[project]]\npath = \"a/*\"\ncommand = [\"x\"]\nreports = [\"r\"]\nformat = \"alpha\"\n",
        );
        assert!(text.starts_with("polymut.toml:2:8: the project's own `command` wants one folder"), "{text}");
        let text = mistake("[[project]]\npath = \"a\"\ntest-command = []\n");
        assert!(text.contains("`test-command` is empty"), "{text}");
    }
}
