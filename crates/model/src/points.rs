//! Points: the places of a process, one copy for each round of the loops around them.
//!
//! In: a Model, a process, and the text of its family or of a procedure that it calls. Out: the **points** (a place with
//! the values of the loops' counters) that control can reach along `Next`, whatever the data, each with the actions that
//! leave it and where they lead. The method is a search from the text's entry; `eval` says where each action leads.

use std::collections::{BTreeSet, HashMap};
use std::iter;

use base::{Id, IdVec};

use crate::Model;
use crate::control::{ActionId, ActionKind, Next, PlaceId, ProcedureId, TextOwner};
use crate::eval::{ControlFlow, Counters, StepFault};
use crate::process::ProcessId;

/// A place in one round of the loops around it.
#[derive(Clone, Debug)]
pub struct Point {
    /// The place.
    pub place: PlaceId,
    /// The counters of all loops of the text; those outside their loop have their type's first value.
    pub counters: Counters,
    /// The actions that leave it, in the order of the text.
    pub exits: Vec<Exit>,
}

/// Names a point of one [`Points`].
pub type PointId = Id<Point>;

/// An action that leaves a point.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The action.
    pub action: ActionId,
    /// Where control is afterwards; for a call, where it is when the call has returned.
    pub target: PointTarget,
}

/// Where an action leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointTarget {
    /// To a point of the same text.
    Point(PointId),
    /// Back to the caller.
    Return,
    /// Nowhere: a loop's bounds cannot be evaluated, so that the step fails.
    Fault(StepFault),
}

/// The points of one text for one process.
#[derive(Clone, Debug)]
pub struct Points {
    /// The process.
    pub process: ProcessId,
    /// The text.
    pub scope: TextOwner,
    /// Where control starts: a point, or a fault in the bounds of a loop with which the text begins.
    pub entry: PointTarget,
    /// The points, in the order in which they were found.
    pub points: IdVec<Point>,
}

impl Points {
    /// The points of the process's own text; `None` where there are more than `limit`.
    pub fn of(model: &Model, process: ProcessId, limit: usize) -> Option<Points> {
        let family = model.processes[process].family;
        search(model, process, (TextOwner::Family(family), &[&model.families[family].entry]), limit)
    }

    /// The points of a procedure that the process calls; `None` where there are more than `limit`.
    pub fn of_procedure(model: &Model, process: ProcessId, callee: ProcedureId, limit: usize) -> Option<Points> {
        let entered = model.actions.iter().filter_map(|action| match &action.kind {
            ActionKind::Call { procedure, entry: Some(entry), .. } if *procedure == callee => Some(entry),
            _ => None,
        });
        let entries: Vec<&Next> = iter::once(&model.procedures[callee].entry).chain(entered).collect();
        search(model, process, (TextOwner::Procedure(callee), &entries), limit)
    }
}

/// The procedures that a process may call, directly or through others.
pub fn called_procedures(model: &Model, process: ProcessId) -> BTreeSet<ProcedureId> {
    let calls = |scope: TextOwner| {
        model.actions.iter().filter(move |action| action.scope == scope).filter_map(|action| match action.kind {
            ActionKind::Call { procedure, .. } => Some(procedure),
            _ => None,
        })
    };
    let mut found = BTreeSet::new();
    let mut open: Vec<ProcedureId> = calls(TextOwner::Family(model.processes[process].family)).collect();
    while let Some(procedure) = open.pop() {
        if found.insert(procedure) {
            open.extend(calls(TextOwner::Procedure(procedure)));
        }
    }
    found
}

fn search<'m>(
    model: &'m Model,
    process: ProcessId,
    (scope, entries): (TextOwner, &[&'m Next]),
    limit: usize,
) -> Option<Points> {
    let entry_target = PointTarget::Return;
    let mut search = PointSearch {
        limit,
        flow: ControlFlow::new(model, process, scope),
        found: Points { process, scope, entry: entry_target, points: IdVec::new() },
        known: HashMap::new(),
    };
    for (at, entry) in entries.iter().enumerate() {
        let target = search.target(&Counters::new(), entry)?;
        if at == 0 {
            search.found.entry = target;
        }
    }
    let mut at = 0;
    while at < search.found.points.len() {
        let id = PointId::new(at);
        let Point { place, counters, .. } = search.found.points[id].clone();
        for &action in &model.places[place].actions {
            let acted = &model.actions[action];
            let target = match acted.kind {
                ActionKind::Return { .. } => PointTarget::Return,
                _ => search.target(&counters, &acted.next)?,
            };
            search.found.points[id].exits.push(Exit { action, target });
        }
        at += 1;
    }
    Some(search.found)
}

struct PointSearch<'m> {
    limit: usize,
    /// Says where control goes.
    flow: ControlFlow<'m>,
    /// The points found so far; those from the search's position on have no exits yet.
    found: Points,
    known: HashMap<(PlaceId, Counters), PointId>,
}

impl<'m> PointSearch<'m> {
    /// Where `next` leads; `None` where that is one point too many.
    fn target(&mut self, counters: &Counters, next: &'m Next) -> Option<PointTarget> {
        let (place, counters) = match self.flow.after(counters, next) {
            Ok(after) => after,
            Err(fault) => return Some(PointTarget::Fault(fault)),
        };
        if let Some(&id) = self.known.get(&(place, counters.clone())) {
            return Some(PointTarget::Point(id));
        }
        if self.found.points.len() == self.limit {
            return None;
        }
        let id = self.found.points.push(Point { place, counters: counters.clone(), exits: Vec::new() });
        self.known.insert((place, counters), id);
        Some(PointTarget::Point(id))
    }
}
