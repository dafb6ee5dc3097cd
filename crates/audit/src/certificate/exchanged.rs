//! Ways to violate a property that are images of others: what excludes the one excludes the other.
//!
//! In: two ways to violate a temporal property, of which an earlier fact excludes the first, and a permutation of processes within their
//! families. Out: whether the permutation takes every fair run that violates the property in the second way, backwards, to one that
//! does in the first. Every text of the program has to be its own image, so that runs go to runs; each fairness assumption of the first way
//! has to have its image among those of the second; the automata have to be the same, and what they read images of one another.

use evidence::certificate::{self, Exchanged};
use evidence::plain::{ReferenceViolation, StateCondition};
use model::Model;
use model::expr::{Expr, ExprKind};
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::property::PropertyKind;
use model::value::Value;
use model::visit::each_child_mut;

use super::assumed::check_values;
use super::symmetry::{Permutation, Symmetry};
use super::{CertificateError, Outcome, words};

/// The permutations under which the program is its own image, as they were stated last.
#[derive(Default)]
pub(super) struct Exchanges<'m> {
    known: Option<(certificate::ClaimedSymmetry, Symmetry<'m>)>,
}

impl<'m> Exchanges<'m> {
    /// Checks that one way to violate the property follows from another.
    pub fn check(&mut self, model: &'m Model, claim: &Exchanged, [from, to]: [&ReferenceViolation; 2]) -> Outcome<()> {
        let symmetry = self.symmetry(model, &claim.symmetry)?;
        let permutation = symmetry.swapped(&claim.swaps).map_err(CertificateError::NotSymmetric)?;
        let image = Image { model, symmetry, permutation: &permutation };
        image.fairness(from, to)?;
        image.automaton(from, to)
    }

    fn symmetry(&mut self, model: &'m Model, stated: &certificate::ClaimedSymmetry) -> Outcome<&Symmetry<'m>> {
        if self.known.as_ref().is_none_or(|(known, _)| known != stated) {
            let made = Symmetry::stated(model, &PropertyKind::NoErrors, stated);
            self.known = Some((stated.clone(), made.map_err(CertificateError::NotSymmetric)?));
        }
        let (_, symmetry) = self.known.as_ref().expect("it was just made");
        Ok(symmetry)
    }
}

/// Whether a permutation takes the fairness assumptions of a violation to each other.
pub(super) fn keeps_fairness(
    model: &Model,
    (symmetry, permutation): (&Symmetry<'_>, &Permutation),
    violation: &ReferenceViolation,
) -> Outcome<()> {
    Image { model, symmetry, permutation }.fairness(violation, violation)
}

/// What a permutation makes of fairness assumptions and automata.
struct Image<'a, 'm> {
    model: &'a Model,
    symmetry: &'a Symmetry<'m>,
    permutation: &'a Permutation,
}

impl Image<'_, '_> {
    /// Runs that are fair in the second way are images of runs that are fair in the first.
    fn fairness(&self, from: &ReferenceViolation, to: &ReferenceViolation) -> Outcome<()> {
        for &id in &from.fairness {
            let pair = &self.model.fairness[id];
            let is_image = |other: &FairnessPair| self.is_image(pair, other);
            if !to.fairness.iter().any(|&other| is_image(&self.model.fairness[other])) {
                return words::refused(
                    "every fairness assumption has to have its image among those of the other way to violate the property",
                    format!("`{}` has none", pair.name),
                );
            }
        }
        // What the second assumes beside these has a value in every state.
        for &id in &to.fairness {
            let pair = &self.model.fairness[id];
            if !from.fairness.iter().any(|&one| self.is_image(&self.model.fairness[one], pair)) {
                check_values(self.model, &[id])?;
            }
        }
        Ok(())
    }

    fn is_image(&self, pair: &FairnessPair, other: &FairnessPair) -> bool {
        let always = match (&pair.always, &other.always) {
            (None, None) => true,
            (Some(one), Some(other)) => self.is_state_image(one, other),
            _ => false,
        };
        always
            && pair.often.len() == other.often.len()
            && pair.often.iter().zip(&other.often).all(|(one, other)| self.is_edge_image(one, other))
    }

    fn is_edge_image(&self, one: &EdgePredicate, other: &EdgePredicate) -> bool {
        match (one, other) {
            (EdgePredicate::Before(one), EdgePredicate::Before(other)) => self.is_state_image(one, other),
            (EdgePredicate::Scheduled(one), EdgePredicate::Scheduled(other)) => self.permutation.of(*one) == *other,
            (EdgePredicate::Moves(one, labels), EdgePredicate::Moves(other, other_labels)) => {
                self.permutation.of(*one) == *other && labels == other_labels
            }
            (EdgePredicate::SomebodyMoves, EdgePredicate::SomebodyMoves) => true,
            _ => false,
        }
    }

    fn is_state_image(&self, one: &StatePredicate, other: &StatePredicate) -> bool {
        match (one, other) {
            (StatePredicate::Unable(one, labels), StatePredicate::Unable(other, other_labels)) => {
                self.permutation.of(*one) == *other && labels == other_labels
            }
            (StatePredicate::NobodyAble, StatePredicate::NobodyAble) => true,
            (StatePredicate::Holds(one), StatePredicate::Holds(other))
            | (StatePredicate::Fails(one), StatePredicate::Fails(other)) => {
                self.image(one, 0).is_ok_and(|image| image == *other)
            }
            _ => false,
        }
    }

    /// What the permutation makes of an expression; one that leaves every process where it is changes nothing, whatever is indexed.
    fn image(&self, expr: &Expr, n_bound: usize) -> Outcome<Expr> {
        if self.model.processes.ids().all(|process| self.permutation.of(process) == process) {
            return Ok(expr.clone());
        }
        self.symmetry.image(self.permutation, expr, n_bound).map_err(CertificateError::NotSymmetric)
    }

    /// The automata read images of states in the same way.
    fn automaton(&self, from: &ReferenceViolation, to: &ReferenceViolation) -> Outcome<()> {
        let (one, other) = (&from.automaton, &to.automaton);
        let is_same = one.states == other.states && one.n_marks == other.n_marks;
        if !is_same || one.atoms.len() != other.atoms.len() {
            return words::refused(
                "the automata of the two ways to violate the property have to be alike",
                "they differ",
            );
        }
        for (atom, other) in one.atoms.iter().zip(&other.atoms) {
            let n_bound = atom.bound.len().max(other.bound.len());
            if self.image(&with_values(atom), n_bound)? != with_values(other) {
                return words::refused(
                    "what one way to violate the property looks at has to be the image of what the other one does",
                    "it is not",
                );
            }
        }
        Ok(())
    }
}

/// What an atom reads, with the values of the variables that are bound around it.
fn with_values(atom: &StateCondition) -> Expr {
    let mut expr = atom.expr.clone();
    put(&mut expr, &atom.bound);
    expr
}

fn put(expr: &mut Expr, bound: &[Value]) {
    if let ExprKind::Bound(var) = &expr.kind {
        if let Some(&value) = bound.get(var.0 as usize) {
            expr.kind = ExprKind::Const(value);
        }
        return;
    }
    each_child_mut(expr, &mut |part| put(part, bound));
}
