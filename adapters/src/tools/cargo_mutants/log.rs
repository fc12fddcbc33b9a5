//! Reads what cargo, libtest and cargo-nextest print: failing tests, reasons, quotes.
//!
//! In: outputs and log files. Out: names and words. I/O: none.

use std::collections::BTreeSet;

use polymut_schemas::Quote;

use crate::{End, StepEnd, Tick};

/// Words of a log that speak of the machine, not of the mutant.
const MACHINE: [&str; 9] = [
    "No space left on device",
    "Cannot allocate memory",
    "memory allocation of",
    "Too many open files",
    "failed to download",
    "Could not resolve host",
    "Read-only file system",
    "Disk quota exceeded",
    "Resource temporarily unavailable",
];

/// The last words of a step that did not succeed, shortened, and where they stand.
pub(super) fn quote(step: &StepEnd, otherwise: &str) -> Quote {
    let (stdout, stderr) = (step.stdout.text(), step.stderr.text());
    let words = reason(&stderr).or_else(|| reason(&stdout)).unwrap_or_else(|| otherwise.to_owned());
    let tests = failed_tests(&stdout);
    let failing = if tests.is_empty() { String::new() } else { format!("failing: {}; ", tests.join(", ")) };
    let end = match step.end {
        End::Exit(code) => format!("exit {code}"),
        End::Signal(signal) => format!("signal {signal}"),
        End::Limit => "stopped at its time limit".to_owned(),
        End::OutOfMemory => "stopped at the memory ceiling".to_owned(),
        End::Stopped => "stopped by polymut".to_owned(),
        End::NoProgram => "the program was not found".to_owned(),
    };
    Quote { text: format!("{end}: {failing}{words}"), at: format!("output of {}", step.name) }
}

/// The line that says why: the first error, else the last line.
fn reason(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find(|line| is_error(line));
    error.or_else(|| lines().next_back()).map(|line| line.chars().take(300).collect())
}

fn is_error(line: &str) -> bool {
    let line = line.strip_prefix("ERROR ").map_or(line, |_| "error: ");
    line.starts_with("error:") || line.starts_with("error[") || line.starts_with("Error:")
}

/// The part of a mutant's log that belongs to its tests: after the last cargo command line, when two were run.
pub(super) fn test_part(log: &str) -> Option<&str> {
    let last = commands(log).last()?;
    (!first_line(last).contains("--no-run")).then_some(last)
}

/// What cargo printed: without the diff above it, which may hold any words.
pub(super) fn cargo_part(log: &str) -> &str {
    commands(log).next().unwrap_or_default()
}

/// The log from each cargo command line on.
fn commands(log: &str) -> impl Iterator<Item = &str> {
    log.match_indices("\n*** ").map(|(at, mark)| &log[at + mark.len()..]).filter(|rest| is_command(rest))
}

fn is_command(line: &str) -> bool {
    let line = first_line(line);
    line.contains("--verbose") && (line.contains(" test ") || line.contains(" nextest "))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Names of the tests that failed, each once. Sorted: tests run side by side, and print as they end.
pub(super) fn failed_tests(text: &str) -> Vec<String> {
    let name = |line| libtest_name(line).or_else(|| nextest_name(line)).or_else(|| overflowed(line));
    let names: BTreeSet<String> = text.lines().filter_map(name).collect();
    names.into_iter().collect()
}

fn libtest_name(line: &str) -> Option<String> {
    // nextest shows the output of a failed test indented; its own line has the full name.
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name).to_owned())
}

fn nextest_name(line: &str) -> Option<String> {
    let (word, rest) = line.trim_start().split_once(" [")?;
    let failing = word.starts_with("FAIL") || word.starts_with("SIG") || word == "TIMEOUT" || word == "ABORT";
    let (seconds, rest) = rest.split_once(']')?;
    let timed = seconds.trim().trim_start_matches('>').ends_with('s');
    if !failing || !timed || word.contains(' ') {
        return None;
    }
    let rest = rest.trim();
    let rest = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1.trim(),
        None => rest,
    };
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn overflowed(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("thread '")?.split_once('\'')?;
    name.1.contains("has overflowed its stack").then(|| name.0.to_owned())
}

/// What a failing assertion says, without its place and thread. Of several it is the one whose test has the first name:
/// tests run side by side, and which of them fails first is chance.
pub(super) fn panic_words(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let panics = lines.iter().enumerate().filter_map(|(at, line)| Some((panicked(line)?, at)));
    let words: Vec<&str> = lines
        .get(panics.min()?.1 + 1..)?
        .iter()
        .map(|line| line.trim())
        .take_while(|line| {
            !line.is_empty() && !line.starts_with("note:") && !line.starts_with("stack backtrace")
        })
        .take(4)
        .collect();
    (!words.is_empty()).then(|| words.join("; ").chars().take(300).collect())
}

/// The thread that a line says has panicked; tests run in threads of their names.
fn panicked(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix("thread '")?.split_once('\'')?;
    rest.contains("panicked at").then_some(name)
}

/// The first words of a log that blame the machine.
pub(super) fn machine_words(log: &str) -> Option<String> {
    let line = log.lines().find(|line| MACHINE.iter().any(|words| line.contains(words)))?;
    Some(line.trim().chars().take(300).collect())
}

/// Whether the compiler refused the code, as against a build that failed for another reason.
pub(super) fn compiler_refused(log: &str) -> bool {
    log.contains("error: could not compile") || log.contains("error[E")
}

/// Whether every error of the compiler is a denied lint: without the denial the mutant would build.
pub(super) fn only_lints(log: &str) -> bool {
    let hard = log.contains("error[E");
    let denied = [
        "implied by `-D",
        "implied by `#[deny(",
        "implied by `#[forbid(",
        "note: the lint level is defined here",
        "requested on the command line with `-D",
    ];
    !hard && denied.iter().any(|words| log.contains(words))
}

/// The first error of the compiler.
pub(super) fn first_error(log: &str) -> Option<String> {
    let line = log.lines().map(str::trim).find(|line| is_error(line))?;
    Some(line.chars().take(300).collect())
}

/// Whether a run of the suite had no test in it.
pub(super) fn ran_no_test(stdout: &str) -> bool {
    let mut counts = stdout.lines().filter_map(|line| line.strip_prefix("running ")).peekable();
    counts.peek().is_some() && counts.all(|rest| rest.starts_with("0 tests"))
}

/// Progress from a line of the tool's output.
pub(super) fn tick(line: &str) -> Option<Tick> {
    if let Some(rest) = line.strip_prefix("Found ") {
        let total = rest.strip_suffix(" mutants to test").or_else(|| rest.strip_suffix(" mutant to test"))?;
        return Some(Tick { done: None, total: total.parse().ok(), word: None });
    }
    let (word, name) = line.split_once(' ')?;
    let known = ["caught", "MISSED", "TIMEOUT", "unviable", "FAILED", "ok"].contains(&word);
    known.then(|| Tick { done: None, total: None, word: Some(name.trim().to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_tests_of_both_runners_are_named_once() {
        let text = "test tests::adds ... FAILED\ntest tests::ok ... ok\ntest src/lib.rs - add (line 3) ... FAILED\n\
                    test p ... ok\n        FAIL [   0.070s] (6/6) single tests::adds\n\
                    \u{20}   test tests::big ... FAILED\n        FAIL [   0.070s] (6/6) single tests::adds\n\
                    SIGTERM [ 4.943s] (1/6) single tests::counts\nthread 'tests::deep' (20) has overflowed its stack\n";
        let expected = [
            "single tests::adds",
            "single tests::counts",
            "src/lib.rs - add (line 3)",
            "tests::adds",
            "tests::deep",
        ];
        assert_eq!(failed_tests(text), expected);
    }

    #[test]
    fn which_test_fails_first_does_not_change_the_words() {
        let (a, b) = (
            "thread 'tests::a' (7) panicked at src/lib.rs:9:5:\none\n\n",
            "thread 'tests::b' panicked at src/lib.rs:19:5:\ntwo\nnote: run with\n",
        );
        assert_eq!(panic_words(&format!("{a}{b}")).as_deref(), Some("one"));
        assert_eq!(panic_words(&format!("{b}{a}")).as_deref(), Some("one"));
        assert_eq!(panic_words("thread 'main' says nothing\n"), None);
    }

    #[test]
    fn a_denied_lint_is_told_from_an_error() {
        let lint = "error: unused variable: `x`\n = note: `-D unused-variables` implied by `-D warnings`\n\
                    error: could not compile `a`";
        assert!(only_lints(lint) && compiler_refused(lint));
        assert!(!only_lints(&format!("error[E0308]: mismatched types\n{lint}")));
        assert!(!only_lints("error: expected one of `;`\nerror: could not compile `a`"));
    }

    #[test]
    fn the_test_part_starts_at_the_last_command() {
        let build = "*** mutation diff:\n*** /x/cargo test --no-run --verbose\nerror: a\n";
        assert_eq!(test_part(&format!("\n{build}")), None);
        let both =
            format!("\n{build}\n*** /x/cargo test --verbose\ntest a ... FAILED\n*** result: Failure(101)\n");
        assert!(test_part(&both).is_some_and(|part| part.contains("FAILED") && !part.contains("error: a")));
    }

    #[test]
    fn a_suite_without_tests_is_noticed() {
        assert!(ran_no_test("running 0 tests\n\nrunning 0 tests\n"));
        assert!(!ran_no_test("running 0 tests\n\nrunning 2 tests\n"));
        assert!(!ran_no_test("no word about it\n"));
    }
}
