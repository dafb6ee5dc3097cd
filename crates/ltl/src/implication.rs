//! Implications that are seen from the shape of formulas (Somenzi and Bloem 2000, Babiak et al. 2012).
//!
//! In: two formulas in negation normal form. Out: whether the first surely implies the second. "No" means only that the rules
//! do not show it. The answers are kept, and the work is bounded: past a depth, or past a number of pairs, the answer is "no".

use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};

/// How deep two formulas are compared.
const MAX_DEPTH: u32 = 200;
/// How many pairs are compared in all.
const MAX_PAIRS: usize = 1 << 20;

/// Implications between formulas of one store.
#[derive(Clone, Debug, Default)]
pub struct Implications {
    /// Answers, and "no" for those that are being worked out: a claim must not be its own reason.
    known: FxHashMap<(FormulaId, FormulaId), bool>,
    /// The classes that the rules ask for.
    pub classes: Classes,
}

impl Implications {
    /// Whether `f` surely implies `g`.
    pub fn holds(&mut self, formulas: &Formulas, f: FormulaId, g: FormulaId) -> bool {
        Comparison { formulas, known: self, depth: 0 }.implies(f, g)
    }
}

/// The until family, with `Always` and `Eventually` as members of it.
#[derive(Clone, Copy)]
enum Shape {
    /// `until`, or `weakuntil` where not strong: left, right.
    Until { is_strong: bool, left: FormulaId, right: FormulaId },
    /// `releases`, or its strong form: left, right.
    Releases { is_strong: bool, left: FormulaId, right: FormulaId },
    /// Nothing of the kind.
    Other,
}

struct Comparison<'a> {
    formulas: &'a Formulas,
    known: &'a mut Implications,
    depth: u32,
}

impl Comparison<'_> {
    fn implies(&mut self, f: FormulaId, g: FormulaId) -> bool {
        if f == g || f == self.formulas.constant(false) || g == self.formulas.constant(true) {
            return true;
        }
        if f == self.formulas.constant(true) || g == self.formulas.constant(false) {
            return false;
        }
        if let Some(&answer) = self.known.known.get(&(f, g)) {
            return answer;
        }
        if self.depth >= MAX_DEPTH || self.known.known.len() >= MAX_PAIRS {
            return false;
        }
        self.known.known.insert((f, g), false);
        self.depth += 1;
        let answer = self.by_boolean_rules(f, g) || self.by_temporal_rules(f, g);
        self.depth -= 1;
        self.known.known.insert((f, g), answer);
        answer
    }

    fn by_boolean_rules(&mut self, f: FormulaId, g: FormulaId) -> bool {
        let formulas = self.formulas;
        if let Formula::Or(parts) = formulas.get(f) {
            return parts.iter().all(|&part| self.implies(part, g));
        }
        if let Formula::And(parts) = formulas.get(g) {
            return parts.iter().all(|&part| self.implies(f, part));
        }
        if let Formula::And(parts) = formulas.get(f)
            && parts.iter().any(|&part| self.implies(part, g))
        {
            return true;
        }
        match formulas.get(g) {
            Formula::Or(parts) => parts.iter().any(|&part| self.implies(f, part)),
            _ => false,
        }
    }

    fn by_temporal_rules(&mut self, f: FormulaId, g: FormulaId) -> bool {
        if matches!(self.formulas.get(f), Formula::Or(_)) || matches!(self.formulas.get(g), Formula::And(_)) {
            return false;
        }
        self.by_next(f, g) || self.now_suffices(f, g) || self.by_consequence(f, g) || self.by_shape(f, g)
    }

    fn by_next(&mut self, f: FormulaId, g: FormulaId) -> bool {
        let next = |id| match *self.formulas.get(id) {
            Formula::Unary(Unary::Next, part) => Some(part),
            _ => None,
        };
        match (next(f), next(g)) {
            (Some(f), Some(g)) => self.implies(f, g),
            (None, Some(later)) => self.is_universal(f) && self.implies(f, later),
            (Some(later), None) => self.is_eventual(g) && self.implies(later, g),
            (None, None) => false,
        }
    }

    /// What f says of the present point, or of a point to come where g is eventual, is enough for g.
    fn by_consequence(&mut self, f: FormulaId, g: FormulaId) -> bool {
        let is_eventual = self.is_eventual(g);
        match self.shape(f) {
            Shape::Until { is_strong, left, right } => {
                self.implies(right, g) && ((is_strong && is_eventual) || self.implies(left, g))
            }
            Shape::Releases { is_strong, left, right } => {
                self.implies(right, g) || (is_strong && is_eventual && self.implies(left, g))
            }
            Shape::Other => false,
        }
    }

    /// f fulfils g at the present point, or keeps it up for ever.
    fn now_suffices(&mut self, f: FormulaId, g: FormulaId) -> bool {
        let is_universal = self.is_universal(f);
        match self.shape(g) {
            Shape::Until { is_strong, left, right } => {
                self.implies(f, right) || (!is_strong && is_universal && self.implies(f, left))
            }
            Shape::Releases { is_strong, left, right } => {
                self.implies(f, right) && ((!is_strong && is_universal) || self.implies(f, left))
            }
            Shape::Other => false,
        }
    }

    /// Both are of the until family, and their operands fit.
    fn by_shape(&mut self, f: FormulaId, g: FormulaId) -> bool {
        match (self.shape(f), self.shape(g)) {
            (
                Shape::Until { is_strong: strong_f, left: f1, right: f2 },
                Shape::Until { is_strong: strong_g, left: g1, right: g2 },
            ) => (strong_f || !strong_g) && self.implies(f1, g1) && (self.implies(f2, g2) || self.implies(f2, g)),
            (
                Shape::Releases { is_strong: strong_f, left: f1, right: f2 },
                Shape::Releases { is_strong: strong_g, left: g1, right: g2 },
            ) => (strong_f || !strong_g) && self.implies(f1, g1) && self.implies(f2, g2),
            (
                Shape::Releases { is_strong: strong_f, left: f1, right: f2 },
                Shape::Until { is_strong: strong_g, left: g1, right: g2 },
            ) => (strong_f || !strong_g) && self.implies(f2, g1) && (self.implies(f1, g2) || self.implies(f2, g2)),
            (
                Shape::Until { is_strong: strong_f, left: f1, right: f2 },
                Shape::Releases { is_strong: strong_g, left: g1, right: g2 },
            ) => (strong_f || !strong_g) && self.implies(f1, g2) && self.implies(f2, g2) && self.implies(f2, g1),
            _ => false,
        }
    }

    fn shape(&self, id: FormulaId) -> Shape {
        match *self.formulas.get(id) {
            Formula::Unary(Unary::Eventually, right) => {
                Shape::Until { is_strong: true, left: self.formulas.constant(true), right }
            }
            Formula::Unary(Unary::Always, right) => {
                Shape::Releases { is_strong: false, left: self.formulas.constant(false), right }
            }
            Formula::Binary(Binary::Until, left, right) => Shape::Until { is_strong: true, left, right },
            Formula::Binary(Binary::WeakUntil, left, right) => Shape::Until { is_strong: false, left, right },
            Formula::Binary(Binary::Releases, left, right) => Shape::Releases { is_strong: false, left, right },
            Formula::Binary(Binary::StrongReleases, left, right) => Shape::Releases { is_strong: true, left, right },
            _ => Shape::Other,
        }
    }

    fn is_eventual(&mut self, id: FormulaId) -> bool {
        self.known.classes.of(self.formulas, id).is_eventual
    }

    fn is_universal(&mut self, id: FormulaId) -> bool {
        self.known.classes.of(self.formulas, id).is_universal
    }
}
