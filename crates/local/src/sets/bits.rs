//! Bit sets by number, side by side in one vector, each with what is new in it.

use base::Id;

use crate::ids::{LocalId, StoreId};

/// For each store a set of local states, and those of them that the fixpoint has not taken.
#[derive(Default)]
pub(crate) struct BitSets {
    /// How many words a set has.
    n_words: usize,
    /// All sets, one behind the other.
    all: Vec<u64>,
    /// What is new in each.
    new: Vec<u64>,
    /// Whether something is new in a set, and whether it was taken before.
    marks: Vec<(bool, bool)>,
}

impl BitSets {
    /// Adds one element; whether the set has something new for the first time since it was taken.
    pub fn insert(&mut self, set: StoreId, element: LocalId) -> bool {
        let word = element.index() / 64;
        self.widen(word + 1);
        self.lengthen(set);
        let at = set.index() * self.n_words + word;
        let bit = 1 << (element.index() % 64);
        let is_new = self.all[at] & bit == 0;
        self.all[at] |= bit;
        if is_new {
            self.new[at] |= bit;
        }
        is_new && self.mark(set)
    }

    /// Adds all elements of a set given by its words; whether the set has something new for the first time since it was
    /// taken.
    pub fn insert_all(&mut self, set: StoreId, words: &[u64]) -> bool {
        self.widen(words.len());
        self.lengthen(set);
        let start = set.index() * self.n_words;
        let mut any = 0;
        for (at, &word) in words.iter().enumerate() {
            let added = word & !self.all[start + at];
            self.all[start + at] |= added;
            self.new[start + at] |= added;
            any |= added;
        }
        any != 0 && self.mark(set)
    }

    /// The words of a set.
    pub fn get(&self, set: StoreId) -> &[u64] {
        let start = set.index() * self.n_words;
        self.all.get(start..start + self.n_words).unwrap_or_default()
    }

    /// What is new in a set, which is not new any more; and whether it is taken for the first time.
    pub fn take_new(&mut self, set: StoreId) -> (Vec<u64>, bool) {
        let start = set.index() * self.n_words;
        let new = self.new[start..start + self.n_words].to_vec();
        self.new[start..start + self.n_words].fill(0);
        let (_, was_seen) = std::mem::replace(&mut self.marks[set.index()], (false, true));
        (new, !was_seen)
    }

    /// What all of it takes.
    pub fn bytes(&self) -> u64 {
        ((self.all.capacity() + self.new.capacity()) * 8 + self.marks.capacity() * 2) as u64
    }

    fn mark(&mut self, set: StoreId) -> bool {
        !std::mem::replace(&mut self.marks[set.index()].0, true)
    }

    /// Makes room for so many sets.
    fn lengthen(&mut self, set: StoreId) {
        let n_sets = set.index() + 1;
        if n_sets > self.marks.len() {
            self.marks.resize(n_sets, (false, false));
            self.all.resize(n_sets * self.n_words, 0);
            self.new.resize(n_sets * self.n_words, 0);
        }
    }

    /// Makes room for so many words in each set.
    fn widen(&mut self, n_words: usize) {
        if n_words <= self.n_words {
            return;
        }
        let n_words = n_words.max(self.n_words + self.n_words / 2);
        let (n_sets, before) = (self.marks.len(), self.n_words);
        for words in [&mut self.all, &mut self.new] {
            let mut wider = vec![0; n_sets * n_words];
            for set in 0..n_sets {
                wider[set * n_words..set * n_words + before].copy_from_slice(&words[set * before..(set + 1) * before]);
            }
            *words = wider;
        }
        self.n_words = n_words;
    }
}

/// Shows the elements of a set given by its words.
pub(crate) fn for_each_bit(words: &[u64], mut show: impl FnMut(LocalId)) {
    for (at, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            show(Id::new(at * 64 + rest.trailing_zeros() as usize));
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(words: &[u64]) -> Vec<usize> {
        let mut found = Vec::new();
        for_each_bit(words, |element| found.push(element.index()));
        found
    }

    #[test]
    fn what_is_new_is_told_once_also_when_sets_grow_wider() {
        let mut sets = BitSets::default();
        let (zero, two) = (Id::new(0), Id::new(2));
        assert!(sets.insert(two, Id::new(5)) && !sets.insert(two, Id::new(5)) && !sets.insert(two, Id::new(6)));
        assert!(sets.insert(zero, Id::new(200)), "sets grow wider");
        assert_eq!(sets.take_new(two), (vec![0b110_0000, 0, 0, 0], true));
        assert_eq!(sets.take_new(two), (vec![0; 4], false));
        assert!(sets.insert_all(two, &[0b11_0000]));
        assert_eq!(elements(&sets.take_new(two).0), [4]);
        assert_eq!((elements(sets.get(two)), elements(sets.get(zero))), (vec![4, 5, 6], vec![200]));
        assert!(!sets.insert_all(zero, &[0, 0, 0, 1 << 8]));
    }
}
