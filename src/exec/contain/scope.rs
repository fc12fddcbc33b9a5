//! A control group that the user's systemd makes: `systemd-run --user --scope` around the keeper.
//!
//! In: the environment, the control group file system. Out: [`Scope`], the words that start a keeper in one. I/O: none
//! beyond looking whether files exist.
//!
//! A login session's own group belongs to the machine's systemd, so nobody but root can make groups below it. The
//! user's systemd can, and moves whoever asks into a scope with the limits that were asked for (systemd 253 and newer
//! know `OOMPolicy` for scopes; older ones refuse, and the watchdog takes over).

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::cgroup::PREFIX;

/// How a scope's name ends.
const SUFFIX: &str = ".scope";

/// Variables by which the user's systemd is found.
const BUS: [&str; 2] = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/// Where `systemd-run` is, and how it finds the user's systemd.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The program.
    pub program: Utf8PathBuf,
    /// Mount point of the control group file system.
    pub mount: Utf8PathBuf,
    /// What the program needs of the environment.
    pub bus: BTreeMap<String, String>,
}

impl Scope {
    /// Whether scopes might be made: version 2 at `mount`, a `systemd-run`, and a user's systemd to talk to.
    pub fn look(
        mount: &Utf8Path,
        program: Option<Utf8PathBuf>,
        value: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        if !mount.join("cgroup.controllers").exists() {
            return None;
        }
        let bus: BTreeMap<String, String> =
            BUS.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect();
        (!bus.is_empty()).then_some(Self { program: program?, mount: mount.to_path_buf(), bus })
    }

    /// The words for [`Scope::program`] before those of the command that it starts: this process's command, in the same
    /// process.
    pub fn words(&self, unit: &str, memory: Option<u64>, pids: u64) -> Vec<String> {
        let mut properties = vec![format!("TasksMax={pids}"), "OOMPolicy=continue".to_owned()];
        if let Some(bytes) = memory {
            properties.extend([format!("MemoryMax={bytes}"), "MemorySwapMax=0".to_owned()]);
        }
        let fixed = ["--user", "--scope", "--quiet", "--collect"].map(str::to_owned);
        let unit = format!("--unit={PREFIX}{unit}{SUFFIX}");
        let properties = properties.into_iter().map(|property| format!("--property={property}"));
        fixed.into_iter().chain([unit]).chain(properties).chain(["--".to_owned()]).collect()
    }

    /// The group of a process that was started so, by the text of its `/proc/self/cgroup`.
    pub(super) fn group(&self, own: &str) -> Option<Utf8PathBuf> {
        let path = Utf8Path::new(own.lines().find_map(|line| line.strip_prefix("0::/"))?);
        let ours = path.file_name()?.starts_with(PREFIX) && path.as_str().ends_with(SUFFIX);
        ours.then(|| self.mount.join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_needs_version_two_the_program_and_a_bus() {
        let temp = tempfile::tempdir().unwrap();
        let mount = Utf8Path::from_path(temp.path()).unwrap();
        let program = || Some(Utf8PathBuf::from("/usr/bin/systemd-run"));
        let bus = |name: &str| (name == "XDG_RUNTIME_DIR").then(|| "/run/user/1000".to_owned());
        assert_eq!(Scope::look(mount, program(), bus), None);
        fs_err::write(mount.join("cgroup.controllers"), "memory pids").unwrap();
        assert_eq!(Scope::look(mount, None, bus), None);
        assert_eq!(Scope::look(mount, program(), |_| None), None);
        let found = Scope::look(mount, program(), bus).unwrap();
        assert_eq!(found.bus.get("XDG_RUNTIME_DIR").map(String::as_str), Some("/run/user/1000"));
    }

    #[test]
    fn limits_are_asked_for_before_the_command() {
        let words = Scope::default().words("7-1", Some(4096), 99).join(" ");
        assert_eq!(
            words,
            "--user --scope --quiet --collect --unit=polymut-7-1.scope --property=TasksMax=99 \
             --property=OOMPolicy=continue --property=MemoryMax=4096 --property=MemorySwapMax=0 --"
        );
        assert!(!Scope::default().words("7-1", None, 99).join(" ").contains("Memory"));
    }
}
