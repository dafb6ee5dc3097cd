//! Whether a proof is one at all: everything that it names is in the Model, and every position in its lists.

use std::collections::BTreeSet;

use evidence::pushdown::{LocalPart, PushdownProof, ThreadProof};
use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{Control, Frame};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role};

use super::malformed;
use crate::certificate::{CertificateError, Outcome};

/// There are no more facts than bits.
const MOST_FACTS: usize = 64;

/// Refuses what is no proof about the program.
pub(super) fn check(model: &Model, proof: &PushdownProof) -> Outcome<()> {
    if !model.channels.is_empty() {
        let why = "processes of the program meet, of which path edges know nothing";
        return Err(CertificateError::NotSupported(why.to_owned()));
    }
    if proof.threads.len() != model.processes.len() {
        return malformed(format!("it is about {} processes", proof.threads.len()));
    }
    if proof.exposed.len() > MOST_FACTS {
        return malformed("it exposes too much");
    }
    for fact in &proof.exposed {
        let fits = fact.process.index() < model.processes.len()
            && match &fact.part {
                LocalPart::Place(places) => places.iter().all(|place| place.index() < model.places.len()),
                LocalPart::Cell(cell, values) => {
                    let has = |value: &Value| model.cells[*cell].ty.contains(*value, model.type_context());
                    cell.index() < model.cells.len()
                        && model.cells[*cell].owner == Some(fact.process)
                        && values.iter().all(has)
                }
                LocalPart::Slot(procedure, ..) => procedure.index() < model.procedures.len(),
            };
        if !fits {
            return malformed("it exposes what the process does not have");
        }
    }
    model.processes.ids().zip(&proof.threads).try_for_each(|(process, thread)| {
        let shape = Shape { model, process, thread };
        shape.check()
    })
}

struct Shape<'a> {
    model: &'a Model,
    process: ProcessId,
    thread: &'a ThreadProof,
}

impl Shape<'_> {
    fn check(&self) -> Outcome<()> {
        let ThreadProof { cells, tops, waiting, states, activations, store, guarantee } = self.thread;
        self.cells(cells)?;
        self.cells(store)?;
        if !self.own_cells().all(|cell| cells.binary_search(&cell).is_ok()) {
            return self.wrong("leaves out cells of its own");
        }
        if !tops.iter().all(|frame| matches!(frame.control, Control::At(_)) && self.fits(frame)) {
            return self.wrong("has a top frame that does not fit the program");
        }
        for one in waiting {
            let counters = one.counters.iter().all(|&(cell, value)| self.is_counter(cell) && self.has(cell, value));
            if !matches!(one.frame.control, Control::Calling(_)) || !self.fits(&one.frame) || !counters {
                return self.wrong("has a waiting frame that does not fit the program");
            }
        }
        let numbers_fit = |cells: &[CellId], numbers: &[u32]| {
            let fits = |(cell, number): (&CellId, &u32)| u128::from(*number) < self.n_values(*cell);
            cells.len() == numbers.len() && cells.iter().zip(numbers).all(fits)
        };
        if !states.iter().all(|row| numbers_fit(cells, &row.cells) && (row.top as usize) < tops.len()) {
            return self.wrong("has a local state that does not fit the program");
        }
        if !guarantee.iter().all(|(one, other)| numbers_fit(store, &one.cells) && numbers_fit(store, &other.cells)) {
            return self.wrong("has a guarantee that does not fit the program");
        }
        let n_states = states.len() as u32;
        for (at, one) in activations.iter().enumerate() {
            let ascends = one.states.windows(2).all(|pair| pair[0] < pair[1]);
            let known = one.states.last().is_none_or(|&last| last < n_states);
            let called = |&(from, frame): &(u32, u32)| from < n_states && (frame as usize) < waiting.len();
            let starts = one.start.is_some() == (at > 0) && one.start.is_none_or(|start| start < n_states);
            if !(ascends && known && starts && one.callers.iter().all(called)) {
                return self.wrong("has an activation whose lists do not fit");
            }
        }
        if activations.is_empty() { self.wrong("has no activation") } else { Ok(()) }
    }

    fn wrong(&self, what: &str) -> Outcome<()> {
        malformed(format!("{} {what}", self.model.processes[self.process].name))
    }

    fn cells(&self, cells: &[CellId]) -> Outcome<()> {
        let ascends = cells.windows(2).all(|pair| pair[0] < pair[1]);
        let known = cells.last().is_none_or(|last| last.index() < self.model.cells.len());
        // Larger cells have no numbers.
        if ascends && known && cells.iter().all(|&cell| self.n_values(cell) <= 1 << 32) {
            Ok(())
        } else {
            self.wrong("lists cells that do not fit the program")
        }
    }

    fn n_values(&self, cell: CellId) -> u128 {
        self.model.cells[cell].ty.n_values(self.model.type_context())
    }

    fn own_cells(&self) -> impl Iterator<Item = CellId> {
        let declared = &self.model.processes[self.process];
        let n_cells = self.model.families[declared.family].n_cells;
        (declared.first_cell..declared.first_cell + n_cells).map(CellId::new)
    }

    fn is_counter(&self, cell: CellId) -> bool {
        self.own_cells().any(|own| own == cell)
            && matches!(self.model.vars[self.model.cells[cell].var].role, Role::Counter(_))
    }

    fn has(&self, cell: CellId, value: Value) -> bool {
        self.model.cells[cell].ty.contains(value, self.model.type_context())
    }

    /// Whether a frame has the variables of its text.
    fn fits(&self, frame: &Frame) -> bool {
        let model = self.model;
        let scope = match frame.control {
            Control::At(place) if place.index() < model.places.len() => model.places[place].scope,
            Control::Calling(action) if action.index() < model.actions.len() => {
                if !matches!(model.actions[action].kind, ActionKind::Call { .. }) {
                    return false;
                }
                model.actions[action].scope
            }
            _ => return false,
        };
        match scope {
            TextOwner::Family(family) => family == model.processes[self.process].family && frame.slots.is_empty(),
            TextOwner::Procedure(procedure) => {
                let types = model.procedures[procedure].vars.iter().map(|&var| &model.vars[var].ty);
                let types: Vec<ScalarType> =
                    types.flat_map(|ty| std::iter::repeat_n(ty.scalar(), ty.n_cells())).collect();
                let fits = |(value, ty): (&Value, &ScalarType)| ty.contains(*value, model.type_context());
                types.len() == frame.slots.len() && frame.slots.iter().zip(&types).all(fits)
            }
        }
    }
}

/// The cells that another process sees, according to the proof.
pub(super) fn seen_by_others(proof: &PushdownProof, process: ProcessId) -> BTreeSet<CellId> {
    let others = proof.threads.iter().enumerate().filter(|(at, _)| *at != process.index());
    others.flat_map(|(_, thread)| thread.cells.iter().copied()).collect()
}
