//! Classes of formulas that are seen from their shape.
//!
//! In: a formula in negation normal form. Out: which of these it surely is; a formula may be one in fact without having its form.
//! *Eventual*: once true later, true now (`F f` is `f`). *Universal*: once true, true for ever (`G f` is `f`). One that is both
//! has the same value at all points of a word (*suspendable*, Babiak et al. 2012). *Safety*, *guarantee* and *obligation* are
//! Manna and Pnueli's classes; the language of an obligation has a smallest deterministic automaton.

use rustc_hash::FxHashMap;

use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};

/// What a formula surely is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// True at a point if true at a later one.
    pub is_eventual: bool,
    /// True at all later points if true at a point.
    pub is_universal: bool,
    /// Its falsity shows after finitely many points.
    pub is_safety: bool,
    /// Its truth shows after finitely many points.
    pub is_guarantee: bool,
    /// A boolean combination of the two.
    pub is_obligation: bool,
}

impl Class {
    /// Whether its value is the same at all points of a word.
    pub fn is_suspendable(self) -> bool {
        self.is_eventual && self.is_universal
    }

    const CONSTANT: Class =
        Class { is_eventual: true, is_universal: true, is_safety: true, is_guarantee: true, is_obligation: true };
    const LITERAL: Class = Class { is_eventual: false, is_universal: false, ..Class::CONSTANT };

    fn both(self, other: Class) -> Class {
        Class {
            is_eventual: self.is_eventual && other.is_eventual,
            is_universal: self.is_universal && other.is_universal,
            is_safety: self.is_safety && other.is_safety,
            is_guarantee: self.is_guarantee && other.is_guarantee,
            is_obligation: self.is_obligation && other.is_obligation,
        }
    }
}

/// Classes of formulas of one store, each worked out once.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    known: FxHashMap<FormulaId, Class>,
}

impl Classes {
    /// The class of a formula in negation normal form.
    pub fn of(&mut self, formulas: &Formulas, root: FormulaId) -> Class {
        if let Some(&class) = self.known.get(&root) {
            return class;
        }
        let missing = formulas.get(root).parts().any(|part| !self.known.contains_key(&part));
        let todo = if missing { formulas.with_parts(root) } else { vec![root] };
        for part in todo {
            if !self.known.contains_key(&part) {
                let class = self.step(formulas.get(part));
                self.known.insert(part, class);
            }
        }
        self.known[&root]
    }

    fn step(&self, formula: &Formula) -> Class {
        let known = |part: &FormulaId| self.known[part];
        match formula {
            Formula::True | Formula::False => Class::CONSTANT,
            Formula::Atom(_) | Formula::Unary(Unary::Not, _) => Class::LITERAL,
            Formula::And(parts) | Formula::Or(parts) => parts.iter().map(known).fold(Class::CONSTANT, Class::both),
            Formula::Unary(operator, part) => unary(*operator, known(part)),
            Formula::Binary(operator, left, right) => binary(*operator, known(left), known(right)),
        }
    }
}

fn unary(operator: Unary, part: Class) -> Class {
    match operator {
        Unary::Not | Unary::Next => part,
        Unary::Always => Class {
            is_eventual: part.is_eventual,
            is_universal: true,
            is_safety: part.is_safety,
            is_guarantee: false,
            is_obligation: part.is_safety,
        },
        Unary::Eventually => Class {
            is_eventual: true,
            is_universal: part.is_universal,
            is_safety: false,
            is_guarantee: part.is_guarantee,
            is_obligation: part.is_guarantee,
        },
    }
}

fn binary(operator: Binary, left: Class, right: Class) -> Class {
    let both = left.both(right);
    match operator {
        Binary::Until => Class {
            is_eventual: right.is_eventual,
            is_universal: right.is_universal,
            is_safety: false,
            is_guarantee: both.is_guarantee,
            is_obligation: left.is_obligation && right.is_guarantee,
        },
        Binary::WeakUntil => Class {
            is_eventual: both.is_eventual,
            is_universal: right.is_universal,
            is_safety: both.is_safety,
            is_guarantee: false,
            is_obligation: left.is_safety && right.is_obligation,
        },
        Binary::Releases => Class {
            is_eventual: right.is_eventual,
            is_universal: right.is_universal,
            is_safety: both.is_safety,
            is_guarantee: false,
            is_obligation: left.is_obligation && right.is_safety,
        },
        Binary::StrongReleases => Class {
            is_eventual: right.is_eventual,
            is_universal: both.is_universal,
            is_safety: false,
            is_guarantee: both.is_guarantee,
            is_obligation: left.is_guarantee && right.is_obligation,
        },
        // These are not in normal form; nothing is claimed of them.
        Binary::Implies | Binary::Iff | Binary::Xor | Binary::LeadsTo => Class {
            is_eventual: false,
            is_universal: false,
            is_safety: false,
            is_guarantee: false,
            is_obligation: false,
        },
    }
}
