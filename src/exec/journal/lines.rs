//! The file of a journal: one record per line, each with a checksum, and large bytes in files of their own beside it.
//!
//! In: records as JSON, bytes. Out: the same again. I/O: one folder.
//!
//! A line is a checksum, a blank and one JSON value. It is synced to the disk before the run goes on, and after the
//! bytes that it names: whatever a whole line says is there.

use std::io::{Read as _, Write as _};

use fs_err as fs;
use serde_json::Value;

use super::JournalError;
use crate::hash::sha256;
use crate::paths::AbsPath;

/// The file of records in the folder of a journal.
const FILE: &str = "run.jsonl";

/// How many digits of a checksum stand before a record.
const DIGITS: usize = 16;

/// An open journal file.
#[derive(Debug)]
pub(super) struct Lines {
    folder: AbsPath,
    file: fs::File,
}

/// A record with its place.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) value: Value,
}

impl Lines {
    /// An empty journal in `folder`.
    pub(super) fn create(folder: &AbsPath) -> Result<Self, JournalError> {
        let path = place(folder);
        let file = fs::create_dir_all(folder.as_std_path())
            .and_then(|()| fs::OpenOptions::new().create_new(true).append(true).open(path.as_std_path()))
            .map_err(JournalError::io(format!("create {path}")))?;
        Ok(Self { folder: folder.clone(), file })
    }

    /// The journal in `folder` with its whole lines; `None`: there is none. A torn last line is cut off.
    pub(super) fn open(folder: &AbsPath) -> Result<Option<(Self, Vec<Line>)>, JournalError> {
        let path = place(folder);
        if !path.as_path().exists() {
            return Ok(None);
        }
        let failed = || JournalError::io(format!("read {path}"));
        let mut options = fs::OpenOptions::new();
        let mut file = options.read(true).append(true).open(path.as_std_path()).map_err(failed())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let (lines, good) = parse(&path, &bytes)?;
        if good < bytes.len() {
            tracing::warn!(%path, cut = bytes.len() - good, "the last line of a journal is torn; it is cut off");
            file.set_len(good as u64).map_err(failed())?;
        }
        Ok(Some((Self { folder: folder.clone(), file }, lines)))
    }

    /// Where it is.
    pub(super) fn path(&self) -> AbsPath {
        place(&self.folder)
    }

    /// Adds a record, and returns when the disk has it.
    pub(super) fn add(&mut self, value: &Value) -> Result<(), JournalError> {
        let text = value.to_string();
        let line = format!("{} {text}\n", &sha256(text.as_bytes())[..DIGITS]);
        // One write: a death in between leaves a torn line, never two half ones.
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(JournalError::io(format!("write {}", self.path())))
    }

    /// Keeps bytes in a file of their own; its name is their hash.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<String, JournalError> {
        let name = sha256(bytes);
        let path = self.folder.join(&name);
        let put = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(self.folder.as_std_path())?;
            file.write_all(bytes)?;
            file.as_file().sync_data()?;
            file.persist(path.as_std_path())?;
            Ok(())
        };
        put().map_err(JournalError::io(format!("write {path}")))?;
        Ok(name)
    }

    /// The bytes of that name; why not otherwise.
    pub(super) fn kept(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        let bytes = fs::read(path.as_std_path()).map_err(|error| error.to_string())?;
        if sha256(&bytes) == name { Ok(bytes) } else { Err("its content has another hash".to_owned()) }
    }
}

fn place(folder: &AbsPath) -> AbsPath {
    folder.join(FILE)
}

/// Whole lines, and how many bytes they are.
fn parse(path: &AbsPath, bytes: &[u8]) -> Result<(Vec<Line>, usize), JournalError> {
    let (mut lines, mut good) = (Vec::new(), 0);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_last = good + line.len() == bytes.len();
        match record(line) {
            Ok(value) => lines.push(Line { number: index + 1, value }),
            Err(_) if is_last => break,
            Err(why) => {
                let file = path.to_string();
                return Err(JournalError::Damaged { file, line: index + 1, why: why.to_owned() });
            }
        }
        good += line.len();
    }
    Ok((lines, good))
}

fn record(line: &[u8]) -> Result<Value, &'static str> {
    let line = line.strip_suffix(b"\n").ok_or("it has no end")?;
    let (sum, text) = line.split_at_checked(DIGITS).ok_or("it is too short")?;
    let text = text.strip_prefix(b" ").ok_or("it has no checksum")?;
    if &sha256(text).as_bytes()[..DIGITS] != sum {
        return Err("its checksum is another");
    }
    serde_json::from_slice(text).map_err(|_| "it is no JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn folder(dir: &tempfile::TempDir) -> AbsPath {
        AbsPath::new(dir.path().join("journal").to_str().unwrap()).unwrap()
    }

    fn three(dir: &tempfile::TempDir) -> (AbsPath, Vec<u8>) {
        let folder = folder(dir);
        let mut lines = Lines::create(&folder).unwrap();
        for number in 1..=3 {
            lines.add(&json!({ "number": number, "text": "two\nlines" })).unwrap();
        }
        let bytes = fs::read(lines.path().as_std_path()).unwrap();
        (folder, bytes)
    }

    fn reread(folder: &AbsPath, bytes: &[u8]) -> Result<Vec<usize>, JournalError> {
        fs::write(place(folder).as_std_path(), bytes).unwrap();
        let (_, lines) = Lines::open(folder)?.unwrap();
        Ok(lines.iter().map(|line| line.number).collect())
    }

    #[test]
    fn a_journal_cut_at_any_byte_keeps_its_whole_lines_and_takes_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, bytes) = three(&dir);
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(reread(&folder, &bytes[..cut]).unwrap().len(), whole, "cut at {cut}");
            let (mut lines, _) = Lines::open(&folder).unwrap().unwrap();
            lines.add(&json!({ "added": cut })).unwrap();
            let (_, lines) = Lines::open(&folder).unwrap().unwrap();
            assert_eq!(lines.len(), whole + 1);
            assert_eq!(lines[whole].value, json!({ "added": cut }));
        }
    }

    #[test]
    fn a_changed_byte_in_the_middle_is_an_error_that_names_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, bytes) = three(&dir);
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        for at in [0, DIGITS, DIGITS + 5, first + 1, first + DIGITS + 8] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let error = reread(&folder, &damaged).unwrap_err();
            let line = if at > first { 2 } else { 1 };
            assert!(error.to_string().contains(&format!("run.jsonl:{line}: ")), "{error}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn bytes_come_back_and_others_in_their_place_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir);
        let lines = Lines::create(&folder).unwrap();
        let name = lines.keep(b"\xff\0 bytes").unwrap();
        assert_eq!(lines.keep(b"\xff\0 bytes").unwrap(), name);
        assert_eq!(lines.kept(&name).unwrap(), b"\xff\0 bytes");
        fs::write(folder.join(&name).as_std_path(), b"others").unwrap();
        assert!(lines.kept(&name).unwrap_err().contains("hash"));
        fs::remove_file(folder.join(&name).as_std_path()).unwrap();
        assert!(lines.kept(&name).is_err());
    }
}
