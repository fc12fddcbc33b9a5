//! The one place that renders an error: what, why, and what to do.
//!
//! In: an error. Out: `error:` / `caused by:` / `help:`. I/O: none.

use std::error::Error;

use owo_colors::{OwoColorize as _, Style};

use crate::report::{Palette, visible};

/// A piece of help that travels with an error, for commands that know a remedy which the error itself does not.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Help {
    /// What went wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Renders an error with its causes; the first that knows a remedy gives the help. Ends with a line feed.
pub fn render_error(error: &anyhow::Error, palette: Palette) -> String {
    let mut parts = vec![("error:", Style::new().red().bold(), error.to_string())];
    let mut said = error.to_string();
    for cause in error.chain().skip(1) {
        let words = cause.to_string();
        // Some libraries repeat their source in their own words.
        if !said.contains(&words) {
            parts.push(("caused by:", Style::new().bold(), words.clone()));
        }
        said = words;
    }
    parts.extend(error.chain().find_map(hint).map(|help| ("help:", Style::new().cyan().bold(), help)));
    let lines = parts.iter().map(|(label, style, words)| match palette {
        Palette::Plain => format!("{label} {}\n", indented(words)),
        Palette::Ansi => format!("{} {}\n", label.style(*style), indented(words)),
    });
    lines.collect()
}

/// Further lines stand under the first.
fn indented(text: &str) -> String {
    visible(text.trim_end()).replace('\n', "\n  ")
}

/// Tries each error of the rooms that has a `hint()`.
macro_rules! hint_of {
    ($error:ident: $($kind:ty),+ $(,)?) => {
        None$(.or_else(|| $error.downcast_ref::<$kind>().and_then(<$kind>::hint)))+
    };
}

/// What the user can do, as far as the error knows.
fn hint(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(help) = error.downcast_ref::<Help>() {
        return Some(help.help.clone());
    }
    hint_of!(error:
        crate::config::ConfigError,
        crate::exec::ExecError,
        crate::exec::JournalError,
        crate::exec::SandboxError,
        crate::git::GitError,
        crate::job::MachineError,
        crate::planner::PlannerError,
        crate::report::ReadError,
        crate::report::RenderError,
        crate::report::WriteError,
        polymut_adapters::ParseError,
        polymut_adapters::PlanError,
    )
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn an_error_shows_its_causes_and_the_remedy_of_the_one_that_has_it() {
        let inner = crate::config::parse("[run]\nbugdet = \"1m\"\n", "polymut.toml").unwrap_err();
        let error = Err::<(), _>(inner).context("nothing was run").unwrap_err();
        let text = render_error(&error, Palette::Plain);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "error: nothing was run");
        assert_eq!(lines[1], "caused by: polymut.toml:2:1: unknown key `bugdet` in `run`");
        assert!(lines[2].starts_with("help: did you mean `budget`?"), "{text}");
    }

    #[test]
    fn a_cause_that_was_already_said_is_not_said_again() {
        let error = anyhow::anyhow!("disk full").context("x cannot be written: disk full");
        assert_eq!(render_error(&error, Palette::Plain), "error: x cannot be written: disk full\n");
    }

    #[test]
    fn control_characters_are_shown_and_further_lines_are_indented() {
        let help = Help { message: "a\u{1b}[2Jb\nc".to_owned(), help: "d".to_owned() };
        assert_eq!(render_error(&help.into(), Palette::Plain), "error: a\\u{1b}[2Jb\n  c\nhelp: d\n");
    }

    #[test]
    fn colour_marks_the_labels() {
        let text = render_error(&anyhow::anyhow!("x"), Palette::Ansi);
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "error: x\n");
        assert!(text.contains("\u{1b}["));
    }
}
