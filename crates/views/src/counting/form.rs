//! Numbers as sums: of what counted cells held before the step, sizes of families, and how many unseen processes satisfy something.

use std::collections::BTreeMap;

use model::size::ParameterId;
use model::variable::CellId;

/// Constants and multiples beyond this are not added up.
const LARGEST: u64 = 1 << 20;

/// What a number is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// What a counted cell held before the step.
    Cell(CellId),
    /// A parameter that is the size of a family.
    Size(ParameterId),
    /// How many unseen processes satisfy something, by its position in the list of such counts.
    Unseen(usize),
}

/// A constant and multiples of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The constant.
    pub constant: i64,
    /// How often each term is added; never 0 times.
    pub terms: BTreeMap<Term, i64>,
}

impl Form {
    /// A number.
    pub fn number(constant: i64) -> Form {
        Form { constant, terms: BTreeMap::new() }
    }

    /// A term.
    pub fn term(term: Term) -> Form {
        Form { constant: 0, terms: BTreeMap::from([(term, 1)]) }
    }

    /// The number, if it is made of no terms.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The sum with so many times the other; `None` beyond 64 bits.
    pub fn plus(&self, other: &Form, times: i64) -> Option<Form> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (&term, multiple) in &other.terms {
            let total = sum.terms.get(&term).copied().unwrap_or(0).checked_add(multiple.checked_mul(times)?)?;
            sum.terms.insert(term, total);
        }
        sum.terms.retain(|_, multiple| *multiple != 0);
        Some(sum)
    }

    /// Whether its constant and multiples are so small that no value that it has is beyond 64 bits.
    pub fn is_small(&self) -> bool {
        self.terms.values().chain([&self.constant]).all(|one| one.unsigned_abs() <= LARGEST)
    }

    /// The counted cell and the difference to it, if that is what the number is.
    pub fn offset(&self) -> Option<(CellId, i64)> {
        match self.terms.iter().next() {
            Some((Term::Cell(cell), 1)) if self.terms.len() == 1 => Some((*cell, self.constant)),
            _ => None,
        }
    }
}

/// What is known on a way through a step: the form is 0, or at least 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The form.
    pub form: Form,
    /// Whether it is 0; otherwise it is at least 0.
    pub is_zero: bool,
}
