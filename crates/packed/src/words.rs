//! Packed states as sets of bits: masks, and what is in both, in one, in the first alone.

use crate::packing::{Field, Packed};

/// Adds the bits of a field to a mask.
pub fn add<const W: usize>(mask: &mut Packed<W>, field: Field) {
    mask[field.word as usize] |= field.in_place(field.mask);
}

/// The bits that both have.
#[inline]
pub fn and<const W: usize>(a: &Packed<W>, b: &Packed<W>) -> Packed<W> {
    std::array::from_fn(|word| a[word] & b[word])
}

/// The bits that one has.
#[inline]
pub fn or<const W: usize>(a: &Packed<W>, b: &Packed<W>) -> Packed<W> {
    std::array::from_fn(|word| a[word] | b[word])
}

/// The bits of the first that the second has not.
#[inline]
pub fn without<const W: usize>(a: &Packed<W>, b: &Packed<W>) -> Packed<W> {
    std::array::from_fn(|word| a[word] & !b[word])
}

/// Whether there is no bit.
pub fn is_zero<const W: usize>(a: &Packed<W>) -> bool {
    a.iter().all(|&word| word == 0)
}
