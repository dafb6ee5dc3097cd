//! Expressions over a process's own index `i` in a tree that is laid out in rows: the parent `(i - 1) / 2`, the children `2 * i + 1` and `2 * i + 2`.
//!
//! In: an expression of a process's text. Out: whether it names the process itself, its parent or a child; or whether a comparison is a test that depends
//! only on whether the process is the root, a left or a right child, and how many children it has.

use super::Sized;
use crate::Model;
use crate::expr::{BinaryOp, Expr, ExprKind};
use crate::size::ParameterId;
use crate::value::Value;

/// Greater numbers, also on the way to a sum, are none of a tree.
const GREATEST_NUMBER: u64 = 1 << 16;

/// A number as `index * i + size * N + rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexSum {
    index: i64,
    size: i64,
    rest: i64,
}

impl IndexSum {
    const fn number(rest: i64) -> IndexSum {
        IndexSum { index: 0, size: 0, rest }
    }

    fn of(model: &Model, sized: Sized, expr: &Expr) -> Option<IndexSum> {
        let of = |expr: &Expr| IndexSum::of(model, sized, expr);
        let found = match &expr.kind {
            ExprKind::Const(Value::Int(number)) => IndexSum::number(*number),
            ExprKind::Const(Value::Process(id)) if model.processes[*id].family == sized.family => {
                IndexSum::number(model.processes[*id].index)
            }
            ExprKind::Parameter(id) if *id == sized.parameter => IndexSum { size: 1, ..IndexSum::number(0) },
            ExprKind::Myself => IndexSum { index: 1, ..IndexSum::number(0) },
            ExprKind::IndexOf(who) if matches!(who.kind, ExprKind::Myself) => {
                IndexSum { index: 1, ..IndexSum::number(0) }
            }
            ExprKind::Negate(inner) => IndexSum::number(0).plus(of(inner)?, -1)?,
            ExprKind::Binary(BinaryOp::Add, left, right) => of(left)?.plus(of(right)?, 1)?,
            ExprKind::Binary(BinaryOp::Subtract, left, right) => of(left)?.plus(of(right)?, -1)?,
            ExprKind::Binary(BinaryOp::Multiply, left, right) => match (of(left)?, of(right)?) {
                (IndexSum { index: 0, size: 0, rest }, other) | (other, IndexSum { index: 0, size: 0, rest }) => {
                    IndexSum::number(0).plus(other, rest)?
                }
                _ => return None,
            },
            _ => return None,
        };
        let is_small = |number: i64| number.unsigned_abs() <= GREATEST_NUMBER;
        (is_small(found.index) && is_small(found.size) && is_small(found.rest)).then_some(found)
    }

    fn plus(self, other: IndexSum, times: i64) -> Option<IndexSum> {
        let sum = |one: i64, other: i64| one.checked_add(other.checked_mul(times)?);
        Some(IndexSum {
            index: sum(self.index, other.index)?,
            size: sum(self.size, other.size)?,
            rest: sum(self.rest, other.rest)?,
        })
    }
}

/// Whether an index is that of the process itself, of its parent or of a child, or a choice of such by tests.
pub(super) fn is_near(model: &Model, sized: Sized, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Divide, number, two) => {
            let parts = (IndexSum::of(model, sized, number), IndexSum::of(model, sized, two));
            parts == (Some(IndexSum { index: 1, size: 0, rest: -1 }), Some(IndexSum::number(2)))
        }
        ExprKind::If(chosen, yes, no) => {
            let ExprKind::Binary(op, left, right) = &chosen.kind else { return false };
            is_test(model, sized, *op, left, right) && is_near(model, sized, yes) && is_near(model, sized, no)
        }
        _ => {
            let near = [(1, 0), (2, 1), (2, 2)];
            IndexSum::of(model, sized, expr).is_some_and(|sum| sum.size == 0 && near.contains(&(sum.index, sum.rest)))
        }
    }
}

/// Whether a comparison depends only on whether the process is the root, on which side of its parent it is, and on how many children it has.
pub(super) fn is_test(model: &Model, sized: Sized, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    if matches!(op, Equal | NotEqual) && (is_side(model, sized, left, right) || is_side(model, sized, right, left)) {
        return true;
    }
    let (Some(one), Some(other)) = (IndexSum::of(model, sized, left), IndexSum::of(model, sized, right)) else {
        return false;
    };
    let Some(mut difference) = one.plus(other, -1) else { return false };
    let mut op = op;
    if difference.index < 0 {
        let Some(negated) = IndexSum::number(0).plus(difference, -1) else { return false };
        difference = negated;
        op = match op {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
            other => other,
        };
    }
    // `i + rest`, or `2 i - N + rest`, is compared with 0.
    matches!(
        (difference.index, difference.size, op, difference.rest),
        (1, 0, Equal | NotEqual | LessEqual | Greater, 0)
            | (1, 0, Less | GreaterEqual, -1)
            | (2, -1, Equal | NotEqual, 2)
            | (2, -1, Less | GreaterEqual, 1 | 2)
            | (2, -1, LessEqual | Greater, 2 | 3)
    )
}

/// `i % 2` and a number.
fn is_side(model: &Model, sized: Sized, residue: &Expr, number: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::Remainder, of, two) = &residue.kind else { return false };
    let of = IndexSum::of(model, sized, of).is_some_and(|sum| sum.index == 1 && sum.size == 0);
    let is_number = |expr: &Expr| IndexSum::of(model, sized, expr).filter(|sum| (sum.index, sum.size) == (0, 0));
    of && is_number(two) == Some(IndexSum::number(2)) && is_number(number).is_some()
}

/// Whether an expression mentions a child or a parent: where none does, a program is no tree.
pub(super) fn is_of_tree(expr: &Expr, size: ParameterId) -> bool {
    let is_two = |expr: &Expr| matches!(expr.kind, ExprKind::Const(Value::Int(2)));
    let mut found = false;
    crate::visit::each_part(expr, &mut |part| {
        found |= match &part.kind {
            ExprKind::Binary(BinaryOp::Multiply, left, right) => is_two(left) || is_two(right),
            ExprKind::Binary(BinaryOp::Divide, _, two) => is_two(two),
            _ => false,
        } && !crate::size::parameters_of(part).contains(&size);
    });
    found
}
