//! Control points: the control locations of the top frame of a process.
//!
//! In: a Model. Out: for each process the list of its points, each a place with the values that the counters of the text's
//! loops have there. A point is one number in the packed state, so that a counter takes no bits of its own, and in the code
//! of a point's steps every counter is a constant. The points are found by following control from the entry, guards aside.
//!
//! Loops over thousands of values would make too many points. Their counters stay variables (they are not *folded*), and
//! so do those whose bounds are not constants in each copy.

use std::collections::{HashMap, HashSet};

use model::Model;
use model::control::{ActionKind, LoopId, Next, PlaceId, TextOwner};
use model::eval::{self, Control, Frame, State, StepFault};
use model::expr::{Domain, Expr, ExprKind};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{Role, Storage};

use crate::walk;

/// The values of folded counters, by loop; a loop that control is not in has its counter's first value.
pub type FoldedCounters = Vec<(LoopId, Value)>;

/// A control location of the top frame of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackedPoint {
    /// The place.
    pub place: PlaceId,
    /// The folded counters of the place's text.
    pub counters: FoldedCounters,
}

/// The points of one process, numbered.
#[derive(Clone, Debug, Default)]
pub struct PackedPoints {
    list: Vec<PackedPoint>,
    ids: HashMap<PackedPoint, u32>,
}

impl PackedPoints {
    /// The points in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, PackedPoint> {
        self.list.iter()
    }

    /// The point with a number.
    pub fn point(&self, id: u32) -> &PackedPoint {
        &self.list[id as usize]
    }

    /// How many there are.
    pub fn n_points(&self) -> usize {
        self.list.len()
    }

    /// The number of a point, if control can get there.
    pub fn id(&self, point: &PackedPoint) -> Option<u32> {
        self.ids.get(point).copied()
    }

    /// Adds a point; whether it is new.
    fn add(&mut self, point: PackedPoint) -> bool {
        let id = self.list.len() as u32;
        let new = !self.ids.contains_key(&point);
        if new {
            self.ids.insert(point.clone(), id);
            self.list.push(point);
        }
        new
    }
}

/// The points of all processes, and which loops are folded into them.
pub struct ControlPlan {
    /// By loop.
    pub folded: Vec<bool>,
    /// By process.
    pub points: Vec<PackedPoints>,
}

impl ControlPlan {
    /// Folds as many loops as there may be points for, all processes together.
    pub fn new(model: &Model, max_points: usize) -> Self {
        let mut folded = vec![true; model.loops.len()];
        loop {
            unfold_dependents(model, &mut folded);
            if let Some(points) = all_points(model, &folded, max_points) {
                return ControlPlan { folded, points };
            }
            let n_values = |id: LoopId| model.vars[model.loops[id].counter].ty.scalar().n_values(model.type_context());
            let folded_ids = model.loops.ids().filter(|id| folded[id.index()]);
            match folded_ids.max_by_key(|&id| n_values(id)) {
                Some(largest) => folded[largest.index()] = false,
                None => unreachable!("without folded loops there are no more points than places and processes"),
            }
        }
    }
}

/// Evaluates the bounds of loops for a process, given the folded counters.
pub struct LoopBounds<'m> {
    model: &'m Model,
    /// A state of which only the counters matter.
    state: State,
}

impl<'m> LoopBounds<'m> {
    /// For the processes of a Model.
    pub fn new(model: &'m Model) -> Self {
        let state = eval::initial_states(model).next().expect("a program has an initial state");
        LoopBounds { model, state }
    }

    /// The first and the last value of a folded loop's counter; `None` where there is none.
    pub fn ends(
        &mut self,
        me: ProcessId,
        id: LoopId,
        counters: &FoldedCounters,
    ) -> Result<Option<(Value, Value)>, StepFault> {
        match &self.model.loops[id].domain {
            Domain::Family(family) => {
                let mut processes = self.model.families[*family].processes().map(Value::Process);
                let first = processes.next();
                Ok(first.map(|first| (first, processes.last().unwrap_or(first))))
            }
            Domain::Enum(id) => {
                let n_values = self.model.enums[*id].values.len() as u32;
                Ok(n_values.checked_sub(1).map(|last| (Value::Enum(*id, 0), Value::Enum(*id, last))))
            }
            Domain::Range(lo, hi) => {
                self.set_counters(me, counters);
                let lo = eval::evaluate(self.model, &self.state, lo, Some(me))?;
                let hi = eval::evaluate(self.model, &self.state, hi, Some(me))?;
                Ok((lo <= hi).then_some((lo, hi)))
            }
        }
    }

    /// The value of an expression that speaks of nothing but the process itself and the folded counters.
    pub fn constant(&mut self, me: ProcessId, counters: &FoldedCounters, expr: &Expr) -> Option<Value> {
        let mut constant = true;
        walk::expressions(expr, &mut |part: &Expr| {
            constant &= match &part.kind {
                ExprKind::Read(access) => match self.model.vars[access.var].role {
                    Role::Counter(id) => counters.iter().any(|(folded, _)| *folded == id),
                    _ => false,
                },
                ExprKind::At { .. } | ExprKind::Bound(_) => false,
                _ => true,
            };
        });
        if !constant {
            return None;
        }
        self.set_counters(me, counters);
        eval::evaluate(self.model, &self.state, expr, Some(me)).ok()
    }

    fn set_counters(&mut self, me: ProcessId, counters: &FoldedCounters) {
        for &(id, value) in counters {
            let counter = self.model.loops[id].counter;
            match self.model.vars[counter].storage {
                Storage::Frame(procedure) => {
                    let place = self.state.place(me);
                    let slots = vec![value; self.model.procedures[procedure].n_slots];
                    let stack = &mut self.state.stacks[me.index()];
                    if stack.len() < 2 || stack[1].slots.len() != slots.len() {
                        stack.truncate(1);
                        stack.push(Frame { control: Control::At(place), slots });
                    }
                    stack[1].slots[self.model.vars[counter].offset] = value;
                }
                _ => {
                    let cell = self.model.cells_of(counter, Some(me)).next().expect("a counter is one cell");
                    self.state.cells[cell.index()] = value;
                }
            }
        }
    }
}

/// The first value of a loop's counter, which it has outside the loop.
pub fn rest_value(model: &Model, id: LoopId) -> Value {
    let ty = model.vars[model.loops[id].counter].ty.scalar();
    ty.first_value(model.type_context()).expect("a counter's type has a value")
}

/// The counters of a text whose loops are all at rest.
pub fn counters_at_rest(model: &Model, folded: &[bool], scope: TextOwner) -> FoldedCounters {
    let mine = model.loops.entries().filter(|(id, declared)| declared.scope == scope && folded[id.index()]);
    mine.map(|(id, _)| (id, rest_value(model, id))).collect()
}

/// The value after this one in a domain that does not end here.
pub fn following(value: Value) -> Value {
    match value {
        Value::Int(number) => Value::Int(number + 1),
        Value::Process(id) => Value::Process(ProcessId::new(id.index() + 1)),
        Value::Enum(id, at) => Value::Enum(id, at + 1),
        Value::Bool(_) | Value::None => unreachable!("no domain has {value:?}"),
    }
}

/// Gives a folded counter its value.
pub fn set_counter(counters: &mut FoldedCounters, id: LoopId, value: Value) {
    for (other, held) in counters {
        if *other == id {
            *held = value;
        }
    }
}

/// The points of all processes, or `None` if there are too many.
fn all_points(model: &Model, folded: &[bool], max_points: usize) -> Option<Vec<PackedPoints>> {
    let mut n_points = 0;
    let mut bounds = LoopBounds::new(model);
    let mut explore = |process| {
        let max = max_points.saturating_sub(n_points).max(model.places.len());
        let points = PointFollower { model, folded, bounds: &mut bounds, me: process }.points(max)?;
        n_points += points.n_points();
        Some(points)
    };
    model.processes.ids().map(&mut explore).collect()
}

struct PointFollower<'a, 'm> {
    model: &'m Model,
    folded: &'a [bool],
    bounds: &'a mut LoopBounds<'m>,
    me: ProcessId,
}

impl<'m> PointFollower<'_, 'm> {
    /// All points of the process, or `None` if there are more than `max`.
    fn points(mut self, max: usize) -> Option<PackedPoints> {
        let family_id = self.model.processes[self.me].family;
        let rest = counters_at_rest(self.model, self.folded, TextOwner::Family(family_id));
        let mut points = PackedPoints::default();
        let mut open = self.targets(&self.model.families[family_id].entry, rest);
        while let Some(point) = open.pop() {
            if !points.add(point.clone()) {
                continue;
            }
            if points.n_points() > max {
                return None;
            }
            for &action in &self.model.places[point.place].actions {
                let action = &self.model.actions[action];
                if let ActionKind::Call { procedure, entry, .. } = &action.kind {
                    let rest = counters_at_rest(self.model, self.folded, TextOwner::Procedure(*procedure));
                    let entry = entry.as_ref().unwrap_or(&self.model.procedures[*procedure].entry);
                    open.extend(self.targets(entry, rest));
                }
                if !matches!(action.kind, ActionKind::Return { .. }) {
                    open.extend(self.targets(&action.next, point.counters.clone()));
                }
            }
        }
        Some(points)
    }

    /// Where control can get by `next`: one point, or several where a counter is not folded.
    fn targets(&mut self, next: &'m Next, counters: FoldedCounters) -> Vec<PackedPoint> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![(next, counters)];
        while let Some((next, mut counters)) = open.pop() {
            // An unfolded loop with an empty body leads back to itself.
            if !seen.insert((std::ptr::from_ref(next), counters.clone())) {
                continue;
            }
            match next {
                Next::To(place) => found.push(PackedPoint { place: *place, counters }),
                Next::Leave { loops, then } => {
                    for &left in loops {
                        set_counter(&mut counters, left, rest_value(self.model, left));
                    }
                    open.push((then, counters));
                }
                Next::Enter { enter, skip } if self.folded[enter.index()] => {
                    // A fault in the bounds leads nowhere.
                    match self.bounds.ends(self.me, *enter, &counters) {
                        Ok(Some((first, _))) => {
                            set_counter(&mut counters, *enter, first);
                            open.push((&self.model.loops[*enter].body, counters));
                        }
                        Ok(None) => open.push((skip, counters)),
                        Err(_) => {}
                    }
                }
                Next::Again { again, done } if self.folded[again.index()] => {
                    let ends = self.bounds.ends(self.me, *again, &counters);
                    let current = counters.iter().find(|(id, _)| id == again).map(|&(_, value)| value);
                    match (ends, current) {
                        (Err(_), _) => {}
                        (Ok(Some((_, last))), Some(current)) if current != last => {
                            set_counter(&mut counters, *again, following(current));
                            open.push((&self.model.loops[*again].body, counters));
                        }
                        _ => {
                            set_counter(&mut counters, *again, rest_value(self.model, *again));
                            open.push((done, counters));
                        }
                    }
                }
                Next::Enter { enter: id, skip: past } | Next::Again { again: id, done: past } => {
                    open.push((&self.model.loops[*id].body, counters.clone()));
                    open.push((past, counters));
                }
            }
        }
        found
    }
}

/// Unfolds loops whose bounds are not constants, given those that are folded.
fn unfold_dependents(model: &Model, folded: &mut [bool]) {
    loop {
        let constant = |id: LoopId| match &model.loops[id].domain {
            Domain::Range(lo, hi) => is_constant(model, folded, lo) && is_constant(model, folded, hi),
            Domain::Family(_) | Domain::Enum(_) => true,
        };
        let Some(unfit) = model.loops.ids().find(|&id| folded[id.index()] && !constant(id)) else { return };
        folded[unfit.index()] = false;
    }
}

fn is_constant(model: &Model, folded: &[bool], expr: &Expr) -> bool {
    let mut constant = true;
    walk::expressions(expr, &mut |part: &Expr| {
        constant &= match &part.kind {
            ExprKind::Read(access) => match model.vars[access.var].role {
                Role::Counter(id) => folded[id.index()],
                _ => false,
            },
            ExprKind::At { .. } => false,
            _ => true,
        };
    });
    constant
}
