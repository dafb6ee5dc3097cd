//! Pairwise exclusions as counts: "not both" for every two of n tests is "at most one" of the n.
//!
//! Mutual exclusion of n processes is written as n·(n−1)/2 pairs; counting evaluates each of the n tests once. In: the
//! pairs. Out: sets all of whose pairs were given, found greedily, each with at least `min_size` members.

use std::collections::{BTreeMap, BTreeSet};

use super::TermId;

/// Two tests that do not both hold, the smaller one first.
pub type ExclusivePair = (TermId, TermId);

/// Sets of tests that exclude each other pairwise. No two of them share a pair.
pub fn cliques(pairs: Vec<ExclusivePair>, min_size: usize) -> Vec<Vec<TermId>> {
    let mut neighbours: BTreeMap<TermId, BTreeSet<TermId>> = BTreeMap::new();
    for (a, b) in pairs {
        if a != b {
            neighbours.entry(a).or_default().insert(b);
            neighbours.entry(b).or_default().insert(a);
        }
    }
    let mut found = Vec::new();
    let tests: Vec<TermId> = neighbours.keys().copied().collect();
    for &seed in &tests {
        let mut clique = vec![seed];
        let mut common = neighbours[&seed].clone();
        while let Some(next) = common.pop_first() {
            clique.push(next);
            common = common.intersection(&neighbours[&next]).copied().collect();
        }
        if clique.len() < min_size {
            continue;
        }
        clique.sort();
        for member in &clique {
            if let Some(others) = neighbours.get_mut(member) {
                others.retain(|other| !clique.contains(other));
            }
        }
        found.push(clique);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(u32, u32)], expected: &[&[u32]]) {
        let pairs = pairs.iter().map(|&(a, b)| (TermId(a), TermId(b))).collect();
        let found = cliques(pairs, 3);
        let found: Vec<Vec<u32>> = found.iter().map(|clique| clique.iter().map(|id| id.0).collect()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn all_pairs_of_a_clique_are_given() {
        check(&[(0, 1), (0, 2), (1, 2)], &[&[0, 1, 2]]);
        check(&[(0, 1), (0, 2)], &[]);
        check(&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], &[&[0, 1, 2]]);
        check(&[(0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (3, 5), (2, 3)], &[&[0, 1, 2], &[3, 4, 5]]);
        check(&[(0, 0), (1, 1)], &[]);
    }
}
