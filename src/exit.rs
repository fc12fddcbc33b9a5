//! The exit codes: one enum, one meaning each, one precedence.
//!
//! In: a verdict, or how the program ended. Out: [`Exit`]. I/O: none.
//!
//! # Invariants
//! - An output format never changes the code.
//! - Interrupted comes before fail, fail before inconclusive, inconclusive before pass: a survivor that is already
//!   proved fails, whatever else broke.

use polymut_schemas::{GateMode, Outcome, Verdict};

/// Declares the codes; the doc line of each is also its row in the README.
macro_rules! exits {
    ($( #[doc = $meaning:literal] $name:ident = $code:literal, )+) => {
        /// How polymut ends.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Exit { $( #[doc = $meaning] $name = $code, )+ }

        impl Exit {
            /// Every code in order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// What the code says to a script.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning.trim_ascii(),)+ }
            }
        }
    };
}

exits! {
    /// Pass: everything was looked at and the policy forbids nothing that was found (or the gate is `advisory` or `off`, and says so).
    Pass = 0,
    /// The gate failed: a survivor on a changed line, or something else that the policy forbids.
    GateFailed = 1,
    /// Wrong use or configuration: nothing was run.
    Usage = 2,
    /// Inconclusive: something could not be judged, and the report says what and whose fault it is.
    Inconclusive = 3,
    /// An internal error of polymut.
    Internal = 70,
    /// Interrupted (Ctrl-C); what was reached is saved.
    Interrupted = 130,
    /// Terminated (SIGTERM); what was reached is saved.
    Terminated = 143,
}

impl Exit {
    /// The code of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        match (verdict.mode, verdict.outcome) {
            (GateMode::Advisory | GateMode::Off, _) => Self::Pass,
            (GateMode::Block, Outcome::Pass) => Self::Pass,
            (GateMode::Block, Outcome::Fail) => Self::GateFailed,
            (GateMode::Block, Outcome::Inconclusive) => Self::Inconclusive,
        }
    }

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The one of two that is reported.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Inconclusive => 1,
            Self::GateFailed => 2,
            Self::Usage => 3,
            Self::Internal => 4,
            Self::Terminated => 5,
            Self::Interrupted => 6,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What has to be said when the exit code is 0 although the outcome is not a pass.
pub fn softened(verdict: &Verdict) -> Option<&'static str> {
    match (verdict.mode, verdict.outcome) {
        (_, Outcome::Pass) | (GateMode::Block, Outcome::Fail | Outcome::Inconclusive) => None,
        (GateMode::Advisory, Outcome::Fail | Outcome::Inconclusive) => {
            Some("the gate is advisory here: exit 0 in spite of it")
        }
        (GateMode::Off, Outcome::Fail | Outcome::Inconclusive) => {
            Some("the gate is off here: exit 0 in spite of it")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(mode: GateMode, outcome: Outcome) -> Verdict {
        Verdict { outcome, mode, reasons: Vec::new() }
    }

    #[test]
    fn a_blocking_gate_has_a_code_per_outcome() {
        let code = |outcome| Exit::of(&verdict(GateMode::Block, outcome)).code();
        assert_eq!([code(Outcome::Pass), code(Outcome::Fail), code(Outcome::Inconclusive)], [0, 1, 3]);
    }

    #[test]
    fn a_soft_gate_ends_with_zero_and_says_so_unless_it_passed() {
        for mode in [GateMode::Advisory, GateMode::Off] {
            for outcome in [Outcome::Fail, Outcome::Inconclusive] {
                assert_eq!(Exit::of(&verdict(mode, outcome)), Exit::Pass);
                assert!(softened(&verdict(mode, outcome)).is_some_and(|words| words.contains("exit 0")));
            }
            assert_eq!(softened(&verdict(mode, Outcome::Pass)), None);
        }
        assert_eq!(softened(&verdict(GateMode::Block, Outcome::Fail)), None);
    }

    #[test]
    fn interrupted_comes_before_fail_before_inconclusive_before_pass() {
        let order = [Exit::Pass, Exit::Inconclusive, Exit::GateFailed, Exit::Interrupted];
        for pair in order.windows(2) {
            assert_eq!(pair[0].worse(pair[1]), pair[1]);
            assert_eq!(pair[1].worse(pair[0]), pair[1]);
        }
    }
}
