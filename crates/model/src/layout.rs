//! Where each variable lives: positions of variables in the state and in frames, and the row of cells.
//!
//! In: a Model whose families, procedures, processes and variables (with storage and types) are complete. Out: the same
//! Model with every offset, size and [`Cell`] filled in. Shared variables come first, in the order of `Model::vars`; then
//! process by process, in the order of `Family::vars`. Frames are laid out in the order of `Procedure::vars`.

use base::IdVec;

use crate::Model;
use crate::process::{Process, ProcessId};
use crate::variable::{Cell, Storage, Var, VarId};

impl Model {
    /// Computes `Var::offset`, `Family::n_cells`, `Procedure::n_slots`, `Process::first_cell`, `cells` and
    /// `n_shared_cells` anew. A front-end calls it once, when all else is in place.
    pub fn lay_out(&mut self) {
        let shared: Vec<VarId> =
            self.vars.entries().filter(|(_, var)| var.storage == Storage::Shared).map(|(id, _)| id).collect();
        self.n_shared_cells = place_in_turn(&mut self.vars, &shared);
        for family in self.families.iter_mut() {
            family.n_cells = place_in_turn(&mut self.vars, &family.vars);
        }
        for procedure in self.procedures.iter_mut() {
            procedure.n_slots = place_in_turn(&mut self.vars, &procedure.vars);
        }
        let mut first_cell = self.n_shared_cells;
        for process in self.processes.iter_mut() {
            process.first_cell = first_cell;
            first_cell += self.families[process.family].n_cells;
        }
        let mut cells = IdVec::new();
        for &var in &shared {
            push_cells(&mut cells, var, &self.vars[var], None);
        }
        for (id, process) in self.processes.entries() {
            for &var in &self.families[process.family].vars {
                push_cells(&mut cells, var, &self.vars[var], Some((id, process)));
            }
        }
        self.cells = cells;
    }
}

/// Gives the variables their offsets, one behind the other, and returns how many cells they take together.
fn place_in_turn(vars: &mut IdVec<Var>, ids: &[VarId]) -> usize {
    ids.iter().fold(0, |offset, &id| {
        vars[id].offset = offset;
        offset + vars[id].ty.n_cells()
    })
}

/// Appends the cells of one copy of a variable.
fn push_cells(cells: &mut IdVec<Cell>, id: VarId, var: &Var, owner: Option<(ProcessId, &Process)>) {
    let prefix = owner.map_or_else(String::new, |(_, process)| format!("{}.", process.name));
    for element in element_names(var) {
        let name = format!("{prefix}{element}");
        cells.push(Cell { var: id, owner: owner.map(|(id, _)| id), ty: var.ty.scalar(), name });
    }
}

/// The names of a variable's scalar parts in layout order: the last index varies fastest.
pub fn element_names(var: &Var) -> Vec<String> {
    let mut indices: Vec<Vec<String>> = vec![Vec::new()];
    for len in var.ty.dimensions() {
        let longer = |outer: Vec<String>| {
            (0..len).map(move |index| outer.iter().cloned().chain([index.to_string()]).collect::<Vec<_>>())
        };
        indices = indices.into_iter().flat_map(longer).collect();
    }
    indices.iter().map(|indices| var.element(indices)).collect()
}
