//! States and steps on one line, for expectations in tests.

use model::Model;
use model::eval::{Control, Frame, State, Step, steps};
use model::print;

/// What a step changes: `P[0]: x 0 => 1, P[0]@b`, or `P[0]: fails, division by zero`.
pub fn step(model: &Model, before: &State, step: &Step) -> String {
    let mover = &model.processes[step.by.process].name;
    match &step.result {
        Err(fault) => format!("{mover} fails: {}", fault.fault),
        Ok(after) => format!("{mover}: {}", changes(model, before, after)),
    }
}

/// All steps out of a state, separated by bars; `nothing` where there is none.
pub fn all_steps(model: &Model, state: &State) -> String {
    let shown: Vec<String> = steps(model, state).iter().map(|one| step(model, state, one)).collect();
    if shown.is_empty() { "nothing".to_string() } else { shown.join(" | ") }
}

/// The cells and stacks that differ.
pub fn changes(model: &Model, before: &State, after: &State) -> String {
    let mut shown = Vec::new();
    for (id, cell) in model.cells.entries() {
        let (old, new) = (before.cells[id.index()], after.cells[id.index()]);
        if old != new {
            let [old, new] = [old, new].map(|value| print::content(model, cell.var, value));
            shown.push(format!("{} {old} => {new}", cell.name));
        }
    }
    for (id, process) in model.processes.entries() {
        let (old, new) = (&before.stacks[id.index()], &after.stacks[id.index()]);
        if old != new {
            let frames: Vec<String> = new.iter().map(|one| frame(model, one)).collect();
            shown.push(format!("{}@{}", process.name, frames.join("/")));
        }
    }
    shown.join(", ")
}

fn frame(model: &Model, frame: &Frame) -> String {
    let control = match frame.control {
        Control::At(place) => model.places[place].name.clone(),
        Control::Calling(action) => format!("({})", model.statements[model.actions[action].statement].text),
    };
    let slots: Vec<String> = frame.slots.iter().map(|&slot| print::value(model, slot)).collect();
    if slots.is_empty() { control } else { format!("{control}[{}]", slots.join(" ")) }
}
