//! Where each part of a state lives in a bit vector.
//!
//! In: a Model and its control points. Out: for each cell, each process's control and each process's exposed block a field
//! of bits, and the sets "this field has this value". The order decides how large diagrams become; ours was never beaten by
//! sifting on these programs: shared cells that belong to nobody on top, then per process its control, locals, exposed
//! block, publics, and the shared cells that its index selects (`flag[i]`). Loop counters are part of the control point.

use base::IdVec;
use model::Model;
use model::process::ProcessId;
use model::types::Type;
use model::value::Value;
use model::variable::{CellId, Role};

use crate::bdd::{Bdd, Cube, OutOfNodes, Space};

/// What a field of bits holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The content of a cell, as a position among its type's values.
    Cell(CellId),
    /// Where a process stands, as a control point.
    Control(ProcessId),
    /// The block of the local state of a process that the others can see.
    Exposed(ProcessId),
}

/// A run of bits, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    first_bit: u32,
    n_bits: u32,
    /// How many of the bit patterns are values.
    pub n_values: usize,
}

impl Field {
    /// The field's bits.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        self.first_bit..self.first_bit + self.n_bits
    }

    /// The literals that say that the field has this value.
    pub fn literals(self, value: usize) -> impl Iterator<Item = (u32, bool)> {
        (0..self.n_bits).map(move |at| (self.first_bit + at, value >> (self.n_bits - 1 - at) & 1 == 1))
    }

    /// The value that a bit vector has here.
    pub fn read(self, vector: &[bool]) -> usize {
        self.bits().fold(0, |value, bit| value << 1 | usize::from(vector[bit as usize]))
    }
}

/// All fields, and the space that they are bits of.
pub struct Encoding {
    /// The nodes.
    pub space: Space,
    /// The values of each cell, in the order of their positions; empty for loop counters.
    values: IdVec<Vec<Value>>,
    cells: Vec<Option<Field>>,
    control: Vec<Field>,
    exposed: Vec<Field>,
    /// All parts in the order of their bits.
    order: Vec<Part>,
}

impl Encoding {
    /// Lays the fields out for a Model whose processes have `n_points` control points each, with at most
    /// `n_blocks` exposed blocks each, in a space of `n_nodes` nodes.
    pub fn new(model: &Model, n_points: &[usize], n_blocks: &[usize], n_nodes: usize) -> Self {
        let values: IdVec<Vec<Value>> = (model.cells.iter())
            .map(|cell| match model.vars[cell.var].role {
                Role::Counter(_) => Vec::new(),
                _ => cell.ty.values(model.type_context()).collect(),
            })
            .collect();
        let order = order(model);
        let mut next_bit = 0;
        let mut field = |n_values: usize| {
            let n_bits = bits_for(n_values);
            next_bit += n_bits;
            Field { first_bit: next_bit - n_bits, n_bits, n_values }
        };
        let nothing = Field { first_bit: 0, n_bits: 0, n_values: 1 };
        let mut cells = vec![None; model.cells.len()];
        let (mut control, mut exposed) = (vec![nothing; n_points.len()], vec![nothing; n_points.len()]);
        for &part in &order {
            match part {
                Part::Cell(cell) => cells[cell.index()] = Some(field(values.as_slice()[cell.index()].len())),
                Part::Control(process) => control[process.index()] = field(n_points[process.index()]),
                Part::Exposed(process) => exposed[process.index()] = field(n_blocks[process.index()]),
            }
        }
        Encoding { space: Space::new(next_bit, n_nodes), values, cells, control, exposed, order }
    }

    /// The field of a part.
    ///
    /// # Panics
    /// For a loop counter, which has none.
    pub fn field(&self, part: Part) -> Field {
        match part {
            Part::Cell(cell) => self.cells[cell.index()].expect("loop counters are part of control points"),
            Part::Control(process) => self.control[process.index()],
            Part::Exposed(process) => self.exposed[process.index()],
        }
    }

    /// All parts, in the order of their bits.
    pub fn parts(&self) -> &[Part] {
        &self.order
    }

    /// The values of a cell, in the order of their positions.
    pub fn values(&self, cell: CellId) -> &[Value] {
        &self.values.as_slice()[cell.index()]
    }

    /// The position of a value of a cell.
    pub fn position(&self, cell: CellId, value: Value) -> Option<usize> {
        self.values(cell).binary_search(&value).ok().or_else(|| self.values(cell).iter().position(|&v| v == value))
    }

    /// The states in which a part has a value.
    pub fn equals(&self, part: Part, value: usize) -> Result<Bdd, OutOfNodes> {
        Ok(self.space.set_of(&self.assignment([(part, value)])?))
    }

    /// The states in which a part has one of the values.
    pub fn one_of(&self, part: Part, values: impl IntoIterator<Item = usize>) -> Result<Bdd, OutOfNodes> {
        values.into_iter().try_fold(self.space.empty(), |union, value| {
            let one = self.equals(part, value)?;
            self.space.or(&union, &one)
        })
    }

    /// The bit vectors in which every field has one of its values; exposed blocks follow from the others and are left free.
    pub fn valid(&self) -> Result<Bdd, OutOfNodes> {
        let parts = self.order.iter().filter(|part| !matches!(part, Part::Exposed(_)));
        // From the bottom up, so that each conjunction only adds nodes on top.
        parts.rev().try_fold(self.space.all(), |valid, &part| {
            let field = self.field(part);
            let values = self.one_of(part, 0..field.n_values)?;
            self.space.and(&values, &valid)
        })
    }

    /// The partial assignment of values to parts.
    pub fn assignment(&self, values: impl IntoIterator<Item = (Part, usize)>) -> Result<Cube, OutOfNodes> {
        self.space.cube(values.into_iter().flat_map(|(part, value)| self.field(part).literals(value)))
    }

    /// The bits of the parts, to quantify over.
    pub fn bits(&self, parts: impl IntoIterator<Item = Part>) -> Result<Cube, OutOfNodes> {
        self.space.bits(parts.into_iter().flat_map(|part| self.field(part).bits()))
    }
}

/// How many bits tell this many values apart.
pub fn bits_for(n_values: usize) -> u32 {
    usize::BITS - n_values.saturating_sub(1).leading_zeros()
}

/// Shared cells of nobody, then process by process: control, locals, exposed block, publics, shared cells of its index.
fn order(model: &Model) -> Vec<Part> {
    let is_counter = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].role, Role::Counter(_));
    let owner_of_shared = |cell: CellId| -> Option<ProcessId> {
        let var = &model.vars[model.cells[cell].var];
        let Type::Array { len, element } = &var.ty else { return None };
        let index = (cell.index() - var.offset) / element.n_cells();
        let family = model.families.iter().find(|family| {
            family.index.as_ref().is_some_and(|range| range.first == 0 && range.count == *len && *len > 1)
        })?;
        family.process_at(index as i64)
    };
    let shared: Vec<CellId> = (0..model.n_shared_cells).map(CellId::new).collect();
    let mut order: Vec<Part> =
        shared.iter().filter(|&&cell| owner_of_shared(cell).is_none()).map(|&cell| Part::Cell(cell)).collect();
    for (process, declared) in model.processes.entries() {
        let own = (declared.first_cell..declared.first_cell + model.families[declared.family].n_cells).map(CellId::new);
        let (publics, locals): (Vec<CellId>, Vec<CellId>) = own.filter(|cell| !is_counter(cell)).partition(|&cell| {
            matches!(model.vars[model.cells[cell].var].storage, model::variable::Storage::Public(_))
        });
        order.push(Part::Control(process));
        order.extend(locals.into_iter().map(Part::Cell));
        order.push(Part::Exposed(process));
        order.extend(publics.into_iter().map(Part::Cell));
        let mine = shared.iter().filter(|&&cell| owner_of_shared(cell) == Some(process));
        order.extend(mine.map(|&cell| Part::Cell(cell)));
    }
    order
}
