//! Which expressions have a value in every state of every size, as their shape shows.
//!
//! In: an expression. Out: whether it surely has one: it computes nothing, looks into no array, goes through no numbers, and
//! whose cells it reads is said by a name.

use model::expr::{BinaryOp, Domain, Expr, ExprKind, Whose};
use model::value::Value;

/// Whether an expression surely has a value.
pub(super) fn has_value(expr: &Expr) -> bool {
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
