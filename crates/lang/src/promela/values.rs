//! Numbers as SPIN computes them: 32 bits, two's complement.
//!
//! In: numbers and operators. Out: numbers; `None` for a division by zero. What is stored is cut to its type by [`cut`].

use super::ast::BinaryOp;

/// A number cut to 32 bits.
pub(super) fn wrap(value: i64) -> i64 {
    i64::from(value as i32)
}

/// A number cut to a type with these bounds.
pub(super) fn cut(value: i64, (lo, hi): (i64, i64)) -> i64 {
    let size = hi - lo + 1;
    (value - lo).rem_euclid(size) + lo
}

/// The value of a binary operator.
pub(super) fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let truth = i64::from;
    Some(match op {
        BinaryOp::Or => truth(a != 0 || b != 0),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitAnd => a & b,
        BinaryOp::Equal => truth(a == b),
        BinaryOp::NotEqual => truth(a != b),
        BinaryOp::Less => truth(a < b),
        BinaryOp::LessEqual => truth(a <= b),
        BinaryOp::Greater => truth(a > b),
        BinaryOp::GreaterEqual => truth(a >= b),
        BinaryOp::ShiftLeft => wrap(a << (b & 31)),
        BinaryOp::ShiftRight => a >> (b & 31),
        BinaryOp::Add => wrap(a + b),
        BinaryOp::Subtract => wrap(a - b),
        BinaryOp::Multiply => wrap(a * b),
        BinaryOp::Divide => wrap(a.checked_div(b)?),
        BinaryOp::Remainder => wrap(a.checked_rem(b)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_cut_to_its_type() {
        assert_eq!((cut(256, (0, 255)), cut(-1, (0, 255)), cut(2, (0, 1))), (0, 255, 0));
        assert_eq!((cut(32768, (-32768, 32767)), cut(-32769, (-32768, 32767))), (-32768, 32767));
        assert_eq!(apply(BinaryOp::Add, i64::from(i32::MAX), 1), Some(i64::from(i32::MIN)));
        assert_eq!(apply(BinaryOp::Divide, -7, 2), Some(-3));
        assert_eq!(apply(BinaryOp::Remainder, 1, 0), None);
    }
}
