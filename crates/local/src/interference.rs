//! Interference: which steps of others happen in which rows of a process. The join of the thread-modular fixpoints (Flanagan and Qadeer, SPIN 2003).
//!
//! A process knows a step of others only by the bits that both see, before and after it: a *change*. It happens in every row of the process, be that a
//! store or a whole view state, that has the bits before, and takes it to the row with the bits after. In: rows and changes, one by one. Out: for a new row the
//! changes that happen in it, for a new change the rows in which it happens, so that no pair of both is considered twice. What is carried from row to row is the
//! business of the fixpoint: bit sets of local states (`sets::by_store`), labelled edges (`graphs::interference`), sets of activations (the crate `pushdown`).

use rustc_hash::FxHashMap;

use packed::packing::Packed;
use packed::words::{and, or, without};

/// The rows of a process, each with its number, and the changes by others, by the bits that the process has in common with those others.
pub struct CommonBits<const W: usize, R, L> {
    mask: Packed<W>,
    by_bits: FxHashMap<Packed<W>, Agreement<W, R, L>>,
}

/// A change of the bits in common.
#[derive(Clone, Copy, Debug)]
pub struct CommonChange<const W: usize, L> {
    /// The bits after it.
    pub after: Packed<W>,
    /// What else is known of it: the process that made it, and its action.
    pub label: L,
}

/// What has the same bits in common.
struct Agreement<const W: usize, R, L> {
    rows: Vec<R>,
    changes: Vec<CommonChange<W, L>>,
}

impl<const W: usize, R, L> Default for Agreement<W, R, L> {
    fn default() -> Self {
        Agreement { rows: Vec::new(), changes: Vec::new() }
    }
}

impl<const W: usize, R, L> CommonBits<W, R, L> {
    /// Nothing is known yet.
    pub fn new(mask: Packed<W>) -> Self {
        CommonBits { mask, by_bits: FxHashMap::default() }
    }

    /// The bits in common.
    pub fn mask(&self) -> &Packed<W> {
        &self.mask
    }

    /// Adds a row; the changes that happen in it.
    pub fn add_row(&mut self, row: &Packed<W>, number: R) -> &[CommonChange<W, L>] {
        let agreement = self.by_bits.entry(and(row, &self.mask)).or_default();
        agreement.rows.push(number);
        &agreement.changes
    }

    /// Adds a change of some bits in common; the rows in which it happens.
    pub fn add_change(&mut self, before: Packed<W>, change: CommonChange<W, L>) -> &[R] {
        let agreement = self.by_bits.entry(before).or_default();
        agreement.changes.push(change);
        &agreement.rows
    }

    /// The changes that happen in a row.
    pub fn changes(&self, row: &Packed<W>) -> &[CommonChange<W, L>] {
        self.by_bits.get(&and(row, &self.mask)).map_or(&[], |agreement| &agreement.changes)
    }

    /// The rows that have these bits.
    pub fn rows(&self, bits: &Packed<W>) -> &[R] {
        self.by_bits.get(bits).map_or(&[], |agreement| &agreement.rows)
    }

    /// What a change makes of a row.
    pub fn changed(&self, row: &Packed<W>, after: &Packed<W>) -> Packed<W> {
        or(&without(row, &self.mask), after)
    }

    /// Forgets the rows, not the changes.
    pub fn forget_rows(&mut self) {
        self.by_bits.values_mut().for_each(|agreement| agreement.rows.clear());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_changes_are_joined_whichever_comes_first() {
        let mut common = CommonBits::<1, u32, char>::new([0b11]);
        assert!(common.add_row(&[0b101], 0).is_empty());
        assert_eq!(common.add_change([0b01], CommonChange { after: [0b10], label: 'a' }), [0]);
        let met: Vec<char> = common.add_row(&[0b001], 1).iter().map(|change| change.label).collect();
        assert_eq!((met, common.rows(&[0b01])), (vec!['a'], &[0, 1][..]));
        assert_eq!(common.changed(&[0b101], &common.changes(&[0b101])[0].after), [0b110]);
        assert!(common.add_row(&[0b111], 2).is_empty() && common.changes(&[0b111]).is_empty());
        common.forget_rows();
        assert!(common.rows(&[0b01]).is_empty() && common.changes(&[0b01]).len() == 1);
    }
}
