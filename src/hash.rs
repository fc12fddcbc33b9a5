//! SHA-256 as the document, the journal and Git LFS write it.
//!
//! In: bytes. Out: hexadecimal digits. I/O: none.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 of `bytes` in 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
