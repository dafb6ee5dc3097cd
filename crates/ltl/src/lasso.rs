//! Words that go round for ever, and the truth of formulas on them.
//!
//! In: a formula and a word `stem · loop · loop · …`, each letter the set of atoms that are true there. Out: whether the word satisfies
//! the formula. The value of each part at each position is worked out from the meaning of its operator, from the end of the word to
//! its beginning, twice round the loop for those that look ahead. No automaton is involved: this is what automata are tested against.

use crate::bits::Bits;
use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};

/// The atoms that are true at a point.
pub type Letter = Bits;

/// An infinite word: the stem once, then the loop for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    letters: Vec<Letter>,
    /// Where the loop begins; smaller than the number of letters.
    loop_from: usize,
}

impl Lasso {
    /// A word; `None` where the loop is empty, since that is no infinite word.
    pub fn new(stem: Vec<Letter>, cycle: Vec<Letter>) -> Option<Self> {
        let loop_from = stem.len();
        let letters: Vec<Letter> = stem.into_iter().chain(cycle).collect();
        (loop_from < letters.len()).then_some(Lasso { letters, loop_from })
    }

    /// The letters of the stem and of the loop.
    pub fn letters(&self) -> &[Letter] {
        &self.letters
    }

    /// Where the loop begins.
    pub fn loop_from(&self) -> usize {
        self.loop_from
    }

    /// The position after this one.
    pub fn after(&self, position: usize) -> usize {
        if position + 1 < self.letters.len() { position + 1 } else { self.loop_from }
    }

    /// Whether the word satisfies a formula.
    pub fn satisfies(&self, formulas: &Formulas, root: FormulaId) -> bool {
        let mut values: Vec<Option<Vec<bool>>> = vec![None; root.index() + 1];
        for part in formulas.with_parts(root) {
            let row = self.row(formulas.get(part), &values);
            values[part.index()] = Some(row);
        }
        values[root.index()].as_ref().is_some_and(|row| row[0])
    }

    /// The values of a formula at all positions, from those of its parts.
    fn row(&self, formula: &Formula, values: &[Option<Vec<bool>>]) -> Vec<bool> {
        let of = |id: &FormulaId| values[id.index()].as_deref().expect("parts come before the whole");
        let at_each = |value: &dyn Fn(usize) -> bool| (0..self.letters.len()).map(value).collect::<Vec<bool>>();
        match formula {
            Formula::True => at_each(&|_| true),
            Formula::False => at_each(&|_| false),
            Formula::Atom(atom) => at_each(&|position| self.letters[position].contains(atom.index())),
            Formula::And(parts) => at_each(&|position| parts.iter().all(|part| of(part)[position])),
            Formula::Or(parts) => at_each(&|position| parts.iter().any(|part| of(part)[position])),
            Formula::Unary(operator, part) => {
                let part = of(part);
                match operator {
                    Unary::Not => at_each(&|position| !part[position]),
                    Unary::Next => at_each(&|position| part[self.after(position)]),
                    Unary::Always => self.backwards(true, |position, later| part[position] && later),
                    Unary::Eventually => self.backwards(false, |position, later| part[position] || later),
                }
            }
            Formula::Binary(operator, left, right) => {
                let (left, right) = (of(left), of(right));
                match operator {
                    Binary::Implies => at_each(&|position| !left[position] || right[position]),
                    Binary::Iff => at_each(&|position| left[position] == right[position]),
                    Binary::Xor => at_each(&|position| left[position] != right[position]),
                    Binary::Until => self.backwards(false, |at, later| right[at] || (left[at] && later)),
                    Binary::WeakUntil => self.backwards(true, |at, later| right[at] || (left[at] && later)),
                    Binary::Releases => self.backwards(true, |at, later| right[at] && (left[at] || later)),
                    Binary::StrongReleases => self.backwards(false, |at, later| right[at] && (left[at] || later)),
                    Binary::LeadsTo => {
                        let comes = self.backwards(false, |at, later| right[at] || later);
                        self.backwards(true, |at, later| (!left[at] || comes[at]) && later)
                    }
                }
            }
        }
    }

    /// The least (from `false`) or greatest (from `true`) solution of `value = step(position, value at the next position)`.
    fn backwards(&self, from: bool, step: impl Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut row = vec![from; self.letters.len()];
        // Steps are monotone, so after one round the value at the loop's beginning is the fixpoint's; the second round spreads it.
        let mut later = from;
        for _ in 0..2 {
            for position in (self.loop_from..self.letters.len()).rev() {
                row[position] = step(position, later);
                later = row[position];
            }
        }
        for position in (0..self.loop_from).rev() {
            row[position] = step(position, later);
            later = row[position];
        }
        row
    }
}
