//! The initial configurations, and what a concrete state looks like as one.
//!
//! In: a Model and a number of processes to be seen. Out: all configurations that initial states of any size can look like. Values that
//! start anywhere start with each of their type; a cell that starts with a particular process of the family starts with any, unless that
//! is one of the named processes. What a process of the family starts with may depend on whether it is one of these.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Span};
use model::Model;
use model::control::{LoopId, Next, PlaceId, TextOwner};
use model::eval::{Control, State, free_cells, initial_states};
use model::expr::{Expr, ExprKind};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Init};
use model::visit::each_part;

use crate::choices::Choices;
use crate::configuration::{Configuration, Item, MOST_SLOTS, Slot};
use crate::fixpoint::Failure;
use crate::hiding::hide;
use crate::layout::{Layout, LocalColumn, Presence, SharedColumn, holds_members, is_over};
use crate::presence::is_seen;
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who};

/// Limits are looked at after so many configurations.
const CHECK_EVERY: usize = 64;

/// At most so many of them.
#[derive(Clone, Copy, Debug)]
pub struct StartLimits<'b> {
    /// In configurations.
    pub most: usize,
    /// In time and memory.
    pub budget: &'b Budget,
}

/// The initial configurations with `k` seen processes, in canonical form.
///
/// # Errors
/// Processes do not start alike, or a limit.
pub fn initial(ground: Ground<'_>, k: usize, limits: StartLimits<'_>) -> Result<BTreeSet<Configuration>, Failure> {
    let outside = Failure::Outside(Span::default());
    let model = ground.model;
    let first = initial_states(model).next().ok_or(outside.clone())?;
    let start = Start { ground, first: &first, free: free_cells(model).into_iter().collect() };
    if !start.is_alike() {
        return Err(outside);
    }
    let mut choices = Choices::default();
    let mut found = BTreeSet::new();
    for n_tried in 0_usize.. {
        if n_tried.is_multiple_of(CHECK_EVERY) {
            let bytes = found.first().map_or(0, Configuration::bytes) * found.len() as u64;
            limits.budget.check(bytes).map_err(Failure::Stopped)?;
        }
        match start.one(k, &mut choices) {
            Ok(mut config) => {
                hide(ground.layout, &mut config);
                found.insert(config.canonical());
            }
            Err(Halt::Blocked) => {}
            Err(_) => return Err(outside),
        }
        if found.len() > limits.most {
            return Err(Failure::TooMany);
        }
        if !choices.advance() {
            break;
        }
    }
    Ok(found)
}

struct Start<'a, 'm> {
    ground: Ground<'m>,
    first: &'a State,
    free: BTreeSet<CellId>,
}

impl<'m> Start<'_, 'm> {
    /// Whether every process of the family starts like the first one, where the text does not ask which one it is.
    fn is_alike(&self) -> bool {
        let Ground { model, layout, .. } = self.ground;
        let mut processes = model.families[layout.family].processes();
        let Some(first) = processes.next() else { return false };
        let starts = |process: ProcessId, column: LocalColumn| {
            let cell = local_cell(model, layout, process, column)?;
            if asks_who(model, layout, cell).is_some() {
                return None;
            }
            let value = match self.first.cells[cell.index()] {
                Value::Process(id) if layout.is_member(model, id) => None,
                value => Some(value),
            };
            Some((value, self.free.contains(&cell)))
        };
        processes.all(|process| layout.local.iter().all(|&column| starts(process, column) == starts(first, column)))
    }

    fn one(&self, k: usize, choices: &mut Choices) -> Result<Configuration, Halt> {
        let Ground { model, layout, .. } = self.ground;
        let slots = vec![Some(Vec::new()); k];
        let order = if layout.is_ordered { (0..k as Slot).collect() } else { Vec::new() };
        let mut sight = Sight {
            ground: self.ground,
            config: Configuration { shared: vec![Item::Taken(0); layout.n_shared()], slots, order },
            me: Who::Nobody,
            bound: Vec::new(),
            guessing: Guessing { contents: true, witnesses: true },
            choices,
            needs: Needs::default(),
        };
        for at in 0..layout.named.len() {
            let slot = name(&mut sight, at)?;
            sight.config.shared[layout.shared.len() + at] = Item::Slot(slot);
        }
        for (at, &column) in layout.shared.iter().enumerate() {
            sight.config.shared[at] = match column {
                SharedColumn::Cell(cell) => self.content(&mut sight, cell)?,
                SharedColumn::Control(process) => Item::Place(self.first.place(process)),
                SharedColumn::Taken(..) => Item::Taken(0),
            };
        }
        let process = model.families[layout.family].first;
        for slot in 0..k {
            sight.me = Who::Slot(slot as Slot);
            for &column in &layout.local {
                let item = match (column, local_cell(model, layout, process, column)) {
                    (LocalColumn::Control, _) => Item::Place(self.first.place(process)),
                    (LocalColumn::Taken(_), _) | (_, None) => Item::Taken(0),
                    (_, Some(cell)) => self.content(&mut sight, cell)?,
                };
                if let Some(local) = &mut sight.config.slots[slot] {
                    local.push(item);
                }
            }
        }
        self.enter(&mut sight, k)?;
        for at in 0..layout.present.len() {
            let is_there = is_seen(layout, &sight.config, at)
                || self.differ(layout.local[layout.present[at].column]) && sight.choices.choose(2) == 1;
            sight.config.shared[layout.first_presence() + at] = Item::Value(Value::Bool(is_there));
        }
        Ok(sight.config)
    }

    /// Whether processes may start with different values in a column.
    fn differ(&self, column: LocalColumn) -> bool {
        let Ground { model, layout, .. } = self.ground;
        let cell = local_cell(model, layout, model.families[layout.family].first, column);
        cell.is_none_or(|cell| self.free.contains(&cell) || asks_who(model, layout, cell).is_some())
    }

    /// Everybody goes to its entry, into loops where it begins with them.
    fn enter(&self, sight: &mut Sight<'_, 'm>, k: usize) -> Result<(), Halt> {
        let Ground { model, layout, .. } = self.ground;
        let scans: Vec<LoopId> =
            model.loops.entries().filter(|(_, one)| is_over(&one.domain, layout.family)).map(|(id, _)| id).collect();
        let others = model.processes.ids().filter(|&process| !layout.is_member(model, process)).map(Who::Other);
        for who in (0..k as Slot).map(Who::Slot).chain(others) {
            sight.me = who;
            let family = match who {
                Who::Other(process) => model.processes[process].family,
                _ => layout.family,
            };
            for &id in scans.iter().filter(|&&id| model.loops[id].scope == TextOwner::Family(family)) {
                sight.reset(id)?;
            }
            sight.follow(&model.families[family].entry)?;
        }
        Ok(())
    }

    fn content(&self, sight: &mut Sight<'_, 'm>, cell: CellId) -> Result<Item, Halt> {
        let Ground { model, layout, .. } = self.ground;
        let ty = model.cells[cell].ty;
        if let Some(start) = asks_who(model, layout, cell) {
            let value = sight.value(start)?;
            let fits = matches!(value, Item::Value(value) if ty.contains(value, model.type_context()));
            return fits.then_some(value).ok_or(Halt::Outside(start.span));
        }
        match self.first.cells[cell.index()] {
            _ if self.free.contains(&cell) => sight.any(ty),
            Value::Process(id) if layout.is_member(model, id) => match constant(model, cell) {
                Some(start) if layout.named_column(model.processes[id].index).is_some() => sight.value(start),
                _ => sight.any_member().map(Item::Slot),
            },
            value => Ok(Item::Value(value)),
        }
    }
}

/// The slot of the named process of this index: one of those that are seen, or another one.
fn name(sight: &mut Sight<'_, '_>, at: usize) -> Result<Slot, Halt> {
    let layout = sight.ground.layout;
    let config = &mut sight.config;
    if layout.is_ordered {
        let there = config.order.get(at).copied();
        let is_there = there.is_some() && sight.choices.choose(2) == 0;
        return Ok(there.filter(|_| is_there).unwrap_or_else(|| config.push(Some(at))));
    }
    let taken = &config.shared[layout.shared.len()..layout.shared.len() + at];
    let free: Vec<Slot> = (0..config.slots.len() as Slot).filter(|&slot| !taken.contains(&Item::Slot(slot))).collect();
    match free.get(sight.choices.choose(free.len() + 1)) {
        Some(&slot) => Ok(slot),
        None if config.slots.len() >= MOST_SLOTS => Err(Halt::Outside(Span::default())),
        None => Ok(config.push(None)),
    }
}

/// What the cells of a variable start with, where that is one expression.
fn fill(model: &Model, cell: CellId) -> Option<&Expr> {
    match &model.vars[model.cells[cell].var].init {
        Init::Fill(start) => Some(start),
        Init::First | Init::Any | Init::Elements(_) => None,
    }
}

/// What a cell starts with, where that is no process and depends on whose cell it is.
fn asks_who<'m>(model: &'m Model, layout: &Layout, cell: CellId) -> Option<&'m Expr> {
    let owner = model.cells[cell].owner.filter(|&owner| layout.is_member(model, owner));
    if layout.named.is_empty() || owner.is_none() {
        return None;
    }
    let names = model.families.ids().any(|family| holds_members(model.cells[cell].ty, family));
    let start = fill(model, cell).filter(|_| !names)?;
    let (mut asks, mut is_plain) = (false, true);
    each_part(start, &mut |part| match &part.kind {
        ExprKind::Myself => asks = true,
        ExprKind::Read(_) | ExprKind::At { .. } | ExprKind::Quantified(_) | ExprKind::Bound(_) => is_plain = false,
        _ => {}
    });
    (asks && is_plain).then_some(start)
}

/// What a cell starts with, where that is one and the same process at every size.
fn constant(model: &Model, cell: CellId) -> Option<&Expr> {
    let template = model.template();
    let Init::Fill(written) = &template.vars[template.cells[cell].var].init else { return None };
    let is_constant = match &written.kind {
        ExprKind::Const(_) => true,
        ExprKind::ToProcess(_, inner) => matches!(inner.kind, ExprKind::Const(_)),
        _ => false,
    };
    fill(model, cell).filter(|_| is_constant)
}

/// The cell of a process that a column shows.
pub(crate) fn local_cell(model: &Model, layout: &Layout, process: ProcessId, column: LocalColumn) -> Option<CellId> {
    match column {
        LocalColumn::Control | LocalColumn::Taken(_) => None,
        LocalColumn::Own(at) => Some(CellId::new(model.processes[process].first_cell + at)),
        LocalColumn::Element(row, at) => {
            let var = &model.vars[row.var];
            let dimension = *layout.rows.get(&row.var)?;
            let dimensions = var.ty.dimensions();
            let inner: usize = dimensions[dimension + 1..].iter().product();
            let index = usize::try_from(model.processes[process].index).ok()?;
            let offset = (at / inner * dimensions[dimension] + index) * inner + at % inner;
            let first = row.owner.map_or(0, |owner| model.processes[owner].first_cell) + var.offset;
            Some(CellId::new(first + offset))
        }
    }
}

/// What a state of an instance looks like where these processes of the family are seen, in canonical form.
pub fn project(ground: Ground<'_>, state: &State, seen: &[ProcessId]) -> Configuration {
    let Ground { model, layout, .. } = ground;
    let mut projection = Projection { ground, state, slots: seen.to_vec(), active: active_loops(model) };
    let mut shared: Vec<Item> = layout.shared.iter().map(|&column| projection.shared(column)).collect();
    shared.extend(layout.named.iter().map(|&process| projection.item(Value::Process(process))));
    let mut locals = Vec::new();
    for &process in seen {
        let local: Vec<Item> = layout.local.iter().map(|&column| projection.local(process, column)).collect();
        locals.push(Some(local));
    }
    locals.resize(projection.slots.len(), None);
    let mut order: Vec<Slot> =
        if layout.is_ordered { (0..projection.slots.len() as Slot).collect() } else { Vec::new() };
    order.sort_by_key(|&slot| projection.slots[slot as usize]);
    let mut config = Configuration { shared, slots: locals, order };
    for Presence { column, is } in &layout.present {
        let has = |process| is.contains(&projection.local(process, layout.local[*column]));
        let is_there = model.families[layout.family].processes().any(has);
        config.shared.push(Item::Value(Value::Bool(is_there)));
    }
    hide(layout, &mut config);
    config.canonical()
}

struct Projection<'a> {
    ground: Ground<'a>,
    state: &'a State,
    slots: Vec<ProcessId>,
    active: BTreeMap<PlaceId, BTreeSet<LoopId>>,
}

impl Projection<'_> {
    fn item(&mut self, value: Value) -> Item {
        match value {
            Value::Process(id) if self.ground.layout.is_member(self.ground.model, id) => {
                let at = self.slots.iter().position(|&process| process == id).unwrap_or_else(|| {
                    self.slots.push(id);
                    self.slots.len() - 1
                });
                Item::Slot(at as Slot)
            }
            value => Item::Value(value),
        }
    }

    fn is_active(&self, process: ProcessId, id: LoopId) -> bool {
        let Control::At(place) = self.state.top(process).control else { return false };
        self.active.get(&place).is_some_and(|loops| loops.contains(&id))
    }

    /// The loop over the family whose counter a cell of the process is.
    fn scan_of(&self, cell: CellId) -> Option<LoopId> {
        let Ground { model, layout, .. } = self.ground;
        let var = model.cells[cell].var;
        let is_scan = |id: &LoopId| model.loops[*id].counter == var && is_over(&model.loops[*id].domain, layout.family);
        model.loops.ids().find(is_scan)
    }

    fn cell(&mut self, process: Option<ProcessId>, cell: CellId) -> Item {
        match (process, self.scan_of(cell)) {
            (Some(process), Some(id)) if !self.is_active(process, id) => Item::Value(Value::None),
            _ => self.item(self.state.cells[cell.index()]),
        }
    }

    fn taken(&self, process: ProcessId, id: LoopId) -> Item {
        let Ground { model, .. } = self.ground;
        if !self.is_active(process, id) {
            return Item::Taken(0);
        }
        let counter = model.cells_of(model.loops[id].counter, Some(process)).next();
        let current = counter.map(|cell| self.state.cells[cell.index()]);
        let is_taken = |other: &ProcessId| matches!(current, Some(Value::Process(current)) if *other < current);
        let bits = self.slots.iter().enumerate().filter(|(_, other)| is_taken(other)).map(|(slot, _)| 1 << slot);
        Item::Taken(bits.sum())
    }

    fn shared(&mut self, column: SharedColumn) -> Item {
        match column {
            SharedColumn::Cell(cell) => self.cell(self.ground.model.cells[cell].owner, cell),
            SharedColumn::Control(process) => Item::Place(self.state.place(process)),
            SharedColumn::Taken(process, id) => self.taken(process, id),
        }
    }

    fn local(&mut self, process: ProcessId, column: LocalColumn) -> Item {
        match (column, local_cell(self.ground.model, self.ground.layout, process, column)) {
            (LocalColumn::Control, _) => Item::Place(self.state.place(process)),
            (LocalColumn::Taken(id), _) => self.taken(process, id),
            (LocalColumn::Own(_), Some(cell)) => self.cell(Some(process), cell),
            (_, Some(cell)) => self.item(self.state.cells[cell.index()]),
            (_, None) => Item::Taken(0),
        }
    }
}

/// The loops that are under way at each place.
pub(crate) fn active_loops(model: &Model) -> BTreeMap<PlaceId, BTreeSet<LoopId>> {
    let mut active = BTreeMap::new();
    let mut open: Vec<(&Next, BTreeSet<LoopId>)> =
        model.families.iter().map(|family| (&family.entry, BTreeSet::new())).collect();
    while let Some((next, mut loops)) = open.pop() {
        match next {
            Next::To(place) => {
                if !active.contains_key(place) {
                    let actions = model.places[*place].actions.iter();
                    open.extend(actions.map(|&action| (&model.actions[action].next, loops.clone())));
                    active.insert(*place, loops);
                }
            }
            Next::Enter { enter, skip } => {
                open.push((skip, loops.clone()));
                if loops.insert(*enter) {
                    open.push((&model.loops[*enter].body, loops));
                }
            }
            Next::Again { again, done } => {
                loops.remove(again);
                open.push((done, loops));
            }
            Next::Leave { loops: left, then } => {
                loops.retain(|one| !left.contains(one));
                open.push((then, loops));
            }
        }
    }
    active
}
