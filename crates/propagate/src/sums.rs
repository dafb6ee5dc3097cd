//! Sums for other methods: additive invariants of a program, found and checked together.
//!
//! In: a program. Out: what its processes see, and the sums that every turn keeps, as a fact that other proofs may use; nothing where there are none, or
//! finding them takes too much. What is guessed and found to fail is left out ([`crate::additive`]).

use base::Budget;
use evidence::propagation::Sights;
use model::Model;

use crate::additive::{Source, pruned};
use crate::engine::Proving;
use crate::views::Limits;
use crate::workshop::Workshop;

/// More view states than this, and more edges, are not made for the sake of sums.
const MOST_ROWS: usize = 5_000;
const MOST_EDGES: usize = 50_000;

/// The sums of a program in which processes of one text may weigh alike, or each cell is weighed by itself.
pub fn sums(model: &Model, budget: &Budget) -> Option<Sights> {
    let is_followed = model.procedures.is_empty() && !model.has_when_nobody() && model.initially.is_empty();
    if !is_followed || model.processes.is_empty() {
        return None;
    }
    let limits = Limits { budget, most_rows: MOST_ROWS, most_edges: MOST_EDGES };
    let found = pruned(model, model.processes.ids().collect(), limits, (Source::Alike, &|_| true));
    let (views, invariants) = found.ok()?;
    let proving = Proving { shop: Workshop::new(views, MOST_EDGES), invariants };
    (!proving.invariants.is_empty()).then(|| proving.sights())
}
