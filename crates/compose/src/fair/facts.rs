//! Facts that separate some local states of a process from others.
//!
//! In: local states inside a set and local states outside it. Out: a fact that holds of those inside and of none outside, as simple
//! as can be found: the control location, then the content of one cell, then combinations, each with as few conditions as
//! keep the others out.

use std::collections::BTreeSet;

use evidence::certificate::LocalFact;
use model::process::ProcessId;
use model::value::Value;

use super::locals::{LocalState, Locals};

/// A fact that holds of all local states inside and of none outside. Both have members.
pub fn separating_fact(
    locals: &Locals<'_>,
    process: ProcessId,
    inside: &[LocalState],
    outside: &[LocalState],
) -> LocalFact {
    let points = |states: &[LocalState]| -> BTreeSet<usize> { states.iter().map(|state| state.point).collect() };
    let (here, there) = (points(inside), points(outside));
    if here.is_disjoint(&there) {
        return LocalFact::Control(here.into_iter().collect());
    }
    for (at, &cell) in locals.cells(process).iter().enumerate() {
        let values =
            |states: &[LocalState]| -> BTreeSet<Value> { states.iter().map(|state| state.cells[at]).collect() };
        let (here, there) = (values(inside), values(outside));
        if here.is_disjoint(&there) {
            let mut facts: Vec<LocalFact> = here.into_iter().map(|value| LocalFact::Cell(cell, value)).collect();
            return match facts.len() {
                1 => facts.remove(0),
                _ => LocalFact::OneOf(facts.into_iter().map(|fact| vec![fact]).collect()),
            };
        }
    }
    let mut conjunctions: Vec<Vec<LocalFact>> = Vec::new();
    for state in inside {
        let covers = |facts: &Vec<LocalFact>| facts.iter().all(|fact| locals.holds(process, fact, state));
        if !conjunctions.iter().any(covers) {
            conjunctions.push(needed(locals, process, state, outside));
        }
    }
    LocalFact::OneOf(conjunctions)
}

/// Facts of a local state that together hold of none outside, by leaving out one after the other.
fn needed(locals: &Locals<'_>, process: ProcessId, state: &LocalState, outside: &[LocalState]) -> Vec<LocalFact> {
    let cells = locals.cells(process).iter().zip(&state.cells).map(|(&cell, &value)| LocalFact::Cell(cell, value));
    let mut facts: Vec<LocalFact> = std::iter::once(LocalFact::Control(vec![state.point])).chain(cells).collect();
    let mut at = facts.len();
    while at > 0 {
        at -= 1;
        let without = |other: &LocalState| {
            let rest = facts.iter().enumerate().filter(|(other, _)| *other != at);
            rest.into_iter().all(|(_, fact)| locals.holds(process, fact, other))
        };
        if !outside.iter().any(without) {
            facts.remove(at);
        }
    }
    facts
}
