//! Hashing of packed states: one wide multiplication for each word, and one at the end.
//!
//! The product of 128 bits is folded by exclusive or, so that every bit of a word reaches the high bits, which choose the
//! slot or shard, and the low bits, which distinguish entries. One product alone leaves patterns where few bits differ.

use crate::packing::Packed;

/// An odd number without structure: the digits of the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The digits of pi, so that a word of zeros does not hash to 0.
const SEED: u64 = 0x2436_a885_a308_d313;

/// The hash of a state.
pub fn hash<const W: usize>(state: &Packed<W>) -> u64 {
    mix(state.iter().fold(SEED, |hash, &word| mix(hash ^ word)))
}

fn mix(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States of small programs differ in few bits: slots must spread all the same, whichever bits differ.
    #[test]
    fn neighbours_spread_over_slots_and_tags() {
        for shift in [0, 7, 20, 41, 48] {
            for pick in [|hash: u64| hash >> 52, |hash: u64| hash & 0xfff] {
                let mut hits = vec![0u32; 4096];
                for n in 0..4096u64 {
                    hits[pick(hash(&[n << shift])) as usize] += 1;
                }
                let empty = hits.iter().filter(|&&n| n == 0).count();
                // A random function leaves 1/e of the slots empty: 1507 of 4096.
                assert!(empty < 1800, "shift {shift}: {empty} of 4096 slots are empty");
                assert!(hits.iter().max() < Some(&16), "shift {shift}: a slot is hit {:?} times", hits.iter().max());
            }
        }
    }
}
