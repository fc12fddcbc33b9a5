//! Small builders for mutants, runs and scopes.
//!
//! In: the few facts a test cares about. Out: values of the document. I/O: none.

use std::collections::BTreeMap;

use jiff::civil::Date;
use polymut::config::{Config, Waivers, parse};
use polymut::gate::{GatePolicy, Judgement, judge};
use polymut_schemas::*;

/// A path that is known to be good.
pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

/// `tool:dir` as a project.
pub(crate) fn project(text: &str) -> ProjectId {
    ProjectId(text.to_owned())
}

/// A mutant on a changed line. Its id follows from its place.
pub(crate) fn mutant(of: &str, file: &str, line: u32, status: Status) -> Mutant {
    let tool = of.split(':').next().unwrap_or_default();
    Mutant {
        id: MutantId::of(&[of, file, &line.to_string()]),
        project: project(of),
        tool: ToolId::from(tool),
        key: format!("{file}:{line}"),
        file: Some(path(file)),
        tool_file: None,
        span: Some(Span {
            start: Position { line, column: Some(8) },
            end: Some(Position { line, column: Some(9) }),
        }),
        function: None,
        operator: Operator { name: "replace < with <=".to_owned(), class: OperatorClass::Comparison },
        original: Some("<".to_owned()),
        replacement: Some("<=".to_owned()),
        diff: None,
        description: None,
        status,
        tool_status: status.word().to_owned(),
        detail: None,
        killed_by: Vec::new(),
        covered_by: Vec::new(),
        duration: None,
        in_scope: true,
        origin: Origin::New,
        confirmed: None,
        is_static: None,
        owners: Vec::new(),
        waiver: None,
        provenance: Provenance {
            artifact: "test/0/report.json".to_owned(),
            pointer: None,
            cached: false,
            resumed: false,
        },
    }
}

/// A complete job with a green suite that saw `seen`.
pub(crate) fn run(of: &str, seen: &[&str]) -> ToolRun {
    let (tool, dir) = of.split_once(':').unwrap();
    ToolRun {
        project: project(of),
        dir: RepoDir::new(dir).unwrap(),
        tool: ToolId::from(tool),
        tool_version: Some("1.2.3".to_owned()),
        state: RunState::Complete,
        commands: Vec::new(),
        containment: None,
        baseline: Some(BaselineRun {
            state: BaselineState::Green,
            duration: Some(1.5),
            runs: 2,
            still_green: Some(true),
        }),
        stages: Vec::new(),
        seen: seen.iter().map(|file| path(file)).collect(),
        unseen: Vec::new(),
        timing: Timing::default(),
        environment: Environment::default(),
        notes: Vec::new(),
    }
}

/// A changed file with lines 1 to 50 in scope, claimed by `of`.
pub(crate) fn changed(file: &str, of: &str) -> ScopeFile {
    ScopeFile {
        path: path(file),
        change: FileChange::Modified,
        old_path: None,
        lines: LineSet::from_ranges([LineRange { first: 1, last: 50 }]),
        same_tokens: LineSet::default(),
        outside: None,
        projects: vec![project(of)],
    }
}

/// A changed file that cannot hold a mutant.
pub(crate) fn outside(file: &str, reason: OutsideReason) -> ScopeFile {
    ScopeFile {
        lines: LineSet::default(),
        outside: Some(reason),
        projects: Vec::new(),
        ..changed(file, "x:.")
    }
}

/// A scope of `files` against `origin/main`.
pub(crate) fn scope(mut files: Vec<ScopeFile>) -> Scope {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let revision = |name: &str, digit: &str, found_by: &str| Revision {
        name: name.to_owned(),
        commit: digit.repeat(40),
        found_by: found_by.to_owned(),
    };
    Scope {
        source: ScopeSource::Git,
        new_side: NewSide::WorkingTree,
        width: ScopeWidth::Line,
        base: Some(revision("origin/main", "a", "--base")),
        head: Some(revision("HEAD", "b", "HEAD")),
        merge_base: Some("c".repeat(40)),
        files,
    }
}

/// Somebody's words.
pub(crate) fn quote(text: &str) -> Quote {
    Quote { text: text.to_owned(), at: "stderr of test".to_owned() }
}

/// One accepted survivor.
pub(crate) fn waiver(id: &MutantId, expires: Option<&str>) -> Waiver {
    Waiver {
        id: id.clone(),
        reason: "the bound is never reached".to_owned(),
        owner: Some("@core".to_owned()),
        date: "2026-01-02".to_owned(),
        expires: expires.map(str::to_owned),
        file: None,
    }
}

/// The day of every test.
pub(crate) fn today() -> Date {
    jiff::civil::date(2026, 2, 1)
}

/// What the gate is asked; starts as one Rust file with one killed mutant, which passes.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) mutants: Vec<Mutant>,
    pub(crate) runs: Vec<ToolRun>,
    pub(crate) scope: Scope,
    pub(crate) config: Config,
    pub(crate) waivers: Waivers,
}

/// The project and the file of [`Case::new`].
pub(crate) const CORE: &str = "alpha:core";
pub(crate) const FILE: &str = "core/src/price.rs";

impl Case {
    pub(crate) fn new() -> Self {
        Self {
            mutants: vec![mutant(CORE, FILE, 1, Status::Killed)],
            runs: vec![run(CORE, &[FILE])],
            scope: scope(vec![changed(FILE, CORE)]),
            config: Config::default(),
            waivers: Waivers::default(),
        }
    }

    /// The same with more mutants of one status, on lines from 10 on.
    pub(crate) fn with(mut self, status: Status, number: u32) -> Self {
        let next = 10 + u32::try_from(self.mutants.len()).unwrap();
        self.mutants.extend((next..next + number).map(|line| mutant(CORE, FILE, line, status)));
        self
    }

    /// The same without any mutant.
    pub(crate) fn empty(mut self) -> Self {
        self.mutants.clear();
        self
    }

    /// The same with the job in another state.
    pub(crate) fn state(mut self, state: RunState) -> Self {
        self.runs[0].state = state;
        self
    }

    /// The same with a `polymut.toml`.
    pub(crate) fn config(mut self, text: &str) -> Self {
        self.config = parse(text, "polymut.toml").unwrap();
        self
    }

    pub(crate) fn judge(&self) -> Verdict {
        judge(&Judgement {
            mutants: &self.mutants,
            runs: &self.runs,
            scope: &self.scope,
            policy: &GatePolicy::new(&self.config.gate),
            waivers: &self.waivers,
            today: today(),
        })
    }
}

/// Every reason as one line: outcome, kind, message.
pub(crate) fn lines(verdict: &Verdict) -> Vec<String> {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    verdict
        .reasons
        .iter()
        .map(|reason| {
            let outcome = word(serde_json::to_value(reason.outcome).unwrap());
            let kind = word(serde_json::to_value(reason.kind).unwrap());
            format!("{outcome} {kind}: {}", reason.message)
        })
        .collect()
}

/// A report of these parts, judged.
pub(crate) fn report(case: &Case) -> Report {
    let mut mutants = case.mutants.clone();
    let waivers = polymut::gate::apply_waivers(&mut mutants, &case.waivers, today());
    Report {
        schema: SchemaVersion::current(),
        polymut: "0.1.0".to_owned(),
        scope: case.scope.clone(),
        runs: case.runs.clone(),
        summary: Summary::of(&mutants),
        mutants,
        waivers,
        verdict: case.judge(),
    }
}

/// Counts of one stage that add up.
pub(crate) fn stage(name: StageName, planned: u64, parsed: u64, dropped: &[(&str, u64)]) -> StageCount {
    let dropped: BTreeMap<String, u64> = dropped.iter().map(|(why, n)| ((*why).to_owned(), *n)).collect();
    let out: u64 = dropped.values().sum();
    StageCount { stage: name, planned: Some(planned), parsed, reported: parsed - out, dropped, missing: 0 }
}
