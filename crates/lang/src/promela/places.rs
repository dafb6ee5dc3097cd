//! How many processes there can be at once, where the text does not say it.
//!
//! In: a way to make the Model with a number of places for processes. Out: the Model with a number of places that is enough, if one is found
//! among a few. That it is enough is seen by listing all states on the reference semantics: no `run` finds all places taken. A program
//! with more states than are listed needs a bound from the user.

use std::collections::HashSet;

use model::Model;
use model::eval::{self, State};

use super::elaborate::{Elaborated, FULL, Options};
use crate::codes::promela as code;

/// The numbers of places that are tried.
const TRIED: [usize; 5] = [2, 4, 8, 16, 32];
/// How many states are listed for one of them.
const MOST_STATES: usize = 60_000;

/// The Model with a number of places that is enough.
pub(super) fn enough(options: &Options, made: impl Fn(&Options) -> Elaborated) -> Option<Elaborated> {
    for n_places in TRIED {
        let bounded = Options { places: Some(n_places), ..options.clone() };
        let trial = made(&Options { marks_full: true, ..bounded.clone() });
        if trial.diagnostics.iter().any(base::Diagnostic::is_error) {
            // What is wrong whatever the number of places is what the user should read.
            let is_size = |one: &base::Diagnostic| one.code == code::TOO_LARGE || one.code == code::INSTANCES;
            return (!trial.diagnostics.iter().any(is_size)).then_some(trial);
        }
        if never_full(&trial.model)? {
            return Some(made(&bounded));
        }
    }
    None
}

/// Whether no `run` ever finds all places taken; `None` where there are too many states to list.
fn never_full(model: &Model) -> Option<bool> {
    let mut seen: HashSet<State> = eval::initial_states(model).collect();
    let mut open: Vec<State> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        for step in eval::steps(model, &state) {
            match step.result {
                Err(_) => {
                    let is_full =
                        |link: eval::Link| model.actions[link.action].labels.iter().any(|label| label == FULL);
                    if step.by.links().any(is_full) {
                        return Some(false);
                    }
                }
                Ok(next) => {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(true)
}
