//! Cells of a process, elements of arrays for a process, and shared cells, as sentences name them.

use model::Model;
use model::process::{FamilyId, ProcessId};
use model::symmetry::process_dimensions;
use model::types::ScalarType;
use model::variable::{CellId, Role, VarId, VariableLook};

use super::super::formula::{CellTerm, IndexName, NamedProcess};
use super::Shown;

/// Names of cells, for a family.
pub(in super::super) struct CellNames<'a> {
    pub model: &'a Model,
    pub family: FamilyId,
}

impl CellNames<'_> {
    /// One of a process's own cells, by its position among them; `None` where sentences do not speak of it.
    pub fn own(&self, at: usize, who: NamedProcess) -> Option<Shown> {
        let vars = &self.model.families[self.family].vars;
        let var = *vars.iter().find(|&&var| {
            let declared = &self.model.vars[var];
            (declared.offset..declared.offset + declared.ty.n_cells()).contains(&at)
        })?;
        self.shown(var, Some(who), &self.indices(var, at - self.model.vars[var].offset))
    }

    /// A shared cell, or a cell of a process of another family.
    pub fn cell(&self, cell: CellId) -> Option<Shown> {
        let declared = self.model.cells.as_slice().get(cell.index())?;
        let first = self.model.cells_of(declared.var, declared.owner).next()?;
        let indices = self.indices(declared.var, cell.index() - first.index());
        self.shown(declared.var, declared.owner.map(NamedProcess::Process), &indices)
    }

    /// The same by the position in its variable.
    pub fn shared(&self, var: VarId, at: usize) -> Option<Shown> {
        self.shown(var, None, &self.indices(var, at))
    }

    /// An element that an array has for a process, by its position among those.
    pub fn element(&self, var: VarId, owner: Option<ProcessId>, at: usize, who: NamedProcess) -> Option<Shown> {
        let dimension = self.process_dimension(var)?;
        let lens = self.model.vars[var].ty.dimensions();
        let inner: usize = lens[dimension + 1..].iter().product();
        let length = *lens.get(dimension)?;
        let mut indices = self.indices(var, at / inner.max(1) * length * inner + at % inner.max(1));
        *indices.get_mut(dimension)? = IndexName::Of(who);
        self.shown(var, owner.map(NamedProcess::Process), &indices)
    }

    /// The dimension of an array that processes of the family index.
    fn process_dimension(&self, var: VarId) -> Option<usize> {
        let indexed = process_dimensions(self.model, self.family);
        let by_process = indexed.iter().filter(|(of, _)| *of == var).map(|(_, dimension)| *dimension);
        let lens = self.model.vars[var].ty.dimensions();
        let count = self.model.families[self.family].count();
        let as_long = (0..lens.len())
            .filter(|&dimension| self.model.forms.lengths.contains_key(&(var, dimension)) && lens[dimension] == count);
        let mut found: Vec<usize> = by_process.chain(as_long).collect();
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [only] => Some(only),
            [] => lens.iter().position(|len| *len == count),
            _ => None,
        }
    }

    fn indices(&self, var: VarId, mut offset: usize) -> Vec<IndexName> {
        let lens = self.model.vars[var].ty.dimensions();
        let mut indices: Vec<IndexName> = Vec::new();
        for len in lens.iter().rev() {
            indices.push(IndexName::Number(offset % len.max(&1)));
            offset /= len.max(&1);
        }
        indices.reverse();
        indices
    }

    fn shown(&self, var: VarId, owner: Option<NamedProcess>, indices: &[IndexName]) -> Option<Shown> {
        let declared = &self.model.vars[var];
        // A loop's counter is part of where control is; numbers of elements that encode processes are no names.
        let is_spoken = declared.look != VariableLook::Hidden && declared.role == Role::Declared;
        let is_process = |(dimension, index): (usize, &IndexName)| {
            matches!(index, IndexName::Number(_))
                && process_dimensions(self.model, self.family).contains(&(var, dimension))
        };
        if !is_spoken || indices.iter().enumerate().any(is_process) {
            return None;
        }
        let ty: ScalarType = declared.ty.scalar();
        Some(Shown::Cell(CellTerm { var, owner, indices: indices.to_vec() }, ty))
    }
}
