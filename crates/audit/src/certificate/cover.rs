//! Whether a property follows from the clauses that a certificate states.
//!
//! In: the expression of a property with what is demanded of it, and stated clauses. Out: nothing, or a clause of the property that is
//! neither stated nor follows. The checker goes through the expression from the root. At each part it asks whether what is
//! demanded there, under the conditions assumed on the way, is stated; if it is not, the part follows from its own parts:
//!
//! - `a && b` from `a` and `b`, of which `b` may be under the condition `a`; likewise `!(a || b)` and `!(a => b)`;
//! - `a => b` from `b` under the condition `a`; likewise `a || b`, `!(a && b)`, `a <=> b` and `if`;
//! - `forall i where f: e` from `e` under the condition `f`, for every `i`; likewise `!exists`;
//! - what holds under the condition `exists i where f: e`, from the same under the conditions `f` and `e`, for every `i`;
//! - `count(i: e) <= n` from clauses which say that every `e` has a value, and that of any `n + 1` of them one is false.
//!
//! A clause is violated where one of its conditions, or its claim, has no value. So each rule is sound whatever can fail: the order in
//! which `eval` looks at operands and instances is that of the conditions. Where the invariants stand for their images and the property is
//! its own image, a clause that is true in every reachable state has true images; so clauses are compared after renaming their
//! processes in the order in which they occur.

use std::collections::HashSet;
use std::rc::Rc;

use base::Budget;
use evidence::implication::Demand;
use model::expr::{BinaryOp, Expr, ExprKind, Quantified, Quantifier};
use model::process::ProcessId;
use model::value::Value;

use super::clause::{Clause, Literal};
use super::symmetry::Symmetry;
use super::terms::{Terms, as_process};
use super::{CertificateError, Outcome, words};

/// A literal by what it is, its processes renamed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    path: Rc<[usize]>,
    bound: Vec<Value>,
    demand: Demand,
}

/// Why something does not follow.
enum Gap<'e> {
    /// This clause is not stated.
    Missing(Box<Clause<'e>>),
    Stop(CertificateError),
}

impl From<CertificateError> for Gap<'_> {
    fn from(error: CertificateError) -> Self {
        Gap::Stop(error)
    }
}

type Derived<'e> = Result<(), Gap<'e>>;

/// What is stated of a property.
pub(super) struct Cover<'a> {
    terms: &'a Terms<'a>,
    /// The permutations under which clauses stand for their images, if they do.
    symmetry: Option<&'a Symmetry<'a>>,
    budget: &'a Budget,
    /// The stated clauses, and those that were found to follow; the claim comes last.
    known: HashSet<Vec<Key>>,
    /// The conditions of stated clauses, and what these begin with.
    begun: HashSet<Vec<Key>>,
}

impl<'a> Cover<'a> {
    /// The stated clauses; with permutations only where the property is its own image under them.
    pub fn new(
        terms: &'a Terms<'a>,
        stated: &[Clause<'a>],
        symmetry: Option<&'a Symmetry<'a>>,
        budget: &'a Budget,
    ) -> Self {
        let mut cover = Cover { terms, symmetry, budget, known: HashSet::new(), begun: HashSet::from([Vec::new()]) };
        for clause in stated {
            let keys = cover.keys(clause.literals());
            cover.begun.extend((1..keys.len()).map(|end| keys[..end].to_vec()));
            cover.known.insert(keys);
        }
        cover
    }

    /// The expression meets the demand wherever all stated clauses hold.
    pub fn check(&mut self, expr: &Expr, demand: Demand) -> Outcome<()> {
        match self.derive(&[], &Literal::whole(expr, demand)) {
            Ok(()) => Ok(()),
            Err(Gap::Stop(error)) => Err(error),
            Err(Gap::Missing(clause)) => words::refused(
                "what is stated has to make up the property",
                format!("`{}` neither is stated nor follows from what is", clause.text(self.terms.model)),
            ),
        }
    }

    /// The literals by what they are; where clauses stand for their images, each process is called as the first one of its
    /// family that has not occurred before.
    fn keys<'l, 'e: 'l>(&self, literals: impl Iterator<Item = &'l Literal<'e>>) -> Vec<Key> {
        let key = |literal: &Literal<'e>| Key {
            path: Rc::clone(&literal.path),
            bound: literal.bound.to_vec(),
            demand: literal.demand,
        };
        let mut keys: Vec<Key> = literals.map(key).collect();
        if let Some(symmetry) = self.symmetry {
            let values = || keys.iter().flat_map(|key| key.bound.iter().copied());
            let processes: Vec<ProcessId> = values().filter_map(as_process).collect();
            let mut renamed = symmetry.renamed(&processes).into_iter();
            for value in keys.iter_mut().flat_map(|key| &mut key.bound) {
                if as_process(*value).is_some() {
                    *value = renamed.next().map_or(*value, Value::Process);
                }
            }
        }
        keys
    }

    /// The claim holds under the conditions.
    fn derive<'e>(&mut self, conditions: &[Literal<'e>], claim: &Literal<'e>) -> Derived<'e> {
        self.budget.check(0).map_err(CertificateError::from)?;
        let keys = self.keys(conditions.iter().chain([claim]));
        if self.known.contains(&keys) {
            return Ok(());
        }
        // Conditions are only added on the way.
        if !self.begun.contains(&keys[..conditions.len()]) {
            return missing(conditions, claim);
        }
        self.split(conditions, claim)?;
        self.known.insert(keys);
        Ok(())
    }

    fn split<'e>(&mut self, conditions: &[Literal<'e>], claim: &Literal<'e>) -> Derived<'e> {
        let demand = claim.demand;
        match (&claim.expr.kind, demand) {
            (ExprKind::Not(inner), _) => self.derive(conditions, &claim.operand(0, inner, demand.negated())),
            (ExprKind::Binary(op, a, b), Demand::True | Demand::False) => {
                let [on, off] = [Demand::True, Demand::False];
                let (left, right) = (|demand| claim.operand(0, a, demand), |demand| claim.operand(1, b, demand));
                match (op, demand) {
                    (BinaryOp::And, Demand::True) => self.both(conditions, left(on), &right(on)),
                    (BinaryOp::Or, Demand::False) => self.both(conditions, left(off), &right(off)),
                    (BinaryOp::Implies, Demand::False) => self.both(conditions, left(on), &right(off)),
                    (BinaryOp::Implies, _) => self.under(conditions, left(on), &right(on)),
                    (BinaryOp::Or, _) => self.under(conditions, left(off), &right(on)),
                    (BinaryOp::And, _) => self.under(conditions, left(on), &right(off)),
                    (BinaryOp::Iff, Demand::True) => {
                        self.under(conditions, left(on), &right(on))?;
                        self.under(conditions, left(off), &right(off))
                    }
                    (BinaryOp::LessEqual | BinaryOp::Less, Demand::True) => self.at_most(conditions, claim, *op),
                    _ => missing(conditions, claim),
                }
            }
            (ExprKind::If(test, yes, no), Demand::True | Demand::False) => {
                self.under(conditions, claim.operand(0, test, Demand::True), &claim.operand(1, yes, demand))?;
                self.under(conditions, claim.operand(0, test, Demand::False), &claim.operand(2, no, demand))
            }
            (ExprKind::Quantified(quantified), Demand::True | Demand::False)
                if demands_all(quantified, demand) && Terms::are_fixed(&quantified.bindings) =>
            {
                for (filter, body) in self.instances(quantified, claim)? {
                    let conditions: Vec<Literal<'e>> = conditions.iter().cloned().chain(filter).collect();
                    self.derive(&conditions, &body)?;
                }
                Ok(())
            }
            _ => missing(conditions, claim),
        }
    }

    /// Both are demanded; the second is looked at only where the first is as it should be.
    fn both<'e>(&mut self, conditions: &[Literal<'e>], first: Literal<'e>, second: &Literal<'e>) -> Derived<'e> {
        self.derive(conditions, &first)?;
        match self.derive(conditions, second) {
            Err(Gap::Missing(clause)) => {
                let conditions: Vec<Literal<'e>> = conditions.iter().cloned().chain([first]).collect();
                match self.derive(&conditions, second) {
                    // What is missing without the condition says more.
                    Err(Gap::Missing(_)) => Err(Gap::Missing(clause)),
                    other => other,
                }
            }
            other => other,
        }
    }

    /// The claim holds under one more condition: under the whole of it, or under each instance of which one has to hold.
    fn under<'e>(&mut self, conditions: &[Literal<'e>], condition: Literal<'e>, claim: &Literal<'e>) -> Derived<'e> {
        let demand = condition.demand;
        if let ExprKind::Not(inner) = &condition.expr.kind {
            return self.under(conditions, condition.operand(0, inner, demand.negated()), claim);
        }
        let with: Vec<Literal<'e>> = conditions.iter().cloned().chain([condition.clone()]).collect();
        let whole = self.derive(&with, claim);
        match (&condition.expr.kind, whole) {
            (ExprKind::Quantified(quantified), Err(Gap::Missing(clause)))
                if demands_all(quantified, demand.negated()) && Terms::are_fixed(&quantified.bindings) =>
            {
                for (filter, body) in self.instances(quantified, &condition)? {
                    let conditions: Vec<Literal<'e>> = conditions.iter().cloned().chain(filter).collect();
                    match self.under(&conditions, body, claim) {
                        Err(Gap::Missing(_)) => return Err(Gap::Missing(clause)),
                        other => other?,
                    }
                }
                Ok(())
            }
            (_, whole) => whole,
        }
    }

    /// `count(i: e) <= n` and `count(i: e) < n`, with a constant `n` and no filter.
    fn at_most<'e>(&mut self, conditions: &[Literal<'e>], claim: &Literal<'e>, op: BinaryOp) -> Derived<'e> {
        let ExprKind::Binary(_, count, most) = &claim.expr.kind else { return missing(conditions, claim) };
        let (ExprKind::Quantified(counted), Some(Ok(Value::Int(most)))) =
            (&count.kind, self.terms.constant(most, &claim.bound))
        else {
            return missing(conditions, claim);
        };
        let size = if op == BinaryOp::Less { Some(most) } else { most.checked_add(1) };
        let size = size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
        let is_plain =
            counted.quantifier == Quantifier::Count && counted.filter.is_none() && Terms::are_fixed(&counted.bindings);
        let (Some(size), true) = (size, is_plain) else { return missing(conditions, claim) };
        let counted = self.instances(counted, &claim.operand(0, count, Demand::True))?;
        let bodies: Vec<Literal<'e>> = counted.into_iter().map(|(_, body)| body).collect();
        for body in &bodies {
            self.derive(conditions, &Literal { demand: Demand::HasValue, ..body.clone() })?;
        }
        let places: Vec<ProcessId> = (0..bodies.len()).map(ProcessId::new).collect();
        for subset in super::claimed::subsets(&places, size) {
            let (last, first) = subset.split_last().expect("there is at least one");
            let first = first.iter().map(|at| bodies[at.index()].clone());
            let with: Vec<Literal<'e>> = conditions.iter().cloned().chain(first).collect();
            self.derive(&with, &Literal { demand: Demand::False, ..bodies[last.index()].clone() })?;
        }
        Ok(())
    }

    /// The instances of a quantifier's body that its filter lets through, each with the filter where that depends on the state.
    fn instances<'e>(
        &self,
        quantified: &'e Quantified,
        whole: &Literal<'e>,
    ) -> Outcome<Vec<(Option<Literal<'e>>, Literal<'e>)>> {
        let mut found = Vec::new();
        self.terms.bind_each(&quantified.bindings, whole.bound.to_vec(), &mut |bound| {
            self.budget.check(0)?;
            let body = Literal { bound: Rc::clone(&bound), ..whole.operand(0, &quantified.body, whole.demand) };
            let Some(filter) = &quantified.filter else {
                found.push((None, body));
                return Ok(());
            };
            match self.terms.constant(filter, &bound) {
                Some(Ok(Value::Bool(true))) => found.push((None, body)),
                Some(Ok(Value::Bool(false))) => {}
                _ => found.push((Some(Literal { bound, ..whole.operand(1, filter, Demand::True) }), body)),
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn missing<'e>(conditions: &[Literal<'e>], claim: &Literal<'e>) -> Derived<'e> {
    Err(Gap::Missing(Box::new(Clause { conditions: conditions.to_vec(), claim: claim.clone() })))
}

/// Whether the demand says something about every instance.
fn demands_all(quantified: &Quantified, demand: Demand) -> bool {
    matches!((quantified.quantifier, demand), (Quantifier::Forall, Demand::True) | (Quantifier::Exists, Demand::False))
}

#[cfg(test)]
mod tests;
