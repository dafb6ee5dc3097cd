//! The set of states found so far, in the order in which they were found.
//!
//! In: packed states, in batches. Out: each state once, at a position that never changes; so the levels of a
//! breadth-first search are ranges of positions, and no parent has to be stored. The states are in an arena of chunks,
//! which never moves what it holds; beside it an open-addressing table (linear probing) maps a hash to a position. An entry
//! of the table has 32 bits: as many as the table's size needs for the position, the others for bits of the hash, so that
//! most probes that hit another state are refused without reading the arena.
//!
//! Nearly every lookup misses the caches twice, in the table and in the arena. A batch therefore makes the loads of each
//! kind for all its states first, one independent of the other, so that the processor waits for many at once.
//!
//! [`StateSet`] is what a search asks of a set; [`StateStore`] keeps states as they are, `cut` without the words at their end that no state uses, [`crate::tree`] as trees of numbered halves, which pays for
//! many states of several words, and `growing` as they are until they are many.

use std::ops::Range;

use crate::cut;
use crate::growing::Growing;
use crate::hash::hash;
use crate::packing::Packed;
use crate::tree::TreeStore;

/// How many states are looked up together; the scratch data of a batch stays in the first-level cache.
pub const BATCH: usize = 128;

/// Log2 of the number of states in a chunk of the arena.
const CHUNK_BITS: u32 = 13;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Log2 of the size of the smallest and of the largest table.
const MIN_TABLE_BITS: u32 = 10;
const MAX_TABLE_BITS: u32 = 32;

/// States of so many words and more are kept as trees (BEEM's needham.4: 18.6 bytes a state instead of 74), once they take more than a little.
const LEAST_WORDS_OF_TREES: usize = 5;

/// So much a set may take before its states are kept as trees.
const MOST_PLAIN_BYTES: u64 = 48 << 20;

/// States of more words are always kept as trees.
const MOST_PLAIN_WORDS: usize = 8;

/// The same where memory is limited: with three or four words a state takes 18 to 25 bytes instead of 32 to 40, and the search up to twice the time.
const LEAST_WORDS_WITHIN_LIMITS: usize = 3;

/// A set of packed states that remembers the order of insertion.
pub trait StateSet<const W: usize>: Send + Sync {
    /// How many states there are.
    fn n_states(&self) -> usize;

    /// The state at a position.
    fn state(&self, position: usize) -> Packed<W>;

    /// Adds the states at some positions to a list.
    fn read(&self, positions: Range<usize>, states: &mut Vec<Packed<W>>) {
        states.extend(positions.map(|position| self.state(position)));
    }

    /// What the set takes in memory.
    fn bytes(&self) -> u64;

    /// What the set takes at most when so many states have been added; `None` where there is no room for them.
    fn bytes_with(&self, n_more: usize) -> Option<u64>;

    /// Adds the states of the batch (at most [`BATCH`]) that are not there yet, in their order.
    ///
    /// # Panics
    /// If there is no room for them; [`bytes_with`](Self::bytes_with) says so.
    fn insert(&mut self, batch: &[Packed<W>]);
}

/// An empty set for states of so many words, where memory is limited or not.
pub fn state_set<const W: usize>(n_words: usize, is_limited: bool) -> Box<dyn StateSet<W>> {
    let is_plain = n_words < if is_limited { LEAST_WORDS_WITHIN_LIMITS } else { LEAST_WORDS_OF_TREES };
    match n_words {
        _ if is_plain => cut::plain(n_words),
        ..=MOST_PLAIN_WORDS if !is_limited => Box::new(Growing::new(n_words, MOST_PLAIN_BYTES)),
        _ => Box::new(TreeStore::new(n_words)),
    }
}

/// A set of packed states as they are.
pub struct StateStore<const W: usize> {
    /// The states in order, `CHUNK` in each chunk but the last.
    chunks: Vec<Box<[Packed<W>; CHUNK]>>,
    /// How many states there are.
    len: usize,
    /// 0 where nothing is; else a position plus one in the low `table_bits`, and bits of its hash above them.
    table: Vec<u32>,
    /// Log2 of the table's size.
    table_bits: u32,
}

impl<const W: usize> Default for StateStore<W> {
    fn default() -> Self {
        StateStore::new()
    }
}

impl<const W: usize> StateStore<W> {
    /// An empty set.
    pub fn new() -> Self {
        StateStore { chunks: Vec::new(), len: 0, table: vec![0; 1 << MIN_TABLE_BITS], table_bits: MIN_TABLE_BITS }
    }

    /// The state at a position.
    pub fn get(&self, position: usize) -> &Packed<W> {
        &self.chunks[position >> CHUNK_BITS][position & (CHUNK - 1)]
    }

    /// The position of a state, which is added if it is not there.
    ///
    /// # Panics
    /// If there is no room; [`make_room`](Self::make_room) makes it.
    pub fn number(&mut self, state: &Packed<W>) -> usize {
        self.number_of(state, hash(state))
    }

    /// The positions of the states of a batch (at most [`BATCH`]), in their order; those that are not there are added.
    ///
    /// # Panics
    /// If there is no room; [`make_room`](Self::make_room) makes it.
    pub fn numbers(&mut self, batch: &[Packed<W>]) -> [u32; BATCH] {
        let mut hashes = [0; BATCH];
        let mut entries = [0; BATCH];
        for ((state, hash_slot), entry) in batch.iter().zip(&mut hashes).zip(&mut entries) {
            *hash_slot = hash(state);
            *entry = self.table[self.home(*hash_slot)];
        }
        let mut known = [false; BATCH];
        for (((state, &hash), &entry), known) in batch.iter().zip(&hashes).zip(&entries).zip(&mut known) {
            *known = entry != 0 && self.same_tag(entry, hash) && is_same(self.get(self.position(entry)), state);
        }
        let mut numbers = entries;
        for (((state, &hash), &known), number) in batch.iter().zip(&hashes).zip(&known).zip(&mut numbers) {
            *number = if known { self.position(*number) } else { self.number_of(state, hash) } as u32;
        }
        numbers
    }

    fn number_of(&mut self, state: &Packed<W>, hash: u64) -> usize {
        let mut slot = self.home(hash);
        loop {
            match self.table[slot] {
                0 => break,
                entry if self.same_tag(entry, hash) && is_same(self.get(self.position(entry)), state) => {
                    return self.position(entry);
                }
                _ => slot = self.after(slot),
            }
        }
        self.table[slot] = self.entry(self.len, hash);
        let within = self.len & (CHUNK - 1);
        if within == 0 {
            self.chunks.push(empty_chunk());
        }
        let last = self.chunks.last_mut().expect("a chunk was pushed when the last one was full");
        last[within] = *state;
        self.len += 1;
        self.len - 1
    }

    /// Log2 of the size of a table that so many states fill to three quarters at most; never smaller than it is.
    fn table_bits_for(&self, n_states: usize) -> Option<u32> {
        (self.table_bits..=MAX_TABLE_BITS).find(|&bits| n_states <= (1 << bits) / 4 * 3)
    }

    /// Grows the table until it can take so many states more.
    ///
    /// # Panics
    /// If there are too many; [`bytes_with`](StateSet::bytes_with) says so.
    pub fn make_room(&mut self, n_more: usize) {
        let bits = self.table_bits_for(self.len + n_more).expect("the caller asked whether there is room");
        if bits == self.table_bits {
            return;
        }
        // The old table is not needed to fill the new one, so that both are never held together.
        self.table = Vec::new();
        self.table = vec![0; 1 << bits];
        self.table_bits = bits;
        for first in (0..self.len).step_by(BATCH) {
            let positions = first..self.len.min(first + BATCH);
            let mut hashes = [0; BATCH];
            for (position, hash_slot) in positions.clone().zip(&mut hashes) {
                *hash_slot = hash(self.get(position));
            }
            // All slots are loaded before one of them is waited for.
            let hashes = &hashes[..positions.len()];
            std::hint::black_box(hashes.iter().fold(0, |all, &hash| all | self.table[self.home(hash)]));
            for (position, &hash) in positions.zip(hashes) {
                let mut slot = self.home(hash);
                while self.table[slot] != 0 {
                    slot = self.after(slot);
                }
                self.table[slot] = self.entry(position, hash);
            }
        }
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.table_bits)) as usize
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.table.len() - 1)
    }

    fn entry(&self, position: usize, hash: u64) -> u32 {
        // The position is below the table's size, which leaves room for the one that keeps an entry from being 0.
        (position as u32 + 1) | self.tag(hash)
    }

    fn position(&self, entry: u32) -> usize {
        (entry & self.position_mask()) as usize - 1
    }

    fn same_tag(&self, entry: u32, hash: u64) -> bool {
        (entry ^ self.tag(hash)) & !self.position_mask() == 0
    }

    /// Low bits of the hash, which the home slot does not use, above the bits of a position.
    fn tag(&self, hash: u64) -> u32 {
        hash as u32 & !self.position_mask()
    }

    fn position_mask(&self) -> u32 {
        u32::MAX >> (32 - self.table_bits)
    }
}

impl<const W: usize> StateSet<W> for StateStore<W> {
    fn n_states(&self) -> usize {
        self.len
    }

    fn state(&self, position: usize) -> Packed<W> {
        *self.get(position)
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<Packed<W>>() + self.table.len() * size_of::<u32>()) as u64
    }

    fn bytes_with(&self, n_more: usize) -> Option<u64> {
        let n_states = self.len + n_more;
        let table_bits = self.table_bits_for(n_states)?;
        Some((n_states * size_of::<Packed<W>>()) as u64 + ((size_of::<u32>() as u64) << table_bits))
    }

    fn insert(&mut self, batch: &[Packed<W>]) {
        debug_assert!(batch.len() <= BATCH);
        self.make_room(batch.len());
        self.numbers(batch);
    }
}

/// Whether two states are the same; where they are short, without a call.
#[inline]
fn is_same<const W: usize>(one: &Packed<W>, other: &Packed<W>) -> bool {
    match W {
        ..=MOST_PLAIN_WORDS => one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0,
        _ => one == other,
    }
}

fn empty_chunk<const W: usize>() -> Box<[Packed<W>; CHUNK]> {
    let chunk = vec![[0; W]; CHUNK].into_boxed_slice();
    chunk.try_into().expect("the slice has the length of a chunk")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Pseudo-random numbers, the same in each run.
    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(seed), |x| {
            Some(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
        })
        .map(|x| x >> 33)
    }

    fn check<const W: usize>(n_values: u64, n_inserted: usize) {
        let mut store = StateStore::<W>::new();
        let mut expected = HashSet::new();
        let mut order: Vec<Packed<W>> = Vec::new();
        let states: Vec<Packed<W>> =
            numbers(7).map(|x| std::array::from_fn(|word| (x % n_values) << (word * 7))).take(n_inserted).collect();
        for batch in states.chunks(BATCH) {
            store.insert(batch);
            order.extend(batch.iter().filter(|&&state| expected.insert(state)));
        }
        assert_eq!(store.n_states(), expected.len());
        assert!(order.iter().enumerate().all(|(position, state)| store.get(position) == state));
    }

    #[test]
    fn a_store_is_a_set_in_the_order_of_insertion() {
        check::<1>(50, 1_000);
        check::<1>(1 << 30, 100_000);
        check::<2>(20_000, 100_000);
        check::<3>(1 << 30, 30_000);
    }

    #[test]
    fn what_growth_takes_is_known_before() {
        let mut store = StateStore::<2>::new();
        let states: Vec<Packed<2>> = (0..10_000).map(|n| [n, n]).collect();
        for batch in states.chunks(BATCH) {
            let expected = store.bytes_with(batch.len());
            store.insert(batch);
            assert_eq!(Some(store.bytes()), expected);
        }
        assert_eq!(store.bytes(), 10_000 * 16 + 4 * (1 << 14));
        assert_eq!(store.bytes_with(4 << 30), None);
    }
}
