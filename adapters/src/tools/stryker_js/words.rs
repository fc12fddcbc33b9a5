//! Stryker's own words for a run's notes: the error that a log ends with, without time stamps, colours and machine paths.
//!
//! In: a step's end and outputs. Out: [`Quote`]. I/O: none.

use polymut_schemas::Quote;

use crate::{End, StepEnd};

const LINES: usize = 8;
const CHARS: usize = 900;

/// What the step says of its end: Stryker's errors, else lines that tell of a failure, else its last lines.
pub(super) fn quote(step: &StepEnd) -> Quote {
    let text = format!("{}\n{}", plain(&step.stdout.text()), plain(&step.stderr.text()));
    let found = [errors, failures, tail].into_iter().find_map(|look| look(&text));
    let how = how(step.end);
    let text = found.map_or_else(|| how.clone(), |found| format!("{how}: {found}"));
    Quote { text: text.chars().take(CHARS).collect(), at: format!("output of {}", step.name) }
}

/// How a process ended, in words.
pub(super) fn how(end: End) -> String {
    match end {
        End::Exit(code) => format!("exit code {code}"),
        End::Signal(signal) => format!("ended by signal {signal}"),
        End::Limit => "stopped at its time limit".to_owned(),
        End::OutOfMemory => "stopped at the memory ceiling".to_owned(),
        End::Stopped => "stopped by polymut".to_owned(),
        End::NoProgram => "the program was not found".to_owned(),
    }
}

/// The messages of level ERROR with the lines that belong to them.
fn errors(text: &str) -> Option<String> {
    let mut kept = Vec::new();
    let mut within = false;
    for line in text.lines() {
        if let Some((_, message)) = line.split_once(" ERROR ") {
            within = true;
            kept.push(message);
        } else if is_logged(line) {
            within = false;
        } else if within && !line.trim_start().starts_with("at ") && !line.trim().is_empty() {
            kept.push(line);
        }
    }
    kept.truncate(LINES);
    (!kept.is_empty()).then(|| kept.join("\n"))
}

/// `03:41:14 (20969) INFO DryRunExecutor …`, or a progress line of polymut's reporter.
fn is_logged(line: &str) -> bool {
    let time = line.get(..8).is_some_and(|time| time.bytes().all(|b| b.is_ascii_digit() || b == b':'));
    time || line.starts_with("polymut ")
}

/// Lines in which a test runner or Node tells what failed.
fn failures(text: &str) -> Option<String> {
    let telling = ["FAIL", "Error", "✕", "✖", "×", "●"];
    let lines = text.lines().filter(|line| telling.iter().any(|mark| line.contains(mark)));
    let kept: Vec<&str> = lines.map(str::trim).take(LINES).collect();
    (!kept.is_empty()).then(|| kept.join("\n"))
}

fn tail(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let kept = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    (!kept.is_empty()).then_some(kept)
}

/// Without ANSI sequences.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic());
        rest = end.and_then(|end| after.get(end + 1..)).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// A status reason, cut before its stack trace: its line numbers are those of the instrumented file.
pub(super) fn reason(text: &str) -> String {
    let plain = plain(text);
    let lines = plain.lines().take_while(|line| !line.trim_start().starts_with("at "));
    lines.collect::<Vec<_>>().join("\n").trim().chars().take(CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Output;

    #[test]
    fn the_error_is_quoted_without_time_and_stack() {
        let log = "03:41:13 (1) INFO DryRunExecutor Starting.\n03:41:14 (1) ERROR DryRunExecutor One failed:\n\tadds\n    at x.js:1\n03:41:15 (1) INFO X done\n";
        let step = StepEnd {
            name: "stryker".to_owned(),
            about: None,
            end: End::Exit(1),
            wall: std::time::Duration::ZERO,
            stdout: Output { bytes: log.as_bytes().to_vec(), lost: 0 },
            stderr: Output::default(),
        };
        assert_eq!(quote(&step).text, "exit code 1: DryRunExecutor One failed:\n\tadds");
    }

    #[test]
    fn colours_go() {
        assert_eq!(plain("\u{1b}[1m\u{1b}[32mok\u{1b}[39m!"), "ok!");
    }
}
