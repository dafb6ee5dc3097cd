//! Certificates of one size: views finer than a process, each of a few shared cells and two processes.
//!
//! The processes of one family are interchangeable. A *local state* is what belongs to one of them: control, its own cells, the elements that
//! arrays have for it. A [`FineView`] shows some shared cells and `k` processes (one or two), of each no more than the *block* of its local
//! state in a partition of the view's own; a process id in a cell is one of these processes, another one, or none. Where all local states of
//! a block are inside a loop over the family, it shows, too, which of the others in the view that loop has taken.
//!
//! **Rule.** The views prove a property if every local state that a process starts with, or that a step leads to from one of the set, is
//! in the set, and for each view by itself
//!
//! 1. *initiality*: any `k` processes of any initial state project to one of its states;
//! 2. *step*: a step of one of the `k` processes, or of a process of another family, leads from a state to a state. Cells that are not
//!    shown may hold anything; a block may be any of its local states; that all others satisfy something is asked of those in the view, that
//!    some other does is taken for granted;
//! 3. *non-interference*: so does a step of one more process which writes a cell that is shown, where the new process and each `k - 1` of the
//!    others project to a state, too;
//! 4. *implication*: there is no state of the whole program with as many processes as there are, every `k` of which project, in every
//!    view, to one of its states, and that violates the property. The checker searches for it cell by cell: each cell holds a value, or names one of the
//!    processes so far, or one more; when more processes are needed than there are, there is no such state.
//!
//! Then any `k` processes of every reachable state project, in every view, to one of its states, by induction on runs.
//!
//! Views may be *joint*: then 2 and 3 are asked only of steps for which every other view of two processes has room, too. It has room if, for the process
//! that steps and each other one in question, or for each two of them where one of another family steps, it has a state with the first process in
//! the block of the local state in which it takes the step, the other one in a block with a local state that is in the block shown and satisfies what
//! the step asks of all others, cells as the step finds them, and those cells that both views show as the one view shows them. The induction is
//! then one about all views at once: every two processes of a reachable state project to a state of every view, so that there is room
//! for each step that is taken.
//!
//! There may be *flows* beside them ([`FineFlow`]): a process weighs by its local state, a shared cell by what it holds, and the sum of all weights is a constant, modulo a
//! number or as it is. It is a constant in all reachable states if it is so initially and no step changes it, whatever the rest of the state is. Then 2 and 3 are asked only of
//! processes and cells which others can be added to so that the sum is right, before the step and after it, and 4 only of states of which the sum may be right.

use base::Id;
use model::control::PlaceId;
use model::process::FamilyId;
use model::value::Value;
use serde::{Deserialize, Serialize};

use crate::views::{LocalColumn, SharedColumn};

/// Views of cells, of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct FineProof {
    /// The family whose processes are interchangeable.
    pub family: FamilyId,
    /// What a local state consists of.
    pub local: Vec<LocalColumn>,
    /// The local states.
    pub states: Vec<Vec<LocalItem>>,
    /// The views.
    pub views: Vec<FineView>,
    /// Whether a step counts only where all views have room for it.
    pub is_joint: bool,
    /// Sums that no step changes.
    pub flows: Vec<FineFlow>,
}

/// A sum over all processes and shared cells that no step changes.
#[derive(Clone, Debug, PartialEq)]
pub struct FineFlow {
    /// Sums count modulo this; as they are where it is 0.
    pub modulus: i64,
    /// What the sum is.
    pub constant: i64,
    /// For each local state what a process in it adds.
    pub states: Vec<i64>,
    /// What shared cells add; others add nothing.
    pub cells: Vec<FlowCell>,
}

/// What a shared cell adds to a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowCell {
    /// The cell.
    pub cell: SharedColumn,
    /// By what it holds; anything else adds nothing.
    pub weights: Vec<FlowWeight>,
}

/// What a content of a cell adds to a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowWeight {
    /// The content: `FineContent::Other` for any process of the family.
    pub content: FineContent,
    /// What it adds.
    pub weight: i64,
}

/// One component of a local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocalItem {
    /// A value that names no process of the family. Of a loop over the family: whether it is under way.
    Value(Value),
    /// Where control is.
    Place(PlaceId),
    /// The process itself.
    Itself,
    /// Another process of the family.
    Another,
}

/// A view.
#[derive(Clone, Debug, PartialEq)]
pub struct FineView {
    /// The shared cells that it shows.
    pub cells: Vec<SharedColumn>,
    /// How many processes it shows.
    pub k: usize,
    /// For each local state its block.
    pub blocks: Vec<u32>,
    /// The states of the view.
    pub theta: Vec<FineState>,
}

/// A state of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FineState {
    /// The contents of its cells.
    pub cells: Vec<FineContent>,
    /// The blocks of its processes.
    pub blocks: Vec<u32>,
    /// For each process whether its loop has taken the other one.
    pub taken: Vec<bool>,
}

/// What a cell holds, in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FineContent {
    /// A value that names no process of the family.
    Value(Value),
    /// Where a process of another family is.
    Place(PlaceId),
    /// A process of the view.
    Slot(u8),
    /// Another process of the family.
    Other,
}

/// The views as the file has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FineRecord {
    family: u32,
    local: Vec<FineColumnRecord>,
    states: Vec<Vec<FineItemRecord>>,
    views: Vec<FineViewRecord>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    joint: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flows: Vec<FineFlowRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FineFlowRecord {
    modulus: i64,
    constant: i64,
    states: Vec<i64>,
    cells: Vec<FlowCellRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowCellRecord {
    cell: FineColumnRecord,
    weights: Vec<FlowWeightRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowWeightRecord {
    content: FineItemRecord,
    weight: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FineViewRecord {
    cells: Vec<FineColumnRecord>,
    k: usize,
    blocks: Vec<u32>,
    theta: Vec<FineStateRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FineStateRecord {
    cells: Vec<FineItemRecord>,
    blocks: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    taken: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FineColumnRecord {
    Cell(u32),
    Control(Option<u32>),
    Taken(Option<u32>, u32),
    Own(usize),
    Element(u32, Option<u32>, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FineItemRecord {
    Bool(bool),
    Int(i64),
    Enum(u32, u32),
    None,
    Process(u32),
    Place(u32),
    Slot(u8),
    Itself,
    Other,
}

impl FineRecord {
    /// The record of a proof.
    pub fn new(proof: &FineProof) -> FineRecord {
        let view = |view: &FineView| FineViewRecord {
            cells: view.cells.iter().map(|&column| FineColumnRecord::from(column)).collect(),
            k: view.k,
            blocks: view.blocks.clone(),
            theta: view.theta.iter().map(FineStateRecord::new).collect(),
        };
        FineRecord {
            family: number(proof.family),
            local: proof.local.iter().map(|&column| FineColumnRecord::from(column)).collect(),
            states: proof.states.iter().map(|state| state.iter().map(|&item| item.into()).collect()).collect(),
            views: proof.views.iter().map(view).collect(),
            joint: proof.is_joint,
            flows: proof.flows.iter().map(FineFlowRecord::new).collect(),
        }
    }

    /// The proof; `None` where something is in the wrong part. Whether its numbers are the Model's is for the checker to see.
    pub fn proof(&self) -> Option<FineProof> {
        let state = |state: &Vec<FineItemRecord>| state.iter().map(|item| item.local()).collect::<Option<Vec<_>>>();
        let view = |view: &FineViewRecord| {
            Some(FineView {
                cells: view.cells.iter().map(|column| column.shared()).collect::<Option<_>>()?,
                k: view.k,
                blocks: view.blocks.clone(),
                theta: view.theta.iter().map(FineStateRecord::state).collect::<Option<_>>()?,
            })
        };
        Some(FineProof {
            family: named(self.family),
            local: self.local.iter().map(|column| column.local()).collect::<Option<_>>()?,
            states: self.states.iter().map(state).collect::<Option<_>>()?,
            views: self.views.iter().map(view).collect::<Option<_>>()?,
            is_joint: self.joint,
            flows: self.flows.iter().map(FineFlowRecord::flow).collect::<Option<_>>()?,
        })
    }
}

impl FineFlowRecord {
    fn new(flow: &FineFlow) -> FineFlowRecord {
        let weight = |one: &FlowWeight| FlowWeightRecord { content: one.content.into(), weight: one.weight };
        let cell = |cell: &FlowCell| FlowCellRecord {
            cell: cell.cell.into(),
            weights: cell.weights.iter().map(weight).collect(),
        };
        FineFlowRecord {
            modulus: flow.modulus,
            constant: flow.constant,
            states: flow.states.clone(),
            cells: flow.cells.iter().map(cell).collect(),
        }
    }

    fn flow(&self) -> Option<FineFlow> {
        let weight = |one: &FlowWeightRecord| Some(FlowWeight { content: one.content.content()?, weight: one.weight });
        let cell = |cell: &FlowCellRecord| {
            let weights = cell.weights.iter().map(weight).collect::<Option<_>>()?;
            Some(FlowCell { cell: cell.cell.shared()?, weights })
        };
        Some(FineFlow {
            modulus: self.modulus,
            constant: self.constant,
            states: self.states.clone(),
            cells: self.cells.iter().map(cell).collect::<Option<_>>()?,
        })
    }
}

impl FineStateRecord {
    fn new(state: &FineState) -> FineStateRecord {
        let taken = if state.taken.contains(&true) { state.taken.clone() } else { Vec::new() };
        let cells = state.cells.iter().map(|&content| content.into()).collect();
        FineStateRecord { cells, blocks: state.blocks.clone(), taken }
    }

    fn state(&self) -> Option<FineState> {
        let taken = if self.taken.is_empty() { vec![false; self.blocks.len()] } else { self.taken.clone() };
        let cells = self.cells.iter().map(|item| item.content()).collect::<Option<_>>()?;
        Some(FineState { cells, blocks: self.blocks.clone(), taken })
    }
}

impl From<SharedColumn> for FineColumnRecord {
    fn from(column: SharedColumn) -> FineColumnRecord {
        match column {
            SharedColumn::Cell(cell) => FineColumnRecord::Cell(number(cell)),
            SharedColumn::Control(process) => FineColumnRecord::Control(Some(number(process))),
            SharedColumn::Taken(process, id) => FineColumnRecord::Taken(Some(number(process)), number(id)),
        }
    }
}

impl From<LocalColumn> for FineColumnRecord {
    fn from(column: LocalColumn) -> FineColumnRecord {
        match column {
            LocalColumn::Control => FineColumnRecord::Control(None),
            LocalColumn::Own(at) => FineColumnRecord::Own(at),
            LocalColumn::Taken(id) => FineColumnRecord::Taken(None, number(id)),
            LocalColumn::Element(row, at) => FineColumnRecord::Element(number(row.var), row.owner.map(number), at),
        }
    }
}

impl FineColumnRecord {
    fn shared(self) -> Option<SharedColumn> {
        match self {
            FineColumnRecord::Cell(cell) => Some(SharedColumn::Cell(named(cell))),
            FineColumnRecord::Control(Some(process)) => Some(SharedColumn::Control(named(process))),
            FineColumnRecord::Taken(Some(process), id) => Some(SharedColumn::Taken(named(process), named(id))),
            _ => None,
        }
    }

    fn local(self) -> Option<LocalColumn> {
        match self {
            FineColumnRecord::Control(None) => Some(LocalColumn::Control),
            FineColumnRecord::Own(at) => Some(LocalColumn::Own(at)),
            FineColumnRecord::Taken(None, id) => Some(LocalColumn::Taken(named(id))),
            FineColumnRecord::Element(var, owner, at) => {
                Some(LocalColumn::Element(crate::views::ElementArray { var: named(var), owner: owner.map(named) }, at))
            }
            _ => None,
        }
    }
}

impl From<Value> for FineItemRecord {
    fn from(value: Value) -> FineItemRecord {
        match value {
            Value::Bool(truth) => FineItemRecord::Bool(truth),
            Value::Int(number) => FineItemRecord::Int(number),
            Value::Enum(id, at) => FineItemRecord::Enum(number(id), at),
            Value::None => FineItemRecord::None,
            Value::Process(id) => FineItemRecord::Process(number(id)),
        }
    }
}

impl From<LocalItem> for FineItemRecord {
    fn from(item: LocalItem) -> FineItemRecord {
        match item {
            LocalItem::Value(value) => value.into(),
            LocalItem::Place(place) => FineItemRecord::Place(number(place)),
            LocalItem::Itself => FineItemRecord::Itself,
            LocalItem::Another => FineItemRecord::Other,
        }
    }
}

impl From<FineContent> for FineItemRecord {
    fn from(content: FineContent) -> FineItemRecord {
        match content {
            FineContent::Value(value) => value.into(),
            FineContent::Place(place) => FineItemRecord::Place(number(place)),
            FineContent::Slot(slot) => FineItemRecord::Slot(slot),
            FineContent::Other => FineItemRecord::Other,
        }
    }
}

impl FineItemRecord {
    fn value(self) -> Option<Value> {
        Some(match self {
            FineItemRecord::Bool(truth) => Value::Bool(truth),
            FineItemRecord::Int(number) => Value::Int(number),
            FineItemRecord::Enum(id, at) => Value::Enum(named(id), at),
            FineItemRecord::None => Value::None,
            FineItemRecord::Process(id) => Value::Process(named(id)),
            FineItemRecord::Place(_) | FineItemRecord::Slot(_) | FineItemRecord::Itself | FineItemRecord::Other => {
                return None;
            }
        })
    }

    fn local(self) -> Option<LocalItem> {
        match self {
            FineItemRecord::Place(place) => Some(LocalItem::Place(named(place))),
            FineItemRecord::Itself => Some(LocalItem::Itself),
            FineItemRecord::Other => Some(LocalItem::Another),
            other => other.value().map(LocalItem::Value),
        }
    }

    fn content(self) -> Option<FineContent> {
        match self {
            FineItemRecord::Place(place) => Some(FineContent::Place(named(place))),
            FineItemRecord::Slot(slot) => Some(FineContent::Slot(slot)),
            FineItemRecord::Other => Some(FineContent::Other),
            other => other.value().map(FineContent::Value),
        }
    }
}

fn number<T>(id: Id<T>) -> u32 {
    id.index() as u32
}

fn named<T>(number: u32) -> Id<T> {
    Id::new(number as usize)
}
