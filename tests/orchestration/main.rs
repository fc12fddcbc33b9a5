//! The executor against a fake tool that misbehaves: it hangs, is deaf, leaves daemons, floods and dies half-way.
//!
//! In: the library's public face. Out: claims about ends, outputs, artifacts and left-over processes. I/O: temporary
//! folders, processes.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "test code: a panic is the report")]

mod fake;
mod processes;
mod rig;
mod stages;
mod state;
mod store;
