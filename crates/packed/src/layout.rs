//! Where each part of a state is in the packed words.
//!
//! In: a Model and its control points. Out: a field for each process's control point, for each cell, and for processes
//! that call procedures a field for the stack below the top frame (a number, see [`crate::stacks`]) and room for the slots
//! of the top frame, which all procedures share. Counters that are folded into control points have no bits.
//!
//! Processes come one behind the other, each with its control point and its own cells, then what is shared: so a word depends on few
//! processes and has few values, on which [`crate::tree`] depends.
//!
//! A *location* numbers what can be read and written: the cells first, then each process's slots of each procedure.

use std::collections::HashMap;

use model::Model;
use model::control::{ActionId, ActionKind, ProcedureId, TextOwner};
use model::process::ProcessId;
use model::variable::{CellId, Role};

use crate::holders;
use crate::packing::{Field, FieldAllocator, NumberRange};
use crate::points::{ControlPlan, PackedPoints};

/// A stack number never takes more bits than this.
const MAX_STACK_BITS: u32 = 32;

/// The fields of a packed state.
pub struct StateLayout {
    /// How many words a state has.
    pub n_words: usize,
    /// By location: the field, and the numbers that it may hold.
    pub locations: Vec<(Field, NumberRange)>,
    /// By process: its control point.
    pub control: Vec<Field>,
    /// By process: what it needs to call procedures, if it does.
    pub frames: Vec<Option<FrameFields>>,
    /// The places from which procedures are called.
    pub sites: Vec<PackedCallSite>,
    /// The number of a site by process, point and action.
    pub site_ids: HashMap<(ProcessId, u32, ActionId), u32>,
}

/// The fields of a process that calls procedures.
pub struct FrameFields {
    /// The number of the stack below the top frame; 0 is no stack.
    pub stack: Field,
    /// The room for the slots of the top frame; all 0 while there is none.
    pub room: Vec<Field>,
    /// The location of the first slot of each procedure.
    pub first_slot: HashMap<ProcedureId, u32>,
}

/// Where a process calls a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedCallSite {
    /// The caller.
    pub process: ProcessId,
    /// Its control point at the call.
    pub point: u32,
    /// The action that calls.
    pub action: ActionId,
}

impl StateLayout {
    /// Lays out the states of a Model, with at least so many bits for the number of a stack.
    pub fn new(model: &Model, plan: &ControlPlan, least_stack_bits: u32) -> Self {
        let mut allocator = FieldAllocator::default();
        let (control, mut locations) = control_and_cells(model, plan, &mut allocator);
        let mut layout = StateLayout {
            n_words: 0,
            locations: Vec::new(),
            control,
            frames: Vec::new(),
            sites: Vec::new(),
            site_ids: HashMap::new(),
        };
        for process in model.processes.ids() {
            layout.find_sites(model, process, &plan.points[process.index()]);
            let sites: Vec<PackedCallSite> =
                layout.sites.iter().filter(|site| site.process == process).copied().collect();
            let frame = (!sites.is_empty()).then(|| {
                let caller = CallingProcess { model, plan, sites, least_stack_bits };
                caller.fields(&mut allocator, &mut locations)
            });
            layout.frames.push(frame);
        }
        layout.locations = locations;
        layout.n_words = allocator.n_words();
        layout
    }

    /// The number of the site at which a process waits that calls by an action at a point.
    pub fn site(&self, process: ProcessId, point: u32, action: ActionId) -> u32 {
        self.site_ids[&(process, point, action)]
    }

    fn find_sites(&mut self, model: &Model, process: ProcessId, points: &PackedPoints) {
        for (point, at) in points.iter().enumerate() {
            for &action in &model.places[at.place].actions {
                if let ActionKind::Call { site: None, .. } = model.actions[action].kind {
                    let point = point as u32;
                    self.site_ids.insert((process, point, action), self.sites.len() as u32);
                    self.sites.push(PackedCallSite { process, point, action });
                }
            }
        }
        // The texts of shared sites have no loops, so that there is one point of each of their actions.
        let own: HashMap<ActionId, u32> = { self.sites.iter().zip(0..) }
            .filter(|(one, _)| one.process == process)
            .map(|(one, no)| (one.action, no))
            .collect();
        for (point, at) in points.iter().enumerate() {
            for &action in &model.places[at.place].actions {
                if let ActionKind::Call { site: Some(site), .. } = model.actions[action].kind {
                    self.site_ids.insert((process, point as u32, action), own[&site]);
                }
            }
        }
    }
}

/// By process its control point, and by cell where it is.
fn control_and_cells(
    model: &Model,
    plan: &ControlPlan,
    allocator: &mut FieldAllocator,
) -> (Vec<Field>, Vec<(Field, NumberRange)>) {
    let numbers = holders::cell_numbers(model, plan);
    let mut cells: Vec<Vec<CellId>> = vec![Vec::new(); model.processes.len()];
    let mut shared = Vec::new();
    for (id, cell) in model.cells.entries() {
        cell.owner.map_or(&mut shared, |owner| &mut cells[owner.index()]).push(id);
    }
    let mut located = vec![None; model.cells.len()];
    let mut locate = |id: CellId, allocator: &mut FieldAllocator| {
        let numbers = numbers[id.index()];
        let role = &model.vars[model.cells[id].var].role;
        let is_folded = matches!(role, Role::Counter(id) if plan.folded[id.index()]);
        located[id.index()] = Some((allocator.field(if is_folded { first_of(numbers) } else { numbers }), numbers));
    };
    let last_point = |points: &PackedPoints| points.n_points() as i64 - 1;
    let mut control = Vec::new();
    for (points, own) in plan.points.iter().zip(&cells) {
        control.push(allocator.field(NumberRange::between(0, last_point(points))));
        own.iter().for_each(|&id| locate(id, allocator));
    }
    shared.iter().for_each(|&id| locate(id, allocator));
    (control, located.into_iter().map(|place| place.expect("every cell is a process's or shared")).collect())
}

/// Numbers that need no bits, for what is known from the control point.
fn first_of(numbers: NumberRange) -> NumberRange {
    NumberRange::between(numbers.lo, numbers.lo)
}

/// A process that calls procedures.
struct CallingProcess<'a> {
    model: &'a Model,
    plan: &'a ControlPlan,
    sites: Vec<PackedCallSite>,
    least_stack_bits: u32,
}

impl CallingProcess<'_> {
    fn fields(&self, allocator: &mut FieldAllocator, locations: &mut Vec<(Field, NumberRange)>) -> FrameFields {
        let mut procedures: Vec<ProcedureId> = self.sites.iter().map(|site| self.callee(site)).collect();
        procedures.sort();
        procedures.dedup();
        // Each procedure's slots are laid out from the start of words of their own; these lie over one another.
        let mut widths: Vec<u32> = Vec::new();
        let mut relative = Vec::new();
        for &procedure in &procedures {
            let mut inner = FieldAllocator::default();
            let slots: Vec<(Field, NumberRange)> = self.slots(procedure, &mut inner);
            for (word, used) in inner.used_bits().enumerate() {
                if word == widths.len() {
                    widths.push(0);
                }
                widths[word] = widths[word].max(used);
            }
            relative.push(slots);
        }
        let room: Vec<Field> = widths.into_iter().map(|bits| allocator.bits(bits)).collect();
        let mut first_slot = HashMap::new();
        for (&procedure, slots) in procedures.iter().zip(relative) {
            first_slot.insert(procedure, locations.len() as u32);
            locations.extend(slots.into_iter().map(|(slot, numbers)| match slot.mask {
                0 => (slot, numbers),
                _ => {
                    let within = room[slot.word as usize];
                    (Field { word: within.word, shift: within.shift + slot.shift, ..slot }, numbers)
                }
            }));
        }
        FrameFields { stack: allocator.bits(self.n_stack_bits()), room, first_slot }
    }

    fn slots(&self, procedure: ProcedureId, allocator: &mut FieldAllocator) -> Vec<(Field, NumberRange)> {
        let vars = self.model.procedures[procedure].vars.iter().map(|&id| &self.model.vars[id]);
        let locate = |var: &model::variable::Var| {
            let numbers = NumberRange::of(var.ty.scalar(), self.model.type_context());
            let is_folded = matches!(var.role, Role::Counter(id) if self.plan.folded[id.index()]);
            let mut one = || allocator.field(if is_folded { first_of(numbers) } else { numbers });
            (0..var.ty.n_cells()).map(|_| (one(), numbers)).collect::<Vec<_>>()
        };
        vars.flat_map(locate).collect()
    }

    fn callee(&self, site: &PackedCallSite) -> ProcedureId {
        match self.model.actions[site.action].kind {
            ActionKind::Call { procedure, .. } => procedure,
            _ => unreachable!("sites are calls"),
        }
    }

    /// Enough bits to number all stacks; with recursion there is no bound, and 32 bits have to do.
    fn n_stack_bits(&self) -> u32 {
        let mut counted = HashMap::new();
        let below = |procedure| self.n_stacks_below(procedure, &mut counted);
        let mut procedures: Vec<ProcedureId> = self.sites.iter().map(|site| self.callee(site)).collect();
        procedures.sort();
        procedures.dedup();
        let n_stacks: u128 = procedures.into_iter().map(below).fold(0, u128::saturating_add);
        (128 - n_stacks.leading_zeros()).max(self.least_stack_bits).min(MAX_STACK_BITS)
    }

    /// How many stacks there can be below a frame of the procedure; `u128::MAX` with recursion.
    fn n_stacks_below(&self, procedure: ProcedureId, counted: &mut HashMap<ProcedureId, Option<u128>>) -> u128 {
        match counted.get(&procedure) {
            Some(Some(n_stacks)) => return *n_stacks,
            Some(None) => return u128::MAX,
            None => {}
        }
        counted.insert(procedure, None);
        let n_stacks = self.sites.iter().filter(|site| self.callee(site) == procedure).fold(0, |sum: u128, site| {
            let below = match self.model.actions[site.action].scope {
                TextOwner::Family(_) => 1,
                TextOwner::Procedure(caller) => {
                    self.n_frames(caller).saturating_mul(self.n_stacks_below(caller, counted))
                }
            };
            sum.saturating_add(below)
        });
        counted.insert(procedure, Some(n_stacks));
        n_stacks
    }

    /// How many contents the slots of a frame can have.
    fn n_frames(&self, procedure: ProcedureId) -> u128 {
        let vars = self.model.procedures[procedure].vars.iter().map(|&id| &self.model.vars[id]);
        vars.fold(1, |n: u128, var| {
            let n_values = var.ty.scalar().n_values(self.model.type_context());
            (0..var.ty.n_cells()).fold(n, |n, _| n.saturating_mul(n_values))
        })
    }
}
