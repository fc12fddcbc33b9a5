//! Counts statuses in recorded reports without any adapter code.
//!
//! In: a report's bytes and a regex or query. Out: numbers per status. I/O: reads fixtures.

use std::collections::BTreeMap;
use std::path::Path;

use regex::RegexBuilder;
use rusqlite::{Connection, OpenFlags};

use crate::case::CountSpec;

/// The independent count of each status that the fixture names; several entries of a status add up.
pub(crate) fn count(dir: &Path, specs: &[CountSpec]) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for spec in specs {
        let path = dir.join(&spec.file);
        let number = match (&spec.regex, &spec.sql) {
            (Some(pattern), None) => matches(&path, pattern),
            (None, Some(query)) => ask(&path, query),
            (Some(_), Some(_)) | (None, None) => panic!("{}: give `regex` or `sql`", path.display()),
        };
        let sum: &mut i64 = counts.entry(spec.status.clone()).or_default();
        *sum += if spec.minus { -number } else { number };
    }
    counts.retain(|_, number| *number != 0);
    counts.into_iter().map(|(status, number)| (status, number.unsigned_abs())).collect()
}

fn matches(path: &Path, pattern: &str) -> i64 {
    let bytes = crate::input::read(path);
    let text = String::from_utf8_lossy(&bytes);
    let regex = RegexBuilder::new(pattern).multi_line(true).build().expect("a regex");
    i64::try_from(regex.find_iter(&text).count()).expect("a small number")
}

fn ask(path: &Path, query: &str) -> i64 {
    let uri = format!("file:{}?immutable=1", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let session = Connection::open_with_flags(uri, flags).expect("a SQLite file");
    session.query_row(query, [], |row| row.get(0)).expect("one number")
}
