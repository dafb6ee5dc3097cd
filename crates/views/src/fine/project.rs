//! What a concrete state looks like in a view: for tests, which compare views with every state that a search reaches.

use std::collections::{BTreeMap, BTreeSet};

use evidence::fine::{FineContent, FineState};
use model::control::{LoopId, PlaceId};
use model::eval::State;
use model::process::ProcessId;
use model::value::Value;
use rustc_hash::FxHashMap;

use super::closure::{Closed, canonical};
use super::datum::Datum;
use super::skeleton::Skeleton;
use crate::layout::{LocalColumn, SharedColumn};
use crate::sight::Ground;
use crate::start::{active_loops, local_cell};

/// A process in a state: the number of its local state, and whom its loop over the family is at.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The process.
    pub process: ProcessId,
    /// Its local state; `None` where that is not listed.
    pub state: Option<u32>,
    /// Whom its loop is at.
    pub counter: Option<ProcessId>,
}

/// Looks at concrete states.
pub struct Projector<'a> {
    ground: Ground<'a>,
    skeleton: &'a Skeleton,
    active: BTreeMap<PlaceId, BTreeSet<LoopId>>,
    numbers: FxHashMap<Vec<Datum>, u32>,
}

impl<'a> Projector<'a> {
    /// For states of a program.
    pub fn new(ground: Ground<'a>, skeleton: &'a Skeleton) -> Projector<'a> {
        let numbers = skeleton.states.iter().cloned().zip(0..).collect();
        Projector { ground, skeleton, active: active_loops(ground.model), numbers }
    }

    /// A process of the family in a state.
    pub fn standing(&self, state: &State, process: ProcessId) -> Standing {
        let Ground { model, layout, .. } = self.ground;
        let place = state.place(process);
        let is_active = |id: LoopId| self.active.get(&place).is_some_and(|loops| loops.contains(&id));
        let mut counter = None;
        let mut local: Vec<Datum> = Vec::new();
        for &column in &layout.local {
            local.push(match (column, local_cell(model, layout, process, column)) {
                (LocalColumn::Control, _) => Datum::Place(place),
                (LocalColumn::Taken(id), _) => {
                    if is_active(id) {
                        let cell = model.cells_of(model.loops[id].counter, Some(process)).next();
                        counter = cell.and_then(|cell| match state.cells[cell.index()] {
                            Value::Process(id) => Some(id),
                            _ => None,
                        });
                    }
                    Datum::truth(is_active(id))
                }
                (_, None) => Datum::truth(false),
                (_, Some(_)) if layout.scans.iter().any(|scan| scan.counter == local.len()) => {
                    Datum::Value(Value::None)
                }
                (_, Some(cell)) => match state.cells[cell.index()] {
                    Value::Process(id) if id == process => Datum::Me,
                    Value::Process(id) if layout.is_member(model, id) => Datum::Another,
                    value => Datum::Value(value),
                },
            });
        }
        Standing { process, state: self.numbers.get(&local).copied(), counter }
    }

    /// The blocks of a view in which whom a loop has taken is shown.
    pub fn tracked(&self, view: &Closed) -> Vec<bool> {
        let mut tracked = vec![true; view.shape.n_blocks];
        for (state, &block) in view.shape.blocks.iter().enumerate() {
            tracked[block as usize] &= self.skeleton.is_scanning(self.ground, state as u32);
        }
        tracked
    }

    /// What two processes look like in a view; `None` where a local state is not listed.
    pub fn look(&self, (view, tracked): (&Closed, &[bool]), state: &State, pair: [Standing; 2]) -> Option<FineState> {
        let Ground { model, layout, .. } = self.ground;
        let content = |&column: &usize| match layout.shared[column] {
            SharedColumn::Cell(cell) => match state.cells[cell.index()] {
                Value::Process(id) if layout.is_member(model, id) => { pair.iter() }
                    .position(|one| one.process == id)
                    .map_or(FineContent::Other, |at| FineContent::Slot(at as u8)),
                value => FineContent::Value(value),
            },
            SharedColumn::Control(process) => FineContent::Place(state.place(process)),
            SharedColumn::Taken(..) => FineContent::Value(Value::Bool(false)),
        };
        let cells = view.shape.cells.iter().map(content).collect();
        let block = |one: &Standing| one.state.map(|state| view.shape.blocks[state as usize]);
        let blocks: Vec<u32> = pair.iter().map(block).collect::<Option<_>>()?;
        let is_taken = |one: usize, other: usize| {
            tracked[blocks[one] as usize] && pair[one].counter.is_some_and(|counter| pair[other].process < counter)
        };
        let taken = vec![is_taken(0, 1), is_taken(1, 0)];
        Some(canonical(FineState { cells, blocks, taken }))
    }
}
