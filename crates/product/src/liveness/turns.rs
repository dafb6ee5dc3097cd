//! The turns that leave a state, found by taking its steps, and what is true in it.
//!
//! In: a compiled program with the tests that matter, and a state. Out: its steps, each with a class (who moves, by which action) and the state that it leads to; the processes
//! that may stand still; the truth of each test. Classes are few; what fairness asks about a turn is a property of its class. They are numbered as they are found, so that
//! the numbers of two searches differ.

use base::{Feature, StopReason, Unsupported};
use model::control::ActionId;
use model::eval::{self, Link, Move, Turn};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::predicates::{Predicates, StateTest};
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;

/// What leaves a state, and what is true in it.
#[derive(Clone, Debug, Default)]
pub struct LeavingTurns<const W: usize> {
    /// The steps: the class, and the state after it; always in the same order.
    pub steps: Vec<(u32, Packed<W>)>,
    /// The processes that may stand still, as bits.
    pub still: Vec<u64>,
    /// The tests that hold, as bits.
    pub truths: Vec<u64>,
    /// The tests that have no value.
    pub faulty: Vec<usize>,
    /// How many steps are faults.
    pub n_faults: u64,
    /// Whether nobody can move and somebody waits.
    pub is_deadlock: bool,
}

impl<const W: usize> LeavingTurns<W> {
    /// Whether a test holds.
    pub fn holds(&self, test: usize) -> bool {
        has(&self.truths, test)
    }
}

/// Takes steps, and knows the classes that were found.
pub struct TurnTaker<'t> {
    machine: &'t Machine<'t>,
    predicates: &'t Predicates,
    /// The turn of each class.
    pub classes: Vec<Turn>,
    class_ids: FxHashMap<Move, u32>,
    /// For each class the tests that its steps show to hold.
    shown: Vec<Vec<usize>>,
}

impl<'t> TurnTaker<'t> {
    /// No classes yet.
    pub fn new(machine: &'t Machine<'t>, predicates: &'t Predicates) -> Self {
        TurnTaker { machine, predicates, classes: Vec::new(), class_ids: FxHashMap::default(), shown: Vec::new() }
    }

    /// Takes the steps of a state.
    ///
    /// # Errors
    /// Call stacks that have no number any more.
    pub fn take<const W: usize>(
        &mut self,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        leaving: &mut LeavingTurns<W>,
    ) -> Result<(), StopReason> {
        leaving.steps.clear();
        leaving.faulty.clear();
        leaving.still.clear();
        leaving.still.resize(self.machine.codec.model.processes.len().div_ceil(64), 0);
        leaving.truths.clear();
        leaving.truths.resize(self.predicates.states.len().div_ceil(64), 0);
        let machine = self.machine;
        let mut found = TurnCollector {
            turns: self,
            steps: &mut leaving.steps,
            n_faults: 0,
            action: None,
            then: Vec::new(),
            is_out: false,
        };
        let moved = machine.expand(state, scratch, &mut found);
        if found.is_out {
            return Err(Unsupported::about(Feature::Numbers, "call stacks").into());
        }
        leaving.n_faults = found.n_faults;
        leaving.is_deadlock = moved == std::ops::ControlFlow::Continue(false) && self.machine.somebody_waits(state);
        match leaving.n_faults {
            0 => self.look_at_steps(state, leaving),
            // A fault is an enabled step without an edge: only `eval` knows whose, and who can move besides.
            _ => self.look_with_eval(state, leaving),
        }
        self.evaluate(state, scratch, leaving);
        Ok(())
    }

    fn class(&mut self, by: Move) -> u32 {
        if let Some(&class) = self.class_ids.get(&by) {
            return class;
        }
        let class = self.classes.len() as u32;
        let (model, turn) = (self.machine.codec.model, Turn::Step(by.clone()));
        let tests = self.predicates.states.iter().enumerate();
        self.shown.push(tests.filter(|(_, test)| test.is_shown_by(model, &turn)).map(|(at, _)| at).collect());
        self.classes.push(turn);
        self.class_ids.insert(by, class);
        class
    }

    /// Who may stand still and who is able, from the steps of the state.
    fn look_at_steps<const W: usize>(&self, state: &Packed<W>, leaving: &mut LeavingTurns<W>) {
        let n_processes = self.machine.codec.model.processes.len();
        let mut moves = vec![false; n_processes];
        for &(class, _) in &leaving.steps {
            self.shown[class as usize].iter().for_each(|&test| set(&mut leaving.truths, test));
            self.classes[class as usize].first_processes().for_each(|process| moves[process.index()] = true);
        }
        for process in (0..n_processes).map(ProcessId::new) {
            if !moves[process.index()] || self.machine.is_idle(process, state) {
                set(&mut leaving.still, process.index());
            }
        }
    }

    fn look_with_eval<const W: usize>(&self, state: &Packed<W>, leaving: &mut LeavingTurns<W>) {
        let model = self.machine.codec.model;
        let state = self.machine.codec.unpack(state);
        for (turn, _) in eval::likely_turns(model, &state, None) {
            if let Turn::StandStill(process) = turn {
                set(&mut leaving.still, process.index());
            }
        }
        for (at, test) in self.predicates.states.iter().enumerate() {
            let holds = match test {
                StateTest::Term(_) => false,
                StateTest::Able(process, None) => eval::able(model, &state, *process),
                StateTest::Able(process, Some(labels)) => eval::able_by(model, &state, *process, labels),
                StateTest::SomebodyAble => model.processes.ids().any(|process| eval::able(model, &state, process)),
            };
            if holds {
                set(&mut leaving.truths, at);
            }
        }
    }

    /// The tests that are expressions.
    fn evaluate<const W: usize>(&self, state: &Packed<W>, scratch: &Scratch<W>, leaving: &mut LeavingTurns<W>) {
        for (nth, test) in self.predicates.states.iter().enumerate() {
            let StateTest::Term(term) = test else { continue };
            match self.machine.test(*term, state, scratch) {
                Ok(true) => set(&mut leaving.truths, nth),
                Ok(false) => {}
                Err(_) => leaving.faulty.push(nth),
            }
        }
    }
}

/// Gathers the steps of one state.
struct TurnCollector<'f, 't, const W: usize> {
    turns: &'f mut TurnTaker<'t>,
    steps: &'f mut Vec<(u32, Packed<W>)>,
    n_faults: u64,
    /// The step whose paths are told.
    action: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    /// What it goes on with.
    then: Vec<Link>,
    /// Whether call stacks have no number any more.
    is_out: bool,
}

impl<const W: usize> Sink<W> for TurnCollector<'_, '_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.action = Some((action, partner));
    }

    fn goes_on(&mut self, then: &[Link]) {
        self.then = then.to_vec();
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let (action, partner) = self.action.expect("a step begins before it leads anywhere");
        let class = self.turns.class(Move { process, action, partner, then: std::mem::take(&mut self.then) });
        self.steps.push((class, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.n_faults += n_faults;
        Flow::Continue(())
    }

    fn out_of_stacks(&mut self) {
        self.is_out = true;
    }
}

/// Sets a bit.
pub fn set(row: &mut [u64], bit: usize) {
    row[bit / 64] |= 1 << (bit % 64);
}

/// Whether a bit is set.
pub fn has(row: &[u64], bit: usize) -> bool {
    row[bit / 64] >> (bit % 64) & 1 == 1
}
