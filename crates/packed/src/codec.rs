//! Between the states of `model::eval` and packed ones.
//!
//! In: either. Out: the other; both directions lose nothing. Evidence is shown in states of `eval`; tests compare packed
//! steps with those of `eval` through this.

use base::Budget;
use model::Model;
use model::control::{ActionId, PlaceId, TextOwner};
use model::eval::{Control, Frame, State};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, Var};

use crate::layout::StateLayout;
use crate::packing::{decode, encode};
use crate::points::{ControlPlan, FoldedCounters, PackedPoint, counters_at_rest};
use crate::stacks::{Stacks, WaitingFrame};

/// How far the program is written out. Beyond, loops and quantifiers stay what they are, which is slower.
#[derive(Clone, Copy, Debug)]
pub struct UnrollLimits {
    /// Control points of all processes together.
    pub max_points: usize,
    /// Instances of the quantifiers and loops in one expression or step.
    pub max_unrolled: usize,
    /// Terms of the whole program.
    pub max_terms: usize,
    /// The numbers of stacks have at least so many bits, at most 32: enough for stacks that no run builds.
    pub least_stack_bits: u32,
}

impl Default for UnrollLimits {
    fn default() -> Self {
        UnrollLimits { max_points: 1 << 16, max_unrolled: 1 << 13, max_terms: 1 << 23, least_stack_bits: 0 }
    }
}

/// What is needed to pack and to unpack.
pub struct Codec<'m> {
    /// The program.
    pub model: &'m Model,
    /// Its control points.
    pub plan: ControlPlan,
    /// Where everything is.
    pub layout: StateLayout,
    /// By process: the stacks that were reached.
    pub stacks: Vec<Stacks>,
    /// How far the program is written out.
    pub limits: UnrollLimits,
    /// Whose turns the compiler keeps to.
    budget: Budget,
}

impl<'m> Codec<'m> {
    /// For the states of a Model.
    pub fn new(model: &'m Model, limits: UnrollLimits) -> Self {
        Codec::within(model, limits, &Budget::unlimited())
    }

    /// The same for work that has a budget: where it works in turns, to compile a program of many processes pauses between them.
    pub fn within(model: &'m Model, limits: UnrollLimits, budget: &Budget) -> Self {
        let plan = ControlPlan::new(model, limits.max_points);
        let layout = StateLayout::new(model, &plan, limits.least_stack_bits);
        let stacks = model.processes.ids().map(|_| Stacks::default()).collect();
        Codec { model, plan, layout, stacks, limits, budget: budget.clone() }
    }

    /// Waits where it is not the turn of this work; what the budget forbids is noticed by whoever runs the code.
    pub(crate) fn pause(&self) {
        let _may_go_on = self.budget.check(0);
    }

    /// The packed form of a state, as many words as the layout says.
    ///
    /// # Panics
    /// If control is where it cannot get.
    pub fn pack(&self, state: &State) -> Vec<u64> {
        let mut packed = vec![0; self.layout.n_words];
        for (&value, (field, _)) in state.cells.iter().zip(&self.layout.locations) {
            field.put(&mut packed, encode(value));
        }
        for process in self.model.processes.ids() {
            self.pack_stack(process, state, &mut packed);
        }
        packed
    }

    /// The state that is packed in the words.
    pub fn unpack(&self, packed: &[u64]) -> State {
        let stacks: Vec<Vec<Frame>> =
            self.model.processes.ids().map(|process| self.unpack_stack(process, packed)).collect();
        let mut cells: Vec<Value> = self
            .model
            .cells
            .iter()
            .zip(&self.layout.locations)
            .map(|(cell, (field, _))| decode(field.get(packed), cell.ty))
            .collect();
        for process in self.model.processes.ids() {
            // The counters of a process's own text are part of its bottom frame's point, and cells of the state.
            let bottom = self.bottom_point(process, packed);
            // A stack that was cut off below has a procedure's frame at its bottom.
            if matches!(self.model.places[bottom.place].scope, TextOwner::Procedure(_)) {
                continue;
            }
            for &(id, value) in &bottom.counters {
                let counter = self.model.loops[id].counter;
                for cell in self.model.cells_of(counter, Some(process)) {
                    cells[cell.index()] = value;
                }
            }
        }
        State { cells, stacks }
    }

    fn pack_stack(&self, process: ProcessId, state: &State, packed: &mut [u64]) {
        let mut below = 0;
        for frame in &state.stacks[process.index()] {
            let (place, calls) = match frame.control {
                Control::At(place) => (place, None),
                Control::Calling(action) => (self.model.actions[action].source, Some(action)),
            };
            let point = self.point(process, place, frame, state);
            self.put_slots(process, place, frame, packed);
            match calls {
                None => self.layout.control[process.index()].put(packed, i64::from(point)),
                Some(action) => {
                    let site = self.layout.site_ids[&(process, point, action)];
                    below = self.push(process, site, below, packed).expect("few stacks are packed by hand");
                }
            }
        }
        if let Some(frames) = &self.layout.frames[process.index()] {
            frames.stack.put(packed, i64::from(below));
        }
    }

    /// Puts the top frame's slots away onto a stack and clears its room; the number of the new stack.
    pub fn push(&self, process: ProcessId, site: u32, below: u32, packed: &mut [u64]) -> Option<u32> {
        let frames = self.layout.frames[process.index()].as_ref().expect("the process calls procedures");
        let slots = frames.room.iter().map(|field| field.raw(packed)).collect();
        for field in &frames.room {
            field.put(packed, 0);
        }
        self.stacks[process.index()].number(WaitingFrame { site, slots, below })
    }

    /// Takes the upper frame from the stack: its slots are the top frame's again. The site of the call.
    pub fn pop(&self, process: ProcessId, packed: &mut [u64]) -> u32 {
        let frames = self.layout.frames[process.index()].as_ref().expect("the process calls procedures");
        let upper = self.stacks[process.index()].stack(frames.stack.raw(packed) as u32);
        for (field, &slots) in frames.room.iter().zip(&upper.slots) {
            field.put(packed, slots as i64);
        }
        frames.stack.put(packed, i64::from(upper.below));
        upper.site
    }

    /// The upper frame of the stack with a number, and the loop counters of the process's own text that wait with it.
    pub fn waiting_frame(&self, process: ProcessId, number: u32) -> (Frame, Vec<(CellId, Value)>) {
        let mut packed = vec![0; self.layout.n_words];
        let frames = self.layout.frames[process.index()].as_ref().expect("the process calls procedures");
        frames.stack.put(&mut packed, i64::from(number));
        let site = self.layout.sites[self.pop(process, &mut packed) as usize];
        let PackedPoint { place, counters } = self.plan.points[process.index()].point(site.point);
        let in_own_text = matches!(self.model.places[*place].scope, TextOwner::Family(_));
        let counters = counters.iter().filter(|_| in_own_text).flat_map(|&(id, value)| {
            self.model.cells_of(self.model.loops[id].counter, Some(process)).map(move |cell| (cell, value))
        });
        let mut counters: Vec<(CellId, Value)> = counters.collect();
        counters.sort_unstable_by_key(|(cell, _)| *cell);
        (self.unpack_frame(process, site.point, Some(site.action), &packed), counters)
    }

    fn point(&self, process: ProcessId, place: PlaceId, frame: &Frame, state: &State) -> u32 {
        let mut counters = counters_at_rest(self.model, &self.plan.folded, self.model.places[place].scope);
        for (id, value) in &mut counters {
            let counter = self.model.loops[*id].counter;
            *value = match self.model.loops[*id].scope {
                TextOwner::Procedure(_) => frame.slots[self.model.vars[counter].offset],
                TextOwner::Family(_) => {
                    let mut cells = self.model.cells_of(counter, Some(process));
                    state.cells[cells.next().expect("a counter is one cell").index()]
                }
            };
        }
        let point = PackedPoint { place, counters };
        self.plan.points[process.index()].id(&point).expect("control is where it can get")
    }

    fn put_slots(&self, process: ProcessId, place: PlaceId, frame: &Frame, packed: &mut [u64]) {
        if let Some(first) = self.first_slot(process, place) {
            let fields = &self.layout.locations[first as usize..];
            for (&value, (field, _)) in frame.slots.iter().zip(fields) {
                field.put(packed, encode(value));
            }
        }
    }

    fn first_slot(&self, process: ProcessId, place: PlaceId) -> Option<u32> {
        match self.model.places[place].scope {
            TextOwner::Family(_) => None,
            TextOwner::Procedure(procedure) => {
                let frames = self.layout.frames[process.index()].as_ref();
                Some(frames.expect("a procedure runs only where it is called").first_slot[&procedure])
            }
        }
    }

    fn unpack_stack(&self, process: ProcessId, packed: &[u64]) -> Vec<Frame> {
        let mut packed = packed.to_vec();
        let point = self.layout.control[process.index()].raw(&packed) as u32;
        let mut stack = vec![self.unpack_frame(process, point, None, &packed)];
        let frames = self.layout.frames[process.index()].as_ref();
        while frames.is_some_and(|frames| frames.stack.raw(&packed) != 0) {
            let site = self.layout.sites[self.pop(process, &mut packed) as usize];
            stack.push(self.unpack_frame(process, site.point, Some(site.action), &packed));
        }
        stack.reverse();
        stack
    }

    fn unpack_frame(&self, process: ProcessId, point: u32, calls: Option<ActionId>, packed: &[u64]) -> Frame {
        let PackedPoint { place, counters } = self.plan.points[process.index()].point(point);
        let control = calls.map_or(Control::At(*place), Control::Calling);
        let TextOwner::Procedure(procedure) = self.model.places[*place].scope else {
            return Frame { control, slots: Vec::new() };
        };
        let mut location = self.first_slot(process, *place).expect("the frame is a procedure's") as usize;
        let mut slots = Vec::new();
        for var in self.model.procedures[procedure].vars.iter().map(|&id| &self.model.vars[id]) {
            for _ in 0..var.ty.n_cells() {
                let number = self.layout.locations[location].0.get(packed);
                slots.push(folded_value(var, counters).unwrap_or(decode(number, var.ty.scalar())));
                location += 1;
            }
        }
        Frame { control, slots }
    }

    fn bottom_point(&self, process: ProcessId, packed: &[u64]) -> &PackedPoint {
        let points = &self.plan.points[process.index()];
        let Some(frames) = &self.layout.frames[process.index()] else {
            return points.point(self.layout.control[process.index()].raw(packed) as u32);
        };
        let mut bottom = self.layout.control[process.index()].raw(packed) as u32;
        let mut stack = frames.stack.raw(packed) as u32;
        while stack != 0 {
            let upper = self.stacks[process.index()].stack(stack);
            bottom = self.layout.sites[upper.site as usize].point;
            stack = upper.below;
        }
        points.point(bottom)
    }
}

/// The value of a counter that is part of the point.
fn folded_value(var: &Var, counters: &FoldedCounters) -> Option<Value> {
    match var.role {
        Role::Counter(id) => counters.iter().find(|(other, _)| *other == id).map(|&(_, value)| value),
        _ => None,
    }
}
