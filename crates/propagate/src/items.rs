//! What views show: cells and the control of processes, and the numbers that encode their contents.
//!
//! In: a Model. Out: what each process sees, what an expression of a property reads, and numbers for values as certificates have them
//! (`evidence::propagation`).

use std::collections::BTreeSet;

use model::Model;
use model::control::{ActionId, ChannelId, Sync, SyncSide, TextOwner};
use model::eval::{Control, Counters, State, Viewpoint};
use model::expr::{Access, Domain, Expr, ExprKind, Quantified, Whose};
use model::footprint;
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role, Storage};
use model::view::is_visible;

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// The content of a cell.
    Cell(CellId),
    /// The control location of a process.
    Control(ProcessId),
}

/// What each process sees: all that its steps may depend on or change. In a rendezvous that is also what the action of the other side
/// touches, and where its process is; where that goes on in the same step, all that the other process sees.
pub fn seen_by_each(model: &Model) -> Vec<BTreeSet<Item>> {
    let mut seen: Vec<BTreeSet<Item>> = model.processes.ids().map(|process| seen_alone(model, process)).collect();
    let mut goes_on: Vec<(ProcessId, ProcessId)> = Vec::new();
    for meeting in meetings(model) {
        for (one, other, action) in [meeting, meeting.turned()].map(|side| (side.one, side.other, side.action)) {
            seen[one.index()].extend(touched_by(model, other, action));
            if model.actions[action].goes_on {
                goes_on.push((one, other));
            }
        }
    }
    let mut grows = !goes_on.is_empty();
    while std::mem::take(&mut grows) {
        for &(one, other) in &goes_on {
            let theirs = seen[other.index()].clone();
            let n_before = seen[one.index()].len();
            seen[one.index()].extend(theirs);
            grows |= seen[one.index()].len() > n_before;
        }
    }
    seen
}

/// Two processes that may meet in a rendezvous, and their actions.
#[derive(Clone, Copy)]
struct Meeting {
    one: ProcessId,
    other: ProcessId,
    /// That of the other one, and that of the one.
    action: ActionId,
    own: ActionId,
}

impl Meeting {
    fn turned(self) -> Meeting {
        Meeting { one: self.other, other: self.one, action: self.own, own: self.action }
    }
}

/// All pairs of a sender and a receiver on one channel.
fn meetings(model: &Model) -> Vec<Meeting> {
    let sides = |is_sender: bool| {
        let side = move |sync: &Sync| matches!(sync.side, SyncSide::Send(_)) == is_sender;
        let actions = model.actions.entries().filter_map(move |(id, action)| {
            let sync = action.sync.as_ref().filter(|sync| side(sync))?;
            Some((id, sync.channel, action.scope))
        });
        let all: Vec<(ProcessId, ActionId, ChannelId)> = actions
            .flat_map(|(id, channel, scope)| {
                let is_of = move |process: &ProcessId| scope == TextOwner::Family(model.processes[*process].family);
                model.processes.ids().filter(is_of).map(move |process| (process, id, channel))
            })
            .collect();
        all
    };
    let receivers = sides(false);
    let mut found = Vec::new();
    for (one, own, channel) in sides(true) {
        let met = receivers.iter().filter(|(other, _, theirs)| *other != one && *theirs == channel);
        found.extend(met.map(|&(other, action, _)| Meeting { one, other, action, own }));
    }
    found
}

/// What an action of a process may touch, and where control is around it.
fn touched_by(model: &Model, process: ProcessId, action: ActionId) -> BTreeSet<Item> {
    let touched = footprint::footprint(model, process, action, &Counters::new());
    let counters = model
        .cells
        .entries()
        .filter(|(_, cell)| cell.owner == Some(process) && matches!(model.vars[cell.var].role, Role::Counter(_)));
    let cells = touched.cells().into_iter().chain(counters.map(|(id, _)| id)).map(Item::Cell);
    let controls = touched.looks_at.iter().copied().chain([process]).map(Item::Control);
    cells.chain(controls).collect()
}

/// What a process sees for itself: all that its text may depend on or change.
fn seen_alone(model: &Model, process: ProcessId) -> BTreeSet<Item> {
    let first = model.processes[process].first_cell;
    let own = first..first + model.families[model.processes[process].family].n_cells;
    let mut seen: BTreeSet<Item> = own.map(|cell| Item::Cell(CellId::new(cell))).collect();
    seen.insert(Item::Control(process));
    for footprint in footprint::footprints(model, process) {
        seen.extend(footprint.cells().into_iter().filter(|&cell| is_visible(model, cell)).map(Item::Cell));
        seen.extend(footprint.looks_at.iter().map(|&other| Item::Control(other)));
    }
    seen
}

/// The number of a value of a cell; `None` where the type does not have it.
pub fn number(model: &Model, ty: ScalarType, value: Value) -> Option<u32> {
    let process_number = |id: ProcessId, first: ProcessId| id.index().checked_sub(first.index());
    let number = match (ty, value) {
        (ScalarType::Bool, Value::Bool(truth)) => usize::from(truth),
        (ScalarType::Range { lo, .. }, Value::Int(number)) => usize::try_from(number.checked_sub(lo)?).ok()?,
        (ScalarType::Semaphore { .. }, Value::Int(number)) => usize::try_from(number).ok()?,
        (ScalarType::Enum(_), Value::Enum(_, at)) => at as usize,
        (ScalarType::Pid(family), Value::Process(id)) => process_number(id, model.families[family].first)?,
        (ScalarType::PidOrNone(_) | ScalarType::Lock, Value::None) => 0,
        (ScalarType::PidOrNone(family), Value::Process(id)) => process_number(id, model.families[family].first)? + 1,
        (ScalarType::Lock, Value::Process(id)) => id.index() + 1,
        _ => return None,
    };
    u32::try_from(number).ok()
}

/// The value of a cell with this number.
pub fn value(model: &Model, ty: ScalarType, number: u32) -> Value {
    let process = |first: ProcessId, at: usize| Value::Process(ProcessId::new(first.index() + at));
    let at = number as usize;
    match ty {
        ScalarType::Bool => Value::Bool(number == 1),
        ScalarType::Range { lo, .. } => Value::Int(lo + i64::from(number)),
        ScalarType::Semaphore { .. } => Value::Int(i64::from(number)),
        ScalarType::Enum(id) => Value::Enum(id, number),
        ScalarType::Pid(family) => process(model.families[family].first, at),
        ScalarType::PidOrNone(_) | ScalarType::Lock if number == 0 => Value::None,
        ScalarType::PidOrNone(family) => process(model.families[family].first, at - 1),
        ScalarType::Lock => Value::Process(ProcessId::new(at - 1)),
    }
}

/// The number of what an item holds in a state; `None` where it has none.
pub fn content(model: &Model, state: &State, item: Item) -> Option<u32> {
    match item {
        Item::Cell(cell) => number(model, model.cells[cell].ty, state.cells[cell.index()]),
        Item::Control(process) => u32::try_from(state.place(process).index()).ok(),
    }
}

/// Gives an item its content.
pub fn fill(model: &Model, state: &mut State, item: Item, number: u32) {
    match item {
        Item::Cell(cell) => state.cells[cell.index()] = value(model, model.cells[cell].ty, number),
        Item::Control(process) => {
            let bottom = &mut state.stacks[process.index()][0];
            bottom.control = Control::At(model::control::PlaceId::new(number as usize));
        }
    }
}

/// What an expression of a property may read, with values for the variables bound around it; `None` where that depends on the state
/// in a way that is not followed.
pub fn looked_at(model: &Model, expr: &Expr, bound: &[Value]) -> Option<BTreeSet<Item>> {
    let state = State { cells: Vec::new(), stacks: Vec::new() };
    let mut reader = Reader { model, state, found: BTreeSet::new() };
    reader.expr(expr, &mut bound.to_vec()).then_some(reader.found)
}

/// Instances of quantifiers beyond this are not gone through one by one.
const MOST_INSTANCES: usize = 100_000;

struct Reader<'m> {
    model: &'m Model,
    /// An empty one: what is evaluated does not read it.
    state: State,
    found: BTreeSet<Item>,
}

impl Reader<'_> {
    /// Adds what the expression may read. Whether that could be followed.
    fn expr(&mut self, expr: &Expr, bound: &mut Vec<Value>) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => true,
            ExprKind::Read(access) => self.access(access, bound),
            ExprKind::At { who, .. } => {
                let who_is = self.fixed(who, bound);
                match who_is {
                    Some(Value::Process(process)) => _ = self.found.insert(Item::Control(process)),
                    _ => self.found.extend(self.model.processes.ids().map(Item::Control)),
                }
                self.expr(who, bound)
            }
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.expr(inner, bound),
            ExprKind::Binary(_, left, right) => self.expr(left, bound) && self.expr(right, bound),
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().all(|part| self.expr(part, bound)),
            ExprKind::Quantified(inner) => self.quantified(inner, 0, bound),
        }
    }

    fn quantified(&mut self, inner: &Quantified, at: usize, bound: &mut Vec<Value>) -> bool {
        let Some(binding) = inner.bindings.get(at) else {
            let filtered = inner.filter.as_ref().is_none_or(|filter| self.expr(filter, bound));
            return filtered && self.expr(&inner.body, bound);
        };
        if let Domain::Range(lo, hi) = &binding.domain
            && (reads_state(lo) || reads_state(hi))
        {
            return false;
        }
        let values = Viewpoint::of_instance(self.model, &self.state, bound).domain(&binding.domain);
        let Ok(values) = values else { return false };
        let values: Vec<Value> = values.take(MOST_INSTANCES + 1).collect();
        let depth = bound.len();
        if values.len() > MOST_INSTANCES || binding.var.0 as usize != depth {
            return false;
        }
        for value in values {
            bound.push(value);
            let followed = self.quantified(inner, at + 1, bound);
            bound.truncate(depth);
            if !followed {
                return false;
            }
        }
        true
    }

    fn access(&mut self, access: &Access, bound: &mut Vec<Value>) -> bool {
        let var = &self.model.vars[access.var];
        let owners: Vec<Option<ProcessId>> = match (&access.whose, var.storage) {
            (Whose::Shared, _) => vec![None],
            (Whose::Of(who), Storage::Public(family) | Storage::Local(family)) => {
                let owner = self.fixed(who, bound);
                if !self.expr(who, bound) {
                    return false;
                }
                match owner {
                    Some(Value::Process(process)) => vec![Some(process)],
                    _ => self.model.families[family].processes().map(Some).collect(),
                }
            }
            _ => return false,
        };
        let position = self.position(access, &var.ty.dimensions(), bound);
        if !access.indices.iter().all(|index| self.expr(index, bound)) {
            return false;
        }
        for owner in owners {
            let mut cells = self.model.cells_of(access.var, owner);
            match position {
                Some(position) => self.found.extend(cells.nth(position).map(Item::Cell)),
                None => self.found.extend(cells.map(Item::Cell)),
            }
        }
        true
    }

    /// Which element is meant, where that does not depend on the state.
    fn position(&self, access: &Access, lengths: &[usize], bound: &[Value]) -> Option<usize> {
        access.indices.iter().zip(lengths).try_fold(0, |position, (index, &length)| {
            let at = match self.fixed(index, bound)? {
                Value::Int(number) => usize::try_from(number).ok()?,
                _ => return None,
            };
            (at < length).then_some(position * length + at)
        })
    }

    /// The value of an expression that does not read the state.
    fn fixed(&self, expr: &Expr, bound: &[Value]) -> Option<Value> {
        if reads_state(expr) {
            return None;
        }
        Viewpoint::of_instance(self.model, &self.state, bound).value(expr).ok()
    }
}

/// Whether the value of an expression depends on the state.
pub(crate) fn reads_state(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Read(_) | ExprKind::At { .. } => true,
        _ => {
            let mut reads = false;
            model::visit::each_part(expr, &mut |part| {
                reads |= matches!(part.kind, ExprKind::Read(_) | ExprKind::At { .. });
            });
            reads
        }
    }
}
