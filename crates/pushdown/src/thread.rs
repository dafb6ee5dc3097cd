//! One process while its path edges grow.
//!
//! A **local state** is what the process sees: a *store* (shared and public cells, and what processes expose) and the rest, its
//! *local store* (control, own cells, the slots of its top frame). An **activation** is an entry: number 0 is the process's own text,
//! the others are local states in which a procedure starts. A path edge says that a local state was met in an activation with the stack
//! as it was at the entry; for each local state the activations in which it was met are a set of numbers.

use hashbrown::HashTable;
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blocks::ActivationSet;
use local::sets::Rows;
use packed::hash::hash;
use packed::packing::Packed;

/// The number of a local state of one process.
pub type LocalId = u32;

/// The activation of a process's own text.
pub const OWN_TEXT: u32 = 0;

/// How a local state was met first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is initial.
    Start,
    /// By a step of the process from this local state.
    Step(LocalId),
    /// By somebody else's step from this local state.
    Disturbed(LocalId),
    /// A procedure starts, called from this local state.
    Called(LocalId),
    /// A procedure that was called from the first has ended in the second.
    Returned(LocalId, LocalId),
}

/// Somebody else's step, as it changes a store: who took it, and from which of its local states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterferenceCause {
    /// Who moved.
    pub process: u32,
    /// From where.
    pub from: LocalId,
}

/// A procedure was called: from where, and the frame that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallerFrame {
    /// The local state before the call.
    pub from: LocalId,
    /// The number of the waiting frame.
    pub frame: u32,
}

/// The stores that agree on what the process and some others see, and what those others make of it.
#[derive(Default)]
pub struct Agreeing<const W: usize> {
    /// The stores.
    pub stores: Vec<u32>,
    /// What others change the common part to.
    pub moves: Vec<(Packed<W>, InterferenceCause)>,
    /// The same, to look up.
    pub known_moves: FxHashSet<Packed<W>>,
}

/// One process.
pub struct Thread<const W: usize> {
    /// Which.
    pub process: ProcessId,
    /// The bits of its store, and of its local store.
    pub store_mask: Packed<W>,
    pub local_mask: Packed<W>,
    /// The stores and local stores met, numbered.
    pub stores: Rows<W>,
    pub locals: Rows<W>,
    /// By local state: its store and its local store.
    pub states: Vec<(u32, u32)>,
    index: HashTable<LocalId>,
    /// By local state: how it was met first.
    pub origins: Vec<Origin>,
    /// By local state: the activations in which it was met.
    pub met_in: Vec<ActivationSet>,
    /// By local state: whether its own steps were taken, and whether it can return.
    pub flags: Vec<Flags>,
    /// By store: the local states there, and what others make of it.
    pub by_store: Vec<Vec<LocalId>>,
    pub disturbed: Vec<Vec<(u32, InterferenceCause)>>,
    /// By local state: the first of its edges within an activation, and all edges: target and the next one.
    first_edge: Vec<u32>,
    edges: Vec<(LocalId, u32)>,
    /// Edges that stand for whole calls.
    pub summaries: FxHashSet<(LocalId, LocalId)>,
    /// By activation: the local state in which it starts; of [`OWN_TEXT`] there may be several, or none known.
    pub entries: Vec<LocalId>,
    entry_index: FxHashMap<LocalId, u32>,
    /// By activation: who called it, and local states in which it can return, one of all from which a return leads to the same.
    pub callers: Vec<Vec<CallerFrame>>,
    pub exits: Vec<Vec<LocalId>>,
    /// The same callers with their activation, to look up.
    known_callers: FxHashSet<(u32, CallerFrame)>,
    /// What a return may look at in a local state, numbered; and which of these each activation can return with.
    pub exit_views: Rows<W>,
    known_exits: FxHashSet<(u32, u32)>,
    /// Its guarantee: changes of its store.
    pub guarantee: FxHashSet<(u32, u32)>,
    /// By what it has in common with others: the common part of stores, and who agrees on it.
    pub commons: Vec<(Packed<W>, FxHashMap<Packed<W>, Agreeing<W>>)>,
    /// By other process: which of these it is.
    pub common_with: Vec<Option<usize>>,
    /// Local states with a faulty step; with the frame returned to, where that is it.
    pub faults: Vec<(LocalId, Option<u32>)>,
}

/// What is known of a local state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Its own steps were taken.
    pub expanded: bool,
    /// It can return from a procedure, and this is what the return may look at.
    pub exit_view: Option<u32>,
}

const NO_EDGE: u32 = u32::MAX;

impl<const W: usize> Thread<W> {
    /// A process that has met nothing yet.
    pub fn new(process: ProcessId, store_mask: Packed<W>, local_mask: Packed<W>) -> Self {
        Thread {
            process,
            store_mask,
            local_mask,
            stores: Rows::default(),
            locals: Rows::default(),
            states: Vec::new(),
            index: HashTable::new(),
            origins: Vec::new(),
            met_in: Vec::new(),
            flags: Vec::new(),
            by_store: Vec::new(),
            disturbed: Vec::new(),
            first_edge: Vec::new(),
            edges: Vec::new(),
            summaries: FxHashSet::default(),
            entries: vec![LocalId::MAX],
            entry_index: FxHashMap::default(),
            callers: vec![Vec::new()],
            exits: vec![Vec::new()],
            known_callers: FxHashSet::default(),
            exit_views: Rows::default(),
            known_exits: FxHashSet::default(),
            guarantee: FxHashSet::default(),
            commons: Vec::new(),
            common_with: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The local state with this store and local store, which is added if need be.
    pub fn state(&mut self, store: u32, local: u32, origin: Origin) -> LocalId {
        let states = &self.states;
        let same = |&at: &LocalId| states[at as usize] == (store, local);
        let rehash = |&at: &LocalId| key(states[at as usize].0, states[at as usize].1);
        match self.index.entry(key(store, local), same, rehash) {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = states.len() as LocalId;
                free.insert(id);
                self.states.push((store, local));
                self.origins.push(origin);
                self.met_in.push(ActivationSet::default());
                self.flags.push(Flags::default());
                self.first_edge.push(NO_EDGE);
                self.by_store[store as usize].push(id);
                id
            }
        }
    }

    /// The packed view state of a local state.
    pub fn row(&self, state: LocalId) -> Packed<W> {
        let (store, local) = self.states[state as usize];
        let (store, local) = (self.stores.row(store), self.locals.row(local));
        std::array::from_fn(|word| store[word] | local[word])
    }

    /// The number of the activation that starts in a local state; and whether it is new.
    pub fn activation(&mut self, entry: LocalId) -> (u32, bool) {
        if let Some(&known) = self.entry_index.get(&entry) {
            return (known, false);
        }
        let number = self.entries.len() as u32;
        self.entry_index.insert(entry, number);
        self.entries.push(entry);
        self.callers.push(Vec::new());
        self.exits.push(Vec::new());
        (number, true)
    }

    /// Adds a caller of an activation; whether it is new.
    pub fn add_caller(&mut self, activation: u32, caller: CallerFrame) -> bool {
        let new = self.known_callers.insert((activation, caller));
        if new {
            self.callers[activation as usize].push(caller);
        }
        new
    }

    /// Adds a local state in which an activation can return; whether none was known from which a return leads to the same.
    pub fn add_exit(&mut self, activation: u32, state: LocalId, view: u32) -> bool {
        let new = self.known_exits.insert((activation, view));
        if new {
            self.exits[activation as usize].push(state);
        }
        new
    }

    /// Adds an edge within an activation; whether it is new. Those of steps are few, those of calls may be many.
    pub fn add_step_edge(&mut self, from: LocalId, to: LocalId) -> bool {
        let new = self.edges_from(from).all(|known| known != to);
        if new {
            self.push_edge(from, to);
        }
        new
    }

    /// Adds an edge for a call and its return; whether it is new.
    pub fn add_summary(&mut self, from: LocalId, to: LocalId) -> bool {
        let new = self.summaries.insert((from, to));
        if new {
            self.push_edge(from, to);
        }
        new
    }

    fn push_edge(&mut self, from: LocalId, to: LocalId) {
        let next = std::mem::replace(&mut self.first_edge[from as usize], self.edges.len() as u32);
        self.edges.push((to, next));
    }

    /// The targets of the edges within an activation: steps and whole calls.
    pub fn edges_from(&self, from: LocalId) -> impl Iterator<Item = LocalId> {
        let mut at = self.first_edge[from as usize];
        std::iter::from_fn(move || {
            let (to, next) = *self.edges.get(at as usize)?;
            at = next;
            Some(to)
        })
    }

    /// The edge at a position, and the position of the next one.
    pub fn edge(&self, at: u32) -> Option<(LocalId, u32)> {
        self.edges.get(at as usize).copied()
    }

    /// The position of the first edge of a local state.
    pub fn first_edge(&self, from: LocalId) -> u32 {
        self.first_edge[from as usize]
    }

    /// How many path edges there are.
    pub fn n_path_edges(&self) -> u64 {
        self.met_in.iter().map(ActivationSet::len).sum()
    }

    /// What everything takes.
    pub fn bytes(&self) -> u64 {
        let lists: usize = self.by_store.iter().map(|list| 24 + list.capacity() * 4).sum::<usize>()
            + self.disturbed.iter().map(|list| 24 + list.capacity() * 12).sum::<usize>()
            + self.callers.iter().map(|list| 24 + list.capacity() * 8).sum::<usize>()
            + self.exits.iter().map(|list| 24 + list.capacity() * 4).sum::<usize>();
        let by_state = self.states.capacity() * (8 + 12 + size_of::<Flags>() + 4 + size_of::<ActivationSet>())
            + self.index.capacity() * 5;
        let tables = (self.summaries.capacity() + self.guarantee.capacity() + self.known_exits.capacity()) * 9
            + self.known_callers.capacity() * 13
            + self.edges.capacity() * 8
            + self.entries.capacity() * 4
            + self.entry_index.capacity() * 9;
        let heap: u64 = self.met_in.iter().map(ActivationSet::heap_bytes).sum();
        let rows = self.stores.bytes() + self.locals.bytes() + self.exit_views.bytes();
        (lists + by_state + tables) as u64 + heap + rows
    }
}

fn key(store: u32, local: u32) -> u64 {
    hash(&[u64::from(store) << 32 | u64::from(local)])
}
