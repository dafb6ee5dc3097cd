//! Where reading a claim is an error: a channel that is never made, an index out of bounds, a division by zero.
//!
//! In: an expression, or a formula, of a claim. Out: the condition under which evaluating it is a fault, from left to right and as far as it is
//! evaluated; of a formula, whether that is so of what its automaton reads in the first state, whatever the state. `pan` reports such a reading as an
//! error, so that a claim that would run into one is violated there.

use model::Model;
use model::expr::{Access, BinaryOp, Expr, ExprKind};
use model::machine::MachineOp;
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::types::ScalarType;
use model::value::Value;

use super::terms::{self, choose, not, number, or, truth};

/// When evaluating an expression is a fault.
pub(super) fn fails(expr: &Expr, model: &Model) -> Expr {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Read(access) => index_fails(access, model),
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
            fails(inner, model)
        }
        ExprKind::Binary(op, left, right) => {
            let (first, second) = (fails(left, model), fails(right, model));
            let second = match op {
                BinaryOp::And | BinaryOp::Implies => where_asked((**left).clone(), second),
                BinaryOp::Or => where_asked(not((**left).clone()), second),
                BinaryOp::Machine(MachineOp::Quotient | MachineOp::Rest) | BinaryOp::Divide | BinaryOp::Remainder => {
                    or(second, terms::equal((**right).clone(), number(0, span)))
                }
                _ => second,
            };
            or(first, second)
        }
        ExprKind::If(test, yes, no) => {
            let (first, yes, no) = (fails(test, model), fails(yes, model), fails(no, model));
            let second = match (&yes, &no) {
                (yes, no) if yes == no => yes.clone(),
                _ => choose((**test).clone(), yes, no),
            };
            or(first, second)
        }
        ExprKind::Const(_)
        | ExprKind::Parameter(_)
        | ExprKind::Myself
        | ExprKind::Bound(_)
        | ExprKind::At { .. }
        | ExprKind::Quantified(_) => truth(false, span),
    }
}

/// An expression that is false where evaluating it would be a fault.
pub(super) fn where_it_can_be_read(expr: Expr, model: &Model) -> Expr {
    terms::and(not(fails(&expr, model)), expr)
}

fn where_asked(asked: Expr, fails: Expr) -> Expr {
    if terms::is(&fails, false) { fails } else { terms::and(asked, fails) }
}

/// When an index of a variable is out of bounds.
fn index_fails(access: &Access, model: &Model) -> Expr {
    let lens = model.vars[access.var].ty.dimensions();
    let mut found = truth(false, access.span);
    for (index, len) in access.indices.iter().zip(lens) {
        found = or(found, fails(index, model));
        let last = len as i64 - 1;
        let (least, greatest) = bounds(index, model).unwrap_or((i64::MIN, i64::MAX));
        if least < 0 {
            found = or(found, terms::binary(BinaryOp::Less, index.clone(), number(0, access.span)));
        }
        if greatest > last {
            found = or(found, terms::binary(BinaryOp::Greater, index.clone(), number(last, access.span)));
        }
    }
    found
}

/// The numbers that an expression may be, where that is seen at once.
fn bounds(expr: &Expr, model: &Model) -> Option<(i64, i64)> {
    match &expr.kind {
        ExprKind::Const(Value::Int(number)) => Some((*number, *number)),
        ExprKind::Read(access) => match model.vars[access.var].ty.scalar() {
            ScalarType::Range { lo, hi } => Some((lo, hi)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether every automaton for the opposite of a formula reads, in whatever state it begins, what cannot be read: then the claim is an error at once.
/// `false` where that depends on the state, or on how the automaton is made.
pub(super) fn always_fails(formula: &Formula, model: &Model) -> bool {
    reads_what_fails(formula, Claims::Opposite, model)
}

/// What an automaton accepts: the runs of a formula, or those of its opposite.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    Itself,
    Opposite,
}

fn reads_what_fails(formula: &Formula, claims: Claims, model: &Model) -> bool {
    let of = |inner: &Formula| reads_what_fails(inner, claims, model);
    match formula {
        Formula::Now(expr) => terms::is(&fails(expr, model), true),
        Formula::Not(inner) => {
            let other = if claims == Claims::Itself { Claims::Opposite } else { Claims::Itself };
            reads_what_fails(inner, other, model)
        }
        Formula::Unary(UnaryTemporal::Always | UnaryTemporal::Eventually, inner) => of(inner),
        // Of two conditions on one state the first is read.
        Formula::Boolean(BooleanOp::And | BooleanOp::Or, left, _) if super::questions::is_of_one_state(formula) => {
            of(left)
        }
        // What must hold together stands on one edge, in an order that is not known; alternatives are edges of their own.
        Formula::Boolean(BooleanOp::And, left, right) => claims == Claims::Opposite && (of(left) || of(right)),
        Formula::Boolean(BooleanOp::Or, left, right) => claims == Claims::Itself && (of(left) || of(right)),
        Formula::Binary(BinaryTemporal::Until, left, right) => of(right) || claims == Claims::Itself && of(left),
        Formula::Binary(BinaryTemporal::Releases, left, right) => of(right) || claims == Claims::Opposite && of(left),
        _ => false,
    }
}
