//! Reductions: smaller graphs of the same words.
//!
//! In: a graph. Out: one that accepts the same words. [`prune`] drops dead ends and superfluous marks, [`simulation`] merges states
//! and drops edges by direct simulation, forward and backward, [`obligation`] finds the smallest deterministic automaton of an
//! obligation, [`merge`] and [`saturate`] take states out by comparing with the automaton of the negation, [`degeneralise`] goes down to one mark.

pub mod degeneralise;
mod inclusion;
mod letters;
pub mod merge;
pub mod obligation;
mod product;
mod prune;
mod saturate;
mod simulation;

use base::Budget;

use crate::diagram::{DiagramResult, Diagrams};
use crate::graph::AutomatonGraph;

/// What reductions work with.
pub struct ReductionWork<'a> {
    /// The labels.
    pub diagrams: &'a mut Diagrams,
    /// When to stop.
    pub budget: &'a Budget,
}

/// How often all reductions are tried again while they help.
const MAX_ROUNDS: usize = 10;

/// A small graph of the same words.
pub fn reduce(work: &mut ReductionWork<'_>, graph: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let mut graph = prune::prune(work, graph)?;
    for _ in 0..MAX_ROUNDS {
        let before = graph.size();
        graph = simulation::forward(work, graph)?;
        graph = prune::prune(work, graph)?;
        // A run takes finitely many edges between components, so that these may carry no marks or all, whichever helps.
        prune::mark_transients(&mut graph);
        graph = simulation::forward(work, graph)?;
        graph = prune::prune(work, graph)?;
        graph = simulation::backward(work, graph)?;
        graph = prune::prune(work, graph)?;
        if graph.size() == before {
            break;
        }
    }
    Ok(graph)
}

/// A graph of the same words, with fewer states where a comparison with the graph of all other words shows a way; `finish` reduces what
/// was made by other means.
pub fn with_fewer_states(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    (opposite, marks): (&AutomatonGraph, merge::Marks),
    finish: impl Fn(&mut ReductionWork<'_>, AutomatonGraph) -> DiagramResult<AutomatonGraph>,
) -> DiagramResult<AutomatonGraph> {
    let merged = merge::merge(work, graph, (opposite, marks), &finish)?;
    saturate::smaller(work, merged, (opposite, marks), &finish)
}
