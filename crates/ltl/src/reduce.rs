//! Reductions: smaller graphs of the same words.
//!
//! In: a graph. Out: one that accepts the same words. [`prune`] drops dead ends and superfluous marks, [`simulation`] merges states
//! and drops edges by direct simulation, forward and backward, [`obligation`] finds the smallest deterministic automaton of an
//! obligation, [`degeneralise`] goes down to one mark.

pub mod degeneralise;
pub mod merge;
pub mod obligation;
mod product;
mod prune;
mod simulation;

use base::Budget;

use crate::diagram::{Diagrams, Outcome};
use crate::graph::Graph;

/// What reductions work with.
pub struct Work<'a> {
    /// The labels.
    pub diagrams: &'a mut Diagrams,
    /// When to stop.
    pub budget: &'a Budget,
}

/// How often all reductions are tried again while they help.
const MAX_ROUNDS: usize = 10;

/// A small graph of the same words.
pub fn reduce(work: &mut Work<'_>, graph: Graph) -> Outcome<Graph> {
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
