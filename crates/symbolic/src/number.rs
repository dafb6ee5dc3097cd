//! Numbers as bit vectors of diagrams: exact arithmetic without enumerating values.
//!
//! In: for each bit of a number the states in which it is set. Out: sums, products, quotients, comparisons, likewise. Numbers are in
//! two's complement and as wide as they have to be, so that nothing is ever cut; what lies beyond 64 bits is found by
//! [`BitArithmetic::fits`]. Division is the one of school, bit by bit; products and quotients of two variables take as many nodes as
//! they must, and run out of them where that is too many.

use std::collections::BTreeMap;

use crate::bdd::{Bdd, OutOfNodes, Space};

/// A number for each state: the states in which each bit is set, the lowest bit first. The last one is the sign.
#[derive(Clone)]
pub struct BitNumber(Vec<Bdd>);

/// A quotient and a remainder.
pub struct Division {
    /// How often it goes.
    pub quotient: BitNumber,
    /// What is left.
    pub rest: BitNumber,
}

/// Which way a number is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// To higher bits.
    Left,
    /// To lower bits.
    Right,
}

/// Computes with numbers.
#[derive(Clone, Copy)]
pub struct BitArithmetic<'a> {
    /// Where the diagrams live.
    pub space: &'a Space,
}

type Result<T> = std::result::Result<T, OutOfNodes>;

impl BitNumber {
    /// A natural number, its highest bit first.
    pub fn natural(space: &Space, bits: impl IntoIterator<Item = Bdd>) -> Self {
        let mut bits: Vec<Bdd> = bits.into_iter().collect();
        bits.reverse();
        bits.push(space.empty());
        BitNumber(bits)
    }

    /// How many bits it has, its sign included.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// A bit, the lowest being 0; beyond the highest all are as the sign.
    pub fn bit(&self, at: usize) -> &Bdd {
        self.0.get(at).unwrap_or_else(|| self.sign())
    }

    /// The states in which it is negative.
    pub fn sign(&self) -> &Bdd {
        self.0.last().expect("a number has a sign")
    }

    /// Its value where that is the same in all states.
    pub fn constant(&self) -> Option<i128> {
        let is_set = |bit: &Bdd| bit.is_all().then_some(true).or_else(|| bit.is_empty().then_some(false));
        let bits: Vec<bool> = self.0.iter().map(is_set).collect::<Option<_>>()?;
        let magnitude = bits
            .iter()
            .rev()
            .skip(1)
            .try_fold(0_i128, |so_far, &bit| so_far.checked_mul(2).map(|double| double + i128::from(bit)))?;
        let weight = 1_i128.checked_shl(bits.len() as u32 - 1).filter(|_| bits.len() < 127)?;
        Some(if bits[bits.len() - 1] { magnitude - weight } else { magnitude })
    }
}

impl<'a> BitArithmetic<'a> {
    /// The same number in all states.
    pub fn constant(self, value: i128) -> BitNumber {
        let width = (i128::BITS - value.unsigned_abs().leading_zeros()) as usize + 1;
        let bit = |at: usize| if value >> at & 1 == 1 { self.space.all() } else { self.space.empty() };
        self.trimmed((0..width).map(bit).collect())
    }

    /// The number that each value is in its states; 0 elsewhere.
    pub fn of_cases<'c>(self, cases: impl IntoIterator<Item = (i64, &'c Bdd)>) -> Result<BitNumber> {
        let cases: BTreeMap<i64, &Bdd> = cases.into_iter().collect();
        let bits_of = |value: i64| (i64::BITS - value.unsigned_abs().leading_zeros()) as usize + 1;
        let width = cases.keys().map(|&value| bits_of(value)).max().unwrap_or(1);
        let bit = |at: usize| {
            let set = cases.iter().filter(|(value, _)| **value >> at.min(63) & 1 == 1).map(|(_, states)| *states);
            self.space.any(set)
        };
        (0..width).map(bit).collect::<Result<Vec<Bdd>>>().map(|bits| self.trimmed(bits))
    }

    /// The states in which the number has this value.
    pub fn equals(self, a: &BitNumber, value: i128) -> Result<Bdd> {
        self.same(a, &self.constant(value))
    }

    /// The states in which both are the same.
    pub fn same(self, a: &BitNumber, b: &BitNumber) -> Result<Bdd> {
        // From the highest bit down: that is where diagrams of numbers begin.
        (0..a.width().max(b.width())).try_fold(self.space.all(), |same, at| {
            if same.is_empty() {
                return Ok(same);
            }
            self.space.and(&self.space.same(a.bit(at), b.bit(at))?, &same)
        })
    }

    /// The states in which the first is less than the second.
    pub fn less(self, a: &BitNumber, b: &BitNumber) -> Result<Bdd> {
        let width = a.width().max(b.width());
        let mut less = self.space.empty();
        for at in 0..width {
            // The sign counts the other way round.
            let (a, b) = if at + 1 == width { (b.bit(at), a.bit(at)) } else { (a.bit(at), b.bit(at)) };
            let decided = self.space.minus(b, a)?;
            let open = self.space.same(a, b)?;
            less = self.space.or(&decided, &self.space.and(&open, &less)?)?;
        }
        Ok(less)
    }

    /// The states in which the first is at most the second.
    pub fn at_most(self, a: &BitNumber, b: &BitNumber) -> Result<Bdd> {
        self.space.not(&self.less(b, a)?)
    }

    /// The states in which the number lies between two others, both included.
    pub fn between(self, a: &BitNumber, lo: &BitNumber, hi: &BitNumber) -> Result<Bdd> {
        self.space.and(&self.at_most(lo, a)?, &self.at_most(a, hi)?)
    }

    /// The states in which the number has at most 64 bits.
    pub fn fits(self, a: &BitNumber) -> Result<Bdd> {
        let last = i64::BITS as usize - 1;
        (last + 1..a.width())
            .try_fold(self.space.all(), |fits, at| self.space.and(&fits, &self.space.same(a.bit(at), a.bit(last))?))
    }

    /// The sum.
    pub fn add(self, a: &BitNumber, b: &BitNumber) -> Result<BitNumber> {
        self.sum(a, b, self.space.empty())
    }

    /// The difference.
    pub fn subtract(self, a: &BitNumber, b: &BitNumber) -> Result<BitNumber> {
        self.sum(a, &self.complement(b)?, self.space.all())
    }

    /// The number with the other sign.
    pub fn negate(self, a: &BitNumber) -> Result<BitNumber> {
        self.subtract(&self.constant(0), a)
    }

    /// The product.
    pub fn multiply(self, a: &BitNumber, b: &BitNumber) -> Result<BitNumber> {
        // Bits that are never set cost nothing: the factor with more of them is multiplied by.
        let n_set = |number: &BitNumber| number.0.iter().filter(|bit| !bit.is_empty()).count();
        let (a, b) = if n_set(a) < n_set(b) { (b, a) } else { (a, b) };
        let mut product = self.constant(0);
        for at in 0..b.width() {
            if b.bit(at).is_empty() {
                continue;
            }
            let part = self.shifted(&self.masked(a, b.bit(at))?, at);
            let is_sign = at + 1 == b.width();
            product = if is_sign { self.subtract(&product, &part)? } else { self.add(&product, &part)? };
        }
        Ok(product)
    }

    /// Euclidean division, as the language has it: the rest is never negative. Anything where the divisor is 0.
    pub fn divide_euclid(self, a: &BitNumber, b: &BitNumber) -> Result<Division> {
        let Division { quotient, rest } = self.divide_magnitudes(a, b)?;
        // Below zero the rest counts from the next lower multiple.
        let even = self.equals(&rest, 0)?;
        let below = self.space.minus(a.sign(), &even)?;
        let quotient = self.add(&quotient, &self.masked(&self.constant(1), &below)?)?;
        let rest = self.select(&below, &self.subtract(&self.magnitude(b)?, &rest)?, &rest)?;
        let differ = self.space.not(&self.space.same(a.sign(), b.sign())?)?;
        Ok(Division { quotient: self.select(&differ, &self.negate(&quotient)?, &quotient)?, rest })
    }

    /// Division as C has it: the quotient is cut towards zero. Anything where the divisor is 0.
    pub fn divide_cut(self, a: &BitNumber, b: &BitNumber) -> Result<Division> {
        let Division { quotient, rest } = self.divide_magnitudes(a, b)?;
        let differ = self.space.not(&self.space.same(a.sign(), b.sign())?)?;
        let quotient = self.select(&differ, &self.negate(&quotient)?, &quotient)?;
        Ok(Division { quotient, rest: self.select(a.sign(), &self.negate(&rest)?, &rest)? })
    }

    /// The lesser of two.
    pub fn min(self, a: &BitNumber, b: &BitNumber) -> Result<BitNumber> {
        self.select(&self.less(a, b)?, a, b)
    }

    /// The greater of two.
    pub fn max(self, a: &BitNumber, b: &BitNumber) -> Result<BitNumber> {
        self.select(&self.less(a, b)?, b, a)
    }

    /// Bit by bit.
    pub fn bitwise(self, a: &BitNumber, b: &BitNumber, op: impl Fn(&Bdd, &Bdd) -> Result<Bdd>) -> Result<BitNumber> {
        let bits = (0..a.width().max(b.width())).map(|at| op(a.bit(at), b.bit(at)));
        bits.collect::<Result<Vec<Bdd>>>().map(|bits| self.trimmed(bits))
    }

    /// The number shifted by another one, of which the six lowest bits count.
    pub fn shift(self, a: &BitNumber, by: &BitNumber, way: Shift) -> Result<BitNumber> {
        (0..6).try_fold(a.clone(), |shifted, at| {
            let distance = 1_usize << at;
            let further = match way {
                Shift::Left => self.shifted(&shifted, distance),
                Shift::Right => BitNumber(shifted.0[distance.min(shifted.width() - 1)..].to_vec()),
            };
            self.select(by.bit(at), &further, &shifted)
        })
    }

    /// The first in these states, the second elsewhere.
    pub fn select(self, states: &Bdd, yes: &BitNumber, no: &BitNumber) -> Result<BitNumber> {
        if states.is_all() || states.is_empty() {
            return Ok(if states.is_all() { yes.clone() } else { no.clone() });
        }
        let bit = |at: usize| {
            let (yes, no) = (self.space.and(states, yes.bit(at))?, self.space.minus(no.bit(at), states)?);
            self.space.or(&yes, &no)
        };
        let bits = (0..yes.width().max(no.width())).map(bit).collect::<Result<Vec<Bdd>>>()?;
        Ok(self.trimmed(bits))
    }

    /// The number in these states, 0 elsewhere.
    fn masked(self, a: &BitNumber, states: &Bdd) -> Result<BitNumber> {
        let bits = a.0.iter().map(|bit| self.space.and(bit, states)).collect::<Result<Vec<Bdd>>>()?;
        Ok(self.trimmed(bits))
    }

    /// Times a power of two.
    fn shifted(self, a: &BitNumber, distance: usize) -> BitNumber {
        let zeros = std::iter::repeat_with(|| self.space.empty()).take(distance);
        BitNumber(zeros.chain(a.0.iter().cloned()).collect())
    }

    fn complement(self, a: &BitNumber) -> Result<BitNumber> {
        a.0.iter().map(|bit| self.space.not(bit)).collect::<Result<_>>().map(BitNumber)
    }

    /// The absolute value.
    fn magnitude(self, a: &BitNumber) -> Result<BitNumber> {
        if a.sign().is_empty() {
            return Ok(a.clone());
        }
        self.select(a.sign(), &self.negate(a)?, a)
    }

    fn sum(self, a: &BitNumber, b: &BitNumber, carry: Bdd) -> Result<BitNumber> {
        let mut carry = carry;
        let mut bits = Vec::new();
        for at in 0..=a.width().max(b.width()) {
            let (a, b) = (a.bit(at), b.bit(at));
            let same = self.space.same(a, b)?;
            // Set where an odd number of the three is; the next carry is what two of them are.
            bits.push(self.space.same(&same, &carry)?);
            let both = self.space.and(a, &same)?;
            carry = self.space.or(&both, &self.space.minus(&carry, &same)?)?;
        }
        Ok(self.trimmed(bits))
    }

    /// The division of absolute values.
    fn divide_magnitudes(self, a: &BitNumber, b: &BitNumber) -> Result<Division> {
        let (a, b) = (self.magnitude(a)?, self.magnitude(b)?);
        let mut rest = self.constant(0);
        let mut quotient = vec![self.space.empty()];
        for at in (0..a.width()).rev() {
            let mut longer = self.shifted(&rest, 1);
            longer.0[0] = a.bit(at).clone();
            rest = self.trimmed(longer.0);
            let goes = self.at_most(&b, &rest)?;
            rest = self.subtract(&rest, &self.masked(&b, &goes)?)?;
            quotient.push(goes);
        }
        quotient.reverse();
        Ok(Division { quotient: self.trimmed(quotient), rest })
    }

    /// Without bits at the top that say nothing.
    fn trimmed(self, mut bits: Vec<Bdd>) -> BitNumber {
        while bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2] {
            bits.pop();
        }
        BitNumber(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two numbers of a few bits each, and the space of both.
    struct Pair {
        space: Space,
        n_bits: usize,
    }

    impl Pair {
        fn numbers(&self) -> (BitNumber, BitNumber) {
            let bit = |at: usize| self.space.set_of(&self.space.cube([(at as u32, true)]).unwrap());
            // Interleaved, highest bits first; the first is the sign.
            let number = |first: usize| BitNumber((0..self.n_bits).rev().map(|at| bit(2 * at + first)).collect());
            (number(0), number(1))
        }

        fn vector(&self, a: i64, b: i64) -> Vec<bool> {
            let bit = |value: i64, at: usize| value >> (self.n_bits - 1 - at) & 1 == 1;
            (0..2 * self.n_bits).map(|at| bit(if at % 2 == 0 { a } else { b }, at / 2)).collect()
        }
    }

    fn value(number: &BitNumber, vector: &[bool]) -> i128 {
        let sign = i128::from(number.sign().contains(vector));
        number.0.iter().rev().skip(1).fold(-sign, |so_far, bit| so_far * 2 + i128::from(bit.contains(vector)))
    }

    fn for_all(n_bits: usize, check: impl Fn(i64, i64, &[bool])) {
        let pair = Pair { space: Space::new(2 * n_bits as u32, 1 << 16), n_bits };
        let (lo, hi) = (-(1 << (n_bits - 1)), 1 << (n_bits - 1));
        for a in lo..hi {
            for b in lo..hi {
                check(a, b, &pair.vector(a, b));
            }
        }
    }

    #[test]
    fn every_operation_is_exact() {
        let n_bits = 5;
        let pair = Pair { space: Space::new(2 * n_bits as u32, 1 << 18), n_bits };
        let (x, y) = pair.numbers();
        let math = BitArithmetic { space: &pair.space };
        let (euclid, cut) = (math.divide_euclid(&x, &y).unwrap(), math.divide_cut(&x, &y).unwrap());
        let by = math.bitwise(&y, &math.constant(7), |a, b| pair.space.and(a, b)).unwrap();
        type Exact = fn(i64, i64) -> Option<i64>;
        let numbers: Vec<(BitNumber, Exact)> = vec![
            (math.add(&x, &y).unwrap(), |a, b| Some(a + b)),
            (math.subtract(&x, &y).unwrap(), |a, b| Some(a - b)),
            (math.multiply(&x, &y).unwrap(), |a, b| Some(a * b)),
            (math.negate(&x).unwrap(), |a, _| Some(-a)),
            (math.min(&x, &y).unwrap(), |a, b| Some(a.min(b))),
            (math.max(&x, &y).unwrap(), |a, b| Some(a.max(b))),
            (euclid.quotient, i64::checked_div_euclid),
            (euclid.rest, i64::checked_rem_euclid),
            (cut.quotient, i64::checked_div),
            (cut.rest, i64::checked_rem),
            (math.bitwise(&x, &y, |a, b| pair.space.and(a, b)).unwrap(), |a, b| Some(a & b)),
            (math.shift(&x, &by, Shift::Left).unwrap(), |a, b| Some(a << (b & 7))),
            (math.shift(&x, &by, Shift::Right).unwrap(), |a, b| Some(a >> (b & 7))),
        ];
        type Compare = fn(i64, i64) -> bool;
        let sets: Vec<(Bdd, Compare)> = vec![
            (math.less(&x, &y).unwrap(), |a, b| a < b),
            (math.at_most(&x, &y).unwrap(), |a, b| a <= b),
            (math.same(&x, &y).unwrap(), |a, b| a == b),
            (math.equals(&x, -3).unwrap(), |a, _| a == -3),
            (math.between(&x, &math.constant(-2), &y).unwrap(), |a, b| -2 <= a && a <= b),
        ];
        for_all(n_bits, |a, b, vector| {
            for (at, (number, exact)) in numbers.iter().enumerate() {
                if let Some(exact) = exact(a, b) {
                    assert_eq!(value(number, vector), i128::from(exact), "operation {at} on {a} and {b}");
                }
            }
            for (at, (set, exact)) in sets.iter().enumerate() {
                assert_eq!(set.contains(vector), exact(a, b), "comparison {at} of {a} and {b}");
            }
        });
    }

    #[test]
    fn constants_and_cases_are_the_numbers_that_they_say() {
        let space = Space::new(2, 1 << 12);
        let math = BitArithmetic { space: &space };
        for value in [0, 1, -1, 7, -8, i128::from(i64::MIN), i128::from(i64::MAX), 1 << 70, -(1 << 70)] {
            assert_eq!(math.constant(value).constant(), Some(value));
            let fits = math.fits(&math.constant(value)).unwrap();
            assert_eq!(fits.is_all(), i64::try_from(value).is_ok(), "{value}");
            assert_eq!(fits.is_empty(), i64::try_from(value).is_err(), "{value}");
        }
        let bit = space.set_of(&space.cube([(0, true)]).unwrap());
        let other = space.not(&bit).unwrap();
        let either = math.of_cases([(i64::MIN, &bit), (5, &other)]).unwrap();
        assert!(math.equals(&either, i128::from(i64::MIN)).unwrap() == bit);
        assert!(math.equals(&either, 5).unwrap() == other);
        assert_eq!(either.constant(), None);
    }

    /// Thirty-two bits: sums, comparisons, products and quotients by constants are small.
    #[test]
    fn wide_numbers_take_few_nodes() {
        let pair = Pair { space: Space::new(64, 1 << 20), n_bits: 32 };
        let (x, y) = pair.numbers();
        let math = BitArithmetic { space: &pair.space };
        assert!(math.less(&x, &y).unwrap().n_nodes() < 200);
        let sum = math.add(&x, &y).unwrap();
        assert!(sum.sign().n_nodes() < 200, "{}", sum.sign().n_nodes());
        let seven = math.constant(7);
        let Division { quotient, rest } = math.divide_euclid(&x, &seven).unwrap();
        let again = math.add(&math.multiply(&quotient, &seven).unwrap(), &rest).unwrap();
        assert!(math.same(&again, &x).unwrap().is_all());
    }
}
