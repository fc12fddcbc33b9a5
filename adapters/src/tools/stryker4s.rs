//! Stryker4s 1.1 through sbt: Scala, one job per module, read as mutation-testing-elements JSON. Not run live by polymut's
//! own tests: they know it from its source and by plans.
//!
//! In: `*.sbt` files, reports. Out: plans, raw mutants. I/O: none.
//!
//! # How the tool is driven
//! - The plugin is added to polymut's own copy of the build, so that a project need not have it.
//! - It scopes by whole files (`--mutate`) and silently ignores options that it does not know; polymut filters lines, and
//!   believes only a fresh report that names the wanted files.
//! - It can neither list mutants nor run one alone: survivors are replayed by their diff and the module's own tests.

use std::collections::BTreeMap;

use polymut_schemas::{OperatorClass, PathError, Quote, RepoDir, RepoPath, ToolId};

use crate::formats::elements_import;
use crate::{
    Adapter, Baseline, CommandSpec, Cost, End, Find, Finish, Gather, Job, NewFile, ParseError, Parsed, Piece,
    Place, Plan, PlanError, Project, Promised, Ran, RawPath, Recipe, Role, ScopeFit, Spread, Stage, Step,
    StepEnd, ToolInfo, Tree, TreeUse, Units,
};

/// The adapter.
#[derive(Debug)]
pub(super) struct Stryker4s;

const ID: &str = "stryker4s";
const PLUGIN: &str = "1.1.1";
const BUILD: &str = "build.sbt";

/// Memo: the folder of `build.sbt`.
const ROOT: &str = "build";
/// Memo: the module's name in the build; absent for a build without modules.
const MODULE: &str = "module";

static INFO: ToolInfo = ToolInfo {
    id: ID,
    languages: &["Scala (not run live)"],
    extensions: &["scala"],
    reads: &[BUILD],
    dependency_dirs: &[],
    supported: ">=1.1.0, <2.0.0",
    tree: TreeUse::Writes,
    spread: Spread::Own,
    cost: Cost { start: 60000, mutant: 500 },
    recipe: Recipe {
        version: PLUGIN,
        provides: "",
        steps: &[],
        hint: "install a JDK and sbt 1.11.2 or newer; polymut adds the plugin to its copy of the build",
    },
    scrub: &["SBT_OPTS", "SBT_NATIVE_CLIENT"],
};

impl Adapter for Stryker4s {
    fn info(&self) -> &'static ToolInfo {
        &INFO
    }

    fn detect(&self, tree: &Tree) -> Vec<Project> {
        let mut projects: BTreeMap<RepoDir, Project> = BTreeMap::new();
        for path in tree.named(BUILD) {
            for project in modules(tree, path) {
                projects.entry(project.dir.clone()).or_insert(project);
            }
        }
        projects.into_values().collect()
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        match stage {
            Stage::Probe => Ok(Some(Plan {
                steps: vec![sbt(job, "version", Role::Work, vec![Piece::word("--script-version")])?],
                gather: Vec::new(),
                fit: ScopeFit::File,
            })),
            Stage::Prepare => prepare(job).map(Some),
            Stage::Test(Units::Files(files)) => test(job, files).map(Some),
            Stage::Test(Units::Mutants(_)) => Err(PlanError::Missing {
                missing: "a list of files".to_owned(),
                remedy: "this is a fault of polymut: Stryker4s is always asked for whole files".to_owned(),
            }),
            Stage::List | Stage::Confirm(_) | Stage::Replay(_) => Ok(None),
        }
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Probe => Ok(probed(job, ran)),
            Stage::Prepare => Ok(prepared(ran)),
            Stage::Test(units) => tested(job, units, ran),
            Stage::List | Stage::Confirm(_) | Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    fn is_test(&self, project: &Project, path: &RepoPath) -> bool {
        let inside = project.dir.relative(path).unwrap_or_default();
        ["src/test/", "src/it/", "test/"].iter().any(|folder| inside.starts_with(folder))
    }

    fn import(&self, files: &[(String, Vec<u8>)]) -> Result<Parsed, ParseError> {
        elements_import::import(ID, class, files)
    }
}

/// The modules of the build at `path`, as far as its own words say them; without any, the build itself.
fn modules(tree: &Tree, path: &RepoPath) -> Vec<Project> {
    let root = path.dir();
    let text = tree.bytes(path).map(String::from_utf8_lossy).unwrap_or_default();
    let mut named = Vec::new();
    for part in text.split("lazy val ").skip(1) {
        let name: String =
            part.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        let rest = part[name.len()..].trim_start();
        let Some(made) = rest.strip_prefix('=').map(str::trim_start) else { continue };
        if !made.trim_start_matches('(').starts_with("project") {
            continue;
        }
        let folder =
            made.split_once("file(\"").and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned()));
        named.extend(root.resolve(folder.unwrap_or_else(|| name.clone())).ok().map(|dir| (name, dir)));
    }
    if named.is_empty() {
        return vec![project(&root, None, root.clone())];
    }
    named.into_iter().map(|(name, dir)| project(&root, Some(name), dir)).collect()
}

fn project(root: &RepoDir, module: Option<String>, dir: RepoDir) -> Project {
    let mut memo = BTreeMap::from([(ROOT.to_owned(), vec![root.as_str().to_owned()])]);
    memo.extend(module.map(|name| (MODULE.to_owned(), vec![name])));
    Project { tool: ToolId::from(ID), owns: vec![dir.clone()], dir, memo }
}

/// A task of the module.
fn task(job: &Job<'_>, name: &str) -> String {
    match job.project.memo.get(MODULE).and_then(|names| names.first()) {
        Some(module) => format!("{module}/{name}"),
        None => name.to_owned(),
    }
}

fn prepare(job: &Job<'_>) -> Result<Plan, PlanError> {
    let step =
        |name: &str, role, task_name: &str| sbt(job, name, role, vec![Piece::word(task(job, task_name))]);
    let mut fetch = step("fetch", Role::Fetch, "Test/update")?;
    // Without a network everything may be there already; the build says whether it is.
    fetch.go_on = &[0, 1];
    let steps =
        vec![fetch, step("build", Role::Build, "Test/compile")?, step("baseline", Role::Baseline, "test")?];
    Ok(Plan { steps, gather: Vec::new(), fit: ScopeFit::File })
}

fn test(job: &Job<'_>, files: &[RepoPath]) -> Result<Plan, PlanError> {
    let mut words = format!("{} --reporters json", task(job, "stryker"));
    for path in files {
        let inside = job.project.dir.relative(path).unwrap_or(path.as_str());
        if inside.contains(|letter: char| letter.is_whitespace() || "*?[]{}\"\\".contains(letter)) {
            return Err(PlanError::Setting {
                tool: ID,
                setting: inside.to_owned(),
                why: "sbt takes the name apart, and the tool takes it for a pattern".to_owned(),
            });
        }
        words.push_str(" --mutate ");
        words.push_str(inside);
    }
    for word in &job.settings.args {
        words.push(' ');
        words.push_str(word);
    }
    words.push_str(" --concurrency ");
    let step = sbt(job, "test", Role::Work, vec![vec![Piece::Text(words), Piece::Cores]])?;
    let under = Place::Sandbox(job.project.dir.clone());
    // The folder is called by the time of the run.
    let gather =
        vec![Gather::Files { under, glob: "target/stryker4s-report/*/*.json".to_owned(), fresh: true }];
    Ok(Plan { steps: vec![step], gather, fit: ScopeFit::File })
}

fn sbt(job: &Job<'_>, name: &str, role: Role, args: Vec<Vec<Piece>>) -> Result<Step, PlanError> {
    let root = job.project.memo.get(ROOT).and_then(|roots| roots.first()).map_or("", String::as_str);
    let fault = |error: PathError| PlanError::Missing {
        missing: error.to_string(),
        remedy: "this is a fault of polymut".to_owned(),
    };
    let root = RepoDir::new(root).map_err(fault)?;
    let version = job.settings.version.as_deref().unwrap_or(PLUGIN);
    let line = format!("addSbtPlugin(\"io.stryker-mutator\" % \"sbt-stryker4s\" % \"{version}\")\n");
    let at = root.join("project/polymut-stryker4s.sbt").map_err(fault)?;
    let plugin = NewFile { at: Place::Sandbox(RepoDir::from(at)), bytes: line.into_bytes() };
    let words = ["-batch", "-no-colors", "-Dsbt.server.autostart=false"].map(Piece::word);
    let command = CommandSpec {
        program: vec![Find::OnPath("sbt")],
        args: words.into_iter().chain(args).collect(),
        cwd: root,
        env: job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value))).collect(),
    };
    Ok(Step {
        name: name.to_owned(),
        about: None,
        role,
        files: vec![plugin],
        command,
        go_on: &[0],
        limit: None,
    })
}

fn probed(job: &Job<'_>, ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: Promised::Unknown("a probe lists nothing"), ..Parsed::default() };
    let version = ran.step("version").filter(|step| step.end == End::Exit(0)).and_then(|step| {
        let text = step.stdout.text();
        let found = text.split_whitespace().rfind(|word| semver::Version::parse(word).is_ok());
        found.map(str::to_owned)
    });
    match version {
        Some(version) => {
            parsed.facts.set("sbt.version", version);
            // The plugin is the one that polymut adds.
            parsed.facts.set("tool.version", job.settings.version.as_deref().unwrap_or(PLUGIN));
        }
        None => parsed.finish = Finish::Nothing(said(ran.step("version"), "sbt does not say its version")),
    }
    parsed
}

fn prepared(ran: &Ran) -> Parsed {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    let suite = |step: &&StepEnd| step.name == "build" || step.name == "baseline";
    if let Some(failed) = ran.steps.iter().filter(suite).find(|step| step.end != End::Exit(0)) {
        let quote = said(Some(failed), "no words");
        parsed.finish = match failed.end {
            End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory => Finish::RedBaseline(quote),
            End::Stopped | End::NoProgram => Finish::Nothing(quote),
        };
        let red = matches!(parsed.finish, Finish::RedBaseline(_));
        parsed.baseline = red.then_some(Baseline { green: false, seconds: None });
        return parsed;
    }
    match ran.step("baseline") {
        Some(step) => {
            parsed.baseline = Some(Baseline { green: true, seconds: Some(step.wall.as_secs_f64()) });
        }
        None => parsed.finish = Finish::Nothing(said(ran.steps.last(), "the tests were not reached")),
    }
    parsed
}

fn tested(job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
    let nothing = |quote| Ok(Parsed { finish: Finish::Nothing(quote), ..Parsed::default() });
    let Some(step) = ran.step("test") else { return nothing(said(None, "no run was started")) };
    let words = step.stdout.text();
    if words.contains("Initial test run failed") {
        let finish = Finish::RedBaseline(said(Some(step), "the tests fail without a mutant"));
        return Ok(Parsed { finish, ..Parsed::default() });
    }
    let below = words.contains("Mutation score is below configured threshold");
    let ended = step.end == End::Exit(0) || (step.end == End::Exit(1) && below);
    let reports: Vec<(String, Vec<u8>)> =
        ran.files.iter().map(|(place, bytes)| (place.as_str().to_owned(), bytes.clone())).collect();
    if !ended || reports.is_empty() {
        return nothing(said(Some(step), "no report"));
    }
    let mut parsed = elements_import::import(ID, class, &reports)?;
    parsed.promised = Promised::Unknown("Stryker4s names no mutants beforehand");
    let wanted: &[RepoPath] = match units {
        Units::Files(files) => files,
        Units::Mutants(_) => &[],
    };
    let is_seen = |path: &&RepoPath| {
        let inside = job.project.dir.relative(path).unwrap_or(path.as_str());
        !parsed.seen.contains(&RawPath::FromProject(inside.to_owned()))
    };
    let missing: Vec<&str> = wanted.iter().filter(is_seen).map(RepoPath::as_str).collect();
    if !missing.is_empty() || wanted.is_empty() {
        let quote = Quote {
            text: format!("the report leaves out {}", missing.join(", ")),
            at: "report.json".to_owned(),
        };
        parsed.finish =
            if missing.len() == wanted.len() { Finish::Nothing(quote) } else { Finish::Partial(quote) };
    }
    Ok(parsed)
}

/// sbt marks its errors; the last one says why it ended.
fn said(step: Option<&StepEnd>, otherwise: &str) -> Quote {
    let Some(step) = step else { return Quote { text: otherwise.to_owned(), at: "sbt".to_owned() } };
    let (stdout, stderr) = (step.stdout.text(), step.stderr.text());
    let lines = || stdout.lines().chain(stderr.lines()).map(str::trim).filter(|line| !line.is_empty());
    let words =
        lines().find(|line| line.starts_with("[error]")).or_else(|| lines().next_back()).unwrap_or(otherwise);
    let words: String = words.chars().take(300).collect();
    Quote { text: format!("{}: {words}", step.end), at: format!("output of {}", step.name) }
}

fn class(name: &str) -> OperatorClass {
    match name {
        "EqualityOperator" => OperatorClass::Comparison,
        "ConditionalExpression" | "LogicalOperator" => OperatorClass::Logical,
        "BooleanLiteral" | "StringLiteral" => OperatorClass::Literal,
        "MethodExpression" => OperatorClass::Call,
        _ => OperatorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_a_build_are_found_by_its_own_words() {
        let build = "lazy val root = (project in file(\".\")).aggregate(core, web)\n\
                     lazy val core = project.settings(x)\nlazy val web = (project in file(\"apps/web\"))\n\
                     lazy val version = \"1\"\n";
        let path = RepoPath::new("shop/build.sbt").unwrap();
        let tree = Tree::new([], BTreeMap::from([(path, build.as_bytes().to_vec())]));
        let found: Vec<(String, Option<String>)> = Stryker4s
            .detect(&tree)
            .into_iter()
            .map(|project| (project.dir.to_string(), project.memo.get(MODULE).map(|names| names.join(""))))
            .collect();
        let named = |dir: &str, name: &str| (dir.to_owned(), Some(name.to_owned()));
        assert_eq!(found, [named("shop", "root"), named("shop/apps/web", "web"), named("shop/core", "core")]);
    }

    #[test]
    fn a_build_without_modules_is_one_project() {
        let path = RepoPath::new("build.sbt").unwrap();
        let tree = Tree::new([], BTreeMap::from([(path, b"name := \"a\"\n".to_vec())]));
        let found = Stryker4s.detect(&tree);
        assert_eq!((found.len(), found[0].dir.is_root(), found[0].memo.get(MODULE)), (1, true, None));
    }
}
