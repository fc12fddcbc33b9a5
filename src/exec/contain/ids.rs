//! User and group maps of a user namespace: everybody keeps the number that they have outside.
//!
//! In: the maps of the present namespace. Out: maps of a new one. I/O: `/proc`.

use std::io;

use fs_err as fs;
use nix::unistd::{getegid, geteuid};

/// Maps the caller, which has just made a user namespace, to root in it, so that it can mount. Needs no power.
pub(super) fn become_root(outside: Own) -> io::Result<()> {
    write_own(&format!("0 {} 1", outside.user), &format!("0 {} 1", outside.group))
}

/// Maps root of the namespace above, which the caller is, to the number that the user has outside.
pub(super) fn become_user(outside: Own) -> io::Result<()> {
    write_own(&format!("{} 0 1", outside.user), &format!("{} 0 1", outside.group))
}

/// The numbers of the user who started polymut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Own {
    user: u32,
    group: u32,
}

impl Own {
    /// Those of this process.
    pub(super) fn now() -> Self {
        Self { user: geteuid().as_raw(), group: getegid().as_raw() }
    }

    /// As words for the first process.
    pub(super) fn text(self) -> String {
        format!("{}:{}", self.user, self.group)
    }

    /// From those words.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (user, group) = text.split_once(':')?;
        Some(Self { user: user.parse().ok()?, group: group.parse().ok()? })
    }
}

fn write_own(users: &str, groups: &str) -> io::Result<()> {
    // Without it an unprivileged process may not map a group; it is already so in a nested namespace.
    if let Err(error) = fs::write("/proc/self/setgroups", "deny")
        && error.kind() != io::ErrorKind::PermissionDenied
    {
        return Err(error);
    }
    fs::write("/proc/self/uid_map", users)?;
    fs::write("/proc/self/gid_map", groups)
}

/// Maps every number of this namespace to itself in the new namespace of process `pid`. Needs root's power here.
pub(super) fn map_all(pid: u32) -> io::Result<()> {
    for kind in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{kind}"))?;
        fs::write(format!("/proc/{pid}/{kind}"), identity(&own))?;
    }
    Ok(())
}

/// Every number that exists in a namespace with this map, mapped to itself.
fn identity(map: &str) -> String {
    map.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (inside, _, count) = (words.next()?, words.next()?, words.next()?);
            Some(format!("{inside} {inside} {count}\n"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_keeps_their_number() {
        assert_eq!(identity("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }

    #[test]
    fn own_numbers_survive_the_way_through_words() {
        let own = Own { user: 1000, group: 100 };
        assert_eq!(Own::parse(&own.text()), Some(own));
        assert_eq!(Own::parse("1000"), None);
    }
}
