//! Obligations of a proof by local invariants: which part of the property follows from which processes.
//!
//! In: a property whose questions have no positive answer, and the processes that each was put to. Out: what the certificate states about
//! that (`evidence::implied`), so that a checker need not find out how the engine took the property apart.

use std::collections::BTreeSet;

use evidence::implied::Implied;
use model::Model;
use model::control::{SyncSide, TextOwner};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::CellId;

use crate::k_index::groups;
use crate::question::Question;
use crate::symmetry::Symmetry;

/// The processes whose invariants a question about some processes and cells was put to, ascending.
type Concerned<'a> = &'a dyn Fn(&[ProcessId], &BTreeSet<CellId>) -> Vec<ProcessId>;

/// Which invariants questions were put to.
pub struct ConcernedProcesses<'a> {
    /// The processes of a question about some processes and cells.
    pub by: Concerned<'a>,
    /// The groups whose invariants were asked for a deadlock.
    pub in_deadlock: Vec<Vec<ProcessId>>,
}

/// How invariants imply a property, whose questions these are: all of them, or where processes can be permuted the first of those
/// that are images of each other.
pub fn implied(
    model: &Model,
    (property, asked): (&PropertyKind, &[Question]),
    symmetry: Option<&Symmetry<'_>>,
    concerned: ConcernedProcesses<'_>,
) -> Vec<Implied> {
    let symmetry = symmetry.filter(|symmetry| symmetry.leaves(property));
    let from = |processes: &[ProcessId]| (concerned.by)(processes, &BTreeSet::new());
    match property {
        PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => {
            let clause = |question: &Question| Implied::Clause {
                cuts: question.cuts.clone(),
                from: (concerned.by)(&question.processes, &question.cells),
            };
            asked.iter().map(clause).collect()
        }
        PropertyKind::NoErrors => no_faults(model, symmetry, from),
        PropertyKind::RaceFree(_) => no_races(model, symmetry, from),
        PropertyKind::DeadlockFree => vec![Implied::NoDeadlock { from: concerned.in_deadlock }],
        PropertyKind::Temporal(_) => Vec::new(),
    }
}

/// How the invariants of all processes together imply a property.
pub fn implied_by_all(model: &Model, property: &PropertyKind, k: usize) -> Vec<Implied> {
    let all: Vec<ProcessId> = model.processes.ids().collect();
    match property {
        PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => {
            vec![Implied::Clause { cuts: Vec::new(), from: all }]
        }
        PropertyKind::NoErrors => no_faults(model, None, |_| all.clone()),
        PropertyKind::RaceFree(_) => no_races(model, None, |_| all.clone()),
        PropertyKind::DeadlockFree => vec![Implied::NoDeadlock { from: groups(&all, k) }],
        PropertyKind::Temporal(_) => Vec::new(),
    }
}

fn no_faults(
    model: &Model,
    symmetry: Option<&Symmetry<'_>>,
    from: impl Fn(&[ProcessId]) -> Vec<ProcessId>,
) -> Vec<Implied> {
    let is_first = |movers: &Vec<ProcessId>| symmetry.is_none_or(|symmetry| symmetry.is_first(movers, &[]));
    let part = |movers: Vec<ProcessId>| Implied::NoFault { from: from(&movers), movers };
    movers(model).into_iter().filter(is_first).map(part).collect()
}

fn no_races(
    model: &Model,
    symmetry: Option<&Symmetry<'_>>,
    from: impl Fn(&[ProcessId]) -> Vec<ProcessId>,
) -> Vec<Implied> {
    let is_first = |movers: &[ProcessId]| symmetry.is_none_or(|symmetry| symmetry.is_first(movers, &[]));
    let movers = movers(model);
    let mut parts = Vec::new();
    for (at, one) in movers.iter().enumerate() {
        for other in &movers[at..] {
            let both = [one.as_slice(), other].concat();
            let is_representative = is_first(&both) || is_first(&[other.as_slice(), one].concat());
            if is_representative && (one != other || one.len() > 1) {
                parts.push(Implied::NoRace { movers: [one.clone(), other.clone()], from: from(&both) });
            }
        }
    }
    parts
}

/// The processes that can step together: each by itself, and a sender with a receiver on a common channel.
fn movers(model: &Model) -> Vec<Vec<ProcessId>> {
    let mut movers: Vec<Vec<ProcessId>> = model.processes.ids().map(|process| vec![process]).collect();
    let sides = |process: ProcessId| {
        let own = TextOwner::Family(model.processes[process].family);
        model.actions.iter().filter(move |action| action.scope == own).filter_map(|action| action.sync.as_ref())
    };
    for sender in model.processes.ids() {
        let sends = || sides(sender).filter(|sync| matches!(sync.side, SyncSide::Send(_)));
        for receiver in model.processes.ids().filter(|&receiver| receiver != sender && sends().next().is_some()) {
            let receives = |channel| {
                sides(receiver).any(|sync| matches!(sync.side, SyncSide::Receive(_)) && sync.channel == channel)
            };
            if sends().any(|sync| receives(sync.channel)) {
                movers.push(vec![sender, receiver]);
            }
        }
    }
    movers
}
