//! How often a check looks at its limits: by what it has done, not by the clock.
//!
//! In: a budget. Out: after so many small pieces of work a look at it, and the limit where one is reached. One of them is shared by everything that checks one
//! proof, so that loops within loops look no more often than they have to.

use std::cell::Cell;

use base::{Budget, StopReason};

/// The limits are looked at after so many pieces of work.
const PIECES: usize = 256;

/// Counts what is done.
pub(super) struct Pace<'b> {
    budget: &'b Budget,
    n_done: Cell<usize>,
}

impl<'b> Pace<'b> {
    pub(super) fn new(budget: &'b Budget) -> Pace<'b> {
        Pace { budget, n_done: Cell::new(0) }
    }

    /// Says that a small piece of work is done.
    pub(super) fn did_one(&self) -> Result<(), StopReason> {
        let n_done = self.n_done.get().wrapping_add(1);
        self.n_done.set(n_done);
        match n_done.is_multiple_of(PIECES) {
            true => self.look(),
            false => Ok(()),
        }
    }

    /// Looks at the limits now: before work that is not small.
    pub(super) fn look(&self) -> Result<(), StopReason> {
        self.budget.check(0)
    }
}
