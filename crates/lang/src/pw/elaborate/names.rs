//! Small expressions and statements that elaboration is made of, and the names that stand in a text.

use base::Span;

use crate::pw::ast::{
    Assigned, BinaryOp, Block, Expr, ExprKind, Ident, Range, RangeEnd, Statement, StatementKind, UnaryOp,
};

/// `1 is`, `2 are`.
pub(super) fn are(number: usize) -> String {
    format!("{number} {}", if number == 1 { "is" } else { "are" })
}

pub(super) fn name(name: impl Into<String>, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(Ident { name: name.into(), span }), span }
}

pub(super) fn number(value: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value), span }
}

pub(super) fn truth(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Bool(value), span }
}

pub(super) fn index(base: Expr, index: Expr) -> Expr {
    let span = base.span;
    Expr { kind: ExprKind::Index { base: Box::new(base), index: Box::new(index) }, span }
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary { op, op_span: span, left: Box::new(left), right: Box::new(right) }, span }
}

pub(super) fn not(operand: Expr) -> Expr {
    let span = operand.span;
    Expr { kind: ExprKind::Unary { op: UnaryOp::Not, op_span: span, operand: Box::new(operand) }, span }
}

/// `if condition then one else other`
pub(super) fn choice(condition: Expr, one: Expr, other: Expr) -> Expr {
    let span = one.span;
    let (condition, then, otherwise) = (Box::new(condition), Box::new(one), Box::new(other));
    Expr { kind: ExprKind::If { condition, then, otherwise }, span }
}

/// All of these, or one of them; nothing is the neutral element.
pub(super) fn combined(op: BinaryOp, parts: Vec<Expr>, span: Span) -> Expr {
    let neutral = truth(op == BinaryOp::And, span);
    parts.into_iter().reduce(|left, right| binary(op, left, right, span)).unwrap_or(neutral)
}

pub(super) fn statement(kind: StatementKind, span: Span) -> Statement {
    Statement { labels: Vec::new(), may_end: false, kind, span }
}

pub(super) fn block(statements: Vec<Statement>, span: Span) -> Block {
    Block { statements, span }
}

pub(super) fn assign(target: Expr, value: Expr, span: Span) -> Statement {
    statement(StatementKind::Assign { targets: vec![target], values: vec![Assigned::Value(value)] }, span)
}

/// `low..<high`
pub(super) fn range(low: Expr, high: Expr, span: Span) -> Range {
    Range { low, high, end: RangeEnd::Excluded, span }
}

/// All names that occur in an expression: variables, and fields behind a dot.
pub(super) fn mentioned(expr: &Expr, names: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Name(name) => names.push(name.name.clone()),
        ExprKind::Field { field, .. } => names.push(field.name.clone()),
        _ => {}
    }
    expr.for_each_child(|child| mentioned(child, names));
}

/// The names of variables that a statement may change.
pub(super) fn changed(statement: &Statement, names: &mut Vec<String>) {
    let block =
        |block: &Block, names: &mut Vec<String>| block.statements.iter().for_each(|inner| changed(inner, names));
    match &statement.kind {
        StatementKind::Assign { targets, values } => {
            targets.iter().for_each(|target| root(target, names));
            for value in values {
                if let Assigned::Value(value) = value {
                    swapped(value, names);
                }
            }
        }
        StatementKind::Await(condition) => swapped(condition, names),
        StatementKind::Acquire(target) | StatementKind::Release(target) => root(target, names),
        StatementKind::Send { channel: target, .. } | StatementKind::Change { set: target, .. } => root(target, names),
        StatementKind::Receive { channel, patterns, .. } => {
            root(channel, names);
            for pattern in patterns {
                pattern.for_each_expr(&mut |expr, is_stored| {
                    if is_stored {
                        root(expr, names);
                    }
                });
            }
        }
        StatementKind::If { condition, then, otherwise } => {
            swapped(condition, names);
            block(then, names);
            otherwise.iter().for_each(|otherwise| block(otherwise, names));
        }
        StatementKind::Either { branches } => branches.iter().for_each(|branch| block(branch, names)),
        StatementKind::Guarded { branches, otherwise, .. } => {
            branches.iter().chain([otherwise]).for_each(|branch| block(branch, names));
        }
        StatementKind::While { condition, body } => {
            swapped(condition, names);
            block(body, names);
        }
        StatementKind::Loop(body)
        | StatementKind::For { body, .. }
        | StatementKind::ForEach { body, .. }
        | StatementKind::Choose { body, .. }
        | StatementKind::Atomic(body) => block(body, names),
        _ => {}
    }
}

/// The variable that a `cas` may change.
fn swapped(value: &Expr, names: &mut Vec<String>) {
    match &value.kind {
        ExprKind::Apply { name, arguments } if name.name == "cas" => {
            arguments.first().into_iter().for_each(|cell| root(cell, names));
        }
        ExprKind::Unary { op: UnaryOp::Not, operand, .. } => swapped(operand, names),
        _ => {}
    }
}

/// The variable that a target is a part of, and the fields on the way to it.
fn root(target: &Expr, names: &mut Vec<String>) {
    match &target.kind {
        ExprKind::Name(name) => names.push(name.name.clone()),
        ExprKind::Field { base, field } => {
            names.push(field.name.clone());
            root(base, names);
        }
        ExprKind::Index { base, .. } => root(base, names),
        _ => {}
    }
}
