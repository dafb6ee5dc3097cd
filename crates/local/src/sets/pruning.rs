//! View states that checked sums exclude.
//!
//! In: sums of `compose::sums`, and a group of processes with what it sees. Out: whether a packed view state of the group is of no reachable state.

use compose::sums::{Glimpse, SeenSums};
use model::control::PlaceId;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role};

use super::{LocalSets, Rows};
use packed::codec::Codec;
use packed::packing::{Packed, decode};
use packed::words::{add, and};

/// What excludes view states of a group.
pub(crate) struct RowFilter<'s, const W: usize> {
    codec: &'s Codec<'s>,
    seen: SeenSums<'s>,
}

impl<const W: usize> RowFilter<'_, W> {
    /// Whether a view state is of no reachable state.
    pub fn excludes(&self, row: &Packed<W>) -> bool {
        self.seen.exclude(&PackedGlimpse { codec: self.codec, row })
    }
}

/// What a packed view state shows.
struct PackedGlimpse<'g, const W: usize> {
    codec: &'g Codec<'g>,
    row: &'g Packed<W>,
}

impl<const W: usize> Glimpse for PackedGlimpse<'_, W> {
    fn value(&self, cell: CellId) -> Value {
        decode(self.codec.layout.locations[cell.index()].0.get(self.row), self.codec.model.cells[cell].ty)
    }

    fn place(&self, process: ProcessId) -> PlaceId {
        let point = self.codec.layout.control[process.index()].raw(self.row) as u32;
        self.codec.plan.points[process.index()].point(point).place
    }
}

impl<const W: usize> LocalSets<'_, W> {
    /// What excludes view states of a group, if something does.
    pub(super) fn filter(&self, group: &[ProcessId]) -> Option<RowFilter<'_, W>> {
        let model = self.model();
        // Counters are part of control.
        let is_seen = |cell: CellId| {
            !matches!(model.vars[model.cells[cell].var].role, Role::Counter(_)) && self.sight.sees(model, group, cell)
        };
        let seen = self.sums.as_ref()?.seen(is_seen, |process| group.contains(&process));
        (!seen.is_empty()).then_some(RowFilter { codec: self.machine.codec, seen })
    }

    /// The view states of a group that no sum excludes.
    pub(super) fn without_excluded(&self, group: &[ProcessId], rows: Rows<W>) -> Rows<W> {
        let Some(filter) = self.filter(group) else { return rows };
        let mut kept = Rows::default();
        rows.iter().filter(|row| !filter.excludes(row)).for_each(|row| _ = kept.insert(*row));
        kept
    }

    /// The bits of what sums weigh of a group, as far as it sees them.
    pub(super) fn weighed_bits(&self, group: &[ProcessId]) -> Packed<W> {
        let mut bits = [0; W];
        let Some(sums) = &self.sums else { return bits };
        let layout = &self.machine.codec.layout;
        let (cells, processes) = sums.concerned();
        cells.iter().for_each(|cell| add(&mut bits, layout.locations[cell.index()].0));
        for process in processes {
            add(&mut bits, layout.control[process.process.index()]);
            process.cells.iter().for_each(|cell| add(&mut bits, layout.locations[cell.index()].0));
        }
        and(&bits, &self.sight.mask(group))
    }
}
