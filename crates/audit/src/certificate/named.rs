//! States and marks of automata by the names that a claim has for them.
//!
//! In: the checker's own automaton of a violation, and a claim's table of names. Out: which state or mark stands at each position of the table. A name that is
//! none of the automaton's, or stands there twice, is refused; what the table leaves out the claim cannot speak of.

use std::collections::HashMap;
use std::hash::Hash;

use evidence::plain::{AutomatonNames, ReferenceAutomaton};
use model::Model;

use super::{CertificateError, Outcome};

/// The states and marks that a claim speaks of.
pub(super) struct Named {
    states: Vec<usize>,
    marks: Vec<usize>,
}

impl Named {
    /// Those of a table.
    pub fn new(model: &Model, automaton: &ReferenceAutomaton, table: &AutomatonNames) -> Outcome<Self> {
        let own = automaton.names(model);
        let states = meant(&own.states, &table.states, "state")?;
        Ok(Named { states, marks: meant(&own.marks, &table.marks, "mark")? })
    }

    /// The state at a position of the table.
    pub fn state(&self, position: usize) -> Option<usize> {
        self.states.get(position).copied()
    }

    /// The mark at a position of the table.
    pub fn mark(&self, position: usize) -> Option<usize> {
        self.marks.get(position).copied()
    }
}

fn meant<T: Eq + Hash>(own: &[T], table: &[T], what: &str) -> Outcome<Vec<usize>> {
    let mut free: HashMap<&T, usize> = own.iter().zip(0..).collect();
    let one = |(position, name): (usize, &T)| {
        free.remove(name).ok_or_else(|| {
            let why = if own.contains(name) { "stands there twice" } else { "is none of the automaton's" };
            CertificateError::Malformed(format!("name {position} in its table of {what}s {why}"))
        })
    };
    table.iter().enumerate().map(one).collect()
}
