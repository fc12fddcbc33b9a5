//! Hostile programs run through the real executor: what a level claims holds, and what does not hold is not claimed.
//!
//! In: small programs that do what a mutant can do. Out: claims. I/O: processes behind walls.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "test code: a panic is the report")]

mod levels;
mod rig;
