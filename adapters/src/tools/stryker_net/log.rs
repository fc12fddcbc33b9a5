//! Reads what dotnet, its test runners and the tool print: reasons, totals, failing tests.
//!
//! In: outputs of steps. Out: quotes, numbers, names. I/O: none.
//!
//! The tool wraps what it says at 80 columns; its words are quoted, never taken apart, except for lines that stand whole.

use polymut_schemas::Quote;

use crate::{End, Finish, StepEnd, Tick};

/// What the tool says before the reason why it gives up.
const GIVES_UP: &str = "Stryker.NET failed to mutate your project.";

/// Sentences that say why, in the order of their worth. A build's whole output may stand before them.
const REASONS: &[&str] = &[
    "Initial testrun has",
    "Initial build of targeted project failed",
    "No test result reported",
    "Failed to analyze project builds",
    "No test project found",
    "Compilation failed",
    "Unhandled exception",
];

/// What the tool prints about a run that went to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// `N total mutants will be tested`.
    pub(super) tested: Option<u64>,
    /// Whether the runner's answers do not say which test reaches which mutant.
    pub(super) capture_failed: bool,
    /// Whether the tool itself calls its runner a preview.
    pub(super) preview: bool,
}

impl Account {
    /// Reads the output of a run.
    pub(super) fn read(stdout: &str) -> Self {
        let mut account = Self::default();
        for line in stdout.lines() {
            account.tested = total(line).or(account.tested);
            account.capture_failed |= line.contains("test coverage capture failed");
            account.preview |= line.contains("testrunner is currently in preview");
        }
        account
    }
}

fn total(line: &str) -> Option<u64> {
    message(line)?.strip_suffix("total mutants will be tested")?.trim().parse().ok()
}

/// A log line without its time and level.
fn message(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.split_once("] ").map(|(_, message)| message)
}

/// Progress from a line of the tool's output.
pub(super) fn tick(line: &str) -> Option<Tick> {
    if let Some(total) = total(line) {
        return Some(Tick { done: None, total: Some(total), word: None });
    }
    let message = message(line)?;
    let stages =
        ["Analysis starting", "Building test project", "Number of tests found", "Capture mutant coverage"];
    let word = stages.iter().find(|stage| message.starts_with(**stage))?;
    Some(Tick { done: None, total: None, word: Some((*word).to_owned()) })
}

/// The tool's or dotnet's own words about a step that did not succeed, with how it ended.
pub(super) fn quote(step: &StepEnd, otherwise: &str) -> Quote {
    let (stdout, stderr) = (step.stdout.text(), step.stderr.text());
    let words = reason(&stdout).or_else(|| reason(&stderr)).or_else(|| error_line(&stdout));
    let words = words.or_else(|| last_line(&stderr)).or_else(|| last_line(&stdout));
    let text = format!("{}: {}", step.end, words.unwrap_or_else(|| otherwise.to_owned()));
    Quote { text, at: format!("output of {}", step.name) }
}

/// What a step that did not succeed means for its stage.
pub(super) fn finish(step: &StepEnd) -> Finish {
    let quote = quote(step, "no words");
    match step.end {
        End::Exit(_) if step.stdout.text().contains("Initial testrun has") => Finish::RedBaseline(quote),
        End::Exit(0 | 2) | End::Limit | End::NoProgram | End::Stopped => Finish::Nothing(quote),
        End::Exit(_) | End::Signal(_) | End::OutOfMemory => Finish::Broken(quote),
    }
}

fn reason(text: &str) -> Option<String> {
    let known = REASONS.iter().find_map(|words| text.find(words));
    let after = || text.find(GIVES_UP).map(|at| at + text[at..].find("below:").map_or(0, |below| below + 6));
    let rest = &text[known.or_else(after)?..];
    let words: Vec<&str> = rest.split_whitespace().take(60).collect();
    shortened(&words.join(" "))
}

/// The first line that a compiler, MSBuild or NuGet marks as an error.
fn error_line(text: &str) -> Option<String> {
    let marks = [": error ", "error :", "error: ", "error MSB", "error NU"];
    shortened(text.lines().map(str::trim).find(|line| marks.iter().any(|mark| line.contains(mark)))?)
}

fn last_line(text: &str) -> Option<String> {
    shortened(text.lines().map(str::trim).rfind(|line| !line.is_empty())?)
}

fn shortened(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.chars().take(300).collect())
}

/// Names of the tests that failed, in order, each once, whichever runner printed them.
pub(super) fn failed_tests(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let vstest = line.strip_prefix("Failed ").and_then(|rest| Some(rest.rsplit_once(" [")?.0));
        let xunit = line.strip_suffix(" [FAIL]").map(|rest| match rest.split_once(']') {
            Some((mark, name)) if mark.starts_with("[xUnit.net") => name.trim(),
            Some(_) | None => rest,
        });
        let platform = line.strip_prefix("failed ").and_then(|rest| Some(rest.rsplit_once(" (")?.0));
        if let Some(name) = vstest.or(xunit).or(platform).map(str::to_owned)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// How many tests ran; `None` where no runner's summary is found.
pub(super) fn tests_run(text: &str) -> Option<u64> {
    let numbers = text.lines().filter_map(|line| {
        let counted = line.contains("Failed: ") || line.contains("total: ");
        let (_, rest) = line.split_once("Total: ").or_else(|| line.trim().split_once("total: "))?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        counted.then(|| digits.parse::<u64>().ok())?
    });
    let numbers: Vec<u64> = numbers.collect();
    let none = text.contains("No test is available") || text.contains("Zero tests ran");
    if numbers.is_empty() { none.then_some(0) } else { Some(numbers.iter().sum()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Output;

    #[test]
    fn failing_tests_of_every_runner_are_named_once() {
        let text = "[xUnit.net 00:00:00.15]     A.Tests.One [FAIL]\n  Failed A.Tests.One [1 ms]\n    A.Tests.Two(x: 1) [FAIL]\n\
                    failed A.Tests.Three (12ms)\nFailed!  - Failed:     1, Passed: 12\n";
        assert_eq!(failed_tests(text), ["A.Tests.One", "A.Tests.Two(x: 1)", "A.Tests.Three"]);
    }

    #[test]
    fn tests_are_counted_over_every_summary() {
        let two = "Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2, Duration: 1 ms - A.dll\n\
                   Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 1 ms - A.dll\n";
        assert_eq!(tests_run(two), Some(5));
        assert_eq!(tests_run("   Core.Tests  Total: 13, Errors: 0, Failed: 0, Skipped: 0\n"), Some(13));
        assert_eq!(tests_run("No test is available in /x/A.dll.\n"), Some(0));
        assert_eq!(tests_run("no summary\n"), None);
    }

    #[test]
    fn the_reason_is_found_behind_a_whole_build_and_before_the_end() {
        let said = |stdout: &str| {
            let output = Output { bytes: stdout.as_bytes().to_vec(), lost: 0 };
            let step = StepEnd {
                name: "test".to_owned(),
                about: None,
                end: End::Exit(1),
                wall: std::time::Duration::ZERO,
                stdout: output,
                stderr: Output::default(),
            };
            quote(&step, "no words").text
        };
        let build = "Stryker.NET failed to mutate your project. For more information see the logs \nbelow:\n\n\n/x/A.cs(1,1): \
                     error CS1002\n\nInitial build of targeted project failed. Please make sure the targeted project \nis buildable.";
        assert!(
            said(build).starts_with("exit 1: Initial build of targeted project failed. Please make sure")
        );
        let other = "Stryker.NET failed to mutate your project. For more information see the logs \nbelow:\n\n\nThreshold break must be \nbetween";
        assert_eq!(said(other), "exit 1: Threshold break must be between");
        assert_eq!(
            said("/x/A.csproj : error NU1101: Unable to find"),
            "exit 1: /x/A.csproj : error NU1101: Unable to find"
        );
    }
}
