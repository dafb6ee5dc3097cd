//! From many marks to one (Gerth et al. 1995; with levels that skip and start anew, Babiak et al. 2013).
//!
//! In: a graph with any number of marks. Out: one of the same words with one mark, on edges or on states. A copy of each state waits
//! for one mark after the other; when the last one was seen, the run is marked and waits for the first one again. On the way from
//! one component to another what was seen is forgotten.

use rustc_hash::FxHashMap;

use super::merge::Marks;
use super::prune::Survey;
use super::{ReductionWork, prune, simulation, with_fewer_states};
use crate::bits::Bits;
use crate::diagram::DiagramResult;
use crate::graph::{Arc, AutomatonGraph};

/// One mark, on edges.
pub fn on_edges(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    opposite: Option<&AutomatonGraph>,
    reduces: bool,
) -> DiagramResult<AutomatonGraph> {
    if graph.n_marks == 1 {
        return Ok(graph);
    }
    let step = |level: usize, arc: &Arc, n_marks: usize| {
        let reached = advance(level, arc, n_marks);
        // Marks after the last one count towards the next round at once.
        if reached == n_marks { (advance(0, arc, n_marks) % n_marks.max(1), true) } else { (reached, false) }
    };
    let survey = Survey::new(&graph);
    let entries = vec![0; survey.components.count];
    if !reduces {
        return Ok(unroll(&graph, &survey, (0, &entries), step));
    }
    let mut smallest: Option<AutomatonGraph> = None;
    for first in first_levels(graph.n_marks.saturating_sub(1)) {
        let graph = reduce_on_edges(work, unroll(&graph, &survey, (first, &entries), step))?;
        smallest = Some(smaller(smallest, graph));
    }
    let smallest = smallest.unwrap_or(graph);
    match opposite {
        Some(opposite) => with_fewer_states(work, smallest, (opposite, Marks::Arcs), reduce_on_edges),
        None => Ok(smallest),
    }
}

fn reduce_on_edges(work: &mut ReductionWork<'_>, unrolled: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let mut graph = prune::prune(work, unrolled)?;
    graph = simulation::forward(work, graph)?;
    graph = prune::prune(work, graph)?;
    graph = simulation::backward(work, graph)?;
    graph = prune::prune(work, graph)?;
    graph.n_marks = graph.n_marks.max(1);
    if graph.states.iter().flatten().all(|arc| arc.marks.is_empty()) {
        // Pruning left no mark because every run is accepted.
        graph.states.iter_mut().flatten().for_each(|arc| arc.marks = Bits::below(1));
    }
    Ok(graph)
}

/// One mark, on states: all edges of a state carry it, or none.
pub fn on_states(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    opposite: Option<&AutomatonGraph>,
    reduces: bool,
) -> DiagramResult<AutomatonGraph> {
    // A copy at the level after the last mark is a marked state; what leaves it has seen nothing yet.
    let step = |level: usize, arc: &Arc, n_marks: usize| {
        let from = if level == n_marks { 0 } else { level };
        (advance(from, arc, n_marks), level == n_marks)
    };
    let survey = Survey::new(&graph);
    let entries = entries(&graph, &survey);
    let usual = entries[survey.components.of[graph.initial]];
    if !reduces {
        return Ok(unroll(&graph, &survey, (usual, &entries), step));
    }
    // What was seen before a component is entered is seen once, so that a run may begin in it at any level; which one is best shows afterwards.
    let full: Vec<usize> = survey.is_accepting.iter().map(|&is| if is { graph.n_marks } else { 0 }).collect();
    let mut smallest: Option<AutomatonGraph> = None;
    for entries in [&entries, &full] {
        for first in first_levels(graph.n_marks) {
            let graph = reduce_on_states(work, unroll(&graph, &survey, (first, entries), step))?;
            let graph = match opposite {
                Some(opposite) => with_fewer_states(work, graph, (opposite, Marks::States), reduce_on_states)?,
                None => graph,
            };
            smallest = Some(smaller(smallest, graph));
        }
    }
    Ok(smallest.unwrap_or(graph))
}

fn reduce_on_states(work: &mut ReductionWork<'_>, unrolled: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let graph = simulation::forward(work, unrolled)?;
    simulation::backward_of_states(work, graph)
}

/// The levels at which a run may begin: all of them, where there are few.
fn first_levels(highest: usize) -> impl Iterator<Item = usize> {
    const MOST: usize = 4;
    (0..=highest).filter(move |&level| level == 0 || level == highest || highest < MOST)
}

/// The graph of fewer states, then of fewer edges; the first of two that are equal.
fn smaller(one: Option<AutomatonGraph>, other: AutomatonGraph) -> AutomatonGraph {
    match one {
        Some(one) if one.size() <= other.size() => one,
        _ => other,
    }
}

/// The level after an arc: past all marks in order that the arc has.
fn advance(level: usize, arc: &Arc, n_marks: usize) -> usize {
    (level..n_marks).find(|&mark| !arc.marks.contains(mark)).unwrap_or(n_marks)
}

/// Where a run begins in each component: past all marks where every edge has them all, so that no second copy is needed; else at the first.
fn entries(graph: &AutomatonGraph, survey: &Survey) -> Vec<usize> {
    let all = Bits::below(graph.n_marks);
    let mut entries = vec![graph.n_marks; survey.components.count];
    for (state, arcs) in graph.states.iter().enumerate() {
        let component = survey.components.of[state];
        let is_full = |arc: &Arc| !survey.is_inner(state, arc) || all.is_subset(&arc.marks);
        if !survey.is_accepting[component] || !arcs.iter().all(is_full) {
            entries[component] = 0;
        }
    }
    entries
}

/// Copies of states at levels: runs begin at the first level given, and enter components at theirs; `step` gives the level after an arc, and
/// whether the arc is marked.
fn unroll(
    graph: &AutomatonGraph,
    survey: &Survey,
    (first, entries): (usize, &[usize]),
    step: impl Fn(usize, &Arc, usize) -> (usize, bool),
) -> AutomatonGraph {
    let first = (graph.initial, first);
    let mut numbers: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let mut copies = vec![first];
    numbers.insert(first, 0);
    let mut states: Vec<Vec<Arc>> = Vec::new();
    while let Some(&(state, level)) = copies.get(states.len()) {
        let mut arcs = Vec::new();
        for arc in &graph.states[state] {
            let (after, is_marked) = step(level, arc, graph.n_marks);
            let after = if survey.is_inner(state, arc) { after } else { entries[survey.components.of[arc.target]] };
            let target = *numbers.entry((arc.target, after)).or_insert_with(|| {
                copies.push((arc.target, after));
                copies.len() - 1
            });
            let marks = if is_marked { Bits::below(1) } else { Bits::new() };
            arcs.push(Arc { label: arc.label, marks, target });
        }
        states.push(arcs);
    }
    AutomatonGraph { states, initial: 0, n_marks: 1 }
}
