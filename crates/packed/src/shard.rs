//! One shard of the states that a breadth-first search has found, with its levels.
//!
//! With several threads or hosts each owns a shard; which shard a state belongs to follows from its hash. In: batches of states, in any order. Out: each state once, in the level in which it was first found. Levels are ranges of positions in a
//! [store](crate::store). Where memory is short and the budget has a disk, states move there ([`crate::spill`]): from then on the store has only
//! what was found of the level that is being filled, and what of it is new is known when the level is closed.

use std::io;
use std::ops::Range;

use base::{Feature, StopReason, Unsupported};

use engine::meter::Meter;

use crate::hash::hash;
use crate::packing::Packed;
use crate::spill::{Overflow, Spill};
use crate::store::{BATCH, StateSet, state_set};

/// So many states of a level are read at once.
const STRETCH: usize = 256;

/// A part of the states.
pub struct Shard<const W: usize> {
    /// The states in memory.
    store: Box<dyn StateSet<W>>,
    n_words: usize,
    /// Where each level begins; the last one is being filled.
    level_starts: Vec<usize>,
    /// Where states go when memory is short; only where there is disk.
    overflow: Option<Overflow>,
    /// Closed levels, once they are on disk.
    spill: Option<Spill<W>>,
}

impl<const W: usize> Shard<W> {
    /// An empty shard for states of so many words, whose level 0 is being filled.
    pub fn new(n_words: usize, meter: &Meter<'_>) -> Self {
        let store = state_set(n_words, meter.memory_limit().is_some());
        meter.add(store.bytes());
        Shard { store, n_words, level_starts: vec![0], overflow: None, spill: None }
    }

    /// How many states there are.
    pub fn n_states(&self) -> u64 {
        self.spill.as_ref().map_or(self.store.n_states() as u64, Spill::n_states)
    }

    /// From now on states go to disk where memory is short.
    pub fn overflow_to(&mut self, overflow: Overflow) {
        self.overflow = Some(overflow);
    }

    /// The states at positions in memory, as [`insert`](Self::insert) returned them.
    pub fn read(&self, positions: Range<usize>, states: &mut Vec<Packed<W>>) {
        self.store.read(positions, states);
    }

    /// Begins to fill the next level. Where the disk fails, the meter is stopped.
    pub fn begin_level(&mut self, meter: &Meter<'_>) {
        if self.spill.is_none() {
            return self.level_starts.push(self.store.n_states());
        }
        // What is not whole is not needed any more.
        if !meter.is_stopped()
            && let Err(error) = self.move_to_disk(meter).and_then(|()| self.close_level())
        {
            meter.stop(disk_error(&error));
        }
    }

    fn close_level(&mut self) -> io::Result<()> {
        self.spill.as_mut().map_or(Ok(()), Spill::close_level)
    }

    /// How many states a level has.
    pub fn level_len(&self, depth: usize) -> u64 {
        match &self.spill {
            Some(spill) => spill.level_len(depth),
            None => self.positions(depth).len() as u64,
        }
    }

    fn positions(&self, depth: usize) -> Range<usize> {
        let start = |depth: usize| self.level_starts.get(depth).copied().unwrap_or(self.store.n_states());
        start(depth)..start(depth + 1)
    }

    /// Some states of a level, at most so many, behind so many of them; none at its end.
    ///
    /// # Errors
    /// A disk that fails.
    pub fn stretch(&self, depth: usize, n_before: u64, n_most: usize) -> Result<Vec<Packed<W>>, StopReason> {
        if let Some(spill) = &self.spill {
            return spill.stretch(depth, n_before, n_most).map_err(|error| disk_error(&error));
        }
        let positions = self.positions(depth);
        let first = (positions.start + n_before as usize).min(positions.end);
        let end = (first + n_most).min(positions.end);
        let mut states = Vec::with_capacity(end - first);
        self.store.read(first..end, &mut states);
        Ok(states)
    }

    /// The states of a level, one after the other.
    pub fn states(&self, depth: usize) -> impl Iterator<Item = Result<Packed<W>, StopReason>> {
        let mut n_before = 0;
        let stretches = std::iter::from_fn(move || {
            let stretch = self.stretch(depth, n_before, STRETCH);
            n_before += stretch.as_ref().map_or(0, |stretch| stretch.len() as u64);
            (!matches!(&stretch, Ok(stretch) if stretch.is_empty())).then_some(stretch)
        });
        stretches.flat_map(|stretch| {
            let (states, error) = stretch.map_or_else(|error| (Vec::new(), Some(error)), |states| (states, None));
            states.into_iter().map(Ok).chain(error.map(Err))
        })
    }

    /// Adds what is not there yet of a batch; the positions of what was added. On disk they may be known all the same.
    pub fn insert(&mut self, batch: &[Packed<W>], meter: &Meter<'_>) -> Result<Range<usize>, StopReason> {
        if let Some(overflow) = &self.overflow
            && self.store.n_states() > BATCH
            && self.store.bytes_with(batch.len()).is_none_or(|bytes| bytes > overflow.most_bytes)
        {
            self.move_to_disk(meter).map_err(|error| disk_error(&error))?;
        }
        let (n_before, bytes_before) = (self.store.n_states(), self.store.bytes());
        let bytes = self.store.bytes_with(batch.len()).ok_or_else(too_many_states)?;
        meter.reserve(bytes - bytes_before)?;
        self.store.insert(batch);
        meter.remove(bytes.saturating_sub(self.store.bytes()));
        meter.stored((self.store.n_states() - n_before) as u64);
        Ok(n_before..self.store.n_states())
    }

    /// Moves states to disk: the closed levels, the first time, and what was found since.
    fn move_to_disk(&mut self, meter: &Meter<'_>) -> io::Result<()> {
        let Some(overflow) = &self.overflow else { return Ok(()) };
        let store = &*self.store;
        let states = |positions: Range<usize>| positions.map(|position| store.state(position));
        match &mut self.spill {
            Some(spill) => spill.note(states(0..store.n_states()))?,
            None => {
                let mut spill = Spill::new(self.n_words, overflow)?;
                // The last level is being filled.
                let n_closed = self.level_starts.len() - 1;
                for depth in 0..n_closed {
                    spill.add_level(states(self.positions(depth)))?;
                }
                spill.note(states(self.level_starts[n_closed]..store.n_states()))?;
                self.spill = Some(spill);
            }
        }
        meter.remove(self.store.bytes());
        self.store = state_set(self.n_words, meter.memory_limit().is_some());
        meter.add(self.store.bytes());
        Ok(())
    }
}

/// Why the search cannot go on without its disk.
fn disk_error(error: &io::Error) -> StopReason {
    StopReason::Disk(match error.kind() {
        io::ErrorKind::StorageFull => "no space is left on disk for states that memory has no room for".to_owned(),
        _ => format!("states that memory has no room for cannot be kept on disk: {error}"),
    })
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
