//! Certificates by counting: views of one process each, and numbers that are sums over all processes.
//!
//! The processes of each *family* of more than one are interchangeable; the others are *single*. A *counted* cell is a number that views do
//! not show. A [`CountingView`] is what one process of a family sees of a state: the shared cells that are not counted, with control and
//! cells of the single processes, and its own local state. A process id in it is the process itself, another one of a family, or a single one; a
//! number in a local state may be a difference to what a counted cell holds now, or not be shown. The *class* of a process is its control
//! and those of its own contents that are plain values. A [`Sum`] says that multiples of a few cells, counted or shown, are together a constant and the
//! weights of the classes of all processes; a process id or lock counts as 1 where it is some process, a truth value where it is true.
//!
//! **Rule.** Views and sums prove a property for every size if
//!
//! 1. *initiality*: each process of any initial state looks like one of the views, and every sum is right;
//! 2. *step and non-interference*: take a view, and a step of its process, of a single one, or of another process whose view is one of the
//!    views and may be part of the same state. If the step can happen, the process of the view looks like one of the views again, and every
//!    sum is right again: its cells have changed by as much as the weight of the process that moved. What a step tests is a question to all
//!    processes: it can happen unless there is no number of processes for each of the views (and these processes at hand), such that all sums,
//!    the bounds of counted cells, the sizes of the families and the tests on the way are right;
//! 3. *implication*: in the same sense, no processes that the property speaks of violate it; no step is a fault.
//!
//! Then each process of every reachable state looks like one of the views, and every sum is right, by induction on runs.

use base::Id;
use model::control::PlaceId;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, VarId};
use serde::{Deserialize, Serialize};

/// Views of one process each, and sums.
#[derive(Clone, Debug, PartialEq)]
pub struct CountingProof {
    /// The cells that views do not show, ascending.
    pub counted: Vec<CellId>,
    /// The arrays with elements for each process of a family: those belong to the processes, and nothing else indexes that dimension.
    pub rows: Vec<CountingRow>,
    /// The views.
    pub views: Vec<CountingView>,
    /// The sums.
    pub sums: Vec<Sum>,
}

/// An array with elements for each process of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingRow {
    /// The array.
    pub var: VarId,
    /// The family.
    pub family: FamilyId,
    /// The dimension that its processes index.
    pub dimension: usize,
}

/// What one process of a family sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountingView {
    /// The family of the process.
    pub family: FamilyId,
    /// Shared cells, those of single processes, and where these are; counted cells are left out.
    pub shared: Vec<Item>,
    /// The local state: control, own cells, and what arrays have for the process.
    pub local: Vec<Item>,
}

/// One component of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A value that names no process of a family.
    Value(Value),
    /// Where control is.
    Place(PlaceId),
    /// A process that is seen; in a view, the process itself is 0.
    Slot(u8),
    /// A process of the family that is not seen; in a local state, one other than its own.
    Other(FamilyId),
    /// What a counted cell holds, and so much more.
    Offset(CellId, i64),
    /// A number that is not shown.
    Any,
}

/// Cells that are a sum over all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// The cells, and how often each is added.
    pub cells: Vec<(CellId, i64)>,
    /// The constant.
    pub constant: i64,
    /// What processes add to it; whatever is not here adds nothing.
    pub weights: Vec<Weight>,
}

/// What a process adds to a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// The process, or any of a family.
    pub of: Member,
    /// Its class.
    pub class: Vec<Item>,
    /// What it adds.
    pub weight: i64,
}

/// Whose class it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Member {
    /// Of each process of a family.
    Family(FamilyId),
    /// Of a single process.
    Single(ProcessId),
}

/// The proof as it stands in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountingRecord {
    counted: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<RowRecord>,
    views: Vec<ViewRecord>,
    sums: Vec<SumRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRecord {
    var: u32,
    family: u32,
    dimension: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewRecord {
    family: u32,
    shared: Vec<ItemRecord>,
    local: Vec<ItemRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SumRecord {
    cells: Vec<(u32, i64)>,
    constant: i64,
    weights: Vec<WeightRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightRecord {
    of: MemberRecord,
    class: Vec<ItemRecord>,
    weight: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MemberRecord {
    Family(u32),
    Single(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemRecord {
    Bool(bool),
    Int(i64),
    Enum(u32, u32),
    None,
    Process(u32),
    Place(u32),
    Slot(u8),
    Other(u32),
    Offset(u32, i64),
    Any,
}

impl CountingRecord {
    /// The record of a proof.
    pub fn new(proof: &CountingProof) -> CountingRecord {
        let items = |items: &Vec<Item>| items.iter().map(|&item| ItemRecord::from(item)).collect();
        let weight = |weight: &Weight| WeightRecord {
            of: match weight.of {
                Member::Family(id) => MemberRecord::Family(number(id)),
                Member::Single(id) => MemberRecord::Single(number(id)),
            },
            class: items(&weight.class),
            weight: weight.weight,
        };
        let sum = |sum: &Sum| SumRecord {
            cells: sum.cells.iter().map(|&(cell, times)| (number(cell), times)).collect(),
            constant: sum.constant,
            weights: sum.weights.iter().map(weight).collect(),
        };
        let view = |view: &CountingView| ViewRecord {
            family: number(view.family),
            shared: items(&view.shared),
            local: items(&view.local),
        };
        CountingRecord {
            counted: proof.counted.iter().map(|&cell| number(cell)).collect(),
            rows: { proof.rows.iter() }
                .map(|row| RowRecord { var: number(row.var), family: number(row.family), dimension: row.dimension })
                .collect(),
            views: proof.views.iter().map(view).collect(),
            sums: proof.sums.iter().map(sum).collect(),
        }
    }

    /// The proof. Whether its numbers are the Model's is for the checker to see.
    pub fn proof(&self) -> CountingProof {
        let items = |items: &Vec<ItemRecord>| items.iter().map(|&item| Item::from(item)).collect();
        let weight = |weight: &WeightRecord| Weight {
            of: match weight.of {
                MemberRecord::Family(id) => Member::Family(named(id)),
                MemberRecord::Single(id) => Member::Single(named(id)),
            },
            class: items(&weight.class),
            weight: weight.weight,
        };
        let sum = |sum: &SumRecord| Sum {
            cells: sum.cells.iter().map(|&(cell, times)| (named(cell), times)).collect(),
            constant: sum.constant,
            weights: sum.weights.iter().map(weight).collect(),
        };
        let view = |view: &ViewRecord| CountingView {
            family: named(view.family),
            shared: items(&view.shared),
            local: items(&view.local),
        };
        CountingProof {
            counted: self.counted.iter().map(|&cell| named(cell)).collect(),
            rows: { self.rows.iter() }
                .map(|row| CountingRow { var: named(row.var), family: named(row.family), dimension: row.dimension })
                .collect(),
            views: self.views.iter().map(view).collect(),
            sums: self.sums.iter().map(sum).collect(),
        }
    }
}

impl From<Item> for ItemRecord {
    fn from(item: Item) -> ItemRecord {
        match item {
            Item::Value(Value::Bool(truth)) => ItemRecord::Bool(truth),
            Item::Value(Value::Int(number)) => ItemRecord::Int(number),
            Item::Value(Value::Enum(id, at)) => ItemRecord::Enum(number(id), at),
            Item::Value(Value::None) => ItemRecord::None,
            Item::Value(Value::Process(id)) => ItemRecord::Process(number(id)),
            Item::Place(place) => ItemRecord::Place(number(place)),
            Item::Slot(slot) => ItemRecord::Slot(slot),
            Item::Other(family) => ItemRecord::Other(number(family)),
            Item::Offset(cell, by) => ItemRecord::Offset(number(cell), by),
            Item::Any => ItemRecord::Any,
        }
    }
}

impl From<ItemRecord> for Item {
    fn from(record: ItemRecord) -> Item {
        match record {
            ItemRecord::Bool(truth) => Item::Value(Value::Bool(truth)),
            ItemRecord::Int(number) => Item::Value(Value::Int(number)),
            ItemRecord::Enum(id, at) => Item::Value(Value::Enum(named(id), at)),
            ItemRecord::None => Item::Value(Value::None),
            ItemRecord::Process(id) => Item::Value(Value::Process(named(id))),
            ItemRecord::Place(place) => Item::Place(named(place)),
            ItemRecord::Slot(slot) => Item::Slot(slot),
            ItemRecord::Other(family) => Item::Other(named(family)),
            ItemRecord::Offset(cell, by) => Item::Offset(named(cell), by),
            ItemRecord::Any => Item::Any,
        }
    }
}

fn number<T>(id: Id<T>) -> u32 {
    id.index() as u32
}

fn named<T>(number: u32) -> Id<T> {
    Id::new(number as usize)
}
