//! Operators on numbers as C computes them: division that cuts towards zero, bits, shifts.
//!
//! In: two numbers. Out: a number, or the fault. Programs in the Piecewise language have none of these; other languages do. Numbers
//! are exact here, too: what does not fit in 64 bits is a fault, never cut.

use crate::value::Fault;

/// An operator of C that differs from, or is missing among, the exact ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineOp {
    /// `/`, cut towards zero.
    Quotient,
    /// `%`, with the sign of the left side.
    Rest,
    /// `&`, bit by bit in two's complement.
    BitAnd,
    /// `|`, likewise.
    BitOr,
    /// `^`, likewise.
    BitXor,
    /// `<<`: times a power of two.
    ShiftLeft,
    /// `>>`: divided by a power of two, rounded down.
    ShiftRight,
}

impl MachineOp {
    /// The result.
    ///
    /// # Errors
    /// Division by zero, a shift by less than 0 or more than 63, a number beyond 64 bits.
    pub fn apply(self, a: i64, b: i64) -> Result<i64, Fault> {
        match self {
            MachineOp::Quotient | MachineOp::Rest if b == 0 => Err(Fault::DivisionByZero),
            MachineOp::Quotient => a.checked_div(b).ok_or(Fault::Overflow),
            // Only i64::MIN % -1 wraps, and its exact result is the wrapped one, 0.
            MachineOp::Rest => Ok(a.wrapping_rem(b)),
            MachineOp::BitAnd => Ok(a & b),
            MachineOp::BitOr => Ok(a | b),
            MachineOp::BitXor => Ok(a ^ b),
            MachineOp::ShiftLeft => {
                let wide = i128::from(a) << shift_of(b)?;
                i64::try_from(wide).map_err(|_| Fault::Overflow)
            }
            MachineOp::ShiftRight => Ok(a >> shift_of(b)?),
        }
    }

    /// The operator in the text.
    pub fn symbol(self) -> &'static str {
        match self {
            MachineOp::Quotient => "/",
            MachineOp::Rest => "%",
            MachineOp::BitAnd => "&",
            MachineOp::BitOr => "|",
            MachineOp::BitXor => "^",
            MachineOp::ShiftLeft => "<<",
            MachineOp::ShiftRight => ">>",
        }
    }

    /// Whether numbers between these bounds may make it a fault; true where that is not worked out.
    pub fn may_fault(self, a: (i64, i64), b: (i64, i64)) -> bool {
        let (b_lo, b_hi) = b;
        let bad_shift = b_lo < 0 || b_hi >= i64::from(i64::BITS);
        match self {
            MachineOp::Quotient | MachineOp::Rest => b_lo <= 0 && b_hi >= 0 || a.0 == i64::MIN,
            MachineOp::BitAnd | MachineOp::BitOr | MachineOp::BitXor => false,
            MachineOp::ShiftLeft => bad_shift || self.bounds(a, b).is_none(),
            MachineOp::ShiftRight => bad_shift,
        }
    }

    /// Bounds of the result for numbers between these bounds; `None` where they are not worked out.
    pub fn bounds(self, (a_lo, a_hi): (i64, i64), (b_lo, b_hi): (i64, i64)) -> Option<(i64, i64)> {
        let natural = a_lo >= 0 && b_lo >= 0;
        // All bits up to the highest one of either side.
        let bits = || i64::MAX.checked_shr((a_hi.max(b_hi)).leading_zeros().saturating_sub(1)).unwrap_or(0);
        match self {
            MachineOp::Quotient if natural => Some((0, a_hi)),
            MachineOp::Rest if natural => Some((0, a_hi.min((b_hi - 1).max(0)))),
            MachineOp::BitAnd if natural => Some((0, a_hi.min(b_hi))),
            // A natural number on one side keeps the sign and the size.
            MachineOp::BitAnd if b_lo >= 0 => Some((0, b_hi)),
            MachineOp::BitAnd if a_lo >= 0 => Some((0, a_hi)),
            MachineOp::BitOr | MachineOp::BitXor if natural => Some((0, bits())),
            MachineOp::ShiftRight if natural => Some((0, a_hi)),
            MachineOp::ShiftLeft if natural && b_hi < 64 => {
                let most = i128::from(a_hi) << b_hi;
                i64::try_from(most).ok().map(|most| (0, most))
            }
            _ => None,
        }
    }
}

fn shift_of(by: i64) -> Result<u32, Fault> {
    u32::try_from(by).ok().filter(|&by| by < i64::BITS).ok_or(Fault::BadShift { by })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATORS: [MachineOp; 7] = [
        MachineOp::Quotient,
        MachineOp::Rest,
        MachineOp::BitAnd,
        MachineOp::BitOr,
        MachineOp::BitXor,
        MachineOp::ShiftLeft,
        MachineOp::ShiftRight,
    ];

    #[test]
    fn division_cuts_towards_zero() {
        let apply = |op: MachineOp, a, b| op.apply(a, b);
        assert_eq!((apply(MachineOp::Quotient, -7, 2), apply(MachineOp::Rest, -7, 2)), (Ok(-3), Ok(-1)));
        assert_eq!((apply(MachineOp::Quotient, 7, -2), apply(MachineOp::Rest, 7, -2)), (Ok(-3), Ok(1)));
        assert_eq!(apply(MachineOp::Quotient, i64::MIN, -1), Err(Fault::Overflow));
        assert_eq!(apply(MachineOp::Rest, i64::MIN, -1), Ok(0));
        assert_eq!(apply(MachineOp::Rest, 1, 0), Err(Fault::DivisionByZero));
    }

    #[test]
    fn shifts_are_exact_or_faults() {
        assert_eq!(MachineOp::ShiftLeft.apply(3, 4), Ok(48));
        assert_eq!(MachineOp::ShiftLeft.apply(1, 63), Err(Fault::Overflow));
        assert_eq!(MachineOp::ShiftLeft.apply(0, 64), Err(Fault::BadShift { by: 64 }));
        assert_eq!(MachineOp::ShiftRight.apply(-5, 1), Ok(-3));
        assert_eq!(MachineOp::ShiftRight.apply(1, -1), Err(Fault::BadShift { by: -1 }));
    }

    #[test]
    fn results_lie_within_their_bounds_and_faults_are_foretold() {
        let ends = [-9, -1, 0, 1, 2, 5, 8];
        let ranges: Vec<(i64, i64)> =
            ends.iter().flat_map(|&lo| ends.iter().map(move |&hi| (lo, hi))).filter(|(lo, hi)| lo <= hi).collect();
        for op in OPERATORS {
            for &left in &ranges {
                for &right in &ranges {
                    let bounds = op.bounds(left, right);
                    let safe = !op.may_fault(left, right);
                    for a in left.0..=left.1 {
                        for b in right.0..=right.1 {
                            let result = op.apply(a, b);
                            let fits = |value| bounds.is_none_or(|(lo, hi)| lo <= value && value <= hi);
                            let is_right = result.as_ref().map_or(!safe, |&value| fits(value));
                            assert!(is_right, "{a} {} {b} = {result:?}, {bounds:?}", op.symbol());
                        }
                    }
                }
            }
        }
    }
}
