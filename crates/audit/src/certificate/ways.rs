//! The ways to violate a temporal property: whether the claims of a certificate name all of them.
//!
//! In: a temporal property, and the names that claims about runs give to what they exclude. Out: for every way to violate the property
//! its automaton (made by [`evidence::plain`]) and its name. The checker goes through the formula from the root. A part that a claim
//! names is taken as it stands there; another one falls apart: `a && b` is violated where `a` or `b` is, `forall` where an instance
//! is, and so they are under `always`, and under `eventually always`, since there are finitely many instances. A part under each
//! alternative of the fairness assumptions is a way of its own. What no claim names is among the ways, too, and stays open.

use std::rc::Rc;

use base::StopReason;
use evidence::plain::{self, Automaton, Violation};
use evidence::ranks::ViolationName;
use model::Model;
use model::expr::{BinaryOp, Binding, Expr, ExprKind, Quantified, Quantifier};
use model::property::{BooleanOp, Formula, Property, UnaryTemporal};
use model::value::Value;

use super::terms::Terms;
use super::{CertificateError, Outcome};

/// Which modality stands around a part.
#[derive(Clone, Copy, Debug, Default)]
struct Modality {
    /// An `always`.
    always: bool,
    /// An `eventually always`, inside of it.
    persistently: bool,
}

/// What stands around a part.
#[derive(Clone, Debug, Default)]
struct Around {
    modality: Modality,
    /// The values of the bound variables, outermost first.
    bound: Vec<Value>,
    names: Vec<(String, Value)>,
    /// The sides taken at each `&&`.
    part: Vec<usize>,
}

/// The ways to violate the property, those that are named and those that are not.
pub(super) fn ways(
    model: &Model,
    property: &Property,
    formula: &Formula,
    named: &[ViolationName],
) -> Outcome<Vec<Violation>> {
    let mut walk = Walk { terms: Terms::new(model), property, named, found: Vec::new() };
    walk.formula(formula, &Around::default())?;
    Ok(walk.found)
}

struct Walk<'a> {
    terms: Terms<'a>,
    property: &'a Property,
    named: &'a [ViolationName],
    found: Vec<Violation>,
}

impl Walk<'_> {
    fn formula(&mut self, formula: &Formula, around: &Around) -> Outcome<()> {
        let Modality { persistently, .. } = around.modality;
        match formula {
            Formula::Unary(UnaryTemporal::Always, inner) if !persistently => {
                self.formula(inner, &around.within(Modality { always: true, persistently }))
            }
            Formula::Unary(UnaryTemporal::Eventually, inner) if !persistently => match &**inner {
                Formula::Unary(UnaryTemporal::Always, body) => {
                    self.formula(body, &around.within(Modality { persistently: true, ..around.modality }))
                }
                _ => self.way(formula, around),
            },
            _ if self.is_named(around) => self.way(formula, around),
            Formula::Boolean(BooleanOp::And, left, right) => {
                self.formula(left, &around.side(0))?;
                self.formula(right, &around.side(1))
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body }
                if self.is_fixed(bindings, filter.as_ref()) =>
            {
                for inside in self.instances(bindings, filter.as_ref(), around)? {
                    self.formula(body, &inside)?;
                }
                Ok(())
            }
            Formula::Now(expr) if persistently => self.state_formula(expr, around),
            _ => self.way(formula, around),
        }
    }

    /// A part that speaks of one state, under `eventually always`.
    fn state_formula(&mut self, expr: &Expr, around: &Around) -> Outcome<()> {
        match &expr.kind {
            _ if self.is_named(around) => self.way(&Formula::Now(expr.clone()), around),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.state_formula(left, &around.side(0))?;
                self.state_formula(right, &around.side(1))
            }
            ExprKind::Quantified(quantified) if quantified.quantifier == Quantifier::Forall => {
                let Quantified { bindings, filter, body, .. } = &**quantified;
                if !self.is_fixed(bindings, filter.as_ref()) {
                    return self.way(&Formula::Now(expr.clone()), around);
                }
                for inside in self.instances(bindings, filter.as_ref(), around)? {
                    self.state_formula(body, &inside)?;
                }
                Ok(())
            }
            _ => self.way(&Formula::Now(expr.clone()), around),
        }
    }

    /// Whether a claim names the part as it stands.
    fn is_named(&self, around: &Around) -> bool {
        let instance = around.names.iter();
        let instance: Vec<(String, String)> =
            instance.map(|(name, value)| (name.clone(), model::print::value(self.terms.model, *value))).collect();
        self.named.iter().any(|name| name.part == around.part && name.instance == instance)
    }

    fn is_fixed(&self, bindings: &[Binding], filter: Option<&Expr>) -> bool {
        Terms::are_fixed(bindings) && filter.is_none_or(Terms::is_fixed)
    }

    fn instances(&self, bindings: &[Binding], filter: Option<&Expr>, around: &Around) -> Outcome<Vec<Around>> {
        let mut found = Vec::new();
        self.terms.bind_each(bindings, around.bound.clone(), &mut |bound| {
            let names = bindings.iter().map(|one| (one.name.clone(), bound[one.var.0 as usize]));
            let names = around.names.iter().cloned().chain(names).collect();
            let truth = filter.and_then(|filter| self.terms.constant(filter, &bound));
            match truth {
                Some(Ok(Value::Bool(false))) => {}
                Some(Err(fault)) => {
                    let what = format!("which instances the property speaks of has no value: {}", fault.fault);
                    return Err(CertificateError::NotSupported(what));
                }
                _ => found.push(Around { bound: bound.to_vec(), names, ..around.clone() }),
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The part is violated, under each alternative of the fairness assumptions.
    fn way(&mut self, formula: &Formula, around: &Around) -> Outcome<()> {
        let whole = match around.modality.persistently {
            true => {
                let always = Formula::Unary(UnaryTemporal::Always, Box::new(formula.clone()));
                Formula::Unary(UnaryTemporal::Eventually, Box::new(always))
            }
            false => formula.clone(),
        };
        let automaton: Automaton =
            plain::violating(self.terms.model, &whole, &around.bound, around.modality.always).map_err(not_judged)?;
        let automaton = Rc::new(automaton);
        self.found.extend(self.property.under.any_of.iter().map(|fairness| Violation {
            instance: around.names.clone(),
            automaton: Rc::clone(&automaton),
            fairness: fairness.clone(),
            part: around.part.clone(),
        }));
        Ok(())
    }
}

impl Around {
    fn within(&self, modality: Modality) -> Around {
        Around { modality, ..self.clone() }
    }

    fn side(&self, side: usize) -> Around {
        Around { part: self.part.iter().copied().chain([side]).collect(), ..self.clone() }
    }
}

fn not_judged(stop: StopReason) -> CertificateError {
    match stop {
        StopReason::NotSupported(missing) => CertificateError::NotSupported(missing.to_string()),
        other => CertificateError::Stopped(other),
    }
}
