//! A `SQLite` file from bytes, without a file system: whole or refused.
//!
//! In: bytes. Out: a database in memory. I/O: none.
//!
//! `SQLite` itself reads a cut file as far as asked, and rolls back what a killed writer left only when it finds the
//! journal beside the file. So both are checked here.

use rusqlite::{Connection, MAIN_DB};

use crate::ParseError;

const MAGIC: &[u8] = b"SQLite format 3\0";

/// The first bytes of a rollback journal that was not finished.
const JOURNAL: &[u8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Whether the bytes start as a database.
pub fn is_sqlite(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Whether a journal holds what a killed writer had not finished: the database beside it cannot be believed.
pub fn is_hot_journal(bytes: &[u8]) -> bool {
    bytes.starts_with(JOURNAL)
}

/// Opens the database `at`.
pub fn open(at: &str, bytes: &[u8]) -> Result<Connection, ParseError> {
    check_length(at, bytes)?;
    let mut bytes = bytes.to_vec();
    // A database in WAL mode cannot be opened in memory; without a log beside it, it is whole as it stands.
    for version in bytes.get_mut(18..20).into_iter().flatten() {
        *version = 1;
    }
    let broken = |error: rusqlite::Error| ParseError::Malformed { at: at.to_owned(), why: error.to_string() };
    let mut session = Connection::open_in_memory().map_err(broken)?;
    let length = bytes.len();
    session.deserialize_read_exact(MAIN_DB, bytes.as_slice(), length, false).map_err(broken)?;
    let verdict: String =
        session.query_row("pragma integrity_check(1)", [], |row| row.get(0)).map_err(broken)?;
    if verdict == "ok" {
        return Ok(session);
    }
    Err(ParseError::Malformed { at: at.to_owned(), why: format!("the database is damaged: {verdict}") })
}

/// The bytes of a database in memory.
pub fn bytes(at: &str, session: &mut Connection) -> Result<Vec<u8>, ParseError> {
    let data = session
        .serialize(MAIN_DB)
        .map_err(|error| ParseError::Malformed { at: at.to_owned(), why: error.to_string() })?;
    Ok(data.to_vec())
}

/// The header says how many pages there are.
fn check_length(at: &str, bytes: &[u8]) -> Result<(), ParseError> {
    let cut = |why: &str| ParseError::Truncated { at: at.to_owned(), why: why.to_owned() };
    if bytes.is_empty() {
        return Err(cut("the file is empty"));
    }
    if !is_sqlite(bytes) {
        if MAGIC.starts_with(bytes) {
            return Err(cut("the header of a database"));
        }
        crate::formats::text::decode(at, bytes)?;
        return Err(ParseError::Malformed { at: at.to_owned(), why: "it is no SQLite database".to_owned() });
    }
    let number = |from: usize, length: usize| -> Option<usize> {
        let field = bytes.get(from..from + length)?;
        Some(field.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let size = match number(16, 2) {
        Some(1) => 65536,
        Some(size) => size,
        None => return Err(cut("the header of a database")),
    };
    let pages = number(28, 4).ok_or_else(|| cut("the header of a database"))?;
    let current = number(24, 4) == number(92, 4);
    if size == 0 || !bytes.len().is_multiple_of(size) || (current && bytes.len() < pages * size) {
        return Err(cut("pages of the database are missing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Vec<u8> {
        let mut session = Connection::open_in_memory().unwrap();
        session.execute_batch("create table t(a text); insert into t values ('x'), ('y');").unwrap();
        bytes("t", &mut session).unwrap()
    }

    #[test]
    fn a_database_comes_back_as_it_went() {
        let session = open("t", &database()).unwrap();
        let count: i64 = session.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 2);
    }

    #[test]
    fn a_cut_database_is_never_opened() {
        let whole = database();
        for length in [0, 5, 40, 4096, whole.len() - 1] {
            assert!(open("t", &whole[..length]).is_err(), "{length} of {}", whole.len());
        }
        assert!(matches!(open("t", b"Segmentation fault"), Err(ParseError::Malformed { .. })));
        assert!(matches!(open("t", b"version https://git-lfs.github.com"), Err(ParseError::Encoding { .. })));
    }
}
