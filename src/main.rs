//! The `polymut` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything is parsed: one of the hidden processes around a tool.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|word| word == polymut::exec::contain::WORD) {
        return polymut::exec::contain::main(std::env::args_os().skip(2));
    }
    ExitCode::SUCCESS
}
