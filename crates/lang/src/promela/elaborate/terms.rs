//! Expressions of the Model, made by hand.
//!
//! Constants are folded where that is free, so that guards stay as small as the text.

use base::Span;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::machine::MachineOp;
use model::value::Value;
use model::variable::VarId;

use super::ranges::Interval;

pub(super) fn constant(value: Value, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), span }
}

pub(super) fn number(value: i64, span: Span) -> Expr {
    constant(Value::Int(value), span)
}

pub(super) fn truth(value: bool, span: Span) -> Expr {
    constant(Value::Bool(value), span)
}

pub(super) fn is(expr: &Expr, value: bool) -> bool {
    expr.kind == ExprKind::Const(Value::Bool(value))
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    if let (ExprKind::Const(Value::Int(a)), ExprKind::Const(Value::Int(b))) = (&left.kind, &right.kind) {
        let (a, b) = (*a, *b);
        match op {
            BinaryOp::Equal => return truth(a == b, span),
            BinaryOp::NotEqual => return truth(a != b, span),
            BinaryOp::Less => return truth(a < b, span),
            BinaryOp::LessEqual => return truth(a <= b, span),
            BinaryOp::Greater => return truth(a > b, span),
            BinaryOp::GreaterEqual => return truth(a >= b, span),
            BinaryOp::Add => return number(a + b, span),
            BinaryOp::Subtract => return number(a - b, span),
            BinaryOp::Multiply => return number(a * b, span),
            _ => {}
        }
    }
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Equal, left, right)
}

pub(super) fn not(inner: Expr) -> Expr {
    match inner.kind {
        ExprKind::Const(Value::Bool(value)) => truth(!value, inner.span),
        ExprKind::Not(inner) => *inner,
        _ => Expr { span: inner.span, kind: ExprKind::Not(Box::new(inner)) },
    }
}

pub(super) fn and(left: Expr, right: Expr) -> Expr {
    match (is(&left, true), is(&right, true), is(&left, false)) {
        (true, _, _) => right,
        (_, true, _) | (_, _, true) => left,
        _ => binary(BinaryOp::And, left, right),
    }
}

pub(super) fn or(left: Expr, right: Expr) -> Expr {
    match (is(&left, false), is(&right, false), is(&left, true)) {
        (true, _, _) => right,
        (_, true, _) | (_, _, true) => left,
        _ => binary(BinaryOp::Or, left, right),
    }
}

pub(super) fn all(conditions: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
    conditions.into_iter().fold(truth(true, span), and)
}

pub(super) fn any(conditions: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
    conditions.into_iter().fold(truth(false, span), or)
}

pub(super) fn choose(test: Expr, yes: Expr, no: Expr) -> Expr {
    match &test.kind {
        ExprKind::Const(Value::Bool(true)) => yes,
        ExprKind::Const(Value::Bool(false)) => no,
        _ => Expr { span: test.span, kind: ExprKind::If(Box::new(test), Box::new(yes), Box::new(no)) },
    }
}

pub(super) fn machine(op: MachineOp, left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Machine(op), left, right)
}

pub(super) fn shared(var: VarId, indices: Vec<Expr>, span: Span) -> Access {
    Access { var, whose: Whose::Shared, indices, span }
}

pub(super) fn read(access: Access) -> Expr {
    Expr { span: access.span, kind: ExprKind::Read(access) }
}

pub(super) fn assign(pairs: Vec<(Access, Expr)>, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Assign(pairs), span }
}

/// An expression that is a fault wherever it is evaluated.
pub(super) fn fault(span: Span) -> Expr {
    machine(MachineOp::Quotient, number(1, span), number(0, span))
}

/// An expression with the numbers that it can have.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub expr: Expr,
    pub range: Interval,
}

impl Term {
    /// Cut to a type with these bounds, where that changes anything.
    pub fn cut(self, (lo, hi): Interval) -> Expr {
        let Term { expr, range } = self;
        if range.0 >= lo && range.1 <= hi {
            return expr;
        }
        let span = expr.span;
        if let ExprKind::Const(Value::Int(value)) = expr.kind {
            return number(super::super::values::cut(value, (lo, hi)), span);
        }
        let raised = if lo == 0 { expr } else { binary(BinaryOp::Add, expr, number(-lo, span)) };
        let masked = machine(MachineOp::BitAnd, raised, number(hi - lo, span));
        if lo == 0 { masked } else { binary(BinaryOp::Add, masked, number(lo, span)) }
    }

    /// Cut to 32 bits, where that changes anything.
    pub fn wrapped(self) -> Term {
        let range = super::ranges::wrapped(self.range);
        Term { expr: self.cut((i64::from(i32::MIN), i64::from(i32::MAX))), range }
    }
}
