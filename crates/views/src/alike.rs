//! Which processes make no difference to a step that waits for one more process: those that have the same in all that the step reads of them.
//!
//! In: for each process with which a step was tried, which columns of it were read, and whether all ways led to views that are there already. Out: whether
//! a process is like one with which they did; then the step need not be taken with it, for views are never taken away.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::packed::{Packed, Scratch, Shape};

/// Columns of a local state, as bits.
pub type Columns = u128;

/// So many columns have a bit.
pub const MOST_COLUMNS: usize = Columns::BITS as usize;

/// As often as this a step is tried with processes that are alike before each of them is looked at by itself.
const MOST_FAILURES: u8 = 2;

/// What came of a step with processes that were tried.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    /// By columns, what processes have there with which all ways led to known views.
    led: Vec<(Columns, FxHashSet<Packed>)>,
    /// The same of processes with which some did not, and how often that was.
    failed: Vec<(Columns, FxHashMap<Packed, u8>)>,
}

impl Alike {
    /// Whether the step leads to known views with a process.
    pub fn leads(&self, shape: &Shape, one: &Packed, scratch: &mut Scratch) -> bool {
        self.led.iter().any(|(columns, known)| known.contains(shape.showing(one, *columns, scratch)))
    }

    /// Whether it is worth while to try the step with a process.
    pub fn is_worth_trying(&self, shape: &Shape, one: &Packed, scratch: &mut Scratch) -> bool {
        self.failed.iter().all(|(columns, known)| {
            known.get(shape.showing(one, *columns, scratch)).copied().unwrap_or(0) < MOST_FAILURES
        })
    }

    /// Remembers that all ways led to known views.
    pub fn add_led(&mut self, shape: &Shape, one: &Packed, read: Columns) {
        let shown = shape.showing(one, read, &mut Scratch::default()).into();
        match self.led.iter_mut().find(|(columns, _)| *columns == read) {
            Some((_, known)) => drop(known.insert(shown)),
            None => self.led.push((read, FxHashSet::from_iter([shown]))),
        }
    }

    /// Remembers that some way did not.
    pub fn add_failed(&mut self, shape: &Shape, one: &Packed, read: Columns) {
        let shown = shape.showing(one, read, &mut Scratch::default()).into();
        match self.failed.iter_mut().find(|(columns, _)| *columns == read) {
            Some((_, known)) => *known.entry(shown).or_default() += 1,
            None => self.failed.push((read, FxHashMap::from_iter([(shown, 1)]))),
        }
    }
}
