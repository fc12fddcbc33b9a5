//! Which deleted file an added one was.
//!
//! In: [`Delta`]s. Out: the same with renames joined. I/O: reads the candidates' bytes.
//!
//! Done here and not by libgit2, because the working tree's untracked files take part, and because libgit2 compares
//! every pair. Here a file is only compared with those that share uncommon lines with it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::delta::{Delta, Side};
use super::error::GitError;
use super::repo::Repo;
use super::text;

/// Candidates above this size are not compared.
const LARGEST: usize = 1 << 20;
/// A line that more deleted files have says nothing about which of them it came from.
const COMMON: usize = 16;
/// How many candidates per added file are compared in full.
const CLOSEST: usize = 4;

/// The bytes of each distinct line of a file.
type Lines = HashMap<u64, usize>;

/// Joins an added and a deleted file that share at least half of their bytes.
pub(super) fn join(repo: &Repo, deltas: Vec<Delta>) -> Result<Vec<Delta>, GitError> {
    let gone = candidates(repo, &deltas, |delta| delta.old.as_ref().filter(|_| delta.new.is_none()))?;
    if gone.is_empty() {
        return Ok(deltas);
    }
    let come = candidates(repo, &deltas, |delta| delta.new.as_ref().filter(|_| delta.old.is_none()))?;
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut given: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, _, new, old) in scores(&deltas, &gone, &come) {
        if !taken.contains_key(&new) && !given.contains_key(&old) {
            taken.insert(new, old);
            given.insert(old, new);
        }
    }
    let sources: Vec<(Vec<u8>, Option<Side>)> =
        deltas.iter().map(|delta| (delta.path.clone(), delta.old.clone())).collect();
    let joined = deltas.into_iter().enumerate().filter(|(at, _)| !given.contains_key(at));
    Ok(joined
        .map(|(at, mut delta)| {
            if let Some((path, old)) = taken.get(&at).and_then(|source| sources.get(*source)) {
                delta.old_path = Some(path.clone());
                delta.old.clone_from(old);
            }
            delta
        })
        .collect())
}

/// The lines of those text files that `pick` names, by their place in `deltas`.
fn candidates(
    repo: &Repo,
    deltas: &[Delta],
    pick: impl Fn(&Delta) -> Option<&Side>,
) -> Result<BTreeMap<usize, Lines>, GitError> {
    let mut found = BTreeMap::new();
    for (at, delta) in deltas.iter().enumerate() {
        let (Some(side), Ok(path)) = (pick(delta), std::str::from_utf8(&delta.path)) else { continue };
        if !side.is_file() {
            continue;
        }
        let bytes = repo.read(path, side)?;
        if !bytes.is_empty() && bytes.len() <= LARGEST && !text::is_binary(&bytes) {
            found.insert(at, lines(&bytes));
        }
    }
    Ok(found)
}

fn lines(bytes: &[u8]) -> Lines {
    let mut lines = Lines::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        *lines.entry(hasher.finish()).or_default() += line.len() + 1;
    }
    lines
}

/// Pairs that are alike enough, the best first: likeness in per mille, same file name, place of new and old.
fn scores(
    deltas: &[Delta],
    gone: &BTreeMap<usize, Lines>,
    come: &BTreeMap<usize, Lines>,
) -> Vec<(usize, bool, usize, usize)> {
    let mut owners: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut named: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (at, lines) in gone {
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each line goes to its own list; the order between them is free"
        )]
        for line in lines.keys() {
            owners.entry(*line).or_default().push(*at);
        }
        named.entry(file_name(deltas, *at)).or_default().push(*at);
    }
    let mut found = Vec::new();
    for (new, lines) in come {
        let name = file_name(deltas, *new);
        let same_name = named.get(name).into_iter().flatten().take(CLOSEST).copied();
        for old in closest(lines, &owners).into_iter().chain(same_name) {
            let likeness = gone.get(&old).map_or(0, |old| likeness(old, lines));
            if likeness >= 500 {
                found.push((likeness, file_name(deltas, old) == name, *new, old));
            }
        }
    }
    found.sort_unstable_by_key(|(likeness, same, new, old)| {
        (std::cmp::Reverse((*likeness, *same)), *new, *old)
    });
    found
}

fn file_name(deltas: &[Delta], at: usize) -> &[u8] {
    let path = deltas.get(at).map_or(&[][..], |delta| &delta.path);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The deleted files that share most bytes in uncommon lines.
fn closest(lines: &Lines, owners: &HashMap<u64, Vec<usize>>) -> Vec<usize> {
    let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
    #[expect(clippy::iter_over_hash_type, reason = "a sum does not depend on the order")]
    for (line, bytes) in lines {
        let Some(owners) = owners.get(line).filter(|owners| owners.len() <= COMMON) else { continue };
        for old in owners {
            *shared.entry(*old).or_default() += bytes;
        }
    }
    let mut ranked: Vec<(usize, usize)> = shared.into_iter().map(|(old, bytes)| (bytes, old)).collect();
    ranked.sort_unstable_by_key(|(bytes, old)| (std::cmp::Reverse(*bytes), *old));
    ranked.into_iter().take(CLOSEST).map(|(_, old)| old).collect()
}

/// Shared bytes of the larger file, in per mille.
fn likeness(old: &Lines, new: &Lines) -> usize {
    let shared: usize =
        new.iter().map(|(line, bytes)| old.get(line).map_or(0, |other| *other.min(bytes))).sum();
    let size = |lines: &Lines| lines.values().sum::<usize>();
    shared * 1000 / size(old).max(size(new)).max(1)
}
