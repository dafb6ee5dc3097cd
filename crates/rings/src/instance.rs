//! One size of a ring: the position of everything, and what windows of it see.
//!
//! In: the program at some size. Out: for each cell its place in the ring, for each process what it touches, and window states read from and
//! written into whole states. What a window does not see has some value, on which nothing that its processes do depends. Of a shared cell that names a process
//! windows see for each near process whether it is the one, as if there were an array of such facts.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use evidence::rings::{Network, RingItem, RingValue};
use model::Model;
use model::eval::{Control, State, initial_states};
use model::footprint;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, VarId};

use crate::heap;

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Where a process is.
    Control(ProcessId),
    /// A cell.
    Cell(CellId),
    /// Whether a shared cell names the process at this position.
    Named(CellId, usize),
}

/// The position of a cell in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// It is a process's own.
    Own(usize, usize),
    /// It is an element for a process.
    Element(VarId, usize, usize),
    /// It is shared by all.
    Shared(VarId, usize),
    /// It is shared by all, and names one process: windows see of which near ones that is so.
    Naming(VarId),
}

/// What there is of the state besides processes, and how it belongs to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement<'r> {
    /// How processes stand to each other.
    pub network: Network,
    /// Arrays with elements for processes, with the dimension that processes index.
    pub rows: &'r [(VarId, usize)],
    /// Shared cells that name a process at a fixed distance from whoever looks at them.
    pub naming: &'r BTreeSet<VarId>,
    /// The distances at which a process sees whether such a cell names somebody.
    pub reach: RangeInclusive<i64>,
}

/// The program at one size.
#[derive(Debug)]
pub struct Instance {
    /// The program.
    pub model: Model,
    /// How many processes there are.
    pub size: usize,
    network: Network,
    /// Some state.
    base: State,
    homes: Vec<Home>,
    touched: Vec<BTreeSet<Part>>,
}

/// A window, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighted {
    /// What it sees, ascending.
    pub items: Vec<RingItem>,
    /// The same as parts of the state.
    pub parts: Vec<Part>,
}

/// The position of a window, and the greatest distance to the left at which something is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPosition {
    /// Its first process.
    pub at: usize,
    /// How far to the left of it things are named.
    pub span: i64,
}

impl Instance {
    /// The program at one size.
    pub fn new(model: Model, arrangement: &Arrangement<'_>) -> Option<Instance> {
        let base = initial_states(&model).next()?;
        let (size, network) = (model.processes.len(), arrangement.network);
        let homes = model.cells.ids().map(|cell| home(&model, arrangement, cell)).collect::<Option<Vec<Home>>>()?;
        let shared: Vec<Part> = { model.cells.ids() }
            .filter(|cell| matches!(homes[cell.index()], Home::Shared(..)))
            .map(Part::Cell)
            .collect();
        let touched = model.processes.ids().map(|process| {
            let first = model.processes[process].first_cell;
            let own = first..first + model.families[model.processes[process].family].n_cells;
            let seen = footprint::view(&model, process).into_iter().chain(own.map(CellId::new)).map(Part::Cell);
            let seen = seen.chain(shared.iter().copied()).chain([Part::Control(process)]);
            let named = |part: Part| match part {
                Part::Cell(cell) if matches!(homes[cell.index()], Home::Naming(_)) => {
                    let position = |distance: i64| (process.index() as i64 + distance).rem_euclid(size as i64) as usize;
                    arrangement.reach.clone().map(|distance| Part::Named(cell, position(distance))).collect()
                }
                part => vec![part],
            };
            // Also where a process does not look at it, its windows do: all see the same of it.
            let naming = model.cells.ids().filter(|cell| matches!(homes[cell.index()], Home::Naming(_)));
            seen.chain(naming.map(Part::Cell)).flat_map(named).collect()
        });
        let mut touched: Vec<BTreeSet<Part>> = touched.collect();
        if network == Network::Tree {
            // Any other process that sees it is beside this one.
            for cell in model.cells.ids() {
                if let Home::Element(_, of, _) = homes[cell.index()] {
                    touched.get_mut(of)?.insert(Part::Cell(cell));
                }
            }
            // Text that a process cannot come to names others that there are not, and may seem to touch any process; those that do touch it are found by steps.
            for (at, touched) in touched.iter_mut().enumerate() {
                touched.retain(|part| match part {
                    Part::Cell(cell) => match homes[cell.index()] {
                        Home::Own(of, _) | Home::Element(_, of, _) => {
                            of == at || heap::ADJACENT.contains(&heap::name(at, of))
                        }
                        Home::Shared(..) | Home::Naming(_) => true,
                    },
                    Part::Control(_) | Part::Named(..) => true,
                });
            }
        }
        Some(Instance { size, network, base, homes, touched, model })
    }

    /// The distance of a position from that of a window.
    fn distance(&self, position: usize, stand: WindowPosition) -> i64 {
        if self.network == Network::Tree {
            return heap::name(stand.at, position);
        }
        let from = position as i64 - stand.at as i64 + stand.span;
        from.rem_euclid(self.size as i64) - stand.span
    }

    /// The process at a distance from another one, if there is one.
    pub fn beside(&self, at: usize, distance: i64) -> Option<usize> {
        match self.network {
            Network::Line => Some((at as i64 + distance).rem_euclid(self.size as i64) as usize),
            Network::Tree => heap::named(at, distance).filter(|&other| other < self.size),
        }
    }

    /// How a window names a part of the state.
    pub fn item(&self, part: Part, stand: WindowPosition) -> RingItem {
        match part {
            Part::Control(process) => RingItem::Control(self.distance(process.index(), stand)),
            Part::Cell(cell) => match self.homes[cell.index()] {
                Home::Own(of, at) => RingItem::Own(self.distance(of, stand), at),
                Home::Element(var, of, at) => RingItem::Element(var, self.distance(of, stand), at),
                Home::Shared(var, at) => RingItem::Shared(var, at),
                Home::Naming(var) => RingItem::Shared(var, 0),
            },
            Part::Named(cell, position) => {
                RingItem::Element(self.model.cells[cell].var, self.distance(position, stand), 0)
            }
        }
    }

    /// Whether a cell names one process, so that windows see of which near ones that is so.
    pub fn is_naming(&self, cell: CellId) -> bool {
        matches!(self.homes[cell.index()], Home::Naming(_))
    }

    /// Whether a process sees all that its step looks at and changes: of what a cell names, both who was named and who is then.
    pub fn stays_within(&self, process: usize, cells: &BTreeSet<CellId>) -> bool {
        let touched = self.touched(process);
        let sees = |cell: CellId| self.is_naming(cell) || touched.contains(&Part::Cell(cell));
        cells.iter().all(|&cell| sees(cell))
    }

    /// Whether a step of a process leaves each cell that names a process as it is, or changes it from one whom the process sees to another such one.
    pub fn passes_on(&self, process: usize, before: &State, after: &State) -> bool {
        let touched = self.touched(process);
        self.model.cells.ids().filter(|&cell| self.is_naming(cell)).all(|cell| {
            let (old, new) = (before.cells[cell.index()], after.cells[cell.index()]);
            let sees =
                |value: Value| matches!(value, Value::Process(id) if touched.contains(&Part::Named(cell, id.index())));
            old == new || sees(old) && sees(new)
        })
    }

    /// What a process touches.
    pub fn touched(&self, process: usize) -> &BTreeSet<Part> {
        &self.touched[process % self.size]
    }

    /// The window of so many processes.
    pub fn window(&self, width: usize, stand: WindowPosition) -> Sighted {
        let parts: BTreeSet<Part> = (0..width).flat_map(|at| self.touched(stand.at + at)).copied().collect();
        let mut seen: Vec<(RingItem, Part)> = parts.into_iter().map(|part| (self.item(part, stand), part)).collect();
        seen.sort();
        Sighted { items: seen.iter().map(|one| one.0).collect(), parts: seen.iter().map(|one| one.1).collect() }
    }

    /// The values of parts of a state, as a window names them.
    pub fn read(&self, state: &State, parts: &[Part], stand: WindowPosition) -> Vec<RingValue> {
        let value = |part: &Part| match *part {
            Part::Control(process) => RingValue::Place(state.place(process)),
            Part::Cell(cell) => match state.cells[cell.index()] {
                Value::Process(id) => RingValue::Neighbour(self.distance(id.index(), stand)),
                value => RingValue::Value(value),
            },
            Part::Named(cell, position) => {
                let named = state.cells[cell.index()] == Value::Process(ProcessId::new(position));
                RingValue::Value(Value::Bool(named))
            }
        };
        parts.iter().map(value).collect()
    }

    /// A state with these values, and some others for what the window does not see.
    pub fn filled(&self, parts: &[Part], values: &[RingValue], stand: WindowPosition) -> State {
        let mut state = self.base.clone();
        self.fill(&mut state, (parts, values), stand);
        state
    }

    /// Writes values into a state.
    pub fn fill(&self, state: &mut State, (parts, values): (&[Part], &[RingValue]), stand: WindowPosition) {
        for (part, value) in parts.iter().zip(values) {
            match (*part, *value) {
                (Part::Control(process), RingValue::Place(place)) => {
                    if let Some(frame) = state.stacks[process.index()].last_mut() {
                        frame.control = Control::At(place);
                    }
                }
                (Part::Cell(cell), RingValue::Value(value)) => state.cells[cell.index()] = value,
                (Part::Cell(cell), RingValue::Neighbour(at)) => {
                    if let Some(process) = self.beside(stand.at, at) {
                        state.cells[cell.index()] = Value::Process(ProcessId::new(process));
                    }
                }
                (Part::Control(_), _) | (Part::Cell(_), RingValue::Place(_)) | (Part::Named(..), _) => {}
            }
        }
        for cell in self.model.cells.ids().filter(|&cell| self.is_naming(cell)) {
            let seen = parts.iter().zip(values).filter_map(|(part, value)| match part {
                Part::Named(of, position) if *of == cell => Some((*position, *value)),
                _ => None,
            });
            let seen: Vec<(usize, RingValue)> = seen.collect();
            let named = seen.iter().find(|(_, value)| *value == RingValue::Value(Value::Bool(true)));
            // Somebody whom the window does not see: all that its processes can find out is that it is none of those.
            let other = || (0..self.size).find(|position| seen.iter().all(|(known, _)| known != position));
            if let Some(position) = named.map(|(position, _)| *position).or_else(other) {
                state.cells[cell.index()] = Value::Process(ProcessId::new(position));
            }
        }
    }

    /// The state with which everything starts; cells that start anywhere have their first value.
    pub fn first(&self) -> &State {
        &self.base
    }
}

fn home(model: &Model, arrangement: &Arrangement<'_>, cell: CellId) -> Option<Home> {
    let declared = &model.cells[cell];
    if let Some(owner) = declared.owner {
        return Some(Home::Own(owner.index(), cell.index() - model.processes[owner].first_cell));
    }
    let var = &model.vars[declared.var];
    let at = cell.index() - var.offset;
    if arrangement.naming.contains(&declared.var) {
        return Some(Home::Naming(declared.var));
    }
    let Some((_, dimension)) = arrangement.rows.iter().find(|(row, _)| *row == declared.var) else {
        return Some(Home::Shared(declared.var, at));
    };
    let dimensions = var.ty.dimensions();
    let inner: usize = dimensions[dimension + 1..].iter().product();
    let length = *dimensions.get(*dimension)?;
    let position = at / inner % length;
    Some(Home::Element(declared.var, position, at / (inner * length) * inner + at % inner))
}
