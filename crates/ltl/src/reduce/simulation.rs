//! Direct simulation, forward and backward (Somenzi and Bloem 2000; with labels as diagrams, Babiak et al. 2013).
//!
//! In: a graph. Out: one of the same words, without states and edges that others make superfluous. A state simulates another if it can
//! answer each edge of it, letter by letter, by an edge with at least the same marks to a state that simulates the target. States that
//! simulate each other become one; letters of an edge go where a stronger edge has them. Backward, the same with incoming edges.

use super::ReductionWork;
use crate::diagram::{DiagramResult, Diagrams};
use crate::graph::{Arc, AutomatonGraph};

/// Graphs of more states are not reduced this way: the work grows with the square.
const MAX_STATES: usize = 500;

/// Which states simulate which.
struct Relation {
    n_states: usize,
    /// Whether the state `small` is simulated by `large`, at `small * n_states + large`.
    holds: Vec<bool>,
}

impl Relation {
    fn new(n_states: usize) -> Self {
        Relation { n_states, holds: vec![true; n_states * n_states] }
    }

    fn get(&self, small: usize, large: usize) -> bool {
        self.holds[small * self.n_states + large]
    }

    fn drop(&mut self, small: usize, large: usize) {
        self.holds[small * self.n_states + large] = false;
    }

    /// For each state, the first of those that it simulates and that simulate it.
    fn representatives(&self) -> Vec<usize> {
        let mutual = |a: usize, b: usize| self.get(a, b) && self.get(b, a);
        (0..self.n_states).map(|state| (0..=state).find(|&first| mutual(first, state)).unwrap_or(state)).collect()
    }
}

/// Merges states and drops edges by forward simulation.
pub fn forward(work: &mut ReductionWork<'_>, graph: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    if graph.states.len() > MAX_STATES {
        return Ok(graph);
    }
    let relation = fixpoint(work, &graph.states, Relation::new(graph.states.len()))?;
    let merged = merge(&graph, &relation);
    let merged = drop_little_brothers(work, merged, &relation)?;
    Ok(keep_representatives(&merged, &relation))
}

/// Merges states by backward simulation.
pub fn backward(work: &mut ReductionWork<'_>, graph: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let relation = Relation::new(graph.states.len());
    backward_within(work, graph, relation)
}

/// The same for a graph whose marks belong to states: only states with the same marks become one.
pub fn backward_of_states(work: &mut ReductionWork<'_>, graph: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let mut relation = Relation::new(graph.states.len());
    let marks = |state: usize| graph.states[state].first().map(|arc| &arc.marks);
    for small in 0..graph.states.len() {
        for large in (0..graph.states.len()).filter(|&large| marks(large) != marks(small)) {
            relation.drop(small, large);
        }
    }
    backward_within(work, graph, relation)
}

fn backward_within(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    mut relation: Relation,
) -> DiagramResult<AutomatonGraph> {
    if graph.states.len() > MAX_STATES {
        return Ok(graph);
    }
    let mut incoming: Vec<Vec<Arc>> = vec![Vec::new(); graph.states.len()];
    for (state, arcs) in graph.states.iter().enumerate() {
        for arc in arcs {
            incoming[arc.target].push(Arc { target: state, ..arc.clone() });
        }
    }
    // Only the initial state begins runs.
    for large in (0..graph.states.len()).filter(|&large| large != graph.initial) {
        relation.drop(graph.initial, large);
    }
    let relation = fixpoint(work, &incoming, relation)?;
    let merged = merge(&graph, &relation);
    let mut kept = keep_representatives(&merged, &relation);
    kept.tidy(work.diagrams)?;
    Ok(kept)
}

/// The largest relation inside the given one whose pairs answer each other.
fn fixpoint(work: &mut ReductionWork<'_>, states: &[Vec<Arc>], mut relation: Relation) -> DiagramResult<Relation> {
    loop {
        let mut changed = false;
        for small in 0..states.len() {
            work.budget.check(0)?;
            for large in 0..states.len() {
                if small != large
                    && relation.get(small, large)
                    && !answers_all(work.diagrams, &states[small], &states[large], &relation)?
                {
                    relation.drop(small, large);
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(relation);
        }
    }
}

fn answers_all(
    diagrams: &mut Diagrams,
    questions: &[Arc],
    answers: &[Arc],
    relation: &Relation,
) -> DiagramResult<bool> {
    for question in questions {
        let mut open = question.label;
        for answer in answers {
            if question.marks.is_subset(&answer.marks) && relation.get(question.target, answer.target) {
                open = diagrams.without(open, answer.label)?;
                if open == Diagrams::FALSE {
                    break;
                }
            }
        }
        if open != Diagrams::FALSE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sends all edges to representatives, and gives each representative the edges of all that it represents.
fn merge(graph: &AutomatonGraph, relation: &Relation) -> AutomatonGraph {
    let representatives = relation.representatives();
    let mut merged = AutomatonGraph { states: vec![Vec::new(); graph.states.len()], ..graph.clone() };
    merged.initial = representatives[graph.initial];
    for (state, arcs) in graph.states.iter().enumerate() {
        let moved = arcs.iter().map(|arc| Arc { target: representatives[arc.target], ..arc.clone() });
        merged.states[representatives[state]].extend(moved);
    }
    merged
}

fn keep_representatives(graph: &AutomatonGraph, relation: &Relation) -> AutomatonGraph {
    let representatives = relation.representatives();
    graph.keep(|state| representatives[state] == state)
}

/// Drops letters of edges that another edge of the same state has, with at least the same marks, to a state that simulates the target.
fn drop_little_brothers(
    work: &mut ReductionWork<'_>,
    mut graph: AutomatonGraph,
    relation: &Relation,
) -> DiagramResult<AutomatonGraph> {
    graph.tidy(work.diagrams)?;
    // Two edges cannot drop each other: edges to the same state with the same marks are one by now.
    for arcs in &mut graph.states {
        for index in 0..arcs.len() {
            let mut label = arcs[index].label;
            for other in (0..arcs.len()).filter(|&other| other != index) {
                let (small, large) = (&arcs[index], &arcs[other]);
                if small.marks.is_subset(&large.marks) && relation.get(small.target, large.target) {
                    label = work.diagrams.without(label, large.label)?;
                }
            }
            arcs[index].label = label;
        }
        arcs.retain(|arc| arc.label != Diagrams::FALSE);
    }
    Ok(graph)
}
