//! Arithmetic on numbers, exact: on values, and on bounds of values.

use model::machine::MachineOp;

use super::{Faulty, Number};

/// Binary operators on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
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

impl Arithmetic {
    /// The result, exact, or a fault.
    pub fn apply(self, a: i64, b: i64) -> Number {
        let exact = match self {
            Arithmetic::Equal => Some(i64::from(a == b)),
            Arithmetic::NotEqual => Some(i64::from(a != b)),
            Arithmetic::Less => Some(i64::from(a < b)),
            Arithmetic::LessEqual => Some(i64::from(a <= b)),
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide => a.checked_div_euclid(b),
            Arithmetic::Remainder if b == 0 => None,
            // Only i64::MIN % -1 wraps, and its exact result is the wrapped one, 0.
            Arithmetic::Remainder => Some(a.wrapping_rem_euclid(b)),
            Arithmetic::Min => Some(a.min(b)),
            Arithmetic::Max => Some(a.max(b)),
            Arithmetic::Machine(op) => op.apply(a, b).ok(),
        };
        exact.ok_or(Faulty)
    }

    /// Whether the result is a truth value.
    pub(super) fn is_test(self) -> bool {
        matches!(self, Arithmetic::Equal | Arithmetic::NotEqual | Arithmetic::Less | Arithmetic::LessEqual)
    }
}

/// Bounds of the result, or `None` where it may be beyond 64 bits.
pub(super) fn interval(op: Arithmetic, (a, b): (i64, i64), (c, d): (i64, i64)) -> Option<(i64, i64)> {
    let truth = |surely: bool, never: bool| Some((i64::from(surely), i64::from(!never)));
    match op {
        Arithmetic::Equal => truth(a == b && c == d && a == c, b < c || d < a),
        Arithmetic::NotEqual => truth(b < c || d < a, a == b && c == d && a == c),
        Arithmetic::Less => truth(b < c, a >= d),
        Arithmetic::LessEqual => truth(b <= c, a > d),
        Arithmetic::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        Arithmetic::Subtract => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        Arithmetic::Multiply => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((corners.into_iter().min()?, corners.into_iter().max()?))
        }
        Arithmetic::Divide => Some((i64::MIN, i64::MAX)),
        Arithmetic::Remainder if c > 0 => Some((0, d - 1)),
        Arithmetic::Remainder => Some((i64::MIN, i64::MAX)),
        Arithmetic::Min => Some((a.min(c), b.min(d))),
        Arithmetic::Max => Some((a.max(c), b.max(d))),
        Arithmetic::Machine(op) => Some(op.bounds((a, b), (c, d)).unwrap_or((i64::MIN, i64::MAX))),
    }
}
