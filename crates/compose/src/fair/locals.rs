//! The local state of one process: its control location and the values of its own cells.
//!
//! In: a Model without procedures. Out: for each process its control points, numbered by `model::points` as certificates number
//! them, and the cells that it alone sees. A local state can be read off a state and put into one; facts are judged on it.

use base::{Feature, StopReason, Unsupported};
use evidence::certificate::{ControlPoint, LocalFact};
use model::Model;
use model::control::PlaceId;
use model::eval::{self, Control, Frame, State, Turn};
use model::points::Points;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, Storage};
use rustc_hash::FxHashMap;

/// A process with more points than this is refused.
const MOST_POINTS: usize = 1 << 16;

/// The local state of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalState {
    /// Its control location, by the number of the point.
    pub point: usize,
    /// The contents of the cells that it alone sees, in their order; loop counters are part of the point.
    pub cells: Vec<Value>,
}

/// The local states of all processes of a program.
pub struct Locals<'m> {
    /// The program.
    pub model: &'m Model,
    processes: Vec<ProcessLocals>,
}

/// What the local state of one process consists of.
struct ProcessLocals {
    points: Vec<ControlPoint>,
    numbers: FxHashMap<(PlaceId, Vec<Value>), usize>,
    counters: Vec<CellId>,
    cells: Vec<CellId>,
}

impl<'m> Locals<'m> {
    /// Those of a program without procedures.
    ///
    /// # Errors
    /// Loops with too many rounds.
    pub fn new(model: &'m Model) -> Result<Self, StopReason> {
        let processes =
            model.processes.ids().map(|process| ProcessLocals::new(model, process)).collect::<Result<_, _>>()?;
        Ok(Locals { model, processes })
    }

    /// The control points of a process, by number.
    pub fn points(&self, process: ProcessId) -> &[ControlPoint] {
        &self.processes[process.index()].points
    }

    /// The point of another process of the same family at the same place with the same values of loop counters; `None` where the other one has none:
    /// how many rounds a loop has may depend on the index of the process.
    pub fn counterpart(&self, (process, point): (ProcessId, usize), other: ProcessId) -> Option<usize> {
        let ControlPoint { place, counters } = self.points(process).get(point)?;
        let values = counters.iter().map(|(_, value)| *value).collect();
        self.processes[other.index()].numbers.get(&(*place, values)).copied()
    }

    /// The cells that only the process sees, but for loop counters.
    pub fn cells(&self, process: ProcessId) -> &[CellId] {
        &self.processes[process.index()].cells
    }

    /// The local state of a process in a state.
    pub fn read(&self, process: ProcessId, state: &State) -> LocalState {
        let own = &self.processes[process.index()];
        let counters = own.counters.iter().map(|cell| state.cells[cell.index()]).collect();
        let point = own.numbers[&(state.place(process), counters)];
        LocalState { point, cells: own.cells.iter().map(|cell| state.cells[cell.index()]).collect() }
    }

    /// Puts a local state of a process into a state.
    pub fn write(&self, process: ProcessId, local: &LocalState, state: &mut State) {
        let own = &self.processes[process.index()];
        let point = &own.points[local.point];
        state.stacks[process.index()] = vec![Frame { control: Control::At(point.place), slots: Vec::new() }];
        point.counters.iter().for_each(|(cell, value)| state.cells[cell.index()] = *value);
        own.cells.iter().zip(&local.cells).for_each(|(cell, value)| state.cells[cell.index()] = *value);
    }

    /// Whether two states agree on the shared and public cells.
    pub fn same_store(&self, a: &State, b: &State) -> bool {
        let is_seen =
            |cell: &CellId| !matches!(self.model.vars[self.model.cells[*cell].var].storage, Storage::Local(_));
        self.model.cells.ids().filter(is_seen).all(|cell| a.cells[cell.index()] == b.cells[cell.index()])
    }

    /// The state with some processes in these local states; all others have ended, and take part in no step.
    pub fn with_others_ended(&self, state: &State, placed: &[(ProcessId, LocalState)]) -> State {
        let mut state = state.clone();
        for (process, declared) in self.model.processes.entries() {
            let end = self.model.families[declared.family].end;
            state.stacks[process.index()] = vec![Frame { control: Control::At(end), slots: Vec::new() }];
        }
        placed.iter().for_each(|(process, local)| self.write(*process, local, &mut state));
        state
    }

    /// The turns of one process, with the state after each: its steps, the rendezvous in which it sends among them, and a stutter where it has
    /// no step, be it as a receiver, or at `idle`. Where `any` chooses from too many values to go through, likely ones are taken.
    pub fn turns_of(&self, process: ProcessId, state: &State, aim: Option<&State>) -> Vec<(Turn, State)> {
        if !self.model.channels.is_empty() {
            let turns = eval::likely_turns(self.model, state, aim).into_iter();
            return turns.filter(|(turn, _)| turn.process() == process).collect();
        }
        let steps = eval::likely_steps_of(self.model, state, process, aim);
        let may_stutter = steps.is_empty() || eval::is_idle(self.model, state, process);
        let moved = steps.into_iter().filter_map(|step| Some((Turn::Step(step.by), step.result.ok()?)));
        let stutter = may_stutter.then(|| (Turn::StandStill(process), state.clone()));
        moved.chain(stutter).collect()
    }

    /// Whether a fact about a process holds of its local state.
    pub fn holds(&self, process: ProcessId, fact: &LocalFact, local: &LocalState) -> bool {
        match fact {
            LocalFact::Control(points) => points.contains(&local.point),
            LocalFact::Cell(cell, value) => {
                let own = &self.processes[process.index()];
                let counter = own.points[local.point].counters.iter().find(|(other, _)| other == cell);
                let content = || own.cells.iter().position(|other| other == cell).map(|at| local.cells[at]);
                counter.map(|(_, value)| *value).or_else(content) == Some(*value)
            }
            LocalFact::OneOf(conjunctions) => {
                conjunctions.iter().any(|facts| facts.iter().all(|fact| self.holds(process, fact, local)))
            }
        }
    }
}

impl ProcessLocals {
    fn new(model: &Model, process: ProcessId) -> Result<Self, StopReason> {
        let Some(found) = Points::of(model, process, MOST_POINTS) else {
            return Err(Unsupported::about(Feature::LongLoops, &model.processes[process].name).into());
        };
        let vars = &model.families[model.processes[process].family].vars;
        let of_process = vars.iter().filter(|&&var| matches!(model.vars[var].storage, Storage::Local(_)));
        let cells = of_process.flat_map(|&var| model.cells_of(var, Some(process)));
        let is_counter = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].role, Role::Counter(_));
        let (counters, cells): (Vec<CellId>, Vec<CellId>) = cells.partition(is_counter);
        let point = |point: &model::points::Point| ControlPoint {
            place: point.place,
            counters: counters.iter().map(|cell| (*cell, point.counters[&model.cells[*cell].var])).collect(),
        };
        let points: Vec<ControlPoint> = found.points.iter().map(point).collect();
        let key = |point: &ControlPoint| (point.place, point.counters.iter().map(|(_, value)| *value).collect());
        let numbers = points.iter().map(key).zip(0..).collect();
        Ok(ProcessLocals { points, numbers, counters, cells })
    }
}
