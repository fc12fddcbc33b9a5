//! What a run is about: only a run about exactly the same may be continued.
//!
//! In: names and values. Out: [`Header`], and what differs between two. I/O: none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hash::sha256;

/// What is run, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Header(BTreeMap<String, Identity>);

/// One thing that has to be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Short enough to be shown.
    Word(String),
    /// The hash of something long.
    Hash(String),
    /// Hashes of many things, by name: those that differ can be named.
    Each(BTreeMap<String, String>),
}

/// The most names that a difference lists.
const NAMED: usize = 5;

impl Identity {
    /// A hash of `bytes`.
    pub fn hash(bytes: &[u8]) -> Self {
        Self::Hash(sha256(bytes))
    }

    /// In words, how `other` differs; `None`: it does not.
    fn differs(&self, other: &Self) -> Option<String> {
        match (self, other) {
            (one, two) if one == two => None,
            (Self::Word(was), Self::Word(is)) => Some(format!("was {was}, is {is}")),
            (Self::Each(was), Self::Each(is)) => {
                let names = was.keys().chain(is.keys().filter(|name| !was.contains_key(*name)));
                let others: Vec<&str> =
                    names.filter(|name| was.get(*name) != is.get(*name)).map(String::as_str).collect();
                let more = others.len().saturating_sub(NAMED);
                let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
                Some(format!("{}{tail}", others[..others.len().min(NAMED)].join(", ")))
            }
            (Self::Word(_) | Self::Hash(_) | Self::Each(_), _) => Some("changed since".to_owned()),
        }
    }
}

impl Header {
    /// Adds one thing.
    pub fn set(&mut self, name: &str, identity: Identity) {
        self.0.insert(name.to_owned(), identity);
    }

    /// Whether `name` is known.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Adds everything of `more`.
    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// What differs in `now`, in words. A name that `now` does not have yet is not looked at.
    pub fn differs(&self, now: &Self) -> Vec<String> {
        let told = now.0.iter().filter_map(|(name, is)| match self.0.get(name) {
            Some(was) => was.differs(is).map(|how| format!("{name}: {how}")),
            None => Some(format!("{name}: not known of the interrupted run")),
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> Identity {
        Identity::Each(pairs.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect())
    }

    #[test]
    fn what_differs_is_named_and_what_does_not_is_not() {
        let mut was = Header::default();
        was.set("merge base", Identity::Word("aa".to_owned()));
        was.set("files", files(&[("a", "1"), ("b", "1"), ("gone", "1")]));
        was.set("walls", Identity::Word("sealed".to_owned()));
        let mut is = Header::default();
        is.set("merge base", Identity::Word("bb".to_owned()));
        is.set("files", files(&[("a", "1"), ("b", "2"), ("new", "1")]));
        assert_eq!(was.differs(&is), ["files: b, gone, new", "merge base: was aa, is bb"]);
        assert_eq!(was.differs(&was.clone()), [""; 0]);
    }

    #[test]
    fn many_names_are_counted() {
        let many: Vec<String> = (0..9).map(|number| format!("f{number}")).collect();
        let pairs: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "1")).collect();
        let words = files(&pairs).differs(&files(&[])).unwrap();
        assert_eq!(words, "f0, f1, f2, f3, f4 and 4 more");
    }
}
