//! Drains the outputs of a process: at once, to a file, with a cap, and line by line to whoever wants progress.
//!
//! In: the reading end of a pipe. Out: [`Output`] and a log file. I/O: writes the log file.
//!
//! A full pipe stops a tool and a closed one makes some tools panic; so draining never ends before the pipe does,
//! not even when the log cannot be written any more.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polymut_adapters::Output;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::ExecError;
use super::record::whole_lines;
use crate::paths::AbsPath;

/// Gets each line, without its end; lines end at `\n` or `\r` and are shortened to [`LINE`] bytes.
pub type OnLine = Arc<dyn Fn(&str) + Send + Sync>;

/// The most of a line that is handed on.
const LINE: usize = 4096;

/// How long a pipe may stay open after every process of the tree is gone: somebody outside of it holds the end.
const LINGER: Duration = Duration::from_secs(2);

/// The same when nothing that still comes counts.
const FROZEN_LINGER: Duration = Duration::from_millis(200);

/// How much of an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Bytes from its beginning.
    pub head: usize,
    /// Bytes from its end, when there is more.
    pub tail: usize,
}

impl Default for Cap {
    /// Lists of mutants go through stdout: some ten thousand of them fit.
    fn default() -> Self {
        Self { head: 64 << 20, tail: 4 << 20 }
    }
}

/// A running drain.
pub(super) struct Drain {
    sink: Arc<Mutex<Sink>>,
    task: AbortOnDropHandle<()>,
}

impl Drain {
    /// Begins to drain `pipe` into the file `log`. `broken` is cancelled when the log cannot be written.
    pub(super) fn start<R>(pipe: R, sink: Sink, on_line: OnLine, broken: CancellationToken) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
    {
        let sink = Arc::new(Mutex::new(sink));
        let task = AbortOnDropHandle::new(tokio::spawn(pump(pipe, Arc::clone(&sink), on_line, broken)));
        Self { sink, task }
    }

    /// What was written until now is all that counts; the log goes on.
    pub(super) fn freeze(&self) {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).freeze();
    }

    /// Waits for the end of the pipe (a little) and closes the log.
    pub(super) async fn finish(self) -> Result<Output, ExecError> {
        let frozen = self.sink.lock().unwrap_or_else(PoisonError::into_inner).frozen.is_some();
        let linger = if frozen { FROZEN_LINGER } else { LINGER };
        if tokio::time::timeout(linger, self.task).await.is_err() {
            tracing::warn!("an output is still held open by a process outside of the step");
        }
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.finish()
    }
}

async fn pump<R: AsyncRead + Unpin>(
    mut pipe: R,
    sink: Arc<Mutex<Sink>>,
    on_line: OnLine,
    broken: CancellationToken,
) {
    let mut buffer = vec![0; 64 << 10];
    let mut lines = Lines::default();
    // An error of a pipe is its end: there is nothing else to read from it.
    while let Ok(count) = pipe.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        let bytes = &buffer[..count];
        if !sink.lock().unwrap_or_else(PoisonError::into_inner).push(bytes) {
            broken.cancel();
        }
        lines.push(bytes, &*on_line);
    }
    lines.finish(&*on_line);
}

/// Keeps the head and the tail of what is pushed; the head goes to the file at once.
pub(super) struct Sink {
    log: AbsPath,
    file: fs_err::File,
    cap: Cap,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    lost: u64,
    frozen: Option<Output>,
    error: Option<io::Error>,
}

impl Sink {
    /// Creates the log file.
    pub(super) fn create(log: &AbsPath, cap: Cap) -> Result<Self, ExecError> {
        let file = fs_err::File::create(log.as_std_path())
            .map_err(|source| ExecError::io(format!("create {log}"), log, source))?;
        Ok(Self {
            log: log.clone(),
            file,
            cap,
            head: Vec::new(),
            tail: VecDeque::new(),
            lost: 0,
            frozen: None,
            error: None,
        })
    }

    /// Takes bytes; `false` when the log could not be written.
    fn push(&mut self, bytes: &[u8]) -> bool {
        let room = self.cap.head.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        if self.error.is_none() {
            self.error = self.file.write_all(head).err();
        }
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.cap.tail);
        self.tail.drain(..over);
        self.lost += over as u64;
        self.error.is_none()
    }

    /// Keeps the whole lines until now: what a tool says while it is being stopped is no answer, and half a line may
    /// read as another one.
    fn freeze(&mut self) {
        let mut bytes = self.head.clone();
        let (mut tail, mut lost) = (Vec::from(self.tail.clone()), self.lost);
        if lost > 0 {
            lost += cut_gap(&mut bytes, &mut tail);
        }
        bytes.append(&mut tail);
        whole_lines(&mut bytes);
        self.frozen = Some(Output { bytes, lost });
    }

    /// What was kept. When something was lost, both sides of the gap are cut to whole lines, so that no line is made
    /// up of two halves.
    fn finish(&mut self) -> Result<Output, ExecError> {
        let mut bytes = std::mem::take(&mut self.head);
        let mut tail = Vec::from(std::mem::take(&mut self.tail));
        let mut lost = self.lost;
        if lost > 0 {
            lost += cut_gap(&mut bytes, &mut tail);
            self.write(format!("\n[polymut: about {lost} bytes were not kept here]\n").as_bytes());
        }
        self.write(&tail);
        bytes.append(&mut tail);
        match self.error.take() {
            None => Ok(self.frozen.take().unwrap_or(Output { bytes, lost })),
            Some(source) => Err(ExecError::io(format!("write {}", self.log), &self.log, source)),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.file.write_all(bytes).err();
        }
    }
}

/// Cuts both sides of a gap to whole lines; how many bytes that takes.
fn cut_gap(head: &mut Vec<u8>, tail: &mut Vec<u8>) -> u64 {
    let keep = head.iter().rposition(|b| *b == b'\n').map_or(head.len(), |at| at + 1);
    let skip = tail.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
    let cut = (head.len() - keep + skip) as u64;
    head.truncate(keep);
    tail.drain(..skip);
    cut
}

/// Cuts bytes into lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn push(&mut self, bytes: &[u8], on_line: &dyn Fn(&str)) {
        for part in bytes.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            let ended = part.ends_with(b"\n") || part.ends_with(b"\r");
            let text = if ended { &part[..part.len() - 1] } else { part };
            let room = LINE.saturating_sub(self.0.len());
            self.0.extend_from_slice(&text[..room.min(text.len())]);
            if ended {
                self.finish(on_line);
            }
        }
    }

    fn finish(&mut self, on_line: &dyn Fn(&str)) {
        if !self.0.is_empty() {
            on_line(&String::from_utf8_lossy(&self.0));
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(dir: &tempfile::TempDir, cap: Cap) -> Sink {
        let log = AbsPath::new(dir.path().join("log").to_str().unwrap()).unwrap();
        Sink::create(&log, cap).unwrap()
    }

    #[test]
    fn what_fits_is_kept_byte_by_byte() {
        let dir = tempfile::tempdir().unwrap();
        let mut sink = sink(&dir, Cap { head: 100, tail: 10 });
        assert!(sink.push(b"one\ntwo\xff\r\n"));
        assert!(sink.push(b"three"));
        let output = sink.finish().unwrap();
        assert_eq!(output, Output { bytes: b"one\ntwo\xff\r\nthree".to_vec(), lost: 0 });
        assert_eq!(fs_err::read(dir.path().join("log")).unwrap(), output.bytes);
    }

    #[test]
    fn head_and_tail_are_kept_in_whole_lines_and_the_rest_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut sink = sink(&dir, Cap { head: 10, tail: 10 });
        let all = b"aaaa\nbbbb\ncccc\ndddd\neeee\nffff\n";
        for chunk in all.chunks(7) {
            assert!(sink.push(chunk));
        }
        let output = sink.finish().unwrap();
        assert_eq!(output.bytes, b"aaaa\nbbbb\nffff\n");
        assert_eq!(output.lost + output.bytes.len() as u64, all.len() as u64);
        let log = fs_err::read_to_string(dir.path().join("log")).unwrap();
        assert!(
            log.starts_with("aaaa\nbbbb\n") && log.contains("15 bytes") && log.ends_with("\nffff\n"),
            "{log}"
        );
    }

    #[test]
    fn what_comes_after_the_freeze_is_in_the_log_only() {
        let dir = tempfile::tempdir().unwrap();
        let mut sink = sink(&dir, Cap { head: 100, tail: 10 });
        sink.push(b"a killed\nb kil");
        sink.freeze();
        sink.push(b"led\nstopping\n");
        assert_eq!(sink.finish().unwrap(), Output { bytes: b"a killed\n".to_vec(), lost: 0 });
        let log = fs_err::read_to_string(dir.path().join("log")).unwrap();
        assert_eq!(log, "a killed\nb killed\nstopping\n");
    }

    #[test]
    fn lines_end_at_either_character_and_never_grow_without_bound() {
        let seen = Mutex::new(Vec::new());
        let on_line = |line: &str| seen.lock().unwrap().push(line.to_owned());
        let mut lines = Lines::default();
        lines.push(b"10%\r20", &on_line);
        lines.push(b"%\r\ndone\n", &on_line);
        lines.push(&[b'x'; LINE * 3], &on_line);
        lines.push(b"\n\xff", &on_line);
        lines.finish(&on_line);
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen[..3], ["10%", "20%", "done"]);
        assert_eq!(seen[3].len(), LINE);
        assert_eq!(seen[4], "\u{fffd}");
    }
}
