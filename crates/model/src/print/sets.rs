//! Predicates of whole sets: `size(s)`, `empty(s)`, `s == t`, `s == {a, b}`.
//!
//! In: a quantifier of the Model, in which a set is an array of truth values and a predicate of it ranges over all possible elements. Out: what was written, where the front-end has made
//! the quantifier of it: its variable has a name that no user can write.

use super::chosen;
use crate::Model;
use crate::expr::{Access, BinaryOp, BoundVar, Expr, ExprKind, Quantified, Quantifier};
use crate::value::Value;

/// The name that the front-end gives to the possible elements.
const ELEMENT: &str = "k@";

/// A predicate of whole sets. Each set is given by its cell for the bound element.
#[derive(Clone, Debug)]
pub enum SetTerm<'e> {
    /// How many elements it has.
    Size(&'e Access),
    /// It has none.
    Empty(&'e Access),
    /// Both have the same.
    Same(&'e Access, &'e Access),
    /// It has these, and no other.
    Is(&'e Access, Vec<&'e Expr>),
}

impl<'e> SetTerm<'e> {
    /// What a quantifier was written as, if that was about sets as wholes.
    pub fn of(model: &Model, quantified: &'e Quantified) -> Option<Self> {
        let [binding] = &quantified.bindings[..] else { return None };
        if binding.name != ELEMENT || quantified.filter.is_some() {
            return None;
        }
        let set = |expr: &'e Expr| match &expr.kind {
            ExprKind::Read(access) => {
                let is_set = model.vars[access.var].look.elements().is_some();
                (is_set && access.indices.last().is_some_and(|index| is_bound(index, binding.var))).then_some(access)
            }
            _ => None,
        };
        match (quantified.quantifier, &quantified.body.kind) {
            (Quantifier::Count, ExprKind::Read(_)) => set(&quantified.body).map(SetTerm::Size),
            (Quantifier::Forall, ExprKind::Not(inside)) => set(inside).map(SetTerm::Empty),
            (Quantifier::Forall, ExprKind::Binary(BinaryOp::Iff, left, right)) => match (set(left), set(right)) {
                (Some(left), Some(right)) => Some(SetTerm::Same(left, right)),
                (Some(one), None) => Some(SetTerm::Is(one, elements(right, binding.var)?)),
                (None, Some(one)) => Some(SetTerm::Is(one, elements(left, binding.var)?)),
                (None, None) => None,
            },
            _ => None,
        }
    }

    /// The sets, each as the cell of one element.
    pub fn sets(&self) -> Vec<&'e Access> {
        match self {
            SetTerm::Size(one) | SetTerm::Empty(one) | SetTerm::Is(one, _) => vec![one],
            SetTerm::Same(one, other) => vec![one, other],
        }
    }
}

/// Whether an index is the bound element, as a number, as a process, or as a value of an enumeration.
fn is_bound(index: &Expr, var: BoundVar) -> bool {
    match &index.kind {
        ExprKind::Bound(found) => *found == var,
        ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => is_bound(inner, var),
        ExprKind::If(..) => matches!(chosen(index).kind, ExprKind::Bound(found) if found == var),
        _ => false,
    }
}

/// The values that the bound element is compared with, one of which it has to be.
fn elements(test: &Expr, var: BoundVar) -> Option<Vec<&Expr>> {
    match &test.kind {
        ExprKind::Const(Value::Bool(false)) => Some(Vec::new()),
        ExprKind::Binary(BinaryOp::Or, left, right) => {
            let mut all = elements(left, var)?;
            all.extend(elements(right, var)?);
            Some(all)
        }
        ExprKind::Binary(BinaryOp::Equal, left, right) if is_bound(left, var) => Some(vec![right]),
        _ => None,
    }
}
