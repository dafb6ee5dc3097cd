//! Recount: a small product is searched again on the reference semantics, and all numbers are compared.
//!
//! An exploration is no certificate, so the only check is to search again: breadth first, on `eval`, with no packing, no
//! reduction, no threads. That is slow, so only products of at most a few thousand states are recounted.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use base::{Budget, Id, StopReason};
use evidence::{Exploration, SymbolicSearch};
use model::Model;
use model::eval::{State, evaluate, initial_states, is_deadlock, race, steps_up_to};
use model::property::{Property, PropertyKind};
use model::value::Value;

use crate::AuditError;
use crate::temporal::TurnGraph;

/// The reachable states of a small Model, found on `eval`.
pub struct Recount<'m> {
    model: &'m Model,
    /// All reachable states, in the order in which they were found.
    states: Vec<State>,
    /// What was counted.
    counted: Exploration,
    /// The turns between the states, once a temporal property was asked for.
    turn_graph: OnceCell<TurnGraph>,
}

/// What searching again within a limit came to.
pub enum SearchedAgain<'m> {
    /// All states were seen.
    All(Recount<'m>),
    /// There are more states than the limit.
    TooManyStates,
    /// A step can be taken in more ways than the limit, so that not all were followed: how many states there are is not known.
    TooManyWays,
}

impl<'m> SearchedAgain<'m> {
    /// The product, if all of it was seen.
    pub fn all(self) -> Option<Recount<'m>> {
        match self {
            SearchedAgain::All(recount) => Some(recount),
            SearchedAgain::TooManyStates | SearchedAgain::TooManyWays => None,
        }
    }
}

/// Whether an exploration was searched again and agreed, or is too large for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recounted {
    /// All numbers and the claim agree.
    Agrees,
    /// There are more states than the limit; nothing was compared.
    TooLarge,
}

/// Searches a product of at most `limit` states again and compares the numbers, and the claim that nothing decides the
/// property otherwise: no state, step or race violates it, or (for `reachable`) no state satisfies it.
pub fn recount(
    model: &Model,
    property: Id<Property>,
    exploration: &Exploration,
    limit: usize,
) -> Result<Recounted, AuditError> {
    if exploration.states > limit as u64 {
        return Ok(Recounted::TooLarge);
    }
    match Recount::within(model, limit, &Budget::unlimited()) {
        Ok(SearchedAgain::All(recount)) => recount.check(property, exploration),
        Ok(SearchedAgain::TooManyWays) | Err(_) => Ok(Recounted::TooLarge),
        Ok(SearchedAgain::TooManyStates) => Err(AuditError::new(
            format!("there are {} reachable states", exploration.states),
            format!("there are more than {limit}"),
        )),
    }
}

impl<'m> Recount<'m> {
    /// Searches the whole product; `None` where it has more than `limit` states, or as many ways to take a step.
    pub fn of(model: &'m Model, limit: usize) -> Option<Self> {
        Recount::within(model, limit, &Budget::unlimited()).ok()?.all()
    }

    /// The same within a budget: with hundreds of processes a few thousand states take seconds.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn within(model: &'m Model, limit: usize, budget: &Budget) -> Result<SearchedAgain<'m>, StopReason> {
        let mut recount = Recount {
            model,
            states: Vec::new(),
            counted: Exploration { states: 0, transitions: 0, deadlocks: 0, errors: 0, depth: 0, complete: true },
            turn_graph: OnceCell::new(),
        };
        let mut found: HashMap<State, u64> = HashMap::new();
        for state in initial_states(model) {
            if !recount.note(&mut found, state, 0, limit) {
                return Ok(SearchedAgain::TooManyStates);
            }
        }
        let mut next = 0;
        while next < recount.states.len() {
            budget.check(0)?;
            let state = recount.states[next].clone();
            let depth = found[&state];
            recount.counted.depth = recount.counted.depth.max(depth);
            recount.counted.deadlocks += u64::from(is_deadlock(model, &state));
            let Some(steps) = steps_up_to(model, &state, limit) else {
                return Ok(SearchedAgain::TooManyWays);
            };
            for step in steps {
                match step.result {
                    Ok(successor) => {
                        recount.counted.transitions += 1;
                        if !recount.note(&mut found, successor, depth + 1, limit) {
                            return Ok(SearchedAgain::TooManyStates);
                        }
                    }
                    Err(_) => recount.counted.errors += 1,
                }
            }
            next += 1;
        }
        recount.counted.states = recount.states.len() as u64;
        Ok(SearchedAgain::All(recount))
    }

    /// Adds a state that is not known yet; whether there was room for it.
    fn note(&mut self, found: &mut HashMap<State, u64>, state: State, depth: u64, limit: usize) -> bool {
        if let Entry::Vacant(free) = found.entry(state) {
            if self.states.len() >= limit {
                return false;
            }
            self.states.push(free.key().clone());
            free.insert(depth);
        }
        true
    }

    /// All reachable states.
    pub fn into_states(self) -> Vec<State> {
        self.states
    }

    /// What was counted.
    pub fn counted(&self) -> &Exploration {
        &self.counted
    }

    /// Compares the numbers and the claim; a temporal claim may be too large to be checked.
    pub fn check(&self, property: Id<Property>, exploration: &Exploration) -> Result<Recounted, AuditError> {
        let counted = &self.counted;
        let numbers = [
            ("reachable states", exploration.states, counted.states),
            ("transitions", exploration.transitions, counted.transitions),
            ("deadlocks", exploration.deadlocks, counted.deadlocks),
            ("faulty steps", exploration.errors, counted.errors),
            ("levels from an initial state", exploration.depth, counted.depth),
        ];
        for (what, claimed, found) in numbers {
            if claimed != found {
                return Err(AuditError::new(format!("there are {claimed} {what}"), format!("there are {found}")));
            }
        }
        if !exploration.complete {
            let claim = "a search that did not see everything decides the property";
            return Err(AuditError::new(claim, "states that were not seen may decide it otherwise"));
        }
        self.check_claim(property)
    }

    /// The same for a search that counts states at most.
    pub fn check_symbolic(&self, property: Id<Property>, seen: &SymbolicSearch) -> Result<Recounted, AuditError> {
        let found = self.counted.states;
        match *seen {
            SymbolicSearch::Whole { states: Some(claimed) } if claimed != found => {
                let claim = format!("there are {claimed} reachable states");
                Err(AuditError::new(claim, format!("there are {found}")))
            }
            SymbolicSearch::Whole { .. } | SymbolicSearch::Local => self.check_claim(property),
        }
    }

    /// No reachable state and no run decides the property otherwise.
    pub fn check_claim(&self, property: Id<Property>) -> Result<Recounted, AuditError> {
        let Some(property) = self.model.properties.get(property) else {
            return Err(AuditError::new("a property of the program is decided", "the program has no such property"));
        };
        let name = &property.name;
        let otherwise = |finding: String| Err(AuditError::new(format!("nothing decides `{name}` otherwise"), finding));
        let found = match &property.kind {
            PropertyKind::Invariant(expr) => {
                self.states.iter().find_map(|state| match evaluate(self.model, state, expr, None) {
                    Ok(Value::Bool(true)) => None,
                    Ok(_) => Some("a reachable state violates it".to_owned()),
                    Err(fault) => Some(format!("it has no value in a reachable state: {}", fault.fault)),
                })
            }
            PropertyKind::Reachable(expr) => {
                self.states.iter().find_map(|state| match evaluate(self.model, state, expr, None) {
                    Ok(Value::Bool(false)) => None,
                    Ok(_) => Some("a reachable state satisfies it".to_owned()),
                    Err(fault) => Some(format!("it has no value in a reachable state: {}", fault.fault)),
                })
            }
            PropertyKind::RaceFree(var) => self.states.iter().find_map(|state| {
                let race = race(self.model, state, *var)?;
                Some(format!("there is a race on `{}`", self.model.cells[race.cell].name))
            }),
            PropertyKind::NoErrors => {
                (self.counted.errors > 0).then(|| format!("{} steps are errors", self.counted.errors))
            }
            PropertyKind::DeadlockFree => {
                (self.counted.deadlocks > 0).then(|| format!("there are {} deadlocks", self.counted.deadlocks))
            }
            PropertyKind::Temporal(formula) => {
                let turn_graph = self.turn_graph.get_or_init(|| TurnGraph::new(self.model, &self.states));
                match turn_graph.is_violated((self.model, &self.states), formula, &property.under) {
                    Ok(Some(false)) => None,
                    Ok(Some(true)) => Some("a fair run violates it".to_owned()),
                    Ok(None) => return Ok(Recounted::TooLarge),
                    Err(fault) => Some(format!("it has no value in a reachable state: {}", fault.fault)),
                }
            }
        };
        found.map_or(Ok(Recounted::Agrees), otherwise)
    }
}
