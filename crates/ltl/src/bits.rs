//! Small sets of small numbers, as bits.
//!
//! Letters (which atoms are true), cubes and marks are such sets. There is no bound on the numbers; a set of numbers below 64
//! is one word.

use std::fmt;

/// A set of numbers. Equal sets are equal values: the last word is never zero.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// All numbers below `n`.
    pub fn below(n: usize) -> Self {
        (0..n).collect()
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
            self.trim();
        }
    }

    /// Whether the number is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether every number is in the other set, too.
    pub fn is_subset(&self, other: &Bits) -> bool {
        self.words.len() <= other.words.len() && self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether no number is in both sets.
    pub fn is_disjoint(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    /// The numbers of both.
    pub fn union(&self, other: &Bits) -> Bits {
        let (long, short) = if self.words.len() < other.words.len() { (other, self) } else { (self, other) };
        let mut words = long.words.clone();
        words.iter_mut().zip(&short.words).for_each(|(word, more)| *word |= more);
        Bits { words }
    }

    /// The numbers that are not in the other set.
    pub fn difference(&self, other: &Bits) -> Bits {
        let mut rest = self.clone();
        rest.words.iter_mut().zip(&other.words).for_each(|(word, less)| *word &= !less);
        rest.trim();
        rest
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
                .map(move |rest| at * 64 + rest.trailing_zeros() as usize)
        })
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut bits = Bits::new();
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_numbers() {
        let mut set: Bits = [3, 200, 64].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(set.contains(200) && !set.contains(201) && !set.contains(9999));
        assert_eq!(set.len(), 3);
        set.remove(200);
        set.remove(64);
        assert_eq!(set, [3].into_iter().collect());
        assert!(set.is_subset(&Bits::below(4)) && !Bits::below(4).is_subset(&set));
        assert_eq!(Bits::below(4).difference(&set).union(&set), Bits::below(4));
        assert!(set.is_disjoint(&Bits::below(3)) && !set.is_disjoint(&Bits::below(4)));
    }
}
