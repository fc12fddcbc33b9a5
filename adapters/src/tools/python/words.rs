//! What a step's output says, shortened to what a reader needs.
//!
//! In: [`StepEnd`]. Out: [`Quote`], test names. I/O: none.

use polymut_schemas::Quote;

use crate::{End, StepEnd};

/// The last lines that say something; of a spinner's line what stands after its last return. How long tests took is left
/// out: a report says the same in every run.
pub(in crate::tools) fn last_lines(text: &str, lines: usize) -> String {
    let all: Vec<String> = text
        .lines()
        .map(|line| line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default().trim_end())
        .filter(|line| !line.is_empty())
        .map(timeless)
        .collect();
    all.get(all.len().saturating_sub(lines)..).unwrap_or_default().join("\n")
}

/// The closing line of pytest or unittest without `in 0.05s`. Every other line stays as it was written.
fn timeless(line: &str) -> String {
    let said = line.trim_start_matches(['=', ' ']);
    let counts = said.starts_with(|c: char| c.is_ascii_digit())
        && [" passed", " failed", " error", " skipped", " deselected"].iter().any(|word| said.contains(word));
    if !counts && !said.starts_with("no tests ran") && !said.starts_with("Ran ") {
        return line.to_owned();
    }
    for (at, _) in line.rmatch_indices(" in ") {
        let rest = &line[at + 4..];
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if digits.len() < rest.len()
            && digits.strip_prefix('s').is_some_and(|end| !end.starts_with(char::is_alphabetic))
        {
            return format!("{}{}", &line[..at], &digits[1..]);
        }
    }
    line.to_owned()
}

/// How many failed tests are named.
const NAMED: usize = 5;

/// How a step ended, with its last words, and the failed tests where those do not name them: with `CI` set, pytest prints
/// whole differences below each name.
pub(in crate::tools) fn quote_end(step: &StepEnd, lines: usize) -> Quote {
    let how = match step.end {
        End::Exit(code) => format!("{} ended with exit code {code}", step.name),
        End::Signal(signal) => format!("{} was ended by signal {signal}", step.name),
        End::Limit => format!("{} took longer than its limit", step.name),
        End::OutOfMemory => format!("{} ran out of memory", step.name),
        End::Stopped => format!("{} was stopped", step.name),
        End::NoProgram => format!("{} found no program to start", step.name),
    };
    let (out, err) = (last_lines(&step.stdout.text(), lines), last_lines(&step.stderr.text(), lines));
    let words = [out, err].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let failed = tests_failed(&format!("{}\n{}", step.stdout.text(), step.stderr.text()));
    let unnamed: Vec<&str> =
        failed.iter().map(String::as_str).filter(|name| !words.contains(name)).take(NAMED).collect();
    let how = if unnamed.is_empty() { how } else { format!("{how}; failing: {}", unnamed.join(", ")) };
    let text = if words.is_empty() { how } else { format!("{how}:\n{words}") };
    Quote { text, at: format!("output of {}", step.name) }
}

/// Tests that pytest's summary or unittest's report names as failed, in the order of the output.
pub(in crate::tools) fn tests_failed(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let pytest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        let unittest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        let name = match (pytest, unittest) {
            (Some(rest), _) => rest.split(" - ").next().unwrap_or(rest).trim(),
            (None, Some(rest)) => rest.trim(),
            (None, None) => continue,
        };
        if !name.is_empty() && !name.starts_with('(') && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Output;

    #[test]
    fn a_failed_test_whose_difference_fills_the_quote_is_named_all_the_same() {
        let long = "E     -  'S': 5000,\n".repeat(20);
        let text =
            format!("FAILED tests/test_lines.py::test_sizes - AssertionError:\n{long}1 failed in 0.05s\n");
        let stdout = Output { bytes: text.into_bytes(), ..Output::default() };
        let step = StepEnd {
            name: "baseline".to_owned(),
            about: None,
            end: End::Exit(1),
            wall: std::time::Duration::ZERO,
            stdout,
            stderr: Output::default(),
        };
        let quote = quote_end(&step, 12).text;
        assert!(quote.contains("failing: tests/test_lines.py::test_sizes:\n"), "{quote}");
    }

    #[test]
    fn times_of_tests_are_left_out_and_other_words_stay() {
        assert_eq!(
            last_lines("=== 1 failed, 4 passed in 0.05s ===\nRan 3 tests in 12.001s\n", 2),
            "=== 1 failed, 4 passed ===\nRan 3 tests"
        );
        for said in
            ["E   assert 'retry in 3s' == ''", "in 5 places, in 0.5seconds of grace", "12 waits in 3s"]
        {
            assert_eq!(last_lines(said, 1), said);
        }
    }

    #[test]
    fn a_spinner_says_what_it_said_last() {
        assert_eq!(last_lines("a\n⠋ Running\r⠙ Running stats\r\n\ndone\n", 2), "⠙ Running stats\ndone");
    }

    #[test]
    fn failed_tests_of_both_runners_are_named_once() {
        let text = "FAILED tests/a.py::test_x[a b] - assert 1 == 2\nFAIL: test_y (tests.T.test_y)\nERROR tests/b.py\nFAIL: test_y (tests.T.test_y)\n";
        assert_eq!(tests_failed(text), ["tests/a.py::test_x[a b]", "test_y (tests.T.test_y)", "tests/b.py"]);
    }
}
