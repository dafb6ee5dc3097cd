//! Local sets, explicit: the packed backend of `compose`, and method `tmmc`.
//!
//! In: a compiled program. Out: sets of view states of groups of processes, and what `compose` asks of them. A view state is a
//! packed state of the whole program in which everything that the group does not see is zero: the combination of two view
//! states is the union of their words, the projection an intersection with a mask, and a step is one of the machine, since
//! no process's step depends on what it does not see.
//!
//! `views.rs` says what each process sees, `rows.rs` is a set of view states, `join.rs` combines sets, `by_store.rs` is the fixpoint for single processes (on `bits.rs`), `close.rs` the one for groups; `questions.rs` answers
//! questions about combinations, `renaming.rs` permutes processes, `pruning.rs` leaves out what sums exclude, `certify.rs` writes a proof; `engine.rs` is the method; `product.rs` writes
//! certificates for the methods that use local state graphs.

pub(crate) mod bits;
mod by_store;
mod certify;
mod close;
pub(crate) mod engine;
mod join;
mod product;
mod pruning;
mod questions;
mod renaming;
mod rows;
pub mod views;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::{Budget, StopReason};
use compose::backend::{Answered, Backend, Join, Movers};
use compose::k_index::KIndexPlan;
use compose::question::Question;
use compose::sums::Sums;
use compose::symmetry::{Permutation, Symmetry};
use evidence::certificate::SplitInvariant;
use model::Model;
use model::eval;
use model::process::ProcessId;
use model::variable::{CellId, VarId};

use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink, SyncWith};
use packed::packing::Packed;
use packed::race::RaceWatch;

pub use engine::{ExplicitKIndex, PrunedKIndex};
use packed::words::{and, or};
pub use rows::{NumberedRows, Rows};
use views::ViewMasks;

/// The budget is checked after so many view states.
const CHECK_EVERY: u32 = 4096;

/// Local sets of a program, with states of `W` words.
pub struct LocalSets<'a, const W: usize> {
    machine: &'a Machine<'a>,
    scratch: Scratch<W>,
    /// What each process sees, and the movers.
    pub sight: ViewMasks<W>,
    /// Sums that were checked: what they exclude is left out.
    pub sums: Option<Arc<Sums>>,
    /// What the steps may touch of the variables that were asked about.
    pub races: HashMap<VarId, RaceWatch>,
    meter: Ticker<'a>,
}

/// Counts work and memory, and stops on the budget.
pub(crate) struct Ticker<'a> {
    budget: &'a Budget,
    n_ticks: Cell<u32>,
    /// Bytes of the live sets, as reported by their holders.
    held_bytes: Cell<u64>,
    /// The most that they took.
    peak_bytes: Cell<u64>,
    /// More than this, and the sets are too large to be explicit.
    cap_bytes: u64,
}

impl Ticker<'_> {
    /// One more view state was expanded; `more_bytes` are held beside what was counted.
    pub fn tick(&self, more_bytes: u64) -> Result<(), StopReason> {
        let n_ticks = self.n_ticks.get().wrapping_add(1);
        self.n_ticks.set(n_ticks);
        if n_ticks.is_multiple_of(CHECK_EVERY) { self.check(more_bytes) } else { Ok(()) }
    }

    /// Checks the budget.
    pub fn check(&self, more_bytes: u64) -> Result<(), StopReason> {
        let bytes = self.held_bytes.get() + more_bytes;
        self.peak_bytes.set(self.peak_bytes.get().max(bytes));
        if bytes > self.cap_bytes {
            return Err(StopReason::MemoryLimit(self.cap_bytes));
        }
        self.budget.check(bytes)
    }

    /// So many bytes are held by sets that were handed out.
    pub fn hold(&self, bytes: u64) {
        self.held_bytes.set(self.held_bytes.get() + bytes);
    }
}

impl<'a, const W: usize> LocalSets<'a, W> {
    pub(crate) fn model(&self) -> &'a Model {
        self.machine.codec.model
    }

    /// Shows the steps of some movers from a combination.
    fn steps(&self, movers: Movers, from: &Packed<W>, sink: &mut impl Sink<W>) -> bool {
        let sync_with = movers.partner.map_or(SyncWith::Nobody, SyncWith::Receiver);
        self.machine.expand_with((movers.process, sync_with), from, &self.scratch, sink).is_break()
    }
}

/// Collects the successors, as a group sees them.
struct ProjectedSuccessors<'r, 'a, const W: usize> {
    mask: Packed<W>,
    rows: &'r mut Rows<W>,
    meter: &'r Ticker<'a>,
    stopped: Option<StopReason>,
}

impl<const W: usize> Sink<W> for ProjectedSuccessors<'_, '_, W> {
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.rows.insert(and(next, &self.mask));
        match self.meter.tick(self.rows.bytes()) {
            Ok(()) => Flow::Continue(()),
            Err(stop) => {
                self.stopped = Some(stop);
                Flow::Break(())
            }
        }
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        match self.meter.check(self.rows.bytes() + bytes) {
            Ok(()) => Flow::Continue(()),
            Err(stop) => {
                self.stopped = Some(stop);
                Flow::Break(())
            }
        }
    }
}

impl<const W: usize> Backend for LocalSets<'_, W> {
    type Set = Rc<Rows<W>>;

    fn model(&self) -> &Model {
        LocalSets::model(self)
    }

    fn movers(&self) -> Vec<Movers> {
        self.sight.movers.clone()
    }

    fn interferes(&self, movers: Movers, group: &[ProcessId]) -> bool {
        self.sight.interferes(movers, group)
    }

    fn empty(&self) -> Self::Set {
        Rc::default()
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }

    fn initial(&mut self, group: &[ProcessId]) -> Result<Self::Set, StopReason> {
        let mask = self.sight.mask(group);
        let mut rows = Rows::default();
        for state in InitialStates::within(self.machine.codec, &mask) {
            rows.insert(and(&state, &mask));
            self.meter.tick(rows.bytes())?;
        }
        Ok(Rc::new(rows))
    }

    fn post(&mut self, movers: Movers, join: Join<'_, Self::Set>, onto: &[ProcessId]) -> Result<Self::Set, StopReason> {
        let mask = self.sight.mask(onto);
        let moving: Vec<ProcessId> = movers.processes().collect();
        let needed = or(&mask, &self.sight.mask(&moving));
        let combinations = self.combinations(join, &needed)?;
        let mut rows = Rows::default();
        let mut seen = ProjectedSuccessors { mask, rows: &mut rows, meter: &self.meter, stopped: None };
        for from in combinations.iter() {
            if self.steps(movers, from, &mut seen) {
                break;
            }
            self.meter.tick(seen.rows.bytes() + combinations.bytes())?;
        }
        match seen.stopped {
            Some(stop) => Err(stop),
            None => Ok(Rc::new(self.without_excluded(onto, rows))),
        }
    }

    fn union(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        let mut union = a.clone();
        let rows = Rc::make_mut(&mut union);
        rows.extend(b.iter());
        self.meter.check(rows.bytes())?;
        self.meter.hold(b.bytes());
        Ok(union)
    }

    fn minus(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        let mut rows = Rows::default();
        rows.extend(a.iter().filter(|row| !b.contains(row)));
        Ok(Rc::new(rows))
    }

    fn close(&mut self, plan: &KIndexPlan<'_>, sets: &mut [Self::Set], _budget: &Budget) -> Result<bool, StopReason> {
        let start: Vec<(&[ProcessId], &Self::Set)> = plan.groups.iter().map(Vec::as_slice).zip(sets.iter()).collect();
        let closed = match self.closed_by_store(plan, &start)? {
            Some(closed) => closed,
            None => self.closed(plan, &start)?,
        };
        self.meter.hold(closed.iter().map(Rows::bytes).sum());
        for (set, rows) in sets.iter_mut().zip(closed) {
            *set = Rc::new(rows);
        }
        Ok(true)
    }

    fn renames(&self, symmetry: &Symmetry<'_>) -> bool {
        self.sight.is_symmetric(LocalSets::model(self), symmetry)
    }

    fn renamed(
        &mut self,
        set: &Self::Set,
        group: &[ProcessId],
        (symmetry, permutation): (&Symmetry<'_>, &Permutation),
    ) -> Result<Self::Set, StopReason> {
        let renaming = self.renaming(&self.sight.mask(group), symmetry, permutation);
        let mut rows = Rows::default();
        for row in set.iter() {
            rows.insert(renaming.apply(row));
            self.meter.tick(rows.bytes())?;
        }
        Ok(Rc::new(rows))
    }

    fn sees(&self, group: &[ProcessId], cell: CellId) -> bool {
        self.sight.sees(LocalSets::model(self), group, cell)
    }

    fn answers(&mut self, question: &Question, join: Join<'_, Self::Set>) -> Result<Answered, StopReason> {
        self.answer(question, join)
    }

    fn certify(&mut self, k: usize, sets: Join<'_, Self::Set>) -> Result<SplitInvariant, StopReason> {
        self.invariant(k, sets)
    }

    fn n_states(&self, _group: &[ProcessId], set: &Self::Set) -> Option<u64> {
        Some(set.len() as u64)
    }

    fn memory_bytes(&self) -> u64 {
        self.meter.held_bytes.get()
    }

    fn sums(&self) -> Option<&Sums> {
        self.sums.as_deref()
    }
}

/// A whole state in which all processes but some have ended: what those can do alone.
fn alone<const W: usize>(machine: &Machine<'_>, row: &Packed<W>, present: &[ProcessId]) -> eval::State {
    let model = machine.codec.model;
    let mut state = machine.codec.unpack(row);
    for process in model.processes.ids().filter(|process| !present.contains(process)) {
        let end = model.families[model.processes[process].family].end;
        state.stacks[process.index()] = vec![eval::Frame { control: eval::Control::At(end), slots: Vec::new() }];
    }
    state
}
