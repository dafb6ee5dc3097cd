//! Combinations of view states of several groups: those that agree on all that two groups see.

use base::StopReason;
use compose::backend::Join;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::{LocalSets, Rows};
use packed::packing::Packed;
use packed::words::{and, is_zero, or};

/// More combinations than this are not enumerated.
const MOST_COMBINATIONS: usize = 1 << 20;

/// Sets of groups that are combined.
type Sets<'s, const W: usize> = Join<'s, std::rc::Rc<Rows<W>>>;

impl<const W: usize> LocalSets<'_, W> {
    /// The combinations in the join, as far as the bits needed show them.
    pub fn combinations(&self, join: Sets<'_, W>, needed: &Packed<W>) -> Result<Rows<W>, StopReason> {
        let tables: Vec<(Packed<W>, &Rows<W>)> =
            join.iter().map(|(group, set)| (self.sight.mask(group), set.as_ref())).collect();
        let mut together: Vec<ProcessId> = join.iter().flat_map(|(group, _)| group.iter().copied()).collect();
        together.sort_unstable();
        together.dedup();
        let Some(filter) = self.filter(&together) else { return self.joined(&tables, needed) };
        // What sums weigh is looked at besides, unless these are too many combinations.
        match self.joined(&tables, &or(needed, &self.weighed_bits(&together))) {
            Err(stop) if stop == compose::k_index::too_many_at_once() => self.joined(&tables, needed),
            Err(stop) => Err(stop),
            Ok(all) => {
                let mut kept = Rows::default();
                all.iter().filter(|row| !filter.excludes(row)).for_each(|row| _ = kept.insert(and(row, needed)));
                Ok(kept)
            }
        }
    }

    /// The combinations of some sets with their masks.
    pub(super) fn joined(&self, tables: &[(Packed<W>, &Rows<W>)], needed: &Packed<W>) -> Result<Rows<W>, StopReason> {
        let mut all = Rows::default();
        all.insert([0; W]);
        let mut seen = [0; W];
        for (at, (mask, rows)) in tables.iter().enumerate() {
            // What is neither asked for nor compared with later sets is left out at once.
            let kept = tables[at + 1..].iter().fold(*needed, |kept, (mask, _)| or(&kept, mask));
            all = self.joined_two((&all, &seen), (rows, mask), &kept)?;
            seen = and(&or(&seen, mask), &kept);
        }
        Ok(all)
    }

    /// The combinations of two sets, with the bits kept only.
    pub(super) fn joined_two(
        &self,
        (ones, one_mask): (&Rows<W>, &Packed<W>),
        (others, other_mask): (&Rows<W>, &Packed<W>),
        kept: &Packed<W>,
    ) -> Result<Rows<W>, StopReason> {
        let common = and(one_mask, other_mask);
        let mut found = Rows::default();
        let mut show = |one: &Packed<W>, other: &Packed<W>| {
            found.insert(and(&or(one, other), kept));
            if found.len() > MOST_COMBINATIONS {
                return Err(compose::k_index::too_many_at_once());
            }
            self.meter.tick(found.bytes() + ones.bytes())
        };
        if is_zero(&common) {
            for one in ones.iter() {
                others.iter().try_for_each(|other| show(one, other))?;
            }
            return Ok(found);
        }
        let mut by_common: FxHashMap<Packed<W>, Vec<u32>> = FxHashMap::default();
        for (at, other) in others.iter().enumerate() {
            by_common.entry(and(other, &common)).or_default().push(at as u32);
        }
        for one in ones.iter() {
            for &at in by_common.get(&and(one, &common)).into_iter().flatten() {
                show(one, others.row(at))?;
            }
        }
        Ok(found)
    }
}
