//! Makes the verdict document from what the jobs left.
//!
//! In: outcomes, scope, policy, waivers, owners. Out: [`Report`]. I/O: none.

use polymut_schemas::{Mutant, Outcome, Report, SchemaVersion, Scope, Summary, ToolRun, Verdict};

use crate::config::{Config, Waivers};
use crate::gate::{self, GatePolicy, Judgement};
use crate::normalize::unite;
use crate::owners::Owners;

/// What the jobs left.
pub struct Assembled {
    /// The scope with its claims.
    pub scope: Scope,
    /// How each job ran.
    pub runs: Vec<ToolRun>,
    /// Every chosen mutant of every job.
    pub mutants: Vec<Mutant>,
}

/// What the gate weighs beside the results.
pub struct GateInput {
    /// Recorded decisions.
    pub waivers: Waivers,
    /// Who owns which file.
    pub owners: Owners,
    /// Today, for expiries.
    pub today: jiff::civil::Date,
}

/// The document, judged.
pub fn report(assembled: Assembled, config: &Config, input: &GateInput) -> Report {
    let mut mutants = unite(assembled.mutants);
    for mutant in &mut mutants {
        mutant.owners = mutant.file.as_ref().map(|file| input.owners.of(file)).unwrap_or_default();
    }
    let mut runs = assembled.runs;
    runs.sort_by(|a, b| a.project.cmp(&b.project));
    judged(
        Report {
            schema: SchemaVersion::current(),
            polymut: env!("CARGO_PKG_VERSION").to_owned(),
            scope: assembled.scope,
            runs,
            summary: Summary::of(&mutants),
            mutants,
            waivers: Vec::new(),
            verdict: Verdict {
                outcome: Outcome::Inconclusive,
                mode: config.gate.mode.unwrap_or_default(),
                reasons: Vec::new(),
            },
        },
        config,
        input,
    )
}

/// The same results under a policy: waivers marked, counts and verdict made anew (`polymut gate`).
pub fn judged(mut report: Report, config: &Config, input: &GateInput) -> Report {
    report.waivers = gate::apply_waivers(&mut report.mutants, &input.waivers, input.today);
    report.summary = Summary::of(&report.mutants);
    report.verdict = gate::judge(&Judgement {
        mutants: &report.mutants,
        runs: &report.runs,
        scope: &report.scope,
        policy: &GatePolicy::new(&config.gate),
        waivers: &input.waivers,
        today: input.today,
    });
    report
}
