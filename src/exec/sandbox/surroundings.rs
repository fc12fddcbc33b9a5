//! What a sealed sandbox shows beside the repository: home, caches, temporary folders, daemons' sockets.
//!
//! In: the user's environment. Out: [`Surroundings`]. I/O: asks which folders exist, makes cache folders.

use fs_err as fs;

use crate::exec::{Caches, HostEnv};
use crate::paths::AbsPath;

/// A toolchain's folder: the program that uses it, the variable that names it, its place below home, and the parts of
/// it that downloads go to. An empty part is the folder itself.
type Known = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Caches that Fetch steps write into. Everything else only reads them: writes stay in the sandbox.
const CACHES: &[Known] = &[
    ("cargo", "CARGO_HOME", ".cargo", &["registry", "git", ".package-cache", ".package-cache-mutate"]),
    ("mvn", "", ".m2", &["repository", "wrapper"]),
    ("gradle", "GRADLE_USER_HOME", ".gradle", &["caches", "wrapper"]),
    ("sbt", "", ".ivy2", &["cache"]),
    ("sbt", "COURSIER_CACHE", ".cache/coursier", &[""]),
    ("npm", "npm_config_cache", ".npm", &["_cacache"]),
    ("yarn", "YARN_CACHE_FOLDER", ".cache/yarn", &[""]),
    ("pnpm", "", ".local/share/pnpm", &["store"]),
    ("go", "GOMODCACHE", "go/pkg/mod", &[""]),
    ("go", "GOCACHE", ".cache/go-build", &[""]),
    ("dotnet", "NUGET_PACKAGES", ".nuget/packages", &[""]),
    ("python3", "PIP_CACHE_DIR", ".cache/pip", &[""]),
    ("uv", "UV_CACHE_DIR", ".cache/uv", &[""]),
];

/// Folders that are private to each sandbox: empty there, and thrown away with it.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Where build daemons below home say how they are reached. A daemon of the user's would build outside of the walls, and
/// from the files out there: Kotlin's compiles for every Maven build of the user that finds it.
const DAEMONS: &[&str] = &[".local/share/kotlin/daemon", ".gradle/daemon"];

/// Where daemons have their sockets.
const SOCKETS: &[&str] = &["/run"];

/// One toolchain's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cache {
    /// Where.
    pub(super) at: AbsPath,
    /// Parts that Fetch steps share with the user; those that exist.
    pub(super) shared: Vec<AbsPath>,
}

/// What is around the repository. Every path is real: no link on the way, so that it means the same below a new root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub(super) home: Option<AbsPath>,
    pub(super) caches: Vec<Cache>,
    pub(super) temporary: Vec<AbsPath>,
    pub(super) sockets: Vec<AbsPath>,
}

impl Surroundings {
    /// Those of a user.
    pub fn of(host: &HostEnv, shared: &Caches) -> Self {
        let home = host.text("HOME").and_then(real).filter(|home| home.parent().is_some());
        let known = CACHES.iter().filter_map(|(_, variable, below, parts)| {
            let named = host.text(variable).filter(|_| !variable.is_empty()).and_then(real);
            let at = named.or_else(|| real(home.as_ref()?.join(below).as_str()))?;
            let parts = parts.iter().filter(|_| shared.known);
            let shared = parts.filter_map(|part| real(at.join(part).as_str())).collect();
            Some(Cache { at, shared })
        });
        let more = shared.more.iter().filter_map(|at| real(at.as_str()));
        let mut caches: Vec<Cache> =
            known.chain(more.map(|at| Cache { shared: vec![at.clone()], at })).collect();
        caches.sort_by(|left, right| left.at.cmp(&right.at));
        caches.dedup_by(|left, right| left.at == right.at);
        let all = |paths: &mut dyn Iterator<Item = AbsPath>| {
            let mut real: Vec<AbsPath> = paths.filter_map(|path| real(path.as_str())).collect();
            real.sort();
            real.dedup();
            real
        };
        let absolute =
            |paths: &'static [&'static str]| paths.iter().filter_map(|path| AbsPath::new(*path).ok());
        let daemons = home.iter().flat_map(|home| DAEMONS.iter().map(|below| home.join(below)));
        let temporary = all(&mut absolute(TEMPORARY).chain(daemons));
        Self { temporary, sockets: all(&mut absolute(SOCKETS)), home, caches }
    }

    /// The folders that Fetch steps share with the user.
    pub fn shared(&self) -> impl Iterator<Item = &AbsPath> {
        self.caches.iter().flat_map(|cache| &cache.shared)
    }
}

/// Makes the download folders of the toolchains that are found here, as their first download would. A sandbox shares only
/// what exists when it is built: without this a fresh machine fetches everything again in every run. A home that cannot
/// be written keeps its downloads in the sandbox.
pub fn make_caches(host: &HostEnv) {
    let path = host.get("PATH").map(ToOwned::to_owned);
    let found = |program: &&str| which::which_in(program, path.clone(), "/").is_ok();
    let Some(home) = host.text("HOME").and_then(real).filter(|home| home.parent().is_some()) else { return };
    for (_, variable, below, parts) in CACHES.iter().filter(|(program, ..)| found(program)) {
        let named = host.text(variable).filter(|_| !variable.is_empty()).and_then(|at| AbsPath::new(at).ok());
        let at = named.unwrap_or_else(|| home.join(below));
        for part in parts.iter().filter(|part| !part.starts_with('.')) {
            // What cannot be made is not shared: see above.
            let _ = fs::create_dir_all(at.join(part));
        }
    }
}

/// The real path of what exists.
pub(super) fn real(path: &str) -> Option<AbsPath> {
    let real = fs::canonicalize(path).ok()?;
    AbsPath::new(real.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn caches_are_found_below_home_or_where_a_variable_says() {
        let temp = tempfile::tempdir().unwrap();
        let home = real(temp.path().to_str().unwrap()).unwrap();
        for folder in [".cargo/registry", ".cargo/bin", "elsewhere/mod", ".m2"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(home.join("elsewhere"), home.join("link")).unwrap();
        let host: HostEnv = [("HOME", ""), ("GOMODCACHE", "link/mod")]
            .map(|(name, below)| (OsString::from(name), OsString::from(home.join(below).as_str())))
            .into_iter()
            .collect();
        let around = Surroundings::of(&host, &Caches::default());
        let cache = |at: &str, shared: &[&str]| Cache {
            at: home.join(at),
            shared: shared.iter().map(|part| home.join(part)).collect(),
        };
        assert_eq!(around.home.as_ref(), Some(&home));
        assert_eq!(
            around.caches,
            [
                cache(".cargo", &[".cargo/registry"]),
                cache(".m2", &[]),
                cache("elsewhere/mod", &["elsewhere/mod"])
            ]
        );
    }

    #[test]
    fn the_caches_of_found_toolchains_alone_are_made_before_the_first_download() {
        let temp = tempfile::tempdir().unwrap();
        let home = real(temp.path().to_str().unwrap()).unwrap();
        fs::create_dir_all(home.join("bin")).unwrap();
        for program in ["mvn", "go"] {
            fs::write(home.join("bin").join(program), "").unwrap();
            let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(home.join("bin").join(program), runs).unwrap();
        }
        let host: HostEnv = [("HOME", ""), ("PATH", "bin"), ("GOMODCACHE", "mod")]
            .map(|(name, below)| (OsString::from(name), OsString::from(home.join(below).as_str())))
            .into_iter()
            .collect();
        make_caches(&host);
        let shared: Vec<AbsPath> = Surroundings::of(&host, &Caches::default()).shared().cloned().collect();
        let wanted = [".cache/go-build", ".m2/repository", ".m2/wrapper", "mod"].map(|at| home.join(at));
        assert_eq!(shared, wanted);
        // On request there are others, and none of these.
        let own = home.join("cellar");
        fs::create_dir_all(&own).unwrap();
        let other = Surroundings::of(&host, &Caches { known: false, more: vec![own.clone()] });
        assert_eq!(other.shared().collect::<Vec<_>>(), [&own]);
    }

    #[test]
    fn the_daemons_of_the_user_are_not_found_in_a_sandbox() {
        let temp = tempfile::tempdir().unwrap();
        let home = real(temp.path().to_str().unwrap()).unwrap();
        let daemon = home.join(".local/share/kotlin/daemon");
        fs::create_dir_all(&daemon).unwrap();
        let host: HostEnv = [(OsString::from("HOME"), OsString::from(home.as_str()))].into_iter().collect();
        assert!(Surroundings::of(&host, &Caches::default()).temporary.contains(&daemon));
    }

    #[test]
    fn a_home_that_does_not_exist_is_none() {
        let host: HostEnv =
            [(OsString::from("HOME"), OsString::from("/nonexistent/home"))].into_iter().collect();
        assert_eq!(Surroundings::of(&host, &Caches::default()).home, None);
    }
}
