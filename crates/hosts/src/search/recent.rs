//! States that were seen lately, so that what is found again at once is neither looked up nor sent again.
//!
//! In: successors, one after the other. Out: whether the same state was seen a moment ago. Steps of different processes commute, so most states are found
//! several times, many of them by neighbours in a level. A slot for each value of a small hash holds the state that was seen last; whole states are compared, so the
//! answer "seen" is never wrong, and "not seen" only costs a look-up. The slots take a small part of a processor's second-level cache: with more, fewer states are sent, and it takes longer.

use packed::packing::Packed;

/// What the slots take, about.
const BYTES: usize = 1 << 16;

/// What an empty slot holds; this state itself is never taken for seen.
const EMPTY: u64 = u64::MAX;

/// An odd number without structure: the digits of the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The states that were seen lately.
pub struct RecentStates<const W: usize> {
    slots: Vec<Packed<W>>,
    /// The highest bits of the hash, all but so many, choose the slot.
    shift: u32,
}

impl<const W: usize> Default for RecentStates<W> {
    fn default() -> Self {
        let bits = (BYTES / size_of::<Packed<W>>()).ilog2();
        RecentStates { slots: vec![[EMPTY; W]; 1 << bits], shift: 64 - bits }
    }
}

impl<const W: usize> RecentStates<W> {
    /// Whether a state was seen lately; it is seen now.
    #[inline]
    pub fn sees_again(&mut self, state: &Packed<W>) -> bool {
        // One product for each word: where it says little, states are only seen again less often.
        let hash = state.iter().fold(0_u64, |hash, &word| (hash.rotate_left(29) ^ word).wrapping_mul(MULTIPLIER));
        let slot = &mut self.slots[(hash >> self.shift) as usize];
        let is_known = slot == state && *state != [EMPTY; W];
        *slot = *state;
        is_known
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// What is seen again was seen; a state of all ones, which looks like an empty slot, is not until then, nor after.
    #[test]
    fn nothing_is_seen_again_that_was_not_seen() {
        let mut recent = RecentStates::<2>::default();
        let mut seen = HashSet::new();
        let (mut random, mut n_again) = (1u64, 0);
        for _ in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let state = [random >> 50, 7];
            let again = recent.sees_again(&state);
            assert!(!again || seen.contains(&state));
            n_again += usize::from(again);
            seen.insert(state);
        }
        assert!(n_again > 1_000, "{n_again}");
        let ones = [u64::MAX; 2];
        assert!(!recent.sees_again(&ones) && !recent.sees_again(&ones));
    }
}
