//! Mutants of a report that a tool wrote elsewhere: no tree, no source, nothing is left out.
//!
//! In: raw mutants. Out: mutants, one for each. I/O: none.

use std::collections::BTreeMap;

use polymut_adapters::{ColumnUnit, RawMutant, RawPath, RawSpan};
use polymut_schemas::{
    Mutant, MutantId, Operator, OperatorClass, Origin, Position, ProjectId, Provenance, RepoDir, RepoPath,
    Span, Status, ToolId,
};

use super::sort;

/// One mutant per record. Without the source, ids hold the place: they join equal reports, not moved code.
pub fn foreign(tool: &ToolId, raw: Vec<RawMutant>) -> Vec<Mutant> {
    let mut equal: BTreeMap<MutantId, u32> = BTreeMap::new();
    let mut mutants: Vec<Mutant> = raw.into_iter().map(|record| settle(tool, record)).collect();
    sort(&mut mutants);
    for mutant in &mut mutants {
        let rank = equal.entry(mutant.id.clone()).or_default();
        if *rank > 0 {
            mutant.id = MutantId::of(&[mutant.id.as_str(), &rank.to_string()]);
        }
        *rank += 1;
    }
    mutants
}

fn settle(tool: &ToolId, raw: RawMutant) -> Mutant {
    let name = name(&raw.path);
    let file = RepoPath::new(&name).ok();
    let span = (raw.span.start.line > 0).then(|| span(raw.span));
    let parts = [
        tool.as_str(),
        &name,
        &raw.key.0,
        &raw.change.operator,
        raw.change.replacement.as_deref().unwrap_or_default(),
        &raw.span.start.line.to_string(),
    ];
    Mutant {
        id: MutantId::of(&parts),
        project: ProjectId::of(tool, &RepoDir::root()),
        tool: tool.clone(),
        key: raw.key.0,
        tool_file: file.is_none().then_some(name),
        file,
        span,
        function: raw.function,
        operator: Operator {
            name: raw.change.operator,
            class: raw.change.class.unwrap_or(OperatorClass::Other),
        },
        original: raw.change.original,
        replacement: raw.change.replacement,
        diff: raw.change.diff,
        description: raw.change.description,
        status: raw.status.unwrap_or(Status::NotRun),
        tool_status: raw.word,
        detail: raw.detail,
        killed_by: super::sorted(raw.tests.killed_by),
        covered_by: super::sorted(raw.tests.covered_by),
        duration: raw.duration,
        in_scope: true,
        origin: Origin::Unknown,
        confirmed: None,
        is_static: raw.is_static,
        owners: Vec::new(),
        waiver: None,
        provenance: Provenance {
            artifact: raw.artifact,
            pointer: raw.pointer,
            cached: false,
            resumed: false,
        },
    }
}

/// The file as far as the report tells it.
fn name(path: &RawPath) -> String {
    match path {
        RawPath::FromProject(text) | RawPath::FromRepo(text) | RawPath::Absolute(text) => text.clone(),
        RawPath::Declared { package, file, .. } if package.is_empty() => file.clone(),
        RawPath::Declared { package, file, .. } => format!("{}/{file}", package.replace('.', "/")),
    }
}

/// Lines always; columns only where the tool counts characters as the document does.
fn span(raw: RawSpan) -> Span {
    let position = |at: polymut_adapters::RawPosition| {
        let column = match raw.unit {
            ColumnUnit::Chars => at.column,
            ColumnUnit::CharsFromZero => at.column.map(|column| column + 1),
            ColumnUnit::Utf16 | ColumnUnit::Bytes | ColumnUnit::None => None,
        };
        Position { line: at.line, column }
    };
    Span { start: position(raw.start), end: raw.end.map(position) }
}
