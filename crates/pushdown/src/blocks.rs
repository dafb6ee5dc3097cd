//! Sets of small numbers, sixty-four at a time: in which activations a local state is reachable.
//!
//! A set is a list of blocks, each the numbers `64 * at ..` as the bits of a word, in ascending order. Most local states are reachable in
//! activations whose numbers lie in one block, which is kept in place; only further ones take memory of their own.

use crate::thread::ActivationId;

/// A set of activations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivationSet {
    /// The least block; its word is 0 where the set is empty.
    at: u32,
    word: u64,
    /// The other blocks, ascending.
    #[expect(clippy::box_collection, reason = "most sets have no other block, and then this is one word")]
    more: Option<Box<Vec<(u32, u64)>>>,
}

impl ActivationSet {
    /// The set with one activation.
    pub fn of(activation: ActivationId) -> Self {
        let number = activation.index() as u32;
        ActivationSet { at: number / 64, word: 1 << (number % 64), more: None }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.word == 0
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.blocks().map(|(_, word)| u64::from(word.count_ones())).sum()
    }

    /// They, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ActivationId> {
        self.blocks().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| ActivationId::new(at as usize * 64 + bit))
        })
    }

    /// Adds all of another set; those that were new.
    pub fn add(&mut self, other: &ActivationSet) -> ActivationSet {
        let mut new = ActivationSet::default();
        for (at, word) in other.blocks() {
            let fresh = self.add_word(at, word);
            if fresh != 0 {
                new.push(at, fresh);
            }
        }
        new
    }

    /// What the set takes beside its own size.
    pub fn heap_bytes(&self) -> u64 {
        self.more.as_ref().map_or(0, |more| (size_of::<Vec<(u32, u64)>>() + more.capacity() * 16) as u64)
    }

    fn blocks(&self) -> impl Iterator<Item = (u32, u64)> {
        let first = (self.word != 0).then_some((self.at, self.word));
        first.into_iter().chain(self.more.iter().flat_map(|more| more.iter().copied()))
    }

    /// Adds the numbers of one block; the bits that are new.
    fn add_word(&mut self, at: u32, word: u64) -> u64 {
        if self.word == 0 {
            (self.at, self.word) = (at, word);
            return word;
        }
        if self.at == at {
            let new = word & !self.word;
            self.word |= word;
            return new;
        }
        let (first_at, first_word) = (self.at, self.word);
        let more = self.more.get_or_insert_with(Box::default);
        if at < first_at {
            more.insert(0, (first_at, first_word));
            (self.at, self.word) = (at, word);
            return word;
        }
        match more.binary_search_by_key(&at, |&(at, _)| at) {
            Ok(found) => {
                let new = word & !more[found].1;
                more[found].1 |= word;
                new
            }
            Err(place) => {
                more.insert(place, (at, word));
                word
            }
        }
    }

    /// Adds a block behind all others.
    fn push(&mut self, at: u32, word: u64) {
        if self.word == 0 {
            (self.at, self.word) = (at, word);
        } else {
            self.more.get_or_insert_with(Box::default).push((at, word));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sets_are_as_sets_are() {
        let mut random = 7_u32;
        let mut next = |below: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % below
        };
        for spread in [40, 200, 5000] {
            let (mut blocks, mut known) = (ActivationSet::default(), BTreeSet::new());
            for _ in 0..60 {
                let numbers: BTreeSet<usize> = (0..next(9)).map(|_| next(spread)).collect();
                let mut added = ActivationSet::default();
                numbers.iter().for_each(|&number| drop(added.add(&ActivationSet::of(ActivationId::new(number)))));
                let new = blocks.add(&added);
                let expected: Vec<usize> = numbers.iter().copied().filter(|number| !known.contains(number)).collect();
                assert_eq!(new.iter().map(ActivationId::index).collect::<Vec<_>>(), expected);
                known.extend(numbers);
                assert_eq!(blocks.iter().map(ActivationId::index).collect::<BTreeSet<_>>(), known);
                assert_eq!((blocks.len(), blocks.is_empty()), (known.len() as u64, known.is_empty()));
            }
        }
    }
}
