//! What the list stage left: generated files, the map from functions to tests, and which functions run while loading.
//!
//! In: the rounds of the list stage. Out: [`Generated`]. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{RepoDir, StageName};
use serde::Deserialize;

use super::map::FileMap;
use super::meta::{Meta, function_key, malformed};
use crate::{Job, ParseError, Place, Ran};

/// The second round of the list stage: which lines of the changed files the tests run.
#[derive(Debug, Deserialize)]
pub(super) struct Reached {
    /// How pytest ended.
    pub(super) exit: i64,
    /// Lines by path relative to the project.
    pub(super) lines: BTreeMap<String, BTreeSet<usize>>,
}

#[derive(Debug, Default, Deserialize)]
struct Stats {
    #[serde(default)]
    tests_by_mangled_function_name: BTreeMap<String, Vec<String>>,
}

/// What is known of the mutants beside their answers.
#[derive(Debug, Default)]
pub(super) struct Generated {
    loading: Option<BTreeSet<String>>,
    stats: Stats,
}

impl Generated {
    /// Of the job's list stage.
    pub(super) fn of(job: &Job<'_>) -> Self {
        job.rounds(StageName::List).next().map(Self::from_ran).unwrap_or_default()
    }

    /// Of the list round that has just run.
    pub(super) fn from_ran(ran: &Ran) -> Self {
        let json = |name: &str| ran.file_ending(name);
        Self {
            loading: json("loaded.json").and_then(|bytes| serde_json::from_slice(bytes).ok()),
            stats: json("mutmut-stats.json")
                .and_then(|bytes| serde_json::from_slice(bytes).ok())
                .unwrap_or_default(),
        }
    }

    /// Whether the mutant's function is called while some module loads; when that is not known, it may be.
    pub(super) fn runs_while_loading(&self, key: &str) -> bool {
        self.loading.as_ref().is_none_or(|names| names.contains(function_key(key)))
    }

    /// The tests that reach the mutant's function, sorted.
    pub(super) fn tests_of(&self, key: &str) -> Vec<String> {
        let tests = self.stats.tests_by_mangled_function_name.get(function_key(key));
        let sorted: BTreeSet<String> = tests.into_iter().flatten().cloned().collect();
        sorted.into_iter().collect()
    }

    /// A function that the tests call by another module's name than mutmut gives it, so that it seems to have no tests:
    /// both names.
    pub(super) fn other_name<'k>(&self, keys: impl Iterator<Item = &'k str>) -> Option<(String, String)> {
        let known: BTreeSet<&str> = keys.map(function_key).collect();
        let recorded = &self.stats.tests_by_mangled_function_name;
        let tail = |name: &str| name.rsplit('.').next().map(str::to_owned);
        recorded.iter().filter(|(name, tests)| !known.contains(name.as_str()) && !tests.is_empty()).find_map(
            |(called, _)| {
                let lost =
                    known.iter().find(|name| tail(name) == tail(called) && !recorded.contains_key(**name))?;
                Some((called.clone(), (*lost).to_owned()))
            },
        )
    }

    /// Whether the list stage proved that no test runs any mutant.
    pub(super) fn unreached(job: &Job<'_>) -> bool {
        job.rounds(StageName::List).any(|ran| Reached::of(ran).is_some())
    }
}

impl Reached {
    /// What a second list round left.
    pub(super) fn of(ran: &Ran) -> Option<Self> {
        serde_json::from_slice(ran.file_ending("reached.json")?).ok()
    }
}

/// One generated file.
pub(super) struct OneFile<'a> {
    /// Its path relative to the project.
    pub(super) path: String,
    /// Where its `.meta` lies.
    pub(super) at: String,
    /// Its codes.
    pub(super) meta: Meta,
    generated: Option<&'a [u8]>,
    spans: Option<&'a [u8]>,
}

impl OneFile<'_> {
    /// Where its functions are in the source.
    pub(super) fn map(&self, source: &[u8]) -> Result<FileMap<'_>, ParseError> {
        let missing = |what: &str| ParseError::MissingArtifact { what: format!("{}{what}", self.path) };
        let generated = self.generated.ok_or_else(|| missing(""))?;
        let spans = self.spans.ok_or_else(|| missing(".spans"))?;
        FileMap::new(&self.path, generated, spans, source)
    }
}

/// Every file with a `.meta` that a round gathered.
pub(super) fn files<'a>(dir: &RepoDir, ran: &'a Ran) -> Result<Vec<OneFile<'a>>, ParseError> {
    let root = dir.resolve("mutants").map_err(|error| malformed("mutants", &error.to_string()))?;
    let mut files = Vec::new();
    for (place, bytes) in ran.files_ending(".py.meta") {
        let at = place.as_str();
        let Some(path) = below(&root, place).and_then(|path| path.strip_suffix(".meta")) else { continue };
        let beside = |suffix: &str| {
            let name = format!("{}/{path}{suffix}", root.as_str());
            ran.files.iter().find(|(place, _)| place.as_str() == name).map(|(_, bytes)| bytes.as_slice())
        };
        files.push(OneFile {
            path: path.to_owned(),
            at: at.to_owned(),
            meta: Meta::read(at, bytes)?,
            generated: beside(""),
            spans: beside(".spans"),
        });
    }
    Ok(files)
}

fn below<'a>(root: &RepoDir, place: &'a Place) -> Option<&'a str> {
    match place {
        Place::Sandbox(_) => place.as_str().strip_prefix(root.as_str())?.strip_prefix('/'),
        Place::Work(_) => None,
    }
}
