//! Whether output is coloured: decided once, from the option, the environment and the terminal.
//!
//! In: `--color`, a look into the environment, whether a terminal listens. Out: a [`Palette`]. I/O: none.

use std::ffi::OsString;

use crate::report::Palette;

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// Where a terminal listens and nothing in the environment is against it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Whom a stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// A terminal.
    Terminal,
    /// A file or a pipe.
    Machine,
}

/// The option decides, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR=0` and `TERM=dumb`, then who listens.
pub fn decide(option: Colour, variable: &dyn Fn(&str) -> Option<OsString>, listener: Listener) -> Palette {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is = |name: &str, value: &str| set(name).is_some_and(|found| found == *value);
    let coloured = match option {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR").is_some() => false,
        Colour::Auto if set("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0") => true,
        Colour::Auto if is("CLICOLOR", "0") || is("TERM", "dumb") => false,
        Colour::Auto => listener == Listener::Terminal,
    };
    if coloured { Palette::Ansi } else { Palette::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(variables: &[(&str, &str)], listener: Listener) -> Palette {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        decide(Colour::Auto, &find, listener)
    }

    #[test]
    fn the_option_wins_over_everything() {
        let all = |_: &str| Some(OsString::from("1"));
        assert_eq!(decide(Colour::Always, &all, Listener::Machine), Palette::Ansi);
        assert_eq!(decide(Colour::Never, &|_| None, Listener::Terminal), Palette::Plain);
    }

    #[test]
    fn no_color_wins_over_force_and_an_empty_value_counts_as_unset() {
        let both = [("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")];
        assert_eq!(auto(&both, Listener::Terminal), Palette::Plain);
        assert_eq!(auto(&[("NO_COLOR", "")], Listener::Terminal), Palette::Ansi);
        assert_eq!(auto(&[("CLICOLOR_FORCE", "1")], Listener::Machine), Palette::Ansi);
        assert_eq!(auto(&[("CLICOLOR_FORCE", "0")], Listener::Machine), Palette::Plain);
    }

    #[test]
    fn otherwise_a_terminal_decides_unless_it_cannot_show_colour() {
        assert_eq!(auto(&[], Listener::Terminal), Palette::Ansi);
        assert_eq!(auto(&[], Listener::Machine), Palette::Plain);
        assert_eq!(auto(&[("TERM", "dumb")], Listener::Terminal), Palette::Plain);
        assert_eq!(auto(&[("CLICOLOR", "0")], Listener::Terminal), Palette::Plain);
    }
}
