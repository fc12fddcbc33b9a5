//! Plays the rounds of a case through an adapter, as the pipeline would.
//!
//! In: a case and the input of each round. Out: [`Played`] per round. I/O: none.

use std::time::Duration;

use polymut_adapters::{
    Adapter, ColumnUnit, Facts, Job, Key, ParseError, Parsed, Plan, PlanError, Ran, RawMutant, RawPath,
    RawPosition, Round, Stage, Suspect, Units,
};
use polymut_schemas::{
    Mutant, MutantId, Operator, OperatorClass, Origin, Position, Provenance, RepoPath, Span, StageName,
    Status,
};

use crate::case::{Case, RoundSpec};
use crate::input::{Input, Setting, read_input, read_setting};

/// What an adapter made of a round.
pub(crate) struct Played {
    /// `None` for an import.
    pub(crate) plan: Option<Result<Option<Plan>, PlanError>>,
    /// `None` when the plan failed or there is none.
    pub(crate) parsed: Option<Result<Parsed, ParseError>>,
}

/// A case in motion.
pub(crate) struct Player<'a> {
    case: &'a Case,
    setting: Setting,
    past: Vec<(Round, Ran)>,
    pending: Vec<(Round, Ran)>,
    listed: Vec<RawMutant>,
    doubted: Vec<Suspect>,
}

enum Chosen {
    Probe,
    Prepare,
    List,
    Test(Units),
    Confirm(Vec<Suspect>),
    Replay(Box<Mutant>),
}

impl Chosen {
    fn stage(&self) -> Stage<'_> {
        match self {
            Self::Probe => Stage::Probe,
            Self::Prepare => Stage::Prepare,
            Self::List => Stage::List,
            Self::Test(units) => Stage::Test(units),
            Self::Confirm(suspects) => Stage::Confirm(suspects),
            Self::Replay(mutant) => Stage::Replay(mutant),
        }
    }
}

impl<'a> Player<'a> {
    /// A case before its first round.
    pub(crate) fn new(case: &'a Case) -> Self {
        let setting = read_setting(case);
        Self { case, setting, past: Vec::new(), pending: Vec::new(), listed: Vec::new(), doubted: Vec::new() }
    }

    /// Plays one round with its recorded input.
    pub(crate) fn play(&mut self, round: &RoundSpec) -> Played {
        let input = read_input(self.case, round);
        let outcome = self.peek(round, &input);
        self.settle(round, input.ran, &outcome);
        outcome
    }

    /// Plays one round with any input and forgets it.
    pub(crate) fn peek(&mut self, round: &RoundSpec, input: &Input) -> Played {
        let adapter = self.case.adapter;
        if round.stage == "import" {
            let parsed = Some(adapter.import(&input.named));
            return Played { plan: None, parsed };
        }
        if round.sandbox == 0 {
            self.past.append(&mut self.pending);
        }
        let chosen = self.choose(round);
        let job = Job {
            project: &self.setting.project,
            tree: &self.setting.tree,
            settings: &self.setting.settings,
            changed: &self.setting.changed,
            facts: &self.setting.facts,
            limits: &self.setting.limits,
            past: &self.past,
        };
        drive(adapter, &job, chosen.stage(), &input.ran)
    }

    fn settle(&mut self, round: &RoundSpec, ran: Ran, outcome: &Played) {
        let Some(Ok(parsed)) = &outcome.parsed else { return };
        if round.stage == "import" {
            return;
        }
        self.setting.facts.absorb(parsed.facts.clone());
        match round.stage.as_str() {
            "list" => self.listed.clone_from(&parsed.mutants),
            "test" => {
                self.doubted.extend(parsed.mutants.iter().filter_map(suspect));
                // A tool without a list stage names its mutants here.
                if self.listed.is_empty() {
                    self.listed.clone_from(&parsed.mutants);
                }
            }
            _ => {}
        }
        let stage = stage_name(round);
        let number =
            self.past.iter().filter(|(round, _)| round.stage == stage).map(|(round, _)| round.round + 1);
        let number = number.max().unwrap_or(0);
        self.pending.push((Round { stage, round: number, sandbox: round.sandbox }, ran));
    }

    fn choose(&self, round: &RoundSpec) -> Chosen {
        match stage_name(round) {
            StageName::Probe => Chosen::Probe,
            StageName::Prepare => Chosen::Prepare,
            StageName::List => Chosen::List,
            StageName::Test => Chosen::Test(self.units(round)),
            StageName::Confirm => Chosen::Confirm(self.doubted.clone()),
            StageName::Replay | StageName::Close => {
                let key = round.replay.as_ref().expect("a replay round names a listed key in `replay`");
                let found = self.listed.iter().find(|mutant| mutant.key.0 == *key);
                let found = found.unwrap_or_else(|| panic!("{}: no listed mutant `{key}`", self.case.name));
                Chosen::Replay(Box::new(self.document(found)))
            }
        }
    }

    fn units(&self, round: &RoundSpec) -> Units {
        if let Some(files) = &round.files {
            return Units::Files(
                files.iter().map(|file| RepoPath::new(file).expect("a path in `files`")).collect(),
            );
        }
        if let Some(keys) = &round.units {
            return Units::Mutants(keys.iter().cloned().map(Key).collect());
        }
        // What the list round gives a status is settled already (left out by the user).
        let open = self.listed.iter().filter(|mutant| mutant.status.is_none());
        Units::Mutants(open.map(|mutant| mutant.key.clone()).collect())
    }

    /// A raw mutant as the document would hold it, as far as a replay may look.
    fn document(&self, raw: &RawMutant) -> Mutant {
        let file = match &raw.path {
            RawPath::FromProject(path) => self.setting.project.dir.join(path).ok(),
            RawPath::FromRepo(path) => RepoPath::new(path).ok(),
            RawPath::Absolute(_) | RawPath::Declared { .. } => None,
        };
        Mutant {
            id: MutantId::of(&[&raw.key.0]),
            project: self.setting.project.id(),
            tool: self.setting.project.tool.clone(),
            key: raw.key.0.clone(),
            file,
            tool_file: None,
            span: span(raw),
            function: raw.function.clone(),
            operator: Operator {
                name: raw.change.operator.clone(),
                class: raw.change.class.unwrap_or(OperatorClass::Other),
            },
            original: raw.change.original.clone(),
            replacement: raw.change.replacement.clone(),
            diff: raw.change.diff.clone(),
            description: raw.change.description.clone(),
            status: raw.status.unwrap_or(Status::Survived),
            tool_status: raw.word.clone(),
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
                artifact: raw.artifact.clone(),
                pointer: None,
                cached: false,
                resumed: false,
            },
        }
    }
}

/// The span, where it needs no conversion.
fn span(raw: &RawMutant) -> Option<Span> {
    let position = |position: RawPosition| Position { line: position.line, column: position.column };
    let own = raw.span.unit == ColumnUnit::Chars;
    own.then(|| Span { start: position(raw.span.start), end: raw.span.end.map(position) })
}

fn suspect(mutant: &RawMutant) -> Option<Suspect> {
    mutant.doubt.map(|why| Suspect { key: mutant.key.clone(), why })
}

fn drive(adapter: &dyn Adapter, job: &Job<'_>, stage: Stage<'_>, ran: &Ran) -> Played {
    let plan = adapter.plan(job, stage);
    let parsed = match &plan {
        Ok(Some(_)) => Some(adapter.parse(job, stage, ran)),
        Ok(None) | Err(_) => None,
    };
    Played { plan: Some(plan), parsed }
}

fn stage_name(round: &RoundSpec) -> StageName {
    match round.stage.as_str() {
        "probe" => StageName::Probe,
        "prepare" => StageName::Prepare,
        "list" => StageName::List,
        "test" => StageName::Test,
        "confirm" => StageName::Confirm,
        "replay" => StageName::Replay,
        other => panic!("`stage = \"{other}\"`"),
    }
}

/// Facts of nothing: a job of an adapter that has learned nothing must not panic.
pub(crate) fn with_nothing_known(player: &mut Player<'_>) {
    player.setting.facts = Facts::default();
    player.setting.limits.baseline = None;
    player.setting.limits.floor = Duration::from_secs(1);
}
