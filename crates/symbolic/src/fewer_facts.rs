//! Fewer exposed facts for a proof that completion found.
//!
//! In: the facts that it exposed. Out: sets of fewer facts to try, the coarsest first. Completion exposes what excludes one state after the
//! other, so it often exposes several places of a process where it only matters whether it is at one of them: `P[k]@crit` and `P[k]@leave`
//! where `P[k]@{crit, leave}` would do. One fixpoint decides whether a try is a proof, too.

use std::collections::{BTreeMap, BTreeSet};

use evidence::certificate::LocalFact;
use model::process::{FamilyId, ProcessId};

/// Facts about more different sets of places are left as they are.
const MOST_FACTS: usize = 5;

/// Facts to expose instead: that control is at one of the places of some of the facts; those with fewest places first. Places are those of one family: in
/// the text of another the same number is another place, or none. None where facts are about other things than control.
pub fn tries(
    exposed: &[(ProcessId, LocalFact)],
    family_of: impl Fn(ProcessId) -> FamilyId,
) -> Vec<Vec<(ProcessId, LocalFact)>> {
    let mut places: BTreeSet<(FamilyId, &Vec<usize>)> = BTreeSet::new();
    for (process, fact) in exposed {
        let LocalFact::Control(points) = fact else { return Vec::new() };
        places.insert((family_of(*process), points));
    }
    let places: Vec<(FamilyId, &Vec<usize>)> = places.into_iter().collect();
    if !(2..=MOST_FACTS).contains(&places.len()) {
        return Vec::new();
    }
    let processes: BTreeSet<ProcessId> = exposed.iter().map(|(process, _)| *process).collect();
    let mut chosen: Vec<BTreeMap<FamilyId, BTreeSet<usize>>> = (1..1_usize << places.len())
        .map(|choice| {
            let mut points: BTreeMap<FamilyId, BTreeSet<usize>> = BTreeMap::new();
            for (_, (family, some)) in places.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1) {
                points.entry(*family).or_default().extend(some.iter().copied());
            }
            points
        })
        .collect();
    chosen.sort_by_key(|points| (points.values().map(BTreeSet::len).sum::<usize>(), points.clone()));
    chosen.dedup();
    let of_all = |points: BTreeMap<FamilyId, BTreeSet<usize>>| {
        let fact = |&process: &ProcessId| {
            let points = points.get(&family_of(process))?;
            Some((process, LocalFact::Control(points.iter().copied().collect())))
        };
        processes.iter().filter_map(fact).collect()
    };
    chosen.into_iter().map(of_all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_put_together() {
        let at = |process: usize, points: &[usize]| (ProcessId::new(process), LocalFact::Control(points.to_vec()));
        let one = |_| FamilyId::new(0);
        let found = tries(&[at(0, &[2]), at(0, &[3]), at(1, &[2]), at(1, &[3])], one);
        let expected =
            [vec![at(0, &[2]), at(1, &[2])], vec![at(0, &[3]), at(1, &[3])], vec![at(0, &[2, 3]), at(1, &[2, 3])]];
        assert_eq!(found, expected);
        assert!(tries(&[at(0, &[2])], one).is_empty(), "one fact is not less than one");
    }

    #[test]
    fn places_of_one_family_are_none_of_another() {
        let at = |process: usize, points: &[usize]| (ProcessId::new(process), LocalFact::Control(points.to_vec()));
        let own = |process: ProcessId| FamilyId::new(process.index());
        let found = tries(&[at(0, &[3]), at(1, &[1])], own);
        assert_eq!(found, [vec![at(0, &[3])], vec![at(1, &[1])], vec![at(0, &[3]), at(1, &[1])]]);
    }
}
