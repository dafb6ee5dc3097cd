//! Certificates for every size: views of `k` interchangeable processes.
//!
//! A *configuration* is what is known of a state when few processes of a family are seen: the shared cells, with the processes of other
//! families; the local states of the seen processes (their own cells, the elements that arrays have for them, and what their loops over
//! the family have taken); a process id is one of the seen processes, or another one, or none. A *view* is a configuration with `k` seen
//! processes. The text may *name* the first processes of the family (`i == 0`, `flag[0]`): these are not like the others, and every configuration
//! says which slots they are. *Rules* may hide columns: a hidden column is not part of the view, and a step that reads it may find any value there. The shared part
//! may end with truth values that say whether *some* process, seen or not, has one of some values in a column.
//!
//! **Rule.** A set of views proves its property for every size from `k` on at which all named processes are there, if the other processes of
//! the family are interchangeable, nothing else depends on the size, and
//!
//! 1. *initiality*: any `k` processes of any initial state project to one of the views;
//! 2. *step and non-interference*: take any view, and one more process where that one steps; and those that the step reads, and one for
//!    each quantifier over the family that holds, or fails, because of one process; such that every `k` of all these project to one of
//!    the views. After the step the processes of the view project to one of the views again;
//! 3. *implication*: no configuration of as many processes as it takes to violate the property, every `k` of which project to one of the views,
//!    violates it; nor does a smaller one, which is a whole state.
//!
//! Then every `k` processes of every reachable state project to one of the views, by induction on runs: a step depends on the processes named
//! in 2 and on no others, so that a state of any size can be cut down to them and to the `k` processes of a view.

use base::Id;
use model::control::{LoopId, PlaceId};
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, VarId};
use serde::{Deserialize, Serialize};

/// Views of `k` interchangeable processes each.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewsProof {
    /// The family whose processes are interchangeable.
    pub family: FamilyId,
    /// How many processes each view shows.
    pub k: usize,
    /// Whether processes are compared by the order of their indices: then the slots of a view are in that order.
    pub is_ordered: bool,
    /// What the shared part of a view consists of.
    pub shared: Vec<SharedColumn>,
    /// What a local state consists of.
    pub local: Vec<LocalColumn>,
    /// What views do not show.
    pub hidden: Vec<Hiding>,
    /// The processes of the family that the text names, the first ones: a slot each, after the columns of the shared part.
    pub named: Vec<ProcessId>,
    /// What views say of all processes: a truth value each, after the slots of the named processes.
    pub present: Vec<Presence>,
    /// The views.
    pub views: Vec<View>,
}

/// That some process of the family, seen or not, has one of some values in a column of its local state, which no rule hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The column: a cell.
    pub column: usize,
    /// The values.
    pub is: Vec<Item>,
}

/// What is known of a state when few processes are seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct View {
    /// The shared part.
    pub shared: Vec<Item>,
    /// For each process that is seen or named its local state; `None` for one that is only named.
    pub slots: Vec<Option<Vec<Item>>>,
}

/// One component of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A value that names no process of the family.
    Value(Value),
    /// A process of the family, by its slot.
    Slot(u8),
    /// Where control is.
    Place(PlaceId),
    /// The seen processes that a loop over the family has taken, one bit for each slot.
    Taken(u32),
    /// What a rule hides: it may be anything.
    Hidden,
}

/// A rule that hides a column: what the column holds is not shown where another one has one of some values, or nowhere. What is shared is hidden by
/// what is shared; what belongs to a process by what is shared or belongs to the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hiding {
    /// The column that is hidden.
    pub what: ViewColumn,
    /// The column that says when, which no rule hides; `None` where the column is never shown.
    pub when: Option<ViewColumn>,
    /// Its values; none where the column is never shown.
    pub is: Vec<Item>,
}

/// A column of views, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewColumn {
    /// Of the shared part.
    Shared(usize),
    /// Of each local state.
    Local(usize),
}

/// An array that has elements for each process of the family: a copy of it, where processes of other families have copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementArray {
    /// The array.
    pub var: VarId,
    /// Whose copy it is.
    pub owner: Option<ProcessId>,
}

/// A column of the shared part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedColumn {
    /// A cell.
    Cell(CellId),
    /// Where a process of another family is.
    Control(ProcessId),
    /// What a loop of such a process over the family has taken.
    Taken(ProcessId, LoopId),
}

/// A column of a local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalColumn {
    /// Where the process is.
    Control,
    /// One of its own cells, by its position among them.
    Own(usize),
    /// An element that an array has for it, by its position among those.
    Element(ElementArray, usize),
    /// What its loop over the family has taken.
    Taken(LoopId),
}

/// The views as the file has them: numbers, of which those of columns and values are the Model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewsRecord {
    family: u32,
    k: usize,
    ordered: bool,
    shared: Vec<ViewColumnRecord>,
    local: Vec<ViewColumnRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<HidingRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    named: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    present: Vec<PresenceRecord>,
    views: Vec<ViewRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresenceRecord {
    column: usize,
    is: Vec<ItemRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HidingRecord {
    what: ViewColumn,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<ViewColumn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    is: Vec<ItemRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewRecord {
    shared: Vec<ItemRecord>,
    slots: Vec<Option<Vec<ItemRecord>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ViewColumnRecord {
    Cell(u32),
    Control(Option<u32>),
    Taken(Option<u32>, u32),
    Own(usize),
    Element(u32, Option<u32>, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemRecord {
    Bool(bool),
    Int(i64),
    Enum(u32, u32),
    None,
    Process(u32),
    Slot(u8),
    Place(u32),
    Taken(u32),
    Hidden,
}

impl ViewsRecord {
    /// The record of a proof.
    pub fn new(proof: &ViewsProof) -> ViewsRecord {
        let shared = |column: &SharedColumn| match *column {
            SharedColumn::Cell(cell) => ViewColumnRecord::Cell(number(cell)),
            SharedColumn::Control(process) => ViewColumnRecord::Control(Some(number(process))),
            SharedColumn::Taken(process, id) => ViewColumnRecord::Taken(Some(number(process)), number(id)),
        };
        let local = |column: &LocalColumn| match *column {
            LocalColumn::Control => ViewColumnRecord::Control(None),
            LocalColumn::Own(at) => ViewColumnRecord::Own(at),
            LocalColumn::Taken(id) => ViewColumnRecord::Taken(None, number(id)),
            LocalColumn::Element(row, at) => ViewColumnRecord::Element(number(row.var), row.owner.map(number), at),
        };
        let items = |items: &Vec<Item>| items.iter().map(|&item| ItemRecord::from(item)).collect();
        let view = |view: &View| ViewRecord {
            shared: items(&view.shared),
            slots: view.slots.iter().map(|slot| slot.as_ref().map(items)).collect(),
        };
        ViewsRecord {
            family: number(proof.family),
            k: proof.k,
            ordered: proof.is_ordered,
            shared: proof.shared.iter().map(shared).collect(),
            local: proof.local.iter().map(local).collect(),
            hidden: { proof.hidden.iter() }
                .map(|rule| HidingRecord { what: rule.what, when: rule.when, is: items(&rule.is) })
                .collect(),
            named: proof.named.iter().map(|&process| number(process)).collect(),
            present: { proof.present.iter() }
                .map(|one| PresenceRecord { column: one.column, is: items(&one.is) })
                .collect(),
            views: proof.views.iter().map(view).collect(),
        }
    }

    /// The proof; `None` where a column is in the wrong part. Whether its numbers are the Model's is for the checker to see.
    pub fn proof(&self) -> Option<ViewsProof> {
        let shared = |column: &ViewColumnRecord| match *column {
            ViewColumnRecord::Cell(cell) => Some(SharedColumn::Cell(named(cell))),
            ViewColumnRecord::Control(Some(process)) => Some(SharedColumn::Control(named(process))),
            ViewColumnRecord::Taken(Some(process), id) => Some(SharedColumn::Taken(named(process), named(id))),
            _ => None,
        };
        let local = |column: &ViewColumnRecord| match *column {
            ViewColumnRecord::Control(None) => Some(LocalColumn::Control),
            ViewColumnRecord::Own(at) => Some(LocalColumn::Own(at)),
            ViewColumnRecord::Taken(None, id) => Some(LocalColumn::Taken(named(id))),
            ViewColumnRecord::Element(var, owner, at) => {
                Some(LocalColumn::Element(ElementArray { var: named(var), owner: owner.map(named) }, at))
            }
            _ => None,
        };
        let items = |items: &Vec<ItemRecord>| items.iter().map(|&item| Item::from(item)).collect();
        let view = |view: &ViewRecord| View {
            shared: items(&view.shared),
            slots: view.slots.iter().map(|slot| slot.as_ref().map(items)).collect(),
        };
        Some(ViewsProof {
            family: named(self.family),
            k: self.k,
            is_ordered: self.ordered,
            shared: self.shared.iter().map(shared).collect::<Option<_>>()?,
            local: self.local.iter().map(local).collect::<Option<_>>()?,
            hidden: { self.hidden.iter() }
                .map(|rule| Hiding { what: rule.what, when: rule.when, is: items(&rule.is) })
                .collect(),
            named: self.named.iter().map(|&process| named(process)).collect(),
            present: { self.present.iter() }.map(|one| Presence { column: one.column, is: items(&one.is) }).collect(),
            views: self.views.iter().map(view).collect(),
        })
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
            Item::Slot(slot) => ItemRecord::Slot(slot),
            Item::Place(place) => ItemRecord::Place(number(place)),
            Item::Taken(bits) => ItemRecord::Taken(bits),
            Item::Hidden => ItemRecord::Hidden,
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
            ItemRecord::Slot(slot) => Item::Slot(slot),
            ItemRecord::Place(place) => Item::Place(named(place)),
            ItemRecord::Taken(bits) => Item::Taken(bits),
            ItemRecord::Hidden => Item::Hidden,
        }
    }
}

fn number<T>(id: Id<T>) -> u32 {
    id.index() as u32
}

fn named<T>(number: u32) -> Id<T> {
    Id::new(number as usize)
}
