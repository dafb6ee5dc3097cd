//! What the numbers in view states mean: values of cells, control points, exposed blocks.
//!
//! In: a Model and a split invariant as the proof has it. Out: both directions of the numbering, or what is wrong with the
//! control points and blocks, in words. A value is numbered by its position among its type's values.

use std::collections::HashMap;

use base::Id;
use evidence::certificate::{Column, ControlPoint, Exposed, LocalFact, SplitInvariant};
use model::Model;
use model::control::{PlaceId, TextOwner};
use model::eval::State;
use model::print;
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role, Storage};

/// The numbering of one split invariant.
pub(super) struct Numbering<'a> {
    /// The program.
    pub model: &'a Model,
    locals: Vec<Local<'a>>,
}

/// The local states of one process.
struct Local<'a> {
    /// The cells of its loop counters, which are part of control.
    counters: Vec<CellId>,
    /// Its other cells.
    own_cells: Vec<CellId>,
    points: &'a [ControlPoint],
    /// The number of each point: its place, and its counters in the order of `counters`.
    point_numbers: HashMap<(PlaceId, Vec<Value>), u32>,
    facts: &'a [LocalFact],
    blocks: Vec<Vec<bool>>,
    block_numbers: HashMap<Vec<bool>, u32>,
}

impl<'a> Numbering<'a> {
    /// The numbering that the invariant declares, if it fits the program.
    pub fn new(model: &'a Model, claimed: &'a SplitInvariant) -> Result<Self, String> {
        let n_processes = model.processes.len();
        for (what, found) in [("control points", claimed.points.len()), ("exposed facts", claimed.exposed.len())] {
            if found != n_processes {
                return Err(format!("it gives {what} of {found} processes; the program has {n_processes}"));
            }
        }
        let lists = claimed.points.iter().zip(&claimed.exposed);
        let locals = model.processes.ids().zip(lists).map(|(process, (points, exposed))| {
            Local::new(model, process, points, exposed).map_err(|what| format!("{}: {what}", name(model, process)))
        });
        Ok(Numbering { model, locals: locals.collect::<Result<_, _>>()? })
    }

    /// How many numbers a column has.
    pub fn n_values(&self, column: Column) -> u128 {
        match column {
            Column::Cell(cell) => self.model.cells[cell].ty.n_values(self.model.type_context()),
            Column::Control(process) => self.local(process).points.len() as u128,
            Column::Exposed(process) => self.local(process).blocks.len() as u128,
        }
    }

    /// The cells of a process that are not part of its control.
    pub fn own_cells(&self, process: ProcessId) -> &[CellId] {
        &self.local(process).own_cells
    }

    /// The cells that others than their owners can see.
    pub fn visible_cells(&self) -> impl Iterator<Item = CellId> {
        let is_visible = |cell: &CellId| {
            let var = &self.model.vars[self.model.cells[*cell].var];
            matches!(var.storage, Storage::Shared | Storage::Public(_)) && !matches!(var.role, Role::Counter(_))
        };
        self.model.cells.ids().filter(is_visible)
    }

    /// The control points of a process.
    pub fn points(&self, process: ProcessId) -> &'a [ControlPoint] {
        self.local(process).points
    }

    /// What is exposed of a process.
    pub fn facts(&self, process: ProcessId) -> &'a [LocalFact] {
        self.local(process).facts
    }

    /// Which of the facts hold in a block.
    pub fn block(&self, process: ProcessId, number: u32) -> &[bool] {
        &self.local(process).blocks[number as usize]
    }

    /// Whether others can distinguish local states of the process.
    pub fn is_exposed(&self, process: ProcessId) -> bool {
        !self.local(process).facts.is_empty()
    }

    /// The number of the control point of a process, if it has one.
    pub fn point_of(&self, process: ProcessId, state: &State) -> Option<u32> {
        self.point_at(process, state.place(process), |counter| state.cells[counter.index()])
    }

    /// The number of a place with these values of the process's counters, if it has one.
    pub fn point_at(&self, process: ProcessId, place: PlaceId, counter: impl Fn(CellId) -> Value) -> Option<u32> {
        let local = self.local(process);
        let counters = local.counters.iter().map(|&cell| counter(cell)).collect();
        local.point_numbers.get(&(place, counters)).copied()
    }

    /// The number of the block with these facts, if there is one.
    pub fn block_of(&self, process: ProcessId, facts: &[bool]) -> Option<u32> {
        self.local(process).block_numbers.get(facts).copied()
    }

    /// The block of a local state, which is a control point and the numbers of the process's own cells.
    pub fn block_at(&self, process: ProcessId, point: u32, number: impl Fn(CellId) -> u32) -> Option<u32> {
        let holds = |fact: &LocalFact| match fact {
            LocalFact::Control(points) => points.contains(&(point as usize)),
            LocalFact::Cell(cell, value) => match self.counter_at(process, point, *cell) {
                Some(counter) => counter == *value,
                None => self.value_of(*cell, number(*cell)) == *value,
            },
            LocalFact::OneOf(_) => unreachable!("a plain fact is none of several"),
        };
        let facts: Vec<bool> = self.facts(process).iter().map(|fact| fact.holds(&holds)).collect();
        self.block_of(process, &facts)
    }

    /// The value that a counter has at a point; `None` for cells that are no counters of the process.
    pub fn counter_at(&self, process: ProcessId, point: u32, cell: CellId) -> Option<Value> {
        let point = &self.local(process).points[point as usize];
        point.counters.iter().find(|(counter, _)| *counter == cell).map(|(_, value)| *value)
    }

    /// The value with this number.
    pub fn value_of(&self, cell: CellId, number: impl Into<u64>) -> Value {
        value_of(self.model, cell, number)
    }

    /// The number of a value of the cell's type.
    ///
    /// # Panics
    /// For a number of more than 32 bits: columns that have some are not explicit.
    pub fn number_of(&self, cell: CellId, value: Value) -> u32 {
        number_of(self.model, cell, value)
    }

    /// The same for columns of any width.
    pub fn wide_number_of(&self, cell: CellId, value: Value) -> u64 {
        wide_number_of(self.model, cell, value)
    }

    fn local(&self, process: ProcessId) -> &Local<'a> {
        &self.locals[process.index()]
    }
}

impl<'a> Local<'a> {
    fn new(
        model: &Model,
        process: ProcessId,
        points: &'a [ControlPoint],
        exposed: &'a Exposed,
    ) -> Result<Self, String> {
        let family = &model.families[model.processes[process].family];
        let cells = family.vars.iter().flat_map(|&var| model.cells_of(var, Some(process)));
        let is_counter = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].role, Role::Counter(_));
        let (counters, own_cells): (Vec<CellId>, Vec<CellId>) = cells.partition(is_counter);
        let mut point_numbers = HashMap::new();
        for (number, point) in points.iter().enumerate() {
            let key = point_key(model, process, &counters, point)?;
            if point_numbers.insert(key, number as u32).is_some() {
                return Err(format!("control point {number} is listed twice"));
            }
        }
        let blocks = checked_blocks(model, process, points.len(), exposed)?;
        let block_numbers = blocks.iter().cloned().zip(0..).collect();
        Ok(Local { counters, own_cells, points, point_numbers, facts: &exposed.facts, blocks, block_numbers })
    }
}

fn point_key(
    model: &Model,
    process: ProcessId,
    counters: &[CellId],
    point: &ControlPoint,
) -> Result<(PlaceId, Vec<Value>), String> {
    let scope = TextOwner::Family(model.processes[process].family);
    if model.places.get(point.place).is_none_or(|place| place.scope != scope) {
        return Err(format!("place number {} is not in its text", point.place.index()));
    }
    if point.counters.len() != counters.len() {
        return Err(format!("a control point gives {} counters of {}", point.counters.len(), counters.len()));
    }
    let value_at = |cell: &CellId| {
        let found = point.counters.iter().find(|(counter, _)| counter == cell);
        let &(_, value) = found.ok_or_else(|| format!("a control point leaves `{}` out", model.cells[*cell].name))?;
        check_value(model, *cell, value)?;
        Ok(value)
    };
    Ok((point.place, counters.iter().map(value_at).collect::<Result<_, String>>()?))
}

fn checked_blocks(
    model: &Model,
    process: ProcessId,
    n_points: usize,
    exposed: &Exposed,
) -> Result<Vec<Vec<bool>>, String> {
    for fact in exposed.facts.iter().flat_map(LocalFact::plain) {
        match fact {
            LocalFact::Control(points) => {
                if let Some(point) = points.iter().find(|&&point| point >= n_points) {
                    return Err(format!("an exposed fact names control point {point} of {n_points}"));
                }
            }
            LocalFact::Cell(cell, value) => {
                if model.cells.get(*cell).is_none_or(|cell| cell.owner != Some(process)) {
                    return Err(format!("an exposed fact names cell number {}, which is not its own", cell.index()));
                }
                check_value(model, *cell, *value)?;
            }
            LocalFact::OneOf(_) => unreachable!("a plain fact is none of several"),
        }
    }
    if exposed.facts.is_empty() && exposed.blocks.is_empty() {
        return Ok(vec![Vec::new()]);
    }
    for (number, block) in exposed.blocks.iter().enumerate() {
        if block.len() != exposed.facts.len() {
            let facts = exposed.facts.len();
            return Err(format!("exposed block {number} tells of {} facts where there are {facts}", block.len()));
        }
        if exposed.blocks[..number].contains(block) {
            return Err(format!("exposed block {number} is listed twice: the blocks are no partition"));
        }
    }
    Ok(exposed.blocks.clone())
}

fn check_value(model: &Model, cell: CellId, value: Value) -> Result<(), String> {
    let Some(cell) = model.cells.get(cell) else { return Err(format!("there is no cell number {}", cell.index())) };
    let known = match value {
        Value::Enum(id, at) => model.enums.get(id).is_some_and(|one| (at as usize) < one.values.len()),
        Value::Process(id) => model.processes.get(id).is_some(),
        Value::Bool(_) | Value::Int(_) | Value::None => true,
    };
    if !known {
        return Err(format!("`{}` cannot have a value that the program does not have", cell.name));
    }
    if !cell.ty.contains(value, model.type_context()) {
        return Err(format!("`{}` cannot be {}", cell.name, print::value(model, value)));
    }
    Ok(())
}

/// The value of a cell's type with this number.
pub(super) fn value_of(model: &Model, cell: CellId, number: impl Into<u64>) -> Value {
    let number: u64 = number.into();
    let member = |family, offset| {
        let first: ProcessId = model.families[family].first;
        Value::Process(ProcessId::new(first.index() + offset as usize))
    };
    match model.cells[cell].ty {
        ScalarType::Bool => Value::Bool(number != 0),
        ScalarType::Range { lo, .. } => Value::Int(lo.wrapping_add_unsigned(number)),
        ScalarType::Semaphore { .. } => Value::Int(number as i64),
        ScalarType::Enum(id) => Value::Enum(id, number as u32),
        ScalarType::Pid(family) => member(family, number),
        ScalarType::PidOrNone(_) | ScalarType::Lock if number == 0 => Value::None,
        ScalarType::PidOrNone(family) => member(family, number - 1),
        ScalarType::Lock => Value::Process(Id::new(number as usize - 1)),
    }
}

/// The number of a value of a cell's type.
pub(super) fn number_of(model: &Model, cell: CellId, value: Value) -> u32 {
    let number = wide_number_of(model, cell, value);
    u32::try_from(number).expect("columns with more than 2^32 values are not listed")
}

/// The number of a value of a cell's type, however many there are.
pub(super) fn wide_number_of(model: &Model, cell: CellId, value: Value) -> u64 {
    let offset = |family, id: ProcessId| id.index() as i64 - model.families[family].first.index() as i64;
    let number: i64 = match (model.cells[cell].ty, value) {
        (ScalarType::Bool, Value::Bool(truth)) => i64::from(truth),
        (ScalarType::Range { lo, .. }, Value::Int(number)) => return number.wrapping_sub(lo) as u64,
        (ScalarType::Semaphore { .. }, Value::Int(number)) => number,
        (ScalarType::Enum(_), Value::Enum(_, at)) => i64::from(at),
        (ScalarType::PidOrNone(_) | ScalarType::Lock, Value::None) => 0,
        (ScalarType::Pid(family), Value::Process(id)) => offset(family, id),
        (ScalarType::PidOrNone(family), Value::Process(id)) => offset(family, id) + 1,
        (ScalarType::Lock, Value::Process(id)) => id.index() as i64 + 1,
        (ty, value) => unreachable!("`eval` keeps values within their types: {value:?} in {ty:?}"),
    };
    u64::try_from(number).expect("positions are not negative")
}

/// The name of a process as the user writes it.
pub(super) fn name(model: &Model, process: ProcessId) -> &str {
    &model.processes[process].name
}
