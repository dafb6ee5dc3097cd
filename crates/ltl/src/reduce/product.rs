//! Whether two graphs have a word in common.
//!
//! In: two graphs over the same atoms. Out: whether some word is accepted by both. The pairs of states that a word can lead to form a graph; a word
//! is common if a component of it has all marks of both on its inner edges.

use rustc_hash::FxHashMap;

use super::ReductionWork;
use super::prune::Survey;
use crate::bits::Bits;
use crate::diagram::{DiagramResult, Diagrams};
use crate::graph::{Arc, AutomatonGraph};

/// Whether no word is accepted by both.
pub fn is_disjoint(work: &mut ReductionWork<'_>, one: &AutomatonGraph, two: &AutomatonGraph) -> DiagramResult<bool> {
    let mut numbers: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let first = (one.initial, two.initial);
    numbers.insert(first, 0);
    let mut pairs = vec![first];
    let mut states: Vec<Vec<Arc>> = Vec::new();
    while let Some(&(left, right)) = pairs.get(states.len()) {
        work.budget.check(0)?;
        let mut arcs = Vec::new();
        for a in &one.states[left] {
            for b in &two.states[right] {
                let label = work.diagrams.and(a.label, b.label)?;
                if label == Diagrams::FALSE {
                    continue;
                }
                let pair = (a.target, b.target);
                let target = *numbers.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() - 1
                });
                let shifted: Bits = b.marks.iter().map(|mark| mark + one.n_marks).collect();
                arcs.push(Arc { label, marks: a.marks.union(&shifted), target });
            }
        }
        states.push(arcs);
    }
    let product = AutomatonGraph { states, initial: 0, n_marks: one.n_marks + two.n_marks };
    Ok(!Survey::new(&product).is_accepting.contains(&true))
}
