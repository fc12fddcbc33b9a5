//! Unites records of one id from several projects, sandboxes, shards and stages by one rule.
//!
//! In: mutants, ids repeated. Out: mutants, each id once. I/O: none.
//!
//! The rule: within one project the worst answer wins (two target frameworks of one suite must both kill);
//! between projects a detection anywhere is a detection, and short of that an unknown outweighs a survivor,
//! because the suite that did not answer might have killed it.

use std::collections::BTreeMap;

use polymut_schemas::{Mutant, MutantId, ProjectId, Status, StatusGroup};

/// Each id once, in the document's order: file, place, tool, id.
pub fn unite(records: Vec<Mutant>) -> Vec<Mutant> {
    let mut by_project: BTreeMap<(MutantId, ProjectId), Mutant> = BTreeMap::new();
    for record in records {
        let key = (record.id.clone(), record.project.clone());
        match by_project.remove(&key) {
            None => by_project.insert(key, record),
            Some(known) => {
                by_project.insert(key, if harm(record.status) > harm(known.status) { record } else { known })
            }
        };
    }
    let mut by_id: BTreeMap<MutantId, Mutant> = BTreeMap::new();
    for ((id, _), record) in by_project {
        match by_id.remove(&id) {
            None => by_id.insert(id, record),
            Some(known) => {
                by_id.insert(id, if proof(record.status) > proof(known.status) { record } else { known })
            }
        };
    }
    let mut united: Vec<Mutant> = by_id.into_values().collect();
    sort(&mut united);
    united
}

/// The document's order.
pub fn sort(mutants: &mut [Mutant]) {
    mutants.sort_by(|a, b| {
        let place = |m: &Mutant| (m.file.clone(), m.tool_file.clone(), m.span, m.tool.clone());
        place(a).cmp(&place(b)).then_with(|| a.id.cmp(&b.id)).then_with(|| a.key.cmp(&b.key))
    });
}

/// How bad an answer is within one project.
fn harm(status: Status) -> u8 {
    match status.group() {
        StatusGroup::NotScored => 0,
        StatusGroup::Detected => 1,
        StatusGroup::Unknown => 2,
        StatusGroup::Undetected => 3,
    }
}

/// How much an answer proves between projects.
fn proof(status: Status) -> u8 {
    match status.group() {
        StatusGroup::NotScored => 0,
        StatusGroup::Undetected => 1,
        StatusGroup::Unknown => 2,
        StatusGroup::Detected => 3,
    }
}
