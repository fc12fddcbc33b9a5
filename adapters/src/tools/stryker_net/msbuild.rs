//! What MSBuild answers about source and test projects once their packages are there.
//!
//! In: JSON of `dotnet msbuild -getItem … -getProperty …`. Out: [`Answer`], facts. I/O: none.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{Quote, RepoPath};
use serde::Deserialize;

use super::csproj::{is_platform_package, is_test_package};
use super::detect::Memo;
use crate::{Facts, Finish, Job, Note, Ran};

/// Items and properties that are asked for.
pub(super) const ITEMS: &str = "-getItem:Compile,ProjectReference,PackageReference";
/// See [`ITEMS`].
pub(super) const PROPERTIES: &str = "-getProperty:IsTestProject,IsTestingPlatformApplication,TargetFramework,TargetFrameworks,MSBuildProjectFullPath";

/// Folder of the answers in the work folder.
pub(super) const FOLDER: &str = "msbuild";

/// Projects beyond this number are not asked.
const MOST: usize = 120;

/// Test projects that MSBuild confirms, in order.
pub(super) const TESTS: &str = "net.tests";
/// Of these, the ones on the Microsoft Testing Platform.
pub(super) const PLATFORM: &str = "net.platform";
/// `project framework` where a test project has several and one has to be named.
pub(super) const FRAMEWORKS: &str = "net.frameworks";
/// Changed files that the source project compiles.
pub(super) const COMPILED: &str = "net.compiled";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Raw {
    #[serde(default)]
    properties: BTreeMap<String, String>,
    #[serde(default)]
    items: BTreeMap<String, Vec<Item>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Item {
    #[serde(default)]
    identity: String,
    #[serde(default)]
    full_path: String,
}

/// What MSBuild says of one project; paths are the repository's.
struct Answer {
    test: bool,
    platform: bool,
    frameworks: Vec<String>,
    references: BTreeSet<String>,
    compiled: BTreeSet<String>,
}

/// The projects that are asked: the source first.
pub(super) fn asked(job: &Job<'_>) -> Vec<RepoPath> {
    let memo = Memo(job.project);
    let mut all = memo.sources();
    all.extend(memo.tests());
    all.extend(memo.dependents());
    all.truncate(MOST);
    all
}

fn cut_short(job: &Job<'_>) -> Option<Note> {
    let memo = Memo(job.project);
    let all = memo.sources().len() + memo.tests().len() + memo.dependents().len();
    (all > MOST).then(|| Note(format!("only {MOST} of {all} projects that reach this one were asked for")))
}

/// What the answers teach; the finish is not complete when nothing can be tested with them.
pub(super) fn learn(job: &Job<'_>, ran: &Ran) -> (Finish, Facts, Vec<Note>) {
    let mut notes: Vec<Note> = cut_short(job).into_iter().collect();
    let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
    let guessed = Memo(job.project).tests();
    let source = Memo(job.project).sources().first().map(ToString::to_string).unwrap_or_default();
    for (number, path) in asked(job).iter().enumerate() {
        match answer(path, number, ran) {
            Ok(answer) => {
                answers.insert(path.to_string(), answer);
            }
            Err(quote) if guessed.contains(path) || path.as_str() == source => {
                return (Finish::Broken(quote), Facts::default(), notes);
            }
            Err(quote) => notes.push(Note(format!("{path} is taken for no test project: {}", quote.text))),
        }
    }
    let tests: Vec<String> = answers
        .iter()
        .filter(|(path, answer)| answer.test && reaches(&answers, path, &source))
        .map(|(path, _)| path.clone())
        .collect();
    let mut facts = Facts::default();
    let chosen = |wanted: fn(&Answer) -> bool| -> Vec<String> {
        tests.iter().filter(|path| answers.get(*path).is_some_and(wanted)).cloned().collect()
    };
    facts.0.insert(PLATFORM.to_owned(), chosen(|answer| answer.platform));
    facts.0.insert(FRAMEWORKS.to_owned(), frameworks(&tests, &answers));
    facts.0.insert(COMPILED.to_owned(), compiled(job, answers.get(&source)));
    let finish = if tests.is_empty() {
        let text = format!("MSBuild knows no test project that references {source}");
        Finish::Nothing(Quote { text, at: "dotnet msbuild".to_owned() })
    } else {
        Finish::Complete
    };
    facts.0.insert(TESTS.to_owned(), tests);
    (finish, facts, notes)
}

fn answer(path: &RepoPath, number: usize, ran: &Ran) -> Result<Answer, Quote> {
    let name = format!("ask-{number}");
    let failed = |text: String| Quote { text, at: format!("output of {name}") };
    let bytes = ran.file_ending(&format!("{FOLDER}/{number}.json")).ok_or_else(|| {
        let said = ran.step(&name).map(|step| super::log::quote(step, "no answer").text);
        failed(format!("MSBuild gives no answer about {path}: {}", said.unwrap_or_default()))
    })?;
    let raw: Raw = serde_json::from_slice(bytes)
        .map_err(|error| failed(format!("MSBuild's answer about {path} cannot be read: {error}")))?;
    raw.answer(path).ok_or_else(|| failed(format!("MSBuild's answer about {path} is about another project")))
}

impl Raw {
    fn answer(&self, path: &RepoPath) -> Option<Answer> {
        let own = slashes(self.properties.get("MSBuildProjectFullPath")?);
        let root = own.strip_suffix(path.as_str())?.to_owned();
        let is_true =
            |name: &str| self.properties.get(name).is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let items = |name: &str| self.items.get(name).map(Vec::as_slice).unwrap_or_default();
        let below = |name: &str| -> BTreeSet<String> {
            let full = items(name).iter().map(|item| slashes(&item.full_path));
            full.filter_map(|path| path.strip_prefix(&root).map(str::to_owned)).collect()
        };
        let packages: Vec<String> =
            items("PackageReference").iter().map(|item| item.identity.to_lowercase()).collect();
        let platform = is_true("IsTestingPlatformApplication");
        let said = self.properties.get("IsTestProject").map(String::as_str).unwrap_or_default();
        let test = match said {
            "" => packages.iter().any(|package| is_test_package(package)),
            said => said.eq_ignore_ascii_case("true"),
        };
        let several = self.properties.get("TargetFrameworks").map(String::as_str).unwrap_or_default();
        Some(Answer {
            test: test || platform,
            platform: platform || packages.iter().any(|package| is_platform_package(package)),
            frameworks: several
                .split(';')
                .map(str::trim)
                .filter(|one| !one.is_empty())
                .map(str::to_owned)
                .collect(),
            references: below("ProjectReference"),
            compiled: below("Compile"),
        })
    }
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

fn reaches(answers: &BTreeMap<String, Answer>, from: &str, target: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(at) = open.pop() {
        for reference in answers.get(&at).into_iter().flat_map(|answer| &answer.references) {
            if reference == target {
                return true;
            }
            if seen.insert(reference.clone()) {
                open.push(reference.clone());
            }
        }
    }
    false
}

/// The first framework that is not .NET Framework, which is the one that the tool takes.
fn frameworks(tests: &[String], answers: &BTreeMap<String, Answer>) -> Vec<String> {
    let first = |path: &String| {
        let all = &answers.get(path)?.frameworks;
        let modern = all.iter().find(|name| name.contains('.') || name.starts_with("netstandard"));
        Some(format!("{path} {}", modern.or_else(|| all.first())?))
    };
    tests.iter().filter_map(first).collect()
}

fn compiled(job: &Job<'_>, source: Option<&Answer>) -> Vec<String> {
    let known = |path: &&RepoPath| source.is_some_and(|answer| answer.compiled.contains(path.as_str()));
    job.changed.files.keys().filter(known).map(ToString::to_string).collect()
}
