//! The commands of each stage.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.

use std::collections::BTreeMap;
use std::time::Duration;

use polymut_schemas::{RepoDir, RepoPath, StageName};
use semver::{Version, VersionReq};

use super::config::UserConfig;
use super::detect::Memo;
use super::{ID, INFO, PINNED, msbuild, report, run};
use crate::{
    CommandSpec, Find, Gather, Job, Key, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    StorePath, Units, WorkPath,
};

/// Exits after which the next step starts although this one did not do what it should.
const ANY: &[i32] = &[0, 1, 2];

/// The variable that names the active mutant in the mutated assembly.
const ACTIVE: &str = "POLYMUT_MUTANT";

/// The tool's words for "no mutant".
const NO_MUTANT: &str = "-1";

/// Plans a stage; there is no list stage, because the tool cannot list.
pub(super) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    let planner = Planner::new(job)?;
    if !matches!(stage, Stage::Probe) {
        planner.check_version()?;
    }
    let plan = match stage {
        Stage::Probe => planner.probe(),
        Stage::Prepare if job.round(StageName::Prepare) == 0 => planner.fetch(),
        Stage::Prepare => planner.build(),
        Stage::List => return Ok(None),
        Stage::Test(Units::Files(files)) => planner.test(files),
        Stage::Test(Units::Mutants(_)) => Err(PlanError::Missing {
            missing: "a list of files".to_owned(),
            remedy: "this is a fault of polymut: Stryker.NET is always asked for whole files".to_owned(),
        }),
        Stage::Confirm(suspects) => planner.switch(&run::chosen(job, suspects)),
        Stage::Replay(mutant) => planner.switch(&[Key(mutant.key.clone())]),
    };
    plan.map(Some)
}

struct Planner<'a> {
    job: &'a Job<'a>,
    user: UserConfig,
    source: RepoPath,
}

impl<'a> Planner<'a> {
    fn new(job: &'a Job<'a>) -> Result<Self, PlanError> {
        let memo = Memo(job.project);
        let (sources, folder) = (memo.sources(), &job.project.dir);
        let source = match sources.as_slice() {
            [one] => one.clone(),
            [] => return Err(missing("a project file", &format!("{folder} has no source .csproj"))),
            [first, second, ..] => {
                return Err(PlanError::UserConfig {
                    file: folder.to_string(),
                    why: format!("{} and {} share one folder", first.file_name(), second.file_name()),
                    remedy: "give each source project a folder of its own: nobody can tell whose a file is"
                        .to_owned(),
                });
            }
        };
        if memo.tests().is_empty() && memo.dependents().is_empty() {
            let remedy = "a test project names the code under test in a ProjectReference";
            return Err(missing(&format!("a test project that references {source}"), remedy));
        }
        Ok(Self { job, user: UserConfig::read(job)?, source })
    }

    fn check_version(&self) -> Result<(), PlanError> {
        let Some(found) = self.job.facts.one("tool.version") else {
            return Err(missing(ID, INFO.recipe.hint));
        };
        let least = VersionReq::parse(">=5.0.0").unwrap_or(VersionReq::STAR);
        if Version::parse(found).is_ok_and(|version| least.matches(&version)) {
            return Ok(());
        }
        Err(PlanError::Version {
            tool: ID,
            found: found.to_owned(),
            why: "versions before 5 take other options and break on a newer SDK".to_owned(),
            remedy: INFO.recipe.hint.to_owned(),
        })
    }

    /// The tool is asked in a way that it refuses: only then it says its version without starting to work.
    fn probe(&self) -> Result<Plan, PlanError> {
        let words = ["--break-at", "101", "--skip-version-check"].map(Piece::word).to_vec();
        let mut version = self.tool_step("version", words)?;
        let mut sdk = self.dotnet("sdk", Role::Work, &[text("--version")]);
        (version.go_on, sdk.go_on) = (ANY, ANY);
        Ok(plan_of(vec![sdk, version], Vec::new()))
    }

    /// Packages first: what MSBuild says of a project depends on them.
    fn fetch(&self) -> Result<Plan, PlanError> {
        let memo = Memo(self.job.project);
        let mut restored = memo.tests();
        if restored.is_empty() {
            restored = memo.dependents();
        }
        let mut steps: Vec<Step> = Vec::new();
        for (number, path) in restored.iter().enumerate() {
            let words = [text("restore"), project(path), text("-nologo"), text("-nodeReuse:false")];
            steps.push(self.dotnet(&format!("restore-{number}"), Role::Fetch, &words));
        }
        for (number, path) in msbuild::asked(self.job).iter().enumerate() {
            let answer = work(&format!("{}/{number}.json", msbuild::FOLDER))?;
            let mut words = vec![text("msbuild"), project(path), text("-nologo"), text("-nodeReuse:false")];
            words.extend([text(msbuild::ITEMS), text(msbuild::PROPERTIES)]);
            words.extend(self.user.build().map(|name| text(&format!("-property:Configuration={name}"))));
            words.push(vec![Piece::Text("-getResultOutputFile:".to_owned()), Piece::Work(answer)]);
            let mut step = self.dotnet(&format!("ask-{number}"), Role::Work, &words);
            // MSBuild does not make the folder.
            step.files.push(NewFile {
                at: Place::Work(work(&format!("{}/.made", msbuild::FOLDER))?),
                bytes: Vec::new(),
            });
            steps.push(step);
        }
        // Without a network everything may be there already, and a project that cannot be asked is judged later.
        for step in &mut steps {
            step.go_on = ANY;
        }
        Ok(plan_of(steps, vec![gather(msbuild::FOLDER, "*.json")?]))
    }

    fn build(&self) -> Result<Plan, PlanError> {
        let tests = self.tests()?;
        let mut steps = Vec::new();
        for (number, path) in tests.iter().enumerate() {
            let mut words = vec![text("build"), project(path), text("--no-restore"), text("-nologo")];
            words.extend([
                text("-nodeReuse:false"),
                text("--disable-build-servers"),
                text("-verbosity:quiet"),
            ]);
            words.extend(self.configuration());
            steps.push(self.dotnet(&format!("build-{number}"), Role::Build, &words));
        }
        for (number, path) in tests.iter().enumerate() {
            steps.push(self.suite(&format!("baseline-{number}"), Role::Baseline, path));
        }
        Ok(plan_of(steps, Vec::new()))
    }

    fn test(&self, files: &[RepoPath]) -> Result<Plan, PlanError> {
        let step = self.run("test", &self.user.testing(self.job, files))?;
        Ok(plan_of(vec![step], vec![gather("test/reports", "mutation-report.json")?]))
    }

    /// Puts every mutant into the assemblies that the tests load, then runs the tests with one of them active at a
    /// time, after a run with none. The tool leaves the mutated assembly in place when it has nothing to test.
    fn switch(&self, keys: &[Key]) -> Result<Plan, PlanError> {
        let tests = self.tests()?;
        let mut files: Vec<RepoPath> = self.job.changed.files.keys().cloned().collect();
        files.extend(keys.iter().filter_map(|key| report::file_of(&self.job.project.dir, key)));
        files.sort();
        files.dedup();
        let mut steps = vec![self.run("inject", &self.user.injecting(self.job, &files))?];
        let limit = self.job.limits.test();
        for (number, path) in tests.iter().enumerate() {
            steps.push(active(self.suite(&format!("control-{number}"), Role::Work, path), NO_MUTANT, limit));
        }
        for (at, key) in keys.iter().enumerate() {
            let Some(id) = report::id_of(key) else { continue };
            for (number, path) in tests.iter().enumerate() {
                let name = format!("mutant-{at}-{number}");
                let mut step = active(self.suite(&name, Role::Work, path), id, limit);
                step.about = Some(key.clone());
                steps.push(step);
            }
        }
        Ok(plan_of(steps, vec![gather("inject/reports", "mutation-report.json")?]))
    }

    fn tests(&self) -> Result<Vec<RepoPath>, PlanError> {
        let known = self.job.facts.all(msbuild::TESTS).iter().filter_map(|path| RepoPath::new(path).ok());
        let tests: Vec<RepoPath> = known.collect();
        if tests.is_empty() {
            return Err(missing(
                "MSBuild's answer about the test projects",
                "the prepare stage has to run first",
            ));
        }
        Ok(tests)
    }

    /// Whether the tests of `path` run on the Microsoft Testing Platform.
    fn on_platform(&self, path: &RepoPath) -> bool {
        match self.user.runner() {
            Some(runner) => runner.eq_ignore_ascii_case("mtp"),
            None => {
                self.job.facts.all(msbuild::PLATFORM).iter().any(|known| known == path.as_str())
                    || self.job.tree.nearest(&path.dir(), "global.json").is_some_and(|dir| {
                        let bytes = self.job.tree.bytes_in(&dir, "global.json").unwrap_or_default();
                        String::from_utf8_lossy(bytes).contains("\"Microsoft.Testing.Platform\"")
                    })
            }
        }
    }

    fn runner(&self, tests: &[RepoPath]) -> Result<&'static str, PlanError> {
        let on_platform = tests.iter().filter(|path| self.on_platform(path)).count();
        match on_platform {
            0 => Ok("vstest"),
            all if all == tests.len() => Ok("mtp"),
            _ => Err(PlanError::Setting {
                tool: ID,
                setting: "test-runner".to_owned(),
                why: "some test projects of this source need the Microsoft Testing Platform, others VSTest, and one run \
                      of the tool has one runner"
                    .to_owned(),
            }),
        }
    }

    /// One run of the tool with a configuration of ours; the output folder is called as the step is.
    fn run(&self, name: &str, config: &[u8]) -> Result<Step, PlanError> {
        let tests = self.tests()?;
        let file = work(&format!("{name}/stryker-config.json"))?;
        let mut words = vec![text("-f"), vec![Piece::Work(file.clone())], text("-p"), project(&self.source)];
        for path in &tests {
            words.extend([text("-tp"), project(path)]);
        }
        words.extend(["-r", "json", "-O"].map(text));
        words.push(vec![Piece::Work(work(name)?)]);
        words.extend(
            ["--skip-version-check", "--break-at", "0", "--break-on-initial-test-failure", "-t"].map(text),
        );
        words.extend([text(self.runner(&tests)?), text("-c"), vec![Piece::Cores]]);
        words.extend(self.job.settings.args.iter().map(|word| text(word)));
        let mut step = self.tool_step(name, words)?;
        step.command.cwd = self.start()?;
        step.files.push(NewFile { at: Place::Work(file), bytes: config.to_vec() });
        step.go_on = if name == "inject" { &[0, 2] } else { &[] };
        Ok(step)
    }

    /// A folder to start in that has no solution: with one there the tool works on the solution and ignores `-tp`.
    fn start(&self) -> Result<RepoDir, PlanError> {
        let tree = self.job.tree;
        let solution = |dir: &RepoDir| {
            let beside = tree.below(dir).filter(|path| path.dir() == *dir);
            beside.filter_map(|path| path.extension()).any(|end| ["sln", "slnx", "slnf"].contains(&end))
        };
        let own = std::iter::once(self.job.project.dir.clone());
        let tests = self.tests()?.into_iter().map(|path| path.dir());
        let others = tree.files().map(RepoPath::dir);
        let mut all = own.chain(tests).chain(others);
        all.find(|dir| !solution(dir)).ok_or_else(|| {
            missing(
                "a folder without a solution",
                "Stryker.NET has to be started outside of the solution's folder",
            )
        })
    }

    /// The tests of one project as they were built.
    fn suite(&self, name: &str, role: Role, path: &RepoPath) -> Step {
        let mut words: Vec<Vec<Piece>> = if self.on_platform(path) {
            vec![
                text("run"),
                text("--project"),
                project(path),
                text("--no-build"),
                text("--no-launch-profile"),
            ]
        } else {
            let words =
                [text("test"), project(path), text("--no-build"), text("--no-restore"), text("--nologo")];
            let filter = self.user.filter().map(|filter| vec![text("--filter"), text(filter)]);
            words.into_iter().chain(filter.into_iter().flatten()).collect()
        };
        words.extend(self.configuration());
        if self.on_platform(path) {
            let frameworks = self.job.facts.all(msbuild::FRAMEWORKS).iter();
            let own =
                frameworks.filter_map(|entry| entry.rsplit_once(' ')).find(|(at, _)| *at == path.as_str());
            words.extend(own.into_iter().flat_map(|(_, framework)| [text("--framework"), text(framework)]));
        }
        self.dotnet(name, role, &words)
    }

    fn configuration(&self) -> Vec<Vec<Piece>> {
        self.user.build().map(|name| vec![text("--configuration"), text(name)]).unwrap_or_default()
    }

    fn tool_step(&self, name: &str, words: Vec<Vec<Piece>>) -> Result<Step, PlanError> {
        let version = self.job.settings.version.as_deref().unwrap_or(PINNED);
        let stored = format!("{ID}/{version}/{}", INFO.recipe.provides);
        let stored = StorePath::new(stored).map_err(|error| PlanError::Setting {
            tool: ID,
            setting: "version".to_owned(),
            why: error.to_string(),
        })?;
        let mut program = vec![Find::Store(stored)];
        if self.job.settings.version.is_none() {
            program.push(Find::OnPath("dotnet-stryker"));
        }
        Ok(self.step(name, Role::Work, program, words))
    }

    fn dotnet(&self, name: &str, role: Role, words: &[Vec<Piece>]) -> Step {
        self.step(name, role, vec![Find::OnPath("dotnet")], words.to_vec())
    }

    fn step(&self, name: &str, role: Role, program: Vec<Find>, args: Vec<Vec<Piece>>) -> Step {
        let cwd = self.job.project.dir.clone();
        let command = CommandSpec { program, args, cwd, env: env(self.job) };
        Step {
            name: name.to_owned(),
            about: None,
            role,
            files: Vec::new(),
            command,
            go_on: &[0],
            limit: None,
        }
    }
}

/// The environment of every step: nothing stays running, nothing calls home, words are English.
fn env(job: &Job<'_>) -> BTreeMap<String, Vec<Piece>> {
    let own = [
        // Build servers would outlive the step and hold its files.
        ("MSBUILDDISABLENODEREUSE", "1"),
        ("DOTNET_CLI_USE_MSBUILD_SERVER", "0"),
        ("UseSharedCompilation", "false"),
        ("UseRazorBuildServer", "false"),
        ("MSBUILDTERMINALLOGGER", "off"),
        ("DOTNET_CLI_UI_LANGUAGE", "en"),
        ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
        ("DOTNET_SKIP_FIRST_TIME_EXPERIENCE", "1"),
        ("DOTNET_NOLOGO", "1"),
        ("DOTNET_GENERATE_ASPNET_CERTIFICATE", "false"),
        // The audit asks the network in steps that have none.
        ("NuGetAudit", "false"),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), text(value)));
    let user = job.settings.env.iter().map(|(name, value)| (name.clone(), text(value)));
    own.chain(user).collect()
}

/// A run of the tests with one mutant active, or none.
fn active(mut step: Step, id: &str, limit: Option<Duration>) -> Step {
    step.command.env.insert("STRYKER_MUTANT_ID_CONTROL_VAR".to_owned(), text(ACTIVE));
    step.command.env.insert(ACTIVE.to_owned(), text(id));
    step.limit = limit;
    step
}

fn plan_of(steps: Vec<Step>, gather: Vec<Gather>) -> Plan {
    Plan { steps, gather, fit: ScopeFit::File }
}

fn gather(under: &str, glob: &str) -> Result<Gather, PlanError> {
    Ok(Gather::Files { under: Place::Work(work(under)?), glob: glob.to_owned(), fresh: true })
}

fn text(word: &str) -> Vec<Piece> {
    Piece::word(word)
}

fn project(path: &RepoPath) -> Vec<Piece> {
    Piece::sandbox(path)
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path).map_err(|error| missing(&error.to_string(), "this is a fault of polymut"))
}

fn missing(what: &str, remedy: &str) -> PlanError {
    PlanError::Missing { missing: what.to_owned(), remedy: remedy.to_owned() }
}
