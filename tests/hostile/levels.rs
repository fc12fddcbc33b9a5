//! What each level shows of the repository, and what the probe says of it.
//!
//! In: sandboxes of each level. Out: claims. I/O: processes behind walls.

use polymut::exec::{SourceBytes, SourceEntry, SourceKind};
use polymut_adapters::End;
use polymut_schemas::{Guarantee, IsolationLevel, RepoDir, RepoPath};

use crate::rig::Rig;

fn held(containment: &polymut::exec::Containment) -> Vec<(Guarantee, bool)> {
    containment.reached().guarantees.iter().map(|(guarantee, reached)| (*guarantee, reached.held)).collect()
}

#[tokio::test]
async fn sealed_holds_every_guarantee() {
    let rig = Rig::new();
    let found = rig.at(IsolationLevel::Sealed).await;
    assert!(held(&found).iter().all(|(_, held)| *held), "{found:?}");
}

#[tokio::test]
async fn a_copy_holds_memory_and_tree_and_says_that_files_and_network_are_open() {
    let rig = Rig::new();
    let found = rig.at(IsolationLevel::Copied).await;
    let expected = [
        (Guarantee::Memory, true),
        (Guarantee::Network, false),
        (Guarantee::Files, false),
        (Guarantee::Tree, true),
    ];
    assert_eq!(held(&found), expected, "{found:?}");
}

#[tokio::test]
async fn a_program_sees_the_repository_at_its_own_path_and_writes_beside_it() {
    let rig = Rig::new();
    let sandbox = rig.sandbox(&rig.at(IsolationLevel::Sealed).await, "base");
    let before = rig.snapshot();
    let ended = rig
        .shell(
            sandbox.as_ref(),
            "pwd; cat src/lib.rs target/cache; echo mutant > src/lib.rs; rm readme; mkdir out; echo x > out/report; \
             echo y > $WORK/log; echo z > $HOME/.profile; id -u",
        )
        .await;
    let text = format!("{}{}", ended.stdout.text(), ended.stderr.text());
    assert_eq!(ended.end, End::Exit(0), "{text}");
    assert!(text.starts_with(&format!("{}\nonewarm", rig.repo)), "{text}");
    let read = |path: &str| sandbox.read(&RepoPath::new(path).unwrap()).unwrap();
    assert_eq!(read("src/lib.rs").as_deref(), Some(&b"mutant\n"[..]));
    assert_eq!(read("readme"), None);
    assert_eq!(read("out/report").as_deref(), Some(&b"x\n"[..]));
    assert!(!sandbox.exists(&RepoDir::new("readme").unwrap()));
    let listed: Vec<String> =
        sandbox.files(&RepoDir::root()).unwrap().into_iter().map(|file| file.path.to_string()).collect();
    assert_eq!(listed, ["out/report", "src/lib.rs", "target/cache"]);
    assert_eq!(rig.snapshot(), before);
}

#[tokio::test]
async fn a_committed_side_takes_the_place_of_the_tree_and_dependencies_show_through() {
    let rig = Rig::new();
    for (file, text) in
        [("node_modules/left/index.js", "dependency"), (".git/HEAD", "ref"), ("untracked.rs", "x")]
    {
        let file = rig.repo.join(file);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }
    let before = rig.snapshot();
    let entries = ["src/lib.rs", "src/only_in_git.rs"].map(|path| SourceEntry {
        path: RepoPath::new(path).unwrap(),
        kind: SourceKind::File,
        at: SourceBytes::Blob,
    });
    let base = rig.sandbox_of(&rig.at(IsolationLevel::Sealed).await, "base", &entries).unwrap();
    let script = "find . -type f | LC_ALL=C sort; cat src/lib.rs; echo new > node_modules/left/index.js; mkdir node_modules/.cache";
    let ended = rig.shell(base.as_ref(), script).await;
    let expected =
        "./.git/HEAD\n./node_modules/left/index.js\n./src/lib.rs\n./src/only_in_git.rs\nsrc/lib.rs";
    assert_eq!(ended.stdout.text(), expected, "{}", ended.stderr.text());
    let fork = base.fork("fork").unwrap();
    let read = |path: &str| fork.read(&RepoPath::new(path).unwrap()).unwrap();
    assert_eq!(read("node_modules/left/index.js").as_deref(), Some(&b"new\n"[..]));
    assert_eq!(read("untracked.rs"), None);
    let listed: Vec<String> =
        fork.files(&RepoDir::root()).unwrap().into_iter().map(|file| file.path.to_string()).collect();
    assert_eq!(listed, ["src/lib.rs", "src/only_in_git.rs"]);
    assert_eq!(rig.snapshot(), before);
}
