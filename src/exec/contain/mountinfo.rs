//! Makes a whole tree of mounts read-only.
//!
//! In: a mount point. Out: every mount at and below it is read-only. I/O: `/proc/self/mountinfo`, remounts.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use nix::errno::Errno;
use nix::mount::MsFlags;

use super::room::{named, read_only};

/// Makes the mount at `root` and every mount below it read-only.
pub(super) fn make_read_only(root: &Utf8Path) -> io::Result<()> {
    for (at, flags) in parse(&fs::read_to_string("/proc/self/mountinfo")?) {
        if !at.starts_with(root) {
            continue;
        }
        match read_only(&at, flags) {
            Ok(()) => {}
            // Hidden below another mount, or in a folder that this user cannot enter: the tool cannot reach it either.
            Err(error) if is_unreachable(&error) => {}
            Err(error) => return Err(named(&format!("make {at} read-only"), &error)),
        }
    }
    Ok(())
}

/// Mount points of this process strictly below `folder`.
pub fn mounts_below(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    parse(&text).into_keys().filter(|at| at != folder && at.starts_with(folder)).collect()
}

fn is_unreachable(error: &io::Error) -> bool {
    error
        .raw_os_error()
        .map(Errno::from_raw)
        .is_some_and(|code| matches!(code, Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES))
}

/// Mount points and the flags that a remount has to repeat; the kernel refuses to drop them in a user namespace. Of
/// several mounts at one place the last is on top, and it alone can be reached.
fn parse(mountinfo: &str) -> BTreeMap<Utf8PathBuf, MsFlags> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(4);
            let (at, options) = (fields.next()?, fields.next()?);
            Some((Utf8PathBuf::from(unescape(at)?), options.split(',').map(flag).collect()))
        })
        .collect()
}

fn flag(option: &str) -> MsFlags {
    match option {
        "nosuid" => MsFlags::MS_NOSUID,
        "nodev" => MsFlags::MS_NODEV,
        "noexec" => MsFlags::MS_NOEXEC,
        "noatime" => MsFlags::MS_NOATIME,
        "nodiratime" => MsFlags::MS_NODIRATIME,
        "relatime" => MsFlags::MS_RELATIME,
        _ => MsFlags::empty(),
    }
}

/// The kernel writes blanks, tabs, line ends and backslashes as `\ooo`.
fn unescape(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_digit));
        if let (b'\\', Some(digits)) = (byte, digits) {
            plain.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?);
            at += 4;
        } else {
            plain.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_blank_and_its_flags_are_read() {
        let line = "36 35 98:0 /mnt1 /mnt/my\\040disk rw,nosuid,noatime master:1 - ext3 /dev/root rw\n";
        let expected = MsFlags::MS_NOSUID | MsFlags::MS_NOATIME;
        assert_eq!(parse(line), BTreeMap::from([(Utf8PathBuf::from("/mnt/my disk"), expected)]));
    }

    #[test]
    fn of_two_mounts_at_one_place_the_upper_one_counts() {
        let lines = "66 64 0:21 / /proc ro - proc proc rw\n84 66 0:40 / /proc rw,nosuid - proc proc rw\n";
        assert_eq!(parse(lines), BTreeMap::from([(Utf8PathBuf::from("/proc"), MsFlags::MS_NOSUID)]));
    }

    #[test]
    fn a_cut_line_is_no_mount() {
        assert!(parse("36 35 98:0 /\n").is_empty());
    }
}
