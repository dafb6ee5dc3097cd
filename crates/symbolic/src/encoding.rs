//! Where each part of a state lives in a bit vector.
//!
//! In: a Model and its control points. Out: for each cell, each process's control and each process's exposed block a field
//! of bits, and the sets "this field has this value". The order decides how large diagrams become; ours was never beaten by
//! sifting on these programs: shared cells that belong to no process on top, then per process its control, locals, exposed
//! block, publics, and the shared cells that its index selects (`flag[i]`). Loop counters are part of the control point.
//!
//! A wide cell ([`crate::wide`]) has beside each bit one for its value after a step, and one for a value that a step chooses
//! where some step does; the bits of cells that occur in one expression lie side by side. No set of states depends on these
//! further bits.

use base::IdVec;
use model::Model;
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{CellId, Role};

use crate::bdd::{Bdd, Cube, OutOfNodes, Space};
use crate::number::{BitArithmetic, BitNumber};
use crate::wide::Wide;

/// What a field of bits holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FieldContent {
    /// The content of a cell, as a position among its type's values.
    Cell(CellId),
    /// The control location of a process, as a control point.
    Control(ProcessId),
    /// The block of the local state of a process that the others can see.
    Exposed(ProcessId),
    /// Who goes on with a step that is under way: 0 for nobody, then the processes.
    Turn,
}

/// Some bits, highest first, at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    first_bit: u32,
    n_bits: u32,
    stride: u32,
    /// How many of the bit patterns are values.
    pub n_values: u128,
}

impl BitField {
    /// The field's bits.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        (0..self.n_bits).map(move |at| self.first_bit + at * self.stride)
    }

    /// The literals that say that the field has this value.
    pub fn literals(self, value: u64) -> impl Iterator<Item = (u32, bool)> {
        self.bits().zip(0..).map(move |(bit, at)| (bit, value >> (self.n_bits - 1 - at) & 1 == 1))
    }

    /// The value that a bit vector has here.
    pub fn read(self, vector: &[bool]) -> u64 {
        self.bits().fold(0, |value, bit| value << 1 | u64::from(vector[bit as usize]))
    }

    /// The bits of a wide cell after a step.
    pub fn next_bits(self) -> impl Iterator<Item = u32> {
        self.bits().map(|bit| bit + 1)
    }

    /// The bits of a value that a step chooses for a wide cell.
    fn choice_bits(self) -> impl Iterator<Item = u32> {
        self.bits().map(|bit| bit + 2)
    }
}

/// The values of a cell, by position.
enum CellValues {
    /// Numbers from this one on.
    From(i64),
    /// These.
    Enumerated(Vec<Value>),
}

/// All fields, and the space that they are bits of.
pub struct Encoding {
    /// The nodes.
    pub space: Space,
    /// Which cells are numbers of many bits.
    wide: Wide,
    values: IdVec<CellValues>,
    cells: Vec<Option<BitField>>,
    control: Vec<BitField>,
    exposed: Vec<BitField>,
    turn: BitField,
    /// All parts in the order of their first bits.
    order: Vec<FieldContent>,
}

/// How many values the fields have that are no cells.
#[derive(Clone, Copy, Debug)]
pub struct FieldSizes<'s> {
    /// For each process how many control points it has.
    pub n_points: &'s [usize],
    /// For each process how many blocks it may expose at most.
    pub n_blocks: &'s [usize],
    /// Whether a step can be under way.
    pub has_turns: bool,
}

/// Gives out bits.
struct BitAllocator {
    next_bit: u32,
    /// The bits of which no set of states depends.
    auxiliary: Vec<u32>,
}

impl BitAllocator {
    fn field(&mut self, n_values: u128) -> BitField {
        let n_bits = bits_for(n_values);
        self.next_bit += n_bits;
        BitField { first_bit: self.next_bit - n_bits, n_bits, stride: 1, n_values }
    }

    /// The fields of wide cells that belong together: the lowest bits of all of them, and what comes beside them, are neighbours.
    fn group(&mut self, sizes: &[(u128, bool)]) -> Vec<BitField> {
        let n_levels = sizes.iter().map(|&(n_values, _)| bits_for(n_values)).max().unwrap_or(0);
        let stride = sizes.iter().map(|&(_, is_chosen)| 2 + u32::from(is_chosen)).sum();
        let mut slot = self.next_bit;
        let mut fields = Vec::new();
        for &(n_values, is_chosen) in sizes {
            let n_bits = bits_for(n_values);
            let field = BitField { first_bit: slot + (n_levels - n_bits) * stride, n_bits, stride, n_values };
            self.auxiliary.extend(field.next_bits());
            if is_chosen {
                self.auxiliary.extend(field.choice_bits());
            }
            fields.push(field);
            slot += 2 + u32::from(is_chosen);
        }
        self.next_bit += n_levels * stride;
        fields
    }
}

impl Encoding {
    /// Lays the fields out for a Model in a space of `n_nodes` nodes.
    pub fn new(model: &Model, wide: Wide, sizes: FieldSizes<'_>, n_nodes: usize) -> Self {
        let FieldSizes { n_points, n_blocks, has_turns } = sizes;
        let values = model.cells.iter().map(|cell| match (model.vars[cell.var].role, cell.ty) {
            (Role::Counter(_), _) => CellValues::Enumerated(Vec::new()),
            (_, ScalarType::Range { lo, .. }) => CellValues::From(lo),
            (_, ScalarType::Semaphore { .. }) => CellValues::From(0),
            (_, ty) => CellValues::Enumerated(ty.values(model.type_context()).collect()),
        });
        let n_values = |cell: CellId| model.cells[cell].ty.n_values(model.type_context());
        let mut order = order(model);
        if has_turns {
            order.insert(0, FieldContent::Turn);
        }
        let mut layout = BitAllocator { next_bit: 0, auxiliary: Vec::new() };
        let nothing = BitField { first_bit: 0, n_bits: 0, stride: 1, n_values: 1 };
        let mut cells = vec![None; model.cells.len()];
        let (mut control, mut exposed) = (vec![nothing; n_points.len()], vec![nothing; n_points.len()]);
        let mut turn = nothing;
        for &part in &order {
            match part {
                FieldContent::Cell(cell) if cells[cell.index()].is_some() => {}
                FieldContent::Cell(cell) => match wide.groups.iter().find(|group| group.contains(&cell)) {
                    None => cells[cell.index()] = Some(layout.field(n_values(cell))),
                    Some(group) => {
                        let sizes: Vec<_> =
                            group.iter().map(|&one| (n_values(one), wide.chosen.contains(&one))).collect();
                        for (one, field) in group.iter().zip(layout.group(&sizes)) {
                            cells[one.index()] = Some(field);
                        }
                    }
                },
                FieldContent::Control(process) => {
                    control[process.index()] = layout.field(n_points[process.index()] as u128)
                }
                FieldContent::Exposed(process) => {
                    exposed[process.index()] = layout.field(n_blocks[process.index()] as u128)
                }
                FieldContent::Turn => turn = layout.field(n_points.len() as u128 + 1),
            }
        }
        let space = Space::new(layout.next_bit, n_nodes).with_auxiliary(&layout.auxiliary);
        let values = values.collect();
        let mut encoding = Encoding { space, wide, values, cells, control, exposed, turn, order };
        let mut order = std::mem::take(&mut encoding.order);
        order.sort_by_key(|&part| encoding.field(part).first_bit);
        encoding.order = order;
        encoding
    }

    /// The field of a part.
    ///
    /// # Panics
    /// For a loop counter, which has none.
    pub fn field(&self, part: FieldContent) -> BitField {
        match part {
            FieldContent::Cell(cell) => self.cells[cell.index()].expect("loop counters are part of control points"),
            FieldContent::Control(process) => self.control[process.index()],
            FieldContent::Exposed(process) => self.exposed[process.index()],
            FieldContent::Turn => self.turn,
        }
    }

    /// All parts, in the order of their first bits.
    pub fn parts(&self) -> &[FieldContent] {
        &self.order
    }

    /// Whether states say who goes on with a step that is under way.
    pub fn has_turns(&self) -> bool {
        self.turn.n_values > 1
    }

    /// Whether a cell is a number of so many bits that its values are not enumerated.
    pub fn is_wide(&self, cell: CellId) -> bool {
        self.wide.contains(cell)
    }

    /// Whether a part has bits for its value after a step.
    pub fn is_carried(&self, part: FieldContent) -> bool {
        matches!(part, FieldContent::Cell(cell) if self.is_wide(cell))
    }

    /// The value of a cell at a position.
    pub fn value(&self, cell: CellId, position: u64) -> Value {
        match &self.values.as_slice()[cell.index()] {
            CellValues::From(first) => Value::Int(first.wrapping_add_unsigned(position)),
            CellValues::Enumerated(values) => values[position as usize],
        }
    }

    /// The values of a cell that is not wide, each with its position.
    pub fn values(&self, cell: CellId) -> impl Iterator<Item = (u64, Value)> {
        let n_values = self.field(FieldContent::Cell(cell)).n_values as u64;
        (0..n_values).map(move |position| (position, self.value(cell, position)))
    }

    /// The position of a value of a cell.
    pub fn position(&self, cell: CellId, value: Value) -> Option<u64> {
        match (&self.values.as_slice()[cell.index()], value) {
            (CellValues::From(first), Value::Int(number)) => {
                let position = u64::try_from(i128::from(number) - i128::from(*first)).ok()?;
                (u128::from(position) < self.field(FieldContent::Cell(cell)).n_values).then_some(position)
            }
            (CellValues::From(_), _) => None,
            (CellValues::Enumerated(values), value) => values.iter().position(|&one| one == value).map(|at| at as u64),
        }
    }

    /// The states in which a part has a value.
    pub fn equals(&self, part: FieldContent, value: u64) -> Result<Bdd, OutOfNodes> {
        Ok(self.space.set_of(&self.assignment([(part, value)])?))
    }

    /// The states in which a part has one of the values.
    pub fn one_of(&self, part: FieldContent, values: impl IntoIterator<Item = u64>) -> Result<Bdd, OutOfNodes> {
        values.into_iter().try_fold(self.space.empty(), |union, value| {
            let one = self.equals(part, value)?;
            self.space.or(&union, &one)
        })
    }

    /// The states in which a part has any of its values.
    pub fn any_of(&self, part: FieldContent) -> Result<Bdd, OutOfNodes> {
        let field = self.field(part);
        self.below(field.bits(), field.n_values)
    }

    /// The vectors in which a natural number, its highest bit first, is below a bound.
    fn below(&self, bits: impl Iterator<Item = u32>, bound: u128) -> Result<Bdd, OutOfNodes> {
        let Some(last) = bound.checked_sub(1) else { return Ok(self.space.empty()) };
        let bits: Vec<u32> = bits.collect();
        // From the lowest bit: at most the last number.
        bits.iter().rev().enumerate().try_fold(self.space.all(), |below, (at, &bit)| {
            let low = self.space.set_of(&self.space.cube([(bit, false)])?);
            if last >> at & 1 == 1 { self.space.or(&low, &below) } else { self.space.and(&low, &below) }
        })
    }

    /// The bit vectors in which every field has one of its values; exposed blocks follow from the others and are left free.
    pub fn valid(&self) -> Result<Bdd, OutOfNodes> {
        let parts = self.order.iter().filter(|part| !matches!(part, FieldContent::Exposed(_)));
        // From the bottom up, so that each conjunction only adds nodes on top.
        parts.rev().try_fold(self.space.all(), |valid, &part| self.space.and(&self.any_of(part)?, &valid))
    }

    /// The partial assignment of values to parts.
    pub fn assignment(&self, values: impl IntoIterator<Item = (FieldContent, u64)>) -> Result<Cube, OutOfNodes> {
        self.space.cube(values.into_iter().flat_map(|(part, value)| self.field(part).literals(value)))
    }

    /// The bits of the parts, to quantify over.
    pub fn bits(&self, parts: impl IntoIterator<Item = FieldContent>) -> Result<Cube, OutOfNodes> {
        self.space.bits(parts.into_iter().flat_map(|part| self.field(part).bits()))
    }

    /// The bits of the parts, those after a step included, to hide them.
    pub fn all_bits(&self, parts: impl IntoIterator<Item = FieldContent>) -> Result<Cube, OutOfNodes> {
        self.space.bits(parts.into_iter().flat_map(|part| {
            let field = self.field(part);
            let next = self.is_carried(part).then(|| field.next_bits());
            field.bits().chain(next.into_iter().flatten())
        }))
    }

    /// The bits of the wide cells among the parts after a step, to quantify over.
    pub fn next_bits(&self, parts: impl IntoIterator<Item = FieldContent>) -> Result<Cube, OutOfNodes> {
        let carried = parts.into_iter().filter(|&part| self.is_carried(part));
        self.space.bits(carried.flat_map(|part| self.field(part).next_bits()))
    }

    /// Whether some step gives a wide cell any value: then a state has too many successors to list.
    pub fn has_choices(&self) -> bool {
        !self.wide.chosen.is_empty()
    }

    /// The content of a wide cell.
    pub fn number(&self, cell: CellId) -> Result<BitNumber, OutOfNodes> {
        self.number_of(cell, self.field(FieldContent::Cell(cell)).bits())
    }

    /// Any value of a wide cell for which there is a choice: the value, and the vectors in which it is one.
    pub fn choice(&self, cell: CellId) -> Result<Option<(BitNumber, Bdd)>, OutOfNodes> {
        if !self.wide.chosen.contains(&cell) {
            return Ok(None);
        }
        let field = self.field(FieldContent::Cell(cell));
        Ok(Some((self.number_of(cell, field.choice_bits())?, self.below(field.choice_bits(), field.n_values)?)))
    }

    /// The bits of the choice for a cell, to quantify over.
    pub fn choice_of(&self, cell: CellId) -> Result<Cube, OutOfNodes> {
        self.space.bits(self.field(FieldContent::Cell(cell)).choice_bits())
    }

    /// The bits of all choices, to quantify over; `None` where there are none.
    pub fn choices(&self) -> Result<Option<Cube>, OutOfNodes> {
        let bits: Vec<u32> =
            self.wide.chosen.iter().flat_map(|&cell| self.field(FieldContent::Cell(cell)).choice_bits()).collect();
        if bits.is_empty() { Ok(None) } else { self.space.bits(bits).map(Some) }
    }

    /// The vectors in which a wide cell is this number after a step; the number is one of its values.
    pub fn next_is(&self, cell: CellId, number: &BitNumber) -> Result<Bdd, OutOfNodes> {
        let math = BitArithmetic { space: &self.space };
        let code = math.subtract(number, &math.constant(self.first_of(cell)))?;
        let field = self.field(FieldContent::Cell(cell));
        let next: Vec<u32> = field.next_bits().collect();
        next.iter().rev().enumerate().try_fold(self.space.all(), |all, (at, &bit)| {
            let same = self.space.same(&self.bit(bit)?, code.bit(at))?;
            self.space.and(&same, &all)
        })
    }

    fn number_of(&self, cell: CellId, bits: impl Iterator<Item = u32>) -> Result<BitNumber, OutOfNodes> {
        let math = BitArithmetic { space: &self.space };
        let bits = bits.map(|bit| self.bit(bit)).collect::<Result<Vec<Bdd>, _>>()?;
        math.add(&BitNumber::natural(&self.space, bits), &math.constant(self.first_of(cell)))
    }

    /// The least value of a wide cell.
    fn first_of(&self, cell: CellId) -> i128 {
        match &self.values.as_slice()[cell.index()] {
            CellValues::From(first) => i128::from(*first),
            CellValues::Enumerated(_) => unreachable!("wide cells are numbers"),
        }
    }

    fn bit(&self, bit: u32) -> Result<Bdd, OutOfNodes> {
        Ok(self.space.set_of(&self.space.cube([(bit, true)])?))
    }
}

/// How many bits distinguish this many values.
pub fn bits_for(n_values: u128) -> u32 {
    u128::BITS - n_values.saturating_sub(1).leading_zeros()
}
/// Shared cells of no process, then process by process: control, locals, exposed block, publics, shared cells of its index.
fn order(model: &Model) -> Vec<FieldContent> {
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
    let mut order: Vec<FieldContent> =
        shared.iter().filter(|&&cell| owner_of_shared(cell).is_none()).map(|&cell| FieldContent::Cell(cell)).collect();
    for (process, declared) in model.processes.entries() {
        let own = (declared.first_cell..declared.first_cell + model.families[declared.family].n_cells).map(CellId::new);
        let (publics, locals): (Vec<CellId>, Vec<CellId>) = own.filter(|cell| !is_counter(cell)).partition(|&cell| {
            matches!(model.vars[model.cells[cell].var].storage, model::variable::Storage::Public(_))
        });
        order.push(FieldContent::Control(process));
        order.extend(locals.into_iter().map(FieldContent::Cell));
        order.push(FieldContent::Exposed(process));
        order.extend(publics.into_iter().map(FieldContent::Cell));
        let mine = shared.iter().filter(|&&cell| owner_of_shared(cell) == Some(process));
        order.extend(mine.map(|&cell| FieldContent::Cell(cell)));
    }
    order
}
