//! What the Python tools share: where packages are, what is test code, and an interpreter to run in.
//!
//! In: the tree. Out: folders, steps. I/O: none.

mod baseline;
mod environment;
mod packages;
mod version;
mod words;

pub(super) use baseline::baseline;
pub(super) use environment::{Environment, environment, interpreter, prepared, python, start_folders};
pub(super) use packages::{ini_section, is_test, packages, toml_file};
pub(super) use version::{check_version, wanted};
pub(super) use words::{last_lines, quote_end, tests_failed};
