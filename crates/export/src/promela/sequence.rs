//! Simultaneous updates, one after the other.
//!
//! In: updates, all over the state before the step. Out: assignments in an order in which nothing is written that is still to be read;
//! where there is none (a swap), what would be lost is kept aside first.

use crate::flat::{Flat, Update, position};
use crate::term::{Term, TermKind, VariableRead};

/// One assignment.
#[derive(Clone, Debug)]
pub enum Assignment {
    /// Keeps a value aside, under a number.
    Keep(usize, Term),
    /// Writes.
    Store(Update),
    /// Writes what was kept aside; indices that were kept are numbers, too.
    Restore(Update, usize, Vec<Result<Term, usize>>),
}

/// The updates in an order.
pub fn in_order(flat: &Flat, updates: &[Update]) -> Vec<Assignment> {
    let mut pending: Vec<Update> = updates.to_vec();
    let (mut order, mut kept) = (Vec::new(), Vec::new());
    let mut n_kept = 0;
    while !pending.is_empty() {
        let is_free = |at: usize| {
            let others = pending.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, update)| update);
            !others.into_iter().any(|other| reads(flat, other, &pending[at]))
        };
        match (0..pending.len()).find(|&at| is_free(at)) {
            Some(at) => order.push(Assignment::Store(pending.remove(at))),
            None => {
                let update = pending.remove(0);
                let value = n_kept;
                n_kept += 1;
                order.push(Assignment::Keep(value, update.value.clone()));
                let mut index = Vec::new();
                for part in &update.index {
                    if part.as_number().is_some() {
                        index.push(Ok(part.clone()));
                    } else {
                        order.push(Assignment::Keep(n_kept, part.clone()));
                        index.push(Err(n_kept));
                        n_kept += 1;
                    }
                }
                kept.push(Assignment::Restore(update, value, index));
            }
        }
    }
    order.extend(kept);
    order
}

/// Whether an update reads what another one writes.
fn reads(flat: &Flat, update: &Update, written: &Update) -> bool {
    let mut found = false;
    let mut see = |term: &Term| {
        if let TermKind::Read(read) = term.kind() {
            found |= is_same(flat, read, written);
        }
    };
    update.value.visit(&mut see);
    update.index.iter().for_each(|index| index.visit(&mut see));
    found
}

/// Whether a read and a write may mean the same element.
fn is_same(flat: &Flat, read: &VariableRead, written: &Update) -> bool {
    if read.var != written.var {
        return false;
    }
    let dimensions = &flat.vars[read.var].dimensions;
    match (position(dimensions, &read.index), position(dimensions, &written.index)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}
