//! What a property says about processes of a ring, taken apart as it was written.
//!
//! In: a property, by its name. Out: what a violating state shows: the whole body is false at one process, or all of some parts have
//! certain values at one process and all of others at another one.

use model::Model;
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier};
use model::property::{Formula, PropertyKind};

use crate::certificate::{CertificateError, Outcome};

/// What a violating state shows.
pub(super) struct Said {
    /// At how many different processes, and what at each.
    pub(super) at: Vec<ProcessPattern>,
}

/// What one process shows.
#[derive(Default)]
pub(super) struct ProcessPattern {
    /// Expressions and their values.
    pub(super) parts: Vec<(Expr, bool)>,
    /// Whether it is the whole of what the property says.
    pub(super) is_whole: bool,
}

pub(super) fn said(model: &Model, name: &str, kind: &PropertyKind) -> Outcome<Said> {
    let not = |what: &str| Err(CertificateError::NotSupported(format!("windows cannot say this: {what}")));
    let written = model.template().properties.iter().find(|one| one.name == name).map(|one| &one.kind);
    let expr = match (kind, written) {
        (PropertyKind::NoErrors | PropertyKind::DeadlockFree, _) => return Ok(Said { at: Vec::new() }),
        (PropertyKind::Invariant(_), Some(PropertyKind::Invariant(expr))) => expr,
        (PropertyKind::Temporal(_), Some(PropertyKind::Temporal(formula))) => return said_of_runs(formula),
        _ => return not("it is no invariant"),
    };
    let ExprKind::Quantified(all) = &expr.kind else {
        return Ok(Said { at: vec![ProcessPattern { parts: vec![(expr.clone(), false)], is_whole: true }] });
    };
    let over_family = all.bindings.iter().all(|binding| matches!(binding.domain, Domain::Family(_)));
    if all.quantifier != Quantifier::Forall || !over_family {
        return not("it is not about each process");
    }
    match (all.bindings.len(), &all.filter) {
        (1, None) => Ok(Said { at: vec![ProcessPattern { parts: vec![(all.body.clone(), false)], is_whole: true }] }),
        (2, Some(filter)) if tells_apart(filter) => {
            let mut at = vec![ProcessPattern::default(), ProcessPattern::default()];
            for (part, value) in demanded(&all.body, false) {
                let who = match (mentions(part, 0), mentions(part, 1)) {
                    (true, true) => return not("a part of it is about two processes"),
                    (_, second) => usize::from(second),
                };
                at[who].parts.push((part.clone(), value));
            }
            at.retain(|shown| !shown.parts.is_empty());
            Ok(Said { at })
        }
        _ => not("it is about other processes than each one, or each two"),
    }
}

/// What a temporal property about each process speaks of.
fn said_of_runs(formula: &Formula) -> Outcome<Said> {
    let not = |what: &str| Err(CertificateError::NotSupported(format!("windows cannot say this: {what}")));
    let Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter: None, body } = formula else {
        return not("it is not about each process");
    };
    let [Binding { domain: Domain::Family(_), .. }] = &bindings[..] else {
        return not("it is not about each process");
    };
    let mut parts = Vec::new();
    let mut open: Vec<&Formula> = vec![body];
    while let Some(part) = open.pop() {
        match part {
            Formula::Now(expr) if (1..8).any(|other| mentions(expr, other)) => {
                return not("it is about several processes");
            }
            Formula::Now(expr) => parts.push((expr.clone(), true)),
            Formula::Not(inner) | Formula::Unary(_, inner) => open.push(inner),
            Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => open.extend([&**left, &**right]),
            Formula::Quantified { .. } => return not("it looks at all processes from one of them"),
            Formula::NeverAccepts(_) => return not("it is an automaton"),
        }
    }
    Ok(Said { at: vec![ProcessPattern { parts, is_whole: false }] })
}

fn tells_apart(filter: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::NotEqual, one, other) = &filter.kind else { return false };
    let is = |side: &Expr, var: u32| match &side.kind {
        ExprKind::Bound(found) => found.0 == var,
        ExprKind::IndexOf(inner) => matches!(inner.kind, ExprKind::Bound(found) if found.0 == var),
        _ => false,
    };
    is(one, 0) && is(other, 1) || is(one, 1) && is(other, 0)
}

/// The parts that must have certain values for the whole to have this one, if the whole is a conjunction of them.
fn demanded(expr: &Expr, value: bool) -> Vec<(&Expr, bool)> {
    use BinaryOp::{And, Implies, Or};
    match (&expr.kind, value) {
        (ExprKind::Not(inner), _) => demanded(inner, !value),
        (ExprKind::Binary(And, one, other), true) => [demanded(one, true), demanded(other, true)].concat(),
        (ExprKind::Binary(Or, one, other), false) => [demanded(one, false), demanded(other, false)].concat(),
        (ExprKind::Binary(Implies, one, other), false) => [demanded(one, true), demanded(other, false)].concat(),
        _ => vec![(expr, value)],
    }
}

fn mentions(expr: &Expr, var: u32) -> bool {
    let mut found = false;
    model::visit::each_part(expr, &mut |part| found |= matches!(part.kind, ExprKind::Bound(one) if one.0 == var));
    found
}
