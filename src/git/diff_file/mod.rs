//! `--diff-file`: a unified diff that somebody else made, held against the tree.
//!
//! In: the bytes of the diff. Out: the files of the scope. I/O: reads the new side through [`Repo`].
//!
//! Invariant: every line that the diff claims for its new side is found there, or the answer is an error.
//!
//! [`Repo`]: super::Repo

mod fit;
mod names;
mod parse;

pub(super) use fit::files;
