//! Certificates for every size of a ring, chain or tree: windows of `w` neighbours.
//!
//! The first part is about rings and chains; what is different in trees comes after it.
//!
//! Processes differ by their position: the *type* of process `i` of `N` is `(min(i, a), min(N - 1 - i, b), i mod m)`. A process touches its
//! own cells and, at fixed distances from `least` to `greatest`, elements of arrays, neighbours' public cells and the shared cells. The
//! *window* at `p` is the processes `p .. p + w - 1` and all that they touch, its *word* the types of these processes. What is in a window
//! is named by its distance from `p`, and so are processes that a lock names. With `span = greatest - least` the words of every size from
//! `from = w + 2 span` on are those of the sizes up to `a + b + 2 (w + 2 span) + 3 m`, because types repeat from there on.
//!
//! **Rule.** Sets `theta[word]` of window states prove a property for every size from `from` on if
//!
//! 1. *initiality*: every window of an initial state is in the set of its word;
//! 2. *step*: own steps lead into the set; and *non-interference*: so does each step of a process outside that touches the window, taken in
//!    any state of the window that begins (it is to the left) or ends (to the right) with it and agrees on all that both windows
//!    see. Where there are shared cells, also steps of a process anywhere, in any window that begins with it and agrees on these;
//!    A state whose weights alone sum up to more than the total of a flow need not be in a set;
//! 3. *flows*: the weights of each flow are not negative, every step of a process from a window that begins with it keeps their sum, and in every
//!    initial state the sum is the flow's total. Of a flow that is *at least* its total, steps may make the sum more, and no state is left out for it.
//!    Sums of larger sizes are no less, since processes in the middle add nothing negative;
//! 4. *implication*: no closed walk violates the property. A walk goes from windows to windows one to the right that agree on all that
//!    both see; it passes the first process exactly once where types distinguish it, and its weights sum up to (at least) the total of each flow.
//!
//! Then every flow has its total, and every window of every reachable state is in its set, by induction on runs: the positions `-span .. w - 1 + span` are different processes,
//! so a step is by a process in the window, or by exactly one outside that touches what it was assumed to touch, or changes shared cells
//! only. A reachable state is a closed walk.
//!
//! **Cells that name a process.** A shared cell that holds a process, process 0 at first, may take the place of an array of bits of which exactly one is set: the text
//! compares it only with processes at distances from `least` to `greatest`, and sets it only to such ones. A window has items `Element(cell, d, 0)` for
//! all `d` from `least` to `w - 1 + greatest`: whether the cell names the process there. Besides the rule above, a step that changes the cell is one of a process which
//! both the process that was named and the one that is named then are near, as far as `least` and `greatest` say; then it changes bits within the reach of the one that moves, and no others. A window state
//! in which the cell names two processes need not be in a set, since there is no such state. If no process that the window shows is named, it is one that it does not
//! show, and all that the text can find out is that it is none of those; there is one, since the window shows fewer processes than there are.
//!
//! **Trees.** Process 0 is the root, and `2 i + 1` and `2 i + 2` are the children of `i`, as far as there are so many processes. The type of
//! a process is whether it is the root, whether it is a left or a right child, and how many children it has: `(min(i, 1), children, i mod 2)`. Windows are of
//! one process. What is there is named by its position in the tree, seen from the process: see [`tree`]. A process touches elements and public cells of
//! itself, of its parent and of its children, and nothing that all share; a window also shows all elements of its own process, so that windows of parent and child
//! agree on all that any two windows have in common. Processes that touch a window are at most two edges away. In rule 2 a process outside is any such
//! one; in rule 4 a *finite tree* takes the place of a closed walk: a window state for the root and for each child, down to processes without children, where
//! parent and child agree on all that both see. Every size is a tree, and there is no least one: no two processes of a tree come round to each other.
//! Trees of at most [`tree::SIZES`] processes show every way in which types are neighbours within two edges.

use base::Id;
use model::control::PlaceId;
use model::process::FamilyId;
use model::value::Value;
use model::variable::VarId;
use serde::{Deserialize, Serialize};

/// How processes are neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Side by side, in a ring or a chain.
    #[default]
    Line,
    /// As parents and children in a binary tree.
    Tree,
}

/// How things are named in trees: by where they are, seen from a process. These numbers take the place of distances.
pub mod tree {
    /// The parent.
    pub const PARENT: i64 = -1;
    /// The parent's parent.
    pub const GRANDPARENT: i64 = -2;
    /// The left child.
    pub const LEFT: i64 = 1;
    /// The right child.
    pub const RIGHT: i64 = 2;
    /// The children of the left child, and those of the right one.
    pub const GRANDCHILDREN: [i64; 4] = [3, 4, 5, 6];
    /// The parent's other child.
    pub const SIBLING: i64 = 7;
    /// Another process.
    pub const FAR: i64 = 8;
    /// Trees of at most so many processes show how types are neighbours.
    pub const SIZES: usize = 31;
}

/// How processes are distinguished by their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distances {
    /// Distances from the first process are distinguished below this.
    pub left: usize,
    /// Distances from the last process are distinguished below this.
    pub right: usize,
    /// Indices are distinguished modulo this; at least 1.
    pub modulus: usize,
}

impl Distances {
    /// The type of a process by its index and the size.
    pub fn type_of(&self, index: usize, size: usize) -> ProcessType {
        ProcessType {
            left: index.min(self.left),
            right: (size - 1 - index).min(self.right),
            residue: index % self.modulus.max(1),
        }
    }

    /// Whether a process of this type is the one after the seam: the first one, where that shows; `None` where it does not.
    pub fn is_marked(&self, of: ProcessType) -> Option<bool> {
        match (self.left, self.right) {
            (0, 0) => None,
            (0, _) => Some(of.right == 0),
            _ => Some(of.left == 0),
        }
    }
}

/// The type of a process: its distances from both ends, as far as they are distinguished, and its residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessType {
    /// The distance from the first process.
    pub left: usize,
    /// The distance from the last process.
    pub right: usize,
    /// The index modulo the modulus.
    pub residue: usize,
}

/// The types of neighbours, from left to right.
pub type NeighbourTypes = Vec<ProcessType>;

/// What a window sees, by its distance from the window's first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingItem {
    /// Where a process is.
    Control(i64),
    /// A cell of a process, by its position among them.
    Own(i64, usize),
    /// An element of an array with one for each process, by its position among those of the same process.
    Element(VarId, i64, usize),
    /// A shared cell that belongs to no process, by its position in its variable.
    Shared(VarId, usize),
}

impl RingItem {
    /// The same seen from a window so much further left.
    pub fn shifted(self, by: i64) -> RingItem {
        match self {
            RingItem::Control(at) => RingItem::Control(at + by),
            RingItem::Own(at, cell) => RingItem::Own(at + by, cell),
            RingItem::Element(var, at, element) => RingItem::Element(var, at + by, element),
            RingItem::Shared(..) => self,
        }
    }
}

/// The content of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingValue {
    /// A value that names no process.
    Value(Value),
    /// The process at this distance from the window's first one.
    Neighbour(i64),
    /// Where control is.
    Place(PlaceId),
}

impl RingValue {
    /// The same seen from a window so much further left.
    pub fn shifted(self, by: i64) -> RingValue {
        match self {
            RingValue::Neighbour(at) => RingValue::Neighbour(at + by),
            other => other,
        }
    }
}

/// The states of the windows with one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowSet {
    /// The types of the window's processes.
    pub word: NeighbourTypes,
    /// What the window sees, ascending.
    pub items: Vec<RingItem>,
    /// Its states: a value for each item.
    pub states: Vec<Vec<RingValue>>,
}

/// A weight of a part of the state. A process's own items are at distance 0, and so do the elements that are counted with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RingWeight {
    /// Of a process of this type in this local state: the values of its control and of its own cells, in their order.
    Local(ProcessType, Vec<RingValue>),
    /// Of an element with this value; a process that it names is named by its distance from the element.
    Element(VarId, usize, RingValue),
    /// Of a shared cell with this value.
    Shared(VarId, usize, Value),
}

/// A sum over all processes, elements and shared cells that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConservedSum {
    /// The weights; what is not here weighs nothing.
    pub weights: Vec<(RingWeight, u64)>,
    /// The sum, or the least that it is at any size.
    pub total: u64,
    /// Whether the sum may be more than the total, as it is where it grows with the size; no step makes it less.
    pub at_least: bool,
}

/// Windows that prove a property.
#[derive(Clone, Debug, PartialEq)]
pub struct RingsProof {
    /// The family of the processes.
    pub family: FamilyId,
    /// How they are neighbours.
    pub network: Network,
    /// How they are distinguished, where they are side by side.
    pub distances: Distances,
    /// The least distance at which a process touches something; at most 0.
    pub least: i64,
    /// The greatest distance; at least 0.
    pub greatest: i64,
    /// How many processes a window has.
    pub width: usize,
    /// The windows, by words, ascending.
    pub windows: Vec<WindowSet>,
    /// The flows that closed walks obey.
    pub flows: Vec<ConservedSum>,
}

impl RingsProof {
    /// The least size that it says something about.
    pub fn from(&self) -> i64 {
        match self.network {
            Network::Line => self.width as i64 + 2 * (self.greatest - self.least),
            Network::Tree => 1,
        }
    }

    /// The least size of which it says something about runs: windows side by side have to agree on the process that steps.
    pub fn from_of_runs(&self) -> i64 {
        match self.network {
            Network::Line => self.from() + 1,
            Network::Tree => 1,
        }
    }
}

/// The windows as the file has them: numbers, of which those of variables, places and values are the Model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingsRecord {
    family: u32,
    #[serde(default)]
    network: Network,
    distances: Distances,
    least: i64,
    greatest: i64,
    width: usize,
    windows: Vec<WindowRecord>,
    flows: Vec<FlowRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowRecord {
    word: NeighbourTypes,
    items: Vec<RingItemRecord>,
    states: Vec<Vec<ValueRecord>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowRecord {
    weights: Vec<RingWeightRecord>,
    total: u64,
    #[serde(default)]
    at_least: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RingWeightRecord {
    Local(ProcessType, Vec<ValueRecord>, u64),
    Element(u32, usize, ValueRecord, u64),
    Shared(u32, usize, ValueRecord, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RingItemRecord {
    Control(i64),
    Own(i64, usize),
    Element(u32, i64, usize),
    Shared(u32, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueRecord {
    Bool(bool),
    Int(i64),
    Enum(u32, u32),
    None,
    Neighbour(i64),
    Place(u32),
}

impl RingsRecord {
    /// The record of a proof; `None` where a value is a process by its id, which no window has.
    pub fn new(proof: &RingsProof) -> Option<RingsRecord> {
        let items = |items: &Vec<RingItem>| items.iter().map(|&item| RingItemRecord::from(item)).collect();
        let window = |set: &WindowSet| {
            let states = set.states.iter().map(|state| records(state)).collect::<Option<_>>()?;
            Some(WindowRecord { word: set.word.clone(), items: items(&set.items), states })
        };
        let weight = |(weight, times): &(RingWeight, u64)| {
            Some(match weight {
                RingWeight::Local(of, state) => RingWeightRecord::Local(*of, records(state)?, *times),
                RingWeight::Element(var, at, value) => {
                    RingWeightRecord::Element(number(*var), *at, value_record(*value)?, *times)
                }
                RingWeight::Shared(var, at, value) => {
                    RingWeightRecord::Shared(number(*var), *at, value_record(RingValue::Value(*value))?, *times)
                }
            })
        };
        let flow = |flow: &ConservedSum| {
            let weights = flow.weights.iter().map(weight).collect::<Option<_>>()?;
            Some(FlowRecord { weights, total: flow.total, at_least: flow.at_least })
        };
        Some(RingsRecord {
            family: number(proof.family),
            network: proof.network,
            distances: proof.distances,
            least: proof.least,
            greatest: proof.greatest,
            width: proof.width,
            windows: proof.windows.iter().map(window).collect::<Option<_>>()?,
            flows: proof.flows.iter().map(flow).collect::<Option<_>>()?,
        })
    }

    /// The proof. Whether its numbers are the Model's is for the checker to see.
    pub fn proof(&self) -> RingsProof {
        let window = |set: &WindowRecord| WindowSet {
            word: set.word.clone(),
            items: set.items.iter().map(|&item| RingItem::from(item)).collect(),
            states: set.states.iter().map(|state| values(state)).collect(),
        };
        let weight = |weight: &RingWeightRecord| match weight {
            RingWeightRecord::Local(of, state, times) => (RingWeight::Local(*of, values(state)), *times),
            RingWeightRecord::Element(var, at, value, times) => {
                (RingWeight::Element(named(*var), *at, RingValue::from(*value)), *times)
            }
            RingWeightRecord::Shared(var, at, value, times) => {
                let value = match RingValue::from(*value) {
                    RingValue::Value(value) => value,
                    RingValue::Neighbour(_) | RingValue::Place(_) => Value::None,
                };
                (RingWeight::Shared(named(*var), *at, value), *times)
            }
        };
        let flow = |flow: &FlowRecord| ConservedSum {
            weights: flow.weights.iter().map(weight).collect(),
            total: flow.total,
            at_least: flow.at_least,
        };
        RingsProof {
            family: named(self.family),
            network: self.network,
            distances: self.distances,
            least: self.least,
            greatest: self.greatest,
            width: self.width,
            windows: self.windows.iter().map(window).collect(),
            flows: self.flows.iter().map(flow).collect(),
        }
    }
}

fn records(values: &[RingValue]) -> Option<Vec<ValueRecord>> {
    values.iter().map(|&value| value_record(value)).collect()
}

fn value_record(value: RingValue) -> Option<ValueRecord> {
    Some(match value {
        RingValue::Value(Value::Bool(truth)) => ValueRecord::Bool(truth),
        RingValue::Value(Value::Int(number)) => ValueRecord::Int(number),
        RingValue::Value(Value::Enum(id, at)) => ValueRecord::Enum(number(id), at),
        RingValue::Value(Value::None) => ValueRecord::None,
        RingValue::Value(Value::Process(_)) => return None,
        RingValue::Neighbour(at) => ValueRecord::Neighbour(at),
        RingValue::Place(place) => ValueRecord::Place(number(place)),
    })
}

fn values(records: &[ValueRecord]) -> Vec<RingValue> {
    records.iter().map(|&record| RingValue::from(record)).collect()
}

impl From<ValueRecord> for RingValue {
    fn from(record: ValueRecord) -> RingValue {
        match record {
            ValueRecord::Bool(truth) => RingValue::Value(Value::Bool(truth)),
            ValueRecord::Int(number) => RingValue::Value(Value::Int(number)),
            ValueRecord::Enum(id, at) => RingValue::Value(Value::Enum(named(id), at)),
            ValueRecord::None => RingValue::Value(Value::None),
            ValueRecord::Neighbour(at) => RingValue::Neighbour(at),
            ValueRecord::Place(place) => RingValue::Place(named(place)),
        }
    }
}

impl From<RingItem> for RingItemRecord {
    fn from(item: RingItem) -> RingItemRecord {
        match item {
            RingItem::Control(at) => RingItemRecord::Control(at),
            RingItem::Own(at, cell) => RingItemRecord::Own(at, cell),
            RingItem::Element(var, at, element) => RingItemRecord::Element(number(var), at, element),
            RingItem::Shared(var, cell) => RingItemRecord::Shared(number(var), cell),
        }
    }
}

impl From<RingItemRecord> for RingItem {
    fn from(record: RingItemRecord) -> RingItem {
        match record {
            RingItemRecord::Control(at) => RingItem::Control(at),
            RingItemRecord::Own(at, cell) => RingItem::Own(at, cell),
            RingItemRecord::Element(var, at, element) => RingItem::Element(named(var), at, element),
            RingItemRecord::Shared(var, cell) => RingItem::Shared(named(var), cell),
        }
    }
}

fn number<T>(id: Id<T>) -> u32 {
    id.index() as u32
}

fn named<T>(number: u32) -> Id<T> {
    Id::new(number as usize)
}
