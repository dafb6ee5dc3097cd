//! Numbers of many bits as diagrams: what a column of many values holds, and what is computed from it.
//!
//! In: for each bit the states in which it is set. Out: sums, products, quotients and comparisons, written from what they mean:
//! two's complement of as many bits as it takes, so that nothing is lost; less is a negative difference; a product is a sum of
//! shifted factors; division is long division of absolute values. No engine's arithmetic is used.

use biodivine_lib_bdd::{Bdd, BddValuation, BddVariable};
use model::expr::BinaryOp;
use model::machine::MachineOp;
use model::value::Fault;

use super::algebra::Algebra;
use super::variables::Variables;
use crate::certificate::Outcome;

/// A number in each state: for each bit, the lowest first, the states in which it is set. The last one is the sign.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Word(Vec<Bdd>);

/// What an operator yields in some states: a number, or that it has none.
pub(super) struct Computed {
    pub word: Word,
    /// Where there is no result, and why.
    pub faults: Vec<(Fault, Bdd)>,
}

/// Computes with words.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub variables: &'a Variables,
    pub algebra: &'a Algebra<'a>,
}

impl Word {
    /// A bit; beyond the highest one all are as the sign.
    fn bit(&self, at: usize) -> &Bdd {
        self.0.get(at).unwrap_or_else(|| self.sign())
    }

    fn sign(&self) -> &Bdd {
        self.0.last().expect("a word has a sign")
    }

    /// The number in one state, where it fits.
    pub fn number(&self, valuation: &BddValuation) -> i64 {
        let is_set = |bit: &Bdd| bit.eval_in(valuation);
        let start = if is_set(self.sign()) { -1_i128 } else { 0 };
        let value =
            self.0.iter().rev().skip(1).fold(start, |value, bit| value.wrapping_mul(2) + i128::from(is_set(bit)));
        i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
    }

    /// Whether it depends on one of the variables.
    pub fn depends_on(&self, variables: &[BddVariable]) -> bool {
        self.0.iter().any(|bit| {
            let support = bit.support_set();
            variables.iter().any(|variable| support.contains(variable))
        })
    }
}

impl Words<'_> {
    /// The same number everywhere.
    pub fn constant(self, value: i128) -> Word {
        let mut bits: Vec<Bdd> = Vec::new();
        let mut rest = value;
        while rest != 0 && rest != -1 {
            bits.push(self.truth(rest & 1 == 1));
            rest >>= 1;
        }
        bits.push(self.truth(rest == -1));
        Word(bits)
    }

    /// A number of which some variables, the highest bit first, tell how far above the least it is.
    pub fn above(self, least: i64, variables: &[BddVariable]) -> Outcome<Word> {
        let mut bits: Vec<Bdd> = variables.iter().rev().map(|&variable| self.variables.literal(variable)).collect();
        bits.push(self.truth(false));
        self.add(&Word(bits), &self.constant(i128::from(least)))
    }

    /// Some variables, the highest bit first, tell how far above the least the number is.
    pub fn is_told_by(self, word: &Word, least: i64, variables: &[BddVariable]) -> Outcome<Bdd> {
        let told = self.subtract(word, &self.constant(i128::from(least)))?;
        variables.iter().rev().enumerate().try_fold(self.truth(true), |all, (at, &variable)| {
            let same = self.algebra.iff(&self.variables.literal(variable), told.bit(at))?;
            self.algebra.and(&all, &same)
        })
    }

    /// Numbers in disjoint states, put together; 0 elsewhere.
    pub fn together(self, parts: &[(Word, Bdd)]) -> Outcome<Word> {
        parts.iter().try_fold(self.constant(0), |all, (word, states)| self.choose(states, word, &all))
    }

    /// The first where the condition is true, the second elsewhere.
    pub fn choose(self, condition: &Bdd, yes: &Word, no: &Word) -> Outcome<Word> {
        let bit = |at: usize| {
            let (yes, no) = (self.algebra.and(yes.bit(at), condition)?, self.algebra.and_not(no.bit(at), condition)?);
            self.algebra.or(&yes, &no)
        };
        (0..yes.0.len().max(no.0.len())).map(bit).collect::<Outcome<Vec<Bdd>>>().map(Word::trimmed)
    }

    pub fn add(self, one: &Word, other: &Word) -> Outcome<Word> {
        let mut carry = self.truth(false);
        let mut bits = Vec::new();
        for at in 0..=one.0.len().max(other.0.len()) {
            let (a, b) = (one.bit(at), other.bit(at));
            let differ = self.algebra.xor(a, b)?;
            bits.push(self.algebra.xor(&differ, &carry)?);
            let (both, passed) = (self.algebra.and(a, b)?, self.algebra.and(&differ, &carry)?);
            carry = self.algebra.or(&both, &passed)?;
        }
        Ok(Word::trimmed(bits))
    }

    pub fn negated(self, word: &Word) -> Outcome<Word> {
        let flipped = word.0.iter().map(|bit| self.algebra.and_not(&self.truth(true), bit)).collect::<Outcome<_>>()?;
        self.add(&Word(flipped), &self.constant(1))
    }

    pub fn subtract(self, one: &Word, other: &Word) -> Outcome<Word> {
        self.add(one, &self.negated(other)?)
    }

    /// Where the first is less than the second.
    pub fn less(self, one: &Word, other: &Word) -> Outcome<Bdd> {
        Ok(self.subtract(one, other)?.sign().clone())
    }

    /// Where both are the same.
    pub fn equal(self, one: &Word, other: &Word) -> Outcome<Bdd> {
        (0..one.0.len().max(other.0.len())).try_fold(self.truth(true), |all, at| {
            self.algebra.and(&all, &self.algebra.iff(one.bit(at), other.bit(at))?)
        })
    }

    /// Where the number is one of those from the first to the last.
    pub fn between(self, word: &Word, first: &Word, last: &Word) -> Outcome<Bdd> {
        let outside = self.algebra.or(&self.less(word, first)?, &self.less(last, word)?)?;
        self.algebra.and_not(&self.truth(true), &outside)
    }

    /// Where the number has more than 64 bits.
    pub fn overflows(self, word: &Word) -> Outcome<Bdd> {
        if word.0.len() <= i64::BITS as usize {
            return Ok(self.truth(false));
        }
        let fits = self.between(word, &self.constant(i128::from(i64::MIN)), &self.constant(i128::from(i64::MAX)))?;
        self.algebra.and_not(&self.truth(true), &fits)
    }

    /// The truth of a comparison.
    pub fn compare(self, op: BinaryOp, one: &Word, other: &Word) -> Outcome<Option<Bdd>> {
        let not = |set: Bdd| self.algebra.and_not(&self.truth(true), &set);
        Ok(Some(match op {
            BinaryOp::Equal => self.equal(one, other)?,
            BinaryOp::NotEqual => not(self.equal(one, other)?)?,
            BinaryOp::Less => self.less(one, other)?,
            BinaryOp::LessEqual => not(self.less(other, one)?)?,
            BinaryOp::Greater => self.less(other, one)?,
            BinaryOp::GreaterEqual => not(self.less(one, other)?)?,
            _ => return Ok(None),
        }))
    }

    /// An operator that yields a number.
    pub fn compute(self, op: BinaryOp, one: &Word, other: &Word) -> Outcome<Computed> {
        let plain = |word: Word| Computed { word, faults: Vec::new() };
        let mut computed = match op {
            BinaryOp::Add => plain(self.add(one, other)?),
            BinaryOp::Subtract => plain(self.subtract(one, other)?),
            BinaryOp::Multiply => plain(self.multiply(one, other)?),
            BinaryOp::Min => plain(self.choose(&self.less(one, other)?, one, other)?),
            BinaryOp::Max => plain(self.choose(&self.less(one, other)?, other, one)?),
            BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::Machine(MachineOp::Quotient | MachineOp::Rest) => {
                self.division(op, one, other)?
            }
            BinaryOp::Machine(op) => self.bits(op, one, other)?,
            other => unreachable!("{other:?} yields no number"),
        };
        let overflow = self.overflows(&computed.word)?;
        let known =
            computed.faults.iter().try_fold(self.truth(false), |all, (_, states)| self.algebra.or(&all, states))?;
        computed.faults.push((Fault::Overflow, self.algebra.and_not(&overflow, &known)?));
        Ok(computed)
    }

    fn multiply(self, one: &Word, other: &Word) -> Outcome<Word> {
        // A factor whose bits are mostly known is the one to go through.
        let n_open = |word: &Word| word.0.iter().filter(|bit| !bit.is_false()).count();
        let (one, other) = if n_open(one) < n_open(other) { (other, one) } else { (one, other) };
        let mut product = self.constant(0);
        for (at, bit) in other.0.iter().enumerate().filter(|(_, bit)| !bit.is_false()) {
            let part = self.choose(bit, &self.shifted(one, at), &self.constant(0))?;
            let is_sign = at + 1 == other.0.len();
            product = if is_sign { self.subtract(&product, &part)? } else { self.add(&product, &part)? };
        }
        Ok(product)
    }

    /// `/` and `%`, Euclidean or as C has them.
    fn division(self, op: BinaryOp, one: &Word, other: &Word) -> Outcome<Computed> {
        let zero = self.constant(0);
        let (dividend, divisor) = (self.absolute(one)?, self.absolute(other)?);
        let (quotient, rest) = self.long_division(&dividend, &divisor)?;
        let differ = self.algebra.xor(one.sign(), other.sign())?;
        let word = match op {
            BinaryOp::Machine(MachineOp::Quotient) => self.choose(&differ, &self.negated(&quotient)?, &quotient)?,
            BinaryOp::Machine(MachineOp::Rest) => self.choose(one.sign(), &self.negated(&rest)?, &rest)?,
            _ => {
                // The rest of a negative number is counted up from the multiple below it.
                let exact = self.equal(&rest, &zero)?;
                let below = self.algebra.and_not(one.sign(), &exact)?;
                match op {
                    BinaryOp::Remainder => self.choose(&below, &self.subtract(&divisor, &rest)?, &rest)?,
                    _ => {
                        let further = self.add(&quotient, &self.constant(1))?;
                        let size = self.choose(&below, &further, &quotient)?;
                        self.choose(&differ, &self.negated(&size)?, &size)?
                    }
                }
            }
        };
        Ok(Computed { word, faults: vec![(Fault::DivisionByZero, self.equal(other, &zero)?)] })
    }

    fn long_division(self, dividend: &Word, divisor: &Word) -> Outcome<(Word, Word)> {
        let mut rest = self.constant(0);
        let mut quotient = vec![self.truth(false)];
        for bit in dividend.0.iter().rev() {
            let mut next = self.shifted(&rest, 1);
            next.0[0] = bit.clone();
            let next = Word::trimmed(next.0);
            let left = self.subtract(&next, divisor)?;
            let goes = self.algebra.and_not(&self.truth(true), left.sign())?;
            rest = self.choose(&goes, &left, &next)?;
            quotient.push(goes);
        }
        quotient.reverse();
        Ok((Word::trimmed(quotient), rest))
    }

    /// Operators on bits and shifts.
    fn bits(self, op: MachineOp, one: &Word, other: &Word) -> Outcome<Computed> {
        let each = |op: &dyn Fn(&Bdd, &Bdd) -> Outcome<Bdd>| {
            let bits = (0..one.0.len().max(other.0.len())).map(|at| op(one.bit(at), other.bit(at)));
            bits.collect::<Outcome<Vec<Bdd>>>().map(Word::trimmed)
        };
        let word = match op {
            MachineOp::BitAnd => each(&|a, b| self.algebra.and(a, b))?,
            MachineOp::BitOr => each(&|a, b| self.algebra.or(a, b))?,
            MachineOp::BitXor => each(&|a, b| self.algebra.xor(a, b))?,
            MachineOp::ShiftLeft | MachineOp::ShiftRight => return self.shift(op, one, other),
            MachineOp::Quotient | MachineOp::Rest => unreachable!("these divide"),
        };
        Ok(Computed { word, faults: Vec::new() })
    }

    fn shift(self, op: MachineOp, one: &Word, by: &Word) -> Outcome<Computed> {
        let mut parts = Vec::new();
        let mut bad = self.truth(true);
        for distance in 0..i64::BITS {
            let states = self.equal(by, &self.constant(i128::from(distance)))?;
            if states.is_false() {
                continue;
            }
            let distance = distance as usize;
            let shifted = match op {
                MachineOp::ShiftLeft => self.shifted(one, distance),
                _ => Word(one.0[distance.min(one.0.len() - 1)..].to_vec()),
            };
            bad = self.algebra.and_not(&bad, &states)?;
            parts.push((shifted, states));
        }
        Ok(Computed { word: self.together(&parts)?, faults: vec![(Fault::BadShift { by: i64::from(i64::BITS) }, bad)] })
    }

    fn absolute(self, word: &Word) -> Outcome<Word> {
        self.choose(word.sign(), &self.negated(word)?, word)
    }

    fn shifted(self, word: &Word, distance: usize) -> Word {
        Word(std::iter::repeat_n(self.truth(false), distance).chain(word.0.iter().cloned()).collect())
    }

    fn truth(self, truth: bool) -> Bdd {
        if truth { self.variables.full() } else { self.variables.empty() }
    }
}

impl Word {
    /// Without leading bits that repeat the sign.
    fn trimmed(mut bits: Vec<Bdd>) -> Word {
        while bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2] {
            bits.pop();
        }
        Word(bits)
    }
}
