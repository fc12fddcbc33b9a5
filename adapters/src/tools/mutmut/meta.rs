//! `<file>.py.meta` of mutmut 3: exit codes by mutant, and what they mean.
//!
//! In: JSON. Out: codes, statuses. I/O: none.
//!
//! Only these files are believed. `mutmut-cicd-stats.json` may be left over from another run, and counts what never ran.

use std::collections::BTreeMap;

use polymut_schemas::Status;
use serde_json::{Map, Value};

use crate::formats::text;
use crate::{Doubt, ParseError};

/// One file's answers.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// Exit code by full mutant name, in the order of the file; `None`: not run.
    pub(super) codes: Vec<(String, Option<i64>)>,
    /// What the type checker said.
    pub(super) type_errors: BTreeMap<String, String>,
    /// Seconds.
    pub(super) durations: BTreeMap<String, f64>,
}

/// What an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// mutmut's own word.
    pub(super) word: &'static str,
    /// What became of the mutant.
    pub(super) status: Status,
    /// Why that is doubted.
    pub(super) doubt: Option<Doubt>,
}

impl Meta {
    /// Reads the file `at`.
    pub(super) fn read(at: &str, bytes: &[u8]) -> Result<Self, ParseError> {
        let text = text::decode(at, bytes)?;
        let value: Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| json_error(at, &error))?;
        let Some(Value::Object(codes)) = value.get("exit_code_by_key") else {
            return Err(malformed(at, "it has no `exit_code_by_key`"));
        };
        let code = |(key, value): (&String, &Value)| match value {
            Value::Null => Ok((key.clone(), None)),
            Value::Number(number) if number.is_i64() => Ok((key.clone(), number.as_i64())),
            other => Err(malformed(at, &format!("the exit code of `{key}` is `{other}`"))),
        };
        let map = |name: &str| value.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self {
            codes: codes.iter().map(code).collect::<Result<_, _>>()?,
            type_errors: map("type_check_error_by_key")
                .iter()
                .filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned())))
                .collect(),
            durations: map("durations_by_key")
                .iter()
                .filter_map(|(key, seconds)| Some((key.clone(), seconds.as_f64()?)))
                .collect(),
        })
    }
}

/// mutmut 3's own table, with what really makes each code (seen with 3.8.1).
pub(super) fn answer(code: Option<i64>) -> Answer {
    let (word, status, doubt) = match code {
        None => ("not checked", Status::NotRun, None),
        // The process had loaded the code, and may have kept values, before the mutant was switched on.
        Some(0) => ("survived", Status::Survived, Some(Doubt::LoadedBefore)),
        Some(1) => ("killed", Status::Killed, None),
        // pytest failed in itself; a mutant can do that, so can the machine.
        Some(3) => ("killed", Status::Killed, Some(Doubt::MaybeEnvironment)),
        // Never the user: pytest could not collect, or the mutant raised KeyboardInterrupt.
        Some(2) => ("check was interrupted by user", Status::Killed, Some(Doubt::MaybeEnvironment)),
        Some(33) => ("no tests", Status::NoCoverage, None),
        Some(5) => ("no tests", Status::NoCoverage, Some(Doubt::NoTestRun)),
        Some(34) => ("skipped", Status::Ignored, None),
        Some(37) => ("caught by type check", Status::Unviable, None),
        Some(-24) => ("timeout", Status::Timeout, None),
        // The test process ended so by itself: no limit was reached.
        Some(24 | 36 | 152) => ("timeout", Status::Errored, Some(Doubt::Died)),
        // The fork server's worker caught an exception.
        Some(255) => ("timeout", Status::Errored, Some(Doubt::Died)),
        Some(-11 | -9) => ("segfault", Status::Errored, Some(Doubt::Died)),
        // 35, and whatever mutmut does not know.
        Some(_) => ("suspicious", Status::Errored, Some(Doubt::Died)),
    };
    Answer { word, status, doubt }
}

/// A generated name without its number. A function may have `__mutmut_` in its own name: the last one counts.
pub(super) fn base_of(name: &str) -> &str {
    name.rsplit_once("__mutmut_").map_or(name, |(base, _)| base)
}

/// The name under which mutmut keeps the tests of a mutant's function: it splits at the first mark.
pub(super) fn function_key(key: &str) -> &str {
    key.split("__mutmut_").next().unwrap_or(key)
}

/// The generated name and the name in the source: `xǁBoxǁarea` is `area` of `Box`.
pub(super) fn names(base: &str) -> (Option<&str>, &str) {
    let mut parts = base.split('\u{1c1}');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(class), Some(function)) => (Some(class), function),
        _ => (None, base.strip_prefix("x_").unwrap_or(base)),
    }
}

/// The function as a reader names it.
pub(super) fn function_of(key: &str) -> String {
    let base = base_of(key).rsplit('.').next().unwrap_or(key);
    match names(base) {
        (Some(class), function) => format!("{class}.{function}"),
        (None, function) => function.to_owned(),
    }
}

/// A JSON error as what it is: an end in the middle, or not the expected form.
pub(super) fn json_error(at: &str, error: &serde_json::Error) -> ParseError {
    if error.is_eof() {
        ParseError::Truncated { at: format!("{at}:{}", error.line()), why: "JSON".to_owned() }
    } else {
        malformed(&format!("{at}:{}", error.line()), &error.to_string())
    }
}

pub(super) fn malformed(at: &str, why: &str) -> ParseError {
    ParseError::Malformed { at: at.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_code_is_an_error_and_never_a_kill_or_a_survivor() {
        for code in [-15, -9, -11, -6, 4, 35, 77, 24, 36, 152, 255] {
            let answer = answer(Some(code));
            assert_eq!((answer.status, answer.doubt), (Status::Errored, Some(Doubt::Died)), "{code}");
        }
        assert_eq!(answer(None).status, Status::NotRun);
    }

    #[test]
    fn a_method_is_named_with_its_class() {
        assert_eq!(function_of("shop.calc.x\u{1c1}Box\u{1c1}__init____mutmut_2"), "Box.__init__");
        assert_eq!(function_of("shop.x_pkg_level__mutmut_11"), "pkg_level");
    }

    #[test]
    fn a_cut_file_is_cut_and_a_word_for_a_code_is_malformed() {
        assert!(matches!(Meta::read("m", b"{\"exit_code_by_key\": {"), Err(ParseError::Truncated { .. })));
        let word = br#"{"exit_code_by_key": {"a": "killed"}}"#;
        assert!(matches!(Meta::read("m", word), Err(ParseError::Malformed { .. })));
        assert!(matches!(Meta::read("m", b"{}"), Err(ParseError::Malformed { .. })));
    }
}
