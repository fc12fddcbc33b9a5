//! The walls of a sandbox, built by a hidden second start of this program (`polymut __contain`), so that no `unsafe`
//! and no work between fork and exec is needed.
//!
//! Three processes stand between polymut and a tool:
//! 1. the *keeper* (`keeper`) outside of the walls: cgroup, namespaces, memory watchdog; it ends everything when
//!    polymut is gone, and ends as the tool ended: same code, same signal;
//! 2. the *first process* (`first`) inside: mounts the room (`room`), gives up its power, starts the tool, reaps;
//! 3. the tool.
//!
//! # Invariants
//! - Keeper and first process are single-threaded and hold no file of the user's tree open for writing.
//! - What cannot be built is said in [`Told`] and ends with code 125; the tool is never started with less than what
//!   the [`Spec`] asks for.
//! - Killing the keeper kills the first process, and that ends the tool and all that it started.

mod cgroup;
mod channel;
mod descendants;
mod devices;
mod entry;
mod first;
mod ids;
mod keeper;
mod loopback;
mod mountinfo;
mod room;
mod scope;
mod spec;
mod trial;
mod watchdog;

pub use cgroup::Cgroups;
pub use entry::{FIRST, KEEP, TRY, WORD, main};
pub use mountinfo::mounts_below;
pub use scope::Scope;
pub use spec::{Need, Piece, Power, Room, Spec, Told, Trouble, told_by};
pub use trial::Tried;
