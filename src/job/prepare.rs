//! Probe and Prepare: versions, dependencies, build, and whether the suite passes without mutants.
//!
//! In: a fresh sandbox. Out: facts, a measured baseline. I/O: through the machine.

use std::time::Duration;

use polymut_adapters::{BaselineLimits, End, Finish, Parsed, Plan, Ran, Role, Stage, ToolInfo};
use polymut_schemas::{BaselineRun, BaselineState, Cause, RunState, StageName};

use super::machine::Side;
use super::state::JobState;
use super::{Step, broken, halt, quote, tool_name};
use crate::exec::Sandbox;

/// Rounds that one stage may ask for before polymut calls it a loop.
pub(crate) const ROUNDS: u32 = 12;

impl JobState<'_> {
    /// The job's own sandbox of the new side.
    pub(crate) fn open(&mut self) -> Step<Box<dyn Sandbox>> {
        let info = self.planned.adapter.info();
        let sandbox = self.machine.sandbox(Side::New, info).map_err(|error| broken(&error))?;
        self.containment = Some(self.machine.reached(self.options));
        Ok(sandbox)
    }

    /// Versions. A missing tool is provisioned when that is allowed, and said otherwise.
    pub(crate) async fn probe(&mut self, sandbox: &mut Box<dyn Sandbox>) -> Step<()> {
        let info = self.planned.adapter.info();
        for attempt in 0..2 {
            let Some(parsed) = self.stage(Stage::Probe, sandbox.as_ref()).await? else { return Ok(()) };
            self.note_version();
            let missing = self
                .past
                .last()
                .is_some_and(|(_, ran)| ran.steps.iter().any(|step| step.end == End::NoProgram));
            let words = match parsed.finish {
                Finish::Complete => {
                    self.machine.knows(&self.id, &self.facts);
                    return Ok(());
                }
                Finish::Partial(words)
                | Finish::Nothing(words)
                | Finish::Broken(words)
                | Finish::RedBaseline(words) => words,
            };
            if missing && attempt == 0 && self.options.provision {
                self.machine
                    .provision(info, self.options.project.version.as_deref())
                    .await
                    .map_err(|error| broken(&error))?;
                self.past.clear();
                continue;
            }
            let state = if missing {
                let remedy = remedy(info, self.options.project.version.as_deref());
                let text = format!("{}; {remedy}", words.text);
                RunState::Skipped { quote: quote(text, words.at), cause: Cause::Machine }
            } else {
                RunState::Broken { quote: words, cause: self.cause() }
            };
            return halt(state);
        }
        halt(RunState::Skipped {
            quote: quote(format!("{} was installed and is still not found", info.id), "polymut"),
            cause: Cause::Machine,
        })
    }

    /// Fetch, build, baseline.
    pub(crate) async fn prepare(&mut self, sandbox: &dyn Sandbox) -> Step<()> {
        let Some(parsed) = self.stage(Stage::Prepare, sandbox).await? else { return Ok(()) };
        self.note_version();
        self.note_baseline(&parsed)?;
        match parsed.finish {
            Finish::Complete => {}
            Finish::RedBaseline(words) => {
                self.blame_walls(sandbox, &words).await?;
                self.note_withheld();
                return self.red(words).await;
            }
            Finish::Broken(words) => {
                self.blame_walls(sandbox, &words).await?;
                self.note_withheld();
                return halt(RunState::Broken { quote: words, cause: self.cause() });
            }
            Finish::Partial(words) | Finish::Nothing(words) => {
                return halt(RunState::Broken { quote: words, cause: self.cause() });
            }
        }
        Ok(())
    }

    /// Names what a suite that does not pass may have missed: walls can be lifted to see, credentials are not given to see.
    fn note_withheld(&mut self) {
        let names = self.machine.withheld(self.planned.adapter.info());
        if !names.is_empty() {
            self.notes.push(format!(
                "the suite did not get these variables, which look like credentials: {}; `allow-env` gives them by name",
                names.join(", ")
            ));
        }
    }

    /// Says so where the tool is older or newer than what polymut was tested with.
    fn note_version(&mut self) {
        let version = self.facts.one("tool.version");
        let note = version.and_then(|version| self.planned.adapter.info().untested(version));
        if let Some(note) = note.filter(|note| !self.notes.contains(note)) {
            self.notes.push(note);
        }
    }

    /// A red suite is run again at the merge base, to know whether the change made it red.
    async fn red(&mut self, words: polymut_schemas::Quote) -> Step<()> {
        if let Some(stopped) = self.machine.stop_cause() {
            return halt(RunState::Partial { quote: words, cause: stopped });
        }
        let at_base = if self.machine.has_base() { self.base_is_red().await } else { Some(true) };
        let cause = if at_base == Some(true) { Cause::Base } else { Cause::Change };
        if let Some(baseline) = &mut self.baseline {
            baseline.state = BaselineState::Red;
        }
        halt(RunState::RedBaseline { quote: words, cause })
    }

    /// Whether the same Prepare is red at the merge base; `None` when that cannot be found out.
    async fn base_is_red(&mut self) -> Option<bool> {
        let plan = self.prepared.clone()?;
        let sandbox = self.machine.sandbox(Side::Base, self.planned.adapter.info()).ok()?;
        let ran = self.machine.run(&plan, self.at(Stage::Prepare, sandbox.as_ref(), 1)).await.ok()?;
        let parsed = self.planned.adapter.parse(&self.job(), Stage::Prepare, &ran).ok()?;
        self.notes.push("the baseline was run again at the merge base".to_owned());
        match parsed.finish {
            Finish::Complete => Some(false),
            Finish::RedBaseline(_) | Finish::Broken(_) => Some(true),
            Finish::Partial(_) | Finish::Nothing(_) => None,
        }
    }

    /// Keeps the Build and Baseline steps of Prepare, and of a List that learned of more suites: proof, canary and
    /// close run them again.
    pub(crate) fn keep_tests(&mut self, stage: Stage<'_>, plan: &Plan) {
        match (stage.name(), &mut self.prepared) {
            (StageName::Prepare, None) => self.prepared = Some(plan.clone()),
            (StageName::Prepare | StageName::List, Some(known)) => {
                let more = plan.steps.iter().filter(|step| matches!(step.role, Role::Build | Role::Baseline));
                known.steps.extend(more.cloned());
            }
            (
                StageName::Probe
                | StageName::List
                | StageName::Test
                | StageName::Confirm
                | StageName::Replay
                | StageName::Close,
                None | Some(_),
            ) => {}
        }
    }

    /// Takes over what the baseline steps of Prepare and List measured. A suite that gives different results is no
    /// baseline at all.
    pub(crate) fn note_baseline(&mut self, parsed: &Parsed) -> Step<()> {
        let Some(plan) = self.prepared.clone() else { return Ok(()) };
        let rounds = self.job().rounds(StageName::Prepare).chain(self.job().rounds(StageName::List)).cloned();
        let rounds: Vec<Ran> = rounds.collect();
        let runs: Vec<(bool, Duration)> = rounds.iter().flat_map(|ran| baseline_runs(&plan, ran)).collect();
        let green = parsed.baseline.as_ref().map(|baseline| baseline.green);
        let slowest = runs.iter().map(|(_, wall)| *wall).max();
        let seconds =
            parsed.baseline.as_ref().and_then(|baseline| baseline.seconds).map(Duration::from_secs_f64);
        let wall = seconds.max(slowest);
        let flickers = rounds.iter().any(|ran| flickers(&plan, ran));
        let state = match (flickers, green, runs.is_empty()) {
            (true, _, _) => BaselineState::Flickers,
            (false, Some(true), _) => BaselineState::Green,
            (false, Some(false), _) => BaselineState::Red,
            (false, None, false) if runs.iter().all(|(ok, _)| *ok) => BaselineState::Green,
            (false, None, false) => BaselineState::Red,
            (false, None, true) => BaselineState::ByTool,
        };
        self.limits.baseline = wall.map(|wall| BaselineLimits { wall });
        self.baseline = Some(BaselineRun {
            state,
            duration: wall.map(|wall| wall.as_secs_f64()),
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            still_green: None,
        });
        if state == BaselineState::Flickers {
            let text = format!("the suite without mutants gave different results: {}", self.outcomes());
            return halt(RunState::RedBaseline {
                quote: quote(text, "baseline runs"),
                cause: Cause::Machine,
            });
        }
        Ok(())
    }

    /// The ends of the baseline runs in words.
    fn outcomes(&self) -> String {
        let Some(plan) = &self.prepared else { return String::new() };
        let ends = self.job().rounds(StageName::Prepare).flat_map(|ran| {
            let steps = ran.steps.iter().filter(|step| is_baseline(plan, &step.name));
            steps.map(|step| match step.end {
                End::Exit(0) => "passed".to_owned(),
                End::Exit(_)
                | End::Signal(_)
                | End::Limit
                | End::OutOfMemory
                | End::Stopped
                | End::NoProgram => {
                    format!("{:?}: {}", step.end, tail(&step.stdout.text(), 6))
                }
            })
        });
        ends.collect::<Vec<_>>().join(" / ")
    }

    /// Whose fault an end is that the tool did not explain: the clock's when polymut stopped it, else the machine's.
    pub(crate) fn cause(&self) -> Cause {
        self.machine.stop_cause().unwrap_or(Cause::Machine)
    }

    /// The tool's name, for messages.
    pub(crate) fn tool_name(&self) -> &'static str {
        tool_name(self.planned.adapter)
    }
}

/// How to get a tool that is not there: `tools install` brings the pinned version only.
fn remedy(info: &ToolInfo, version: Option<&str>) -> String {
    match version.filter(|version| *version != info.recipe.version) {
        Some(version) => format!("`polymut run --provision` installs {} {version}", info.id),
        None => format!("`polymut tools install {}` provides it, or: {}", info.id, info.recipe.hint),
    }
}

/// Whether each baseline run of a stage ended well, and how long it took.
fn baseline_runs(plan: &Plan, ran: &Ran) -> Vec<(bool, Duration)> {
    let steps = ran.steps.iter().filter(|step| is_baseline(plan, &step.name));
    steps.map(|step| (step.end == End::Exit(0), step.wall)).collect()
}

/// Whether one baseline step passed and failed.
fn flickers(plan: &Plan, ran: &Ran) -> bool {
    let named = plan.steps.iter().filter(|step| step.role == Role::Baseline);
    named.map(|step| ran.steps.iter().filter(|end| end.name == step.name)).any(|ends| {
        let (good, bad): (Vec<_>, Vec<_>) = ends.partition(|step| step.end == End::Exit(0));
        !good.is_empty() && !bad.is_empty()
    })
}

fn is_baseline(plan: &Plan, name: &str) -> bool {
    plan.steps.iter().any(|step| step.role == Role::Baseline && step.name == name)
}

/// The last lines that are not blank.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    all.get(all.len().saturating_sub(lines)..).unwrap_or_default().join("\n")
}
