//! Seeds: steps of movers as the groups see them with which they interfere.

use base::StopReason;
use compose::backend::Movers;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{GrowingGroup, SuccessorCollector};
use crate::sets::LocalSets;
use packed::packing::Packed;
use packed::words::{and, or};

/// Positions in a list by some bits of their rows.
pub(super) struct RowIndex<const W: usize> {
    /// The bits.
    pub mask: Packed<W>,
    positions: FxHashMap<Packed<W>, Vec<u32>>,
    /// How much of the list is in it.
    n_done: usize,
}

impl<const W: usize> RowIndex<W> {
    /// An empty index by some bits.
    pub fn new(mask: Packed<W>) -> Self {
        RowIndex { mask, positions: FxHashMap::default(), n_done: 0 }
    }

    /// Adds what was added to the list; how many bytes more it takes.
    pub fn update<'r>(&mut self, list: impl ExactSizeIterator<Item = &'r Packed<W>>) -> u64 {
        let mut bytes = 0;
        let n_done = self.n_done;
        self.n_done = list.len();
        for (at, row) in list.enumerate().skip(n_done) {
            let positions = self.positions.entry(and(row, &self.mask)).or_default();
            bytes += if positions.is_empty() { size_of::<Packed<W>>() + 40 } else { 8 };
            positions.push(at as u32);
        }
        bytes as u64
    }

    /// The positions of what has the bits of this one.
    pub fn get(&self, like: &Packed<W>) -> &[u32] {
        self.positions.get(&and(like, &self.mask)).map_or(&[], Vec::as_slice)
    }
}

/// By what seeds are distinguished.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct SeedsKey<const W: usize> {
    /// Whose steps they are.
    pub movers: Movers,
    /// The groups whose view states the steps start from, by position: one, or the two sides of a rendezvous.
    pub sources: Vec<usize>,
    /// The bits that matter before a step, those that are seen to change, and those that the group has before.
    pub masks: [Packed<W>; 3],
}

/// The steps of some movers, as some others see them.
pub(super) struct Seeds<const W: usize> {
    movers: Movers,
    /// The groups whose view states the steps start from, by position: one, or the two sides of a rendezvous.
    sources: Vec<usize>,
    /// The bits that matter before a step, those that are seen to change, and those that the group has before.
    masks: [Packed<W>; 3],
    /// What the steps ask, and what they leave.
    list: Vec<(Packed<W>, Packed<W>)>,
    known: FxHashSet<(Packed<W>, Packed<W>)>,
    /// The seeds by what the group has in common with them.
    by_common: FxHashMap<Packed<W>, Vec<u32>>,
    /// How much of each source was stepped from.
    n_done: Vec<usize>,
    /// Where there are two sources: each one's view states by what both see.
    indexes: Vec<RowIndex<W>>,
}

impl<const W: usize> Seeds<W> {
    /// No seeds yet.
    pub fn new(SeedsKey { movers, sources, masks }: SeedsKey<W>) -> Self {
        let n_done = vec![0; sources.len()];
        Seeds {
            movers,
            sources,
            masks,
            list: Vec::new(),
            known: FxHashSet::default(),
            by_common: FxHashMap::default(),
            n_done,
            indexes: Vec::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// What a step asks.
    pub fn before(&self, seed: u32) -> &Packed<W> {
        &self.list[seed as usize].0
    }

    /// What a step leaves.
    pub fn after(&self, seed: u32) -> &Packed<W> {
        &self.list[seed as usize].1
    }

    /// The seeds that agree with a view state of the group.
    pub fn meeting(&self, row: &Packed<W>) -> &[u32] {
        self.by_common.get(&and(row, &self.masks[2])).map_or(&[], Vec::as_slice)
    }

    /// Takes the steps of what is new in the sources; how many bytes more the seeds take.
    pub fn grow(&mut self, sets: &LocalSets<'_, W>, groups: &[GrowingGroup<'_, W>]) -> Result<u64, StopReason> {
        let mut bytes = 0;
        match *self.sources.as_slice() {
            [source] => {
                for at in self.n_done[0]..groups[source].rows.len() {
                    bytes += self.step(sets, groups[source].rows.row(at as u32))?;
                }
                self.n_done[0] = groups[source].rows.len();
            }
            [one, other] => bytes += self.grow_pairs(sets, &groups[one], &groups[other])?,
            _ => unreachable!("one or two processes move"),
        }
        Ok(bytes)
    }

    /// New view states of one side of a rendezvous with all of the other, and the other way round.
    fn grow_pairs(
        &mut self,
        sets: &LocalSets<'_, W>,
        one: &GrowingGroup<'_, W>,
        other: &GrowingGroup<'_, W>,
    ) -> Result<u64, StopReason> {
        let mut bytes = 0;
        if self.indexes.is_empty() {
            let common = and(&one.mask, &other.mask);
            self.indexes = vec![RowIndex::new(common), RowIndex::new(common)];
        }
        let (n_one, n_other) = (self.n_done[0], self.n_done[1]);
        bytes += self.indexes[0].update(one.rows.iter()) + self.indexes[1].update(other.rows.iter());
        for at in n_one..one.rows.len() {
            let row = *one.rows.row(at as u32);
            for partner in self.indexes[1].get(&row).to_vec() {
                bytes += self.step(sets, &or(&row, other.rows.row(partner)))?;
            }
        }
        for at in n_other..other.rows.len() {
            let row = *other.rows.row(at as u32);
            for partner in self.indexes[0].get(&row).to_vec() {
                if (partner as usize) < n_one {
                    bytes += self.step(sets, &or(&row, one.rows.row(partner)))?;
                }
            }
        }
        self.n_done = vec![one.rows.len(), other.rows.len()];
        Ok(bytes)
    }

    /// The seeds of the movers' steps from one combination.
    fn step(&mut self, sets: &LocalSets<'_, W>, from: &Packed<W>) -> Result<u64, StopReason> {
        let [before, changed, common] = self.masks;
        let mut found = Vec::new();
        let mut next = SuccessorCollector { mask: changed, found: &mut found, meter: &sets.meter, stopped: None };
        sets.steps(self.movers, from, &mut next);
        next.stopped.map_or(Ok(()), Err)?;
        let unchanged = and(from, &changed);
        let asked = and(from, &before);
        let mut bytes = 0;
        for after in found {
            if after != unchanged && self.known.insert((asked, after)) {
                self.by_common.entry(and(&asked, &common)).or_default().push(self.list.len() as u32);
                self.list.push((asked, after));
                bytes += (5 * size_of::<Packed<W>>() + 64) as u64;
            }
        }
        sets.meter.tick(bytes)?;
        Ok(bytes)
    }
}
