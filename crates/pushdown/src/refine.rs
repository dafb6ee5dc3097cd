//! Which facts to expose next, where path edges exclude too little.
//!
//! In: local states that together answer a question, and what is exposed already. Out: more facts, or none where nothing is left that a
//! word has room for. First come the places of these local states, and those from which others interfered with them; then the control locations of all
//! processes, place by place; then their own cells. What is exposed of one process is exposed of all of its family. Nothing of a stack
//! below its top frame is ever exposed, so there are only finitely many facts.

use std::collections::BTreeSet;

use evidence::pushdown::{ExposedFact, LocalPart};
use model::Model;
use model::control::{PlaceId, TextOwner};
use model::points::called_procedures;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, Role, Storage};

use crate::exposed::MOST_FACTS;
use crate::saturate::Saturation;
use crate::thread::{LocalStateId, Origin};

/// After so many rounds that expose single places all places are distinguished.
const PLACE_ROUNDS: usize = 4;

/// The facts for the next round, those of the last one included; `None` where there is nothing new.
pub fn next_facts<const W: usize>(
    saturation: &Saturation<'_, W>,
    witnesses: &[(usize, LocalStateId)],
    (facts, round): (&[ExposedFact], usize),
) -> Option<Vec<ExposedFact>> {
    let model = saturation.machine.codec.model;
    if round < PLACE_ROUNDS {
        let places = concerned_places(saturation, witnesses);
        let mut more = facts.to_vec();
        for (process, place) in places {
            let family = &model.families[model.processes[process].family];
            for other in family.processes() {
                let fact = ExposedFact { process: other, part: LocalPart::Place(vec![place]) };
                if !more.contains(&fact) {
                    more.push(fact);
                }
            }
        }
        if more.len() > facts.len() && more.len() <= MOST_FACTS {
            return Some(more);
        }
    }
    let families: BTreeSet<FamilyId> =
        witnesses.iter().map(|&(process, _)| model.processes[ProcessId::new(process)].family).collect();
    let concerned: Vec<ProcessId> = families.iter().flat_map(|&family| model.families[family].processes()).collect();
    let all_processes: Vec<ProcessId> = model.processes.ids().collect();
    let ladders = [
        concerned.iter().flat_map(|&process| control_bits(model, process)).collect::<Vec<_>>(),
        all_processes.iter().flat_map(|&process| control_bits(model, process)).collect(),
        all_processes
            .iter()
            .flat_map(|&process| control_bits(model, process).into_iter().chain(cell_bits(model, process)))
            .collect(),
        all_processes
            .iter()
            .flat_map(|&process| {
                let own = control_bits(model, process).into_iter().chain(cell_bits(model, process));
                own.chain(slot_bits(model, process))
            })
            .collect(),
    ];
    // One step further up than the facts at hand; where a step says no more than the one before, the next one is taken.
    let reached = ladders.iter().rposition(|ladder| ladder.as_slice() == facts).map_or(0, |at| at + 1);
    let fits =
        |ladder: &Vec<ExposedFact>| !ladder.is_empty() && ladder.len() <= MOST_FACTS && ladder.as_slice() != facts;
    ladders.into_iter().skip(reached).find(fits)
}

/// The places of the witnesses, and those from which others stepped on the way to them.
fn concerned_places<const W: usize>(
    saturation: &Saturation<'_, W>,
    witnesses: &[(usize, LocalStateId)],
) -> BTreeSet<(ProcessId, PlaceId)> {
    let codec = saturation.machine.codec;
    let place = |process: usize, state: LocalStateId| {
        let row = saturation.threads[process].row(state);
        let point = codec.layout.control[process].raw(&row) as u32;
        (ProcessId::new(process), codec.plan.points[process].point(point).place)
    };
    let mut found = BTreeSet::new();
    for &(process, mut state) in witnesses {
        found.insert(place(process, state));
        let thread = &saturation.threads[process];
        // The way back ends where it began.
        for _ in 0..thread.states.len() {
            state = match thread.origins[state.index()] {
                Origin::Start => break,
                Origin::Step(from) | Origin::Called(from) | Origin::Returned(from, _) => from,
                Origin::Interference(from) => {
                    let (store, after) = (thread.states[from.index()].0, thread.states[state.index()].0);
                    let cause = thread.changed_by_others[store.index()].iter().find(|(target, _)| *target == after);
                    found.extend(cause.map(|(_, cause)| place(cause.process.index(), cause.from)));
                    from
                }
            };
        }
    }
    found
}

/// The place of a process, as bits of a number for each place.
fn control_bits(model: &Model, process: ProcessId) -> Vec<ExposedFact> {
    let own = TextOwner::Family(model.processes[process].family);
    let procedures = called_procedures(model, process);
    let is_mine = |scope: TextOwner| match scope {
        TextOwner::Procedure(procedure) => procedures.contains(&procedure),
        TextOwner::Family(_) => scope == own,
    };
    let places: Vec<PlaceId> =
        model.places.entries().filter(|(_, place)| is_mine(place.scope)).map(|(id, _)| id).collect();
    bits(places.len())
        .map(|bit| {
            let set = places.iter().enumerate().filter(|(at, _)| at >> bit & 1 != 0).map(|(_, &place)| place).collect();
            ExposedFact { process, part: LocalPart::Place(set) }
        })
        .collect()
}

/// The values of those own cells of a process that no other process sees.
fn cell_bits(model: &Model, process: ProcessId) -> Vec<ExposedFact> {
    let declared = &model.processes[process];
    let own = declared.first_cell..declared.first_cell + model.families[declared.family].n_cells;
    let is_hidden = |cell: &CellId| {
        let var = &model.vars[model.cells[*cell].var];
        matches!(var.storage, Storage::Local(_)) && matches!(var.role, Role::Declared)
    };
    own.map(CellId::new)
        .filter(is_hidden)
        .flat_map(|cell| {
            let values: Vec<Value> = model.cells[cell].ty.values(model.type_context()).take(1 << 16).collect();
            bits(values.len())
                .map(|bit| {
                    let set = values.iter().enumerate().filter(|(at, _)| at >> bit & 1 != 0).map(|(_, &value)| value);
                    ExposedFact { process, part: LocalPart::Cell(cell, set.collect()) }
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// What the slots of the top frame of a process hold.
fn slot_bits(model: &Model, process: ProcessId) -> Vec<ExposedFact> {
    let mut facts = Vec::new();
    for procedure in called_procedures(model, process) {
        let vars = model.procedures[procedure].vars.iter().map(|&var| &model.vars[var]);
        let slots = vars.flat_map(|var| std::iter::repeat_n((var.role, var.ty.scalar()), var.ty.n_cells()));
        for (slot, (role, ty)) in slots.enumerate() {
            if matches!(role, Role::Counter(_)) {
                continue;
            }
            let values: Vec<Value> = ty.values(model.type_context()).take(1 << 16).collect();
            facts.extend(bits(values.len()).map(|bit| {
                let set = values.iter().enumerate().filter(|(at, _)| at >> bit & 1 != 0).map(|(_, &value)| value);
                ExposedFact { process, part: LocalPart::Slot(procedure, slot, set.collect()) }
            }));
        }
    }
    facts
}

/// The bits that distinguish so many things.
fn bits(n_things: usize) -> std::ops::Range<u32> {
    0..usize::BITS - n_things.saturating_sub(1).leading_zeros()
}
