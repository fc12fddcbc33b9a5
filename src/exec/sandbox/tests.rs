//! What every sandbox's view promises, tried on small trees.
//!
//! In: folders made here. Out: claims. I/O: temporary folders.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use fs_err as fs;
use polymut_adapters::WorkPath;
use polymut_schemas::{RepoDir, RepoPath};

use super::copied::copied_level;
use super::{CopiedSandbox, Request, Sandbox, SandboxError, SourceBytes, SourceEntry, SourceKind};
use crate::exec::Stop;
use crate::paths::AbsPath;

struct Place {
    _temp: tempfile::TempDir,
    root: AbsPath,
    scratch: AbsPath,
}

fn place() -> Place {
    let temp = tempfile::tempdir().unwrap();
    let base = AbsPath::new(fs::canonicalize(temp.path()).unwrap().to_str().unwrap()).unwrap();
    let (root, scratch) = (base.join("shop"), base.join("scratch"));
    fs::create_dir(&root).unwrap();
    Place { _temp: temp, root, scratch }
}

fn put(root: &AbsPath, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn entry(path: &str, kind: SourceKind, at: SourceBytes) -> SourceEntry {
    SourceEntry { path: RepoPath::new(path).unwrap(), kind, at }
}

fn disk(path: &str) -> SourceEntry {
    entry(path, SourceKind::File, SourceBytes::Disk)
}

fn no_blobs(path: &RepoPath) -> io::Result<Vec<u8>> {
    Err(io::Error::other(format!("nobody asked for {path}")))
}

fn create(place: &Place, entries: &[SourceEntry]) -> Result<CopiedSandbox, SandboxError> {
    let request = Request {
        root: &place.root,
        entries,
        blobs: &no_blobs,
        folder: &place.scratch,
        name: "base",
        dependency_dirs: &["node_modules", ".venv"],
        stop: &Stop::new(),
    };
    CopiedSandbox::create(&request, copied_level())
}

fn text(sandbox: &dyn Sandbox, path: &str) -> Option<String> {
    sandbox.read(&RepoPath::new(path).unwrap()).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
}

fn real(sandbox: &dyn Sandbox, path: &str) -> std::path::PathBuf {
    fs::canonicalize(sandbox.seen(&RepoDir::new(path).unwrap())).unwrap()
}

#[test]
fn the_copy_holds_the_new_side_and_nothing_else() {
    let place = place();
    put(&place.root, "src/lib.rs", "one");
    put(&place.root, "run.sh", "#!");
    put(&place.root, "junk.log", "ignored by git");
    fs::set_permissions(place.root.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let entries = [disk("src/lib.rs"), entry("run.sh", SourceKind::Executable, SourceBytes::Disk)];
    let sandbox = create(&place, &entries).unwrap();
    assert_eq!(text(&sandbox, "src/lib.rs").as_deref(), Some("one"));
    assert!(!sandbox.exists(&RepoDir::new("junk.log").unwrap()));
    let (kept, copy) = (place.root.join("run.sh"), sandbox.seen(&RepoDir::new("run.sh").unwrap()));
    assert_eq!(fs::metadata(&copy).unwrap().mode() & 0o777, 0o755);
    assert_eq!(
        fs::metadata(&kept).unwrap().modified().unwrap(),
        fs::metadata(&copy).unwrap().modified().unwrap()
    );
    assert_eq!(sandbox.seen(&RepoDir::root()).as_path().file_name(), Some("shop"));
}

#[test]
fn blobs_come_from_git_even_where_the_tree_has_other_bytes() {
    let place = place();
    put(&place.root, "a.js", "uncommitted");
    let entries = [
        entry("a.js", SourceKind::File, SourceBytes::Blob),
        entry("bin/x", SourceKind::Executable, SourceBytes::Blob),
        entry("link", SourceKind::Symlink, SourceBytes::Blob),
    ];
    let blobs = |path: &RepoPath| {
        Ok(if path.as_str() == "link" { b"bin/x".to_vec() } else { format!("git:{path}").into_bytes() })
    };
    let request = Request {
        root: &place.root,
        entries: &entries,
        blobs: &blobs,
        folder: &place.scratch,
        name: "base",
        dependency_dirs: &[],
        stop: &Stop::new(),
    };
    let sandbox = CopiedSandbox::create(&request, copied_level()).unwrap();
    assert_eq!(text(&sandbox, "a.js").as_deref(), Some("git:a.js"));
    assert_eq!(text(&sandbox, "link").as_deref(), Some("git:bin/x"));
    let mode = fs::metadata(sandbox.seen(&RepoDir::new("bin/x").unwrap())).unwrap().mode();
    assert_eq!(mode & 0o100, 0o100);
}

#[test]
fn a_write_in_the_view_leaves_the_user_s_file_alone() {
    let place = place();
    put(&place.root, "src/lib.rs", "one");
    let sandbox = create(&place, &[disk("src/lib.rs")]).unwrap();
    sandbox.write(&RepoPath::new("src/lib.rs").unwrap(), b"two").unwrap();
    sandbox.write(&RepoPath::new("new/deep/file").unwrap(), b"three").unwrap();
    assert_eq!(text(&sandbox, "src/lib.rs").as_deref(), Some("two"));
    assert_eq!(fs::read_to_string(place.root.join("src/lib.rs")).unwrap(), "one");
    let paths: Vec<String> =
        sandbox.files(&RepoDir::root()).unwrap().into_iter().map(|file| file.path.to_string()).collect();
    assert_eq!(paths, ["new/deep/file", "src/lib.rs"]);
}

#[test]
fn a_fork_has_the_present_state_and_its_own_future() {
    let place = place();
    put(&place.root, "src/lib.rs", "one");
    let base = create(&place, &[disk("src/lib.rs")]).unwrap();
    base.write(&RepoPath::new("target/app").unwrap(), b"built").unwrap();
    let work = WorkPath::new("log").unwrap();
    fs::write(base.work(&work), "of the base").unwrap();
    let fork = base.fork("worker-1").unwrap();
    assert_eq!(text(fork.as_ref(), "target/app").as_deref(), Some("built"));
    assert!(!fork.work(&work).as_std_path().exists());
    fork.write(&RepoPath::new("src/lib.rs").unwrap(), b"mutant").unwrap();
    assert_eq!(text(&base, "src/lib.rs").as_deref(), Some("one"));
    assert!(base.fork("worker-1").is_err(), "a name is used once");
}

#[test]
fn dropping_removes_the_sandbox_and_keeps_the_tree() {
    let place = place();
    put(&place.root, "a", "one");
    put(&place.root, "node_modules/left/index.js", "kept");
    let sandbox = create(&place, &[disk("a")]).unwrap();
    let seen = sandbox.seen(&RepoDir::root());
    drop(sandbox);
    assert!(!seen.as_std_path().exists());
    assert!(!place.scratch.join("base").as_std_path().exists());
    assert!(place.root.join("node_modules/left/index.js").as_std_path().exists());
}

#[test]
fn own_packages_among_the_dependencies_lead_into_the_copy() {
    let place = place();
    put(&place.root, "package.json", "{}");
    put(&place.root, "packages/price/index.js", "ours");
    put(&place.root, "node_modules/left/index.js", "theirs");
    put(&place.root, "node_modules/.vite/results.json", "stale");
    fs::create_dir(place.root.join("node_modules/@shop")).unwrap();
    symlink("../../packages/price", place.root.join("node_modules/@shop/price")).unwrap();
    let sandbox = create(&place, &[disk("package.json"), disk("packages/price/index.js")]).unwrap();
    let copy = sandbox.seen(&RepoDir::root());
    assert!(real(&sandbox, "node_modules/@shop/price/index.js").starts_with(&copy));
    assert!(real(&sandbox, "node_modules/left/index.js").starts_with(&place.root));
    assert!(!sandbox.exists(&RepoDir::new("node_modules/.vite").unwrap()));
    let listed = sandbox.files(&RepoDir::root()).unwrap();
    assert!(listed.iter().all(|file| !file.path.as_str().starts_with("node_modules")), "{listed:?}");
    assert!(sandbox.write(&RepoPath::new("node_modules/left/index.js").unwrap(), b"mutant").is_err());
    assert!(
        real(sandbox.fork("f").unwrap().as_ref(), "node_modules/@shop/price")
            .ends_with("shop/packages/price")
    );
}

#[test]
fn an_editable_install_leads_into_the_copy() {
    let place = place();
    put(&place.root, "pyproject.toml", "");
    let site = ".venv/lib/python3.12/site-packages";
    put(&place.root, ".venv/pyvenv.cfg", "home = /usr/bin");
    put(&place.root, &format!("{site}/shop.pth"), &format!("{}/src\n", place.root));
    put(&place.root, &format!("{site}/pytest/__init__.py"), "theirs");
    put(&place.root, ".venv/bin/pytest", &format!("#!{}/.venv/bin/python\n", place.root));
    let sandbox = create(&place, &[disk("pyproject.toml")]).unwrap();
    let copy = sandbox.seen(&RepoDir::root());
    assert_eq!(text(&sandbox, &format!("{site}/shop.pth")), Some(format!("{copy}/src\n")));
    assert_eq!(text(&sandbox, ".venv/bin/pytest"), Some(format!("#!{copy}/.venv/bin/python\n")));
    assert!(real(&sandbox, &format!("{site}/pytest")).starts_with(&place.root));
}

#[test]
fn links_keep_their_meaning() {
    let place = place();
    put(&place.root, "src/lib.rs", "one");
    symlink("src", place.root.join("inside")).unwrap();
    symlink("../outside", place.root.join("out")).unwrap();
    symlink(place.root.join("src/lib.rs"), place.root.join("absolute")).unwrap();
    put(&place.root.parent().unwrap(), "outside", "elsewhere");
    let link = |path| entry(path, SourceKind::Symlink, SourceBytes::Disk);
    let sandbox =
        create(&place, &[disk("src/lib.rs"), link("inside"), link("out"), link("absolute")]).unwrap();
    assert_eq!(text(&sandbox, "out").as_deref(), Some("elsewhere"));
    assert_eq!(text(&sandbox, "inside/lib.rs").as_deref(), Some("one"));
    assert!(real(&sandbox, "absolute").starts_with(sandbox.seen(&RepoDir::root())));
}

#[test]
fn a_submodule_comes_along_without_its_git_pointer() {
    let place = place();
    put(&place.root, "lib/sub/code.go", "package sub");
    put(&place.root, "lib/sub/.git", "gitdir: ../../.git/modules/sub");
    let sandbox = create(
        &place,
        &[
            entry("lib/sub", SourceKind::Submodule, SourceBytes::Disk),
            entry("lib/absent", SourceKind::Submodule, SourceBytes::Disk),
        ],
    )
    .unwrap();
    assert_eq!(text(&sandbox, "lib/sub/code.go").as_deref(), Some("package sub"));
    assert!(!sandbox.exists(&RepoDir::new("lib/sub/.git").unwrap()));
    assert!(sandbox.exists(&RepoDir::new("lib/absent").unwrap()));
}

#[test]
fn a_file_that_went_away_is_an_error_and_leaves_nothing() {
    let place = place();
    put(&place.root, "a", "one");
    let ended = create(&place, &[disk("a"), disk("gone")]);
    assert!(matches!(ended, Err(SandboxError::Vanished { .. })), "{ended:?}");
    assert!(!place.scratch.join("base").as_std_path().exists());
}
