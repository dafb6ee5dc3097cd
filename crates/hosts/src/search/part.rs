//! One worker's part of the states, and what it does with them.
//!
//! In: a compiled program with its questions, and states that belong to this worker. Out: the successors of a level, those of this worker stored, the others
//! sent to their owners in batches; counts; and which questions were hit. Owners follow from the hash of a state. The part knows levels
//! ([`packed::shard`]), and no parents.

use std::ops::ControlFlow;

use base::{Budget, StopReason};
use engine::Silent;
use engine::meter::Meter;
use model::process::ProcessId;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::{Hits, StateGoal, StateQuestion};
use packed::shard::{Shard, shard_of};
use packed::spill::Overflow;
use packed::store::BATCH;
use packed::term::TermId;
use product::liveness::predicates::StateTest;
use serde::{Deserialize, Serialize};

use super::net::Net;
use super::recent::RecentStates;

/// So many states are sent to another worker at once. With few workers it is the larger number, since each packet wakes threads at both ends (the filter lock with
/// six processes, searched by four: 2.7 s of system time with 512, 1.0 s with 2048); with many the smaller one, since a worker gathers as many for each other one.
const SENT_BATCH: usize = 512;
const LARGE_BATCH: usize = 2048;
const FEW_WORKERS: usize = 16;

/// After so many states a worker receives what has arrived.
const STRETCH: usize = 4096;

/// Limits are looked at after so many states.
const CHECK_EVERY: usize = 64;

/// The first word of a packet that holds states, and of one that says that somebody has stopped.
const STATES: u64 = 0;
const STOPPED: u64 = 1;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Transitions.
    pub transitions: u64,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Steps that are a fault.
    pub errors: u64,
}

impl Counts {
    /// Adds those of another worker.
    pub fn add(&mut self, other: Counts) {
        self.transitions += other.transitions;
        self.deadlocks += other.deadlocks;
        self.errors += other.errors;
    }
}

/// A worker's states, and what it needs to find more.
pub struct Part<'a, const W: usize> {
    /// The program.
    pub machine: &'a Machine<'a>,
    /// All questions, decided or not.
    pub questions: &'a [StateQuestion],
    /// The limits of this worker.
    pub meter: Meter<'a>,
    shard: Shard<W>,
    /// Successors that were stored or sent a moment ago, and need not be again.
    recent: RecentStates<W>,
    /// What was hit since it was last asked.
    pub hits: Hits<W>,
    /// What was counted since the search began, or was resumed.
    pub counts: Counts,
    /// Questions that a state decides and that are open.
    open: Vec<(usize, TermId, bool)>,
    /// Tests of temporal properties that are expressions, by number.
    watched: Vec<(usize, TermId)>,
    /// By test of temporal properties: whether it has no value in some state.
    pub faulty_tests: Vec<bool>,
    scratch: Scratch<W>,
    me: usize,
    n_workers: usize,
    /// So many states are sent to another worker at once.
    sent_batch: usize,
}

impl<'a, const W: usize> Part<'a, W> {
    /// A part without states.
    pub fn new(machine: &'a Machine<'a>, questions: &'a [StateQuestion], budget: &'a Budget, net: &Net<'_>) -> Self {
        let meter = Meter::new(budget, &Silent);
        let shard = Shard::new(machine.codec.layout.n_words, &meter);
        let mut part = Part {
            machine,
            questions,
            meter,
            shard,
            recent: RecentStates::default(),
            hits: Hits::new(questions.len()),
            counts: Counts::default(),
            open: Vec::new(),
            watched: Vec::new(),
            faulty_tests: Vec::new(),
            scratch: machine.scratch(),
            me: net.me(),
            n_workers: net.n_workers(),
            sent_batch: if net.n_workers() <= FEW_WORKERS { LARGE_BATCH } else { SENT_BATCH },
        };
        part.ask(&vec![true; questions.len()]);
        part
    }

    /// From now on only these questions are open.
    pub fn ask(&mut self, is_open: &[bool]) {
        let open = self.questions.iter().enumerate().filter(|(at, _)| is_open[*at]);
        self.open = open
            .filter_map(|(at, question)| match question.goal {
                StateGoal::State(term, wanted) => Some((at, term, wanted)),
                StateGoal::Fault | StateGoal::Deadlock | StateGoal::Race(..) => None,
            })
            .collect();
    }

    /// Looks for states in which these tests of temporal properties have no value.
    pub fn watch(&mut self, tests: &[StateTest]) {
        let term = |(at, test): (usize, &StateTest)| match test {
            StateTest::Term(term) => Some((at, *term)),
            StateTest::Able(..) | StateTest::SomebodyAble => None,
        };
        self.watched = tests.iter().enumerate().filter_map(term).collect();
        self.faulty_tests = vec![false; tests.len()];
    }

    /// From now on states go to disk where memory is short.
    pub fn overflow_to(&mut self, overflow: Overflow) {
        self.shard.overflow_to(overflow);
    }

    /// How many states there are.
    pub fn n_states(&self) -> u64 {
        self.shard.n_states()
    }

    /// The states of a level.
    pub fn states(&self, depth: usize) -> impl Iterator<Item = Result<Packed<W>, StopReason>> {
        self.shard.states(depth)
    }

    /// How many states a level has here.
    pub fn level_len(&self, depth: usize) -> u64 {
        self.shard.level_len(depth)
    }

    /// Begins to fill the next level.
    pub fn begin_level(&mut self) {
        self.shard.begin_level(&self.meter);
    }

    /// Stores the initial states that belong here.
    pub fn start(&mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        for (nth, state) in InitialStates::<W>::new(self.machine.codec).enumerate() {
            if shard_of(&state, self.n_workers) == self.me {
                batch.push(state);
            }
            if batch.len() == BATCH {
                self.insert(&batch);
                batch.clear();
            }
            if nth % 4096 == 0 && !self.meter.may_go_on(0) {
                return;
            }
        }
        self.insert(&batch);
    }

    /// Stores what is new of some states and looks at it; where a limit is reached, the meter says so.
    pub fn insert(&mut self, states: &[Packed<W>]) {
        for batch in states.chunks(BATCH) {
            if self.meter.is_stopped() {
                return;
            }
            let new = match self.shard.insert(batch, &self.meter) {
                Ok(new) => new,
                Err(reason) => return self.meter.stop(reason),
            };
            if !self.open.is_empty() || !self.watched.is_empty() {
                let mut states = Vec::with_capacity(new.len());
                self.shard.read(new, &mut states);
                for state in &states {
                    self.hits.look(&self.open, state, self.machine, &self.scratch);
                    for &(test, term) in &self.watched {
                        self.faulty_tests[test] |= self.machine.test(term, state, &self.scratch).is_err();
                    }
                }
            }
        }
    }

    /// Stores the states of a packet.
    pub fn take(&mut self, words: &[u64]) {
        match words.split_first() {
            Some((&STATES, words)) => self.insert(words.as_chunks::<W>().0),
            // Another worker has reached a limit, and says which when the level ends.
            Some((&STOPPED, _)) if !self.meter.is_stopped() => self.meter.stop(StopReason::Cancelled),
            _ => {}
        }
    }

    /// Waits until a worker keeps up with what is sent to it, and takes what arrives meanwhile.
    pub fn wait_for(&mut self, to: usize, net: &mut Net<'_>) {
        while !net.keeps_up(to) {
            net.wait();
            self.receive(net);
        }
    }

    fn receive(&mut self, net: &mut Net<'_>) {
        while let Some(words) = net.receive() {
            self.take(&words);
        }
    }

    /// Takes all steps of a level, and ends the round.
    pub fn expand(&mut self, depth: usize, net: &mut Net<'_>) {
        self.meter.enter_level(depth as u64);
        let was_stopped = self.meter.is_stopped();
        let mut outbox: Vec<Vec<u64>> = (0..self.n_workers).map(|_| Vec::new()).collect();
        let mut own: Vec<Packed<W>> = Vec::with_capacity(BATCH);
        let scratch = self.machine.scratch();
        let mut n_taken = 0;
        'level: loop {
            // Copies, since what is stored may move to disk meanwhile.
            let stretch = match self.shard.stretch(depth, n_taken, STRETCH) {
                Ok(stretch) => stretch,
                Err(reason) => break self.meter.stop(reason),
            };
            n_taken += stretch.len() as u64;
            if stretch.is_empty() {
                break;
            }
            for (nth, state) in stretch.iter().enumerate() {
                if nth % CHECK_EVERY == 0 && !self.meter.may_go_on(0) {
                    break 'level;
                }
                let mut steps = Steps { part: self, net, outbox: &mut outbox, own: &mut own, n_errors: 0 };
                let machine = steps.part.machine;
                let moved = machine.expand(state, &scratch, &mut steps);
                let n_errors = steps.n_errors;
                match moved {
                    ControlFlow::Break(()) => break 'level,
                    ControlFlow::Continue(can_move) => self.look_at_steps(state, can_move, n_errors),
                }
            }
            net.work();
            self.receive(net);
        }
        self.insert(&own);
        for (to, words) in outbox.into_iter().enumerate() {
            if !words.is_empty() {
                net.send(to, words);
            }
        }
        if self.meter.is_stopped() && !was_stopped {
            (0..self.n_workers).for_each(|to| net.send(to, vec![STOPPED]));
        }
        net.close(|words| self.take(&words));
        self.begin_level();
    }

    /// What the steps of a state show.
    fn look_at_steps(&mut self, state: &Packed<W>, can_move: bool, n_errors: u64) {
        let is_deadlock = !can_move && self.machine.somebody_waits(state);
        self.counts.deadlocks += u64::from(is_deadlock);
        self.counts.errors += n_errors;
        for (at, question) in self.questions.iter().enumerate() {
            let is_hit = match &question.goal {
                StateGoal::State(..) => false,
                StateGoal::Fault => n_errors > 0,
                StateGoal::Deadlock => is_deadlock,
                StateGoal::Race(var, watch) => {
                    !self.hits.decided[at] && watch.is_race(*var, state, self.machine, &self.scratch)
                }
            };
            self.hits.decided[at] |= is_hit;
        }
    }

    /// The least state of a level that meets a goal.
    pub fn least_at_goal(&self, goal: &StateGoal, depth: usize) -> Option<Packed<W>> {
        self.least(depth, |state| match goal {
            StateGoal::State(term, wanted) => self.machine.test(*term, state, &self.scratch) == Ok(*wanted),
            StateGoal::Race(var, watch) => watch.is_race(*var, state, self.machine, &self.scratch),
            StateGoal::Deadlock => {
                let mut first = First { target: None, is_met: false };
                self.machine.somebody_waits(state)
                    && self.machine.expand(state, &self.scratch, &mut first) == ControlFlow::Continue(false)
            }
            StateGoal::Fault => {
                let mut faults = Faults { is_met: false };
                let _stopped = self.machine.expand(state, &self.scratch, &mut faults);
                faults.is_met
            }
        })
    }

    /// The least state of a level with a step to the target.
    pub fn least_before(&self, target: &Packed<W>, depth: usize) -> Option<Packed<W>> {
        self.least(depth, |state| {
            let mut first = First { target: Some(*target), is_met: false };
            let _stopped = self.machine.expand(state, &self.scratch, &mut first);
            first.is_met
        })
    }

    fn least(&self, depth: usize, is_wanted: impl Fn(&Packed<W>) -> bool) -> Option<Packed<W>> {
        let mut least: Option<Packed<W>> = None;
        for (nth, state) in self.states(depth).enumerate() {
            match state {
                Err(reason) => self.meter.stop(reason),
                Ok(_) if nth % CHECK_EVERY == 0 && !self.meter.may_go_on(0) => {}
                Ok(state) if least.is_none_or(|known| state < known) && is_wanted(&state) => least = Some(state),
                Ok(_) => {}
            }
            if self.meter.is_stopped() {
                break;
            }
        }
        // What was not looked at whole has no least state.
        least.filter(|_| !self.meter.is_stopped())
    }
}

/// States as words of a packet.
pub fn as_packet<const W: usize>(states: &[Packed<W>]) -> Vec<u64> {
    std::iter::once(STATES).chain(states.iter().flatten().copied()).collect()
}

/// Brings the steps of a state where they belong.
struct Steps<'s, 'p, 'a, 'n, 'w, const W: usize> {
    part: &'s mut Part<'a, W>,
    net: &'n mut Net<'w>,
    outbox: &'p mut [Vec<u64>],
    own: &'p mut Vec<Packed<W>>,
    n_errors: u64,
}

impl<const W: usize> Sink<W> for Steps<'_, '_, '_, '_, '_, W> {
    #[inline]
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.part.counts.transitions += 1;
        if self.part.recent.sees_again(next) {
            return Flow::Continue(());
        }
        let to = shard_of(next, self.part.n_workers);
        if to == self.part.me {
            self.own.push(*next);
            if self.own.len() == BATCH {
                self.part.insert(self.own);
                self.own.clear();
            }
            return if self.part.meter.is_stopped() { Flow::Break(()) } else { Flow::Continue(()) };
        }
        let words = &mut self.outbox[to];
        if words.is_empty() {
            words.reserve_exact(1 + self.part.sent_batch * W);
            words.push(STATES);
        }
        words.extend_from_slice(next);
        if words.len() > self.part.sent_batch * W {
            let words = std::mem::take(words);
            self.part.wait_for(to, self.net);
            self.net.send(to, words);
        }
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.n_errors += n_faults;
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        if self.part.meter.may_go_on(bytes) { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

/// Looks for a step to a state; to any, where none is named.
struct First<const W: usize> {
    target: Option<Packed<W>>,
    is_met: bool,
}

impl<const W: usize> Sink<W> for First<W> {
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        match &self.target {
            Some(target) if target != next => Flow::Continue(()),
            _ => {
                self.is_met = true;
                Flow::Break(())
            }
        }
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        if self.target.is_some() { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

/// Looks for a fault.
struct Faults {
    is_met: bool,
}

impl<const W: usize> Sink<W> for Faults {
    fn successor(&mut self, _process: ProcessId, _next: &Packed<W>) -> Flow {
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.is_met = true;
        Flow::Break(())
    }
}
