//! The commands of each stage.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.

use std::collections::BTreeSet;
use std::time::Duration;

use polymut_schemas::{Mutant, RepoDir, StageName};
use semver::{Version, VersionReq};

use super::config::{Options, Suite, Verb, package_words};
use super::detect::{Package, owner, packages};
use super::key::{name_of, patterns, split};
use super::{ID, INFO, PINNED, prepare};
use crate::{
    CommandSpec, Doubt, Find, Gather, Job, Key, NewFile, Piece, Place, Plan, PlanError, Role, ScopeFit,
    Stage, Step, StorePath, Suspect, Units, WorkPath,
};

/// Names in one generated configuration: the tool compiles them into an automaton that may hold 10 MiB.
const NAMES_PER_RUN: usize = 800;

/// Source bytes in one list command. Each mutant is listed with a diff of its surroundings, which can make the output
/// three hundred times as long as the source.
const BYTES_PER_LIST: usize = 100_000;

/// Exits after which the next run of the tool may start all the same.
const ANY: &[i32] = &[0, 1, 2, 3, 4, 5, 6, 70, 101];

/// Plans a stage.
pub(super) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Plan, PlanError> {
    let options = Options::read(job)?;
    let planner = Planner { job, options, packages: packages(job.project) };
    if !matches!(stage, Stage::Probe) {
        planner.check_version()?;
    }
    match stage {
        Stage::Probe => planner.probe(),
        Stage::Prepare => Ok(planner.prepare()),
        Stage::List => planner.list(),
        Stage::Test(Units::Mutants(keys)) => planner.test(keys),
        Stage::Test(Units::Files(_)) => Err(PlanError::Missing {
            missing: "a list of mutants".to_owned(),
            remedy: "this is a fault of polymut: cargo-mutants is always asked for exact mutants".to_owned(),
        }),
        Stage::Confirm(suspects) => planner.confirm(suspects),
        Stage::Replay(mutant) => planner.replay(mutant),
    }
}

struct Planner<'a> {
    job: &'a Job<'a>,
    options: Options,
    packages: Vec<Package>,
}

impl Planner<'_> {
    fn check_version(&self) -> Result<(), PlanError> {
        let Some(found) = self.job.facts.one("tool.version") else {
            return Err(PlanError::Missing { missing: ID.to_owned(), remedy: INFO.recipe.hint.to_owned() });
        };
        let least = VersionReq::parse(">=26.1.0").unwrap_or(VersionReq::STAR);
        if Version::parse(found).is_ok_and(|version| least.matches(&version)) {
            return Ok(());
        }
        Err(PlanError::Version {
            tool: ID,
            found: found.to_owned(),
            why: "versions before 26.1.0 read diffs and filters differently".to_owned(),
            remedy: INFO.recipe.hint.to_owned(),
        })
    }

    fn probe(&self) -> Result<Plan, PlanError> {
        let mut steps = vec![
            self.tool_step("version", vec![Piece::word("--version")], ANY)?,
            self.cargo_step("cargo", Role::Work, vec!["--version".to_owned()]),
        ];
        if self.options.uses_nextest() {
            let words = ["nextest", "--version"].map(str::to_owned).to_vec();
            steps.push(self.cargo_step("nextest", Role::Work, words));
        }
        for step in &mut steps {
            step.go_on = ANY;
        }
        Ok(Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant })
    }

    fn prepare(&self) -> Plan {
        let mut fetch = self.cargo_step("fetch", Role::Fetch, vec!["fetch".to_owned()]);
        // Without network everything may be there already; the build says whether it is.
        fetch.go_on = &[0, 101];
        let mut steps = vec![fetch];
        steps.extend(self.baseline(&self.changed_packages()));
        Plan { steps, gather: Vec::new(), fit: ScopeFit::Mutant }
    }

    /// Builds and runs, unchanged, each set of packages whose tests will judge.
    fn baseline(&self, mutated: &[&Package]) -> Vec<Step> {
        let sets: Vec<(String, Vec<String>)> = match self.options.suite() {
            Suite::Workspace => vec![("workspace".to_owned(), vec!["--workspace".to_owned()])],
            Suite::Named(names) => {
                let chosen = self.packages.iter().filter(|package| names.contains(&package.name));
                vec![("test-packages".to_owned(), package_words(chosen))]
            }
            Suite::Mutated => {
                mutated.iter().map(|package| (package.name.clone(), package_words([*package]))).collect()
            }
        };
        let step = |verb, role, name: &str, set: &[String]| {
            self.cargo_step(name, role, self.options.cargo(verb, set))
        };
        let builds =
            sets.iter().map(|(name, set)| step(Verb::Build, Role::Build, &format!("build-{name}"), set));
        let tests = sets.iter().map(|(name, set)| {
            step(Verb::Test, Role::Baseline, &format!("{}{name}", prepare::BASELINE), set)
        });
        builds.chain(tests).collect()
    }

    fn changed_packages(&self) -> Vec<&Package> {
        let owners: BTreeSet<String> = self
            .job
            .changed
            .files
            .keys()
            .filter_map(|path| owner(&self.packages, path))
            .map(|package| package.dir.as_str().to_owned())
            .collect();
        self.packages.iter().filter(|package| owners.contains(package.dir.as_str())).collect()
    }

    fn list(&self) -> Result<Plan, PlanError> {
        if self.job.round(StageName::List) > 0 {
            // The list named packages that own no changed file (a module shared through `#[path]`): their suites
            // judge as well, so they have to be green as well.
            let extra = self.job.facts.all("packages.extra");
            let extra: Vec<&Package> =
                self.packages.iter().filter(|package| extra.contains(&package.name)).collect();
            return Ok(Plan { steps: self.baseline(&extra), gather: Vec::new(), fit: ScopeFit::Mutant });
        }
        let mut steps = Vec::new();
        let chunks = self.glob_chunks();
        for (at, globs) in chunks.iter().enumerate() {
            steps.push(self.list_step(
                "list",
                at,
                "--list",
                &self.options.exact(globs.clone(), Vec::new()),
            )?);
        }
        let config = self.options.exact(chunks.concat(), Vec::new());
        steps.push(self.list_step("files", 0, "--list-files", &config)?);
        if self.options.has_filters() {
            steps.push(self.list_step("chosen", 0, "--list", &self.options.users())?);
        }
        Ok(Plan { steps, gather: Vec::new(), fit: ScopeFit::File })
    }

    /// Globs of the changed files, in parts whose lists stay short enough for a captured output.
    fn glob_chunks(&self) -> Vec<Vec<String>> {
        let mut chunks: Vec<Vec<String>> = Vec::new();
        let mut room = 0;
        for (path, file) in &self.job.changed.files {
            let Some(relative) = self.job.project.dir.relative(path) else { continue };
            if chunks.is_empty() || room < file.bytes.len() {
                chunks.push(Vec::new());
                room = BYTES_PER_LIST;
            }
            room = room.saturating_sub(file.bytes.len());
            if let Some(chunk) = chunks.last_mut() {
                chunk.push(globset::escape(relative));
                // The tool does not resolve `#[path = "../x.rs"]`: such a file has `..` in its name.
                chunk.push(format!("**/../**/{}", globset::escape(path.file_name())));
            }
        }
        chunks
    }

    fn list_step(&self, name: &str, at: usize, what: &str, config: &[u8]) -> Result<Step, PlanError> {
        let file = format!("{name}-{at}.toml");
        let mut args = self.common(&file)?;
        args.extend([Piece::word(what), Piece::word("--json")]);
        let mut step = self.tool_step(&format!("{name}-{at}"), args, &[0])?;
        step.files.push(NewFile { at: Place::Work(work(&file)?), bytes: config.to_vec() });
        Ok(step)
    }

    fn test(&self, keys: &[Key]) -> Result<Plan, PlanError> {
        let names: Vec<&str> = keys.iter().map(name_of).collect();
        let mut plan = Plan { steps: Vec::new(), gather: Vec::new(), fit: ScopeFit::Mutant };
        for (at, names) in names.chunks(NAMES_PER_RUN).enumerate() {
            self.add_run(&mut plan, &format!("test-{at}"), names)?;
        }
        Ok(plan)
    }

    fn confirm(&self, suspects: &[Suspect]) -> Result<Plan, PlanError> {
        let mut plan = Plan { steps: Vec::new(), gather: Vec::new(), fit: ScopeFit::Mutant };
        let capped = Self { job: self.job, options: self.options.capped(), packages: Vec::new() };
        for (at, suspect) in suspects.iter().enumerate() {
            // A build that only a denied lint broke is tried again without the denial.
            let planner = if suspect.why == Doubt::MaybeBuildError { &capped } else { self };
            planner.add_run(&mut plan, &format!("confirm-{at}"), &[name_of(&suspect.key)])?;
            if let Some(step) = plan.steps.last_mut() {
                step.about = Some(suspect.key.clone());
            }
        }
        Ok(plan)
    }

    /// One run of the tool over exactly `names`, with its own configuration and output folder.
    fn add_run(&self, plan: &mut Plan, name: &str, names: &[&str]) -> Result<(), PlanError> {
        let config = format!("{name}.toml");
        let mut args = self.common(&config)?;
        let text = |words: &[&str]| words.iter().map(|word| Piece::word(*word)).collect::<Vec<_>>();
        args.extend(text(&["--in-place", "--baseline=skip", "--timeout"]));
        args.push(Piece::word(seconds(self.test_limit()?)));
        args.extend(text(&["--build-timeout"]));
        args.push(Piece::word(seconds(prepare::build_limit(self.job.facts))));
        args.extend(text(&["--output"]));
        args.push(vec![Piece::Work(work(name)?)]);
        args.extend(text(&[
            "--annotations=none",
            "--no-times",
            "--caught",
            "--unviable",
            // A job server of the tool gives its tokens on top of the one that each cargo has: one core would be two.
            "--jobserver=false",
        ]));
        let files: BTreeSet<&str> =
            names.iter().filter_map(|name| split(name)).map(|(file, ..)| file).collect();
        let globs = files.into_iter().map(globset::escape).collect();
        let bytes = self.options.exact(globs, patterns(names.iter().copied()));
        let mut step = self.tool_step(name, args, ANY)?;
        step.files.push(NewFile { at: Place::Work(work(&config)?), bytes });
        plan.steps.push(step);
        for glob in ["mutants.out/*.json", "mutants.out/*.txt", "mutants.out/log/*.log"] {
            plan.gather.push(Gather::Files {
                under: Place::Work(work(name)?),
                glob: glob.to_owned(),
                fresh: true,
            });
        }
        Ok(())
    }

    /// The mutated file is written into the sandbox, the tests are built, and the last step runs them.
    fn replay(&self, mutant: &Mutant) -> Result<Plan, PlanError> {
        let (path, bytes) = prepare::mutated(self.job, mutant).ok_or_else(|| PlanError::Missing {
            missing: "the mutant's place in the source".to_owned(),
            remedy: "run polymut again: the source has changed since".to_owned(),
        })?;
        let package = mutant.key.split_once('#').map_or("", |(package, _)| package);
        let set = match self.options.suite() {
            Suite::Workspace => vec!["--workspace".to_owned()],
            Suite::Named(names) => {
                package_words(self.packages.iter().filter(|package| names.contains(&package.name)))
            }
            Suite::Mutated => package_words(self.packages.iter().filter(|known| known.name == package)),
        };
        let key = Key(mutant.key.clone());
        let mut build = self.cargo_step("build", Role::Build, self.options.cargo(Verb::Build, &set));
        build.files.push(NewFile { at: Place::Sandbox(RepoDir::from(&path)), bytes });
        build.limit = Some(prepare::build_limit(self.job.facts));
        build.about = Some(key.clone());
        let mut test = self.cargo_step("test", Role::Work, self.options.cargo(Verb::Test, &set));
        test.limit = Some(self.test_limit()?);
        test.about = Some(key);
        Ok(Plan { steps: vec![build, test], gather: Vec::new(), fit: ScopeFit::Mutant })
    }

    fn test_limit(&self) -> Result<Duration, PlanError> {
        let measured = self.job.limits.test();
        let extra = self.job.facts.one("baseline.extra").and_then(|seconds| seconds.parse::<f64>().ok());
        let extra = extra
            .map(|seconds| Duration::from_secs_f64(seconds * self.job.limits.factor) + self.job.limits.floor);
        measured.max(extra).ok_or_else(|| PlanError::Missing {
            missing: "a measured baseline".to_owned(),
            remedy: "the tests must pass without a mutant before mutants are tested".to_owned(),
        })
    }

    /// Words that every run of the tool gets.
    fn common(&self, config: &str) -> Result<Vec<Vec<Piece>>, PlanError> {
        Ok(vec![
            Piece::word("--dir"),
            vec![Piece::Sandbox(self.job.project.dir.clone())],
            Piece::word("--workspace"),
            Piece::word("--config"),
            vec![Piece::Work(work(config)?)],
            Piece::word("--colors=never"),
        ])
    }

    fn tool_step(&self, name: &str, args: Vec<Vec<Piece>>, go_on: &'static [i32]) -> Result<Step, PlanError> {
        let version = self.job.settings.version.as_deref().unwrap_or(PINNED);
        let stored = store(&format!("{ID}/{version}/{}", INFO.recipe.provides))?;
        let mut program = vec![Find::Store(stored)];
        if self.job.settings.version.is_none() {
            program.push(Find::OnPath(ID));
        }
        // The tool is a cargo subcommand and wants its own name first.
        let words = std::iter::once(Piece::word("mutants")).chain(args).collect();
        Ok(step(name, Role::Work, CommandSpec { program, args: words, ..self.command() }, go_on))
    }

    fn cargo_step(&self, name: &str, role: Role, words: Vec<String>) -> Step {
        let args = words.into_iter().map(Piece::word).collect();
        let command = CommandSpec { program: vec![Find::OnPath("cargo")], args, ..self.command() };
        step(name, role, command, &[0])
    }

    fn command(&self) -> CommandSpec {
        let cwd = self.job.project.dir.clone();
        CommandSpec { program: Vec::new(), args: Vec::new(), cwd, env: self.options.env(self.job) }
    }
}

fn step(name: &str, role: Role, mut command: CommandSpec, go_on: &'static [i32]) -> Step {
    if role != Role::Fetch {
        // Nothing after the fetch may depend on whether there is a network.
        command.env.entry("CARGO_NET_OFFLINE".to_owned()).or_insert_with(|| Piece::word("true"));
    }
    Step { name: name.to_owned(), about: None, role, files: Vec::new(), command, go_on, limit: None }
}

/// Whole seconds, rounded up.
fn seconds(limit: Duration) -> String {
    format!("{}", limit.as_secs() + u64::from(limit.subsec_nanos() > 0))
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path)
        .map_err(|error| PlanError::Missing { missing: error.to_string(), remedy: String::new() })
}

fn store(path: &str) -> Result<StorePath, PlanError> {
    StorePath::new(path).map_err(|error| PlanError::Setting {
        tool: ID,
        setting: "version".to_owned(),
        why: error.to_string(),
    })
}
