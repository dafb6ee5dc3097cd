//! The least path edges of all processes (Flanagan and Qadeer 2003, section 3, in the form with callers).
//!
//! In: a compiled program and facts that are exposed. Out: for each process its local states, the activations in which each is reachable,
//! callers and returns of activations, and its guarantee. The rules: initial states are reachable in the process's own text; a step leads
//! from local state to local state within the activation, and is a guarantee to the others where it changes the store; what another
//! process guarantees happens in every activation; a call starts an activation, and where one returns, its callers go on. A call or a
//! return may change the store, too.
//!
//! The method is a worklist of local states with the activations that are new there. Steps of a local state are taken once, and a
//! call with its return is one more edge between local states, so that to propagate a set of activations is a few operations on words.

use std::collections::VecDeque;

use base::{Budget, Feature, StopReason, Unsupported};
use model::Model;
use model::control::{Action, ActionId, ActionKind};
use model::expr::ExprKind;
use model::process::ProcessId;
use model::variable::Storage;
use model::visit::each_part;
use rustc_hash::FxHashSet;

use crate::blocks::ActivationSet;
use crate::exposed::ExposedBits;
use crate::thread::{CallerFrame, Interference, InterferenceCause, LocalStateId, Origin, Thread, own_text};
use local::ids::StoreId;
use local::interference::{CommonBits, CommonChange};
use local::sets::views::ViewMasks;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink, SyncWith};
use packed::packing::Packed;
use packed::words::{add, and, is_zero, or, without};

/// The budget is checked after so many local states, and memory is counted after this many times as many.
const CHECK_EVERY: u32 = 128;
const COUNT_EVERY: u32 = 512;

/// The path edges of a program.
pub struct Saturation<'a, const W: usize> {
    /// The program.
    pub machine: &'a Machine<'a>,
    /// What the machine needs.
    pub scratch: Scratch<W>,
    /// What is exposed.
    pub exposed: ExposedBits,
    /// By process.
    pub threads: Vec<Thread<W>>,
    /// Local states with activations that are new, in the order in which they came.
    queue: VecDeque<(u32, LocalStateId, ActivationSet)>,
    /// How many were taken from the queue.
    n_taken: u64,
    /// By process and local state: where in the queue it is, counted from the first ever, plus 1; 0 where it is not.
    queued: Vec<Vec<u64>>,
    /// Stores that others have not been asked about.
    fresh: Vec<(u32, StoreId)>,
    budget: &'a Budget,
    n_ticks: u32,
    /// What everything took when it was last counted.
    pub bytes: u64,
}

/// What leaves a local state.
struct LeavingSteps<'a, const W: usize> {
    machine: &'a Machine<'a>,
    kind: StepKind,
    found: Vec<(StepKind, Packed<W>)>,
    faulty: bool,
    out_of_stacks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepKind {
    Plain,
    Call,
    Return,
}

impl<const W: usize> Sink<W> for LeavingSteps<'_, W> {
    fn begins(&mut self, action: ActionId, _partner: Option<(ProcessId, ActionId)>) {
        self.kind = kind_of(self.machine, action);
    }

    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push((self.kind, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.faulty = true;
        Flow::Continue(())
    }

    fn out_of_stacks(&mut self) {
        self.out_of_stacks = true;
    }
}

fn kind_of(machine: &Machine<'_>, action: ActionId) -> StepKind {
    match machine.codec.model.actions[action].kind {
        ActionKind::Plain | ActionKind::Idle => StepKind::Plain,
        ActionKind::Call { .. } => StepKind::Call,
        ActionKind::Return { .. } => StepKind::Return,
    }
}

/// Whether a return may read the frame that it drops, before it drops it. One that does not leads to the same from all local states that
/// differ in that frame alone.
fn reads_frame(model: &Model, action: ActionId) -> bool {
    let Action { guard, body, kind: ActionKind::Return { value }, .. } = &model.actions[action] else { return true };
    let mut looks = !body.is_empty();
    for expr in guard.iter().chain(value) {
        each_part(expr, &mut |part| {
            if let ExprKind::Read(access) = &part.kind {
                looks |= matches!(model.vars[access.var].storage, Storage::Frame(_));
            }
        });
    }
    looks
}

impl<'a, const W: usize> Saturation<'a, W> {
    /// Everything before the first rule is applied.
    pub fn new(machine: &'a Machine<'a>, sight: &ViewMasks<W>, exposed: ExposedBits, budget: &'a Budget) -> Self {
        let processes: Vec<ProcessId> = machine.codec.model.processes.ids().collect();
        let mut threads: Vec<Thread<W>> = Vec::new();
        for &process in &processes {
            let mut mask = sight.mask(&[process]);
            if let Some(frames) = &machine.codec.layout.frames[process.index()] {
                // What waits below the top frame is no part of a local state.
                let mut below = [0; W];
                add(&mut below, frames.stack);
                mask = without(&mask, &below);
            }
            let others = processes.iter().filter(|&&other| other != process);
            let others = others.fold([0; W], |mask, &other| or(&mask, &sight.mask(&[other])));
            let mut store_mask = and(&mask, &others);
            exposed.add_to(&mut store_mask);
            threads.push(Thread::new(process, store_mask, without(&mask, &store_mask)));
        }
        for at in 0..threads.len() {
            let mine = threads[at].store_mask;
            let mut interference: Vec<Interference<W>> = Vec::new();
            let mut by = Vec::new();
            for (other, thread) in threads.iter().enumerate() {
                let common = and(&mine, &thread.store_mask);
                let known = interference.iter().position(|known| *known.common.mask() == common);
                by.push((other != at && !is_zero(&common)).then(|| {
                    known.unwrap_or_else(|| {
                        interference
                            .push(Interference { common: CommonBits::new(common), known: FxHashSet::default() });
                        interference.len() - 1
                    })
                }));
            }
            (threads[at].interference, threads[at].interference_by) = (interference, by);
        }
        let queued = vec![Vec::new(); threads.len()];
        Saturation {
            machine,
            scratch: machine.scratch(),
            exposed,
            threads,
            queue: VecDeque::new(),
            n_taken: 0,
            queued,
            fresh: Vec::new(),
            budget,
            n_ticks: 0,
            bytes: 0,
        }
    }

    /// Applies the rules until nothing is new.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn run(&mut self) -> Result<(), StopReason> {
        self.start()?;
        loop {
            while let Some((thread, store)) = self.fresh.pop() {
                self.apply_changes(thread as usize, store);
                self.tick()?;
            }
            let Some((thread, state, new)) = self.queue.pop_front() else { break };
            self.n_taken += 1;
            self.queued[thread as usize][state.index()] = 0;
            self.advance(thread as usize, state, &new)?;
            self.tick()?;
        }
        self.bytes = self.count_bytes();
        self.budget.check(self.bytes)
    }

    /// How many path edges all processes have.
    pub fn n_path_edges(&self) -> u64 {
        self.threads.iter().map(Thread::n_path_edges).sum()
    }

    fn tick(&mut self) -> Result<(), StopReason> {
        self.n_ticks = self.n_ticks.wrapping_add(1);
        if self.n_ticks.is_multiple_of(CHECK_EVERY) {
            if self.n_ticks.is_multiple_of(CHECK_EVERY * COUNT_EVERY) {
                self.bytes = self.count_bytes();
            }
            self.budget.check(self.bytes)?;
        }
        Ok(())
    }

    fn count_bytes(&self) -> u64 {
        let threads: u64 = self.threads.iter().map(Thread::bytes).sum();
        threads
            + self.machine.stack_bytes()
            + (self.queue.capacity() * size_of::<(u32, LocalStateId, ActivationSet)>()) as u64
    }

    fn start(&mut self) -> Result<(), StopReason> {
        for at in 0..self.threads.len() {
            let thread = &self.threads[at];
            let (process, mask) = (thread.process, or(&thread.store_mask, &thread.local_mask));
            let mut wheels = mask;
            self.exposed.fields().for_each(|field| add(&mut wheels, field));
            for mut row in InitialStates::within(self.machine.codec, &wheels) {
                for other in self.machine.codec.model.processes.ids() {
                    self.exposed.refresh(other, &mut row);
                }
                let state = self.local_state(process.index(), &row, Origin::Start);
                self.give(at, state, &ActivationSet::of(own_text()));
                self.tick()?;
            }
        }
        Ok(())
    }

    /// The local state of a process that is in a packed state.
    fn local_state(&mut self, at: usize, row: &Packed<W>, origin: Origin) -> LocalStateId {
        let store = self.store(at, and(row, &self.threads[at].store_mask));
        let thread = &mut self.threads[at];
        let local = thread.locals.number(and(row, &thread.local_mask)).0;
        thread.state(store, local, origin)
    }

    /// The number of a store, which is announced if it is new.
    fn store(&mut self, at: usize, row: Packed<W>) -> StoreId {
        let thread = &mut self.threads[at];
        let (store, new) = thread.stores.number(row);
        if new {
            thread.by_store.push(Vec::new());
            thread.changed_by_others.push(Vec::new());
            self.fresh.push((at as u32, store));
        }
        store
    }

    /// A local state is reachable in some activations.
    fn give(&mut self, at: usize, state: LocalStateId, activations: &ActivationSet) {
        let new = self.threads[at].reachable_in[state.index()].add(activations);
        if new.is_empty() {
            return;
        }
        let queued = &mut self.queued[at];
        if queued.len() <= state.index() {
            queued.resize(self.threads[at].states.len(), 0);
        }
        match queued[state.index()] {
            0 => {
                self.queue.push_back((at as u32, state, new));
                queued[state.index()] = self.n_taken + self.queue.len() as u64;
            }
            place => {
                self.queue[(place - 1 - self.n_taken) as usize].2.add(&new);
            }
        }
    }

    /// All that follows where a local state is reachable in new activations.
    fn advance(&mut self, at: usize, state: LocalStateId, new: &ActivationSet) -> Result<(), StopReason> {
        if !std::mem::replace(&mut self.threads[at].flags[state.index()].expanded, true) {
            self.expand(at, state)?;
        }
        let mut edge = self.threads[at].first_edge(state);
        while let Some((to, next)) = self.threads[at].edge(edge) {
            edge = next;
            self.give(at, to, new);
        }
        let (store, local) = self.threads[at].states[state.index()];
        for nth in 0..self.threads[at].changed_by_others[store.index()].len() {
            let (store, _) = self.threads[at].changed_by_others[store.index()][nth];
            let to = self.threads[at].state(store, local, Origin::Interference(state));
            self.give(at, to, new);
        }
        if let Some(view) = self.threads[at].flags[state.index()].exit_view {
            for activation in new.iter() {
                if !self.threads[at].add_exit(activation, state, view) {
                    continue;
                }
                for caller in 0..self.threads[at].callers[activation.index()].len() {
                    let caller = self.threads[at].callers[activation.index()][caller];
                    self.give_back(at, state, caller)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the own steps of a local state, but for returns, which need a frame to return to.
    fn expand(&mut self, at: usize, state: LocalStateId) -> Result<(), StopReason> {
        let row = self.threads[at].row(state);
        let process = self.threads[at].process;
        let point = self.machine.point(process, &row);
        let actions = &self.machine.code.steps[point.first as usize..point.end as usize];
        let mut returns = actions.iter().map(|step| step.action).filter(|&action| self.is_return(action)).peekable();
        if returns.peek().is_some() && self.can_return(process, &row) {
            let sees_frame = returns.any(|action| reads_frame(self.machine.codec.model, action));
            let seen = if sees_frame { row } else { self.without_frame(process, row) };
            let view = self.threads[at].exit_views.number(seen).0;
            self.threads[at].flags[state.index()].exit_view = Some(view);
        }
        let outcomes = self.outcomes(process, &row, false)?;
        if outcomes.faulty {
            self.threads[at].faults.push((state, None));
        }
        for (kind, next) in outcomes.found {
            let origin = if kind == StepKind::Call { Origin::Called(state) } else { Origin::Step(state) };
            let to = self.stepped(at, state, next, origin);
            if kind == StepKind::Call {
                let frames = self.machine.codec.layout.frames[process.index()].as_ref();
                let frame = frames.expect("the process calls procedures").stack.raw(&next) as u32;
                self.call(at, to, CallerFrame { from: state, frame })?;
            } else {
                self.threads[at].add_step_edge(state, to);
            }
        }
        Ok(())
    }

    fn is_return(&self, action: ActionId) -> bool {
        kind_of(self.machine, action) == StepKind::Return
    }

    /// Whether a step that returns may be enabled: its guard does not read the frame below.
    fn can_return(&self, process: ProcessId, row: &Packed<W>) -> bool {
        let mut enabled = self.machine.steps_that_may_be_enabled(process, row, &self.scratch);
        enabled.any(|step| self.is_return(self.machine.code.steps[step].action))
    }

    /// The row with all slots of the top frame cleared.
    fn without_frame(&self, process: ProcessId, mut row: Packed<W>) -> Packed<W> {
        if let Some(frames) = &self.machine.codec.layout.frames[process.index()] {
            frames.room.iter().for_each(|slot| slot.put(&mut row, 0));
        }
        row
    }

    fn outcomes(&self, process: ProcessId, row: &Packed<W>, returns: bool) -> Result<LeavingSteps<'a, W>, StopReason> {
        let machine = self.machine;
        let mut outcomes =
            LeavingSteps { machine, kind: StepKind::Plain, found: Vec::new(), faulty: false, out_of_stacks: false };
        let wanted = |action| (kind_of(machine, action) == StepKind::Return) == returns;
        let _ = machine.expand_some((process, SyncWith::Nobody), row, (&self.scratch, &wanted), &mut outcomes);
        if outcomes.out_of_stacks {
            return Err(Unsupported::about(Feature::Numbers, "frames").into());
        }
        Ok(outcomes)
    }

    /// The local state after a step of the process; the others learn how the store changed.
    fn stepped(&mut self, at: usize, from: LocalStateId, mut next: Packed<W>, origin: Origin) -> LocalStateId {
        self.exposed.refresh(self.threads[at].process, &mut next);
        let to = self.local_state(at, &next, origin);
        let before = self.threads[at].states[from.index()].0;
        let after = self.threads[at].states[to.index()].0;
        self.guarantee(at, (before, after), from);
        to
    }

    /// A procedure starts in `entry`.
    fn call(&mut self, at: usize, entry: LocalStateId, caller: CallerFrame) -> Result<(), StopReason> {
        let (activation, new) = self.threads[at].activation(entry);
        if !self.threads[at].add_caller(activation, caller) {
            return Ok(());
        }
        if new {
            self.give(at, entry, &ActivationSet::of(activation));
        }
        for exit in 0..self.threads[at].exits[activation.index()].len() {
            let exit = self.threads[at].exits[activation.index()][exit];
            self.give_back(at, exit, caller)?;
        }
        Ok(())
    }

    /// An activation ends in `exit`, and its caller goes on.
    fn give_back(&mut self, at: usize, exit: LocalStateId, caller: CallerFrame) -> Result<(), StopReason> {
        let process = self.threads[at].process;
        let mut row = self.threads[at].row(exit);
        let frames = self.machine.codec.layout.frames[process.index()].as_ref();
        frames.expect("the process calls procedures").stack.put(&mut row, i64::from(caller.frame));
        let outcomes = self.outcomes(process, &row, true)?;
        if outcomes.faulty && !self.threads[at].faults.contains(&(exit, Some(caller.frame))) {
            self.threads[at].faults.push((exit, Some(caller.frame)));
        }
        for (_, next) in outcomes.found {
            let to = self.stepped(at, exit, next, Origin::Returned(caller.from, exit));
            if self.threads[at].add_summary(caller.from, to) {
                let activations = self.threads[at].reachable_in[caller.from.index()].clone();
                self.give(at, to, &activations);
            }
        }
        self.tick()
    }

    /// A process changes its store: it may interfere with each process that sees a part of the change.
    fn guarantee(&mut self, at: usize, (before, after): (StoreId, StoreId), from: LocalStateId) {
        if before == after || !self.threads[at].guarantee.insert((before, after)) {
            return;
        }
        let (before, after) = (*self.threads[at].stores.row(before), *self.threads[at].stores.row(after));
        let cause = InterferenceCause { process: self.threads[at].process, from };
        for other in 0..self.threads.len() {
            let Some(by) = self.threads[other].interference_by[at] else { continue };
            let Interference { common, known } = &mut self.threads[other].interference[by];
            let (before, after) = (and(&before, common.mask()), and(&after, common.mask()));
            if before == after || !known.insert((before, after)) {
                continue;
            }
            let change = CommonChange { after, label: cause };
            for store in common.add_change(before, change).to_vec() {
                self.interfere(other, store, by, change);
            }
        }
    }

    /// Asks what the others make of a new store.
    fn apply_changes(&mut self, at: usize, store: StoreId) {
        for by in 0..self.threads[at].interference.len() {
            let row = *self.threads[at].stores.row(store);
            for change in self.threads[at].interference[by].common.add_row(&row, store).to_vec() {
                self.interfere(at, store, by, change);
            }
        }
    }

    /// Another process can change a store: that happens in every local state with this store, in each of its activations.
    fn interfere(&mut self, at: usize, store: StoreId, by: usize, change: CommonChange<W, InterferenceCause>) {
        let thread = &self.threads[at];
        let row = thread.interference[by].common.changed(thread.stores.row(store), &change.after);
        let several = thread.interference.len() > 1;
        let target = self.store(at, row);
        let changed_by_others = &mut self.threads[at].changed_by_others[store.index()];
        // Only processes that see different parts of the store can change it to the same one.
        if several && changed_by_others.iter().any(|&(known, _)| known == target) {
            return;
        }
        changed_by_others.push((target, change.label));
        for state in 0..self.threads[at].by_store[store.index()].len() {
            let state = self.threads[at].by_store[store.index()][state];
            if self.threads[at].reachable_in[state.index()].is_empty() {
                continue;
            }
            let local = self.threads[at].states[state.index()].1;
            let to = self.threads[at].state(target, local, Origin::Interference(state));
            let activations = self.threads[at].reachable_in[state.index()].clone();
            self.give(at, to, &activations);
        }
    }
}
