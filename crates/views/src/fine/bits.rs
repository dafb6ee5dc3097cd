//! A set of small numbers.

/// A set of numbers below a bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<u64>,
    n: usize,
}

impl Bits {
    /// The empty set of numbers below `n`.
    pub fn new(n: usize) -> Bits {
        Bits { words: vec![0; n.div_ceil(64)], n }
    }

    /// The set of all numbers below `n`.
    pub fn full(n: usize) -> Bits {
        let mut full = Bits::new(n);
        (0..n).for_each(|at| full.insert(at));
        full
    }

    /// Adds a number.
    pub fn insert(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// Whether a number is in it.
    pub fn contains(&self, at: usize) -> bool {
        self.words[at / 64] & 1 << (at % 64) != 0
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether every number below the bound is in it.
    pub fn is_full(&self) -> bool {
        self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>() == self.n
    }

    /// Whether two sets have a number in common.
    pub fn meets(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).any(|(one, other)| one & other != 0)
    }

    /// Leaves what is in both.
    pub fn keep(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(one, other)| *one &= other);
    }

    /// Adds what is in the other.
    pub fn add(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(one, other)| *one |= other);
    }
}
