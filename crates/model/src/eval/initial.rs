//! Initial states, one after the other.
//!
//! In: a Model. Out: its initial states, lazily, because `= any` on a few arrays gives more than can be stored. Cells that
//! start anywhere count like an odometer, the last one fastest; what `Model::initially` excludes is passed over.

use std::collections::HashSet;

use super::body::{Mover, StepPath};
use super::{Control, Frame, State, StepFault, evaluate};
use crate::Model;
use crate::expr::Expr;
use crate::print;
use crate::process::ProcessId;
use crate::types::Type;
use crate::value::{Fault, Value};
use crate::variable::{Cell, CellId, Init};

/// Where something has to hold initially, at most so many states may be left without it: front-ends refuse what has more.
pub const MOST_CONSTRAINED: usize = 200_000;

/// The initial states of a Model; see [`initial_states`].
pub struct InitialStates<'m> {
    candidates: Candidates<'m>,
}

struct Candidates<'m> {
    /// The state to give next; `None` when all were given.
    next: Option<State>,
    /// The cells that start anywhere, with the values that each has still to take.
    wheels: Vec<Wheel<'m>>,
    model: &'m Model,
}

struct Wheel<'m> {
    cell: CellId,
    rest: Box<dyn Iterator<Item = Value> + 'm>,
}

/// All initial states, each once.
///
/// # Panics
/// If [`initial_faults`] is not empty: front-ends refuse such a program.
pub fn initial_states(model: &Model) -> InitialStates<'_> {
    InitialStates { candidates: candidates(model) }
}

/// All states in which each cell has a value that it may start with.
fn candidates(model: &Model) -> Candidates<'_> {
    let blank = blank(model);
    let mut state = blank.clone();
    let mut wheels = Vec::new();
    for (cell, init) in cell_inits(model) {
        match init {
            Init::Fill(_) => {
                let value = start_value(model, &blank, cell, init).expect("front-ends refuse faulty initial values");
                state.cells[cell.index()] = value;
            }
            Init::Any => {
                let mut rest = model.cells[cell].ty.values(model.type_context());
                rest.next();
                wheels.push(Wheel { cell, rest });
            }
            Init::First | Init::Elements(_) => {}
        }
    }
    let (state, fault) = enter(model, state);
    assert!(fault.is_none(), "front-ends refuse faulty loop bounds: {fault:?}");
    Candidates { next: Some(state), wheels, model }
}

/// Whether a state, well-formed for the Model, is an initial one. Reads each cell once, however many initial states
/// there are.
///
/// # Panics
/// As [`initial_states`].
pub fn is_initial(model: &Model, state: &State) -> bool {
    let Some(first) = initial_states(model).next() else { return false };
    let anywhere = free_cells(model);
    let starts = |(id, cell): (CellId, &Cell)| {
        let value = state.cells[id.index()];
        if anywhere.contains(&id) {
            cell.ty.contains(value, model.type_context())
        } else {
            value == first.cells[id.index()]
        }
    };
    state.stacks == first.stacks && model.cells.entries().all(starts) && is_admitted(model, state)
}

/// Whether a state whose cells may start so is admitted by what has to hold initially.
fn is_admitted(model: &Model, state: &State) -> bool {
    model.initially.iter().all(|test| evaluate(model, state, test, None) == Ok(Value::Bool(true)))
}

/// The cells that start with any value of their type, each on its own where nothing has to hold initially; all initial states agree on the others.
pub fn free_cells(model: &Model) -> HashSet<CellId> {
    cell_inits(model).filter(|(_, init)| matches!(init, Init::Any)).map(|(cell, _)| cell).collect()
}

/// How many initial states there are, at most where something has to hold initially; `u128::MAX` where there are more than can be counted.
pub fn n_initial_states(model: &Model) -> u128 {
    cell_inits(model)
        .filter(|(_, init)| matches!(init, Init::Any))
        .fold(1, |n, (cell, _)| n.saturating_mul(model.cells[cell].ty.n_values(model.type_context())))
}

/// What is wrong with the initial values of cells (a division by zero, a value outside its type) and with the bounds of
/// loops with which a process begins.
pub fn initial_faults(model: &Model) -> Vec<StepFault> {
    let blank = blank(model);
    let values = cell_inits(model).filter_map(|(cell, init)| start_value(model, &blank, cell, init).err());
    let faults: Vec<StepFault> = values.chain(enter(model, blank.clone()).1).collect();
    if !faults.is_empty() || model.initially.is_empty() {
        return faults;
    }
    // Of each condition one fault is enough.
    let some = || candidates(model).take(MOST_CONSTRAINED);
    let fault = |test: &Expr| some().find_map(|state| evaluate(model, &state, test, None).err());
    model.initially.iter().filter_map(fault).collect()
}

impl Iterator for InitialStates<'_> {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        let model = self.candidates.model;
        self.candidates.find(|state| is_admitted(model, state))
    }
}

impl Iterator for Candidates<'_> {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        let state = self.next.take()?;
        let mut following = state.clone();
        for wheel in self.wheels.iter_mut().rev() {
            let cell = &mut following.cells[wheel.cell.index()];
            if let Some(value) = wheel.rest.next() {
                *cell = value;
                self.next = Some(following);
                break;
            }
            let mut values = self.model.cells[wheel.cell].ty.values(self.model.type_context());
            *cell = values.next().expect("types have values");
            wheel.rest = values;
        }
        Some(state)
    }
}

/// Everything at the first value of its type, every process at its end, from where `enter` takes it to its entry.
pub(super) fn blank(model: &Model) -> State {
    let first = |cell: &Cell| cell.ty.first_value(model.type_context()).expect("types have values");
    let end = |process: ProcessId| model.families[model.processes[process].family].end;
    State {
        cells: model.cells.iter().map(first).collect(),
        stacks: model
            .processes
            .ids()
            .map(|process| vec![Frame { control: Control::At(end(process)), slots: Vec::new() }])
            .collect(),
    }
}

/// Moves every process to its entry, into loops where it begins with them, and returns the first fault.
fn enter(model: &Model, state: State) -> (State, Option<StepFault>) {
    let mut path = StepPath::new(&state);
    let entry = |process: ProcessId| &model.families[model.processes[process].family].entry;
    let enter_one = |me| Mover::new(model, me).follow(entry(me), &mut path).err();
    let fault = model.processes.ids().find_map(enter_one);
    (path.state, fault)
}

/// Each cell with what it starts with.
fn cell_inits(model: &Model) -> impl Iterator<Item = (CellId, &Init)> {
    let starts_variable = |(id, cell): &(CellId, &Cell)| model.cells_of(cell.var, cell.owner).next() == Some(*id);
    model.cells.entries().filter(starts_variable).flat_map(|(_, cell)| {
        let var = &model.vars[cell.var];
        model.cells_of(cell.var, cell.owner).zip(leaf_inits(&var.init, &var.ty))
    })
}

fn start_value(model: &Model, blank: &State, cell: CellId, init: &Init) -> Result<Value, StepFault> {
    let Cell { ty, owner, name, .. } = &model.cells[cell];
    let Init::Fill(expr) = init else { return Ok(blank.cells[cell.index()]) };
    let value = evaluate(model, blank, expr, *owner)?;
    if ty.contains(value, model.type_context()) {
        return Ok(value);
    }
    let fault = Fault::OutOfRange { target: name.clone(), value: print::value(model, value) };
    Err(StepFault { fault, span: expr.span })
}

/// What each scalar part of a variable starts with, in layout order: never `Init::Elements`.
pub(super) fn leaf_inits<'a>(init: &'a Init, ty: &Type) -> Vec<&'a Init> {
    match (init, ty) {
        (Init::Elements(inits), Type::Array { element, len }) => {
            (0..*len).flat_map(|at| leaf_inits(inits.get(at).unwrap_or(&Init::First), element)).collect()
        }
        _ => vec![init; ty.n_cells()],
    }
}
