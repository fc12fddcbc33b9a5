//! Tells what one outcome means, with its log beside it: a kill from a broken build, an unviable mutant from a full disk.
//!
//! In: the tool's word, the last phase, a log. Out: [`Judged`]. I/O: none.

use polymut_schemas::Status;

use super::log;
use super::outcome::Ended;
use crate::Doubt;

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) status: Status,
    pub(super) word: String,
    pub(super) doubt: Option<Doubt>,
    pub(super) detail: Option<String>,
    pub(super) killed_by: Vec<String>,
    pub(super) duration: Option<f64>,
}

impl Judged {
    pub(super) fn caught(&mut self, log: Option<&str>) {
        self.status = Status::Killed;
        let Some(tests) = log.and_then(log::test_part) else { return };
        self.killed_by = log::failed_tests(tests);
        self.detail = log::panic_words(tests);
        if let Some(words) = log::machine_words(tests) {
            self.doubt = Some(Doubt::MaybeEnvironment);
            self.detail = Some(words);
        } else if self.killed_by.is_empty() && log::compiler_refused(tests) {
            // The tests were built a moment ago: what does not build now is no test's answer.
            self.doubt = Some(Doubt::MaybeBuildError);
            self.detail = log::first_error(tests);
        }
    }

    pub(super) fn unviable(&mut self, log: Option<&str>) {
        self.status = Status::Unviable;
        let Some(build) = log.map(log::cargo_part) else { return };
        self.detail = log::first_error(build);
        if let Some(words) = log::machine_words(build) {
            self.status = Status::Errored;
            self.doubt = Some(Doubt::MaybeEnvironment);
            self.detail = Some(format!("the machine, not the mutant, may have failed the build: {words}"));
        } else if log::only_lints(build) {
            self.status = Status::Errored;
            self.doubt = Some(Doubt::MaybeBuildError);
            let words = self.detail.take().unwrap_or_default();
            self.detail = Some(format!("does not build only because a lint is denied: {words}"));
        } else if !log::compiler_refused(build) {
            self.status = Status::Errored;
            self.doubt = Some(Doubt::MaybeEnvironment);
            self.detail = Some("the build failed without an error of the compiler".to_owned());
        }
    }

    pub(super) fn timed_out(&mut self, last: Option<(&str, Ended)>) {
        self.doubt = Some(Doubt::Load);
        if matches!(last, Some(("Build" | "Check", _))) {
            self.detail = Some("the build did not end within its limit".to_owned());
        } else {
            self.status = Status::Timeout;
        }
    }

    pub(super) fn failed(&mut self, last: Option<(&str, Ended)>) {
        self.doubt = Some(Doubt::Died);
        let phase = last.map_or("run", |(phase, _)| phase).to_lowercase();
        self.detail = Some(match last {
            Some((_, Ended::Signalled(signal))) => {
                format!("cargo was ended by signal {signal} in its {phase} phase")
            }
            Some((_, Ended::Success | Ended::Failure | Ended::Timeout | Ended::Other)) | None => {
                format!("cargo ended in its {phase} phase without saying how")
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILD: &str = "\n*** mutation diff:\n+ error[E0001]\n\n*** /cargo/bin/cargo test --no-run --verbose --package=a@0.1.0\n";
    const TEST: &str = "\n*** /cargo/bin/cargo test --verbose --package=a@0.1.0\n";

    fn judged(act: impl FnOnce(&mut Judged)) -> (Status, Option<Doubt>) {
        let mut judged = Judged {
            status: Status::Errored,
            word: String::new(),
            doubt: None,
            detail: None,
            killed_by: Vec::new(),
            duration: None,
        };
        act(&mut judged);
        (judged.status, judged.doubt)
    }

    fn unviable(words: &str) -> (Status, Option<Doubt>) {
        judged(|judged| judged.unviable(Some(&format!("{BUILD}{words}"))))
    }

    fn caught(words: &str) -> (Status, Option<Doubt>) {
        judged(|judged| judged.caught(Some(&format!("{BUILD}\n{TEST}{words}"))))
    }

    #[test]
    fn only_the_compiler_makes_a_mutant_unviable() {
        assert_eq!(unviable("error[E0308]: mismatched types\n"), (Status::Unviable, None));
        let full = "error: could not compile `a`: No space left on device (os error 28)\n";
        assert_eq!(unviable(full), (Status::Errored, Some(Doubt::MaybeEnvironment)));
        let offline = "error: no matching package named `serde` found\n";
        assert_eq!(unviable(offline), (Status::Errored, Some(Doubt::MaybeEnvironment)));
        let lint = "error: unused variable: `x`\n = note: `-D unused-variables` implied by `-D warnings`\n\
                    error: could not compile `a`\n";
        assert_eq!(unviable(lint), (Status::Errored, Some(Doubt::MaybeBuildError)));
    }

    #[test]
    fn a_kill_needs_a_test() {
        assert_eq!(caught("test a ... FAILED\n"), (Status::Killed, None));
        assert_eq!(
            caught("error[E0433]: failed to resolve\n"),
            (Status::Killed, Some(Doubt::MaybeBuildError))
        );
        let doctest = "error[E0308]: mismatched types\ntest src/lib.rs - add (line 3) ... FAILED\n";
        assert_eq!(caught(doctest), (Status::Killed, None));
        let memory = "memory allocation of 99999999 bytes failed\ntest a ... FAILED\n";
        assert_eq!(caught(memory), (Status::Killed, Some(Doubt::MaybeEnvironment)));
    }

    #[test]
    fn a_build_that_hangs_is_no_timeout_of_tests() {
        let hung = |phase| judged(|judged| judged.timed_out(Some((phase, Ended::Timeout))));
        assert_eq!(hung("Test"), (Status::Timeout, Some(Doubt::Load)));
        assert_eq!(hung("Build"), (Status::Errored, Some(Doubt::Load)));
    }
}
