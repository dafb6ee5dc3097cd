//! Arithmetic on numbers, exact: on values, and on bounds of values.

use model::machine::MachineOp;

use super::{Faulty, TermValue};

/// Binary operators on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// 1 where they are equal, else 0.
    Equal,
    /// 1 where they differ, else 0.
    NotEqual,
    /// 1 where the first is less, else 0.
    Less,
    /// 1 where the first is not greater, else 0.
    LessEqual,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The Euclidean quotient; a fault for divisor 0.
    Divide,
    /// The Euclidean remainder, never negative; a fault for divisor 0.
    Remainder,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// An operator of C on machine words.
    Machine(MachineOp),
}

impl ArithmeticOp {
    /// The result, exact, or a fault.
    #[inline]
    pub fn apply(self, a: i64, b: i64) -> TermValue {
        let exact = match self {
            ArithmeticOp::Equal => Some(i64::from(a == b)),
            ArithmeticOp::NotEqual => Some(i64::from(a != b)),
            ArithmeticOp::Less => Some(i64::from(a < b)),
            ArithmeticOp::LessEqual => Some(i64::from(a <= b)),
            ArithmeticOp::Add => a.checked_add(b),
            ArithmeticOp::Subtract => a.checked_sub(b),
            ArithmeticOp::Multiply => a.checked_mul(b),
            ArithmeticOp::Divide => a.checked_div_euclid(b),
            ArithmeticOp::Remainder if b == 0 => None,
            // Only i64::MIN % -1 wraps, and its exact result is the wrapped one, 0.
            ArithmeticOp::Remainder => Some(a.wrapping_rem_euclid(b)),
            ArithmeticOp::Min => Some(a.min(b)),
            ArithmeticOp::Max => Some(a.max(b)),
            ArithmeticOp::Machine(op) => op.apply(a, b).ok(),
        };
        exact.ok_or(Faulty)
    }

    /// Whether the result is a truth value.
    pub(super) fn is_test(self) -> bool {
        matches!(self, ArithmeticOp::Equal | ArithmeticOp::NotEqual | ArithmeticOp::Less | ArithmeticOp::LessEqual)
    }
}

/// Bounds of the result, or `None` where it may be beyond 64 bits.
pub(super) fn interval(op: ArithmeticOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> Option<(i64, i64)> {
    let truth = |surely: bool, never: bool| Some((i64::from(surely), i64::from(!never)));
    match op {
        ArithmeticOp::Equal => truth(a == b && c == d && a == c, b < c || d < a),
        ArithmeticOp::NotEqual => truth(b < c || d < a, a == b && c == d && a == c),
        ArithmeticOp::Less => truth(b < c, a >= d),
        ArithmeticOp::LessEqual => truth(b <= c, a > d),
        ArithmeticOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        ArithmeticOp::Subtract => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        ArithmeticOp::Multiply => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((corners.into_iter().min()?, corners.into_iter().max()?))
        }
        ArithmeticOp::Divide => Some((i64::MIN, i64::MAX)),
        ArithmeticOp::Remainder if c > 0 => Some((0, d - 1)),
        ArithmeticOp::Remainder => Some((i64::MIN, i64::MAX)),
        ArithmeticOp::Min => Some((a.min(c), b.min(d))),
        ArithmeticOp::Max => Some((a.max(c), b.max(d))),
        ArithmeticOp::Machine(op) => Some(op.bounds((a, b), (c, d)).unwrap_or((i64::MIN, i64::MAX))),
    }
}
