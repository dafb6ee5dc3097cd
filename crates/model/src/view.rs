//! Views: which part of a state is looked at, as data.
//!
//! In: a [`View`], which names cells, processes and how finely the local states of those processes are told apart. Out:
//! the projection of a state. The local sets of every method are sets of such projections: a split invariant's θ_i (all
//! shared cells, one process), V_i (the cells that it mentions), pairs, joint sets.

use std::collections::BTreeSet;

use crate::Model;
use crate::eval::{Frame, State, evaluate};
use crate::expr::Expr;
use crate::footprint;
use crate::process::ProcessId;
use crate::value::Value;
use crate::variable::{CellId, Storage};

/// What is looked at.
#[derive(Clone, Debug)]
pub struct View {
    /// The cells whose content is seen: shared ones and publics.
    pub cells: BTreeSet<CellId>,
    /// The processes whose local state (stack and own cells) is seen.
    pub processes: Vec<ProcessId>,
    /// How finely local states are told apart.
    pub partition: Partition,
}

/// How finely the local states of a process are told apart.
#[derive(Clone, Debug)]
pub enum Partition {
    /// Entirely.
    Identity,
    /// By the values of these expressions, each evaluated for the process: exposed facts, blocks of places.
    Facts(Vec<Expr>),
}

/// What a view shows of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewState {
    /// The content of the view's cells, in their order.
    pub cells: Vec<Value>,
    /// What is seen of the view's processes, in their order.
    pub locals: Vec<LocalState>,
}

/// What is seen of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocalState {
    /// All of it.
    Whole {
        /// Its stack.
        stack: Vec<Frame>,
        /// Its own cells, in their order.
        cells: Vec<Value>,
    },
    /// The values of the facts; `None` where one cannot be evaluated.
    Block(Vec<Option<Value>>),
}

impl View {
    /// All shared and public cells, and all of one process: what a split invariant is about.
    pub fn split(model: &Model, process: ProcessId) -> View {
        let cells = model.cells.ids().filter(|&cell| is_visible(model, cell)).collect();
        View { cells, processes: vec![process], partition: Partition::Identity }
    }

    /// The shared and public cells that some processes mention, and all of these processes: V_i for one process, the joint
    /// view for two.
    pub fn mentioned(model: &Model, processes: &[ProcessId]) -> View {
        let cells = processes.iter().flat_map(|&process| footprint::view(model, process)).collect();
        View { cells, processes: processes.to_vec(), partition: Partition::Identity }
    }

    /// The whole state.
    pub fn everything(model: &Model) -> View {
        let cells = model.cells.ids().filter(|&cell| is_visible(model, cell)).collect();
        View { cells, processes: model.processes.ids().collect(), partition: Partition::Identity }
    }
}

/// What the view shows of the state.
pub fn project(model: &Model, state: &State, view: &View) -> ViewState {
    let local = |&process: &ProcessId| match &view.partition {
        Partition::Identity => {
            let first = model.processes[process].first_cell;
            let n_cells = model.families[model.processes[process].family].n_cells;
            let cells = state.cells[first..first + n_cells].to_vec();
            LocalState::Whole { stack: state.stacks[process.index()].clone(), cells }
        }
        Partition::Facts(facts) => {
            LocalState::Block(facts.iter().map(|fact| evaluate(model, state, fact, Some(process)).ok()).collect())
        }
    };
    ViewState {
        cells: view.cells.iter().map(|cell| state.cells[cell.index()]).collect(),
        locals: view.processes.iter().map(local).collect(),
    }
}

/// Whether others than its owner can see the cell.
fn is_visible(model: &Model, cell: CellId) -> bool {
    matches!(model.vars[model.cells[cell].var].storage, Storage::Shared | Storage::Public(_))
}
