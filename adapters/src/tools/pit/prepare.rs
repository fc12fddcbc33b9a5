//! What Probe and Prepare left: versions, the effective options of each module, and whether the suite is green.
//!
//! In: what ran. Out: [`Parsed`]. I/O: none.

use polymut_schemas::Quote;

use super::classes::Compiled;
use super::detect::Memo;
use super::log::{self, Log};
use super::maven::{BASELINE, RESOLVE, VERSION, fact};
use crate::{Baseline, End, Facts, Finish, Job, Parsed, Promised, Ran, Round, StepEnd};

const NO_MUTANTS: Promised = Promised::Unknown("this stage reports no mutants");

/// Versions of Maven or Gradle and of the JVM.
pub(crate) fn probe(_job: &Job<'_>, ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: NO_MUTANTS, ..Parsed::default() };
    let Some(step) = ran.step(VERSION) else {
        parsed.finish = Finish::Nothing(nothing_ran());
        return parsed;
    };
    if let Some(finish) = not_by_itself(step) {
        parsed.finish = finish;
        return parsed;
    }
    if step.end != End::Exit(0) {
        parsed.finish = Finish::Broken(log::failure(step));
        return parsed;
    }
    for line in log::plain(&step.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Apache", "Maven", version, ..] => parsed.facts.set("maven.version", *version),
            ["Gradle", version] => parsed.facts.set("gradle.version", *version),
            ["Java", "version:", version, ..] => {
                parsed.facts.set("java.version", version.trim_end_matches(','));
            }
            ["JVM:" | "Launcher", version, ..] if line.contains("JVM:") => {
                parsed.facts.set("java.version", version.trim_start_matches("JVM:"));
            }
            _ => {}
        }
    }
    parsed
}

/// The build, PIT's own words about each module, and the suite without mutants.
pub(crate) fn prepare(job: &Job<'_>, ran: &Ran) -> Parsed {
    let mut parsed = Parsed { promised: NO_MUTANTS, ..Parsed::default() };
    let Some(resolve) = ran.step(RESOLVE) else {
        parsed.finish = Finish::Nothing(nothing_ran());
        return parsed;
    };
    let log = Log::of(resolve);
    learn(job, &log, &mut parsed);
    if let Some(finish) = build_problem(resolve) {
        parsed.finish = finish;
        return parsed;
    }
    let runs: Vec<&StepEnd> = ran.steps.iter().filter(|step| step.name == BASELINE).collect();
    let Some(last) = runs.last() else {
        parsed.finish = Finish::Nothing(nothing_ran());
        return parsed;
    };
    let red = runs.iter().find_map(|run| baseline_problem(run));
    let seconds = runs.iter().map(|run| run.wall.as_secs_f64()).fold(0.0, f64::max);
    parsed.baseline = Some(Baseline { green: red.is_none(), seconds: Some(seconds) });
    if let Some(finish) = red {
        parsed.finish = finish;
        return parsed;
    }
    if compiled_nothing(job, ran) {
        let text = "the build ended well, but left no compiled class of the changed modules".to_owned();
        parsed.finish = Finish::Broken(Quote { text, at: format!("files after {}", last.name) });
    }
    parsed
}

fn compiled_nothing(job: &Job<'_>, ran: &Ran) -> bool {
    let round = Round { stage: polymut_schemas::StageName::Prepare, round: 0, sandbox: 0 };
    let past = [(round, ran.clone())];
    Compiled::of(&Job { past: &past, ..*job }).is_empty()
}

/// Facts from the options that PIT printed for each module.
fn learn(job: &Job<'_>, log: &Log, parsed: &mut Parsed) {
    let memo = Memo(job.project);
    let add = |facts: &mut Facts, name: &str, value: String| {
        facts.0.entry(name.to_owned()).or_default().push(value);
    };
    if let Some(found) = &log.version {
        parsed.facts.set("tool.version", found);
    }
    for section in &log.sections {
        let Some(module) = memo.module_of(&section.artifact) else { continue };
        let name = module.as_str().to_owned();
        let Some(methods) = section.option("excludedMethods") else { continue };
        add(&mut parsed.facts, fact::READ, name.clone());
        if !methods.is_empty() {
            add(&mut parsed.facts, fact::EXCLUDES_METHODS, name.clone());
        }
        let classes = section.option("excludedClasses").unwrap_or_default();
        parsed.facts.0.insert(format!("{}{name}", fact::EXCLUDED_CLASSES), classes);
        if section.has_junit_platform() && !section.has_junit5_plugin() {
            add(&mut parsed.facts, fact::JUNIT5, name);
        }
    }
}

fn build_problem(step: &StepEnd) -> Option<Finish> {
    if let Some(finish) = not_by_itself(step) {
        return Some(finish);
    }
    if step.end == End::Exit(0) {
        return None;
    }
    let compiler = [
        "COMPILATION ERROR",
        "Compilation failure",
        "Compilation error",
        "compileJava FAILED",
        "compileKotlin FAILED",
    ];
    Some(match log::quote(step, &compiler, 4) {
        Some(quote) => Finish::RedBaseline(quote),
        None => Finish::Broken(log::failure(step)),
    })
}

fn baseline_problem(step: &StepEnd) -> Option<Finish> {
    if let Some(finish) = not_by_itself(step) {
        return Some(finish);
    }
    // A project may ignore failing tests: the counts decide, not the code alone.
    if let Some(quote) = failed_tests(step) {
        return Some(Finish::RedBaseline(quote));
    }
    (step.end != End::Exit(0)).then(|| Finish::Broken(log::failure(step)))
}

/// Surefire's or Gradle's words about tests that failed.
fn failed_tests(step: &StepEnd) -> Option<Quote> {
    let text = log::plain(&step.stdout);
    let failed = text.lines().any(|line| {
        let counts = line.split("Tests run:").nth(1).unwrap_or_default();
        ["Failures: ", "Errors: "].iter().any(|name| {
            let number = counts.split(name).nth(1).and_then(|rest| rest.split([',', ' ']).next());
            number.and_then(|number| number.parse::<u64>().ok()).is_some_and(|number| number > 0)
        })
    });
    let words =
        ["<<< FAILURE!", "<<< ERROR!", "[ERROR] Failures:", "[ERROR] Errors:", "There were failing tests"];
    (failed || text.contains("There were failing tests") || text.contains("There are test failures"))
        .then(|| log::quote(step, &words, 3).unwrap_or_else(|| log::failure(step)))
}

/// A step that polymut or the system ended, or that never started.
pub(crate) fn not_by_itself(step: &StepEnd) -> Option<Finish> {
    let quote = |text: String| Quote { text, at: step.name.clone() };
    Some(match step.end {
        End::Exit(_) => return None,
        End::NoProgram => Finish::Broken(quote("neither a wrapper nor Maven or Gradle was found".to_owned())),
        End::Signal(number) => Finish::Partial(quote(format!("ended by signal {number}"))),
        End::Limit => Finish::Partial(quote("stopped at its wall limit".to_owned())),
        End::OutOfMemory => Finish::Partial(quote("stopped at the memory ceiling".to_owned())),
        End::Stopped => Finish::Partial(quote("stopped".to_owned())),
    })
}

/// Nothing was started.
pub(crate) fn nothing_ran() -> Quote {
    Quote { text: "nothing was run".to_owned(), at: "plan".to_owned() }
}
