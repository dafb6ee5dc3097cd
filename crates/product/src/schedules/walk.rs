//! A run of a scheduler, one step after the other.
//!
//! In: a compiled program and a scheduler. Out: the run so far, and whether its last state, or a step that leaves it, shows what is looked for.

use model::process::ProcessId;

use evidence::Trace;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::StateGoal;

use super::scheduler::Scheduler;
use crate::run::{self, StateRun};

/// Of a process that has more steps in a state, so many are chosen from.
const MOST_CHOICES: usize = 256;

/// A run under way.
pub struct ScheduledWalk<'w, const W: usize> {
    machine: &'w Machine<'w>,
    scratch: Scratch<W>,
    scheduler: Scheduler,
    run: StateRun<W>,
    /// What the process whose turn it is can do in the last state.
    leaving: StepsOfProcess<W>,
    /// Whether nobody can move.
    is_stuck: bool,
}

impl<'w, const W: usize> ScheduledWalk<'w, W> {
    /// A run that begins, in the first initial state.
    pub fn new(machine: &'w Machine<'w>, scheduler: Scheduler) -> Self {
        let first: Option<Packed<W>> = InitialStates::new(machine.codec).next();
        let states: Vec<Packed<W>> = first.into_iter().collect();
        let run = StateRun { states, movers: Vec::new(), last: None };
        let leaving = StepsOfProcess { next: Vec::new(), n_faults: 0 };
        let mut walk = ScheduledWalk { machine, scratch: machine.scratch(), scheduler, run, leaving, is_stuck: false };
        walk.look();
        walk
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> u64 {
        (self.run.states.capacity() * size_of::<Packed<W>>()) as u64
    }

    /// Whether the run shows what is looked for.
    pub fn shows(&mut self, goal: &StateGoal) -> Option<Trace> {
        let ScheduledWalk { machine, scratch, run, .. } = self;
        let state = run.states.last()?;
        let shows = match goal {
            StateGoal::State(term, wanted) => machine.test(*term, state, scratch) == Ok(*wanted),
            StateGoal::Race(var, watch) => watch.is_race(*var, state, machine, scratch),
            StateGoal::Deadlock => self.is_stuck && run::is_deadlock(machine, state, scratch),
            StateGoal::Fault => self.leaving.n_faults > 0,
        };
        run.last = matches!(goal, StateGoal::Fault).then(|| self.scheduler.process());
        shows.then(|| run.shown(machine, goal))
    }

    /// Takes the next step; whether there is one.
    pub fn step(&mut self) -> bool {
        if self.is_stuck || self.leaving.next.is_empty() {
            return false;
        }
        let process = self.scheduler.process();
        let state = self.run.states[self.run.states.len() - 1];
        let next = self.leaving.next[self.scheduler.choose(self.leaving.next.len())];
        let location = |state: &Packed<W>| self.machine.codec.layout.control[process.index()].raw(state);
        let (from, to) = (location(&state), location(&next));
        self.run.states.push(next);
        self.run.movers.push(process);
        self.scheduler.moved(from, to);
        self.look();
        true
    }

    /// Finds the next process that has a step, or a fault.
    fn look(&mut self) {
        let Some(state) = self.run.states.last() else { return };
        for _ in 0..self.machine.codec.model.processes.len() {
            self.leaving.next.clear();
            self.leaving.n_faults = 0;
            let process = self.scheduler.process();
            // That there are too many to choose from does not matter.
            let _flow = self.machine.expand_process(process, state, &self.scratch, &mut self.leaving);
            if !self.leaving.next.is_empty() || self.leaving.n_faults > 0 {
                return;
            }
            self.scheduler.skip();
        }
        self.is_stuck = true;
    }
}

/// Gathers the steps of a process.
struct StepsOfProcess<const W: usize> {
    next: Vec<Packed<W>>,
    n_faults: u64,
}

impl<const W: usize> Sink<W> for StepsOfProcess<W> {
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.next.push(*next);
        if self.next.len() < MOST_CHOICES { Flow::Continue(()) } else { Flow::Break(()) }
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.n_faults += n_faults;
        Flow::Continue(())
    }
}
