//! Whether a state is one of the Model at all: the right cells, values of their types, stacks that control can build.
//!
//! `eval` may rely on all of this; a trace from a file or from a faulty engine may not have it.

use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{Control, Frame, Move, State};
use model::process::ProcessId;

/// What is wrong with a state, in words; `Ok` where `eval` can work on it.
pub fn check_state(model: &Model, state: &State) -> Result<(), String> {
    if state.cells.len() != model.cells.len() {
        return Err(format!("the program has {} cells, the state {}", model.cells.len(), state.cells.len()));
    }
    for (cell, &value) in model.cells.iter().zip(&state.cells) {
        if !cell.ty.contains(value, model.type_context()) {
            return Err(format!("`{}` cannot have the value {value:?}", cell.name));
        }
    }
    if state.stacks.len() != model.processes.len() {
        return Err(format!("the program has {} processes, the state {}", model.processes.len(), state.stacks.len()));
    }
    model.processes.ids().zip(&state.stacks).try_for_each(|(process, stack)| check_stack(model, process, stack))
}

/// What is wrong with a move, in words: processes or actions that do not exist.
pub fn check_move(model: &Model, by: &Move) -> Result<(), String> {
    for (process, action) in
        by.links().flat_map(|link| std::iter::once((link.process, link.action)).chain(link.partner))
    {
        if model.processes.get(process).is_none() {
            return Err(format!("there is no process number {}", process.index()));
        }
        if model.actions.get(action).is_none() {
            return Err(format!("there is no action number {}", action.index()));
        }
    }
    Ok(())
}

fn check_stack(model: &Model, process: ProcessId, stack: &[Frame]) -> Result<(), String> {
    let name = &model.processes[process].name;
    let Some((top, below)) = stack.split_last() else { return Err(format!("the stack of {name} is empty")) };
    let mut scope = TextOwner::Family(model.processes[process].family);
    for frame in below {
        check_slots(model, scope, frame).map_err(|what| format!("{name}: {what}"))?;
        let called = match frame.control {
            Control::Calling(action) => model.actions.get(action).filter(|action| action.scope == scope),
            Control::At(_) => None,
        };
        match called.map(|action| &action.kind) {
            Some(ActionKind::Call { procedure, .. }) => scope = TextOwner::Procedure(*procedure),
            _ => return Err(format!("a frame of {name} below the top does not wait for a call of its text")),
        }
    }
    check_slots(model, scope, top).map_err(|what| format!("{name}: {what}"))?;
    match top.control {
        Control::At(place) if model.places.get(place).is_some_and(|place| place.scope == scope) => Ok(()),
        _ => Err(format!("the top frame of {name} is not at a place of its text")),
    }
}

fn check_slots(model: &Model, scope: TextOwner, frame: &Frame) -> Result<(), String> {
    let vars = match scope {
        TextOwner::Family(_) => &[][..],
        TextOwner::Procedure(id) => &model.procedures[id].vars,
    };
    let types: Vec<_> = vars
        .iter()
        .flat_map(|&var| {
            std::iter::repeat_n((&model.vars[var].name, model.vars[var].ty.scalar()), model.vars[var].ty.n_cells())
        })
        .collect();
    if types.len() != frame.slots.len() {
        return Err(format!("a frame has {} values where there are {}", frame.slots.len(), types.len()));
    }
    for ((name, ty), &value) in types.into_iter().zip(&frame.slots) {
        if !ty.contains(value, model.type_context()) {
            return Err(format!("`{name}` cannot have the value {value:?}"));
        }
    }
    Ok(())
}
