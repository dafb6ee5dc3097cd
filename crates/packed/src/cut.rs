//! States without the words at their end that no state uses.
//!
//! In: packed states, in batches. Out: each state once, at a position that never changes, as in [`crate::store`]. A program takes the next of few widths, so that
//! states of five words have eight; here they take five, and as many are hashed and compared.

use std::ops::Range;

use crate::packing::Packed;
use crate::store::{BATCH, StateSet, StateStore};

/// An empty set that keeps states of so many words as they are.
pub fn plain<const W: usize>(n_words: usize) -> Box<dyn StateSet<W>> {
    match n_words {
        5 if W > 5 => Box::new(CutStore::<W, 5>::default()),
        6 if W > 6 => Box::new(CutStore::<W, 6>::default()),
        7 if W > 7 => Box::new(CutStore::<W, 7>::default()),
        _ => Box::new(StateStore::<W>::new()),
    }
}

/// A set of states of which only the first `S` words are used.
#[derive(Default)]
struct CutStore<const W: usize, const S: usize> {
    store: StateStore<S>,
}

impl<const W: usize, const S: usize> StateSet<W> for CutStore<W, S> {
    fn n_states(&self) -> usize {
        self.store.n_states()
    }

    fn state(&self, position: usize) -> Packed<W> {
        let mut state = [0; W];
        state[..S].copy_from_slice(self.store.get(position));
        state
    }

    fn read(&self, positions: Range<usize>, states: &mut Vec<Packed<W>>) {
        states.extend(positions.map(|position| self.state(position)));
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn bytes_with(&self, n_more: usize) -> Option<u64> {
        self.store.bytes_with(n_more)
    }

    fn insert(&mut self, batch: &[Packed<W>]) {
        let mut cut = [[0; S]; BATCH];
        for (state, cut) in batch.iter().zip(&mut cut) {
            debug_assert!(state[S..].iter().all(|&word| word == 0), "no state uses the words at the end");
            cut.copy_from_slice(&state[..S]);
        }
        self.store.insert(&cut[..batch.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_store_is_the_same_set_in_fewer_bytes() {
        let (mut cut, mut whole) = (plain::<8>(5), StateStore::<8>::new());
        let states: Vec<Packed<8>> =
            (0..40_000_u64).map(|n| [n % 7, n % 11, 0, n % 13, (n % 17) << 50, 0, 0, 0]).collect();
        for batch in states.chunks(BATCH) {
            let foreseen = cut.bytes_with(batch.len()).unwrap();
            cut.insert(batch);
            whole.insert(batch);
            assert!(cut.bytes() <= foreseen);
        }
        assert_eq!(cut.n_states(), 7 * 11 * 13 * 17);
        let mut read = Vec::new();
        cut.read(0..cut.n_states(), &mut read);
        assert!((0..cut.n_states()).all(|position| cut.state(position) == *whole.get(position)));
        assert!((0..cut.n_states()).all(|position| read[position] == *whole.get(position)));
        assert_eq!(whole.bytes() - cut.bytes(), 7 * 11 * 13 * 17 * 24);
    }
}
