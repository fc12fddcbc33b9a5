//! Hostile programs run through the real executor: what a level claims holds, and what does not hold is not claimed.
//!
//! In: small programs that do what a mutant can do. Out: claims. I/O: processes behind walls.
#![cfg(target_os = "linux")]

mod levels;
mod rig;
