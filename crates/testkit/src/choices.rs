//! A source of choices that can be recorded, repeated and made simpler.
//!
//! A random model is a function of the choices made for it. Kept as a row of small numbers, in which 0 is always the
//! simplest choice, they make any generator shrinkable: shorter rows and smaller numbers give smaller models.

/// Where a generator takes its choices from.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The choices made so far, or to be made again.
    script: Vec<u32>,
    /// How many of the script have been made.
    at: usize,
    /// New choices after the script come from here; without it they are all 0.
    random: Option<SplitMix>,
}

/// Steele, Lea and Flood's SplitMix: small, and good enough for tests.
#[derive(Clone, Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Choices {
    /// New choices; equal seeds make equal choices.
    pub fn from_seed(seed: u64) -> Self {
        Choices { script: Vec::new(), at: 0, random: Some(SplitMix(seed)) }
    }

    /// The choices of a script again, then 0 for ever.
    pub fn replay(script: &[u32]) -> Self {
        Choices { script: script.to_vec(), at: 0, random: None }
    }

    /// What was chosen.
    pub fn script(&self) -> &[u32] {
        &self.script[..self.at]
    }

    /// A number below `n`.
    ///
    /// # Panics
    /// If there is none.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is no number below 0");
        if self.at == self.script.len() {
            let fresh = self.random.as_mut().map_or(0, |random| random.next() % n as u64);
            self.script.push(fresh as u32);
        }
        self.at += 1;
        self.script[self.at - 1] as usize % n
    }

    /// A number from `lo` to `hi`, both included.
    pub fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }

    /// True so many times in a hundred; `false` is the simple choice.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of the items; the first is the simplest.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Makes a script simpler as long as `fails` says that it still shows the fault; at most `limit` attempts.
pub fn shrink(script: &[u32], limit: usize, mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = script.to_vec();
    let mut attempts = 0;
    let mut progress = true;
    while progress && attempts < limit {
        progress = false;
        for candidate in candidates(&best) {
            attempts += 1;
            if attempts > limit {
                break;
            }
            if fails(&candidate) {
                best = candidate;
                progress = true;
                break;
            }
        }
    }
    best
}

/// Simpler scripts, the boldest first.
fn candidates(script: &[u32]) -> impl Iterator<Item = Vec<u32>> + use<> {
    let (script, len) = (script.to_vec(), script.len());
    let blocks = std::iter::successors(Some(len / 2), |&size| (size > 1).then_some(size / 2)).filter(|&size| size > 0);
    let script_for_cuts = script.clone();
    let cuts = blocks.flat_map(move |size| {
        let script = script_for_cuts.clone();
        (0..len).step_by(size).map(move |start| [&script[..start], &script[len.min(start + size)..]].concat())
    });
    let script_for_numbers = script.clone();
    let smaller = (0..len).flat_map(move |at| {
        let script = script_for_numbers.clone();
        smaller_numbers(script[at]).into_iter().map(move |number| {
            let mut simpler = script.clone();
            simpler[at] = number;
            simpler
        })
    });
    // A choice not made spares those that it led to: without both, what follows would shift.
    let spared = (0..len).flat_map(move |at| {
        let script = script.clone();
        let ways = smaller_numbers(script[at]).into_iter().flat_map(|number| (1..=8).map(move |cut| (number, cut)));
        ways.map(move |(number, cut)| [&script[..at], &[number], &script[len.min(at + 1 + cut)..]].concat())
    });
    cuts.chain(smaller).chain(spared)
}

fn smaller_numbers(old: u32) -> Vec<u32> {
    let mut numbers = vec![0, old / 2, old.saturating_sub(1)];
    numbers.retain(|&number| number < old);
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_repeats_its_choices() {
        let mut fresh = Choices::from_seed(7);
        let drawn: Vec<usize> = (1..20).map(|n| fresh.below(n)).collect();
        let mut again = Choices::replay(fresh.script());
        assert_eq!((1..20).map(|n| again.below(n)).collect::<Vec<_>>(), drawn);
        assert_eq!(again.below(9), 0);
    }

    #[test]
    fn shrinking_finds_a_smallest_script() {
        let script: Vec<u32> = (0..50).collect();
        let sum_is_large = |script: &[u32]| script.iter().sum::<u32>() >= 30;
        assert_eq!(shrink(&script, 10_000, sum_is_large), [30]);
    }
}
