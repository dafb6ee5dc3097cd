//! How many processes there can be at once, where the text does not say it.
//!
//! In: a way to make the Model with a number of places for processes. Out: the Model with a number of places that is enough, if one is found
//! among a few. That it is enough is seen by searching all states: no `run` finds all places taken. The caller may give a search; without one
//! the states are listed on the reference semantics. A program with more states needs a bound from the user.

use std::collections::HashSet;

use base::Id;
use model::Model;
use model::eval::{self, State};
use model::property::Property;

use super::elaborate::{Elaborated, FULL, NEVER_FULL, Options};
use crate::codes::promela as code;

/// The numbers of places that are tried.
const TRIED: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// With more places only a search that the caller gives is used.
const MOST_LISTED_PLACES: usize = 32;
/// How many states are listed for one of them.
const MOST_STATES: usize = 60_000;
/// How many are listed before a search is asked: depth first, a `run` in an endless loop soon takes all places.
const FIRST_STATES: usize = 1_000;

/// Whether an invariant of a Model holds, `None` where there are too many states: a search that is quicker than the reference semantics.
#[derive(Clone, Copy, Debug)]
pub struct Decide(pub fn(&Model, Id<Property>) -> Option<bool>);

/// How an answer is found is no part of how a program is read.
impl PartialEq for Decide {
    fn eq(&self, _: &Decide) -> bool {
        true
    }
}

impl Eq for Decide {}

/// The Model with a number of places that is enough.
pub(super) fn enough(
    options: &Options,
    decide: Option<Decide>,
    made: impl Fn(&Options) -> Elaborated,
) -> Option<Elaborated> {
    let tried = TRIED.into_iter().filter(|&n_places| decide.is_some() || n_places <= MOST_LISTED_PLACES);
    for n_places in tried {
        let bounded = Options { places: Some(n_places), ..options.clone() };
        let trial = made(&Options { marks_full: true, ..bounded.clone() });
        if trial.diagnostics.iter().any(base::Diagnostic::is_error) {
            // What is wrong whatever the number of places is what the user should read.
            let is_size = |one: &base::Diagnostic| one.code == code::TOO_LARGE || one.code == code::INSTANCES;
            return (!trial.diagnostics.iter().any(is_size)).then_some(trial);
        }
        let asked = trial.model.properties.entries().find(|(_, property)| property.name == NEVER_FULL);
        let is_enough = never_full(&trial.model, FIRST_STATES).or_else(|| match (decide, asked) {
            (Some(Decide(decide)), Some((property, _))) => decide(&trial.model, property),
            _ => never_full(&trial.model, MOST_STATES),
        });
        if is_enough? {
            return Some(made(&bounded));
        }
    }
    None
}

/// Whether no `run` ever finds all places taken; `None` where there are too many states to list.
fn never_full(model: &Model, most_states: usize) -> Option<bool> {
    let mut seen: HashSet<State> = eval::initial_states(model).collect();
    let mut open: Vec<State> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        for step in eval::steps(model, &state) {
            let is_full = |link: eval::Link| model.actions[link.action].labels.iter().any(|label| label == FULL);
            if step.by.links().any(is_full) {
                return Some(false);
            }
            if let Ok(next) = step.result
                && seen.insert(next.clone())
            {
                open.push(next);
            }
        }
        if seen.len() > most_states {
            return None;
        }
    }
    Some(true)
}
