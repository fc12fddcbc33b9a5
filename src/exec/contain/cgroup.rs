//! Control groups: a memory ceiling and a process limit that the kernel keeps.
//!
//! In: the control group file system and this process's place in it. Out: [`Cgroups`] to choose from, a group per tool.
//! I/O: the folder given, so that tests use a folder of their own.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// How our groups are called, before what tells them apart.
pub(super) const PREFIX: &str = "polymut-";

/// Where groups can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroups {
    /// Version 2: one tree; `parent` hands the memory controller to its children.
    V2 {
        /// Where to make groups.
        parent: Utf8PathBuf,
    },
    /// Version 1: a tree per controller.
    V1 {
        /// Where to make groups of the memory controller.
        memory: Utf8PathBuf,
        /// The same of the pids controller, where there is one.
        pids: Option<Utf8PathBuf>,
    },
    /// Version 2, where this process may not make groups but the user's systemd does it for whoever asks: the keeper is
    /// started in a transient scope of its own.
    Scope(Scope),
}

impl Cgroups {
    /// What the report calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::V2 { .. } => "cgroup v2",
            Self::V1 { .. } => "cgroup v1",
            Self::Scope(_) => "cgroup v2 (systemd scope)",
        }
    }

    /// Whether it limits the number of processes as well.
    pub fn limits_pids(&self) -> bool {
        match self {
            Self::V2 { parent } => hands_down(parent, "pids"),
            Self::V1 { pids, .. } => pids.is_some(),
            Self::Scope(_) => true,
        }
    }

    /// Places where groups might be made, best first, given the mount point (`/sys/fs/cgroup`) and the text of
    /// `/proc/self/cgroup`. Whether that is allowed is found out by doing it.
    pub fn look(mount: &Utf8Path, own: &str) -> Vec<Self> {
        if mount.join("cgroup.controllers").exists() {
            let Some(path) = own.lines().find_map(|line| line.strip_prefix("0::/")) else {
                return Vec::new();
            };
            let place = mount.join(path);
            return place
                .ancestors()
                .take_while(|folder| folder.starts_with(mount))
                .filter(|folder| hands_down(folder, "memory"))
                .map(|folder| Self::V2 { parent: folder.to_path_buf() })
                .collect();
        }
        let place = |controller: &str| v1_places(mount, own, controller);
        let pids = place("pids").into_iter().next();
        place("memory").into_iter().map(|memory| Self::V1 { memory, pids: pids.clone() }).collect()
    }
}

/// Whether the children of a group get a controller.
fn hands_down(folder: &Utf8Path, controller: &str) -> bool {
    fs::read_to_string(folder.join("cgroup.subtree_control"))
        .is_ok_and(|text| text.split_whitespace().any(|word| word == controller))
}

/// This process's group of a controller, then the controller's root: in a container the path that the kernel names may
/// not be visible.
fn v1_places(mount: &Utf8Path, own: &str, controller: &str) -> Vec<Utf8PathBuf> {
    let root = mount.join(controller);
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (names, path) = rest.split_once(':')?;
        names.split(',').any(|name| name == controller).then(|| path.trim_start_matches('/'))
    });
    let mut places: Vec<Utf8PathBuf> = path.map(|path| root.join(path)).into_iter().collect();
    if places.first() != Some(&root) {
        places.push(root);
    }
    places.retain(|place| place.is_dir());
    places
}

/// A group that exists.
#[derive(Debug)]
pub(super) struct Group {
    folders: Vec<Utf8PathBuf>,
    memory: Utf8PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Group {
    /// Makes a group for the keeper with this process id. `own` is the text of its `/proc/self/cgroup`.
    pub(super) fn make(
        at: &Cgroups,
        keeper: u32,
        own: &str,
        memory: Option<u64>,
        pids: u64,
    ) -> io::Result<Self> {
        let name = format!("{PREFIX}{keeper}");
        let group = match at {
            Cgroups::Scope(scope) => return Self::of_scope(scope, own),
            Cgroups::V2 { parent } => {
                let folder = parent.join(name);
                Self { folders: vec![folder.clone()], memory: folder, version: Version::Two }
            }
            Cgroups::V1 { memory, pids } => {
                let memory = memory.join(&name);
                let folders = std::iter::once(memory.clone())
                    .chain(pids.iter().map(|folder| folder.join(&name)))
                    .collect();
                Self { folders, memory, version: Version::One }
            }
        };
        for folder in &group.folders {
            if let Some(parent) = folder.parent() {
                remove_dead(parent);
            }
            match fs::create_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    group.remove();
                    return Err(error);
                }
                Ok(()) | Err(_) => {}
            }
        }
        if let Err(error) = group.limit(memory, pids) {
            group.remove();
            return Err(error);
        }
        Ok(group)
    }

    /// The scope that this process was started in. systemd has set its limits, and removes it when it is empty.
    fn of_scope(scope: &Scope, own: &str) -> io::Result<Self> {
        let memory = scope.group(own).ok_or_else(|| {
            io::Error::other(format!("this process is in no scope of systemd: {}", own.trim_end()))
        })?;
        Ok(Self { folders: Vec::new(), memory, version: Version::Two })
    }

    fn limit(&self, memory: Option<u64>, pids: u64) -> io::Result<()> {
        if let Some(bytes) = memory.map(|bytes| bytes.to_string()) {
            match self.version {
                Version::Two => {
                    fs::write(self.memory.join("memory.max"), &bytes)?;
                    write_if_there(&self.memory.join("memory.swap.max"), "0")?;
                }
                Version::One => {
                    fs::write(self.memory.join("memory.limit_in_bytes"), &bytes)?;
                    write_if_there(&self.memory.join("memory.memsw.limit_in_bytes"), &bytes)?;
                }
            }
        }
        // The pids controller is the last folder of version 1, and part of the only one of version 2.
        match self.folders.last() {
            Some(last) if self.version == Version::Two || *last != self.memory => {
                write_if_there(&last.join("pids.max"), &pids.to_string())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Moves a process in; what it starts afterwards is born in the group.
    pub(super) fn add(&self, pid: u32) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| fs::write(folder.join("cgroup.procs"), pid.to_string()))
    }

    /// How many of its processes the kernel has ended for memory.
    pub(super) fn memory_kills(&self) -> u64 {
        let file = match self.version {
            Version::Two => "memory.events",
            Version::One => "memory.oom_control",
        };
        fs::read_to_string(self.memory.join(file)).map_or(0, |text| field(&text, "oom_kill"))
    }

    /// The highest use in bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        let file = match self.version {
            Version::Two => "memory.peak",
            Version::One => "memory.max_usage_in_bytes",
        };
        fs::read_to_string(self.memory.join(file)).ok()?.trim().parse().ok()
    }

    /// Removes the group; its processes must have ended.
    pub(super) fn remove(&self) {
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The number after a word of a `word number` file.
fn field(text: &str, word: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == word)
        .and_then(|(_, number)| number.trim().parse().ok())
        .unwrap_or(0)
}

/// Writes a setting that not every kernel has.
fn write_if_there(file: &Utf8Path, text: &str) -> io::Result<()> {
    if file.exists() { fs::write(file, text) } else { Ok(()) }
}

/// Removes empty groups of keepers that were killed.
fn remove_dead(parent: &Utf8Path) {
    let Ok(entries) = parent.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().strip_prefix(PREFIX) else { continue };
        if pid.parse::<u32>().is_ok() && !Utf8Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(temp.path().to_path_buf()).unwrap();
        (temp, path)
    }

    fn put(file: Utf8PathBuf, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn version_two_takes_the_nearest_folder_that_hands_memory_down() {
        let (_temp, mount) = folder();
        put(mount.join("cgroup.controllers"), "cpu memory pids");
        put(mount.join("cgroup.subtree_control"), "memory");
        put(mount.join("user/app/cgroup.subtree_control"), "memory pids");
        put(mount.join("user/app/shell.scope/cgroup.subtree_control"), "");
        let found = Cgroups::look(&mount, "0::/user/app/shell.scope\n");
        assert_eq!(
            found,
            [Cgroups::V2 { parent: mount.join("user/app") }, Cgroups::V2 { parent: mount.clone() }]
        );
        assert!(found[0].limits_pids() && !found[1].limits_pids());
    }

    #[test]
    fn version_one_takes_its_own_folder_then_the_root() {
        let (_temp, mount) = folder();
        put(mount.join("memory/job/tasks"), "");
        put(mount.join("pids/tasks"), "");
        let found = Cgroups::look(&mount, "8:pids:/\n4:cpu,memory:/job\n0::/\n");
        let pids = Some(mount.join("pids"));
        assert_eq!(
            found,
            [
                Cgroups::V1 { memory: mount.join("memory/job"), pids: pids.clone() },
                Cgroups::V1 { memory: mount.join("memory"), pids }
            ]
        );
        assert_eq!(Cgroups::look(&mount, "4:memory:/not/visible\n").len(), 1);
    }

    #[test]
    fn a_group_is_limited_filled_and_read() {
        let (_temp, mount) = folder();
        let at = Cgroups::V1 { memory: mount.join("memory"), pids: Some(mount.join("pids")) };
        put(
            mount.join("memory/polymut-7/memory.oom_control"),
            "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        );
        put(mount.join("memory/polymut-7/memory.max_usage_in_bytes"), "4096\n");
        put(mount.join("pids/polymut-7/pids.max"), "max");
        let group = Group::make(&at, 7, "", Some(1 << 20), 99).unwrap();
        group.add(42).unwrap();
        let read = |file: &str| fs::read_to_string(mount.join(file)).unwrap();
        assert_eq!(read("memory/polymut-7/memory.limit_in_bytes"), "1048576");
        assert_eq!(read("pids/polymut-7/pids.max"), "99");
        assert_eq!(read("memory/polymut-7/cgroup.procs"), "42");
        assert_eq!(read("pids/polymut-7/cgroup.procs"), "42");
        assert_eq!((group.memory_kills(), group.peak()), (3, Some(4096)));
    }

    #[test]
    fn version_two_counts_kills_and_leaves_no_swap() {
        let (_temp, mount) = folder();
        put(mount.join("polymut-7/memory.events"), "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
        put(mount.join("polymut-7/memory.swap.max"), "max");
        let group = Group::make(&Cgroups::V2 { parent: mount.clone() }, 7, "", Some(4096), 9).unwrap();
        assert_eq!(fs::read_to_string(mount.join("polymut-7/memory.swap.max")).unwrap(), "0");
        assert_eq!(fs::read_to_string(mount.join("polymut-7/memory.max")).unwrap(), "4096");
        assert_eq!((group.memory_kills(), group.peak()), (1, None));
    }

    #[test]
    fn a_scope_is_read_and_neither_filled_nor_removed() {
        let (_temp, mount) = folder();
        let own = "0::/user.slice/polymut-7-1.scope\n";
        put(mount.join("user.slice/polymut-7-1.scope/memory.events"), "oom 1\noom_kill 1\n");
        put(mount.join("user.slice/polymut-7-1.scope/memory.peak"), "8192\n");
        let at = Cgroups::Scope(Scope { mount: mount.clone(), ..Scope::default() });
        let group = Group::make(&at, 7, own, Some(4096), 9).unwrap();
        group.add(42).unwrap();
        group.remove();
        assert_eq!((group.memory_kills(), group.peak()), (1, Some(8192)));
        assert!(!mount.join("user.slice/polymut-7-1.scope/cgroup.procs").exists());
        assert!(!mount.join("user.slice/polymut-7-1.scope/memory.max").exists());
        // systemd said yes and moved nobody: that is no wall.
        let lost = Group::make(&at, 7, "0::/user.slice/session-3.scope\n", Some(4096), 9);
        assert!(lost.unwrap_err().to_string().contains("no scope"));
    }

    #[test]
    fn groups_of_keepers_that_are_gone_are_removed_and_others_are_not() {
        let (_temp, mount) = folder();
        let alive = std::process::id();
        for name in [format!("{PREFIX}{}", u32::MAX), format!("{PREFIX}{alive}"), "other".to_owned()] {
            fs::create_dir_all(mount.join(name)).unwrap();
        }
        remove_dead(&mount);
        assert!(!mount.join(format!("{PREFIX}{}", u32::MAX)).exists());
        assert!(mount.join(format!("{PREFIX}{alive}")).exists() && mount.join("other").exists());
    }
}
