//! Footprints: which cells an action may read and write, and whose control location it may read.
//!
//! In: an action, the process that takes it, and the counters of the loops around it. Out: sets of cells, exact where an
//! index is constant (the process's own index, a counter, a constant, a quantifier's variable), an interval or the whole
//! array otherwise. A footprint is a checked claim: an action never touches a cell outside it, and what is outside does
//! not change what the action does. Counters are control and count as no cells; the slots of frames are no cells.
//!
//! The method is an evaluation in which the content of a cell is any value of its type.

mod possible;

use std::collections::BTreeSet;

use crate::Model;
use crate::control::{
    Action, ActionId, ActionKind, Next, ProcedureId, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner,
};
use crate::eval::Counters;
use crate::expr::{Access, BinaryOp, Expr, ExprKind};
use crate::points::{Points, called_procedures};
use crate::process::ProcessId;
use crate::variable::{CellId, Init};
use crate::view::is_visible;
use crate::visit::{each_part, each_text};

use possible::AbstractEval;

/// What an action may touch. The sets are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The cells that the guard may read.
    pub guard_reads: BTreeSet<CellId>,
    /// The cells that the action may read, its guard included.
    pub reads: BTreeSet<CellId>,
    /// The cells that it may write.
    pub writes: BTreeSet<CellId>,
    /// The other processes whose control locations it may read.
    pub looks_at: BTreeSet<ProcessId>,
}

impl Footprint {
    /// Both footprints together, as for the two sides of a rendezvous.
    pub fn union(mut self, other: &Footprint) -> Footprint {
        self.guard_reads.extend(&other.guard_reads);
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.looks_at.extend(&other.looks_at);
        self
    }

    /// The cells that are read or written.
    pub fn cells(&self) -> BTreeSet<CellId> {
        self.reads.union(&self.writes).copied().collect()
    }
}

/// The footprint of an action when a process takes it where the counters have these values; a counter that is not given
/// may have any value of its type. Of a rendezvous it is the footprint of this side. A return includes the store of the
/// result by any caller.
pub fn footprint(model: &Model, process: ProcessId, action: ActionId, counters: &Counters) -> Footprint {
    let mut glance = AbstractEval::new(model, process, counters);
    let acted = &model.actions[action];
    let mut found = Footprint::default();
    if let Some(guard) = &acted.guard {
        glance.look(guard);
        found.guard_reads.clone_from(&glance.reads);
    }
    glance.effect(acted);
    found.reads = glance.reads;
    found.writes = glance.writes;
    found.looks_at = glance.looks_at;
    found
}

/// The guard of an action, split where it is a disjunction: `await a || b` waits for one thing or another. Each part has
/// its own footprint, of guard reads only; a later part matters only where the earlier ones are false.
pub fn disjuncts(model: &Model, process: ProcessId, action: ActionId, counters: &Counters) -> Vec<(Expr, Footprint)> {
    let mut parts = Vec::new();
    if let Some(guard) = &model.actions[action].guard {
        split(guard, &mut parts);
    }
    parts
        .into_iter()
        .map(|part| {
            let mut glance = AbstractEval::new(model, process, counters);
            glance.look(part);
            let (reads, looks_at) = (glance.reads, glance.looks_at);
            (part.clone(), Footprint { guard_reads: reads.clone(), reads, writes: BTreeSet::new(), looks_at })
        })
        .collect()
}

fn split<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Or, left, right) => {
            split(left, parts);
            split(right, parts);
        }
        _ => parts.push(expr),
    }
}

/// The shared and public cells that a process mentions, in its own text and in the procedures that it calls: what it
/// needs to see of the shared state (V_i).
pub fn view(model: &Model, process: ProcessId) -> BTreeSet<CellId> {
    visible(model, &footprints(model, process))
}

/// The same action by action, whatever the counters: maybe more cells, in a time that does not grow with the points of the process.
pub fn outline_view(model: &Model, process: ProcessId) -> BTreeSet<CellId> {
    let procedures = called_procedures(model, process);
    let is_own = |scope: TextOwner| match scope {
        TextOwner::Family(family) => family == model.processes[process].family,
        TextOwner::Procedure(procedure) => procedures.contains(&procedure),
    };
    let actions = model.actions.entries().filter(|(_, action)| is_own(action.scope));
    let found: Vec<Footprint> = actions.map(|(id, _)| footprint(model, process, id, &Counters::new())).collect();
    visible(model, &found)
}

/// The shared and public cells of some footprints.
pub fn visible(model: &Model, footprints: &[Footprint]) -> BTreeSet<CellId> {
    footprints.iter().flat_map(Footprint::cells).filter(|&cell| is_visible(model, cell)).collect()
}

/// The footprints of all that a process can do, point by point; where it has very many points, action by action.
pub fn footprints(model: &Model, process: ProcessId) -> Vec<Footprint> {
    let procedures = called_procedures(model, process);
    let own = TextOwner::Family(model.processes[process].family);
    let texts = std::iter::once(own).chain(procedures.into_iter().map(TextOwner::Procedure));
    texts.flat_map(|scope| footprints_of_text(model, process, scope)).collect()
}

/// A process whose text reads the control location of another one, if there is one. Methods that know of the others only what is shared
/// cannot follow it.
pub fn watcher(model: &Model) -> Option<ProcessId> {
    let mut mentions_locations = false;
    each_text(model, &mut |text| {
        each_part(text, &mut |part| mentions_locations |= matches!(part.kind, ExprKind::At { .. }));
    });
    if !mentions_locations {
        return None;
    }
    let watches = |&process: &ProcessId| footprints(model, process).iter().any(|found| !found.looks_at.is_empty());
    model.processes.ids().find(watches)
}

/// More points than this are not distinguished by their counters.
const POINT_LIMIT: usize = 10_000;

fn footprints_of_text(model: &Model, process: ProcessId, scope: TextOwner) -> Vec<Footprint> {
    let points = match scope {
        TextOwner::Family(_) => Points::of(model, process, POINT_LIMIT),
        TextOwner::Procedure(callee) => Points::of_procedure(model, process, callee, POINT_LIMIT),
    };
    match points {
        Some(points) => points
            .points
            .iter()
            .flat_map(|point| point.exits.iter().map(|exit| footprint(model, process, exit.action, &point.counters)))
            .collect(),
        None => model
            .actions
            .entries()
            .filter(|(_, action)| action.scope == scope)
            .map(|(id, _)| footprint(model, process, id, &Counters::new()))
            .collect(),
    }
}

impl AbstractEval<'_> {
    /// All that follows the guard.
    fn effect(&mut self, action: &Action) {
        match action.sync.as_ref().map(|sync| &sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => values.iter().for_each(|value| {
                self.look(value);
            }),
            Some(SyncSide::Receive(patterns)) => patterns.iter().for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => self.store(target),
                ReceivePattern::Equal(value) => drop(self.look(value)),
                ReceivePattern::Ignored => {}
            }),
        }
        self.body(&action.body);
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle => self.next(&action.next),
            ActionKind::Call { procedure, arguments, .. } => {
                arguments.iter().for_each(|argument| {
                    self.look(argument);
                });
                self.start(*procedure);
            }
            ActionKind::Return { value } => {
                if let Some(value) = value {
                    self.look(value);
                }
                self.results(action.scope);
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    for (target, value) in pairs {
                        self.store(target);
                        self.look(value);
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    self.store(target);
                    if let Some((lo, hi)) = range {
                        self.look(lo);
                        self.look(hi);
                    }
                }
                StmtKind::Await(test) | StmtKind::Assert(test) => {
                    self.look(test);
                }
                StmtKind::Acquire(target) | StmtKind::Release(target) => {
                    self.load(target);
                    self.store(target);
                }
                StmtKind::If(test, yes, no) => {
                    let truth = self.truth(test);
                    if truth != Some(false) {
                        self.body(yes);
                    }
                    if truth != Some(true) {
                        self.body(no);
                    }
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => self.for_each_value(binding, |glance| glance.body(block)),
            }
        }
    }

    /// The bounds of the loops on the way. They read only constants today; reads are recorded anyway, in case a front-end allows more.
    fn next(&mut self, next: &Next) {
        match next {
            Next::To(_) => {}
            Next::Enter { enter: id, skip: then } | Next::Again { again: id, done: then } => {
                self.look_at_domain(&self.model.loops[*id].domain);
                self.next(then);
            }
            Next::Leave { then, .. } => self.next(then),
        }
    }

    fn start(&mut self, procedure: ProcedureId) {
        for var in &self.model.procedures[procedure].vars {
            self.initial(&self.model.vars[*var].init);
        }
    }

    fn initial(&mut self, init: &Init) {
        match init {
            Init::First | Init::Any => {}
            Init::Fill(value) => {
                self.look(value);
            }
            Init::Elements(elements) => elements.iter().for_each(|element| self.initial(element)),
        }
    }

    /// What callers of the procedure that the process returns from do with its result.
    fn results(&mut self, scope: TextOwner) {
        let model = self.model;
        let own = TextOwner::Family(model.processes[self.me].family);
        for action in &model.actions {
            match &action.kind {
                ActionKind::Call { procedure, result, .. }
                    if TextOwner::Procedure(*procedure) == scope
                        && (action.scope == own || matches!(action.scope, TextOwner::Procedure(_))) =>
                {
                    // The caller's control location is not known, so its counters may have any value.
                    let mut caller = AbstractEval::new(model, self.me, &Counters::new());
                    caller.result(result.as_ref(), &action.next);
                    self.reads.extend(caller.reads);
                    self.writes.extend(caller.writes);
                    self.looks_at.extend(caller.looks_at);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, result: Option<&Access>, next: &Next) {
        if let Some(target) = result {
            self.store(target);
        }
        self.next(next);
    }
}
