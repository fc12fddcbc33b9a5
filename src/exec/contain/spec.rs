//! What `polymut __contain` is asked to build, and what it tells afterwards.
//!
//! In: a sandbox's decisions. Out: [`Spec`], [`Told`] as JSON between two starts of this program. I/O: two small files.
//!
//! Both live in polymut's own scratch folder and hold machine paths; they are never part of a report.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde::{Deserialize, Serialize};

/// Exit code of the keeper when it could not build what was asked. The reason is in [`Told::trouble`] and on stderr.
pub(super) const REFUSED: u8 = 125;

/// Exit code when the tool's program could not be started inside.
pub(super) const NO_PROGRAM: u8 = 127;

/// One start of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The process that has to live: when it is gone, everything ends.
    pub parent: u32,
    /// Folder to start the tool in, as seen inside.
    pub cwd: Utf8PathBuf,
    /// Folder for [`Told`], one file per keeper, named after its process id.
    pub told: Utf8PathBuf,
    /// Ceiling of resident memory in bytes.
    pub memory: Option<u64>,
    /// The most processes and threads.
    pub pids: u64,
    /// Where a control group can be made.
    pub cgroups: Option<super::Cgroups>,
    /// The room; `None`: no namespaces, and the first process sweeps what the tool leaves behind.
    pub room: Option<Room>,
}

/// How the walls can be built here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Power {
    /// As the machine's root: no user namespace is needed for mounting; the tool gets one, to have no power outside.
    Root,
    /// As anybody, through a user namespace.
    User,
}

/// A view of the file system, own processes, and no network unless asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// How to build it.
    pub power: Power,
    /// Whether the machine's network stays visible.
    pub network: bool,
    /// An empty folder where the new root is put together.
    pub base: Utf8PathBuf,
    /// What differs from the machine's read-only file system. Sorted by place: outer before inner.
    pub pieces: Vec<Piece>,
    /// Folders whose sockets are covered when the network is off: a socket of the host's daemon is a way out.
    pub sockets: Vec<Utf8PathBuf>,
}

/// One mount of the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Writes go to `upper`; reads find the upper layer first, then `lower` from left to right.
    Overlay {
        /// Where.
        at: Utf8PathBuf,
        /// Read-only layers, nearest first.
        lower: Vec<Utf8PathBuf>,
        /// Takes the writes.
        upper: Utf8PathBuf,
        /// Empty scratch folder on the same file system as `upper`.
        work: Utf8PathBuf,
        /// What to do where the kernel refuses it.
        need: Need,
    },
    /// A folder or file of the machine that can be written.
    Writable {
        /// Where.
        at: Utf8PathBuf,
        /// What.
        from: Utf8PathBuf,
    },
    /// A folder or file of the machine that can only be read; for what another piece would hide.
    Readable {
        /// Where.
        at: Utf8PathBuf,
        /// What.
        from: Utf8PathBuf,
    },
}

/// Whether a room is worth having without an overlay. The kernel refuses one over a folder that has other mounts
/// inside, to who is not the machine's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Without it there is no room.
    Must,
    /// Without it the place can only be read.
    May,
}

impl Piece {
    /// Where it is put.
    pub fn at(&self) -> &Utf8Path {
        match self {
            Self::Overlay { at, .. } | Self::Writable { at, .. } | Self::Readable { at, .. } => at,
        }
    }
}

/// What the keeper says when all is over, beyond its own end (which is the tool's).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Why the tool was not started.
    pub trouble: Option<Trouble>,
    /// Whether the tool itself was ended because its tree was over the memory ceiling.
    pub over_memory: bool,
    /// How many processes the kernel ended for memory, the tool's children included.
    pub memory_kills: u64,
    /// Highest memory use of the whole tree in bytes, where it was measured.
    pub peak: Option<u64>,
}

/// Why a tool was not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The walls could not be built.
    Walls(String),
    /// Its program could not be started inside.
    Program(String),
}

/// What the keeper with process id `leader` told; `None` when it did not come to that.
pub fn told_by(folder: &Utf8Path, leader: u32) -> Option<Told> {
    let bytes = fs::read(folder.join(leader.to_string())).ok()?;
    serde_json::from_slice(&bytes).ok()
}

impl Spec {
    /// Reads a spec.
    pub(super) fn load(path: &Utf8Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Writes a spec.
    pub fn store(&self, path: &Utf8Path) -> io::Result<()> {
        fs::write(path, serde_json::to_vec(self)?)
    }
}

impl Told {
    /// Leaves it for polymut: complete, or not there.
    pub(super) fn store(&self, folder: &Utf8Path, leader: u32) -> io::Result<()> {
        let place = folder.join(leader.to_string());
        let draft = folder.join(format!("{leader}.new"));
        fs::write(&draft, serde_json::to_vec(self)?)?;
        fs::rename(draft, place)
    }
}
