//! Negation normal form: negations are at atoms only, and few operators are left.
//!
//! In: any formula. Out: an equivalent one of literals, `And`, `Or`, `Next`, `Always`, `Eventually` and the four operators of the
//! until family. Since formulas are shared, the result is at most a few times as large, even where `<=>` is nested.

use rustc_hash::FxHashMap;

use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};

/// Normal forms of formulas of one store, and of their negations; each is worked out once.
#[derive(Clone, Debug, Default)]
pub struct NormalForms {
    /// The normal form of a formula and that of its negation.
    known: FxHashMap<FormulaId, (FormulaId, FormulaId)>,
}

impl NormalForms {
    /// An equivalent formula in normal form.
    pub fn of(&mut self, formulas: &mut Formulas, root: FormulaId) -> FormulaId {
        self.pair(formulas, root).0
    }

    /// The negation, in normal form.
    pub fn negation(&mut self, formulas: &mut Formulas, root: FormulaId) -> FormulaId {
        self.pair(formulas, root).1
    }

    fn pair(&mut self, formulas: &mut Formulas, root: FormulaId) -> (FormulaId, FormulaId) {
        if let Some(&pair) = self.known.get(&root) {
            return pair;
        }
        // Small parts are the common case: all of them are known already.
        let missing = formulas.get(root).parts().any(|part| !self.known.contains_key(&part));
        let todo = if missing { formulas.with_parts(root) } else { vec![root] };
        for part in todo {
            if !self.known.contains_key(&part) {
                let pair = self.step(formulas, part);
                self.known.insert(part, pair);
                // Both are in normal form, and each is the other's negation.
                self.known.entry(pair.0).or_insert(pair);
                self.known.entry(pair.1).or_insert((pair.1, pair.0));
            }
        }
        self.known[&root]
    }

    /// The pair of a formula whose parts are known.
    fn step(&self, formulas: &mut Formulas, id: FormulaId) -> (FormulaId, FormulaId) {
        let known = |part: &FormulaId| self.known[part];
        match formulas.get(id).clone() {
            Formula::True | Formula::False => {
                let is_true = id == formulas.constant(true);
                (id, formulas.constant(!is_true))
            }
            Formula::Atom(_) => (id, formulas.unary(Unary::Not, id)),
            Formula::Unary(operator, part) => {
                let (yes, no) = known(&part);
                let dual = match operator {
                    Unary::Not => return (no, yes),
                    Unary::Next => Unary::Next,
                    Unary::Always => Unary::Eventually,
                    Unary::Eventually => Unary::Always,
                };
                (formulas.unary(operator, yes), formulas.unary(dual, no))
            }
            Formula::And(parts) => {
                let pairs: Vec<_> = parts.iter().map(known).collect();
                (formulas.and(pairs.iter().map(|pair| pair.0)), formulas.or(pairs.iter().map(|pair| pair.1)))
            }
            Formula::Or(parts) => {
                let pairs: Vec<_> = parts.iter().map(known).collect();
                (formulas.or(pairs.iter().map(|pair| pair.0)), formulas.and(pairs.iter().map(|pair| pair.1)))
            }
            Formula::Binary(operator, left, right) => binary(formulas, operator, known(&left), known(&right)),
        }
    }
}

/// The normal form of `f op g`, and of its negation, from those of f and g.
fn binary(
    formulas: &mut Formulas,
    operator: Binary,
    (f, not_f): (FormulaId, FormulaId),
    (g, not_g): (FormulaId, FormulaId),
) -> (FormulaId, FormulaId) {
    let dual = match operator {
        Binary::Implies => return (formulas.or([not_f, g]), formulas.and([f, not_g])),
        Binary::Iff => return equivalence(formulas, (f, not_f), (g, not_g)),
        Binary::Xor => return equivalence(formulas, (f, not_f), (not_g, g)),
        Binary::LeadsTo => {
            let (later, never) = (formulas.unary(Unary::Eventually, g), formulas.unary(Unary::Always, not_g));
            let (answered, open) = (formulas.or([not_f, later]), formulas.and([f, never]));
            return (formulas.unary(Unary::Always, answered), formulas.unary(Unary::Eventually, open));
        }
        Binary::Until => Binary::Releases,
        Binary::Releases => Binary::Until,
        Binary::WeakUntil => Binary::StrongReleases,
        Binary::StrongReleases => Binary::WeakUntil,
    };
    (formulas.binary(operator, f, g), formulas.binary(dual, not_f, not_g))
}

fn equivalence(
    formulas: &mut Formulas,
    (f, not_f): (FormulaId, FormulaId),
    (g, not_g): (FormulaId, FormulaId),
) -> (FormulaId, FormulaId) {
    let (both, none) = (formulas.and([f, g]), formulas.and([not_f, not_g]));
    let (left, right) = (formulas.and([f, not_g]), formulas.and([not_f, g]));
    (formulas.or([both, none]), formulas.or([left, right]))
}
