//! Puts together the file system that a tool sees: the machine, read-only, with the room's own pieces over it.
//!
//! In: a [`Room`]. Out: this process lives in it. I/O: mounts of this process's own namespace.
//!
//! The new root is built in a scratch folder while the old one is still there, so that a piece may lie anywhere, also
//! below another piece or in the scratch folder itself; then the roots are changed.

use std::io;
use std::os::fd::AsRawFd;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use nix::fcntl::OFlag;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

use super::mountinfo::mounts_below;
use super::spec::{Need, Piece, Room};
use super::{devices, mountinfo};

/// Files of a fresh `/proc` that the machine's root could write even without any power: they reach the whole machine.
const MACHINE_WIDE: &[&str] = &["bus", "fs", "irq", "sys", "sysrq-trigger"];

/// Says what was being done.
pub(super) fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what}: {error}"))
}

/// Builds the room and enters it.
pub(super) fn build(room: &Room) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| named("leave the mount namespace", &error.into()))?;
    change("/", MsFlags::MS_PRIVATE | MsFlags::MS_REC)
        .map_err(|error| named("keep mounts private", &error))?;
    let base = room.base.as_path();
    bind(Utf8Path::new("/"), base, MsFlags::MS_REC).map_err(|error| named("bind the root", &error))?;
    mountinfo::make_read_only(base)?;
    process_files(base)?;
    devices::provide(base).map_err(|error| named("make /dev", &error))?;
    for piece in &room.pieces {
        put(piece, base).map_err(|error| named(&format!("mount {}", piece.at()), &error))?;
    }
    if !room.network {
        for folder in &room.sockets {
            devices::cover_sockets(folder, base);
        }
    }
    enter(base).map_err(|error| named("enter the new root", &error))
}

/// A fresh `/proc` for the new process namespace. Where a container hides parts of its own, the kernel refuses a fresh
/// one; then the old one stays, read-only.
fn process_files(base: &Utf8Path) -> io::Result<()> {
    let proc = base.join("proc");
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    if mount(Some("proc"), proc.as_std_path(), Some("proc"), safe, None::<&str>).is_err() {
        return Ok(());
    }
    for name in MACHINE_WIDE {
        let place = proc.join(name);
        if place.exists() {
            bind(&place, &place, MsFlags::empty())
                .and_then(|()| read_only(&place, safe))
                .map_err(|error| named(&format!("protect /proc/{name}"), &error))?;
        }
    }
    Ok(())
}

fn put(piece: &Piece, base: &Utf8Path) -> io::Result<()> {
    let at = below(base, piece.at());
    match piece {
        Piece::Overlay { lower, upper, work, need, .. } => {
            fs::create_dir_all(&at)?;
            match (overlay(&at, lower, upper, work), need, &lower[..]) {
                // Without it the place stays as the machine has it, read-only.
                (Err(_), Need::May, [from]) => show(from, &at, base).or(Ok(())),
                (Err(error), Need::Must, [from, ..]) => Err(told_apart(error, from, base)),
                (done, Need::Must | Need::May, _) => done,
            }
        }
        Piece::Writable { from, .. } => {
            make_like(from, &at)?;
            bind(from, &at, MsFlags::empty())
        }
        Piece::Readable { from, .. } => {
            make_like(from, &at)?;
            show(from, &at, base)
        }
    }
}

/// Names the usual reason why an overlay is refused.
fn told_apart(error: io::Error, from: &Utf8Path, base: &Utf8Path) -> io::Error {
    match mounts_below(from).into_iter().find(|at| !at.starts_with(base)) {
        Some(inside) => io::Error::other(format!("{inside} is a mount inside of it ({error})")),
        None => error,
    }
}

/// Shows `from` with all that is mounted in it, read-only.
fn show(from: &Utf8Path, at: &Utf8Path, base: &Utf8Path) -> io::Result<()> {
    bind(from, at, MsFlags::MS_REC)?;
    // The new root, when it lies there, would be shown within itself.
    if let Ok(within) = base.strip_prefix(from) {
        umount2(at.join(within).as_std_path(), MntFlags::MNT_DETACH)?;
    }
    mountinfo::make_read_only(at)
}

/// The place in the new root.
fn below(base: &Utf8Path, at: &Utf8Path) -> Utf8PathBuf {
    base.join(at.strip_prefix("/").unwrap_or(at))
}

/// Makes something to mount on.
fn make_like(from: &Utf8Path, at: &Utf8Path) -> io::Result<()> {
    if at.exists() {
        return Ok(());
    }
    if from.is_dir() {
        return fs::create_dir_all(at);
    }
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create(at).map(drop)
}

/// Mounts an overlay. The layers are named by open descriptors: their paths may hold any character, and be longer in
/// sum than the kernel takes.
fn overlay(at: &Utf8Path, lower: &[Utf8PathBuf], upper: &Utf8Path, work: &Utf8Path) -> io::Result<()> {
    let mut open = Vec::new();
    let mut name = |folder: &Utf8Path| -> io::Result<String> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(folder)?;
        let name = format!("/proc/self/fd/{}", file.as_raw_fd());
        open.push(file);
        Ok(name)
    };
    let lower = lower.iter().map(|folder| name(folder)).collect::<io::Result<Vec<_>>>()?.join(":");
    let (upper, work) = (name(upper)?, name(work)?);
    // A sandbox is never kept over a crash, so nothing has to reach the disk (`volatile` would say so, but leaves a
    // mark that forbids the next mount). `userxattr`: marks that anybody may write, so one format for both powers.
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr,index=off");
    mount(
        Some("overlay"),
        at.as_std_path(),
        Some("overlay"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some(options.as_str()),
    )?;
    Ok(())
}

/// Makes `base` the root and drops the old one.
fn enter(base: &Utf8Path) -> io::Result<()> {
    nix::unistd::chdir(base.as_std_path())?;
    nix::unistd::pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    Ok(nix::unistd::chdir("/")?)
}

fn change(at: &str, flags: MsFlags) -> io::Result<()> {
    Ok(mount(None::<&str>, at, None::<&str>, flags, None::<&str>)?)
}

/// Shows `from` at `at`.
pub(super) fn bind(from: &Utf8Path, at: &Utf8Path, more: MsFlags) -> io::Result<()> {
    let flags = MsFlags::MS_BIND | more;
    Ok(mount(Some(from.as_std_path()), at.as_std_path(), None::<&str>, flags, None::<&str>)?)
}

/// Makes one mount read-only, keeping the flags that it has.
pub(super) fn read_only(at: &Utf8Path, keep: MsFlags) -> io::Result<()> {
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | keep;
    Ok(mount(None::<&str>, at.as_std_path(), None::<&str>, flags, None::<&str>)?)
}
