//! Bit sets by number, side by side in one vector, each with what is new in it.

/// For each store a set of local states, and those of them that nobody has looked at.
#[derive(Default)]
pub(crate) struct BitSets {
    /// How many words a set has.
    n_words: usize,
    /// All sets, one behind the other.
    all: Vec<u64>,
    /// What is new in each.
    new: Vec<u64>,
    /// Whether something is new in a set, and whether it was looked at before.
    marks: Vec<(bool, bool)>,
}

impl BitSets {
    /// Adds one element; whether the set has something new for the first time since it was looked at.
    pub fn insert(&mut self, set: u32, element: u32) -> bool {
        let word = element as usize / 64;
        self.widen(word + 1);
        self.lengthen(set);
        let at = set as usize * self.n_words + word;
        let bit = 1 << (element % 64);
        let is_new = self.all[at] & bit == 0;
        self.all[at] |= bit;
        if is_new {
            self.new[at] |= bit;
        }
        is_new && self.mark(set)
    }

    /// Adds all elements of a set given by its words; whether the set has something new for the first time since it was
    /// looked at.
    pub fn insert_all(&mut self, set: u32, words: &[u64]) -> bool {
        self.widen(words.len());
        self.lengthen(set);
        let start = set as usize * self.n_words;
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
    pub fn get(&self, set: u32) -> &[u64] {
        let start = set as usize * self.n_words;
        self.all.get(start..start + self.n_words).unwrap_or_default()
    }

    /// What is new in a set, which is not new any more; and whether it is looked at for the first time.
    pub fn take_new(&mut self, set: u32) -> (Vec<u64>, bool) {
        let start = set as usize * self.n_words;
        let new = self.new[start..start + self.n_words].to_vec();
        self.new[start..start + self.n_words].fill(0);
        let (_, was_seen) = std::mem::replace(&mut self.marks[set as usize], (false, true));
        (new, !was_seen)
    }

    /// What all of it takes.
    pub fn bytes(&self) -> u64 {
        ((self.all.capacity() + self.new.capacity()) * 8 + self.marks.capacity() * 2) as u64
    }

    fn mark(&mut self, set: u32) -> bool {
        !std::mem::replace(&mut self.marks[set as usize].0, true)
    }

    /// Makes room for so many sets.
    fn lengthen(&mut self, set: u32) {
        let n_sets = set as usize + 1;
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
pub(crate) fn for_each_bit(words: &[u64], mut show: impl FnMut(u32)) {
    for (at, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            show(at as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(words: &[u64]) -> Vec<u32> {
        let mut found = Vec::new();
        for_each_bit(words, |element| found.push(element));
        found
    }

    #[test]
    fn what_is_new_is_told_once_also_when_sets_grow_wider() {
        let mut sets = BitSets::default();
        assert!(sets.insert(2, 5) && !sets.insert(2, 5) && !sets.insert(2, 6));
        assert!(sets.insert(0, 200), "sets grow wider");
        assert_eq!(sets.take_new(2), (vec![0b110_0000, 0, 0, 0], true));
        assert_eq!(sets.take_new(2), (vec![0; 4], false));
        assert!(sets.insert_all(2, &[0b11_0000]));
        assert_eq!(elements(&sets.take_new(2).0), [4]);
        assert_eq!((elements(sets.get(2)), elements(sets.get(0))), (vec![4, 5, 6], vec![200]));
        assert!(!sets.insert_all(0, &[0, 0, 0, 1 << 8]));
    }
}
