//! Words that several reasons share.
//!
//! In: numbers and lists. Out: text. I/O: none.

use std::collections::BTreeMap;
use std::fmt::Display;

use polymut_schemas::{Mutant, Status};

/// `1 survivor`, `3 survivors`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The first three of a list, and how many more.
pub(super) fn some(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let shown = items.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `2 not run, 1 flaky`.
pub(super) fn by_status(mutants: &[&Mutant]) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for mutant in mutants {
        *counts.entry(mutant.status).or_default() += 1;
    }
    let parts = counts.iter().map(|(status, number)| format!("{number} {}", status.word().replace('_', " ")));
    parts.collect::<Vec<_>>().join(", ")
}
