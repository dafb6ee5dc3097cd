//! States as they are while they are few, and as trees when they are many.
//!
//! In: packed states, in batches. Out: each state once, at a position that never changes, as in [`crate::store`]. A plain store finds a state with two loads
//! and a comparison; a tree takes several dependent ones, and a quarter of the memory. Below a few megabytes memory does not matter, and time does: SPIN's
//! `sort`, `dtp` and `pftp` are searched in 0.6 to 0.8 of the time. When the plain store has grown to its limit, its states are put into a tree, in their order.

use std::ops::Range;

use crate::cut;
use crate::packing::Packed;
use crate::store::{BATCH, StateSet};
use crate::tree::TreeStore;

/// A set of packed states that changes its form when it grows.
pub struct Growing<const W: usize> {
    /// The states as they are; none once they are in the tree.
    plain: Option<Box<dyn StateSet<W>>>,
    tree: TreeStore<W>,
    /// How many bytes the plain store may take.
    most_bytes: u64,
}

impl<const W: usize> Growing<W> {
    /// An empty set of states of so many words, which are kept as they are up to so many bytes.
    pub fn new(n_words: usize, most_bytes: u64) -> Self {
        Growing { plain: Some(cut::plain(n_words)), tree: TreeStore::new(n_words), most_bytes }
    }

    fn current(&self) -> &dyn StateSet<W> {
        match &self.plain {
            Some(plain) => &**plain,
            None => &self.tree,
        }
    }

    fn outgrows(&self, plain: &dyn StateSet<W>, n_more: usize) -> bool {
        plain.bytes_with(n_more).is_none_or(|bytes| bytes > self.most_bytes)
    }
}

impl<const W: usize> StateSet<W> for Growing<W> {
    fn n_states(&self) -> usize {
        self.current().n_states()
    }

    fn state(&self, position: usize) -> Packed<W> {
        self.current().state(position)
    }

    fn read(&self, positions: Range<usize>, states: &mut Vec<Packed<W>>) {
        self.current().read(positions, states);
    }

    fn bytes(&self) -> u64 {
        self.current().bytes()
    }

    fn bytes_with(&self, n_more: usize) -> Option<u64> {
        match &self.plain {
            // While the states are copied both forms are there.
            Some(plain) if self.outgrows(&**plain, n_more) => {
                Some(plain.bytes() + self.tree.bytes_with(plain.n_states() + n_more)?)
            }
            _ => self.current().bytes_with(n_more),
        }
    }

    fn insert(&mut self, batch: &[Packed<W>]) {
        let Some(plain) = &mut self.plain else { return self.tree.insert(batch) };
        if plain.bytes_with(batch.len()).is_some_and(|bytes| bytes <= self.most_bytes) {
            return plain.insert(batch);
        }
        let mut states = Vec::with_capacity(BATCH);
        let n_states = plain.n_states();
        for first in (0..n_states).step_by(BATCH) {
            states.clear();
            plain.read(first..n_states.min(first + BATCH), &mut states);
            self.tree.insert(&states);
        }
        self.plain = None;
        self.tree.insert(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StateStore;

    #[test]
    fn a_set_that_has_grown_is_the_same_set_in_the_same_order() {
        let (mut growing, mut plain) = (Growing::<8>::new(6, 40_000), StateStore::<8>::new());
        let state =
            |n: u64| std::array::from_fn(|word| if word < 6 { (n / 7) % (word as u64 + 3) + n % 11 } else { 0 });
        let states: Vec<Packed<8>> = (0..20_000).map(state).collect();
        let mut has_changed = false;
        for batch in states.chunks(BATCH) {
            let foreseen = growing.bytes_with(batch.len()).unwrap();
            growing.insert(batch);
            plain.insert(batch);
            assert!(growing.bytes() <= foreseen);
            has_changed |= growing.plain.is_none();
        }
        assert!(has_changed && growing.n_states() > 1_000);
        let mut read = Vec::new();
        growing.read(0..growing.n_states(), &mut read);
        assert_eq!(growing.n_states(), plain.n_states());
        for (position, read) in read.iter().enumerate() {
            assert_eq!((read, &growing.state(position)), (plain.get(position), plain.get(position)));
        }
    }
}
