//! What a state consists of where the processes of one family are interchangeable: the columns of `evidence::views`, read from the state itself.
//!
//! In: a program, the family, and whether arrays have elements for its processes. Out: the columns, in the order in which proofs have them, and what a state holds there.

use std::collections::{BTreeMap, BTreeSet};

use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::Model;
use model::control::{LoopId, Next, PlaceId, TextOwner};
use model::eval::State;
use model::expr::Domain;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::VarId;

/// What a column holds in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    Place(PlaceId),
    Value(Value),
    /// Of a loop over the family that is under way: the processes that it has taken.
    Taken(Option<Vec<ProcessId>>),
}

/// The columns of a program.
pub struct Columns<'m> {
    pub model: &'m Model,
    pub family: FamilyId,
    pub shared: Vec<SharedColumn>,
    pub local: Vec<LocalColumn>,
    /// The dimension of each array with elements for processes.
    rows: BTreeMap<VarId, usize>,
    /// The loops over the family that are under way at a place.
    under_way: BTreeMap<PlaceId, BTreeSet<LoopId>>,
}

impl<'m> Columns<'m> {
    /// The columns; nothing where a place is inside a loop on one way to it and not on another.
    pub fn new(model: &'m Model, family: FamilyId, rows: BTreeMap<VarId, usize>) -> Option<Columns<'m>> {
        let under_way = under_way(model, family)?;
        let mut columns = Columns { model, family, shared: Vec::new(), local: Vec::new(), rows, under_way };
        columns.local.push(LocalColumn::Control);
        columns.local.extend((0..model.families[family].n_cells).map(LocalColumn::Own));
        let mut arrays: Vec<ElementArray> = Vec::new();
        for (id, cell) in model
            .cells
            .entries()
            .filter(|(_, cell)| cell.owner.is_none_or(|owner| model.processes[owner].family != family))
        {
            let Some(&dimension) = columns.rows.get(&cell.var) else {
                columns.shared.push(SharedColumn::Cell(id));
                continue;
            };
            let array = ElementArray { var: cell.var, owner: cell.owner };
            if !arrays.contains(&array) {
                arrays.push(array);
                let ty = &model.vars[cell.var].ty;
                let n_each = ty.n_cells() / ty.dimensions()[dimension];
                columns.local.extend((0..n_each).map(|at| LocalColumn::Element(array, at)));
            }
        }
        let others = model.processes.ids().filter(|&process| model.processes[process].family != family);
        columns.shared.extend(others.map(SharedColumn::Control));
        for (id, counted) in model.loops.entries().filter(|(_, counted)| counted.domain == Domain::Family(family)) {
            if counted.scope != TextOwner::Family(family) {
                return None;
            }
            columns.local.push(LocalColumn::Taken(id));
        }
        Some(columns)
    }

    /// The processes of the family.
    pub fn members(&self) -> Vec<ProcessId> {
        self.model.families[self.family].processes().collect()
    }

    pub fn is_member(&self, process: ProcessId) -> bool {
        self.model.processes[process].family == self.family
    }

    /// Whether a column is the counter of a loop over the family.
    pub fn is_counter(&self, column: LocalColumn) -> bool {
        let counts = |(id, offset): (LoopId, usize)| self.model.vars[self.model.loops[id].counter].offset == offset;
        let loops =
            || self.local.iter().filter_map(|one| if let LocalColumn::Taken(id) = one { Some(*id) } else { None });
        matches!(column, LocalColumn::Own(offset) if loops().any(|id| counts((id, offset))))
    }

    /// Whom the loop over the family that is under way takes now.
    pub fn taken_now(&self, state: &State, process: ProcessId) -> Option<ProcessId> {
        let ids = self.under_way.get(&state.place(process))?;
        let counter = |id: &LoopId| self.model.cells_of(self.model.loops[*id].counter, Some(process)).next();
        let cell = ids.iter().next().and_then(counter)?;
        if let Value::Process(now) = state.cells[cell.index()] { Some(now) } else { None }
    }

    /// What a column of the shared part holds.
    pub fn shared_held(&self, state: &State, column: SharedColumn) -> Held {
        match column {
            SharedColumn::Cell(cell) => Held::Value(state.cells[cell.index()]),
            SharedColumn::Control(process) => Held::Place(state.place(process)),
            SharedColumn::Taken(..) => Held::Taken(None),
        }
    }

    /// What a column of a process's local state holds. The counter of a loop over the family that is not under way holds nobody.
    pub fn local_held(&self, state: &State, process: ProcessId, column: LocalColumn) -> Held {
        let model = self.model;
        let cell = match column {
            LocalColumn::Control => return Held::Place(state.place(process)),
            LocalColumn::Taken(id) => {
                let is_under_way = self.under_way.get(&state.place(process)).is_some_and(|ids| ids.contains(&id));
                let now = self.taken_now(state, process).filter(|_| is_under_way);
                return Held::Taken(now.map(|now| self.members().into_iter().filter(|&one| one < now).collect()));
            }
            LocalColumn::Own(at) => model.processes[process].first_cell + at,
            LocalColumn::Element(array, at) => {
                let dimensions = model.vars[array.var].ty.dimensions();
                let dimension = self.rows[&array.var];
                let after: usize = dimensions[dimension + 1..].iter().product();
                let index = model.processes[process].index as usize;
                let position = (at / after * dimensions[dimension] + index) * after + at % after;
                let cells = model.cells_of(array.var, array.owner);
                cells.map(|cell| cell.index()).nth(position).expect("the array has an element for each process")
            }
        };
        if self.is_counter(column) && !self.counts_now(state, process, column) {
            return Held::Value(Value::None);
        }
        Held::Value(state.cells[cell])
    }

    fn counts_now(&self, state: &State, process: ProcessId, column: LocalColumn) -> bool {
        let ids = self.under_way.get(&state.place(process));
        let offset = |id: &LoopId| self.model.vars[self.model.loops[*id].counter].offset;
        ids.into_iter().flatten().any(|id| column == LocalColumn::Own(offset(id)))
    }
}

/// For each place the loops over the family that are under way there; nothing where that depends on how a process got there.
fn under_way(model: &Model, family: FamilyId) -> Option<BTreeMap<PlaceId, BTreeSet<LoopId>>> {
    let is_over = |id: LoopId| model.loops[id].domain == Domain::Family(family);
    let mut known: BTreeMap<PlaceId, BTreeSet<LoopId>> = BTreeMap::new();
    let mut open: Vec<(&Next, BTreeSet<LoopId>)> =
        model.families.iter().map(|family| (&family.entry, BTreeSet::new())).collect();
    let mut seen: Vec<(&Next, BTreeSet<LoopId>)> = Vec::new();
    while let Some((next, mut inside)) = open.pop() {
        if seen.contains(&(next, inside.clone())) {
            continue;
        }
        seen.push((next, inside.clone()));
        match next {
            Next::To(place) => match known.get(place) {
                Some(before) if *before != inside => return None,
                Some(_) => {}
                None => {
                    known.insert(*place, inside.clone());
                    let actions = model.places[*place].actions.iter();
                    open.extend(actions.map(|&action| (&model.actions[action].next, inside.clone())));
                }
            },
            Next::Enter { enter, skip } => {
                open.push((skip, inside.clone()));
                inside.extend(is_over(*enter).then_some(*enter));
                open.push((&model.loops[*enter].body, inside));
            }
            Next::Again { again, done } => {
                if is_over(*again) && !inside.contains(again) {
                    return None;
                }
                open.push((&model.loops[*again].body, inside.clone()));
                inside.remove(again);
                open.push((done, inside));
            }
            Next::Leave { loops, then } => {
                loops.iter().for_each(|left| _ = inside.remove(left));
                open.push((then, inside));
            }
        }
    }
    Some(known)
}
