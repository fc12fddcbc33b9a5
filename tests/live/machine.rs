//! Runs the built program on the shipped example.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use polymut_schemas::Report;
use serde::Deserialize;

use super::program::polymut;

/// One project of `examples/polyglot/expected.json`.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) tool: String,
    /// What the document must say; differs from the tool's own words where those are wrong.
    pub(crate) judged: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Written {
    tool: String,
    statuses: BTreeMap<String, u64>,
    judged: Option<BTreeMap<String, u64>>,
}

/// What each folder of the example must yield.
pub(crate) fn expected() -> BTreeMap<String, Expected> {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/polyglot/expected.json"))
            .unwrap();
    let written: BTreeMap<String, Written> = serde_json::from_str(&text).unwrap();
    let read = |(folder, project): (String, Written)| {
        (folder, Expected { tool: project.tool, judged: project.judged.unwrap_or(project.statuses) })
    };
    written.into_iter().map(read).collect()
}

/// One run of the demo.
pub(crate) struct Demo {
    pub(crate) report: Report,
    pub(crate) json: String,
    pub(crate) page: PathBuf,
    pub(crate) code: i32,
    pub(crate) stderr: String,
    _folder: tempfile::TempDir,
}

/// The machine's toolchains.
pub(crate) struct Live {
    missing: Vec<(&'static str, &'static str)>,
}

/// The program that each tool's projects need.
const NEEDS: &[(&str, &str)] = &[
    ("cargo-mutants", "cargo"),
    ("stryker-js", "npm"),
    ("pit", "mvn"),
    ("gremlins", "go"),
    ("mutmut", "python3"),
    ("cosmic-ray", "python3"),
    ("stryker-net", "dotnet"),
];

impl Live {
    /// `None`: live runs are off, which is said.
    pub(crate) fn new() -> Option<Self> {
        let mode = std::env::var("POLYMUT_LIVE").unwrap_or_default();
        if mode == "off" {
            eprintln!("skipped: POLYMUT_LIVE=off");
            return None;
        }
        let lacks = |(_, program): &&(&str, &str)| which::which(program).is_err();
        let missing: Vec<_> = NEEDS.iter().filter(lacks).copied().collect();
        for (tool, program) in &missing {
            eprintln!("missing: {program}, so {tool} is not run live");
        }
        assert!(
            mode != "require" || missing.is_empty(),
            "POLYMUT_LIVE=require, and these are missing: {missing:?}"
        );
        Some(Self { missing })
    }

    /// Whether the tool of the example's project in this folder has its toolchain.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        expected().get(folder).is_some_and(|project| self.has_toolchain(&project.tool))
    }

    /// Runs come one after another: each uses every core, and several would only be in each other's way.
    pub(crate) fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_toolchain(&self, tool: &str) -> bool {
        !self.missing.iter().any(|(missing, _)| *missing == tool)
    }

    /// `polymut demo` with more words.
    pub(crate) fn demo(words: &[&str]) -> Demo {
        let folder = tempfile::tempdir().unwrap();
        let (json, page) = (folder.path().join("report.json"), folder.path().join("report.html"));
        let out = polymut(folder.path(), &folder.path().join("state"))
            .arg("demo")
            .arg("--into")
            .arg(folder.path().join("demo"))
            .arg(format!("--format=json={}", json.display()))
            .arg(format!("--format=html={}", page.display()))
            .args(words)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        let text = std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}\n{stderr}"));
        let report = serde_json::from_str(&text).unwrap();
        let code = out.status.code().unwrap_or(-1);
        Demo { report, json: text, page, code, stderr, _folder: folder }
    }
}
