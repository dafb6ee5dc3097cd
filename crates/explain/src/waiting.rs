//! Which process waits for what in a deadlock, and which one holds it.
//!
//! In: a trace that ends in a deadlock. Out: for each stuck process what its statement waits for: a lock with its owner, a
//! semaphore with those that took it and did not give it back (found along the trace), a condition with the present values;
//! and a cycle of processes that wait for each other, if there is one.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use evidence::Trace;
use model::Model;
use model::control::{Action, Stmt, StmtKind, SyncSide};
use model::eval::{State, Viewpoint, stuck_processes};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::print::Printer;
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VariableLook};
use model::visit::each_part;

use crate::bundle;
use crate::why::values_for;

/// One thing that a process waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The process.
    pub process: ProcessId,
    /// What it waits for.
    pub what: Awaited,
    /// The processes that have it, as far as that is known.
    pub holders: Vec<ProcessId>,
}

/// What can be waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A lock or semaphore, as the user writes it.
    Resource(String),
    /// A condition, and the values of the variables in it.
    Condition(String, Vec<(String, String)>),
    /// A partner on a channel: the name, and whether the process sends.
    Partner(String, bool),
    /// A statement that has no step here.
    Statement(String),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Resource(name) => write!(f, "{name}"),
            Awaited::Condition(text, _) => write!(f, "{text}"),
            Awaited::Partner(channel, true) => write!(f, "a receiver on {channel}"),
            Awaited::Partner(channel, false) => write!(f, "a sender on {channel}"),
            Awaited::Statement(text) => write!(f, "{text}"),
        }
    }
}

/// What each stuck process waits for, in the order of the processes; one entry for each way on.
pub fn waits(model: &Model, trace: &Trace) -> Vec<Wait> {
    let Some(last) = trace.states.last() else { return Vec::new() };
    let takers = semaphore_takers(model, trace);
    let mut found = Vec::new();
    for process in stuck_processes(model, last) {
        let actions = model.places[last.place(process)].actions.iter().map(|&action| &model.actions[action]);
        // Its own variables do not change while it waits: a way on that they close stays closed.
        let open: Vec<&Action> = actions.clone().filter(|action| !is_closed(model, last, process, action)).collect();
        let actions: Vec<&Action> = if open.is_empty() { actions.collect() } else { open };
        for action in actions {
            let wait = waits_at(model, last, process, action, &takers);
            if !found.contains(&wait) {
                found.push(wait);
            }
        }
    }
    found
}

/// Whether a process cannot take an action before it changes something of its own.
fn is_closed(model: &Model, state: &State, process: ProcessId, action: &Action) -> bool {
    let mut view = Viewpoint::new(model, state, Some(process));
    let first = action.body.first().and_then(|stmt| match &stmt.kind {
        StmtKind::Await(test) => Some(test),
        _ => None,
    });
    let mut conjuncts = Vec::new();
    action.guard.iter().chain(first).for_each(|test| conjuncts_of(test, &mut conjuncts));
    conjuncts.into_iter().any(|test| is_own(test) && view.truth(test) == Ok(false))
}

fn conjuncts_of<'e>(test: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match &test.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts_of(left, conjuncts);
            conjuncts_of(right, conjuncts);
        }
        _ => conjuncts.push(test),
    }
}

/// Whether an expression looks at nothing but what the process itself changes.
fn is_own(test: &Expr) -> bool {
    let mut is_own = true;
    each_part(test, &mut |part| {
        is_own &= match &part.kind {
            ExprKind::Read(access) => matches!(access.whose, Whose::Mine),
            ExprKind::At { .. } | ExprKind::Quantified(_) | ExprKind::Bound(_) | ExprKind::Parameter(_) => false,
            _ => true,
        };
    });
    is_own
}

/// What a test asks of others: the conjuncts that only speak of the process itself, and are true, are left out.
fn asked_of_others<'e>(view: &mut Viewpoint<'_>, test: &'e Expr) -> &'e Expr {
    if let ExprKind::Binary(BinaryOp::And, left, right) = &test.kind {
        for (own, other) in [(left, right), (right, left)] {
            if is_own(own) && view.truth(own) == Ok(true) {
                return asked_of_others(view, other);
            }
        }
    }
    test
}

/// The processes of a shortest cycle of waiting: each waits for something that the next one has, the last for the first.
pub fn cycle(waits: &[Wait]) -> Option<Vec<ProcessId>> {
    let cycles = waits.iter().filter_map(|wait| way_back(waits, wait.process));
    cycles.min_by_key(Vec::len)
}

/// The shortest way along holders from a process back to itself.
fn way_back(waits: &[Wait], start: ProcessId) -> Option<Vec<ProcessId>> {
    let mut paths = VecDeque::from([vec![start]]);
    let mut seen = HashSet::from([start]);
    while let Some(path) = paths.pop_front() {
        let at = *path.last().expect("a path has a start");
        for &holder in waits.iter().filter(|wait| wait.process == at).flat_map(|wait| &wait.holders) {
            if holder == start {
                return Some(path);
            }
            if seen.insert(holder) {
                paths.push_back(path.iter().copied().chain([holder]).collect());
            }
        }
    }
    None
}

/// What an action waits for: its guard, or the first statement of its body that does not let it pass.
fn waits_at(model: &Model, state: &State, process: ProcessId, action: &Action, takers: &[Vec<ProcessId>]) -> Wait {
    let wait = |what, holders| Wait { process, what, holders };
    let mut view = Viewpoint::new(model, state, Some(process));
    let mut printer = Printer::new(model).as_process(process);
    let condition = |test: &Expr, printer: &mut Printer<'_>| {
        let test = asked_of_others(&mut Viewpoint::new(model, state, Some(process)), test);
        let channel = channel_wait(model, &mut Viewpoint::new(model, state, Some(process)), test);
        channel.map_or_else(
            || {
                let text = crate::totals::as_written(&printer.expr(test));
                Awaited::Condition(text, values_for(model, state, test, process))
            },
            |(text, cell)| Awaited::Condition(text, bundle::content_of(model, state, cell).into_iter().collect()),
        )
    };
    if let Some(guard) = &action.guard
        && view.truth(guard) == Ok(false)
    {
        return wait(condition(guard, &mut printer), Vec::new());
    }
    if let Some(sync) = &action.sync {
        let sends = matches!(sync.side, SyncSide::Send(_));
        return wait(Awaited::Partner(model.channels[sync.channel].name.clone(), sends), Vec::new());
    }
    let mut has_chosen = false;
    for stmt in &action.body {
        match &stmt.kind {
            StmtKind::Acquire(access) => {
                if let Some(cell) = locate(model, &mut view, access)
                    && let Some(holders) = holders(model, state, cell, takers)
                {
                    return wait(Awaited::Resource(model.cells[cell].name.clone()), holders);
                }
            }
            // Which one was chosen is not known; that none fits is.
            StmtKind::Await(test) if has_chosen => {
                let Some((text, cell)) = channel_wait(model, &mut view, test) else { break };
                let content = bundle::content_of(model, state, cell).into_iter().collect();
                return wait(Awaited::Condition(text, content), Vec::new());
            }
            StmtKind::Await(test) if view.truth(test) == Ok(false) => {
                return wait(condition(test, &mut printer), Vec::new());
            }
            _ if only_chooses(model, stmt) => has_chosen = true,
            // What comes later is evaluated after a change, which is not known here.
            _ if changes(stmt) => break,
            _ => {}
        }
    }
    wait(Awaited::Statement(model.statements[action.statement].text.clone()), Vec::new())
}

/// What a test of a channel's length waits for, in words, and the cell of that length: `send` waits for room, `receive` for a message.
fn channel_wait(model: &Model, view: &mut Viewpoint<'_>, test: &Expr) -> Option<(String, CellId)> {
    let (first, has_more) = match &test.kind {
        ExprKind::Binary(BinaryOp::And, first, _) => (first.as_ref(), true),
        _ => (test, false),
    };
    if let ExprKind::Binary(BinaryOp::And, ..) = &first.kind {
        // Several parts of a message have to be equal to something: the length is asked first.
        return channel_wait(model, view, first).map(|(_, cell)| (fitting(model, cell, true), cell));
    }
    let (left, right) = match &first.kind {
        ExprKind::Binary(BinaryOp::Less, left, right) => (left, right),
        ExprKind::Binary(BinaryOp::Greater, left, right) => (right, left),
        _ => return None,
    };
    let mut length = |side: &Expr| match &side.kind {
        ExprKind::Read(access) if matches!(model.vars[access.var].look, VariableLook::ChannelLength(_)) => {
            locate(model, view, access)
        }
        _ => None,
    };
    if let Some(cell) = length(left) {
        return Some((format!("room in {}", bundle::cell_name(model, cell)), cell));
    }
    let cell = length(right)?;
    Some((fitting(model, cell, has_more), cell))
}

fn fitting(model: &Model, cell: CellId, has_more: bool) -> String {
    let which = if has_more { "a fitting message" } else { "a message" };
    format!("{which} in {}", bundle::cell_name(model, cell))
}

/// Whether a statement chooses a value that no process sees, such as which message is taken.
fn only_chooses(model: &Model, stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::AssignAny(access, _) if model.vars[access.var].look == VariableLook::Hidden)
}

fn changes(stmt: &Stmt) -> bool {
    !matches!(stmt.kind, StmtKind::Await(_) | StmtKind::Assert(_) | StmtKind::Acquire(_))
}

/// The holders of a lock or semaphore that cannot be taken now; `None` where it can.
fn holders(model: &Model, state: &State, cell: CellId, takers: &[Vec<ProcessId>]) -> Option<Vec<ProcessId>> {
    match (model.cells[cell].ty, state.cells[cell.index()]) {
        (ScalarType::Lock, Value::Process(owner)) => Some(vec![owner]),
        (ScalarType::Semaphore { .. }, Value::Int(0)) => Some(takers[cell.index()].clone()),
        _ => None,
    }
}

/// The cell that an access means from this viewpoint.
pub(crate) fn locate(model: &Model, view: &mut Viewpoint<'_>, access: &Access) -> Option<CellId> {
    let owner = match &access.whose {
        Whose::Shared => None,
        Whose::Mine => view.me,
        Whose::Frame => return None,
        Whose::Of(who) => match view.value(who).ok()? {
            Value::Process(id) => Some(id),
            _ => return None,
        },
    };
    let mut offset = 0;
    for (index, len) in access.indices.iter().zip(model.vars[access.var].ty.dimensions()) {
        let index = usize::try_from(view.number(index).ok()?).ok().filter(|&index| index < len)?;
        offset = offset * len + index;
    }
    model.cells_of(access.var, owner).nth(offset)
}

/// For each cell that is a semaphore, the processes that took units of it and did not give them back.
fn semaphore_takers(model: &Model, trace: &Trace) -> Vec<Vec<ProcessId>> {
    let mut takers = vec![Vec::new(); model.cells.len()];
    for (pair, turn) in trace.states.windows(2).zip(&trace.turns) {
        for (id, _) in model.cells.entries().filter(|(_, cell)| matches!(cell.ty, ScalarType::Semaphore { .. })) {
            let (Value::Int(old), Value::Int(new)) = (pair[0].cells[id.index()], pair[1].cells[id.index()]) else {
                continue;
            };
            let held: &mut Vec<ProcessId> = &mut takers[id.index()];
            for _ in new..old {
                held.push(turn.process());
            }
            for _ in old..new {
                if let Some(at) = held.iter().rposition(|&taker| taker == turn.process()) {
                    held.remove(at);
                } else if !held.is_empty() {
                    held.remove(0);
                }
            }
        }
    }
    takers.iter_mut().for_each(|held| {
        held.sort();
        held.dedup();
    });
    takers
}
