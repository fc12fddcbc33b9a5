//! The adapter suites: every adapter of the registry over every fixture of its tool, without a line of per-tool code.
//!
//! In: `tests/fixtures/<tool>/<version>-<case>/`. Out: passed or a list of failures. I/O: reads fixtures; with
//! `POLYMUT_BLESS=1` writes their `expect/` folders.
//!
//! `tests/fixtures/README.md` describes the format. `POLYMUT_CASE=word` plays only the cases whose path holds `word`.

#![expect(clippy::disallowed_methods, reason = "the suites read fixture files; the adapters do not")]
#![expect(clippy::panic, clippy::expect_used, reason = "a broken fixture is a failed test")]

mod case;
mod check;
mod contract;
mod count;
mod fixtures;
mod input;
mod interrupted;
mod play;
mod show;
