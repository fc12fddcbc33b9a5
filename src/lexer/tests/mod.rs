//! What the lexers must tell apart, by language.
//!
//! In: two texts. Out: the lines that count. I/O: none.

mod languages;
mod properties;

use polymut_schemas::RepoPath;

use super::{Hunk, Language, LineChange, changed_lines};

/// The hunks between two texts, by the textbook line diff.
fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let line = |at: usize| u32::try_from(at).unwrap() + 1;
    super::align::edits(&old, &new)
        .into_iter()
        .map(|edit| Hunk {
            old: line(edit.old.start)..line(edit.old.end),
            new: line(edit.new.start)..line(edit.new.end),
        })
        .collect()
}

/// What counts between two versions of a file called `name`.
fn change(name: &str, old: &str, new: &str) -> LineChange {
    let language = Language::of(&RepoPath::new(name).unwrap());
    changed_lines(language, old.as_bytes(), new.as_bytes(), &hunks(old, new))
}

/// The lines that count.
fn lines(name: &str, old: &str, new: &str) -> Vec<u32> {
    change(name, old, new).lines.lines().collect()
}

/// Asserts that nothing counts, both ways round.
#[track_caller]
fn same(name: &str, old: &str, new: &str) {
    assert_eq!(lines(name, old, new), Vec::<u32>::new(), "{name}: {old:?} to {new:?}");
    assert_eq!(lines(name, new, old), Vec::<u32>::new(), "{name}: {new:?} to {old:?}");
}

/// Asserts that something counts, both ways round.
#[track_caller]
fn differs(name: &str, old: &str, new: &str) {
    assert_ne!(lines(name, old, new), Vec::<u32>::new(), "{name}: {old:?} to {new:?}");
    assert_ne!(lines(name, new, old), Vec::<u32>::new(), "{name}: {new:?} to {old:?}");
}
