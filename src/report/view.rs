//! A report sorted for readers: every mutant in exactly one drawer, and the words that formats share.
//!
//! In: a report. Out: [`View`], labels. I/O: none.

use polymut_schemas::{
    Cause, Group, Mutant, Origin, Outcome, OutsideReason, Quote, Report, RunState, Scope, ScopeSource,
    Status, StatusGroup, ToolRun,
};

/// The mutants of a report, each in exactly one drawer.
#[derive(Debug, Default)]
pub(super) struct View<'a> {
    /// Survived on changed lines, neither waived nor old.
    pub(super) survivors: Vec<&'a Mutant>,
    /// No test reaches them, neither waived nor old.
    pub(super) uncovered: Vec<&'a Mutant>,
    /// Not run, errored, flaky.
    pub(super) unknown: Vec<&'a Mutant>,
    /// Timeouts and memory.
    pub(super) limited: Vec<&'a Mutant>,
    /// Killed by a test.
    pub(super) killed: Vec<&'a Mutant>,
    /// Unviable and ignored.
    pub(super) unscored: Vec<&'a Mutant>,
    /// Survivors that the base had as well.
    pub(super) old: Vec<&'a Mutant>,
    /// Accepted by a waiver.
    pub(super) waived: Vec<&'a Mutant>,
    /// Not on a changed line.
    pub(super) outside: Vec<&'a Mutant>,
}

impl<'a> View<'a> {
    /// Sorts the mutants of `report`, keeping their order.
    pub(super) fn of(report: &'a Report) -> Self {
        let mut view = Self::default();
        for mutant in &report.mutants {
            view.drawer(mutant).push(mutant);
        }
        view
    }

    fn drawer(&mut self, mutant: &Mutant) -> &mut Vec<&'a Mutant> {
        let group = mutant.status.group();
        let open = matches!(group, StatusGroup::Undetected | StatusGroup::Unknown);
        if !mutant.in_scope {
            return &mut self.outside;
        }
        if open && mutant.waiver.is_some() {
            return &mut self.waived;
        }
        if group == StatusGroup::Undetected && mutant.origin == Origin::PreExisting {
            return &mut self.old;
        }
        match mutant.status {
            Status::Killed => &mut self.killed,
            Status::Timeout | Status::OutOfMemory => &mut self.limited,
            Status::Survived => &mut self.survivors,
            Status::NoCoverage => &mut self.uncovered,
            Status::Unviable | Status::Ignored => &mut self.unscored,
            Status::NotRun | Status::Errored | Status::Flaky => &mut self.unknown,
        }
    }
}

/// The status for a reader.
pub(super) fn status_label(status: Status) -> &'static str {
    match status {
        Status::Killed => "killed",
        Status::Timeout => "timeout",
        Status::OutOfMemory => "out of memory",
        Status::Survived => "survived",
        Status::NoCoverage => "no coverage",
        Status::Unviable => "unviable",
        Status::Ignored => "ignored",
        Status::NotRun => "not run",
        Status::Errored => "errored",
        Status::Flaky => "flaky",
    }
}

/// The outcome for a reader.
pub(super) fn outcome_label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Inconclusive => "inconclusive",
    }
}

/// Whose fault, for a reader.
pub(super) fn cause_label(cause: Cause) -> &'static str {
    match cause {
        Cause::Change => "because of this change",
        Cause::Base => "already so at the merge base",
        Cause::Machine => "because of the machine or the set-up",
        Cause::Budget => "time ran out",
    }
}

/// Why a changed file holds no mutant, for a reader.
pub(super) fn outside_label(reason: OutsideReason) -> &'static str {
    match reason {
        OutsideReason::Deleted => "deleted",
        OutsideReason::Binary => "not text",
        OutsideReason::Submodule => "a submodule's commit",
        OutsideReason::Symlink => "a symbolic link",
        OutsideReason::ModeOnly => "only mode bits changed",
        OutsideReason::RenameOnly => "moved without an edit",
        OutsideReason::SameTokens => "only layout or comments changed",
        OutsideReason::Empty => "no line on the new side",
        OutsideReason::NameNotUtf8 => "its name is not UTF-8",
        OutsideReason::LfsPointer => "kept in Git LFS",
        OutsideReason::NotSource => "not source code",
        OutsideReason::Test => "test code",
        OutsideReason::Unclaimed => "source code that no project claims",
        OutsideReason::NotChosen => "left out by --project or --tool",
    }
}

/// How a job ended, for a reader.
pub(super) fn state_label(state: &RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::NothingToMutate => "nothing to mutate",
        RunState::Partial { .. } => "partial",
        RunState::Nothing { .. } => "no answer",
        RunState::RedBaseline { .. } => "red baseline",
        RunState::Broken { .. } => "broken",
        RunState::Skipped { .. } => "skipped",
    }
}

/// `src/a.rs:3:9`, or what the tool wrote where the file is not known.
pub(super) fn place(mutant: &Mutant) -> String {
    let file =
        mutant.file.as_ref().map_or(mutant.tool_file.as_deref().unwrap_or("(no file)"), |file| file.as_str());
    match mutant.span.map(|span| span.start) {
        None => file.to_owned(),
        Some(start) => match start.column {
            None => format!("{file}:{}", start.line),
            Some(column) => format!("{file}:{}:{column}", start.line),
        },
    }
}

/// What the diff was, in one phrase: `43 changed lines in 6 files against origin/main`.
pub(super) fn scope_phrase(scope: &Scope) -> String {
    let within = scope.files.iter().filter(|file| file.outside.is_none() && !file.lines.is_empty());
    let (files, lines) =
        within.fold((0_u64, 0_u64), |(files, lines), file| (files + 1, lines + file.lines.count()));
    let size = format!(
        "{} in {}",
        plural(lines, "changed line", "changed lines"),
        plural(files, "source file", "source files")
    );
    match (scope.source, &scope.base) {
        (ScopeSource::All, _) => format!("everything: {}", plural(files, "source file", "source files")),
        (ScopeSource::DiffFile, _) => format!("{size} of the given diff"),
        (ScopeSource::Git, None) => size,
        (ScopeSource::Git, Some(base)) => format!("{size} against {}", base.name),
    }
}

/// `1 survivor`, `3 survivors`.
pub(super) fn plural(number: impl Into<u64>, one: &str, many: &str) -> String {
    let number = number.into();
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A length as the number that counts are made of.
pub(super) fn len<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// The headline of a verdict: what matters most, in a few words.
pub(super) fn headline(view: &View<'_>) -> String {
    let mut parts = Vec::new();
    let mut add = |drawer: &[&Mutant], one: &str, many: &str| {
        if !drawer.is_empty() {
            parts.push(plural(len(drawer), one, many));
        }
    };
    add(&view.survivors, "survivor", "survivors");
    add(&view.uncovered, "mutant that no test reaches", "mutants that no test reaches");
    add(&view.unknown, "mutant without an answer", "mutants without an answer");
    add(&view.killed, "killed", "killed");
    add(&view.limited, "stopped by a limit", "stopped by a limit");
    if parts.is_empty() { "no mutant was tested".to_owned() } else { parts.join(", ") }
}

/// The words of a job that gave no full answer, and whose fault that is.
pub(super) fn quote(run: &ToolRun) -> Option<(&Quote, Cause)> {
    match &run.state {
        RunState::Complete | RunState::NothingToMutate => None,
        RunState::Partial { quote, cause }
        | RunState::Nothing { quote, cause }
        | RunState::RedBaseline { quote, cause }
        | RunState::Broken { quote, cause }
        | RunState::Skipped { quote, cause } => Some((quote, *cause)),
    }
}

/// The score of a job, where every answer is there: a part of the answers makes no score.
pub(super) fn score(group: Option<&Group>, state: &RunState) -> Option<String> {
    let group = group?;
    let whole = *state == RunState::Complete && group.statuses.group(StatusGroup::Unknown) == 0;
    group.score.filter(|_| whole).map(percent)
}

/// `86 %`; never rounded up to 100.
pub(super) fn percent(score: f64) -> String {
    format!("{:.0} %", (score * 100.0).floor())
}
