//! States of several words as trees of numbered halves (LTSmin's tree compression; Laarman, van de Pol, Weber 2011).
//!
//! In: packed states, in batches. Out: each state once, at a position that never changes, as in [`crate::store`]. A state is cut in two halves of equal
//! length, these again, down to 32 bits. Two halves of 32 bits have a number, so have two numbers, up to the two halves of a state, which are its *root*: one
//! word. Since the parts of a program change little by little, most states differ in their root alone, and take 8 bytes and a slot.
//! States of many words are cut down to *leaves* of a few words, which are numbered as they are: a change of a word is then looked up in two or three places instead of five
//! (SPIN's `sort`, of twelve words, is searched in three quarters of the time).
//! All pairs are in one dictionary, which maps 64 bits to a number, whatever they mean, and all leaves in another. Successors of one state come one after the other
//! and differ in few words, so only those parts are looked up that differ from what they are in the state before. A batch looks up one part of all
//! its states together, since these lookups do not wait for each other.

use std::ops::Range;

use crate::packing::Packed;
use crate::store::{BATCH, StateSet, StateStore};

/// How many words a leaf has.
const LEAF: usize = 4;

/// States of so many words are cut down to leaves.
const LEAST_WORDS_OF_LEAVES: usize = 9;

/// A set of packed states of at least two words that remembers the order of insertion.
pub struct TreeStore<const W: usize> {
    /// How many words of a state are used; the others are 0.
    n_words: usize,
    /// Leaves, each at its number.
    leaves: StateStore<LEAF>,
    /// Pairs, each at its number.
    dictionary: StateStore<1>,
    /// The pair at the top of each state.
    roots: StateStore<1>,
    /// How states are cut: below before above, the root last.
    pairs: Vec<Halves>,
    /// By leaf: its numbers in a batch.
    leaf_numbers: Vec<PartNumbers<LEAF>>,
    /// By pair below the root: the same.
    pair_numbers: Vec<PartNumbers<1>>,
}

/// The numbers of one part of the states of a batch.
#[derive(Clone)]
struct PartNumbers<const K: usize> {
    /// What it was in the last state of the batch before, with its number; none before the first batch.
    last: Option<([u64; K], u32)>,
    /// By state of the batch.
    numbers: [u32; BATCH],
}

impl<const K: usize> PartNumbers<K> {
    const NONE: PartNumbers<K> = PartNumbers { last: None, numbers: [0; BATCH] };

    /// Numbers the part of so many states, where it is known what it is in each.
    #[inline]
    fn number(&mut self, dictionary: &mut StateStore<K>, n_states: usize, part: impl Fn(usize) -> [u64; K]) {
        // The different ones of states that follow each other, and which of them each state has: 0 is that of the batch before.
        let mut different = [[0; K]; BATCH];
        let mut n_different = 0;
        let mut which = [0_u8; BATCH];
        let mut before = self.last.map(|(part, _)| part);
        for (in_batch, which) in which[..n_states].iter_mut().enumerate() {
            let part = part(in_batch);
            if before != Some(part) {
                different[n_different] = part;
                n_different += 1;
                before = Some(part);
            }
            *which = n_different as u8;
        }
        let found = dictionary.numbers(&different[..n_different]);
        for (number, &which) in self.numbers.iter_mut().zip(&which[..n_states]) {
            *number = match which {
                0 => self.last.expect("the first state of all differs from nothing").1,
                which => found[which as usize - 1],
            };
        }
        if let Some(at_end) = n_different.checked_sub(1) {
            self.last = Some((different[at_end], found[at_end]));
        }
    }
}

/// Two halves of a part of a state.
#[derive(Clone, Copy, Debug)]
struct Halves {
    left: Half,
    right: Half,
}

/// A half of a pair.
#[derive(Clone, Copy, Debug)]
enum Half {
    /// 32 bits of a word: the low ones, or from this one on.
    Bits { word: u32, shift: u32 },
    /// So many words.
    Leaf(u32),
    /// Another pair.
    Pair(u32),
}

/// Cuts a range of parts, 32 bits or leaves; the pairs below it, and what it is.
fn cut(parts: Range<usize>, has_leaves: bool, pairs: &mut Vec<Halves>) -> Half {
    if parts.len() == 1 {
        let part = parts.start as u32;
        return if has_leaves { Half::Leaf(part) } else { Half::Bits { word: part / 2, shift: part % 2 * 32 } };
    }
    let middle = parts.start + parts.len() / 2;
    let (left, right) = (cut(parts.start..middle, has_leaves, pairs), cut(middle..parts.end, has_leaves, pairs));
    pairs.push(Halves { left, right });
    Half::Pair(pairs.len() as u32 - 1)
}

/// The words of a leaf.
#[inline]
fn leaf_of(state: &[u64], leaf: usize) -> [u64; LEAF] {
    let mut words = [0; LEAF];
    match state.get(leaf * LEAF..(leaf + 1) * LEAF) {
        Some(whole) => words.copy_from_slice(whole),
        None => state[leaf * LEAF..].iter().zip(&mut words).for_each(|(&word, to)| *to = word),
    }
    words
}

impl<const W: usize> TreeStore<W> {
    /// An empty set of states of so many words.
    ///
    /// # Panics
    /// If that is less than two, or more than `W`.
    pub fn new(n_words: usize) -> Self {
        assert!((2..=W).contains(&n_words), "a tree has two halves at least");
        let has_leaves = n_words >= LEAST_WORDS_OF_LEAVES;
        let n_parts = if has_leaves { n_words.div_ceil(LEAF) } else { 2 * n_words };
        let mut pairs = Vec::new();
        cut(0..n_parts, has_leaves, &mut pairs);
        let n_below = pairs.len() - 1;
        TreeStore {
            n_words,
            leaves: StateStore::new(),
            dictionary: StateStore::new(),
            roots: StateStore::new(),
            pairs,
            leaf_numbers: vec![PartNumbers::NONE; if has_leaves { n_parts } else { 0 }],
            pair_numbers: vec![PartNumbers::NONE; n_below],
        }
    }

    /// The most pairs below the roots of so many states.
    fn most_pairs(&self, n_states: usize) -> usize {
        n_states * self.pair_numbers.len()
    }

    /// The most leaves of so many states.
    fn most_leaves(&self, n_states: usize) -> usize {
        n_states * self.leaf_numbers.len()
    }

    /// Numbers what is below the roots in all states of a batch.
    fn number_parts(&mut self, batch: &[Packed<W>]) {
        for (leaf, numbers) in self.leaf_numbers.iter_mut().enumerate() {
            numbers.number(&mut self.leaves, batch.len(), |in_batch| leaf_of(&batch[in_batch], leaf));
        }
        for at in 0..self.pair_numbers.len() {
            let (below, rest) = self.pair_numbers.split_at_mut(at);
            let numbered = NumberedParts { leaves: &self.leaf_numbers, pairs: below };
            let pair = &self.pairs[at];
            rest[0]
                .number(&mut self.dictionary, batch.len(), |in_batch| [numbered.key(pair, &batch[in_batch], in_batch)]);
        }
    }
}

impl<const W: usize> StateSet<W> for TreeStore<W> {
    fn n_states(&self) -> usize {
        self.roots.n_states()
    }

    fn state(&self, position: usize) -> Packed<W> {
        let mut states = Vec::with_capacity(1);
        self.read(position..position + 1, &mut states);
        states[0]
    }

    fn read(&self, positions: Range<usize>, states: &mut Vec<Packed<W>>) {
        // By pair: its number in the state before, and what it is. By leaf: its number.
        let mut known: Vec<(u32, u64)> = vec![(u32::MAX, 0); self.pairs.len()];
        let mut known_leaves: Vec<u32> = vec![u32::MAX; self.leaf_numbers.len()];
        let mut state = [0; W];
        for position in positions {
            let mut key = self.roots.get(position)[0];
            for (at, pair) in self.pairs.iter().enumerate().rev() {
                if at + 1 < self.pairs.len() {
                    key = known[at].1;
                }
                for (half, number) in [(pair.left, (key >> 32) as u32), (pair.right, key as u32)] {
                    match half {
                        Half::Bits { word, shift } => {
                            let word = &mut state[word as usize];
                            *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(number) << shift;
                        }
                        Half::Leaf(leaf) => {
                            let known = &mut known_leaves[leaf as usize];
                            if *known != number {
                                *known = number;
                                let words = &mut state[leaf as usize * LEAF..];
                                words
                                    .iter_mut()
                                    .zip(self.leaves.get(number as usize))
                                    .for_each(|(to, &word)| *to = word);
                            }
                        }
                        Half::Pair(below) => {
                            let known = &mut known[below as usize];
                            if known.0 != number {
                                *known = (number, self.dictionary.get(number as usize)[0]);
                            }
                        }
                    }
                }
            }
            states.push(state);
        }
    }

    fn bytes(&self) -> u64 {
        self.leaves.bytes() + self.dictionary.bytes() + self.roots.bytes()
    }

    fn bytes_with(&self, n_more: usize) -> Option<u64> {
        let pairs = self.dictionary.bytes_with(self.most_pairs(n_more))?;
        Some(pairs + self.leaves.bytes_with(self.most_leaves(n_more))? + self.roots.bytes_with(n_more)?)
    }

    fn insert(&mut self, batch: &[Packed<W>]) {
        debug_assert!(batch.len() <= BATCH);
        self.dictionary.make_room(self.most_pairs(batch.len()));
        self.leaves.make_room(self.most_leaves(batch.len()));
        self.number_parts(batch);
        let top = self.pairs.last().expect("a state is a pair");
        let numbered = NumberedParts { leaves: &self.leaf_numbers, pairs: &self.pair_numbers };
        let mut roots = [[0]; BATCH];
        for (in_batch, (root, state)) in roots.iter_mut().zip(batch).enumerate() {
            debug_assert!(state[self.n_words..].iter().all(|&word| word == 0));
            *root = [numbered.key(top, state, in_batch)];
        }
        self.roots.insert(&roots[..batch.len()]);
    }
}

/// Parts of the states of a batch whose numbers are known.
struct NumberedParts<'n> {
    leaves: &'n [PartNumbers<LEAF>],
    pairs: &'n [PartNumbers<1>],
}

impl NumberedParts<'_> {
    /// A pair of a state of the batch, where the numbers of what is below it are known.
    #[inline]
    fn key(&self, pair: &Halves, state: &[u64], in_batch: usize) -> u64 {
        let number = |half: Half| match half {
            Half::Bits { word, shift } => (state[word as usize] >> shift) as u32,
            Half::Leaf(leaf) => self.leaves[leaf as usize].numbers[in_batch],
            Half::Pair(at) => self.pairs[at as usize].numbers[in_batch],
        };
        u64::from(number(pair.left)) << 32 | u64::from(number(pair.right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers, the same in each run.
    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(seed), |x| {
            Some(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
        })
        .map(|x| x >> 33)
    }

    /// The same states in the same order as a plain store, and memory that was foreseen.
    fn check<const W: usize>(n_words: usize, n_values: u64, n_inserted: usize) -> (u64, u64) {
        let (mut tree, mut plain) = (TreeStore::<W>::new(n_words), StateStore::<W>::new());
        let mut random = numbers(n_words as u64 + n_values);
        let mut state = [0; W];
        let mut states = Vec::new();
        for _ in 0..n_inserted {
            // One word changes at a time, as in a search.
            let (at, value) = (random.next().unwrap() as usize % n_words, random.next().unwrap() % n_values);
            state[at] = value << (at % 40);
            states.push(state);
        }
        for batch in states.chunks(BATCH) {
            let foreseen = tree.bytes_with(batch.len()).unwrap();
            tree.insert(batch);
            plain.insert(batch);
            assert!(tree.bytes() <= foreseen);
        }
        assert_eq!(tree.n_states(), plain.n_states());
        let mut read = Vec::new();
        tree.read(0..plain.n_states(), &mut read);
        assert_eq!(read.len(), plain.n_states());
        for (position, read) in read.iter().enumerate() {
            assert_eq!(&tree.state(position), plain.get(position), "{n_words} words, position {position}");
            assert_eq!(read, plain.get(position), "{n_words} words, position {position}, read");
        }
        (tree.bytes(), StateSet::bytes(&plain))
    }

    #[test]
    fn a_tree_is_the_same_set_in_the_same_order() {
        for n_words in 2..=17 {
            check::<17>(n_words, 3, 3_000);
            check::<17>(n_words, 1 << 24, 500);
        }
        check::<4>(3, 40, 50_000);
        check::<1024>(700, 2, 300);
    }

    #[test]
    fn states_of_few_parts_take_less_room() {
        let (tree, plain) = check::<8>(8, 5, 200_000);
        assert!(3 * tree < plain, "{tree} bytes as trees, {plain} as they are");
    }
}
