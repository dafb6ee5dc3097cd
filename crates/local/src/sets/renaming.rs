//! Images of packed view states under permutations of processes.

use compose::symmetry::{Permutation, Symmetry};
use model::process::ProcessId;
use model::types::ScalarType;

use super::LocalSets;
use packed::packing::{Field, Packed, decode, encode};
use packed::points::PackedPoint;
use packed::words::{add, and, without};

/// A permutation of processes, for view states with some bits.
pub struct RowRenaming<const W: usize> {
    /// The bits that stay as they are.
    stays: Packed<W>,
    /// The fields that move or change: from where, to where, and what their contents become, where they change.
    moves: Vec<(Field, Field, Option<Vec<u64>>)>,
}

impl<const W: usize> RowRenaming<W> {
    /// What becomes of a view state.
    pub fn apply(&self, row: &Packed<W>) -> Packed<W> {
        let mut renamed = and(row, &self.stays);
        for (from, to, contents) in &self.moves {
            let raw = from.raw(row);
            let raw = contents.as_ref().map_or(raw, |contents| contents[raw as usize]);
            renamed[to.word as usize] |= to.in_place(raw);
        }
        renamed
    }
}

impl<const W: usize> RowRenaming<W> {
    /// Where bits go: those of whole fields.
    pub fn mask(&self, mask: &Packed<W>) -> Packed<W> {
        let mut moved = and(mask, &self.stays);
        for (from, to, _) in &self.moves {
            if has(mask, *from) {
                add(&mut moved, *to);
            }
        }
        moved
    }
}

impl<const W: usize> LocalSets<'_, W> {
    /// The permutation, for view states with these bits.
    pub(super) fn renaming(
        &self,
        mask: &Packed<W>,
        symmetry: &Symmetry<'_>,
        permutation: &Permutation,
    ) -> RowRenaming<W> {
        let (codec, model) = (self.machine.codec, self.model());
        let mut renaming = RowRenaming { stays: *mask, moves: Vec::new() };
        for (id, cell) in model.cells.entries() {
            let (field, numbers) = codec.layout.locations[id.index()];
            if !has(mask, field) {
                continue;
            }
            let image = symmetry.cell(permutation, id);
            let (to, _) = codec.layout.locations[image.index()];
            let names_processes = matches!(cell.ty, ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock);
            let contents: Option<Vec<u64>> = names_processes.then(|| {
                let renamed = |raw: u64| {
                    let number = field.number(raw);
                    let known = numbers.contains(number);
                    if known { to.raw_of(encode(permutation.value(decode(number, cell.ty)))) } else { raw }
                };
                (0..=field.mask).map(renamed).collect()
            });
            let changes = contents.as_ref().is_some_and(|list| list.iter().zip(0..).any(|(new, raw)| *new != raw));
            if image != id || changes {
                renaming.move_field(field, to, contents.filter(|_| changes));
            }
        }
        for process in model.processes.ids() {
            let field = codec.layout.control[process.index()];
            let image = permutation.of(process);
            if has(mask, field) {
                let points = &codec.plan.points[process.index()];
                let contents: Vec<u64> =
                    points.iter().map(|point| self.renamed_point(point, image, permutation)).collect();
                renaming.move_field(field, codec.layout.control[image.index()], Some(contents));
            }
        }
        renaming
    }

    fn renamed_point(&self, point: &PackedPoint, image: ProcessId, permutation: &Permutation) -> u64 {
        let counters = point.counters.iter().map(|&(id, value)| (id, permutation.value(value))).collect();
        let renamed = PackedPoint { place: point.place, counters };
        let points = &self.machine.codec.plan.points[image.index()];
        u64::from(points.id(&renamed).expect("processes that are alike have the same points"))
    }
}

impl<const W: usize> RowRenaming<W> {
    fn move_field(&mut self, from: Field, to: Field, contents: Option<Vec<u64>>) {
        let mut bits = [0; W];
        add(&mut bits, from);
        self.stays = without(&self.stays, &bits);
        self.moves.push((from, to, contents));
    }
}

fn has<const W: usize>(mask: &Packed<W>, field: Field) -> bool {
    mask[field.word as usize] & field.in_place(field.mask) != 0
}
