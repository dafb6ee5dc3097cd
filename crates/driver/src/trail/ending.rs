//! What a run that was followed shows: which properties it decides.
//!
//! In: a Model, a run and what the printed text says of its end. Out: a trace and the names of the properties that it decides, each replayed by
//! `audit`. A claim that is violated by a finite run is so by everything that follows: the run then goes on until it comes back to a state.

use std::collections::HashMap;

use base::Id;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::eval::{self, State, Turn};
use model::property::{Property, PropertyKind};

use super::printed::{SaidEnd, Trail};

/// The property that `--progress` asks about.
const NO_PROGRESS: &str = "no_non_progress_cycle";
/// How many steps a run goes on beyond its trail.
const MOST_FURTHER: usize = 5_000;
/// How many processes are each tried as the one that moves first.
const MOST_ORDERS: usize = 8;

/// A run with what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The run; longer than the trail where a cycle had to be found.
    pub trace: Trace,
    /// The properties that it decides.
    pub decides: Vec<String>,
    /// What is another value after each round of its cycle, which therefore is none here: SPIN leaves variables out that nobody reads.
    pub changes_in_cycle: Vec<String>,
}

/// The cells in which two states differ, where they differ in nothing else.
pub(super) fn changed(model: &Model, before: &State, after: &State) -> Vec<String> {
    if before.stacks != after.stacks {
        return Vec::new();
    }
    let pairs = model.cells.iter().zip(before.cells.iter().zip(&after.cells));
    pairs.filter(|(_, (before, after))| before != after).map(|(cell, _)| cell.name.clone()).collect()
}

/// What a run shows; and whether that is all that there is to know: a claim that a finite run violates is seen on one that goes on for ever, which may
/// not come back to a state soon.
pub fn shown(model: &Model, trace: Trace, trail: &Trail) -> (Shown, bool) {
    let of = |trace, decides| Shown { trace, decides, changes_in_cycle: Vec::new() };
    let decides = decided(model, &trace);
    let is_temporal = |property: &Property| matches!(property.kind, PropertyKind::Temporal(_));
    let is_of_claim = trail.has_claim || matches!(trail.says, Some(SaidEnd::Claim | SaidEnd::Error(_)));
    let may_violate = is_of_claim && model.properties.iter().any(is_temporal);
    if !decides.is_empty() || trace.loop_from.is_some() || !may_violate {
        return (of(trace, decides), true);
    }
    // Where one process goes on without end another one may come back to a state.
    let orders = 0..model.processes.len().clamp(1, MOST_ORDERS);
    let longer = orders.into_iter().find_map(|first| for_ever(model, trace.clone(), (first, MOST_FURTHER)));
    let Some(longer) = longer else { return (of(trace, decides), false) };
    let by_longer = decided(model, &longer);
    match by_longer.is_empty() {
        true => (of(trace, decides), true),
        false => (of(longer, by_longer), true),
    }
}

/// The properties that a run decides, those of its end first.
pub(super) fn decided(model: &Model, trace: &Trace) -> Vec<String> {
    let decides = |trace: &Trace, id: Id<Property>| audit::replay(model, id, trace).is_ok();
    let stopped = Trace { end: TraceEnd::State, loop_from: None, ..trace.clone() };
    let is_decided = |(id, property): &(Id<Property>, &Property)| match (&property.kind, &trace.end) {
        (PropertyKind::NoErrors, TraceEnd::Fault { .. })
        | (PropertyKind::DeadlockFree, TraceEnd::Deadlock)
        | (PropertyKind::Temporal(_), TraceEnd::Loop) => decides(trace, *id),
        (PropertyKind::Invariant(_), end) if *end != TraceEnd::Loop => decides(&stopped, *id),
        _ => false,
    };
    let decided = model.properties.entries().filter(is_decided);
    let mut names: Vec<String> = decided.map(|(_, property)| property.name.clone()).collect();
    // Whether there is progress may be asked only since the trail could be about it.
    if names.len() > 1 {
        names.retain(|name| name != NO_PROGRESS);
    }
    names
}

/// The run, going on for ever: at once where nobody can move, and otherwise with any steps until a state comes again, of the process at this position
/// where it can, and else of the next one that can.
pub(super) fn for_ever(model: &Model, trace: Trace, (first, most): (usize, usize)) -> Option<Trace> {
    let Trace { mut states, mut turns, .. } = trace;
    let mut known: HashMap<State, usize> = states.iter().cloned().enumerate().map(|(at, state)| (state, at)).collect();
    for further in 0..=most {
        let last = states.last()?.clone();
        let order = model.processes.ids().skip(first).chain(model.processes.ids().take(first));
        let mut steps = order.flat_map(|process| eval::steps_of(model, &last, process));
        let (turn, next) = match steps.find_map(|step| step.result.ok().map(|next| (step.by, next))) {
            Some((by, next)) if further < most => (Turn::Step(by), next),
            Some(_) => return None,
            None => (Turn::StandStill(model.processes.ids().next()?), last),
        };
        turns.push(turn);
        states.push(next.clone());
        if let Some(&from) = known.get(&next) {
            return Some(Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(from) });
        }
        known.insert(next, states.len() - 1);
    }
    None
}
