//! Sets of edges, by number, as bits.
//!
//! All sets of edges of one graph have the same number of words, so that operations go word by word.

/// A set of numbers below a bound that is given when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EdgeBits {
    words: Vec<u64>,
}

impl EdgeBits {
    /// No number below `n`.
    pub fn none(n: usize) -> Self {
        EdgeBits { words: vec![0; n.div_ceil(64)] }
    }

    /// All numbers below `n`.
    pub fn all(n: usize) -> Self {
        let mut words = vec![u64::MAX; n / 64];
        if !n.is_multiple_of(64) {
            words.push((1 << (n % 64)) - 1);
        }
        EdgeBits { words }
    }

    /// The numbers below `n` that a condition keeps.
    pub fn where_true(n: usize, keep: impl Fn(usize) -> bool) -> Self {
        let mut kept = EdgeBits::none(n);
        (0..n).filter(|&edge| keep(edge)).for_each(|edge| kept.insert(edge));
        kept
    }

    /// Adds a number.
    pub fn insert(&mut self, edge: usize) {
        self.words[edge / 64] |= 1 << (edge % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, edge: usize) {
        self.words[edge / 64] &= !(1 << (edge % 64));
    }

    /// Whether a number is in it.
    pub fn contains(&self, edge: usize) -> bool {
        self.words[edge / 64] >> (edge % 64) & 1 == 1
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let rest = std::iter::successors(Some(word), |&rest| Some(rest & (rest.wrapping_sub(1))));
            rest.take_while(|&rest| rest != 0).map(move |rest| at * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// Whether some number is in both.
    pub fn meets(&self, other: &EdgeBits) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Whether every number is in the other set, too.
    pub fn is_subset(&self, other: &EdgeBits) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Keeps what is in the other set, too.
    pub fn intersect(&mut self, other: &EdgeBits) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    /// Keeps what a condition keeps.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if !keep(at * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Adds what is in the other set.
    pub fn unite(&mut self, other: &EdgeBits) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_numbers() {
        for n in [0, 1, 63, 64, 65, 130] {
            let (all, none) = (EdgeBits::all(n), EdgeBits::none(n));
            assert_eq!((all.len(), none.len(), none.is_empty()), (n, 0, true));
            let thirds = EdgeBits::where_true(n, |edge| edge % 3 == 0);
            assert_eq!(thirds.iter().collect::<Vec<_>>(), (0..n).filter(|edge| edge % 3 == 0).collect::<Vec<_>>());
            assert!(thirds.is_subset(&all) && none.is_subset(&thirds) && thirds.meets(&all) == (n > 0));
            let mut rest = all.clone();
            thirds.iter().for_each(|edge| rest.remove(edge));
            assert!(!rest.meets(&thirds));
            rest.unite(&thirds);
            assert_eq!(rest, all);
            rest.intersect(&thirds);
            assert_eq!(rest, thirds);
            let mut kept = all.clone();
            kept.retain(|edge| edge % 3 == 0);
            assert_eq!(kept, thirds);
        }
    }
}
