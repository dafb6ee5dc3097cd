//! One shard of the states found, with its levels.
//!
//! With several threads each owns a shard; which shard a state belongs to follows from its hash. The levels of the search
//! are ranges of positions in each shard's store.

use std::ops::Range;

use base::{Feature, StopReason, Unsupported};

use engine::meter::Meter;
use packed::hash::hash;
use packed::packing::Packed;
use packed::store::Store;

/// A part of the states.
pub struct Shard<const W: usize> {
    /// The states.
    pub store: Store<W>,
    /// Where each level begins; the last one is being filled.
    level_starts: Vec<usize>,
}

impl<const W: usize> Shard<W> {
    /// An empty shard, whose level 0 is being filled.
    pub fn new(meter: &Meter<'_>) -> Self {
        let store = Store::new();
        meter.add(store.bytes());
        Shard { store, level_starts: vec![0] }
    }

    /// Begins to fill the next level.
    pub fn begin_level(&mut self) {
        self.level_starts.push(self.store.n_states());
    }

    /// The positions of a level; empty where there is none.
    pub fn level(&self, depth: usize) -> Range<usize> {
        let start = |depth: usize| self.level_starts.get(depth).copied().unwrap_or(self.store.n_states());
        start(depth)..start(depth + 1)
    }

    /// Adds what is not there yet of a batch; the positions of what was added.
    pub fn insert(&mut self, batch: &[Packed<W>], meter: &Meter<'_>) -> Result<Range<usize>, StopReason> {
        let (n_before, bytes_before) = (self.store.n_states(), self.store.bytes());
        let bytes = self.store.bytes_with(batch.len()).ok_or_else(too_many_states)?;
        meter.reserve(bytes - bytes_before)?;
        self.store.insert(batch);
        meter.remove(bytes.saturating_sub(self.store.bytes()));
        meter.stored((self.store.n_states() - n_before) as u64);
        Ok(n_before..self.store.n_states())
    }
}

/// Which of so many shards a state belongs to.
pub fn shard_of<const W: usize>(state: &Packed<W>, n_shards: usize) -> usize {
    if n_shards == 1 {
        return 0;
    }
    // The store uses the high bits for slots and the low 32 as tags; these are between.
    ((u64::from((hash(state) >> 8) as u32) * n_shards as u64) >> 32) as usize
}

fn too_many_states() -> StopReason {
    Unsupported::about(Feature::Numbers, "states").into()
}
