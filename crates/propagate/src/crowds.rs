//! Crowds: interchangeable processes of which one view and one set of edges represent all (`evidence::propagation`).
//!
//! In: a program whose processes may be permuted, and the processes that a property speaks of. Out: the crowds of all others. Views are made of a few of each: the
//! first represents all, the second is the one that the first sees when another one steps, and the next ones are those that leave the crowd when cases are
//! distinguished by processes. So the work does not grow with the number of processes.

use std::collections::BTreeSet;

use evidence::propagation::Additive;
use model::Model;
use model::expr::Expr;
use model::fairness::{EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::ProcessId;
use model::types::ScalarType;
use temporal::exchange::Exchanges;

use crate::items::{Item, seen_by_each};

/// So many processes can leave a crowd, at most.
const SPARES: usize = 2;

/// So many stay, at least.
const FEWEST: usize = 3;

/// Interchangeable processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// All of them.
    pub processes: Vec<ProcessId>,
}

impl Crowd {
    /// The process whose set represents those of all.
    pub fn first(&self) -> ProcessId {
        self.processes[0]
    }

    /// The process that the first one sees when another one of them steps.
    pub fn second(&self) -> ProcessId {
        self.processes[1]
    }

    /// Those that can leave, in this order.
    pub fn spares(&self) -> &[ProcessId] {
        &self.processes[2..self.n_made()]
    }

    /// Of how many views are made, from the first on.
    fn n_made(&self) -> usize {
        2 + SPARES.min(self.processes.len() - FEWEST)
    }
}

/// The crowds of a program, for a property that speaks of some processes.
pub fn crowds(model: &Model, exchanges: &Exchanges<'_>, named: &BTreeSet<ProcessId>) -> Vec<Crowd> {
    // A turn is the same for all of a crowd if it is one action of one process.
    if exchanges.moves_arrays() || !model.channels.is_empty() || model.goes_on() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (id, family) in model.families.entries() {
        let processes: Vec<ProcessId> = family.processes().filter(|process| !named.contains(process)).collect();
        let names = |ty: ScalarType| match ty {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => family == id,
            ScalarType::Lock => true,
            ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Enum(_) => false,
        };
        if processes.len() > FEWEST && !model.cells.iter().any(|cell| names(cell.ty)) {
            found.push(Crowd { processes });
        }
    }
    if found.is_empty() {
        return found;
    }
    let seen: Vec<BTreeSet<Item>> = seen_by_each(model);
    let owner = |item: Item| match item {
        Item::Cell(cell) => model.cells[cell].owner,
        Item::Control(process) => Some(process),
    };
    let is_seen_by_another = |crowd: &Crowd| {
        let of_crowd = |process: ProcessId, item: Item| {
            owner(item).is_some_and(|owner| owner != process && crowd.processes.binary_search(&owner).is_ok())
        };
        model.processes.ids().any(|process| seen[process.index()].iter().any(|&item| of_crowd(process, item)))
    };
    let shape = |process: ProcessId| -> Vec<(Option<Item>, usize)> {
        let first = model.processes[process].first_cell;
        let shown = |item: &Item| match (*item, owner(*item) == Some(process)) {
            (Item::Cell(cell), true) => (None, cell.index() - first + 1),
            (Item::Control(_), true) => (None, 0),
            (other, false) => (Some(other), 0),
        };
        seen[process.index()].iter().map(shown).collect()
    };
    found.retain(|crowd| {
        let first = shape(crowd.first());
        !is_seen_by_another(crowd) && crowd.processes.iter().all(|&process| shape(process) == first)
    });
    found
}

/// Whether a sum weighs all processes of each crowd the same, and nothing else of what belongs to them.
pub fn weighs_alike(model: &Model, crowds: &[Crowd], sum: &Additive) -> bool {
    let cells = sum.cells.iter().map(|one| one.cell).chain(sum.groups.iter().flat_map(|group| group.cells.clone()));
    let owners: BTreeSet<ProcessId> = cells.filter_map(|cell| model.cells[cell].owner).collect();
    let weights = |process: ProcessId| sum.processes.iter().filter(move |one| one.process == process);
    crowds.iter().all(|crowd| {
        let is_alike = |&other: &ProcessId| {
            let expected = weights(crowd.first()).map(|one| one.of_another(model, other));
            !owners.contains(&other) && expected.eq(weights(other).cloned())
        };
        crowd.processes.iter().all(is_alike)
    })
}

/// For each process the one whose view is made and shows the same.
pub fn stand_ins(model: &Model, crowds: &[Crowd]) -> Vec<ProcessId> {
    let mut found: Vec<ProcessId> = model.processes.ids().collect();
    for crowd in crowds {
        crowd.processes[crowd.n_made()..].iter().for_each(|process| found[process.index()] = crowd.first());
    }
    found
}

/// Whether permutations of processes of crowds take fairness assumptions to each other, and these have a value in every state.
pub fn are_kept(model: &Model, exchanges: &Exchanges<'_>, crowds: &[Crowd], fairness: &[FairnessId]) -> bool {
    let rounds = crowds.iter().flat_map(|crowd| [&crowd.processes[..2], &crowd.processes[..]]);
    fairness.iter().all(|&pair| !model.fairness[pair].expressions().any(Expr::can_fault)) && { rounds }.all(|round| {
        let next = |process: ProcessId| match round.iter().position(|&one| one == process) {
            Some(at) => round[(at + 1) % round.len()],
            None => process,
        };
        exchanges.keeps(fairness, &next)
    })
}

/// The fairness assumptions that speak of no process in a crowd but this one.
pub fn about(model: &Model, crowds: &[Crowd], fairness: &[FairnessId], own: Option<ProcessId>) -> Vec<FairnessId> {
    let is_shown = |process: ProcessId| {
        own == Some(process) || !crowds.iter().any(|crowd| crowd.processes.binary_search(&process).is_ok())
    };
    let state = |predicate: &StatePredicate| match predicate {
        StatePredicate::Unable(process, _) => is_shown(*process),
        StatePredicate::NobodyAble | StatePredicate::Holds(_) | StatePredicate::Fails(_) => true,
    };
    let edge = |predicate: &EdgePredicate| match predicate {
        EdgePredicate::Before(predicate) => state(predicate),
        EdgePredicate::Scheduled(process) | EdgePredicate::Moves(process, _) => is_shown(*process),
        EdgePredicate::SomebodyMoves => true,
    };
    let is_about = |pair: &FairnessPair| pair.always.as_ref().is_none_or(state) && pair.often.iter().all(edge);
    fairness.iter().copied().filter(|&pair| is_about(&model.fairness[pair])).collect()
}
