//! The project's own command: a build that polymut does not drive (Bazel, Nx, sbt, a plugin already set up) runs a
//! mutation tool, and its reports are read with that tool's reader.
//!
//! In: a command, report patterns, a format from `polymut.toml`. Out: plans, raw mutants. I/O: none.
//!
//! # What is proved, and what is not
//! - Only reports that this run wrote count. A command that fails makes them partial: a part of a build may be missing.
//! - A changed file counts as seen when a report names it. Lines are filtered as for every tool.
//! - The suite is known to be green only where `test-command` is given; without it kills are inconclusive.
//! - The command names no total beforehand, and its mutants cannot be switched on one by one: survivors are replayed
//!   by their diff and `test-command`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use polymut_schemas::{Quote, RepoDir, RepoPath};

use crate::adapter::OwnCommand;
use crate::tools::REGISTRY;
use crate::{
    Adapter, Baseline, CommandSpec, End, Find, Finish, Gather, Job, Note, ParseError, Parsed, Piece, Place,
    Plan, PlanError, Project, Promised, Ran, RawMutant, RawPath, Recipe, Role, ScopeFit, Spread, Stage, Step,
    StepEnd, ToolInfo, Tree, TreeUse, Units,
};

const REPORTS: &str = "reports";
const COMMAND: &str = "command";
const BASELINE: &str = "test-command";

/// Endings of source files, for formats that no single language has.
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cs", "dart", "go", "java", "js", "jsx", "kt", "mjs", "php", "py", "rb", "rs", "scala",
    "swift", "ts", "tsx", "vue",
];

/// A reader of reports, driven by a command of the project.
struct Own {
    reader: &'static dyn Adapter,
    info: &'static ToolInfo,
}

static READERS: LazyLock<Vec<Own>> =
    LazyLock::new(|| REGISTRY.iter().map(|reader| Own::of(*reader)).collect());

/// The project in `dir` that runs `own`, with its adapter; `None`: no reader has that format.
pub fn project(dir: RepoDir, own: &OwnCommand) -> Option<(&'static dyn Adapter, Project)> {
    let found = READERS.iter().find(|reader| reader.info.id == own.format)?;
    let memo = BTreeMap::from([
        (Project::CONFIGURED.to_owned(), vec!["polymut.toml".to_owned()]),
        (Project::OWN.to_owned(), own.command.clone()),
        (REPORTS.to_owned(), own.reports.clone()),
    ]);
    Some((found, Project { tool: found.info.tool_id(), owns: vec![dir.clone()], dir, memo }))
}

/// The names that `format` may have.
pub fn formats() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|reader| reader.info.id)
}

impl Own {
    fn of(reader: &'static dyn Adapter) -> Self {
        let known = reader.info();
        let info = ToolInfo {
            id: known.id,
            languages: known.languages,
            extensions: if known.extensions.is_empty() { SOURCES } else { known.extensions },
            reads: &[],
            dependency_dirs: known.dependency_dirs,
            supported: known.supported,
            tree: TreeUse::Writes,
            spread: Spread::Own,
            cost: known.cost,
            recipe: Recipe {
                version: "",
                provides: "",
                steps: &[],
                hint: "the command of polymut.toml brings its own tool",
            },
            scrub: &[],
        };
        // Made once per program, for as long as it runs.
        Self { reader, info: Box::leak(Box::new(info)) }
    }
}

impl Adapter for Own {
    fn info(&self) -> &'static ToolInfo {
        self.info
    }

    fn detect(&self, _tree: &Tree) -> Vec<Project> {
        Vec::new()
    }

    fn plan(&self, job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
        match stage {
            Stage::Prepare => Ok(job.settings.test_command.as_deref().map(|words| baseline(job, words))),
            Stage::Test(_) => test(job).map(Some),
            Stage::Probe | Stage::List | Stage::Confirm(_) | Stage::Replay(_) => Ok(None),
        }
    }

    fn parse(&self, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Result<Parsed, ParseError> {
        match stage {
            Stage::Prepare => Ok(measured(ran)),
            Stage::Test(units) => self.read(job, units, ran),
            Stage::Probe | Stage::List | Stage::Confirm(_) | Stage::Replay(_) => Ok(Parsed::default()),
        }
    }

    /// The reader's own rules may need what its detection remembers; here only common names tell.
    fn is_test(&self, _project: &Project, path: &RepoPath) -> bool {
        is_named_as_test(path)
    }
}

fn baseline(job: &Job<'_>, words: &[String]) -> Plan {
    Plan {
        steps: vec![step(job, BASELINE, Role::Baseline, words)],
        gather: Vec::new(),
        fit: ScopeFit::Project,
    }
}

fn test(job: &Job<'_>) -> Result<Plan, PlanError> {
    let list = |name: &str| job.project.memo.get(name).map(Vec::as_slice).unwrap_or_default();
    let (words, globs) = (list(Project::OWN), list(REPORTS));
    if words.is_empty() || globs.is_empty() {
        return Err(PlanError::Missing {
            missing: "a command with its reports".to_owned(),
            remedy: "give `command`, `reports` and `format` of the project in polymut.toml".to_owned(),
        });
    }
    let gather = globs.iter().map(|glob| Gather::Files {
        under: Place::Sandbox(job.project.dir.clone()),
        glob: glob.trim_start_matches("./").to_owned(),
        fresh: true,
    });
    let steps = vec![step(job, COMMAND, Role::Work, words)];
    Ok(Plan { steps, gather: gather.collect(), fit: ScopeFit::Project })
}

fn step(job: &Job<'_>, name: &str, role: Role, words: &[String]) -> Step {
    let (program, args) =
        words.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let command = CommandSpec {
        program: vec![Find::Named(program.to_owned())],
        args: args
            .iter()
            .chain(if name == COMMAND { &job.settings.args[..] } else { &[] })
            .map(Piece::word)
            .collect(),
        cwd: job.project.dir.clone(),
        env: job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value))).collect(),
    };
    Step { name: name.to_owned(), about: None, role, files: Vec::new(), command, go_on: &[0], limit: None }
}

/// The project's own tests without a mutant.
fn measured(ran: &Ran) -> Parsed {
    let mut parsed =
        Parsed { promised: Promised::Unknown("nothing is mutated in this stage"), ..Parsed::default() };
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name == BASELINE).collect();
    let Some(last) = runs.last() else {
        parsed.finish = nothing("the tests were not run", BASELINE);
        return parsed;
    };
    match runs.iter().find(|step| step.end != End::Exit(0)) {
        Some(red) => {
            let red_or_not = matches!(red.end, End::Exit(_) | End::Signal(_) | End::Limit | End::OutOfMemory);
            parsed.finish =
                if red_or_not { Finish::RedBaseline(quote(red)) } else { Finish::Nothing(quote(red)) };
            parsed.baseline = red_or_not.then_some(Baseline { green: false, seconds: None });
        }
        None => {
            parsed.baseline = Some(Baseline { green: true, seconds: Some(last.wall.as_secs_f64()) });
        }
    }
    parsed
}

impl Own {
    fn read(&self, job: &Job<'_>, units: &Units, ran: &Ran) -> Result<Parsed, ParseError> {
        let Some(step) = ran.step(COMMAND) else {
            return Ok(Parsed { finish: nothing("the command was not run", COMMAND), ..Parsed::default() });
        };
        if ran.files.is_empty() {
            let globs = job.project.memo.get(REPORTS).map(|globs| globs.join(", ")).unwrap_or_default();
            let said = quote(step);
            let text = format!("no fresh report matches {globs}: {}", said.text);
            return Ok(Parsed { finish: Finish::Nothing(Quote { text, at: said.at }), ..Parsed::default() });
        }
        let named: Vec<(String, Vec<u8>)> =
            ran.files.iter().map(|(place, bytes)| (place.as_str().to_owned(), bytes.clone())).collect();
        let mut parsed = self.reader.import(&named)?;
        for mutant in &mut parsed.mutants {
            mutant.path = placed(job, &mutant.path);
            // Nothing can settle it: the answer stands as it was written.
            mutant.doubt = None;
        }
        number(&mut parsed.mutants);
        let seen: BTreeSet<RawPath> = std::mem::take(&mut parsed.seen)
            .iter()
            .map(|path| placed(job, path))
            .chain(parsed.mutants.iter().map(|mutant| mutant.path.clone()))
            .collect();
        parsed.seen = seen.into_iter().collect();
        parsed.promised = Promised::Unknown("the project's own command names no total beforehand");
        parsed.more = false;
        if parsed.finish == Finish::Complete && step.end != End::Exit(0) {
            parsed.finish = Finish::Partial(quote(step));
        }
        if job.settings.test_command.is_none() {
            let text = "no `test-command` is given: whether the suite is green without a mutant is not known";
            parsed.notes.push(Note(text.to_owned()));
        }
        if let (Units::Files(wanted), Finish::Complete, true) =
            (units, &parsed.finish, parsed.seen.is_empty())
        {
            let text = format!("the reports name none of {} changed files", wanted.len());
            parsed.finish = nothing(&text, COMMAND);
        }
        Ok(parsed)
    }
}

/// A class by its package and file name may lie in any folder of the project that has them.
fn placed(job: &Job<'_>, path: &RawPath) -> RawPath {
    let RawPath::Declared { roots, package, file } = path else { return path.clone() };
    if !roots.is_empty() {
        return path.clone();
    }
    let inner = match package.as_str() {
        "" => file.clone(),
        package => format!("{}/{file}", package.replace('.', "/")),
    };
    let ending = format!("/{inner}");
    let whole = job.tree.below(&job.project.dir).filter_map(|path| path.as_str().strip_suffix(&ending));
    // Kotlin's folders may be shorter than its packages: then the file's own words decide, below the project.
    let mut found: BTreeSet<RepoDir> = whole.filter_map(|root| RepoDir::new(root).ok()).collect();
    if found.is_empty() {
        found.insert(job.project.dir.clone());
    }
    RawPath::Declared { roots: found.into_iter().collect(), package: package.clone(), file: file.clone() }
}

/// Reports of several modules may name their mutants alike.
fn number(mutants: &mut [RawMutant]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for mutant in mutants {
        let times = seen.entry(mutant.key.0.clone()).or_default();
        *times += 1;
        if *times > 1 {
            mutant.key.0 = format!("{} ({times})", mutant.key.0);
        }
    }
}

/// Whether a file is named as tests are in the languages that polymut knows.
fn is_named_as_test(path: &RepoPath) -> bool {
    let parts: Vec<&str> = path.as_str().split('/').collect();
    let (name, folders) = parts.split_last().map_or(("", &[][..]), |(name, folders)| (*name, folders));
    let stem = name.split('.').next().unwrap_or_default();
    let folder = folders.iter().any(|part| ["test", "tests", "__tests__", "spec", "specs"].contains(part));
    let ends = ["Test", "Tests", "Spec", "IT", "_test", "_spec"]
        .iter()
        .any(|end| stem.ends_with(end) && stem != *end);
    folder || ends || stem.starts_with("test_") || name.contains(".test.") || name.contains(".spec.")
}

fn quote(step: &StepEnd) -> Quote {
    let (stdout, stderr) = (step.stdout.text(), step.stderr.text());
    let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
    let words: String =
        last(&stderr).or_else(|| last(&stdout)).unwrap_or_default().chars().take(300).collect();
    let text = if words.is_empty() { step.end.to_string() } else { format!("{}: {words}", step.end) };
    Quote { text, at: format!("output of {}", step.name) }
}

fn nothing(text: &str, at: &str) -> Finish {
    Finish::Nothing(Quote { text: text.to_owned(), at: at.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use polymut_schemas::Status;

    use super::*;
    use crate::{Changed, Facts, Limits, Output, ProjectSettings};

    const REPORT: &str = r#"{"schemaVersion":"2","files":{"src/a.js":{"language":"js","source":"a < b","mutants":[
        {"id":"0","mutatorName":"M","replacement":"<=","status":"Survived","testsCompleted":0,
        "location":{"start":{"line":1,"column":3},"end":{"line":1,"column":4}}}]}}}"#;

    fn made(format: &str) -> (&'static dyn Adapter, Project) {
        let own = OwnCommand {
            command: vec!["./mutate.sh".to_owned(), "--fast".to_owned()],
            reports: vec!["./out/**/*.json".to_owned()],
            format: format.to_owned(),
        };
        project(RepoDir::new("web").unwrap(), &own).unwrap()
    }

    /// Plans and parses one stage of a job in `web`, whose file `src/a.js` has changed.
    fn played(settings: &ProjectSettings, end: End, report: Option<&str>) -> (Plan, Parsed) {
        let (adapter, project) = made("elements");
        let limits = Limits { factor: 5.0, floor: Duration::from_secs(5), baseline: None };
        let job = Job {
            project: &project,
            tree: &Tree::default(),
            settings,
            changed: &Changed::default(),
            facts: &Facts::default(),
            limits: &limits,
            past: &[],
        };
        let units = Units::Files(vec![RepoPath::new("web/src/a.js").unwrap()]);
        let plan = adapter.plan(&job, Stage::Test(&units)).unwrap().unwrap();
        let steps = vec![StepEnd {
            name: COMMAND.to_owned(),
            about: None,
            end,
            wall: Duration::from_secs(1),
            stdout: Output { bytes: b"all fine\n".to_vec(), lost: 0 },
            stderr: Output::default(),
        }];
        let at = Place::Sandbox(RepoDir::new("web/out/r.json").unwrap());
        let files = report.into_iter().map(|text| (at.clone(), text.as_bytes().to_vec())).collect();
        (plan, adapter.parse(&job, Stage::Test(&units), &Ran { steps, files }).unwrap())
    }

    #[test]
    fn the_command_runs_in_its_folder_and_only_fresh_reports_are_gathered() {
        let settings = ProjectSettings { args: vec!["--all".to_owned()], ..ProjectSettings::default() };
        let (plan, parsed) = played(&settings, End::Exit(0), Some(REPORT));
        let command = &plan.steps[0].command;
        assert_eq!(command.program, [Find::Named("./mutate.sh".to_owned())]);
        assert_eq!(command.args, [Piece::word("--fast"), Piece::word("--all")]);
        assert_eq!(command.cwd, RepoDir::new("web").unwrap());
        let under = Place::Sandbox(RepoDir::new("web").unwrap());
        assert_eq!(plan.gather, [Gather::Files { under, glob: "out/**/*.json".to_owned(), fresh: true }]);
        assert_eq!((parsed.finish, parsed.mutants.len()), (Finish::Complete, 1));
        assert_eq!(parsed.mutants[0].status, Some(Status::Survived));
        assert_eq!(parsed.seen, [RawPath::FromProject("src/a.js".to_owned())]);
        assert!(parsed.notes.iter().any(|note| note.0.contains("test-command")));
    }

    #[test]
    fn no_fresh_report_is_nothing_and_a_failed_command_is_never_complete() {
        let settings = ProjectSettings::default();
        let (_, parsed) = played(&settings, End::Exit(0), None);
        assert!(matches!(&parsed.finish, Finish::Nothing(quote) if quote.text.contains("out/**/*.json")));
        for end in [End::Exit(1), End::Limit, End::Stopped, End::Signal(9)] {
            let (_, parsed) = played(&settings, end, Some(REPORT));
            assert!(matches!(parsed.finish, Finish::Partial(_)), "{end:?}: {:?}", parsed.finish);
            assert_eq!(parsed.mutants.len(), 1);
        }
    }

    #[test]
    fn files_named_as_tests_are_tests_in_every_language() {
        let test = |text: &str| is_named_as_test(&RepoPath::new(text).unwrap());
        for path in [
            "a/FooTest.java",
            "a/x_test.go",
            "test_a.py",
            "src/a.spec.ts",
            "src/test/scala/A.scala",
            "T/ATests.cs",
        ] {
            assert!(test(path), "{path}");
        }
        for path in ["a/Contest.java", "src/latest.ts", "a/Test.java", "src/main/scala/A.scala"] {
            assert!(!test(path), "{path}");
        }
    }

    #[test]
    fn every_tool_is_a_format() {
        let known: Vec<&str> = formats().collect();
        assert!(known.contains(&"elements") && known.contains(&"cargo-mutants"));
        assert!(made("cargo-mutants").0.info().extensions.contains(&"rs"));
    }
}
