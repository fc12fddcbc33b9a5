//! The door of `polymut __contain`: finds out which of the hidden processes this one is.
//!
//! In: the words after `__contain`. Out: an exit code. I/O: that of the process.

use std::ffi::OsString;
use std::process::ExitCode;

use camino::{Utf8Path, Utf8PathBuf};

use super::ids::Own;
use super::spec::{REFUSED, Spec};
use super::{first, keeper, trial};

/// The first word of the command line, before everything that users can type.
pub const WORD: &str = "__contain";

/// Then: the keeper, followed by the spec's path, `--` and the tool's command.
pub const KEEP: &str = "keep";

/// Or: the first process, followed by the spec's path, the user's numbers, `--` and the tool's command.
pub const FIRST: &str = "first";

/// Or: a program that tries to get out, followed by `--` and what to try.
pub const TRY: &str = "try";

/// Runs one of the hidden processes. `args` is what follows [`WORD`].
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let mut before = Vec::new();
    for word in args.by_ref().take_while(|word| word != "--") {
        before.push(word.into_string().unwrap_or_default());
    }
    let words: Vec<OsString> = args.collect();
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    match before[..] {
        [KEEP, place] => keeper::keep(Utf8Path::new(place), &words),
        [FIRST, place, own] => inside(Utf8PathBuf::from(place), own, &words),
        [TRY] => trial::main(&words),
        _ => ExitCode::from(REFUSED),
    }
}

fn inside(place: Utf8PathBuf, own: &str, words: &first::Words) -> ExitCode {
    let (Ok(spec), Some(own)) = (Spec::load(&place), Own::parse(own)) else { return ExitCode::from(REFUSED) };
    drop(place);
    // Whoever asks learns the outcome over the channel; a broken channel means that nobody asks any more.
    match first::run(&spec, own, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(REFUSED),
    }
}
