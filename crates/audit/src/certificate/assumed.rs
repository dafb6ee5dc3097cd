//! That fairness assumptions have a value in every state of every size: a run in which one has none decides nothing about a property.
//!
//! In: a Model and the assumptions of a way to violate a property. Out: nothing, or a refusal that names the assumption. Only the shape of their expressions counts: they
//! compute nothing, look into no array, go through no numbers, and no number names a process.

use model::Model;
use model::expr::{BinaryOp, Domain, Expr, ExprKind, Whose};
use model::fairness::FairnessId;
use model::value::Value;

use super::propagation::conditions::expressions;
use super::{CertificateError, Outcome};

/// Refuses assumptions that may have no value.
pub(super) fn check_values(model: &Model, assumed: &[FairnessId]) -> Outcome<()> {
    for &id in assumed {
        let pair = &model.fairness[id];
        if !expressions(pair).into_iter().all(has_value) {
            return Err(CertificateError::NotSupported(format!("`{}` may have no value", pair.name)));
        }
    }
    Ok(())
}

fn has_value(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Bound(_) | ExprKind::Myself => true,
        ExprKind::Read(access) => {
            let is_there = match &access.whose {
                Whose::Shared | Whose::Mine => true,
                Whose::Of(who) => is_somebody(who),
                Whose::Frame => false,
            };
            is_there && access.indices.is_empty()
        }
        ExprKind::At { who, .. } => is_somebody(who),
        ExprKind::Not(inner) => has_value(inner),
        ExprKind::Binary(op, left, right) => {
            use BinaryOp::{Add, Divide, Machine, Multiply, Remainder, Subtract};
            let computes = matches!(op, Add | Subtract | Multiply | Divide | Remainder | Machine(_));
            !computes && has_value(left) && has_value(right)
        }
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().all(|part| has_value(part)),
        ExprKind::Quantified(inner) => {
            inner.bindings.iter().all(|binding| !matches!(binding.domain, Domain::Range(..)))
                && inner.filter.as_ref().is_none_or(has_value)
                && has_value(&inner.body)
        }
        _ => false,
    }
}

/// Whether an expression surely yields a process.
fn is_somebody(who: &Expr) -> bool {
    matches!(who.kind, ExprKind::Const(Value::Process(_)) | ExprKind::Bound(_) | ExprKind::Myself)
}
