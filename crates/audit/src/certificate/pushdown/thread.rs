//! One process of a proof, made easy to look up.

use evidence::pushdown::{LocalPart, LocalRow, PushdownProof, StoreRow, ThreadProof, WaitingCall};
use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{Control, Frame, State};
use model::print;
use model::process::ProcessId;
use model::variable::{CellId, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::seen_by_others;
use super::steps::Stepped;
use super::{malformed, number_in};
use crate::certificate::Outcome;
use crate::certificate::numbering::{number_of, value_of};

/// A process.
pub(super) struct Thread<'a> {
    model: &'a Model,
    pub process: ProcessId,
    pub proof: &'a ThreadProof,
    /// The position of each cell in a row.
    pub positions: FxHashMap<CellId, usize>,
    rows: FxHashMap<&'a LocalRow, u32>,
    tops: FxHashMap<&'a Frame, u32>,
    waiting: FxHashMap<&'a WaitingCall, u32>,
    /// By local state: the activations that contain it, ascending.
    pub met_in: Vec<Vec<u32>>,
    /// By local state: the activation that starts there.
    pub starts: FxHashMap<u32, u32>,
    guarantee: FxHashSet<&'a (StoreRow, StoreRow)>,
    /// Its facts, each with its bit: all places and cells are its own.
    facts: Vec<(u64, &'a LocalPart)>,
    /// The cells of all facts of all processes.
    all_fact_cells: Vec<CellId>,
    /// The loop counters of its own text.
    pub counters: Vec<CellId>,
    /// The position in a row of each cell of the store.
    store: Vec<usize>,
}

impl<'a> Thread<'a> {
    /// The process, if what its guarantee speaks of is what others see.
    pub fn new(model: &'a Model, process: ProcessId, proof: &'a PushdownProof) -> Outcome<Self> {
        let thread = &proof.threads[process.index()];
        let others = seen_by_others(proof, process);
        let positions: FxHashMap<CellId, usize> =
            thread.cells.iter().enumerate().map(|(at, &cell)| (cell, at)).collect();
        let seen: Vec<CellId> = thread.cells.iter().copied().filter(|cell| others.contains(cell)).collect();
        if seen != thread.store {
            let name = &model.processes[process].name;
            return malformed(format!("the guarantee of {name} does not speak of what others see"));
        }
        let mut met_in = vec![Vec::new(); thread.states.len()];
        let mut starts = FxHashMap::default();
        for (at, activation) in thread.activations.iter().enumerate() {
            activation.states.iter().for_each(|&state| met_in[state as usize].push(at as u32));
            starts.extend(activation.start.map(|start| (start, at as u32)));
        }
        let facts = proof.exposed.iter().enumerate().filter(|(_, fact)| fact.process == process);
        let fact_cell = |part: &LocalPart| match part {
            LocalPart::Cell(cell, _) => Some(*cell),
            LocalPart::Place(_) | LocalPart::Slot(..) => None,
        };
        let is_counter = |cell: &CellId| {
            let declared = &model.cells[*cell];
            declared.owner == Some(process) && matches!(model.vars[declared.var].role, Role::Counter(_))
        };
        Ok(Thread {
            model,
            process,
            proof: thread,
            rows: thread.states.iter().zip(0..).collect(),
            tops: thread.tops.iter().zip(0..).collect(),
            waiting: thread.waiting.iter().zip(0..).collect(),
            met_in,
            starts,
            guarantee: thread.guarantee.iter().collect(),
            facts: facts.map(|(at, fact)| (1 << at, &fact.part)).collect(),
            all_fact_cells: proof.exposed.iter().filter_map(|fact| fact_cell(&fact.part)).collect(),
            counters: thread.cells.iter().copied().filter(is_counter).collect(),
            store: thread.store.iter().map(|cell| positions[cell]).collect(),
            positions,
        })
    }

    /// The position of a local state.
    pub fn position(&self, row: &LocalRow) -> Option<u32> {
        self.rows.get(row).copied()
    }

    /// The position of a waiting frame.
    pub fn waiting_position(&self, waiting: &WaitingCall) -> Option<u32> {
        self.waiting.get(waiting).copied()
    }

    /// The position of a top frame.
    pub fn top_position(&self, frame: &Frame) -> Option<u32> {
        self.tops.get(frame).copied()
    }

    /// The cells that facts of any process are about.
    pub fn fact_cells(&self) -> impl Iterator<Item = CellId> {
        self.all_fact_cells.iter().copied()
    }

    /// The local state in which the process starts in an initial state; `None` where its frame is not in the proof.
    pub fn start_row(&self, proof: &PushdownProof, state: &State) -> Option<LocalRow> {
        let top = self.top_position(state.top(self.process))?;
        let mut exposed = 0;
        for (at, fact) in proof.exposed.iter().enumerate() {
            let holds = match &fact.part {
                LocalPart::Place(places) => places.contains(&state.place(fact.process)),
                LocalPart::Cell(cell, values) => values.contains(&state.cells[cell.index()]),
                LocalPart::Slot(..) => self.slot_fact_holds(&fact.part, state.top(fact.process)),
            };
            exposed |= u64::from(holds) << at;
        }
        let cells = self.proof.cells.iter().map(|&cell| number_in(self.model, state, cell)).collect();
        Some(LocalRow { cells, exposed, top })
    }

    /// The frames with which a local state's steps are taken: where it can return, those of its callers.
    pub fn frames_below(&self, state: u32) -> Vec<Option<u32>> {
        let model = self.model;
        let top = &self.proof.tops[self.proof.states[state as usize].top as usize];
        let Control::At(place) = top.control else { unreachable!("top frames stand at a place") };
        let is_return =
            |action: &model::control::ActionId| matches!(model.actions[*action].kind, ActionKind::Return { .. });
        let place = &model.places[place];
        if matches!(place.scope, TextOwner::Family(_)) || !place.actions.iter().any(is_return) {
            return vec![None];
        }
        let activations = self.met_in[state as usize].iter().map(|&one| &self.proof.activations[one as usize]);
        let frames: FxHashSet<u32> =
            activations.flat_map(|activation| activation.callers.iter().map(|&(_, frame)| frame)).collect();
        frames.into_iter().map(Some).collect()
    }

    /// The local state after a step; `None` where its top frame is not in the proof.
    pub fn after(&self, from: &LocalRow, step: &Stepped) -> Option<LocalRow> {
        let mut row = LocalRow { top: self.top_position(&step.top)?, ..from.clone() };
        step.writes.iter().for_each(|&(at, number)| row.cells[at] = number);
        let Control::At(place) = step.top.control else { return None };
        for (bit, part) in &self.facts {
            let holds = match part {
                LocalPart::Place(places) => places.contains(&place),
                LocalPart::Cell(cell, _) => cell_fact_holds(self.model, part, row.cells[self.positions[cell]]),
                LocalPart::Slot(..) => self.slot_fact_holds(part, &step.top),
            };
            row.exposed = if holds { row.exposed | bit } else { row.exposed & !bit };
        }
        Some(row)
    }

    /// Whether a fact about a slot holds of a top frame.
    fn slot_fact_holds(&self, part: &LocalPart, top: &Frame) -> bool {
        let (LocalPart::Slot(procedure, slot, values), Control::At(place)) = (part, top.control) else { return false };
        let is_of = self.model.places[place].scope == TextOwner::Procedure(*procedure);
        is_of && top.slots.get(*slot).is_some_and(|value| values.contains(value))
    }

    /// Whether the change from one local state to another is in the guarantee, or nothing that others see changes.
    pub fn guarantees(&self, from: &LocalRow, to: &LocalRow) -> bool {
        let part = |row: &LocalRow| StoreRow {
            cells: self.store.iter().map(|&at| row.cells[at]).collect(),
            exposed: row.exposed,
        };
        let change = (part(from), part(to));
        change.0 == change.1 || self.guarantee.contains(&change)
    }

    /// A local state in the user's words: `x = 0, P[0]@leave`.
    pub fn show(&self, row: &LocalRow) -> String {
        let model = self.model;
        let is_hidden = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].role, Role::Counter(_));
        let cells = self.proof.cells.iter().zip(&row.cells).filter(|(cell, _)| !is_hidden(cell));
        let cells = cells.map(|(&cell, &number)| {
            format!("{} = {}", model.cells[cell].name, print::value(model, value_of(model, cell, number)))
        });
        let place = self.proof.tops.get(row.top as usize).map(|frame| match frame.control {
            Control::At(place) => model.places[place].name.clone(),
            Control::Calling(_) => String::new(),
        });
        let control = format!("{}@{}", model.processes[self.process].name, place.unwrap_or_default());
        cells.chain([control]).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a fact about a cell holds for the value with a number.
fn cell_fact_holds(model: &Model, part: &LocalPart, number: u32) -> bool {
    match part {
        LocalPart::Cell(cell, values) => values.iter().any(|&value| number_of(model, *cell, value) == number),
        LocalPart::Place(_) | LocalPart::Slot(..) => false,
    }
}
