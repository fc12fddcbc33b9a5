//! A small program that tries to get out, run inside the walls by the probe: what it could do is not held.
//!
//! In: the words after `__contain try`. Out: a file of [`Tried`]. I/O: all that it should not be able to do, in places
//! that the probe made for it.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::{TRY, WORD};

/// How long a left-over stays, if nobody ends it.
const LINGER: Duration = Duration::from_secs(30);

/// Memory is taken in pieces of this size.
const PIECE: usize = 4 << 20;

/// What the program managed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// It reached a listener of the machine.
    pub left_network: bool,
    /// It reached a listener of its own over loopback.
    pub has_loopback: bool,
}

/// Runs one of the trials.
pub(super) fn main(words: &[OsString]) -> ExitCode {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let done = match words[..] {
        ["walls", port, answer, lock, ref files @ ..] => walls(port, answer, lock, files),
        ["nothing"] => Ok(()),
        ["linger", lock] => linger(lock),
        ["memory", bytes] => take_memory(bytes),
        _ => Err(io::Error::other("no such trial")),
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tries the network, writes to files, and leaves a process of another session behind that holds a lock.
fn walls(port: &str, answer: &str, lock: &str, files: &[&str]) -> io::Result<()> {
    let port = port.parse().map_err(io::Error::other)?;
    let reaches = |port: u16| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
    let own = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let tried = Tried { left_network: reaches(port), has_loopback: reaches(own.local_addr()?.port()) };
    for file in files {
        let _ = fs::write(file, "a mutant was here");
    }
    leave_behind(lock)?;
    fs::write(answer, serde_json::to_vec(&tried)?)
}

#[expect(clippy::disallowed_methods, reason = "the trial has to do what a tool may do")]
fn leave_behind(lock: &str) -> io::Result<()> {
    let mut child = Command::new("/proc/self/exe")
        .args([WORD, TRY, "--", "linger", lock])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    // It closes its stdout when it holds the lock.
    let mut nothing = Vec::new();
    child.stdout.take().map_or(Ok(0), |mut stdout| io::Read::read_to_end(&mut stdout, &mut nothing))?;
    Ok(())
}

/// Holds a lock for as long as it lives, in a session of its own.
fn linger(lock: &str) -> io::Result<()> {
    let _ = nix::unistd::setsid();
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(lock)?;
    file.file().lock()?;
    let _ = nix::unistd::dup2_stdout(fs::File::open("/dev/null")?.file());
    std::thread::sleep(LINGER);
    drop(file);
    Ok(())
}

/// Takes so much memory, touches it, and stays for a moment, so that a watchdog can see it.
fn take_memory(bytes: &str) -> io::Result<()> {
    let bytes: usize = bytes.parse().map_err(io::Error::other)?;
    let mut held: Vec<Vec<u8>> = Vec::new();
    while held.len() * PIECE < bytes {
        held.push(vec![1; PIECE]);
    }
    std::thread::sleep(Duration::from_millis(500));
    let sum: usize = held.iter().map(|piece| usize::from(piece[0])).sum();
    if sum == held.len() { Ok(()) } else { Err(io::Error::other("memory lost its content")) }
}
