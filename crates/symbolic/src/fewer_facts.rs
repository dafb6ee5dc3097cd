//! Fewer exposed facts for a proof that completion found.
//!
//! In: the facts that it exposed. Out: sets of fewer facts to try, the coarsest first. Completion exposes what excludes one state after the
//! other, so it often exposes several places of a process where it only matters whether it is at one of them: `P[k]@crit` and `P[k]@leave`
//! where `P[k]@{crit, leave}` would do. One fixpoint tells whether a try is a proof, too.

use std::collections::BTreeSet;

use evidence::certificate::LocalFact;
use model::process::ProcessId;

/// Facts about more different sets of places are left as they are.
const MOST_FACTS: usize = 5;

/// Facts to expose instead: that control is at one of the places of some of the facts; those with fewest places first. None where facts
/// are about other things than control.
pub fn tries(exposed: &[(ProcessId, LocalFact)]) -> Vec<Vec<(ProcessId, LocalFact)>> {
    let mut places: BTreeSet<&Vec<usize>> = BTreeSet::new();
    for (_, fact) in exposed {
        let LocalFact::Control(points) = fact else { return Vec::new() };
        places.insert(points);
    }
    let places: Vec<&Vec<usize>> = places.into_iter().collect();
    if !(2..=MOST_FACTS).contains(&places.len()) {
        return Vec::new();
    }
    let processes: BTreeSet<ProcessId> = exposed.iter().map(|(process, _)| *process).collect();
    let mut chosen: Vec<BTreeSet<usize>> = (1..1_usize << places.len())
        .map(|choice| {
            let taken = places.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            taken.flat_map(|(_, points)| points.iter().copied()).collect()
        })
        .collect();
    chosen.sort_by_key(|points| (points.len(), points.clone()));
    chosen.dedup();
    let of_all = |points: BTreeSet<usize>| {
        let fact = LocalFact::Control(points.into_iter().collect());
        processes.iter().map(|&process| (process, fact.clone())).collect()
    };
    chosen.into_iter().map(of_all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_put_together() {
        let at = |process: usize, points: &[usize]| (ProcessId::new(process), LocalFact::Control(points.to_vec()));
        let found = tries(&[at(0, &[2]), at(0, &[3]), at(1, &[2]), at(1, &[3])]);
        let expected =
            [vec![at(0, &[2]), at(1, &[2])], vec![at(0, &[3]), at(1, &[3])], vec![at(0, &[2, 3]), at(1, &[2, 3])]];
        assert_eq!(found, expected);
        assert!(tries(&[at(0, &[2])]).is_empty(), "one fact is not less than one");
    }
}
