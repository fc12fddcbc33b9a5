//! The two streams of the program.
//!
//! In: bytes and words. Out: stdout and stderr. I/O: writes both.

use std::io::{self, IsTerminal as _, Write};

use super::colour::{Colour, Listener, decide};
use super::error::render_error;
use crate::report::{Palette, WriteError};

/// Where data and words go, and whether each is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Of stdout.
    pub data: Palette,
    /// Of stderr.
    pub words: Palette,
}

impl Terminal {
    /// Decides about colour for both streams.
    pub fn new(option: Colour) -> Self {
        let listener = |terminal| if terminal { Listener::Terminal } else { Listener::Machine };
        let palette = |terminal| decide(option, &|name| std::env::var_os(name), listener(terminal));
        Self { data: palette(io::stdout().is_terminal()), words: palette(io::stderr().is_terminal()) }
    }

    /// Writes data to stdout. Who reads decides how much: a closed pipe is no error.
    pub fn data(&self, bytes: &[u8]) -> Result<(), WriteError> {
        put(&mut io::stdout().lock(), bytes)
            .map_err(|source| WriteError { path: "standard output".to_owned(), source })
    }

    /// Writes one line of words to stderr. A closed stderr is nobody's concern.
    pub fn say(&self, words: &str) {
        let _ = put(&mut io::stderr().lock(), format!("{words}\n").as_bytes());
    }

    /// Shows an error on stderr.
    pub fn error(&self, error: &anyhow::Error) {
        let _ = put(&mut io::stderr().lock(), render_error(error, self.words).as_bytes());
    }
}

fn put(stream: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(io::ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        assert!(put(&mut Closed(io::ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(put(&mut Closed(io::ErrorKind::StorageFull), b"x").is_err());
    }
}
