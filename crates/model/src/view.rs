//! Views: parts of states, as data.
//!
//! In: a [`View`], which names cells, members (particular processes, or *some* process of a family), how finely the local states
//! of each family are distinguished, and how process ids are seen; a state; and the processes that are chosen as members. Out: the
//! projection of the state. The local sets of every method are sets of such projections: a split invariant's θ_i (all shared
//! cells, one process), V_i (the cells that it mentions), pairs and joint sets (several particular processes), windows of a ring
//! (neighbours and what they touch), and the views of interchangeable processes (k members of a family, of which a process id
//! is one, or another process, or none).

use std::collections::{BTreeMap, BTreeSet};

use crate::Model;
use crate::eval::{Frame, State, evaluate};
use crate::expr::Expr;
use crate::footprint;
use crate::process::{FamilyId, ProcessId};
use crate::value::Value;
use crate::variable::{CellId, Storage};

/// A part of a state.
#[derive(Clone, Debug)]
pub struct View {
    /// The cells whose content is seen: shared ones and publics.
    pub cells: BTreeSet<CellId>,
    /// Whose local states (stack and own cells) are seen; k of them.
    pub members: Vec<Member>,
    /// How finely the local states of a family's processes are distinguished; entirely where a family is not here.
    pub partitions: BTreeMap<FamilyId, Partition>,
    /// How process ids in cells are seen.
    pub ids: Ids,
}

/// Whose local state is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Member {
    /// This process's.
    Process(ProcessId),
    /// That of some process of the family; different members are different processes.
    Some(FamilyId),
}

/// How finely the local states of a process are distinguished.
#[derive(Clone, Debug)]
pub enum Partition {
    /// Entirely.
    Identity,
    /// By the values of these expressions, each evaluated for the process: exposed facts, blocks of control locations.
    Facts(Vec<Expr>),
}

/// How process ids are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// As the processes that they are.
    Exact,
    /// By their relation to the members: which of them it is, or another process.
    Relative,
}

/// What a view shows of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewState {
    /// The content of the view's cells, in their order.
    pub cells: Vec<CellContent>,
    /// What is seen of the members, in their order.
    pub locals: Vec<LocalState>,
}

/// The content of a cell, as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellContent {
    /// A value.
    Value(Value),
    /// The id of the member at this position.
    Member(usize),
    /// The id of a process that is no member.
    Other,
}

/// What is seen of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocalState {
    /// All of it.
    Whole {
        /// Its stack.
        stack: Vec<Frame>,
        /// Its own cells, in their order.
        cells: Vec<CellContent>,
    },
    /// The values of the facts; `None` where one cannot be evaluated.
    Block(Vec<Option<Value>>),
}

impl View {
    /// All shared and public cells, and all of one process: what a split invariant is about.
    pub fn split(model: &Model, process: ProcessId) -> View {
        View::of(visible_cells(model), &[process])
    }

    /// The shared and public cells that some processes mention, and all of these processes: V_i for one process, the joint
    /// view for two, a window of a ring for neighbours.
    pub fn mentioned(model: &Model, processes: &[ProcessId]) -> View {
        View::of(processes.iter().flat_map(|&process| footprint::view(model, process)).collect(), processes)
    }

    /// The whole state.
    pub fn everything(model: &Model) -> View {
        View::of(visible_cells(model), &model.processes.ids().collect::<Vec<_>>())
    }

    /// Some cells, and all of some processes.
    pub fn of(cells: BTreeSet<CellId>, processes: &[ProcessId]) -> View {
        let members = processes.iter().map(|&process| Member::Process(process)).collect();
        View { cells, members, partitions: BTreeMap::new(), ids: Ids::Exact }
    }

    /// Some cells, and `k` different processes of a family, whichever they are; process ids are seen by their relation to them.
    pub fn of_family(cells: BTreeSet<CellId>, family: FamilyId, k: usize) -> View {
        View { cells, members: vec![Member::Some(family); k], partitions: BTreeMap::new(), ids: Ids::Relative }
    }

    /// The same view, in which a family's local states are distinguished by these facts only.
    pub fn with_facts(mut self, family: FamilyId, facts: Vec<Expr>) -> View {
        self.partitions.insert(family, Partition::Facts(facts));
        self
    }

    /// How many processes it speaks of.
    pub fn k(&self) -> usize {
        self.members.len()
    }

    /// The processes, of a view in which each is named; `None` where one is any of its family.
    pub fn processes(&self) -> Option<Vec<ProcessId>> {
        let named = self.members.iter().map(|member| match member {
            Member::Process(process) => Some(*process),
            Member::Some(_) => None,
        });
        named.collect()
    }

    /// Whether these processes can be the members: each of its family, and no two the same.
    pub fn admits(&self, model: &Model, chosen: &[ProcessId]) -> bool {
        let fits = |(member, process): (&Member, &ProcessId)| match member {
            Member::Process(wanted) => wanted == process,
            Member::Some(family) => model.processes[*process].family == *family,
        };
        let distinct: BTreeSet<&ProcessId> = chosen.iter().collect();
        chosen.len() == self.k() && distinct.len() == chosen.len() && self.members.iter().zip(chosen).all(fits)
    }
}

/// What the view shows of the state, with these processes for its members.
///
/// # Panics
/// If they cannot be the members ([`View::admits`]).
pub fn project(model: &Model, state: &State, view: &View, chosen: &[ProcessId]) -> ViewState {
    assert!(view.admits(model, chosen), "{chosen:?} cannot stand for {:?}", view.members);
    let seen = |value: Value| match (value, view.ids) {
        (Value::Process(id), Ids::Relative) => {
            chosen.iter().position(|&member| member == id).map_or(CellContent::Other, CellContent::Member)
        }
        (value, _) => CellContent::Value(value),
    };
    let local = |&process: &ProcessId| {
        let family = model.processes[process].family;
        match view.partitions.get(&family) {
            None | Some(Partition::Identity) => {
                let first = model.processes[process].first_cell;
                let own = &state.cells[first..first + model.families[family].n_cells];
                let cells = own.iter().map(|&value| seen(value)).collect();
                LocalState::Whole { stack: state.stacks[process.index()].clone(), cells }
            }
            Some(Partition::Facts(facts)) => {
                LocalState::Block(facts.iter().map(|fact| evaluate(model, state, fact, Some(process)).ok()).collect())
            }
        }
    };
    ViewState {
        cells: view.cells.iter().map(|cell| seen(state.cells[cell.index()])).collect(),
        locals: chosen.iter().map(local).collect(),
    }
}

/// The cells that others than their owners can see.
pub fn visible_cells(model: &Model) -> BTreeSet<CellId> {
    model.cells.ids().filter(|&cell| is_visible(model, cell)).collect()
}

/// Whether others than its owner can see the cell.
pub fn is_visible(model: &Model, cell: CellId) -> bool {
    matches!(model.vars[model.cells[cell].var].storage, Storage::Shared | Storage::Public(_))
}
