//! The machine: runs compiled steps on packed states.
//!
//! In: a packed state. Out: to a [`Sink`], each transition that leaves it once, and each step that is a fault. Where a step
//! chooses, every choice is followed to its end by recursion on copies of the few words of the state; nothing is allocated.
//! Steps whose paths may coincide are deduplicated before the sink sees them (`paths.rs`). `run.rs` runs code,
//! `rendezvous.rs` brings two processes together, `chain.rs` follows steps that go on over several actions, `compiled.rs` has the
//! entries for each width.

mod chain;
mod compiled;
mod paths;
mod rendezvous;
mod run;

use std::cell::Cell;
use std::ops::ControlFlow;

use model::control::{ActionId, ActionKind};
use model::eval::{self, Link};
use model::process::ProcessId;

use crate::code::{Code, CompiledEffect, CompiledStep, Move, PointSteps, SyncStep};
use crate::codec::Codec;
use crate::packing::Packed;
use crate::term::{Faulty, TermId, TermInput};
pub(crate) use chain::Marked;
use chain::{ChainWalk, LinkEnd};
use compiled::Compiled;
use paths::{KnownSet, MAX_KEPT, Paths};

/// Whether to go on.
pub type Flow = ControlFlow<()>;

/// Takes what leaves a state.
pub trait Sink<const W: usize> {
    /// The transitions and faults that follow are those of this step: its action, and its partner with its action.
    fn begins(&mut self, _action: ActionId, _partner: Option<(ProcessId, ActionId)>) {}

    /// The step goes on with these before it leads to its successor; called after `begins`, only for steps that may go on.
    fn goes_on(&mut self, _then: &[Link]) {}

    /// A transition: the process that steps, and the successor.
    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow;

    /// So many steps of the process are faults, all different.
    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        Flow::Continue(())
    }

    /// Called now and then in the course of a step with very many paths, with how many bytes are held for it.
    fn pause(&mut self, _bytes: u64) -> Flow {
        Flow::Continue(())
    }

    /// A call stack has no number any more; the search cannot go on.
    fn out_of_stacks(&mut self) {}
}

/// The partners with which a process may step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWith {
    /// Alone, or in a rendezvous with any process.
    Anybody,
    /// Alone.
    Nobody,
    /// Only in a rendezvous in which this process receives.
    Receiver(ProcessId),
}

/// A compiled program with what it needs to run.
pub struct Machine<'m> {
    /// Between packed states and those of `eval`.
    pub codec: &'m Codec<'m>,
    /// The code.
    pub code: Code,
}

/// What a machine needs while it runs, one for each thread.
pub struct Scratch<const W: usize> {
    registers: Vec<Cell<i64>>,
    /// An empty set, kept for its memory.
    known: Cell<KnownSet<W>>,
    /// Empty, kept for their memory.
    ends: Cell<Vec<LinkEnd<W>>>,
    walk: Cell<ChainWalk<W>>,
    /// The machine's entries for this width.
    compiled: Compiled<W>,
}

impl Machine<'_> {
    /// What a thread needs to run the machine.
    pub fn scratch<const W: usize>(&self) -> Scratch<W> {
        Scratch {
            registers: vec![Cell::new(0); self.code.n_registers as usize],
            known: Cell::default(),
            ends: Cell::default(),
            walk: Cell::default(),
            compiled: Compiled::of_width(),
        }
    }

    /// What the call stacks take in memory.
    pub fn stack_bytes(&self) -> u64 {
        if self.code.continuations.is_empty() {
            return 0;
        }
        self.codec.stacks.iter().map(|stacks| stacks.bytes()).sum()
    }

    /// Whether a term holds in a state.
    pub fn test<const W: usize>(&self, term: TermId, state: &Packed<W>, scratch: &Scratch<W>) -> Result<bool, Faulty> {
        self.code.terms.test_part(term, TermInput { state, registers: &scratch.registers })
    }

    /// Shows the sink all that leaves the state; whether there is anything.
    #[inline]
    pub fn expand<const W: usize>(
        &self,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        (scratch.compiled.all)(self, state, scratch, sink)
    }

    /// Shows the sink the steps of one process; whether there are any.
    #[inline]
    pub fn expand_process<const W: usize>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        (scratch.compiled.process)(self, process, state, scratch, sink)
    }

    /// Passes the steps of one process with the given partners to the sink; whether there are any. Alone it goes on by its own actions, and a chain
    /// is cut where it could send; a rendezvous does not go on; actions for where no process is enabled otherwise are among them. What the process and its partners do
    /// not mention may be anything in the state. Fault counts are exact for [`SyncWith::Anybody`], upper bounds otherwise.
    #[inline]
    pub fn expand_with<const W: usize>(
        &self,
        moving: (ProcessId, SyncWith),
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        (scratch.compiled.with)(self, moving, state, scratch, sink)
    }

    /// The same, for some actions only, as if none went on.
    #[inline]
    pub fn expand_some<const W: usize>(
        &self,
        moving: (ProcessId, SyncWith),
        state: &Packed<W>,
        (scratch, wanted): (&Scratch<W>, &dyn Fn(ActionId) -> bool),
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        (scratch.compiled.some)(self, moving, state, (scratch, wanted), sink)
    }

    fn run_all<const W: usize>(
        &self,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        if self.code.has_marks {
            return self.expand_marked(state, scratch, sink);
        }
        let mut can_move = false;
        for (process, (control, points)) in self.codec.layout.control.iter().zip(&self.code.points).enumerate() {
            let point = &points[control.raw(state) as usize];
            can_move |= self.run_point((ProcessId::new(process), point, Marked::Either), state, scratch, sink)?;
        }
        ControlFlow::Continue(can_move)
    }

    fn run_process<const W: usize>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let point = self.steps_at(process, state);
        match point.marks {
            true => self.expand_marked_process(process, state, scratch, sink),
            false => self.run_point((process, point, Marked::Either), state, scratch, sink),
        }
    }

    /// Takes the steps of one process at a control point, by some mark.
    #[inline(always)]
    fn run_point<const W: usize>(
        &self,
        (process, point, marked): (ProcessId, &PointSteps, Marked),
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let moves = self.moves_at(point, marked);
        // Most processes wait in most states.
        match moves.iter().position(|next| next.test.holds(state)) {
            None => ControlFlow::Continue(false),
            Some(_) if point.chains => self.chains((process, marked, SyncWith::Anybody), state, scratch, sink),
            Some(first) => self.run_moves((process, point, marked), &moves[first..], state, (scratch, sink)),
        }
    }

    /// Takes moves of one process, of which the first one's test holds.
    #[inline(never)]
    fn run_moves<const W: usize>(
        &self,
        (process, point, marked): (ProcessId, &PointSteps, Marked),
        moves: &[Move],
        state: &Packed<W>,
        (scratch, sink): (&Scratch<W>, &mut dyn Sink<W>),
    ) -> ControlFlow<(), bool> {
        let mut paths = Paths {
            sink,
            scratch,
            process,
            company: SyncWith::Anybody,
            marked,
            n_faults: 0,
            n_successors: 0,
            known: point.may_repeat.then(|| scratch.known.take()),
            statement: self.code.steps[moves[0].step as usize].statement,
            partner: None,
        };
        self.try_moves(moves, state, &mut paths)?;
        self.told(paths, state)
    }

    /// Takes those of the moves that are enabled; most of the time of a search is spent here.
    #[inline(always)]
    fn try_moves<const W: usize>(&self, moves: &[Move], state: &Packed<W>, paths: &mut Paths<'_, W>) -> Flow {
        for next in moves.iter().filter(|next| next.test.holds(state)) {
            let step = &self.code.steps[next.step as usize];
            match &next.meeting {
                None => {
                    let is_enabled = self.holds_besides(step, state, paths.scratch);
                    self.take_if(is_enabled, step, state, paths)?;
                }
                Some(meeting) => self.meet_there(step, meeting, state, paths)?,
            }
        }
        Flow::Continue(())
    }

    fn run_with<const W: usize>(
        &self,
        moving: (ProcessId, SyncWith),
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let (process, company) = moving;
        match company == SyncWith::Nobody && self.point(process, state).chains {
            true => self.chains((process, Marked::Either, company), state, scratch, sink),
            false => self.run_steps(moving, state, (scratch, |_| true), sink),
        }
    }

    /// Takes the steps of one process by some actions, as if none went on.
    fn run_steps<const W: usize>(
        &self,
        (process, company): (ProcessId, SyncWith),
        state: &Packed<W>,
        (scratch, wanted): (&Scratch<W>, impl Fn(ActionId) -> bool),
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let point = self.point(process, state);
        let Some(first) = self.code.steps[point.first as usize..point.end as usize].first() else {
            return ControlFlow::Continue(false);
        };
        let mut paths = Paths {
            sink,
            scratch,
            process,
            company,
            marked: Marked::Either,
            n_faults: 0,
            n_successors: 0,
            known: point.may_repeat.then(|| scratch.known.take()),
            statement: first.statement,
            partner: None,
        };
        for step in self.code.steps[point.first as usize..point.end as usize].iter().filter(|step| wanted(step.action))
        {
            self.take(step, state, &mut paths)?;
        }
        self.told(paths, state)
    }

    /// Whether the paths of a process led anywhere; faults are counted.
    fn told<const W: usize>(&self, paths: Paths<'_, W>, state: &Packed<W>) -> ControlFlow<(), bool> {
        let Paths { sink, scratch, process, company, n_faults, n_successors, known, .. } = paths;
        if let Some(mut known) = known
            && known.capacity() <= MAX_KEPT
        {
            known.clear();
            scratch.known.set(known);
        }
        let can_move = n_faults + n_successors > 0;
        if n_faults > 0 {
            let counted_exactly = company == SyncWith::Anybody;
            let n_faults = if counted_exactly { self.distinct_faults(n_faults, process, state) } else { n_faults };
            sink.faults(process, n_faults)?;
        }
        ControlFlow::Continue(can_move)
    }

    /// Whether a process is at `idle`.
    pub fn is_idle<const W: usize>(&self, process: ProcessId, state: &Packed<W>) -> bool {
        let point = self.point(process, state);
        let steps = &self.code.steps[point.first as usize..point.end as usize];
        steps.iter().any(|step| matches!(self.codec.model.actions[step.action].kind, ActionKind::Idle))
    }

    /// Whether a state in which no process is enabled is a deadlock: some process waits.
    pub fn somebody_waits<const W: usize>(&self, state: &Packed<W>) -> bool {
        (0..self.code.points.len()).any(|process| self.point(ProcessId::new(process), state).waits)
    }

    /// The control point of a process.
    #[inline]
    pub fn point<const W: usize>(&self, process: ProcessId, state: &Packed<W>) -> PointSteps {
        *self.steps_at(process, state)
    }

    /// The same, where it is.
    #[inline]
    fn steps_at<const W: usize>(&self, process: ProcessId, state: &Packed<W>) -> &PointSteps {
        let number = self.codec.layout.control[process.index()].raw(state);
        &self.code.points[process.index()][number as usize]
    }

    /// The positions of the steps of a process whose guards are true, or a fault.
    pub fn steps_that_may_be_enabled<const W: usize>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> impl Iterator<Item = usize> {
        let point = self.point(process, state);
        let may_be_enabled = |&step: &usize| self.is_enabled(&self.code.steps[step], state, scratch) != Ok(false);
        (point.first as usize..point.end as usize).filter(may_be_enabled)
    }

    /// How many of the faults differ. Faults are rare, and only `eval` knows what they are.
    fn distinct_faults<const W: usize>(&self, n_faults: u64, process: ProcessId, state: &Packed<W>) -> u64 {
        if n_faults == 1 {
            return 1;
        }
        let steps = eval::likely_steps_of(self.codec.model, &self.codec.unpack(state), process, None);
        // Where `any` chooses from many values, the likely ones may miss them all; there is one.
        (steps.iter().filter(|step| step.result.is_err()).count() as u64).max(1)
    }

    #[inline]
    fn take<const W: usize>(&self, step: &CompiledStep, state: &Packed<W>, paths: &mut Paths<'_, W>) -> Flow {
        if step.sync.is_none() && matches!(paths.company, SyncWith::Receiver(_)) {
            return Flow::Continue(());
        }
        self.take_if(self.is_enabled(step, state, paths.scratch), step, state, paths)
    }

    /// Takes a step if it is enabled, where that is known.
    #[inline]
    fn take_if<const W: usize>(
        &self,
        is_enabled: Result<bool, Faulty>,
        step: &CompiledStep,
        state: &Packed<W>,
        paths: &mut Paths<'_, W>,
    ) -> Flow {
        match is_enabled {
            Ok(false) => return Flow::Continue(()),
            Ok(true) => {}
            Err(Faulty) => {
                // A fault in a guard is the process's own, whatever its partner.
                let is_own = !matches!(paths.company, SyncWith::Receiver(_)) && paths.marked.admits(step.when_nobody);
                paths.n_faults += u64::from(is_own);
                return Flow::Continue(());
            }
        }
        if step.sync.is_none() && !paths.marked.admits(step.when_nobody) {
            return Flow::Continue(());
        }
        paths.statement = step.statement;
        paths.sink.begins(step.action, None);
        if let Some(sync) = &step.sync {
            return match &**sync {
                SyncStep::Send(..) => self.meet(step, state, paths),
                // A receiver steps when a sender does; only a fault in its guard is its own.
                SyncStep::Receive(..) => Flow::Continue(()),
            };
        }
        match &step.effect {
            CompiledEffect::Writes(first, more) => {
                let mut next = *state;
                first.apply(&mut next);
                for write in more {
                    write.apply(&mut next);
                }
                paths.successor(&next)
            }
            CompiledEffect::Code(address) => self.run(*address, None, *state, paths),
        }
    }

    #[inline]
    fn is_enabled<const W: usize>(
        &self,
        step: &CompiledStep,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Result<bool, Faulty> {
        if !step.test.holds(state) {
            return Ok(false);
        }
        self.holds_besides(step, state, scratch)
    }

    /// Whether a step is enabled where its first test holds.
    #[inline]
    fn holds_besides<const W: usize>(
        &self,
        step: &CompiledStep,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Result<bool, Faulty> {
        if !step.more_tests.iter().all(|test| test.holds(state)) {
            return Ok(false);
        }
        step.condition.map_or(Ok(true), |condition| self.test(condition, state, scratch))
    }
}
