//! The scripts that polymut lays into the work folder: what depends on this machine is worked out there, at run time.
//!
//! In: a request. Out: [`NewFile`]s. I/O: none.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{NewFile, Piece, Place, WorkPath};

/// Folder of the scripts in the work folder.
const FOLDER: &str = "stryker-js";

const SCRIPTS: [(&str, &str); 10] = [
    ("locate.mjs", include_str!("locate.mjs")),
    ("settings.mjs", include_str!("settings.mjs")),
    ("probe.mjs", include_str!("probe.mjs")),
    ("stryker.config.mjs", include_str!("stryker.config.mjs")),
    ("plugin.mjs", include_str!("plugin.mjs")),
    ("run.mjs", include_str!("run.mjs")),
    ("list.mjs", include_str!("list.mjs")),
    ("confirm.mjs", include_str!("confirm.mjs")),
    ("hooks.mjs", include_str!("hooks.mjs")),
    ("resolve.mjs", include_str!("resolve.mjs")),
];

/// What the scripts are told; `request.json`.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    /// The user's configuration, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) config: Option<String>,
    /// How many folders above the project its workspace root is.
    pub(super) levels: usize,
    /// Files to mutate, relative to the project.
    pub(super) files: Vec<String>,
    /// Spans of the chosen mutants; whatever holds none of them is left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) spans: BTreeMap<String, Vec<[u32; 4]>>,
    /// Changed lines, where no mutants were listed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) lines: BTreeMap<String, Vec<[u32; 2]>>,
    pub(super) operators: &'static str,
    pub(super) timeout_factor: f64,
    #[serde(rename = "timeoutMS")]
    pub(super) timeout_ms: u64,
    pub(super) dry_run_timeout_minutes: u64,
    /// Whether the runner may leave out tests that import none of the files.
    pub(super) related: bool,
    pub(super) dry_run_only: bool,
}

/// Every script, and the request.
pub(super) fn files(request: &Request) -> Vec<NewFile> {
    // A struct of texts and numbers always serialises.
    let json = serde_json::to_vec(request).unwrap_or_default();
    let scripts = SCRIPTS.iter().map(|(name, text)| new_file(name, text.as_bytes().to_vec()));
    scripts.chain([new_file("request.json", json)]).collect()
}

/// A file beside the scripts.
pub(super) fn new_file(name: &str, bytes: Vec<u8>) -> NewFile {
    NewFile { at: Place::Work(beside(name)), bytes }
}

/// The word that names a script.
pub(super) fn word(name: &str) -> Vec<Piece> {
    vec![Piece::Work(beside(name))]
}

/// The folder to gather from.
pub(super) fn folder() -> Place {
    Place::Work(beside(""))
}

fn beside(name: &str) -> WorkPath {
    // Names are constants of this room without `..`, so that this never fails.
    WorkPath::new(format!("{FOLDER}/{name}")).unwrap_or_default()
}
