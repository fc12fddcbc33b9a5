//! What Maven, Gradle and PIT say on their way.
//!
//! In: output text. Out: [`Log`], quotes. I/O: none.
//!
//! Words seen with Maven 3.8.7 and PIT 1.22.1 and 1.30.2.

use polymut_schemas::Quote;

use crate::{Output, StepEnd};

/// Output of one step, module by module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// What PIT said in each module it ran in.
    pub(crate) sections: Vec<Section>,
    /// The version of the PIT plugin.
    pub(crate) version: Option<String>,
    /// Bytes in the middle that were not kept.
    pub(crate) cut: bool,
}

/// What PIT said in one module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// The module's artifact.
    pub(crate) artifact: String,
    /// Its lines.
    pub(crate) text: String,
}

impl Log {
    /// Splits the output of `step` into the modules that the PIT goal ran in. Maven speaks on stdout; PIT prints its
    /// statistics there and logs on stderr, where each of its runs opens with one of [`OPENINGS`], in the same order.
    pub(crate) fn of(step: &StepEnd) -> Self {
        let mut log = Self { cut: step.stdout.lost > 0 || step.stderr.lost > 0, ..Self::default() };
        let mut inside = false;
        for line in plain(&step.stdout).lines() {
            if let Some(goal) = Goal::of(line) {
                inside = goal.is_pit;
                if inside {
                    log.version = goal.version.or(log.version);
                    log.sections.push(Section { artifact: goal.artifact, text: String::new() });
                }
            } else if line.starts_with("[INFO] Reactor Summary") || line.starts_with("[INFO] BUILD ") {
                inside = false;
            } else if let (true, Some(section)) = (inside, log.sections.last_mut()) {
                section.text.push_str(line);
                section.text.push('\n');
            }
        }
        let logged = plain(&step.stderr);
        let started = log.sections.iter_mut().filter(|section| section.skipped().is_none());
        for (section, words) in started.zip(runs(&logged)) {
            section.text.push_str(&words);
        }
        log
    }

    /// The sum of the totals that PIT printed; `None` when a module that analysed printed none.
    pub(crate) fn announced(&self) -> Option<u64> {
        if self.cut || self.sections.is_empty() {
            return None;
        }
        let judged = self.sections.iter().filter(|section| !section.is_skipped());
        judged.map(Section::announced).sum()
    }
}

/// What PIT logs first in a run, quiet and verbose.
const OPENINGS: [&str; 2] = ["Verbose logging is disabled", "Project base directory is"];

fn runs(logged: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for line in logged.lines() {
        if OPENINGS.iter().any(|opening| line.contains(opening)) {
            runs.push(String::new());
        }
        if let Some(run) = runs.last_mut() {
            run.push_str(line);
            run.push('\n');
        }
    }
    runs
}

/// `[INFO] --- pitest-maven:1.30.2:mutationCoverage (default-cli) @ core ---`; newer Mavens print the goal prefix.
/// Gradle: `> Task :core:pitest`; a task that says more (`UP-TO-DATE`, `FROM-CACHE`) did not run.
struct Goal {
    is_pit: bool,
    version: Option<String>,
    artifact: String,
}

impl Goal {
    fn of(line: &str) -> Option<Self> {
        if let Some(task) = line.strip_prefix("> Task ") {
            let project = task.strip_suffix(":pitest");
            let artifact =
                project.map_or(String::new(), |path| if path.is_empty() { ":" } else { path }.to_owned());
            return Some(Self { is_pit: project.is_some(), version: None, artifact });
        }
        let inner = line.strip_prefix("[INFO] --- ")?.strip_suffix(" ---")?;
        let (goal, artifact) = inner.rsplit_once(" @ ")?;
        let mut parts = goal.split([':', ' ']);
        let plugin = parts.next()?;
        let version = Some(parts.next()?.to_owned());
        let is_pit = matches!(plugin, "pitest-maven" | "pitest") && parts.next() == Some("mutationCoverage");
        Some(Self { is_pit, version, artifact: artifact.to_owned() })
    }
}

impl Section {
    /// Why the goal did nothing in this module, when it says so.
    pub(crate) fn skipped(&self) -> Option<String> {
        let (_, reasons) = self.text.split_once("Skipping project because:")?;
        let listed = reasons.lines().skip(1).map_while(|line| line.strip_prefix("[INFO]   - "));
        Some(listed.collect::<Vec<_>>().join(" "))
    }

    fn is_skipped(&self) -> bool {
        self.skipped().is_some() || self.found_nothing()
    }

    /// PIT looked at the classes that it was given and found nothing to change.
    pub(crate) fn found_nothing(&self) -> bool {
        self.text.contains("No mutations found") && self.text.contains("Skipping coverage and analysis")
    }

    /// PIT went through with its analysis.
    pub(crate) fn completed(&self) -> bool {
        self.announced().is_some() || self.found_nothing()
    }

    /// `>> Generated 36 mutations Killed 21 (58%)`.
    fn announced(&self) -> Option<u64> {
        let line = self
            .text
            .lines()
            .find(|line| line.starts_with(">> Generated ") && line.contains(" mutations "))?;
        line.split(' ').nth(2)?.parse().ok()
    }

    /// A value of `ReportOptions[… name=[a, b], …]`, which PIT prints when it is verbose.
    pub(crate) fn option(&self, name: &str) -> Option<Vec<String>> {
        let line = self.text.lines().find(|line| line.contains("Running report with ReportOptions"))?;
        let (_, after) = line.split_once(&format!("{name}=["))?;
        let (list, _) = after.split_once(']')?;
        Some(list.split(", ").filter(|value| !value.is_empty()).map(str::to_owned).collect())
    }

    /// Whether a JUnit 5 engine is on the tests' class path.
    pub(crate) fn has_junit_platform(&self) -> bool {
        let elements = self.option("classPathElements").unwrap_or_default();
        elements.iter().any(|path| {
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            name.starts_with("junit-platform-engine") || name.starts_with("junit-jupiter")
        })
    }

    /// Whether the project brings PIT's JUnit 5 plugin itself.
    pub(crate) fn has_junit5_plugin(&self) -> bool {
        self.text.contains("plugin : JUnit 5 test framework support")
            || self.text.contains("Adding org.pitest:pitest-junit5-plugin to SUT classpath")
    }
}

/// Output as text without terminal escapes.
pub(crate) fn plain(output: &Output) -> String {
    let text = output.text();
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        clean.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic()).map_or(after.len(), |at| at + 1);
        rest = after.get(end..).unwrap_or_default();
    }
    clean.push_str(rest);
    clean
}

/// The first line that holds one of `words`, and the next ones as far as `more` says.
pub(crate) fn quote(step: &StepEnd, words: &[&str], more: usize) -> Option<Quote> {
    [("stdout", &step.stdout), ("stderr", &step.stderr)].into_iter().find_map(|(name, output)| {
        let text = plain(output);
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| words.iter().any(|word| line.contains(word)))?;
        let kept =
            lines.iter().skip(at).take(more + 1).map(|line| line.trim()).filter(|line| !line.is_empty());
        let text = shorten(&kept.collect::<Vec<_>>().join("\n"));
        Some(Quote { text, at: format!("{name} of {}", step.name) })
    })
}

/// The first error line of Maven or Gradle, else the last lines.
pub(crate) fn failure(step: &StepEnd) -> Quote {
    let found = quote(step, &["[ERROR] Failed to execute goal", "[FATAL]", "FAILURE: Build failed"], 4);
    found.or_else(|| quote(step, &["[ERROR]", "error:"], 2)).unwrap_or_else(|| {
        let both = format!("{}\n{}", plain(&step.stdout), plain(&step.stderr));
        let lines: Vec<&str> = both.lines().filter(|line| !line.trim().is_empty()).collect();
        let tail = lines.iter().skip(lines.len().saturating_sub(4)).copied().collect::<Vec<_>>();
        Quote { text: shorten(&tail.join("\n")), at: format!("output of {}", step.name) }
    })
}

fn shorten(text: &str) -> String {
    const MOST: usize = 600;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST).collect();
    format!("{kept}…")
}
