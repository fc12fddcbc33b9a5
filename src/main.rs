//! The `polymut` program.

use std::process::ExitCode;

use clap::Parser as _;
use polymut::cli::Cli;
use polymut::exit::Exit;
use polymut::ui::Terminal;

fn main() -> ExitCode {
    // Before anything is parsed: one of the hidden processes around a tool.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|word| word == polymut::exec::contain::WORD) {
        return polymut::exec::contain::main(std::env::args_os().skip(2));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Pass };
            let _ = error.print();
            return ExitCode::from(code.code());
        }
    };
    let terminal = Terminal::new(cli.color);
    // A panic has said its words; what it left running is ended all the same, and its code is that of an internal error.
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| polymut::commands::dispatch(cli)));
    let exit = ended.map_or(Exit::Internal, |ended| {
        ended.unwrap_or_else(|error| {
            terminal.error(&error);
            polymut::commands::code_of(&error)
        })
    });
    polymut::exec::end_everything();
    ExitCode::from(exit.code())
}
