//! The commands of each stage for a Maven project.
//!
//! In: a job and a stage. Out: [`Plan`]. I/O: none.
//!
//! Nothing in a POM is changed. Lists given with `-D` win over the POM, scalars in the POM win over `-D` (seen with
//! Maven 3.8): so the report is found by its freshness, not by its place, and nothing here relies on a scalar.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::RepoDir;

use super::classes::{Compiled, Selection};
use super::detect::Memo;
use super::parse::Target;
use super::version;
use crate::{
    CommandSpec, Find, Gather, Job, OperatorSet, Piece, Place, Plan, PlanError, Role, ScopeFit, Stage, Step,
    Units,
};

/// Step names, used by `parse`.
pub(crate) const VERSION: &str = "version";
pub(crate) const RESOLVE: &str = "resolve";
pub(crate) const BASELINE: &str = "baseline";
pub(crate) const PIT: &str = "pit";
pub(crate) const PIT_JUNIT5: &str = "pit-junit5";

/// Every build starts with these. No compiler daemon: since Kotlin 2.2 (seen with 2.2.21) the Maven plugin hands sources to
/// one that may have been started elsewhere, which reads other files than those of the sandbox and outlives the build.
/// What is compiled stays so: without the second property each later command compiles all Kotlin again, though nothing
/// has changed since the clean build of Prepare.
const BATCH: &[&str] = &["-B", "-Dkotlin.compiler.daemon=false", "-Dkotlin.compiler.incremental=true"];

/// Facts of Prepare.
pub(crate) mod fact {
    /// Modules that need the JUnit 5 plugin on their class path.
    pub(crate) const JUNIT5: &str = "pit.junit5";
    /// Modules whose effective options PIT printed.
    pub(crate) const READ: &str = "pit.options";
    /// Modules whose configuration excludes methods.
    pub(crate) const EXCLUDES_METHODS: &str = "pit.excludes-methods";
    /// Prefix: excluded classes of a module.
    pub(crate) const EXCLUDED_CLASSES: &str = "pit.excluded-classes.";
}

/// The steps of a stage.
pub(crate) fn plan(job: &Job<'_>, stage: Stage<'_>) -> Result<Option<Plan>, PlanError> {
    match stage {
        Stage::Probe => Ok(Some(probe(job))),
        Stage::Prepare => prepare(job).map(Some),
        Stage::List | Stage::Replay(_) => Ok(None),
        Stage::Test(units) => test(job, units).map(Some),
        Stage::Confirm(suspects) => {
            let targets: Vec<Target> = suspects.iter().filter_map(|s| Target::of(&s.key)).collect();
            confirm(job, &targets).map(Some)
        }
    }
}

fn probe(job: &Job<'_>) -> Plan {
    // A wrapper that has not run yet fetches its Maven first.
    let wrapped = job.tree.nearest(&job.project.dir, "mvnw").is_some();
    let role = if wrapped { Role::Fetch } else { Role::Work };
    let step = step(job, VERSION, role, vec![Piece::word("-B"), Piece::word("--version")]);
    Plan { steps: vec![step], gather: Vec::new(), fit: ScopeFit::Project }
}

/// Resolves everything that later stages need without network, builds from nothing, and measures the suite.
///
/// `-Dtest=*#none` makes Surefire resolve the provider of the project's test framework and run no test; PIT with a
/// class that does not exist resolves itself and prints the options of each module.
fn prepare(job: &Job<'_>) -> Result<Plan, PlanError> {
    let version = version::wanted(job)?;
    let modules = changed_modules(job);
    let mut words = text(BATCH);
    words.extend(select(job, &modules, Siblings::Build));
    words.extend(text(&[
        "clean",
        "test",
        "-Dtest=*#polymutNone",
        "-DfailIfNoTests=false",
        "-Dsurefire.failIfNoSpecifiedTests=false",
        "-Dmaven.test.failure.ignore=true",
        "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
    ]));
    let plugin = version::junit5_plugin(version.as_deref());
    words.push(Piece::word(format!("-Dartifact=org.pitest:pitest-junit5-plugin:{plugin}")));
    words.push(vec![Piece::Text("-DoutputDirectory=".to_owned()), Piece::Sandbox(jar_dir(job))]);
    words.push(Piece::word(goal(version.as_deref())));
    words.extend(text(&[
        "-DtargetClasses=polymut.None",
        "-DfailWhenNoMutations=false",
        "-DoutputFormats=XML",
        "-Dverbosity=VERBOSE_NO_SPINNER",
    ]));
    let mut baseline = text(&[BATCH, &["-o"]].concat());
    baseline.extend(select(job, &modules, Siblings::Build));
    baseline.push(Piece::word("test"));
    let gather = modules
        .iter()
        .map(|module| Gather::Files {
            under: Place::Sandbox(module.clone()),
            glob: "**/*.class".to_owned(),
            fresh: true,
        })
        .collect();
    let steps = vec![step(job, RESOLVE, Role::Fetch, words), step(job, BASELINE, Role::Baseline, baseline)];
    Ok(Plan { steps, gather, fit: ScopeFit::Project })
}

fn test(job: &Job<'_>, units: &Units) -> Result<Plan, PlanError> {
    let wanted = match units {
        Units::Files(files) => Some(files.as_slice()),
        Units::Mutants(_) => None,
    };
    let selection = Selection::of(job, &Compiled::of(job), wanted);
    let scope = PitScope { modules: selection.modules, methods: selection.methods };
    let mut plan = run(job, &scope, Pace::Many)?;
    if plan.steps.is_empty() {
        // Every changed file was compiled, and no code stands on its changed lines; parse says so.
        plan.gather.clear();
    }
    Ok(plan)
}

/// Each suspect's method alone, one JVM per mutant, one at a time.
fn confirm(job: &Job<'_>, targets: &[Target]) -> Result<Plan, PlanError> {
    let mut scope = PitScope::default();
    for target in targets {
        scope.modules.entry(target.module.clone()).or_default().insert(target.class.clone());
        scope.methods.insert(target.method.clone());
    }
    run(job, &scope, Pace::Alone)
}

#[derive(Default)]
struct PitScope {
    /// Classes per module.
    modules: BTreeMap<RepoDir, BTreeSet<String>>,
    methods: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Many,
    Alone,
}

/// Linux takes at most 128 KiB in one word of a command.
const LONGEST_WORD: usize = 100_000;

fn run(job: &Job<'_>, scope: &PitScope, pace: Pace) -> Result<Plan, PlanError> {
    let version = version::wanted(job)?;
    let mut steps = Vec::new();
    let mut fit = ScopeFit::Function;
    for name in [PIT_JUNIT5, PIT] {
        let modules: Vec<RepoDir> =
            scope.modules.keys().filter(|module| step_of(job, module) == name).cloned().collect();
        if modules.is_empty() {
            continue;
        }
        let mut words = text(&[BATCH, &["-o", "-fae"]].concat());
        words.extend(goals(job, &modules, version.as_deref()));
        words.extend(text(&["-DoutputFormats=XML", "-DfailWhenNoMutations=false", "-Dverbosity=NO_SPINNER"]));
        let (narrowing, reached) = narrowing(job, scope, &modules);
        words.extend(narrowing);
        fit = fit.max(reached);
        words.extend(pace_flags(job, pace));
        words.extend(
            mutators(job.settings.operators)
                .map(|names| Piece::word(format!("-Dmutators={}", names.join(",")))),
        );
        if name == PIT_JUNIT5 {
            words.push(junit5_jar(job, version.as_deref()));
        }
        let mut step = step(job, name, Role::Work, words);
        step.go_on = &[0, 1];
        steps.push(step);
    }
    let reports = Gather::Files {
        under: Place::Sandbox(job.project.dir.clone()),
        glob: "**/mutations.xml".to_owned(),
        fresh: true,
    };
    Ok(Plan { steps, gather: vec![reports], fit })
}

/// The step that analyses `module`: the JUnit 5 plugin stops PIT where JUnit 5 is not on the class path, so modules
/// with and without it cannot share a command.
pub(crate) fn step_of(job: &Job<'_>, module: &RepoDir) -> &'static str {
    if dirs(job.facts.all(fact::JUNIT5)).contains(module) { PIT_JUNIT5 } else { PIT }
}

/// Classes, and methods where that is possible. Only the classes of these modules: the goal also runs in modules that
/// `-am` adds.
fn narrowing(job: &Job<'_>, scope: &PitScope, modules: &[RepoDir]) -> (Vec<Vec<Piece>>, ScopeFit) {
    let classes: BTreeSet<&str> =
        modules.iter().filter_map(|module| scope.modules.get(module)).flatten().map(String::as_str).collect();
    let classes = classes.into_iter().collect::<Vec<_>>().join(",");
    if classes.len() > LONGEST_WORD {
        return (Vec::new(), ScopeFit::Project);
    }
    let mut words = vec![Piece::word(format!("-DtargetClasses={classes}"))];
    match method_filter(job, scope) {
        Some(filter) => {
            words.push(Piece::word(filter));
            (words, ScopeFit::Function)
        }
        None => (words, ScopeFit::File),
    }
}

/// A module that needs no sibling is analysed as Prepare compiled it; with siblings a lifecycle phase must run in the
/// same command, or Maven looks for them in repositories.
fn goals(job: &Job<'_>, modules: &[RepoDir], version: Option<&str>) -> Vec<Vec<Piece>> {
    let memo = Memo(job.project);
    let siblings = modules.iter().any(|module| memo.needs_siblings(module));
    let wanted: BTreeSet<RepoDir> = modules.iter().cloned().collect();
    let mut words = select(job, &wanted, if siblings { Siblings::Build } else { Siblings::Leave });
    if siblings {
        words.push(Piece::word("test-compile"));
    }
    words.push(Piece::word(goal(version)));
    words
}

fn pace_flags(job: &Job<'_>, pace: Pace) -> Vec<Vec<Piece>> {
    // PIT measures each test itself: limit = time × factor + constant. Its own constant of 3 s makes verdicts of load.
    let constant = job.limits.floor.as_millis().max(5_000);
    let factor = job.limits.factor.max(1.25);
    let mut flags = vec![Piece::word(format!("-DtimeoutFactor={factor}"))];
    flags.push(Piece::word(format!("-DtimeoutConstant={constant}")));
    match pace {
        Pace::Many => {
            flags.push(vec![Piece::Text("-Dthreads=".to_owned()), Piece::Cores]);
        }
        Pace::Alone => flags.extend(text(&["-Dthreads=1", "-DmutationUnitSize=1"])),
    }
    flags
}

/// The mutators of a set, by PIT's names; `None`: those that PIT takes by itself.
pub(super) fn mutators(set: OperatorSet) -> Option<&'static [&'static str]> {
    match set {
        OperatorSet::Default => None,
        OperatorSet::Logic => Some(&[
            "CONDITIONALS_BOUNDARY",
            "NEGATE_CONDITIONALS",
            "TRUE_RETURNS",
            "FALSE_RETURNS",
            "PRIMITIVE_RETURNS",
            "EMPTY_RETURNS",
            "NULL_RETURNS",
        ]),
        OperatorSet::All => Some(&["ALL"]),
    }
}

/// Only the methods that hold changed lines. The list replaces one that the project has, so it is used only where PIT
/// printed that there is none. Every `+` is escaped by PIT and a comma ends a value: such names forgo it.
fn method_filter(job: &Job<'_>, scope: &PitScope) -> Option<String> {
    let read = dirs(job.facts.all(fact::READ));
    let excluding = dirs(job.facts.all(fact::EXCLUDES_METHODS));
    let free = |module: &RepoDir| read.contains(module) && !excluding.contains(module);
    let plain =
        |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '<' | '>' | '-'));
    if scope.methods.is_empty() || !scope.modules.keys().all(free) || !scope.methods.iter().all(plain) {
        return None;
    }
    let names: Vec<String> =
        scope.methods.iter().map(|name| name.replace('$', "\\$").replace('-', "\\-")).collect();
    let filter = format!("-DexcludedMethods=~(?!({})$).*", names.join("|"));
    (filter.len() <= LONGEST_WORD).then_some(filter)
}

fn goal(version: Option<&str>) -> String {
    match version {
        Some(version) => format!("org.pitest:pitest-maven:{version}:mutationCoverage"),
        None => "org.pitest:pitest-maven:mutationCoverage".to_owned(),
    }
}

/// Below the root's build folder: the sandbox that Prepare leaves brings it to every later stage.
fn jar_dir(job: &Job<'_>) -> RepoDir {
    job.project.dir.resolve("target/polymut").unwrap_or_else(|_| job.project.dir.clone())
}

fn junit5_jar(job: &Job<'_>, version: Option<&str>) -> Vec<Piece> {
    let name = format!("pitest-junit5-plugin-{}.jar", version::junit5_plugin(version));
    let jar = jar_dir(job).resolve(&name).unwrap_or_default();
    vec![Piece::Text("-DadditionalClasspathElements=".to_owned()), Piece::Sandbox(jar)]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Siblings {
    Build,
    Leave,
}

/// `-pl … [-am]` where only part of a reactor is wanted.
fn select(job: &Job<'_>, modules: &BTreeSet<RepoDir>, siblings: Siblings) -> Vec<Vec<Piece>> {
    let memo = Memo(job.project);
    if memo.modules().len() < 2 || modules.is_empty() {
        return Vec::new();
    }
    let root = &job.project.dir;
    let names = modules.iter().map(|module| {
        let below =
            if root.is_root() { Some(module.as_str()) } else { module.as_str().strip_prefix(root.as_str()) };
        match below.unwrap_or_default().trim_start_matches('/') {
            "" => ".".to_owned(),
            below => below.to_owned(),
        }
    });
    let mut words = text(&["-pl"]);
    words.push(Piece::word(names.collect::<Vec<_>>().join(",")));
    if siblings == Siblings::Build {
        words.push(Piece::word("-am"));
    }
    words
}

fn changed_modules(job: &Job<'_>) -> BTreeSet<RepoDir> {
    let memo = Memo(job.project);
    let found: BTreeSet<RepoDir> = job.changed.files.keys().map(|path| memo.module_with(path)).collect();
    if found.is_empty() { memo.modules().into_iter().collect() } else { found }
}

fn step(job: &Job<'_>, name: &str, role: Role, mut args: Vec<Vec<Piece>>) -> Step {
    args.extend(job.settings.args.iter().map(Piece::word));
    let mut opts = vec![Piece::Inherit("MAVEN_OPTS")];
    if role != Role::Fetch {
        // What Fetch compiled is not compiled again: such a Maven ends before the second compiler of its JVM pays
        // (5.6 s with it, 3.8 s without, on one core). PIT hands only `-D` words on to the JVMs that run tests. The
        // user's own words come later, and win.
        opts.insert(0, Piece::Text("-XX:TieredStopAtLevel=1 ".to_owned()));
    }
    // PIT writes its report in the default charset of this JVM under a UTF-8 header.
    opts.push(Piece::Text(" -Dfile.encoding=UTF-8".to_owned()));
    let mut env = BTreeMap::from([("MAVEN_OPTS".to_owned(), opts)]);
    env.extend(job.settings.env.iter().map(|(name, value)| (name.clone(), Piece::word(value))));
    Step {
        name: name.to_owned(),
        about: None,
        role,
        files: Vec::new(),
        command: CommandSpec {
            program: vec![Find::Upward(job.project.dir.clone(), "mvnw"), Find::OnPath("mvn")],
            args,
            cwd: job.project.dir.clone(),
            env,
        },
        go_on: &[0],
        limit: None,
    }
}

fn text(words: &[&str]) -> Vec<Vec<Piece>> {
    words.iter().map(|word| Piece::word(*word)).collect()
}

fn dirs(texts: &[String]) -> Vec<RepoDir> {
    texts.iter().filter_map(|text| RepoDir::new(text).ok()).collect()
}
