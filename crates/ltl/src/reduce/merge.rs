//! States that may become one although neither simulates the other.
//!
//! In: a graph, and one of all words that it does not accept. Out: a graph of the same words, with fewer states where that is possible. To make one of
//! two states never loses a word; that it adds none is seen from the other graph, with which the new one must have no word in common.

use super::prune::Survey;
use super::{ReductionWork, product};
use crate::bits::Bits;
use crate::diagram::DiagramResult;
use crate::graph::{Arc, AutomatonGraph};

/// Graphs with more states are not tried: there is a test for each pair of states.
const MAX_STATES: usize = 24;
/// The most arcs of the other graph.
const MAX_OPPOSITE_ARCS: usize = 400;

/// To what marks belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// To arcs.
    Arcs,
    /// To states: all arcs of a state carry the same.
    States,
}

/// Makes one of two states as long as that leaves the words as they are; `finish` reduces what was made by other means.
pub fn merge(
    work: &mut ReductionWork<'_>,
    mut graph: AutomatonGraph,
    (opposite, marks): (&AutomatonGraph, Marks),
    finish: impl Fn(&mut ReductionWork<'_>, AutomatonGraph) -> DiagramResult<AutomatonGraph>,
) -> DiagramResult<AutomatonGraph> {
    if opposite.size().1 > MAX_OPPOSITE_ARCS {
        return Ok(graph);
    }
    while graph.states.len() <= MAX_STATES {
        match merge_once(work, &graph, (opposite, marks), &finish)? {
            Some(smaller) => graph = smaller,
            None => break,
        }
    }
    Ok(graph)
}

/// The first graph with fewer states to which one pair of states leads.
fn merge_once(
    work: &mut ReductionWork<'_>,
    graph: &AutomatonGraph,
    (opposite, marks): (&AutomatonGraph, Marks),
    finish: &impl Fn(&mut ReductionWork<'_>, AutomatonGraph) -> DiagramResult<AutomatonGraph>,
) -> DiagramResult<Option<AutomatonGraph>> {
    let open = with_few_marks(graph, marks);
    for one in 0..open.states.len() {
        for other in 0..one {
            let mut merged = joined(&open, (one, other), marks);
            merged.tidy(work.diagrams)?;
            if !product::is_disjoint(work, &merged, opposite)? {
                continue;
            }
            let merged = finish(work, merged)?;
            if merged.states.len() < graph.states.len() {
                return Ok(Some(merged));
            }
        }
    }
    Ok(None)
}

/// The same words, with marks only where runs can be accepted: an arc between components that becomes part of a cycle should not make that accepting.
pub fn with_few_marks(graph: &AutomatonGraph, marks: Marks) -> AutomatonGraph {
    let survey = Survey::new(graph);
    let mut open = graph.clone();
    open.n_marks = graph.n_marks.max(1);
    for (state, arcs) in open.states.iter_mut().enumerate() {
        for arc in arcs.iter_mut() {
            let is_between = marks == Marks::Arcs && !survey.is_inner(state, arc);
            if is_between || !survey.is_accepting[survey.components.of[state]] {
                arc.marks = Bits::new();
            } else if graph.n_marks == 0 {
                arc.marks = Bits::below(1);
            }
        }
    }
    open
}

/// The graph in which two states are one, with the arcs, and where they belong to states the marks, of both.
fn joined(graph: &AutomatonGraph, (one, other): (usize, usize), marks: Marks) -> AutomatonGraph {
    let number = |state: usize| if state == one { other } else { state };
    let mut states: Vec<Vec<Arc>> = vec![Vec::new(); graph.states.len()];
    for (state, arcs) in graph.states.iter().enumerate() {
        states[number(state)].extend(arcs.iter().map(|arc| Arc { target: number(arc.target), ..arc.clone() }));
    }
    if marks == Marks::States {
        let of_both = states[other].iter().fold(Bits::new(), |all, arc| all.union(&arc.marks));
        states[other].iter_mut().for_each(|arc| arc.marks = of_both.clone());
    }
    let joined = AutomatonGraph { states, initial: number(graph.initial), n_marks: graph.n_marks };
    joined.keep(|state| state != one)
}
