//! Expressions over a process's own index `i` and the size `N`: offsets to neighbours, and tests of where a process is.
//!
//! In: an expression of a process's text. Out: `i + c`, with or without `% N`; or a comparison of `i` with numbers as one of the
//! tests that depend on the distance to one of the ends, or on a residue, only.

use super::Sized;
use crate::Model;
use crate::expr::{BinaryOp, Expr, ExprKind};
use crate::size::{Linear, ParameterId};
use crate::value::Value;

/// A sum with greater numbers, also on the way to it, is no distance: near the ends of 64 bits it has no value for some `i`.
const GREATEST_NUMBER: u64 = 1 << 31;

/// A number as `times * i` plus a sum of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfIndex {
    times: i64,
    rest: Linear,
}

/// What a neighbour's index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// How far to the right it is.
    pub distance: i64,
    /// Whether it is taken modulo the size, so that the last process and the first are neighbours.
    pub wraps: bool,
}

/// A test that distinguishes processes by their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexTest {
    /// Compared with a fixed index: `i == 0`, `i < 2`.
    FromLeft(i64),
    /// Compared with an index that is fixed from the other end: `i == N - 1`, `i >= N - 2`. The number is how far from `N`.
    FromRight(i64),
    /// `i % m == c`, with its `m`.
    Residue(i64),
}

impl OfIndex {
    fn of(expr: &Expr) -> Option<OfIndex> {
        let closed = || Some(OfIndex { times: 0, rest: Linear::of(expr)? });
        let found = match &expr.kind {
            ExprKind::IndexOf(who) if matches!(who.kind, ExprKind::Myself) => {
                Some(OfIndex { times: 1, rest: Linear::default() })
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), left, right) => {
                let (left, right) = (OfIndex::of(left)?, OfIndex::of(right)?);
                let sign = if *op == BinaryOp::Add { 1 } else { -1 };
                let times = left.times.checked_add(right.times.checked_mul(sign)?)?;
                Some(OfIndex { times, rest: left.rest.plus(&right.rest, sign)? })
            }
            _ => closed(),
        };
        let is_small = |number: i64| number.unsigned_abs() <= GREATEST_NUMBER;
        found.filter(|sum| is_small(sum.times) && is_small(sum.rest.constant))
    }
}

/// What an index expression may be, one for each way through its tests of `i`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexed {
    /// The distances from the process itself.
    pub offsets: Vec<Offset>,
    /// The tests that choose between them, and the indices that are named outright as distances from an end.
    pub tests: Vec<IndexTest>,
}

/// The distances that an index expression means: `i + c`, or a choice of such by tests of `i`, in which an index may also be named
/// outright, as in `if i == 0 then 1 else i`.
pub(super) fn indexed(model: &Model, sized: Sized, expr: &Expr) -> Option<Indexed> {
    if let Some(offset) = offset(expr, sized.parameter) {
        return Some(Indexed { offsets: vec![offset], tests: Vec::new() });
    }
    let ExprKind::If(chosen, yes, no) = &expr.kind else { return None };
    let ExprKind::Binary(op, left, right) = &chosen.kind else { return None };
    let mut found = Indexed { offsets: Vec::new(), tests: vec![test(model, sized, *op, left, right)?] };
    for way in [yes, no] {
        let Some(inner) = indexed(model, sized, way) else {
            let number = Linear::of(way)?;
            found.tests.push(match number.multiples.iter().next() {
                None => IndexTest::FromLeft(number.constant),
                Some((&id, 1)) if id == sized.parameter && number.multiples.len() == 1 => {
                    IndexTest::FromRight(number.constant.checked_neg()?)
                }
                Some(_) => return None,
            });
            continue;
        };
        found.offsets.extend(inner.offsets);
        found.tests.extend(inner.tests);
    }
    Some(found)
}

/// The offset that an index expression is.
pub(super) fn offset(expr: &Expr, size: ParameterId) -> Option<Offset> {
    if let ExprKind::Binary(BinaryOp::Remainder, number, modulus) = &expr.kind {
        if Linear::of(modulus)? != Linear::parameter(size) {
            return None;
        }
        let mut number = OfIndex::of(number)?;
        // Modulo N, multiples of N do not matter.
        number.rest.multiples.remove(&size);
        return plain(&number).map(|distance| Offset { distance, wraps: true });
    }
    plain(&OfIndex::of(expr)?).map(|distance| Offset { distance, wraps: false })
}

fn plain(number: &OfIndex) -> Option<i64> {
    (number.times == 1 && number.rest.multiples.is_empty()).then_some(number.rest.constant)
}

/// The test that a comparison is, if it compares the process's own index with a number at a fixed distance from an end.
pub(super) fn test(model: &Model, sized: Sized, op: BinaryOp, left: &Expr, right: &Expr) -> Option<IndexTest> {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    if !matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual) {
        return None;
    }
    for (one, other) in [(left, right), (right, left)] {
        if let Some(modulus) = residue(one)
            && Linear::of(other).is_some_and(|number| number.multiples.is_empty())
            && matches!(op, Equal | NotEqual)
        {
            return Some(IndexTest::Residue(modulus));
        }
    }
    let (left, right) = (number(model, sized, left)?, number(model, sized, right)?);
    let times = left.times.checked_sub(right.times)?;
    let rest = left.rest.plus(&right.rest, -1)?;
    // times * i + rest compared with 0: i compared with -rest or rest.
    let rest = match times {
        1 => Linear::default().plus(&rest, -1)?,
        -1 => rest,
        _ => return None,
    };
    match rest.multiples.iter().next() {
        None => Some(IndexTest::FromLeft(rest.constant)),
        Some((&id, 1)) if id == sized.parameter && rest.multiples.len() == 1 => {
            Some(IndexTest::FromRight(rest.constant.checked_neg()?))
        }
        Some(_) => None,
    }
}

/// `i % m`.
fn residue(expr: &Expr) -> Option<i64> {
    let ExprKind::Binary(BinaryOp::Remainder, number, modulus) = &expr.kind else { return None };
    let ExprKind::Const(Value::Int(modulus)) = modulus.kind else { return None };
    let number = OfIndex::of(number)?;
    (modulus > 0 && plain(&number).is_some()).then_some(modulus)
}

/// A number, or a process of the family by its index.
fn number(model: &Model, sized: Sized, expr: &Expr) -> Option<OfIndex> {
    match &expr.kind {
        ExprKind::Myself => Some(OfIndex { times: 1, rest: Linear::default() }),
        ExprKind::Const(Value::Process(id)) if model.processes[*id].family == sized.family => {
            Some(OfIndex { times: 0, rest: Linear::number(model.processes[*id].index) })
        }
        // What lies beyond an end is no process, and a fault: the process itself, or one that is there at every size.
        ExprKind::ToProcess(family, inner) if *family == sized.family => OfIndex::of(inner).filter(|number| {
            let least = model.parameters[sized.parameter].least;
            let constant = number.rest.constant;
            match (number.times, number.rest == Linear::number(constant)) {
                (1, is_number) => is_number && constant == 0,
                (0, true) => (0..least).contains(&constant),
                (0, false) => {
                    let of_size = Linear::parameter(sized.parameter);
                    number.rest.multiples == of_size.multiples && (-least..0).contains(&constant)
                }
                _ => false,
            }
        }),
        _ => OfIndex::of(expr),
    }
}
