//! Hostile programs run through the real executor: what a level claims holds, and what does not hold is not claimed.
//!
//! In: small programs that do what a mutant can do. Out: claims. I/O: processes behind walls.
//!
//! A program that destroys what it can reach is run below the sealed level only inside of an outer sealed sandbox, with
//! a home of its own (`inner`); where that cannot be built, the test fails and the program does not run.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a panic is the report")]

mod ends;
mod inner;
mod levels;
mod outer;
mod reach;
mod rig;
mod scope;
mod users;
