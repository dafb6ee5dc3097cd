//! Certificates by counting: views of one process each, and numbers that are sums over all processes.
//!
//! The processes of each *family* of more than one are interchangeable, but for the first and the last few of it that a proof says are *named*
//! ([`NamedEnds`]); those, and the processes of other families, are *single*. A *counted* cell is a number that views do
//! not show. A [`CountingView`] is what one process of a family sees of a state: the shared cells that are not counted, with control and
//! cells of the single processes, and its own local state. A process id in it is the process itself, another one of a family, or a single one; a
//! number in a local state may be a difference to what a counted cell holds now, or not be shown. The *class* of a process is its control
//! and those of its own contents that are plain values. A [`CellSum`] says that multiples of a few cells, counted or shown, are together a constant and the
//! weights of the classes of all processes; a process id or lock counts as 1 where it is some process, a truth value where it is true. A
//! [`ShownSign`] is a sum of counted cells and sizes, such as `arrived - N`: views show whether it is below 0, 0 or above, which is so for
//! all processes of a state alike.
//!
//! **Rule.** Views and sums prove a property for every size if
//!
//! 1. *initiality*: each process of any initial state projects to one of the views, and every sum is right;
//! 2. *step and non-interference*: take a view, and a step of its process, of a single one, or of another process whose view is one of the
//!    views and may be part of the same state. If the step can happen, the process of the view projects to one of the views again, and every
//!    sum is right again: its cells have changed by as much as the weight of the process that took the step. What a step tests is a question to all
//!    processes: it can happen unless there is no number of processes for each of the views (and these processes at hand), such that all sums,
//!    the shown signs, the bounds of counted cells, the sizes of the families and the tests on the way are right;
//! 3. *implication*: in the same sense, no processes that the property speaks of violate it; no step is a fault.
//!
//! Then each process of every reachable state projects to one of the views, and every sum is right, by induction on runs.

use base::Id;
use model::control::PlaceId;
use model::process::{FamilyId, ProcessId};
use model::size::ParameterId;
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
    pub sums: Vec<CellSum>,
    /// The numbers whose signs views show.
    pub signs: Vec<ShownSign>,
    /// The processes of families that are single.
    pub named: Vec<NamedEnds>,
}

/// How many of the first and of the last processes of a family are not like the others. At every size that the proof is about there is one more process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedEnds {
    /// The family.
    pub family: FamilyId,
    /// So many of the first ones.
    pub first: usize,
    /// So many of the last ones.
    pub last: usize,
}

/// A sum of counted cells and sizes whose sign views show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSign {
    /// The constant.
    pub constant: i64,
    /// The counted cells, and how often each is added.
    pub cells: Vec<(CellId, i64)>,
    /// The parameters that are sizes, and how often each is added.
    pub sizes: Vec<(ParameterId, i64)>,
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
    /// Shared cells, those of single processes, and where these are; counted cells are left out. Then each shown sign: -1, 0 or 1.
    pub shared: Vec<CountingItem>,
    /// The local state: control, own cells, and what arrays have for the process.
    pub local: Vec<CountingItem>,
}

/// One component of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CountingItem {
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
pub struct CellSum {
    /// The cells, and how often each is added.
    pub cells: Vec<(CellId, i64)>,
    /// The constant.
    pub constant: i64,
    /// What processes add to it; whatever is not here adds nothing.
    pub weights: Vec<SumWeight>,
}

/// What a process adds to a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct SumWeight {
    /// The process, or any of a family.
    pub of: ClassMember,
    /// Its class.
    pub class: Vec<CountingItem>,
    /// What it adds.
    pub weight: i64,
}

/// Whose class it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClassMember {
    /// Of each process of a family.
    Family(FamilyId),
    /// Of a single process.
    Single(ProcessId),
}

/// The proof as the file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountingRecord {
    counted: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<RowRecord>,
    views: Vec<CountingViewRecord>,
    sums: Vec<SumRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signs: Vec<SignRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    named: Vec<EndsRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndsRecord {
    family: u32,
    first: usize,
    last: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignRecord {
    constant: i64,
    cells: Vec<(u32, i64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<(u32, i64)>,
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
struct CountingViewRecord {
    family: u32,
    shared: Vec<CountingItemRecord>,
    local: Vec<CountingItemRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SumRecord {
    cells: Vec<(u32, i64)>,
    constant: i64,
    weights: Vec<SumWeightRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SumWeightRecord {
    of: ClassMemberRecord,
    class: Vec<CountingItemRecord>,
    weight: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClassMemberRecord {
    Family(u32),
    Single(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CountingItemRecord {
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
        let items = |items: &Vec<CountingItem>| items.iter().map(|&item| CountingItemRecord::from(item)).collect();
        let weight = |weight: &SumWeight| SumWeightRecord {
            of: match weight.of {
                ClassMember::Family(id) => ClassMemberRecord::Family(number(id)),
                ClassMember::Single(id) => ClassMemberRecord::Single(number(id)),
            },
            class: items(&weight.class),
            weight: weight.weight,
        };
        let sum = |sum: &CellSum| SumRecord {
            cells: sum.cells.iter().map(|&(cell, times)| (number(cell), times)).collect(),
            constant: sum.constant,
            weights: sum.weights.iter().map(weight).collect(),
        };
        let view = |view: &CountingView| CountingViewRecord {
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
            signs: proof.signs.iter().map(SignRecord::new).collect(),
            named: { proof.named.iter() }
                .map(|ends| EndsRecord { family: number(ends.family), first: ends.first, last: ends.last })
                .collect(),
        }
    }

    /// The proof. Whether its numbers are the Model's is for the checker to see.
    pub fn proof(&self) -> CountingProof {
        let items = |items: &Vec<CountingItemRecord>| items.iter().map(|&item| CountingItem::from(item)).collect();
        let weight = |weight: &SumWeightRecord| SumWeight {
            of: match weight.of {
                ClassMemberRecord::Family(id) => ClassMember::Family(named(id)),
                ClassMemberRecord::Single(id) => ClassMember::Single(named(id)),
            },
            class: items(&weight.class),
            weight: weight.weight,
        };
        let sum = |sum: &SumRecord| CellSum {
            cells: sum.cells.iter().map(|&(cell, times)| (named(cell), times)).collect(),
            constant: sum.constant,
            weights: sum.weights.iter().map(weight).collect(),
        };
        let view = |view: &CountingViewRecord| CountingView {
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
            signs: self.signs.iter().map(SignRecord::sign).collect(),
            named: { self.named.iter() }
                .map(|ends| NamedEnds { family: named(ends.family), first: ends.first, last: ends.last })
                .collect(),
        }
    }
}

impl SignRecord {
    fn new(sign: &ShownSign) -> SignRecord {
        SignRecord {
            constant: sign.constant,
            cells: sign.cells.iter().map(|&(cell, times)| (number(cell), times)).collect(),
            sizes: sign.sizes.iter().map(|&(size, times)| (number(size), times)).collect(),
        }
    }

    fn sign(&self) -> ShownSign {
        ShownSign {
            constant: self.constant,
            cells: self.cells.iter().map(|&(cell, times)| (named(cell), times)).collect(),
            sizes: self.sizes.iter().map(|&(size, times)| (named(size), times)).collect(),
        }
    }
}

impl From<CountingItem> for CountingItemRecord {
    fn from(item: CountingItem) -> CountingItemRecord {
        match item {
            CountingItem::Value(Value::Bool(truth)) => CountingItemRecord::Bool(truth),
            CountingItem::Value(Value::Int(number)) => CountingItemRecord::Int(number),
            CountingItem::Value(Value::Enum(id, at)) => CountingItemRecord::Enum(number(id), at),
            CountingItem::Value(Value::None) => CountingItemRecord::None,
            CountingItem::Value(Value::Process(id)) => CountingItemRecord::Process(number(id)),
            CountingItem::Place(place) => CountingItemRecord::Place(number(place)),
            CountingItem::Slot(slot) => CountingItemRecord::Slot(slot),
            CountingItem::Other(family) => CountingItemRecord::Other(number(family)),
            CountingItem::Offset(cell, by) => CountingItemRecord::Offset(number(cell), by),
            CountingItem::Any => CountingItemRecord::Any,
        }
    }
}

impl From<CountingItemRecord> for CountingItem {
    fn from(record: CountingItemRecord) -> CountingItem {
        match record {
            CountingItemRecord::Bool(truth) => CountingItem::Value(Value::Bool(truth)),
            CountingItemRecord::Int(number) => CountingItem::Value(Value::Int(number)),
            CountingItemRecord::Enum(id, at) => CountingItem::Value(Value::Enum(named(id), at)),
            CountingItemRecord::None => CountingItem::Value(Value::None),
            CountingItemRecord::Process(id) => CountingItem::Value(Value::Process(named(id))),
            CountingItemRecord::Place(place) => CountingItem::Place(named(place)),
            CountingItemRecord::Slot(slot) => CountingItem::Slot(slot),
            CountingItemRecord::Other(family) => CountingItem::Other(named(family)),
            CountingItemRecord::Offset(cell, by) => CountingItem::Offset(named(cell), by),
            CountingItemRecord::Any => CountingItem::Any,
        }
    }
}

fn number<T>(id: Id<T>) -> u32 {
    id.index() as u32
}

fn named<T>(number: u32) -> Id<T> {
    Id::new(number as usize)
}
