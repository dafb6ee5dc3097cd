//! Questions as terms: properties over the flat program, with quantifiers written out, and fairness over its steps.
//!
//! In: the Model's properties. Out: for each a term or a [`Logic`] formula over terms. An expression of a property that may fail has no
//! counterpart elsewhere (the answer would be `unknown`), and is refused.

use model::Model;
use model::expr::{Binding, Expr, Quantifier};
use model::fairness::{EdgePredicate, StatePredicate};
use model::process::ProcessId;
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::value::Value;

use crate::ExportRefusal;
use crate::flat::{self, Flat, StepPart, TermEvaluator};
use crate::term::Term;

/// A temporal formula over terms.
#[derive(Clone, Debug)]
pub enum Logic {
    /// About the present state.
    Now(Term),
    /// The negation.
    Not(Box<Logic>),
    /// All.
    And(Vec<Logic>),
    /// Some.
    Or(Vec<Logic>),
    /// One implies the other, or both imply each other.
    Boolean(BooleanOp, Box<Logic>, Box<Logic>),
    /// `always` and the like.
    Unary(UnaryTemporal, Box<Logic>),
    /// `until` and the like.
    Binary(BinaryTemporal, Box<Logic>, Box<Logic>),
}

impl Logic {
    /// How many temporal operators there are.
    pub fn n_temporal(&self) -> usize {
        match self {
            Logic::Now(_) => 0,
            Logic::Not(inner) => inner.n_temporal(),
            Logic::And(parts) | Logic::Or(parts) => parts.iter().map(Logic::n_temporal).sum(),
            Logic::Boolean(_, left, right) => left.n_temporal() + right.n_temporal(),
            Logic::Unary(_, inner) => 1 + inner.n_temporal(),
            Logic::Binary(_, left, right) => 1 + left.n_temporal() + right.n_temporal(),
        }
    }

    /// Whether it speaks of the next point of a run.
    pub fn has_next(&self) -> bool {
        match self {
            Logic::Now(_) => false,
            Logic::Not(inner) => inner.has_next(),
            Logic::And(parts) | Logic::Or(parts) => parts.iter().any(Logic::has_next),
            Logic::Boolean(_, left, right) | Logic::Binary(_, left, right) => left.has_next() || right.has_next(),
            Logic::Unary(op, inner) => *op == UnaryTemporal::Next || inner.has_next(),
        }
    }

    /// Shows every term in it.
    pub fn terms(&self, see: &mut impl FnMut(&Term)) {
        match self {
            Logic::Now(term) => see(term),
            Logic::Not(inner) | Logic::Unary(_, inner) => inner.terms(see),
            Logic::And(parts) | Logic::Or(parts) => parts.iter().for_each(|part| part.terms(see)),
            Logic::Boolean(_, left, right) | Logic::Binary(_, left, right) => {
                left.terms(see);
                right.terms(see);
            }
        }
    }
}

/// Makes terms and formulas of questions.
pub struct Questions<'m> {
    /// The program.
    pub model: &'m Model,
    /// Its flat form.
    pub flat: &'m Flat,
    /// What cannot be expressed so far.
    pub problems: Vec<ExportRefusal>,
}

impl Questions<'_> {
    /// A condition on states, with values for the bound variables around it.
    pub fn condition(&mut self, expr: &Expr, bound: &[Value]) -> Term {
        let mut eval = TermEvaluator::new(self.model, self.flat, bound);
        let value = eval.value(expr);
        self.problems.extend(eval.into_problems());
        if !value.fault.is(false) {
            let why = "evaluating this may fail, which other tools have no answer for";
            self.problems.push(ExportRefusal::new(expr.span, why));
        }
        value.term
    }

    /// A temporal formula; `None` for an automaton.
    pub fn formula(&mut self, formula: &Formula, bound: &[Value]) -> Option<Logic> {
        let mut below = |inner: &Formula| self.formula(inner, bound).map(Box::new);
        Some(match formula {
            Formula::Now(expr) => Logic::Now(self.condition(expr, bound)),
            Formula::Not(inner) => Logic::Not(below(inner)?),
            Formula::Boolean(BooleanOp::And, left, right) => Logic::And(vec![*below(left)?, *below(right)?]),
            Formula::Boolean(BooleanOp::Or, left, right) => Logic::Or(vec![*below(left)?, *below(right)?]),
            Formula::Boolean(op, left, right) => Logic::Boolean(*op, below(left)?, below(right)?),
            Formula::Unary(op, inner) => Logic::Unary(*op, below(inner)?),
            Formula::Binary(op, left, right) => Logic::Binary(*op, below(left)?, below(right)?),
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let mut parts = Vec::new();
                for bound in self.instances(bindings, filter.as_ref(), bound) {
                    parts.push(self.formula(body, &bound)?);
                }
                match quantifier {
                    Quantifier::Forall => Logic::And(parts),
                    Quantifier::Exists | Quantifier::Count => Logic::Or(parts),
                }
            }
            Formula::NeverAccepts(_) => return None,
        })
    }

    fn instances(&mut self, bindings: &[Binding], filter: Option<&Expr>, bound: &[Value]) -> Vec<Vec<Value>> {
        let mut eval = TermEvaluator::new(self.model, self.flat, bound);
        let mut found = Vec::new();
        eval.instances(bindings, &mut found);
        self.problems.extend(eval.into_problems());
        let mut meant = Vec::new();
        for bound in found {
            let filter = filter.map(|filter| (filter.span, self.condition(filter, &bound)));
            match filter {
                None => meant.push(bound),
                Some((_, term)) if term.is(true) => meant.push(bound),
                Some((_, term)) if term.is(false) => {}
                Some((span, _)) => self.problems.push(ExportRefusal::new(span, "this condition is not constant")),
            }
        }
        meant
    }

    /// A predicate of a fairness assumption.
    pub fn state_predicate(&mut self, predicate: &StatePredicate) -> Term {
        match predicate {
            StatePredicate::Holds(expr) => self.condition(expr, &[]),
            StatePredicate::Fails(expr) => self.condition(expr, &[]).negation(),
            StatePredicate::Unable(process, None) => flat::able(self.model, self.flat, *process).negation(),
            StatePredicate::Unable(process, Some(labels)) => {
                flat::able_by(self.model, self.flat, *process, labels).negation()
            }
            StatePredicate::NobodyAble => {
                let able = |process: ProcessId| flat::able(self.model, self.flat, process);
                Term::any(self.model.processes.ids().map(able)).negation()
            }
        }
    }
}

/// Whether a step satisfies a predicate on edges that does not read the state.
pub fn step_is(model: &Model, movers: &[StepPart], predicate: &EdgePredicate) -> bool {
    match predicate {
        EdgePredicate::Before(_) => false,
        EdgePredicate::Scheduled(process) => movers.iter().any(|mover| mover.process == *process),
        EdgePredicate::Moves(process, labels) => movers.iter().any(|mover| {
            let carried = &model.actions[mover.action].labels;
            let wanted = labels.as_ref().is_none_or(|labels| carried.iter().any(|label| labels.contains(label)));
            mover.process == *process && wanted
        }),
        EdgePredicate::SomebodyMoves => true,
    }
}

/// Whether a stutter satisfies it.
pub fn stutter_is(process: ProcessId, predicate: &EdgePredicate) -> bool {
    matches!(predicate, EdgePredicate::Scheduled(scheduled) if *scheduled == process)
}
