//! Local states by store as a split invariant that the checker can verify.
//!
//! Members see all shared and public cells and the exposed facts of all processes. Control is numbered by `model::points`, values by their position
//! among those of their type. The rows are ascending; the position of each node of an abstract process among them is returned.

use base::StopReason;
use evidence::certificate::{Column, Exposed, Member, SplitInvariant, StateSet};
use model::Model;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, Storage};

use super::sets::FairSets;
use crate::ids::StoreId;
use crate::sets::bits::for_each_bit;
use packed::packing::numbers_fit;

impl<const W: usize> FairSets<'_, W> {
    /// The split invariant, and by process the position among the rows of each of its view states, in the order of stores.
    pub fn certify(&mut self) -> Result<(SplitInvariant, Vec<Vec<u32>>), StopReason> {
        let model = self.locals.model;
        let is_column = |cell: &CellId| !matches!(model.vars[model.cells[*cell].var].role, Role::Counter(_));
        let columns: Vec<CellId> = model.cells.ids().filter(is_column).collect();
        numbers_fit(model, columns.iter().map(|&cell| model.cells[cell].ty))?;
        let shown: Vec<CellId> = columns.into_iter().filter(|cell| self.is_seen(*cell)).collect();
        let mut stores: Vec<Vec<u32>> = Vec::with_capacity(self.stores.len());
        let mut values: Vec<Vec<u32>> = Vec::with_capacity(self.cells.len());
        for cells in self.cells.ids() {
            let state = self.plain_state(cells, None);
            values.push(shown.iter().map(|cell| number_of(model, *cell, state.cells[cell.index()])).collect());
        }
        let exposing: Vec<ProcessId> =
            model.processes.ids().filter(|process| !self.exposed[process.index()].facts.is_empty()).collect();
        for store in &self.stores {
            let vector = &self.vectors[store.blocks.index()];
            let blocks = exposing.iter().map(|process| vector[process.index()].index() as u32);
            stores.push(values[store.cells.index()].iter().copied().chain(blocks).collect());
        }
        let (mut members, mut places) = (Vec::new(), Vec::new());
        for process in model.processes.ids() {
            let (member, place) = self.member(process, (&shown, &exposing), &stores)?;
            members.push(member);
            places.push(place);
        }
        let invariant = SplitInvariant {
            k: 1,
            points: model.processes.ids().map(|process| self.locals.points(process).to_vec()).collect(),
            exposed: self.exposed.iter().map(with_blocks).collect(),
            members,
            symmetry: None,
        };
        Ok((invariant, places))
    }

    fn member(
        &mut self,
        process: ProcessId,
        (shown, exposing): (&[CellId], &[ProcessId]),
        stores: &[Vec<u32>],
    ) -> Result<(Member, Vec<u32>), StopReason> {
        let model = self.locals.model;
        let own: Vec<CellId> = self.locals.cells(process).to_vec();
        let mut cells: Vec<(CellId, bool, usize)> =
            shown.iter().enumerate().map(|(at, &cell)| (cell, true, at)).collect();
        cells.extend(own.iter().enumerate().map(|(at, &cell)| (cell, false, at)));
        cells.sort_unstable();
        let mut rows = Vec::new();
        for (store, seen) in stores.iter().enumerate() {
            let mut locals = Vec::new();
            for_each_bit(self.at(process, StoreId::new(store)), |local| locals.push(local));
            for local in locals {
                let local = self.plain_local(process, local);
                let value = |&(cell, is_shown, at): &(CellId, bool, usize)| match is_shown {
                    true => seen[at],
                    false => number_of(model, cell, local.cells[at]),
                };
                let mut row: Vec<u32> = cells.iter().map(value).collect();
                row.push(local.point as u32);
                row.extend(&seen[shown.len()..]);
                rows.push(row);
            }
            if store % 256 == 0 {
                self.hold((rows.len() * (24 + 4 * (cells.len() + exposing.len() + 1))) as u64)?;
            }
        }
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| rows[a as usize].cmp(&rows[b as usize]));
        let mut places = vec![0; rows.len()];
        (0..).zip(&order).for_each(|(at, &row)| places[row as usize] = at);
        rows.sort_unstable();
        let columns = cells.iter().map(|&(cell, _, _)| Column::Cell(cell)).chain([Column::Control(process)]);
        let columns = columns.chain(exposing.iter().map(|&process| Column::Exposed(process))).collect();
        Ok((Member { processes: vec![process], columns, states: StateSet::Rows(rows) }, places))
    }

    fn is_seen(&self, cell: CellId) -> bool {
        let model = self.locals.model;
        !matches!(model.vars[model.cells[cell].var].storage, Storage::Local(_))
    }

    /// How many local states a process has at all stores together.
    pub fn n_states(&self, process: ProcessId) -> u64 {
        let count =
            |store: StoreId| self.at(process, store).iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        (0..self.stores.len()).map(StoreId::new).map(count).sum()
    }
}

/// The position of a value among those of its cell's type.
fn number_of(model: &Model, cell: CellId, value: Value) -> u32 {
    let position = model.cells[cell].ty.position(value, model.type_context());
    position
        .and_then(|position| u32::try_from(position).ok())
        .expect("a cell holds a value of its type, which has a number")
}

/// What is exposed, with at least one block.
fn with_blocks(exposed: &Exposed) -> Exposed {
    let mut exposed = exposed.clone();
    if exposed.blocks.is_empty() {
        exposed.blocks.push(vec![false; exposed.facts.len()]);
    }
    exposed
}
