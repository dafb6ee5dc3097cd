//! One process while its path edges grow.
//!
//! A **local state** is what the process sees: a *store* (shared and public cells, and what processes expose) and the rest, its
//! *local store* (control, own cells, the slots of its top frame). An **activation** is an entry: number 0 is the process's own text,
//! the others are local states in which a procedure starts. A path edge says that a local state is reachable in an activation with the stack
//! as it was at the entry; for each local state the activations in which it is reachable are a set of numbers.

use base::Id;
use hashbrown::HashTable;
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blocks::ActivationSet;
use local::ids::{LocalId, LocalMark, StoreId, StoreMark};
use local::interference::CommonBits;
use local::sets::NumberedRows;
use packed::hash::hash;
use packed::packing::Packed;

/// Marks the number of a local state.
pub enum LocalStateMark {}
/// Marks the number of an activation.
pub enum ActivationMark {}
/// Marks the number of what a return may read.
pub enum ExitViewMark {}

/// The number of a local state of one process: a store with a local store.
pub type LocalStateId = Id<LocalStateMark>;
/// The number of an activation of one process; the first is that of its own text.
pub type ActivationId = Id<ActivationMark>;
/// The number of what a return may read in a local state of one process.
pub type ExitViewId = Id<ExitViewMark>;

/// The activation of a process's own text.
pub fn own_text() -> ActivationId {
    Id::new(0)
}

/// How a local state was reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is initial.
    Start,
    /// By a step of the process from this local state.
    Step(LocalStateId),
    /// By another process's step from this local state.
    Interference(LocalStateId),
    /// A procedure starts, called from this local state.
    Called(LocalStateId),
    /// A procedure that was called from the first has ended in the second.
    Returned(LocalStateId, LocalStateId),
}

/// Another process's step, as it changes a store: the process, and its local state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterferenceCause {
    /// The process that stepped.
    pub process: ProcessId,
    /// From where.
    pub from: LocalStateId,
}

/// A procedure was called: from where, and the frame that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallerFrame {
    /// The local state before the call.
    pub from: LocalStateId,
    /// The number of the waiting frame.
    pub frame: u32,
}

/// The stores of a process and the interference of some others, which see the same part of its store.
pub struct Interference<const W: usize> {
    /// Stores and changes by the bits in common.
    pub common: CommonBits<W, StoreId, InterferenceCause>,
    /// The changes, by any process: the bits before and after.
    pub known: FxHashSet<(Packed<W>, Packed<W>)>,
}

/// One process.
pub struct Thread<const W: usize> {
    /// Which.
    pub process: ProcessId,
    /// The bits of its store, and of its local store.
    pub store_mask: Packed<W>,
    pub local_mask: Packed<W>,
    /// The reachable stores and local stores, numbered.
    pub stores: NumberedRows<W, StoreMark>,
    pub locals: NumberedRows<W, LocalMark>,
    /// By local state: its store and its local store.
    pub states: Vec<(StoreId, LocalId)>,
    index: HashTable<LocalStateId>,
    /// By local state: how it was reached first.
    pub origins: Vec<Origin>,
    /// By local state: the activations in which it is reachable.
    pub reachable_in: Vec<ActivationSet>,
    /// By local state: whether its own steps were taken, and whether it can return.
    pub flags: Vec<Flags>,
    /// By store: the local states there.
    pub by_store: Vec<Vec<LocalStateId>>,
    /// By store: the stores to which others change it, each with the first cause.
    pub changed_by_others: Vec<Vec<(StoreId, InterferenceCause)>>,
    /// By local state: the first of its edges within an activation, and all edges: target and the next one.
    first_edge: Vec<u32>,
    edges: Vec<(LocalStateId, u32)>,
    /// Edges that summarise whole calls.
    pub summaries: FxHashSet<(LocalStateId, LocalStateId)>,
    /// By activation: the local state in which it starts; of [`own_text`] there may be several.
    pub entries: Vec<Option<LocalStateId>>,
    entry_index: FxHashMap<LocalStateId, ActivationId>,
    /// By activation: its callers, and local states in which it can return, one of all from which a return leads to the same.
    pub callers: Vec<Vec<CallerFrame>>,
    pub exits: Vec<Vec<LocalStateId>>,
    /// The same callers with their activation, to look up.
    known_callers: FxHashSet<(ActivationId, CallerFrame)>,
    /// What a return may read in a local state, numbered; and which of these each activation can return with.
    pub exit_views: NumberedRows<W, ExitViewMark>,
    known_exits: FxHashSet<(ActivationId, ExitViewId)>,
    /// Its guarantee: changes of its store.
    pub guarantee: FxHashSet<(StoreId, StoreId)>,
    /// Interference with its stores, by what it has in common with others.
    pub interference: Vec<Interference<W>>,
    /// By other process: which of these it is.
    pub interference_by: Vec<Option<usize>>,
    /// Local states with a faulty step; with the frame returned to, where that is it.
    pub faults: Vec<(LocalStateId, Option<u32>)>,
}

/// What is known of a local state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Its own steps were taken.
    pub expanded: bool,
    /// It can return from a procedure, and this is what the return may read.
    pub exit_view: Option<ExitViewId>,
}

const NO_EDGE: u32 = u32::MAX;

impl<const W: usize> Thread<W> {
    /// A process of which nothing is reached yet.
    pub fn new(process: ProcessId, store_mask: Packed<W>, local_mask: Packed<W>) -> Self {
        Thread {
            process,
            store_mask,
            local_mask,
            stores: NumberedRows::default(),
            locals: NumberedRows::default(),
            states: Vec::new(),
            index: HashTable::new(),
            origins: Vec::new(),
            reachable_in: Vec::new(),
            flags: Vec::new(),
            by_store: Vec::new(),
            changed_by_others: Vec::new(),
            first_edge: Vec::new(),
            edges: Vec::new(),
            summaries: FxHashSet::default(),
            entries: vec![None],
            entry_index: FxHashMap::default(),
            callers: vec![Vec::new()],
            exits: vec![Vec::new()],
            known_callers: FxHashSet::default(),
            exit_views: NumberedRows::default(),
            known_exits: FxHashSet::default(),
            guarantee: FxHashSet::default(),
            interference: Vec::new(),
            interference_by: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The local state with this store and local store, which is added if need be.
    pub fn state(&mut self, store: StoreId, local: LocalId, origin: Origin) -> LocalStateId {
        let states = &self.states;
        let same = |&at: &LocalStateId| states[at.index()] == (store, local);
        let rehash = |&at: &LocalStateId| key(states[at.index()].0, states[at.index()].1);
        match self.index.entry(key(store, local), same, rehash) {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = LocalStateId::new(states.len());
                free.insert(id);
                self.states.push((store, local));
                self.origins.push(origin);
                self.reachable_in.push(ActivationSet::default());
                self.flags.push(Flags::default());
                self.first_edge.push(NO_EDGE);
                self.by_store[store.index()].push(id);
                id
            }
        }
    }

    /// The packed view state of a local state.
    pub fn row(&self, state: LocalStateId) -> Packed<W> {
        let (store, local) = self.states[state.index()];
        let (store, local) = (self.stores.row(store), self.locals.row(local));
        std::array::from_fn(|word| store[word] | local[word])
    }

    /// The number of the activation that starts in a local state; and whether it is new.
    pub fn activation(&mut self, entry: LocalStateId) -> (ActivationId, bool) {
        if let Some(&known) = self.entry_index.get(&entry) {
            return (known, false);
        }
        let number = ActivationId::new(self.entries.len());
        self.entry_index.insert(entry, number);
        self.entries.push(Some(entry));
        self.callers.push(Vec::new());
        self.exits.push(Vec::new());
        (number, true)
    }

    /// Adds a caller of an activation; whether it is new.
    pub fn add_caller(&mut self, activation: ActivationId, caller: CallerFrame) -> bool {
        let new = self.known_callers.insert((activation, caller));
        if new {
            self.callers[activation.index()].push(caller);
        }
        new
    }

    /// Adds a local state in which an activation can return; whether none was known from which a return leads to the same.
    pub fn add_exit(&mut self, activation: ActivationId, state: LocalStateId, view: ExitViewId) -> bool {
        let new = self.known_exits.insert((activation, view));
        if new {
            self.exits[activation.index()].push(state);
        }
        new
    }

    /// Adds an edge within an activation; whether it is new. Those of steps are few, those of calls may be many.
    pub fn add_step_edge(&mut self, from: LocalStateId, to: LocalStateId) -> bool {
        let new = self.edges_from(from).all(|known| known != to);
        if new {
            self.push_edge(from, to);
        }
        new
    }

    /// Adds an edge for a call and its return; whether it is new.
    pub fn add_summary(&mut self, from: LocalStateId, to: LocalStateId) -> bool {
        let new = self.summaries.insert((from, to));
        if new {
            self.push_edge(from, to);
        }
        new
    }

    fn push_edge(&mut self, from: LocalStateId, to: LocalStateId) {
        let next = std::mem::replace(&mut self.first_edge[from.index()], self.edges.len() as u32);
        self.edges.push((to, next));
    }

    /// The targets of the edges within an activation: steps and whole calls.
    pub fn edges_from(&self, from: LocalStateId) -> impl Iterator<Item = LocalStateId> {
        let mut at = self.first_edge[from.index()];
        std::iter::from_fn(move || {
            let (to, next) = *self.edges.get(at as usize)?;
            at = next;
            Some(to)
        })
    }

    /// The edge at a position, and the position of the next one.
    pub fn edge(&self, at: u32) -> Option<(LocalStateId, u32)> {
        self.edges.get(at as usize).copied()
    }

    /// The position of the first edge of a local state.
    pub fn first_edge(&self, from: LocalStateId) -> u32 {
        self.first_edge[from.index()]
    }

    /// How many path edges there are.
    pub fn n_path_edges(&self) -> u64 {
        self.reachable_in.iter().map(ActivationSet::len).sum()
    }

    /// What everything takes.
    pub fn bytes(&self) -> u64 {
        let lists: usize = self.by_store.iter().map(|list| 24 + list.capacity() * 4).sum::<usize>()
            + self.changed_by_others.iter().map(|list| 24 + list.capacity() * 12).sum::<usize>()
            + self.callers.iter().map(|list| 24 + list.capacity() * 8).sum::<usize>()
            + self.exits.iter().map(|list| 24 + list.capacity() * 4).sum::<usize>();
        let by_state = self.states.capacity() * (8 + 12 + size_of::<Flags>() + 4 + size_of::<ActivationSet>())
            + self.index.capacity() * 5;
        let tables = (self.summaries.capacity() + self.guarantee.capacity() + self.known_exits.capacity()) * 9
            + self.known_callers.capacity() * 13
            + self.edges.capacity() * 8
            + self.entries.capacity() * 8
            + self.entry_index.capacity() * 9;
        let heap: u64 = self.reachable_in.iter().map(ActivationSet::heap_bytes).sum();
        let rows = self.stores.bytes() + self.locals.bytes() + self.exit_views.bytes();
        (lists + by_state + tables) as u64 + heap + rows
    }
}

fn key(store: StoreId, local: LocalId) -> u64 {
    hash(&[(store.index() as u64) << 32 | local.index() as u64])
}
