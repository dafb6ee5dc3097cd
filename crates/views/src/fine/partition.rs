//! Partitions of local states: which of them a view tells apart.
//!
//! In: a program as a [`Skeleton`] and the cells of a view. Out: for each local state its block. By *signature*: two local states are in one block if
//! the same steps leave them, as the view shows these, and they are in the same sets that these ask for; only steps that touch a cell of the view
//! count, and the others from the same local states. Then rounds that split blocks by where steps lead.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::closure::Shape;
use super::datum::Datum;
use super::skeleton::{Edge, Skeleton, Target};
use super::step::Scan;
use crate::sight::Ground;

/// How fine a partition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fineness {
    /// By signature, and so many rounds.
    Rounds(usize),
    /// Every local state by itself.
    Full,
}

/// A step as a view shows it, but for its local states.
type Signature = (Vec<(usize, Datum)>, Vec<(usize, Datum)>, Vec<u32>, Option<Target>, Scan);

/// A view of these cells, whose partition keeps to the given sets, too.
pub fn shape(
    ground: Ground<'_>,
    skeleton: &Skeleton,
    (cells, k): (&[usize], usize),
    keep: &[Bits],
    fineness: Fineness,
) -> Shape {
    let n = skeleton.states.len();
    let rounds = match fineness {
        Fineness::Full => {
            let blocks = (0..n as u32).collect();
            return Shape { cells: cells.to_vec(), k, blocks, n_blocks: n };
        }
        Fineness::Rounds(rounds) => rounds,
    };
    let touches = |edge: &Edge| edge.guards.iter().chain(&edge.writes).any(|(column, _)| cells.contains(column));
    let mut is_relevant = vec![false; n];
    let mut sets: BTreeSet<u32> = BTreeSet::new();
    for edge in skeleton.edges.iter().filter(|edge| touches(edge)) {
        match edge.from {
            Some(from) => is_relevant[from as usize] = true,
            None => sets.extend(&edge.all),
        }
    }
    let within = |list: &[(usize, Datum)]| -> Vec<(usize, Datum)> {
        list.iter().filter(|(column, _)| cells.contains(column)).copied().collect()
    };
    let mut signatures: Vec<BTreeSet<Signature>> = vec![BTreeSet::new(); n];
    for edge in &skeleton.edges {
        let Some(from) = edge.from.filter(|&from| is_relevant[from as usize]) else { continue };
        sets.extend(&edge.all);
        if let Some(Target::Other(set)) = edge.target {
            sets.insert(set);
        }
        let signature = (within(&edge.guards), within(&edge.writes), edge.all.clone(), edge.target, edge.scan);
        signatures[from as usize].insert(signature);
    }
    let member = |state: usize| -> Vec<bool> {
        let of = sets.iter().map(|&set| &skeleton.sets[set as usize]).chain(keep);
        of.map(|set| set.contains(state)).collect()
    };
    let mut blocks = numbered((0..n).map(|state| {
        let is_scanning = is_relevant[state] && skeleton.is_scanning(ground, state as u32);
        (std::mem::take(&mut signatures[state]), member(state), is_scanning)
    }));
    let mut leads: Vec<Vec<u32>> = vec![Vec::new(); n];
    for edge in &skeleton.edges {
        if let (Some(from), Some(to)) = (edge.from, edge.to) {
            leads[from as usize].push(to);
        }
    }
    for _ in 0..rounds {
        let next = |state: usize| leads[state].iter().map(|&to| blocks[to as usize]).collect::<BTreeSet<u32>>();
        blocks = numbered((0..n).map(|state| (blocks[state], next(state))));
    }
    let n_blocks = blocks.iter().max().map_or(0, |&most| most as usize + 1);
    Shape { cells: cells.to_vec(), k, blocks, n_blocks }
}

/// Equal keys get equal numbers, in the order in which they come.
fn numbered<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut known: FxHashMap<K, u32> = FxHashMap::default();
    keys.map(|key| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    })
    .collect()
}
