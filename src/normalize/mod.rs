//! Gives each raw mutant a path, a span, a diff and an id, and marks it in or out of scope.
//!
//! In: raw mutants of one stage, sources, scope. Out: [`Normalized`]. I/O: none. Station 6 of 8.
//!
//! # Invariants
//! - This room alone resolves a tool's paths and columns, and alone decides what is in scope.
//! - Nothing vanishes: `parsed == mutants + dropped by reason`, counted in [`Normalized::dropped`].

pub(crate) mod change;
mod columns;
mod fingerprint;
mod foreign;
mod functions;
mod paths;
mod unite;

use std::collections::BTreeMap;

use polymut_adapters::{Doubt, Key, RawMutant, RawPath, Tree};
use polymut_schemas::{
    LineRange, LineSet, Mutant, Operator, OperatorClass, Origin, ProjectId, Provenance, RepoDir, RepoPath,
    Scope, ScopeWidth, Span, Status, ToolId,
};

pub use foreign::foreign;
pub use functions::{Function, functions};
pub use paths::{PathProblem, Resolver};
pub use unite::{sort, unite};

use crate::sources::Sources;

/// What a stage's mutants are read against.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// Its folder.
    pub dir: &'a RepoDir,
    /// The tool.
    pub tool: &'a ToolId,
    /// Files of the repository.
    pub tree: &'a Tree,
    /// Text of the new side.
    pub sources: &'a Sources,
    /// Changed lines.
    pub scope: &'a Scope,
    /// Absolute folders that stood for the repository root while the tool ran.
    pub roots: &'a [String],
}

/// A mutant with the adapter's own name and doubt beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyed {
    /// The adapter's name.
    pub key: Key,
    /// Why its answer is doubted.
    pub doubt: Option<Doubt>,
    /// Whether the tool gave a status, or only listed it.
    pub judged: bool,
    /// The mutant.
    pub mutant: Mutant,
}

/// One stage's mutants, settled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Normalized {
    /// In and out of scope.
    pub mutants: Vec<Keyed>,
    /// How many records were left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Files of the repository that the tool provably read.
    pub seen: Vec<RepoPath>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Settles the mutants of one stage.
pub fn normalize(context: &Context<'_>, raw: Vec<RawMutant>, seen: &[RawPath]) -> Normalized {
    let resolver = Resolver::new(context.dir, context.tree, context.sources, context.roots);
    let mut out = Normalized::default();
    for record in raw {
        match settle(context, &resolver, record) {
            Ok(keyed) => out.mutants.push(keyed),
            Err(problem) => {
                if let Some(note) = problem.note() {
                    out.notes.push(note);
                }
                *out.dropped.entry(problem.reason().to_owned()).or_default() += 1;
            }
        }
    }
    out.seen = seen.iter().filter_map(|path| resolver.resolve(path).ok()).collect();
    out.seen.sort();
    out.seen.dedup();
    out.notes.sort();
    out.notes.dedup();
    fingerprint::assign(&mut out.mutants, context.sources);
    out
}

fn settle(context: &Context<'_>, resolver: &Resolver<'_>, raw: RawMutant) -> Result<Keyed, PathProblem> {
    let file = resolver.resolve(&raw.path)?;
    let text = context.sources.text(&file);
    let span = match raw.span.start.line {
        0 => None,
        _ => Some(columns::convert(raw.span, text)?),
    };
    let judged = raw.status.is_some();
    let original =
        raw.change.original.clone().or_else(|| text.zip(span).and_then(|(t, s)| columns::slice(t, s)));
    let function = raw.function.clone().or_else(|| text.zip(span).and_then(|(t, s)| enclosing(&file, t, s)));
    let diff = change::diff(&change::Edit {
        file: &file,
        text,
        span,
        replacement: raw.change.replacement.as_deref(),
        given: raw.change.diff.as_deref(),
    });
    let in_scope = span.is_some_and(|span| in_scope(context.scope, &file, text, span));
    let class = raw.change.class.unwrap_or(OperatorClass::Other);
    Ok(Keyed {
        key: raw.key.clone(),
        doubt: raw.doubt,
        judged,
        mutant: Mutant {
            id: fingerprint::placeholder(),
            project: context.project.clone(),
            tool: context.tool.clone(),
            key: raw.key.0,
            file: Some(file),
            tool_file: None,
            span,
            function,
            operator: Operator { name: raw.change.operator, class },
            original,
            replacement: raw.change.replacement,
            diff,
            description: raw.change.description,
            status: raw.status.unwrap_or(Status::NotRun),
            tool_status: raw.word,
            detail: raw.detail,
            killed_by: sorted(raw.tests.killed_by),
            covered_by: sorted(raw.tests.covered_by),
            duration: raw.duration,
            in_scope,
            origin: Origin::New,
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
        },
    })
}

/// Names of tests in an order that does not depend on which of them ended first.
fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

fn enclosing(file: &RepoPath, text: &str, span: Span) -> Option<String> {
    functions(file, text)
        .into_iter()
        .filter(|function| function.lines.first <= span.start.line)
        .rfind(|function| {
            let lines = span.lines();
            lines.last <= function.lines.last
        })
        .map(|function| function.name)
}

/// Whether a span touches what the scope asks for in its file.
fn in_scope(scope: &Scope, file: &RepoPath, text: Option<&str>, span: Span) -> bool {
    if scope.width == ScopeWidth::All {
        return true;
    }
    let Some(changed) = scope.file(file) else { return false };
    match scope.width {
        ScopeWidth::All => true,
        ScopeWidth::File => !changed.lines.is_empty(),
        ScopeWidth::Line => changed.lines.touches(span.lines()),
        ScopeWidth::Function => text.map_or_else(
            || changed.lines.touches(span.lines()),
            |text| widened(file, text, &changed.lines).touches(span.lines()),
        ),
    }
}

/// The changed lines, widened to the whole functions that hold one.
fn widened(file: &RepoPath, text: &str, lines: &LineSet) -> LineSet {
    let holding = functions(file, text)
        .into_iter()
        .map(|function| function.lines)
        .filter(|range| lines.touches(*range));
    let own: Vec<LineRange> = lines.ranges().to_vec();
    LineSet::from_ranges(holding.chain(own))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use polymut_adapters::{Change, ColumnUnit, RawPosition, RawSpan, Tests};
    use polymut_schemas::{FileChange, NewSide, ScopeFile, ScopeSource};

    use super::*;

    fn raw(key: &str, line: u32, from: u32, to: u32) -> RawMutant {
        RawMutant {
            key: Key(key.to_owned()),
            path: RawPath::FromProject("src/a.rs".to_owned()),
            span: RawSpan {
                start: RawPosition { line, column: Some(from) },
                end: Some(RawPosition { line, column: Some(to) }),
                unit: ColumnUnit::Chars,
            },
            status: Some(Status::Survived),
            word: "MissedMutant".to_owned(),
            doubt: None,
            change: Change {
                operator: "BinaryOperator".to_owned(),
                replacement: Some("<=".to_owned()),
                ..Change::default()
            },
            tests: Tests::default(),
            function: None,
            detail: None,
            duration: None,
            is_static: None,
            pointer: None,
            artifact: "outcomes.json".to_owned(),
        }
    }

    fn settled(text: &str, changed: &[u32], records: Vec<RawMutant>) -> Normalized {
        let path = RepoPath::new("src/a.rs").unwrap();
        let mut sources = Sources::default();
        sources.insert(path.clone(), text.as_bytes().to_vec());
        let scope = Scope {
            source: ScopeSource::Git,
            new_side: NewSide::WorkingTree,
            width: ScopeWidth::Line,
            base: None,
            head: None,
            merge_base: None,
            files: vec![ScopeFile {
                path: path.clone(),
                change: FileChange::Modified,
                old_path: None,
                lines: LineSet::from_lines(changed.iter().copied()),
                same_tokens: LineSet::default(),
                outside: None,
                projects: Vec::new(),
            }],
        };
        let tool = ToolId::from("cargo-mutants");
        let context = Context {
            project: &ProjectId("p".to_owned()),
            dir: &RepoDir::root(),
            tool: &tool,
            tree: &Tree::new([path], BTreeMap::new()),
            sources: &sources,
            scope: &scope,
            roots: &[],
        };
        normalize(&context, records, &[])
    }

    fn ids(normalized: &Normalized) -> Vec<String> {
        normalized.mutants.iter().map(|keyed| keyed.mutant.id.to_string()).collect()
    }

    #[test]
    fn an_id_survives_shifted_lines_and_moved_functions() {
        let before = settled(
            "fn a() {\n    x < y;\n}\nfn b() {\n    x < y;\n}\n",
            &[2],
            vec![raw("1", 2, 7, 8), raw("2", 5, 7, 8)],
        );
        let after = settled(
            "// new\n\nfn b() {\n    x < y;\n}\nfn a() {\n    x < y;\n}\n",
            &[2],
            vec![raw("1", 7, 7, 8), raw("2", 4, 7, 8)],
        );
        assert_eq!(ids(&before), ids(&after));
        assert_ne!(ids(&before)[0], ids(&before)[1]);
    }

    #[test]
    fn an_id_does_not_depend_on_what_else_was_tested() {
        let text = "fn a() {\n    x < y && y < z;\n}\n";
        let both = settled(text, &[2], vec![raw("1", 2, 7, 8), raw("2", 2, 14, 15)]);
        let second = settled(text, &[2], vec![raw("2", 2, 14, 15)]);
        assert_eq!(ids(&both)[1], ids(&second)[0]);
        assert_ne!(ids(&both)[0], ids(&both)[1]);
    }

    #[test]
    fn only_a_span_that_touches_a_changed_line_is_in_scope() {
        let out = settled(
            "fn a() {\n    x < y;\n    x < z;\n}\n",
            &[3],
            vec![raw("1", 2, 7, 8), raw("2", 3, 7, 8)],
        );
        assert_eq!(out.mutants.iter().map(|keyed| keyed.mutant.in_scope).collect::<Vec<_>>(), [false, true]);
        assert_eq!(out.mutants[1].mutant.original.as_deref(), Some("<"));
        assert_eq!(out.mutants[1].mutant.function.as_deref(), Some("a"));
    }

    #[test]
    fn what_has_no_place_is_counted_by_reason() {
        let mut foreign = raw("3", 1, 1, 2);
        foreign.path = RawPath::FromProject("target/gen.rs".to_owned());
        let out = settled("fn a() {}\n", &[1], vec![raw("1", 1, 1, 2), raw("2", 99, 1, 2), foreign]);
        assert_eq!(
            out.mutants.len() + out.dropped.values().map(|n| usize::try_from(*n).unwrap()).sum::<usize>(),
            3
        );
        assert_eq!(out.dropped.len(), 2);
    }
}
