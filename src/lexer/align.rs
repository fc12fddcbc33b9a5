//! The shortest edit between two sequences, given up when it becomes long.
//!
//! In: two slices. Out: the places that differ. I/O: none.
//!
//! Myers' greedy algorithm with a ceiling on the number of edits: no clock decides, so equal input gives an equal
//! answer, and a rewritten file costs no more than a small one.

use std::ops::Range;

/// Old items that were replaced by new ones; either side may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// More edits than this and the two sides count as unrelated.
const MOST_EDITS: usize = 600;

/// The edits that turn `old` into `new`, in order, none adjacent to another.
pub(crate) fn edits<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(prefix..).unwrap_or_default(), new.get(prefix..).unwrap_or_default());
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - suffix).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - suffix).unwrap_or_default();
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    let whole = Edit { old: prefix..prefix + old_middle.len(), new: prefix..prefix + new_middle.len() };
    if old_middle.is_empty() || new_middle.is_empty() {
        return vec![whole];
    }
    match trace(old_middle, new_middle) {
        Some(rounds) => gaps(&matches(&rounds, old_middle.len(), new_middle.len()), &whole),
        None => vec![whole],
    }
}

/// The furthest new place on each diagonal, one row per number of edits. Row `d` holds diagonals `-d..=d`.
fn trace<T: PartialEq>(old: &[T], new: &[T]) -> Option<Vec<Vec<usize>>> {
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for d in 0..=MOST_EDITS.min(old.len() + new.len()) {
        let mut row = vec![0; 2 * d + 1];
        for slot in (0..=2 * d).step_by(2) {
            // `x` counts old items, `y` new ones; x - y = slot - d.
            let mut x = rounds.last().map_or(0, |before| step(before, slot, d));
            while let Some(y) = (x + d).checked_sub(slot) {
                if x >= old.len() || y >= new.len() || old.get(x) != new.get(y) {
                    break;
                }
                x += 1;
            }
            if let Some(place) = row.get_mut(slot) {
                *place = x;
            }
            if x >= old.len() && (x + d).checked_sub(slot).is_some_and(|y| y >= new.len()) {
                rounds.push(row);
                return Some(rounds);
            }
        }
        rounds.push(row);
    }
    None
}

/// Where round `d` starts on the diagonal of `slot`, from the row of round `d - 1`.
fn step(before: &[usize], slot: usize, d: usize) -> usize {
    // In the row before, the diagonal below is slot - 2 (one old item taken), the one above is slot.
    let down = before.get(slot).copied();
    let right = slot.checked_sub(2).and_then(|left| before.get(left)).map(|x| x + 1);
    match (right, down) {
        (Some(right), Some(down)) if slot != 2 * d => right.max(down),
        (Some(right), _) => right,
        (None, Some(down)) => down,
        (None, None) => 0,
    }
}

/// The matched pairs, walked back from the end.
fn matches(rounds: &[Vec<usize>], old_len: usize, new_len: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (old_len, new_len);
    let mut pairs = Vec::new();
    for d in (0..rounds.len()).rev() {
        let Some(slot) = (x + d).checked_sub(y) else { break };
        let before = d.checked_sub(1).and_then(|d| rounds.get(d));
        let start = before.map_or(0, |row| step(row, slot, d));
        while x > start && y > 0 {
            x -= 1;
            y -= 1;
            pairs.push((x, y));
        }
        let Some(row) = before else { break };
        let down = row.get(slot).copied();
        let right = slot.checked_sub(2).and_then(|left| row.get(left)).map(|x| x + 1);
        if right.is_some_and(|right| right == start && down.is_none_or(|down| right >= down)) {
            x = x.saturating_sub(1);
        } else {
            y = y.saturating_sub(1);
        }
    }
    pairs.reverse();
    pairs
}

/// What lies between the matched pairs.
fn gaps(pairs: &[(usize, usize)], whole: &Edit) -> Vec<Edit> {
    let (mut x, mut y) = (whole.old.start, whole.new.start);
    let mut found = Vec::new();
    let ends = std::iter::once((whole.old.len(), whole.new.len()));
    for (old, new) in pairs.iter().copied().chain(ends) {
        let edit = Edit { old: x..whole.old.start + old, new: y..whole.new.start + new };
        if !edit.old.is_empty() || !edit.new.is_empty() {
            found.push(edit);
        }
        (x, y) = (whole.old.start + old + 1, whole.new.start + new + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Length of the longest common subsequence, by the textbook table.
    fn common(old: &[u8], new: &[u8]) -> usize {
        let mut row = vec![0_usize; new.len() + 1];
        for a in old {
            let mut diagonal = 0;
            for (at, b) in new.iter().enumerate() {
                let best = if a == b { diagonal + 1 } else { row[at].max(row[at + 1]) };
                diagonal = row[at + 1];
                row[at + 1] = best;
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn the_edits_rebuild_the_new_side_and_are_the_shortest(
            old in prop::collection::vec(0_u8..4, 0..30),
            new in prop::collection::vec(0_u8..4, 0..30),
        ) {
            let found = edits(&old, &new);
            let mut built = Vec::new();
            let mut at = 0;
            for edit in &found {
                built.extend_from_slice(&old[at..edit.old.start]);
                built.extend_from_slice(&new[edit.new.clone()]);
                at = edit.old.end;
            }
            built.extend_from_slice(&old[at..]);
            prop_assert_eq!(&built, &new);
            let removed: usize = found.iter().map(|edit| edit.old.len()).sum();
            prop_assert_eq!(removed, old.len() - common(&old, &new));
        }
    }

    #[test]
    fn two_unrelated_sides_are_one_edit() {
        let old: Vec<u32> = (0..5_000).collect();
        let new: Vec<u32> = (10_000..15_000).collect();
        assert_eq!(edits(&old, &new), vec![Edit { old: 0..5_000, new: 0..5_000 }]);
    }
}
