//! `polymut doctor`: what it finds on this machine, guarantee by guarantee.
//!
//! In: a repository, a home. Out: claims. I/O: processes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::crates::fare;
use crate::program::Ran;

#[test]
fn what_holds_here_is_said_guarantee_by_guarantee_and_nothing_is_touched() {
    let place = fare();
    let home = place.beside("home");
    fs_err::create_dir_all(home.join(".cargo/registry")).unwrap();
    let before = place.snapshot();
    let mut command = place.command(&["doctor", "--format", "json"]);
    command.env("HOME", &home).env_remove("CARGO_HOME").env("POLYMUT_TOOLS", place.beside("no-tools"));
    let ran = Ran::of(&command.output().unwrap()).ends(0);
    let findings: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let found: BTreeMap<String, (bool, String)> = findings
        .iter()
        .map(|finding| (text(finding, "what"), (finding["good"].as_bool().unwrap(), text(finding, "words"))))
        .collect();
    for guarantee in ["memory", "network", "files", "tree"] {
        let (held, by) = &found[&format!("contains {guarantee}")];
        // What does not hold names nothing that holds it.
        assert!(*held || !by.contains("namespace"), "{guarantee}: {by}");
    }
    let (sealed, level) = &found["isolation"];
    assert_eq!(*sealed, level == "sealed");
    if *sealed {
        let shared = &found["downloads are shared in"].1;
        assert!(shared.contains(".cargo/registry"), "{shared}");
    } else {
        assert!(found.contains_key("not sealed"), "{found:?}");
    }
    let (stored, words) = &found["cargo-mutants"];
    assert!(!stored && words.contains("not in the private store"), "{words}");
    assert!(place.snapshot() == before, "doctor touched the working tree");
}

#[test]
fn a_cache_that_is_asked_for_is_made_and_one_that_cannot_be_is_named() {
    let place = fare();
    place.write("README.md", "# Ferry\n");
    let cellar = place.beside("cellar/downloads");
    let run = ["run", "--base", "main", "--private-caches", "--cache"];
    place.polymut(&[&run[..], &[cellar.to_str().unwrap()]].concat()).ends(0);
    assert!(cellar.is_dir());
    let file = place.beside("file");
    fs_err::write(&file, "").unwrap();
    place.polymut(&[&run[..], &[file.to_str().unwrap()]].concat()).ends(2).says(file.to_str().unwrap());
    // Installations write there: never into the working tree, by whatever way, nor into what holds it.
    std::os::unix::fs::symlink(place.root(), place.beside("link")).unwrap();
    let before = place.snapshot();
    for folder in ["downloads", ".", "..", "../link/downloads"] {
        place.polymut(&[&run[..], &[folder]].concat()).ends(2).says("is in the repository, or holds it");
    }
    assert!(place.snapshot() == before, "a cache was made in the working tree");
}
