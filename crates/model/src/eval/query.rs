//! Queries on one state: which processes are enabled, stuck, terminated; which two race.

use super::step::{has_any_step, has_step};
use super::{State, touched_by_process};
use crate::Model;
use crate::control::{Action, ActionId, ActionKind};
use crate::process::ProcessId;
use crate::variable::{CellId, VarId};

/// Whether a process has an enabled step other than leaving `idle`, alone or in a rendezvous.
pub fn able(model: &Model, state: &State, process: ProcessId) -> bool {
    is_able(model, state, process, |_| true)
}

/// Whether a process has an enabled step other than leaving `idle` that carries one of the labels.
pub fn able_by(model: &Model, state: &State, process: ProcessId, labels: &[String]) -> bool {
    is_able(model, state, process, |action| action.labels.iter().any(|label| labels.contains(label)))
}

/// Whether a process has run off its end.
pub fn is_terminated(model: &Model, state: &State, process: ProcessId) -> bool {
    let end = model.families[model.processes[process].family].end;
    state.stacks[process.index()].len() == 1 && state.place(process) == end
}

/// Whether a process is at `idle`.
pub fn is_idle(model: &Model, state: &State, process: ProcessId) -> bool {
    let actions = &model.places[state.place(process)].actions;
    actions.iter().any(|&action| matches!(model.actions[action].kind, ActionKind::Idle))
}

/// Whether a process is at a place where it may wait for ever.
pub fn may_end(model: &Model, state: &State, process: ProcessId) -> bool {
    model.places[state.place(process)].may_end
}

/// The processes that are not enabled although they have neither terminated nor are at `idle`, nor where they may wait for ever.
pub fn stuck_processes(model: &Model, state: &State) -> Vec<ProcessId> {
    let rests = |process: ProcessId| {
        is_terminated(model, state, process) || is_idle(model, state, process) || may_end(model, state, process)
    };
    let waits = |process: &ProcessId| !rests(*process) && !able(model, state, *process);
    model.processes.ids().filter(waits).collect()
}

/// Whether no process is enabled and some process is stuck.
pub fn is_deadlock(model: &Model, state: &State) -> bool {
    !has_any_step(model, state) && !stuck_processes(model, state).is_empty()
}

/// Two processes that are about to touch one cell, one of them writing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The cell.
    pub cell: CellId,
    /// Both processes, in order.
    pub contenders: [Contender; 2],
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The process.
    pub process: ProcessId,
    /// Its action with which the step begins, or the first of its actions in the step.
    pub action: ActionId,
    /// Whether it writes the cell; otherwise it reads it.
    pub writes: bool,
}

/// A race on a cell of the variable in this state, if there is one: two processes each have an enabled step that touches
/// the cell, one of them writing. Guards and tests count, and so do faulty steps up to their fault. The processes of one
/// step do not race.
pub fn race(model: &Model, state: &State, var: VarId) -> Option<Race> {
    let mut touches = Vec::new();
    let all = model.processes.ids().flat_map(|process| touched_by_process(model, state, process));
    for (step_idx, (step, touched)) in all.enumerate() {
        for touch in touched.into_iter().filter(|touch| model.cells[touch.cell].var == var) {
            let action = step.by.actions_of(touch.process).next().expect("who touches a cell has a part in the step");
            let side = Contender { process: touch.process, action, writes: touch.writes };
            touches.push((step_idx, touch.cell, side));
        }
    }
    let pairs = touches.iter().flat_map(|one| touches.iter().map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| one.0 != other.0 && one.1 == other.1 && one.2.process < other.2.process)
        .find(|(one, other)| one.2.writes || other.2.writes)
        .map(|(one, other)| Race { cell: one.1, contenders: [one.2, other.2] })
}

fn is_able(model: &Model, state: &State, process: ProcessId, wanted: impl Fn(&Action) -> bool) -> bool {
    has_step(model, state, process, |action| {
        let action = &model.actions[action];
        !matches!(action.kind, ActionKind::Idle) && wanted(action)
    })
}
