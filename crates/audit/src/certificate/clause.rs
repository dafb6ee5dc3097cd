//! Clauses of a property, as a certificate states them, found in the property's own text.
//!
//! In: an expression and a stated clause: paths through the expression, and the values of the variables bound on the way, as the
//! user writes them. Out: the clause over the parts that the paths lead to; or why there is no such part. Nothing is believed: every
//! operand has to be there, and every value has to be one of its variable's.

use std::rc::Rc;

use evidence::implication::{self, Demand};
use model::Model;
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier};
use model::print::{self, Printer};
use model::types::ScalarType;
use model::value::Value;

use super::terms::{Mentions, Terms};
use super::{CertificateError, Outcome};

/// A demand on one instance of an expression.
#[derive(Clone, Debug)]
pub(super) struct Literal<'e> {
    pub expr: &'e Expr,
    /// The way to it from the whole property, by operands as [`implication::Literal`] numbers them.
    pub path: Rc<[usize]>,
    /// The values of the variables bound around it, outermost first.
    pub bound: Rc<[Value]>,
    pub demand: Demand,
}

/// In every state in which the conditions hold, looked at in turn, the claim holds.
#[derive(Clone, Debug)]
pub(super) struct Clause<'e> {
    pub conditions: Vec<Literal<'e>>,
    pub claim: Literal<'e>,
}

/// Whether a truth value is what is demanded.
pub(super) fn is_met_by(demand: Demand, truth: bool) -> bool {
    match demand {
        Demand::True => truth,
        Demand::False => !truth,
        Demand::HasValue => true,
    }
}

impl<'e> Literal<'e> {
    /// The whole property.
    pub fn whole(expr: &'e Expr, demand: Demand) -> Self {
        Literal { expr, path: Rc::new([]), bound: Rc::new([]), demand }
    }

    /// A demand on an operand, with the same variables bound around it.
    pub fn operand(&self, at: usize, expr: &'e Expr, demand: Demand) -> Self {
        let path = self.path.iter().copied().chain([at]).collect();
        Literal { expr, path, bound: Rc::clone(&self.bound), demand }
    }
}

impl<'e> Clause<'e> {
    /// The stated clause over the parts of the property.
    pub fn stated(terms: &Terms<'e>, property: &'e Expr, stated: &implication::Clause) -> Outcome<Self> {
        let find = |literal: &implication::Literal| found(terms, property, literal);
        let clause = || {
            let conditions = stated.conditions.iter().map(find).collect::<Result<_, String>>()?;
            Ok(Clause { conditions, claim: find(&stated.claim)? })
        };
        clause().map_err(|what: String| CertificateError::Malformed(format!("a clause of the property: {what}")))
    }

    /// All literals, the claim last.
    pub fn literals(&self) -> impl Iterator<Item = &Literal<'e>> {
        self.conditions.iter().chain([&self.claim])
    }

    /// What the clause looks at, at most.
    pub fn mentions(&self, terms: &Terms<'_>) -> Outcome<Mentions> {
        let mut mentions = Mentions::default();
        for literal in self.literals() {
            let Mentions { processes, controls, cells } = terms.mentions_within(literal.expr, &literal.bound)?;
            mentions.processes.extend(processes);
            mentions.controls.extend(controls);
            mentions.cells.extend(cells);
        }
        Ok(mentions)
    }

    /// The clause in the user's names.
    pub fn text(&self, model: &Model) -> String {
        let shown = |literal: &Literal<'_>| {
            let printer = literal.bound.iter().fold(Printer::new(model), |printer, &value| printer.bind_value(value));
            let text = { printer }.expr(literal.expr);
            match literal.demand {
                Demand::True => text,
                Demand::False => format!("!({text})"),
                Demand::HasValue => format!("{text} has a value"),
            }
        };
        let conditions: Vec<String> = self.conditions.iter().map(shown).collect();
        let claim = shown(&self.claim);
        if conditions.is_empty() { claim } else { format!("{} => {claim}", conditions.join(" && ")) }
    }
}

/// The part of the property to which the path of a stated literal leads.
fn found<'e>(terms: &Terms<'e>, property: &'e Expr, stated: &implication::Literal) -> Result<Literal<'e>, String> {
    let mut here = Literal::whole(property, stated.demand);
    let mut values = stated.bound.iter();
    for &at in &stated.path {
        let no_operand = || format!("there is no operand {at} where its path leads");
        let operand: &'e Expr = match (&here.expr.kind, at) {
            (ExprKind::Not(inner), 0) => inner,
            (ExprKind::Binary(_, operand, _), 0) | (ExprKind::Binary(_, _, operand), 1) => operand,
            (ExprKind::If(operand, _, _), 0) | (ExprKind::If(_, operand, _), 1) | (ExprKind::If(_, _, operand), 2) => {
                operand
            }
            (ExprKind::Quantified(quantified), 0 | 1) => {
                for binding in &quantified.bindings {
                    let value = values.next().ok_or_else(|| format!("it does not say what `{}` is", binding.name))?;
                    here.bound = with_value(terms, &here.bound, (binding, value))?;
                }
                match (at, &quantified.filter) {
                    (0, _) => &quantified.body,
                    (_, filter) => filter.as_ref().ok_or_else(no_operand)?,
                }
            }
            _ => return Err(no_operand()),
        };
        here = here.operand(at, operand, stated.demand);
    }
    if values.next().is_some() {
        return Err("it says what more variables are than are bound".to_owned());
    }
    if !is_truth(terms.model, here.expr) {
        return Err("its path leads to what is neither true nor false".to_owned());
    }
    Ok(here)
}

/// Whether an expression yields a truth value, if any.
fn is_truth(model: &Model, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(value) => matches!(value, Value::Bool(_)),
        ExprKind::Read(access) => model.vars[access.var].ty.scalar() == ScalarType::Bool,
        ExprKind::At { .. } | ExprKind::Not(_) => true,
        ExprKind::Binary(op, ..) => match op {
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies
            | BinaryOp::Iff
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => true,
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Machine(_) => false,
        },
        ExprKind::If(_, yes, no) => is_truth(model, yes) && is_truth(model, no),
        ExprKind::Quantified(quantified) => quantified.quantifier != Quantifier::Count,
        ExprKind::Parameter(_)
        | ExprKind::Myself
        | ExprKind::Bound(_)
        | ExprKind::Negate(_)
        | ExprKind::IndexOf(_)
        | ExprKind::ToProcess(..) => false,
    }
}

/// The values with one more, written as the user does.
fn with_value(terms: &Terms<'_>, bound: &[Value], (binding, text): (&Binding, &str)) -> Result<Rc<[Value]>, String> {
    let not_one = || format!("`{}` is never {}", binding.name, text.chars().take(40).collect::<String>());
    let around = bound.get(..binding.var.0 as usize).ok_or_else(not_one)?;
    let value = match &binding.domain {
        // Ranges can be wide: no value is looked for.
        Domain::Range(lo, hi) => {
            let number: i64 = text.parse().map_err(|_| not_one())?;
            let ends = (terms.constant(lo, around), terms.constant(hi, around));
            let (Some(Ok(Value::Int(lo))), Some(Ok(Value::Int(hi)))) = ends else {
                return Err(format!("what `{}` can be changes from state to state", binding.name));
            };
            (lo <= number && number <= hi).then_some(Value::Int(number))
        }
        Domain::Family(_) | Domain::Enum(_) => {
            let mut domain = terms.domain(&binding.domain, around).map_err(|error| error.to_string())?;
            domain.find(|&value| print::value(terms.model, value) == text)
        }
    };
    Ok(around.iter().copied().chain([value.ok_or_else(not_one)?]).collect())
}
