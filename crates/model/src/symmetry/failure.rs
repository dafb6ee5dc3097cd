//! Whether evaluating an expression can fail, judged by types alone.
//!
//! `forall` and `exists` stop at the first instance that decides. If another instance would fail, the order of the
//! processes shows, so a body that may fail is a reason against symmetry. Where it is not clear, it may fail.

use crate::Model;
use crate::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Whose};
use crate::types::ScalarType;
use crate::value::Value;

/// Whether evaluating the expression may be a fault.
pub(super) fn may_fail(model: &Model, expr: &Expr) -> bool {
    let fails = |part: &Expr| may_fail(model, part);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
        ExprKind::Read(access) => access_may_fail(model, access),
        ExprKind::At { who, .. } => fails(who) || !is_process(model, who),
        ExprKind::Not(inner) => fails(inner),
        ExprKind::Negate(inner) => fails(inner) || magnitude(model, expr).is_none(),
        ExprKind::Binary(op, left, right) => {
            let zero = matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
                && !matches!(right.kind, ExprKind::Const(Value::Int(number)) if number != 0);
            let large = matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
                && magnitude(model, expr).is_none();
            let foreign = matches!(op, BinaryOp::Machine(_));
            zero || large || foreign || fails(left) || fails(right)
        }
        ExprKind::If(test, yes, no) => fails(test) || fails(yes) || fails(no),
        ExprKind::Quantified(quantified) => {
            let bounds = quantified.bindings.iter().any(|binding| match &binding.domain {
                Domain::Range(lo, hi) => fails(lo) || fails(hi),
                Domain::Family(_) | Domain::Enum(_) => false,
            });
            bounds || quantified.filter.as_ref().is_some_and(fails) || fails(&quantified.body)
        }
        ExprKind::IndexOf(inner) => fails(inner) || !is_process(model, inner),
        // A bound variable may be a number, of which the family has no process.
        ExprKind::ToProcess(_, inner) => {
            fails(inner) || !is_process(model, inner) || matches!(inner.kind, ExprKind::Bound(_))
        }
    }
}

fn access_may_fail(model: &Model, access: &Access) -> bool {
    let owner_fails = match &access.whose {
        Whose::Of(who) => may_fail(model, who) || !is_process(model, who),
        Whose::Shared | Whose::Mine | Whose::Frame => false,
    };
    let dimensions = model.vars[access.var].ty.dimensions();
    let index_fails = |(index, len): (&Expr, usize)| {
        may_fail(model, index) || !bounds(model, index).is_some_and(|(lo, hi)| lo >= 0 && hi < len as i128)
    };
    owner_fails || access.indices.iter().zip(dimensions).any(index_fails)
}

/// Whether the expression surely yields a process, and of its type's family.
fn is_process(model: &Model, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(Value::Process(_)) | ExprKind::Myself | ExprKind::Bound(_) => true,
        ExprKind::Read(access) => matches!(model.vars[access.var].ty.scalar(), ScalarType::Pid(_)),
        ExprKind::If(_, yes, no) => is_process(model, yes) && is_process(model, no),
        _ => false,
    }
}

/// The numbers between which the expression lies, if they are easily seen.
fn bounds(model: &Model, expr: &Expr) -> Option<(i128, i128)> {
    match &expr.kind {
        ExprKind::Const(Value::Int(number)) => Some((i128::from(*number), i128::from(*number))),
        ExprKind::Read(access) => match model.vars[access.var].ty.scalar() {
            ScalarType::Range { lo, hi } => Some((i128::from(lo), i128::from(hi))),
            ScalarType::Semaphore { max } => Some((0, i128::from(max))),
            _ => None,
        },
        // A process's index: of whichever family, not beyond the longest.
        ExprKind::IndexOf(_) => {
            let ranges = || model.families.iter().filter_map(|family| family.index.as_ref());
            let lo = ranges().map(|range| range.first).min().unwrap_or(0).min(0);
            let hi = ranges().map(|range| range.first + range.count as i64 - 1).max().unwrap_or(0);
            Some((i128::from(lo), i128::from(hi)))
        }
        _ => None,
    }
}

/// The greatest amount that the number can have, if it surely fits in 64 bits.
fn magnitude(model: &Model, expr: &Expr) -> Option<i128> {
    let of = |part: &Expr| magnitude(model, part);
    let amount = match &expr.kind {
        ExprKind::Negate(inner) => of(inner)?,
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract, left, right) => of(left)? + of(right)?,
        ExprKind::Binary(BinaryOp::Multiply, left, right) => of(left)? * of(right)?,
        ExprKind::Binary(BinaryOp::Divide | BinaryOp::Min | BinaryOp::Max, left, right) => of(left)?.max(of(right)?),
        ExprKind::Binary(BinaryOp::Remainder, _, right) => of(right)?,
        ExprKind::If(_, yes, no) => of(yes)?.max(of(no)?),
        // There are fewer instances than this: more could not be evaluated.
        ExprKind::Quantified(_) => i128::from(u32::MAX),
        _ => bounds(model, expr).map(|(lo, hi)| lo.abs().max(hi.abs()))?,
    };
    (amount < i128::from(i64::MAX)).then_some(amount)
}
