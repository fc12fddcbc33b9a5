//! The words that keeper and first process say to each other, over the first process's stdin.
//!
//! In: a socket. Out: [`ToFirst`], [`ToKeeper`]. I/O: the socket. Its end means that the other one is gone.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};

/// What the keeper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToFirst {
    /// The walls outside stand: begin.
    Go,
    /// The user map is written.
    Mapped,
    /// Give the tool this signal.
    Signal(i32),
    /// Kill the tool and all that it started, and end.
    Kill,
}

/// What the first process says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToKeeper {
    /// It has made a user namespace and needs its map.
    Map,
    /// The room could not be built.
    Refused(String),
    /// The program could not be started.
    NoProgram(String),
    /// The tool has exited.
    Exited(i32),
    /// The tool was ended by a signal.
    Signalled(i32),
}

/// One end of the socket. A message is a line.
#[derive(Debug)]
pub(super) struct Channel {
    socket: UnixStream,
    read: Vec<u8>,
}

impl Channel {
    /// Over this socket.
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, read: Vec::new() }
    }

    /// The socket, to wait for it.
    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Says something. That nobody listens any more is noticed where it is read.
    pub(super) fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.socket.write_all(&line)
    }

    /// Whether another whole message has come already.
    pub(super) fn has_more(&self) -> bool {
        self.read.contains(&b'\n')
    }

    /// Waits for the next message; `None` when the other end is gone.
    pub(super) fn next<T: for<'de> Deserialize<'de>>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let mut part = [0_u8; 4096];
            match self.socket.read(&mut part) {
                Ok(0) => return Ok(None),
                Ok(length) => self.read.extend_from_slice(part.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_messages_in_one_piece_are_two_messages_and_then_the_end() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut one, mut other) = (Channel::new(one), Channel::new(other));
        one.say(&ToFirst::Go).unwrap();
        one.say(&ToFirst::Signal(15)).unwrap();
        drop(one);
        assert_eq!(other.next().unwrap(), Some(ToFirst::Go));
        assert_eq!(other.next().unwrap(), Some(ToFirst::Signal(15)));
        assert_eq!(other.next::<ToFirst>().unwrap(), None);
    }
}
