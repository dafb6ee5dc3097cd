//! Local states by store: the strongest split invariant for what is exposed, explicit.
//!
//! A **store** is a pair of numbers: that of the values of the shared and public cells, and that of the vector of all processes'
//! blocks. For each process and store there is a bit set of local states. The fixpoint is that of Flanagan and Qadeer: a new local state at a store
//! takes its process's turns, and those with each local state of a partner; a new change of a store carries the local states of all others with it. What a process does at given
//! cells in a given local state does not depend on what is exposed, so it is computed once for all rounds.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use base::{Budget, StopReason};
use compose::fair::conditions::Conditions;
use compose::fair::locals::{LocalState, Locals};
use compose::sums::Sums;
use evidence::certificate::{ControlPoint, Exposed, LocalFact};
use model::control::ActionId;
use model::eval::{Link, Move, State, Turn};
use model::process::ProcessId;
use model::variable::Storage;
use rustc_hash::FxHashMap;

use super::pruning::Pruning;
use super::rendezvous::{JointTurn, Rendezvous};
use crate::ids::{BlockId, BlocksId, CellsId, CellsMark, ClassId, KindId, LocalId, LocalMark, StoreId};
use crate::sets::NumberedRows;
use crate::sets::bits::{BitSets, for_each_bit};
use packed::initial::{InitialStates, widened};
use packed::machine::{Flow, Machine, Scratch, Sink, SyncWith};
use packed::packing::Packed;

/// The budget is checked after so many stores.
const CHECK_EVERY: u32 = 256;

/// A turn of a process, as far as its own state and the cells go.
#[derive(Clone, Copy, Debug)]
pub struct LocalTurn {
    /// The class: the process and its action.
    pub class: ClassId,
    /// The cells' values afterwards.
    pub cells: CellsId,
    /// The local state afterwards.
    pub local: LocalId,
}

/// What a process can do at given cells in a given local state.
#[derive(Clone, Debug)]
pub struct EnabledTurns {
    /// Its turns; of stutters those that no partner could prevent.
    pub turns: Rc<[LocalTurn]>,
    /// Its stutter where it has no step, if it has none with a partner, either.
    pub stutter: Option<ClassId>,
    /// Whether a step of it is a fault.
    pub is_faulty: bool,
}

/// A store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey {
    /// The cells' values.
    pub cells: CellsId,
    /// The vector of blocks.
    pub blocks: BlocksId,
}

/// A change of a store by a turn of some process.
#[derive(Clone, Copy)]
struct StoreChange {
    target: StoreId,
    /// The processes that are among the movers of every turn that makes it: the local states of all others are carried along.
    movers: [Option<ProcessId>; 2],
}

impl StoreChange {
    fn carries(&self, process: ProcessId) -> bool {
        !self.movers.contains(&Some(process))
    }
}

/// Local states by store.
pub struct FairSets<'a, const W: usize> {
    /// The program, compiled.
    pub machine: &'a Machine<'a>,
    /// Local states in plain terms.
    pub locals: &'a Locals<'a>,
    /// What the property demands.
    pub conditions: &'a Conditions<'a>,
    pub(super) scratch: Scratch<W>,
    pub(super) budget: &'a Budget,
    cap_bytes: u64,
    peak_bytes: Cell<u64>,
    pub(super) cells_mask: Packed<W>,
    pub(super) local_masks: Vec<Packed<W>>,
    /// Joint turns.
    pub rendezvous: Rendezvous,
    /// The reachable values of the shared and public cells.
    pub cells: NumberedRows<W, CellsMark>,
    /// By process: its reachable local states.
    pub local_rows: Vec<NumberedRows<W, LocalMark>>,
    plain_locals: Vec<Vec<LocalState>>,
    enabled_turns: Vec<FxHashMap<(CellsId, LocalId), EnabledTurns>>,
    /// The turn of each class, and the assumptions that it satisfies by itself, as a number in `kinds`.
    pub classes: Vec<(Turn, KindId)>,
    class_ids: FxHashMap<Turn, ClassId>,
    /// Sets of assumptions that turns satisfy.
    pub kinds: Vec<Vec<usize>>,
    kind_ids: FxHashMap<Vec<usize>, KindId>,
    /// By process: what is exposed of it.
    pub exposed: Vec<Exposed>,
    /// By process and local state: the block.
    blocks: Vec<Vec<BlockId>>,
    /// The reachable vectors of blocks.
    pub vectors: Vec<Box<[BlockId]>>,
    vector_ids: FxHashMap<Box<[BlockId]>, BlocksId>,
    changed_vectors: FxHashMap<(BlocksId, ProcessId, BlockId), BlocksId>,
    /// The stores.
    pub stores: Vec<StoreKey>,
    store_ids: FxHashMap<StoreKey, StoreId>,
    /// By process: its local states at each store.
    sets: Vec<BitSets>,
    changes: Vec<Vec<StoreChange>>,
    /// Where a change from store to store is in the list of the first.
    change_ids: FxHashMap<(StoreId, StoreId), u32>,
    open: Vec<(ProcessId, StoreId)>,
    /// The initial stores, and for each process its local states there.
    pub initial: Vec<(StoreId, ProcessId, LocalId)>,
    n_expanded: u32,
    /// Sums that exclude some of it.
    pub(super) pruning: Option<Pruning>,
}

impl<'a, const W: usize> FairSets<'a, W> {
    /// Nothing is exposed yet.
    pub fn new(
        machine: &'a Machine<'a>,
        (conditions, locals): (&'a Conditions<'a>, &'a Locals<'a>),
        (budget, cap_bytes): (&'a Budget, u64),
    ) -> Self {
        let (model, layout) = (machine.codec.model, &machine.codec.layout);
        let mut cells_mask = [0; W];
        let mut local_masks = vec![[0; W]; model.processes.len()];
        for (id, cell) in model.cells.entries() {
            let field = layout.locations[id.index()].0;
            let mask = match (model.vars[cell.var].storage, cell.owner) {
                (Storage::Local(_), Some(owner)) => &mut local_masks[owner.index()],
                _ => &mut cells_mask,
            };
            mask[field.word as usize] |= field.in_place(field.mask);
        }
        for process in model.processes.ids() {
            let field = layout.control[process.index()];
            local_masks[process.index()][field.word as usize] |= field.in_place(field.mask);
        }
        let n_processes = model.processes.len();
        let actions = |process| {
            let points = locals.points(process).iter();
            points.map(|point: &ControlPoint| model.places[point.place].actions.clone()).collect()
        };
        FairSets {
            machine,
            locals,
            conditions,
            scratch: machine.scratch(),
            budget,
            cap_bytes,
            peak_bytes: Cell::new(0),
            cells_mask,
            local_masks,
            rendezvous: Rendezvous::new(model, actions),
            cells: NumberedRows::default(),
            local_rows: (0..n_processes).map(|_| NumberedRows::default()).collect(),
            plain_locals: vec![Vec::new(); n_processes],
            enabled_turns: (0..n_processes).map(|_| FxHashMap::default()).collect(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
            kinds: Vec::new(),
            kind_ids: FxHashMap::default(),
            exposed: vec![nothing(); n_processes],
            blocks: vec![Vec::new(); n_processes],
            vectors: Vec::new(),
            vector_ids: FxHashMap::default(),
            changed_vectors: FxHashMap::default(),
            stores: Vec::new(),
            store_ids: FxHashMap::default(),
            sets: Vec::new(),
            changes: Vec::new(),
            change_ids: FxHashMap::default(),
            open: Vec::new(),
            initial: Vec::new(),
            n_expanded: 0,
            pruning: None,
        }
    }

    /// Forgets what is exposed.
    pub fn forget_exposed(&mut self) {
        self.exposed.iter_mut().for_each(|exposed| *exposed = nothing());
        self.blocks.iter_mut().for_each(Vec::clear);
    }

    /// Exposes a fact; whether it distinguishes reachable local states that nothing distinguished.
    pub fn expose_fact(&mut self, process: ProcessId, fact: &LocalFact) -> bool {
        let at = process.index();
        if self.exposed[at].facts.contains(fact) {
            return false;
        }
        let locals = self.local_rows[at].ids();
        let mut pairs = BTreeSet::new();
        let mut blocks = BTreeSet::new();
        for local in locals {
            let block = self.block(process, local);
            let holds = self.locals.holds(process, fact, &self.plain_locals[at][local.index()]);
            pairs.insert((block, holds));
            blocks.insert(block);
        }
        self.exposed[at].facts.push(fact.clone());
        self.exposed[at].blocks.clear();
        self.blocks[at].clear();
        pairs.len() > blocks.len()
    }

    /// The block of a local state in plain terms.
    pub fn plain_block(&self, process: ProcessId, local: &LocalState) -> Option<BlockId> {
        let exposed = &self.exposed[process.index()];
        let truths: Vec<bool> = exposed.facts.iter().map(|fact| self.locals.holds(process, fact, local)).collect();
        exposed.blocks.iter().position(|block| *block == truths).map(BlockId::new)
    }

    /// The block of a local state.
    pub fn block(&mut self, process: ProcessId, local: LocalId) -> BlockId {
        let at = process.index();
        while self.blocks[at].len() <= local.index() {
            let next = self.blocks[at].len();
            let plain = self.plain_local(process, LocalId::new(next)).clone();
            let exposed = &mut self.exposed[at];
            let truths: Vec<bool> = exposed.facts.iter().map(|fact| self.locals.holds(process, fact, &plain)).collect();
            let known = exposed.blocks.iter().position(|block| *block == truths);
            let block = known.unwrap_or_else(|| {
                exposed.blocks.push(truths);
                exposed.blocks.len() - 1
            });
            self.blocks[at].push(BlockId::new(block));
        }
        self.blocks[at][local.index()]
    }

    /// A local state in plain terms.
    pub fn plain_local(&mut self, process: ProcessId, local: LocalId) -> &LocalState {
        let at = process.index();
        while self.plain_locals[at].len() <= local.index() {
            let row = self.local_rows[at].row(LocalId::new(self.plain_locals[at].len()));
            let state = self.machine.codec.unpack(row);
            self.plain_locals[at].push(self.locals.read(process, &state));
        }
        &self.plain_locals[at][local.index()]
    }

    /// Whether a process may be in a local state at a store.
    pub fn has(&self, process: ProcessId, store: StoreId, local: LocalId) -> bool {
        let word = self.at(process, store).get(local.index() / 64);
        word.is_some_and(|word| word >> (local.index() % 64) & 1 == 1)
    }

    /// Leaves out what sums exclude, if there are some, from the next time on that the sets are computed.
    pub fn prune(&mut self, sums: Option<Arc<Sums>>) {
        self.pruning = sums.map(Pruning::new);
    }

    /// Whether sums exclude some of it.
    pub fn is_pruned(&self) -> bool {
        self.pruning.is_some()
    }

    /// The words of a process's local states at a store.
    pub fn at(&self, process: ProcessId, store: StoreId) -> &[u64] {
        self.sets[process.index()].get(store)
    }

    /// The store of a state of which only the cells count, with the blocks of all processes.
    pub fn store_of(&self, state: &State, blocks: &[usize]) -> Option<StoreId> {
        let row = only(&widened(&self.machine.codec.pack(state)), &self.cells_mask);
        let vector: Box<[BlockId]> = blocks.iter().map(|&block| BlockId::new(block)).collect();
        let store = StoreKey { cells: self.cells.position(&row)?, blocks: *self.vector_ids.get(&vector)? };
        self.store_ids.get(&store).copied()
    }

    /// The number of the vector that differs from another in one block.
    pub fn changed_vector(&mut self, vector: BlocksId, process: ProcessId, block: BlockId) -> BlocksId {
        if self.vectors[vector.index()][process.index()] == block {
            return vector;
        }
        let key = (vector, process, block);
        if let Some(&known) = self.changed_vectors.get(&key) {
            return known;
        }
        let mut changed = self.vectors[vector.index()].clone();
        changed[process.index()] = block;
        let number = self.vector(changed);
        self.changed_vectors.insert(key, number);
        number
    }

    /// Computes the sets.
    pub fn compute(&mut self) -> Result<(), StopReason> {
        let n_processes = self.locals.model.processes.len();
        self.vectors.clear();
        self.vector_ids.clear();
        self.changed_vectors.clear();
        self.stores.clear();
        self.store_ids.clear();
        self.sets = (0..n_processes).map(|_| BitSets::default()).collect();
        self.changes.clear();
        self.change_ids.clear();
        self.open.clear();
        self.initial.clear();
        self.pruning.iter_mut().for_each(Pruning::forget);
        self.start()?;
        while let Some((process, store)) = self.open.pop() {
            self.expand(process, store)?;
            self.n_expanded += 1;
            if self.n_expanded.is_multiple_of(CHECK_EVERY) {
                self.check()?;
            }
        }
        self.check()
    }

    /// What everything takes, and whether that is allowed.
    pub fn check(&self) -> Result<(), StopReason> {
        let sets = self.sets.iter().map(BitSets::bytes).sum::<u64>();
        let changes = self.change_ids.capacity() * 16 + self.changes.len() * 24;
        let vectors = self.vectors.len() * (self.locals.model.processes.len() * 2 + 60);
        let enabled_turns = self.enabled_turns.iter().map(|known| known.capacity() as u64 * 80).sum::<u64>();
        let bytes = sets
            + enabled_turns
            + self.rendezvous.bytes()
            + (changes + vectors + self.stores.capacity() * 32) as u64
            + self.cells.bytes();
        self.hold(bytes)
    }

    /// So many bytes are held.
    pub fn hold(&self, bytes: u64) -> Result<(), StopReason> {
        self.peak_bytes.set(self.peak_bytes.get().max(bytes));
        if bytes > self.cap_bytes {
            return Err(StopReason::MemoryLimit(self.cap_bytes));
        }
        self.budget.check(bytes)
    }

    /// The most that was held.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.get()
    }

    /// The initial stores with the local states of all processes. Every cell starts on its own, so everything is a product.
    fn start(&mut self) -> Result<(), StopReason> {
        let codec = self.machine.codec;
        let n_processes = self.locals.model.processes.len();
        let mut starts: Vec<Vec<LocalId>> = Vec::new();
        for at in 0..n_processes {
            let mask = self.local_masks[at];
            let rows: Vec<Packed<W>> = InitialStates::within(codec, &mask).collect();
            let numbers = rows.iter().map(|row| self.local_rows[at].number(only(row, &mask)).0).collect();
            starts.push(numbers);
        }
        let mut vectors: Vec<Vec<BlockId>> = vec![Vec::new()];
        for (at, starts) in starts.iter().enumerate() {
            let process = ProcessId::new(at);
            let mut blocks: Vec<BlockId> = starts.iter().map(|&local| self.block(process, local)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let longer = |vector: &Vec<BlockId>| {
                blocks.iter().map(|&block| vector.iter().copied().chain([block]).collect()).collect::<Vec<_>>()
            };
            vectors = vectors.iter().flat_map(longer).collect();
            self.hold((vectors.len() * n_processes * 2) as u64)?;
        }
        let mask = self.cells_mask;
        for row in InitialStates::within(codec, &mask) {
            let cells = self.cells.number(only(&row, &mask)).0;
            for vector in &vectors {
                let blocks = self.vector(vector.clone().into_boxed_slice());
                let store = self.store(StoreKey { cells, blocks });
                for (at, starts) in starts.iter().enumerate() {
                    for &local in starts {
                        if self.block(ProcessId::new(at), local) == vector[at] {
                            self.initial.push((store, ProcessId::new(at), local));
                            self.add(ProcessId::new(at), store, local);
                        }
                    }
                }
            }
            self.check()?;
        }
        Ok(())
    }

    fn vector(&mut self, vector: Box<[BlockId]>) -> BlocksId {
        if let Some(&known) = self.vector_ids.get(&vector) {
            return known;
        }
        let number = BlocksId::new(self.vectors.len());
        self.vectors.push(vector.clone());
        self.vector_ids.insert(vector, number);
        number
    }

    /// The store with such cells and blocks.
    pub fn store_at(&mut self, cells: CellsId, blocks: BlocksId) -> StoreId {
        self.store(StoreKey { cells, blocks })
    }

    fn store(&mut self, store: StoreKey) -> StoreId {
        let next = StoreId::new(self.stores.len());
        let number = *self.store_ids.entry(store).or_insert(next);
        if number == next {
            self.stores.push(store);
            self.changes.push(Vec::new());
        }
        number
    }

    fn add(&mut self, process: ProcessId, store: StoreId, local: LocalId) {
        if self.pruning.is_some() && self.excludes(process, store, local) {
            return;
        }
        if self.sets[process.index()].insert(store, local) {
            self.open.push((process, store));
        }
    }

    /// Takes the turns of new local states at a store, and carries them along known changes.
    fn expand(&mut self, process: ProcessId, store: StoreId) -> Result<(), StopReason> {
        let (new, _) = self.sets[process.index()].take_new(store);
        let here = self.stores[store.index()];
        let mut fresh = Vec::new();
        for_each_bit(&new, |local| fresh.push(local));
        for local in fresh {
            for &turn in self.enabled_turns(process, here.cells, local)?.turns.iter() {
                let target = self.target(process, here, turn);
                self.add(process, target, turn.local);
                if target != store {
                    self.change([Some(process), None], store, target);
                }
            }
            for partner in self.rendezvous.partners(process).to_vec() {
                for theirs in self.listed_at(partner, store, None) {
                    for turns in self.together((process, local), (partner, theirs), here.cells)? {
                        turns.turns.iter().for_each(|&turn| self.take_joint(store, turn));
                    }
                }
            }
        }
        for at in 0..self.changes[store.index()].len() {
            let change = self.changes[store.index()][at];
            if change.carries(process) {
                self.carry(process, change.target, &new);
            }
        }
        Ok(())
    }

    /// The store after a turn.
    pub fn target(&mut self, process: ProcessId, here: StoreKey, turn: LocalTurn) -> StoreId {
        let block = self.block(process, turn.local);
        let blocks = self.changed_vector(here.blocks, process, block);
        self.store(StoreKey { cells: turn.cells, blocks })
    }

    /// Takes a rendezvous from a store.
    fn take_joint(&mut self, store: StoreId, turn: JointTurn) {
        let target = self.joint_target(store, turn);
        let [sender, receiver] = [turn.sender, turn.receiver].map(|(process, local)| {
            self.add(process, target, local);
            process
        });
        if target != store {
            self.change([Some(sender), Some(receiver)], store, target);
        }
    }

    /// A change of a store carries the local states of all others with it.
    fn change(&mut self, movers: [Option<ProcessId>; 2], store: StoreId, target: StoreId) {
        let known = self.change_ids.get(&(store, target)).copied();
        let spread: Vec<ProcessId> = match known {
            None => {
                let list = &mut self.changes[store.index()];
                self.change_ids.insert((store, target), list.len() as u32);
                let change = StoreChange { target, movers };
                list.push(change);
                (0..self.sets.len()).map(ProcessId::new).filter(|&other| change.carries(other)).collect()
            }
            Some(at) => {
                let change = &mut self.changes[store.index()][at as usize];
                let before = change.movers;
                change.movers = before.map(|mover| mover.filter(|_| movers.contains(&mover)));
                let after = *change;
                before.into_iter().flatten().filter(|&mover| after.carries(mover)).collect()
            }
        };
        for other in spread {
            let words = self.sets[other.index()].get(store).to_vec();
            self.carry(other, target, &words);
        }
    }

    fn carry(&mut self, process: ProcessId, target: StoreId, words: &[u64]) {
        if self.pruning.is_some() {
            return for_each_bit(words, |local| self.add(process, target, local));
        }
        if words.iter().any(|&word| word != 0) && self.sets[process.index()].insert_all(target, words) {
            self.open.push((process, target));
        }
    }

    /// What a process can do, computed once.
    pub fn enabled_turns(
        &mut self,
        process: ProcessId,
        cells: CellsId,
        local: LocalId,
    ) -> Result<EnabledTurns, StopReason> {
        if let Some(known) = self.enabled_turns[process.index()].get(&(cells, local)) {
            return Ok(known.clone());
        }
        let mut from = *self.cells.row(cells);
        let own = self.local_rows[process.index()].row(local);
        from.iter_mut().zip(own).for_each(|(word, own)| *word |= own);
        let mut found = StepCollector::new(self.budget);
        let moved = self.machine.expand_with((process, SyncWith::Nobody), &from, &self.scratch, &mut found);
        if let Some(stop) = found.stopped {
            return Err(stop);
        }
        let is_enabled = !matches!(moved, std::ops::ControlFlow::Continue(false));
        let mut turns = Vec::new();
        for (by, next) in found.steps {
            let class = self.class(Turn::Step(by));
            let cells = self.cells.number(only(&next, &self.cells_mask)).0;
            let mask = self.local_masks[process.index()];
            let local = self.local_rows[process.index()].number(only(&next, &mask)).0;
            turns.push(LocalTurn { class, cells, local });
        }
        let is_idle = self.machine.is_idle(process, &from);
        let class = (!is_enabled || is_idle).then(|| self.class(Turn::StandStill(process)));
        let is_alone = is_idle || self.rendezvous.partners(process).is_empty();
        turns.extend(class.filter(|_| is_alone).map(|class| LocalTurn { class, cells, local }));
        let stutter = class.filter(|_| !is_alone);
        let enabled_turns = EnabledTurns { turns: turns.into(), stutter, is_faulty: found.is_faulty };
        self.enabled_turns[process.index()].insert((cells, local), enabled_turns.clone());
        Ok(enabled_turns)
    }

    pub(super) fn class(&mut self, turn: Turn) -> ClassId {
        if let Some(&known) = self.class_ids.get(&turn) {
            return known;
        }
        let satisfied = self.conditions.satisfied_by(&turn);
        let next = KindId::new(self.kinds.len());
        let kind = *self.kind_ids.entry(satisfied.clone()).or_insert(next);
        if kind == next {
            self.kinds.push(satisfied);
        }
        let class = ClassId::new(self.classes.len());
        self.classes.push((turn.clone(), kind));
        self.class_ids.insert(turn, class);
        class
    }

    /// The state with the cells of a store and the local state of a process; all others are anywhere.
    pub fn plain_state(&self, cells: CellsId, own: Option<(ProcessId, LocalId)>) -> State {
        let mut row = *self.cells.row(cells);
        if let Some((process, local)) = own {
            let own = self.local_rows[process.index()].row(local);
            row.iter_mut().zip(own).for_each(|(word, own)| *word |= own);
        }
        self.machine.codec.unpack(&row)
    }
}

/// The bits of a row under a mask.
pub(super) fn only<const W: usize>(row: &Packed<W>, mask: &Packed<W>) -> Packed<W> {
    let mut masked = *row;
    masked.iter_mut().zip(mask).for_each(|(word, mask)| *word &= mask);
    masked
}

/// Nothing is exposed.
fn nothing() -> Exposed {
    Exposed { facts: Vec::new(), blocks: Vec::new() }
}

/// Collects the steps of one process.
pub(super) struct StepCollector<'f, const W: usize> {
    pub steps: Vec<(Move, Packed<W>)>,
    /// What the step begins with: the action, and the partner of a rendezvous.
    begun: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    /// What the step goes on with.
    then: Vec<Link>,
    pub is_faulty: bool,
    budget: &'f Budget,
    pub stopped: Option<StopReason>,
}

impl<'f, const W: usize> StepCollector<'f, W> {
    /// Nothing is collected yet.
    pub fn new(budget: &'f Budget) -> Self {
        StepCollector { steps: Vec::new(), begun: None, then: Vec::new(), is_faulty: false, budget, stopped: None }
    }
}

impl<const W: usize> Sink<W> for StepCollector<'_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.begun = Some((action, partner));
    }

    fn goes_on(&mut self, then: &[Link]) {
        self.then = then.to_vec();
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let (action, partner) = self.begun.expect("a step begins before it leads anywhere");
        let by = Move { process, action, partner, then: std::mem::take(&mut self.then) };
        self.steps.push((by, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.is_faulty = true;
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        match self.budget.check(bytes) {
            Ok(()) => Flow::Continue(()),
            Err(stop) => {
                self.stopped = Some(stop);
                Flow::Break(())
            }
        }
    }
}
