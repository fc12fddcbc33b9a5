//! A small `/dev`: what programs need, and no disk.
//!
//! In: the new root. Out: `/dev` in it; covered sockets. I/O: mounts.

use std::io;
use std::os::unix::fs::FileTypeExt;

use camino::Utf8Path;
use fs_err as fs;
use fs_err::os::unix::fs::symlink;
use nix::mount::{MsFlags, mount};

use super::room::bind;

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// How far below a folder sockets are looked for, and how many entries are looked at.
const DEPTH: usize = 3;
const MOST: usize = 4000;

/// Mounts a fresh `/dev` below `base`.
pub(super) fn provide(base: &Utf8Path) -> io::Result<()> {
    let dev = base.join("dev");
    let no_programs = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), dev.as_std_path(), Some("tmpfs"), no_programs, Some("mode=755,size=1m"))?;
    for name in DEVICES {
        let from = Utf8Path::new("/dev").join(name);
        if from.exists() {
            fs::File::create(dev.join(name))?;
            bind(&from, &dev.join(name), MsFlags::empty())?;
        }
    }
    for (target, name) in LINKS {
        symlink(target, dev.join(name))?;
    }
    fs::create_dir(dev.join("shm"))?;
    let shared = dev.join("shm");
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), shared.as_std_path(), Some("tmpfs"), safe, Some("mode=1777"))?;
    fs::create_dir(dev.join("pts"))?;
    let pts = dev.join("pts");
    let options = Some("newinstance,ptmxmode=0666,mode=0620");
    mount(Some("devpts"), pts.as_std_path(), Some("devpts"), no_programs, options)?;
    Ok(())
}

/// Puts `/dev/null` over every socket below `folder`: connecting to a host's daemon is a way out that a network
/// namespace does not close. What this user cannot list, the tool cannot connect to by looking for it either.
pub(super) fn cover_sockets(folder: &Utf8Path, base: &Utf8Path) {
    let null = base.join("dev/null");
    let mut waiting = vec![(folder.to_path_buf(), 0)];
    let mut seen = 0;
    while let Some((dir, depth)) = waiting.pop() {
        let Ok(entries) = dir.read_dir_utf8() else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST {
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_socket() {
                let at = base.join(entry.path().strip_prefix("/").unwrap_or_else(|_| entry.path()));
                let _ = bind(&null, &at, MsFlags::empty());
            } else if kind.is_dir() && depth < DEPTH {
                waiting.push((entry.path().to_path_buf(), depth + 1));
            }
        }
    }
}
