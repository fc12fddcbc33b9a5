//! Why namespaces are refused here, and the one line that lifts it.
//!
//! In: an error's words, the machine's settings. Out: a command line. I/O: reads `/proc/sys` through [`machine`].

use fs_err as fs;

/// Settings that refuse namespaces: file, the value that refuses, the command that lifts it.
const SETTINGS: &[(&str, &str, &str)] = &[
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    ("user/max_mnt_namespaces", "0", "sudo sysctl -w user.max_mnt_namespaces=15000"),
    ("user/max_pid_namespaces", "0", "sudo sysctl -w user.max_pid_namespaces=15000"),
    ("user/max_net_namespaces", "0", "sudo sysctl -w user.max_net_namespaces=15000"),
];

/// The line that lifts an obstacle, when it is known. `setting` reads one of the kernel's settings.
pub(super) fn lift(why: &str, setting: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let known = SETTINGS.iter().find(|(file, refusing, _)| setting(file).as_deref() == Some(*refusing));
    if let Some((_, _, line)) = known {
        return Some((*line).to_owned());
    }
    if why.contains("is a mount inside of it") {
        return None;
    }
    if why.contains("overlay") || why.contains("mount /") {
        return Some("POLYMUT_STATE=<a folder on ext4, xfs, btrfs or tmpfs>".to_owned());
    }
    let refused = why.contains("not permitted") || why.contains("ermission denied");
    refused.then(|| {
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …".to_owned()
    })
}

/// A setting of this machine.
pub(super) fn machine(file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/{file}")).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_refuses_is_named() {
        let hosted = |file: &str| file.contains("apparmor").then(|| "1".to_owned());
        assert!(lift("cannot make namespaces", &hosted).unwrap().contains("apparmor_restrict"));
        let none = |file: &str| (file == "user/max_user_namespaces").then(|| "0".to_owned());
        assert!(lift("cannot make namespaces", &none).unwrap().contains("max_user_namespaces"));
    }

    #[test]
    fn a_container_s_refusal_and_a_foreign_file_system_have_other_remedies() {
        let open = |_: &str| None;
        assert!(lift("cannot make namespaces: Operation not permitted", &open).unwrap().contains("seccomp"));
        assert!(lift("cannot mount /repo: Invalid argument", &open).unwrap().contains("POLYMUT_STATE"));
        assert_eq!(lift("cannot mount /repo: /repo/x is a mount inside of it (Invalid …)", &open), None);
        assert_eq!(lift("the trial ended with Limit", &open), None);
    }
}
