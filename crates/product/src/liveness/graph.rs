//! The graph of all reachable states: every turn of every run, stored once.
//!
//! In: a compiled program and the tests that matter. Out: states by number in breadth-first order; for each its steps, as edges to
//! numbers with a class (who moves, by which action), the processes that may stand still there, and the truth of each test.
//! Classes are few; what fairness asks about a turn is a property of its class.

use base::{Feature, StopReason, Unsupported};
use evidence::Exploration;
use hashbrown::HashTable;
use model::control::ActionId;
use model::eval::{self, Link, Move, Turn};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::predicates::{Predicates, StateTest};
use engine::meter::Meter;
use packed::hash::hash;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;

/// Limits are looked at after so many states.
const CHECK_EVERY: usize = 256;

/// An edge: a step.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The number of the state after it.
    pub target: u32,
    /// Its class.
    pub class: u32,
}

/// The graph.
pub struct StateGraph<const W: usize> {
    /// The states.
    pub states: Vec<Packed<W>>,
    /// So many of them, the first, are initial.
    pub n_initial: usize,
    /// Where the edges of each state begin; one more than states.
    starts: Vec<usize>,
    edges: Vec<Edge>,
    /// The turn of each class.
    pub classes: Vec<Turn>,
    /// For each state the processes that may stand still, as bits.
    still: BitRows,
    /// For each state the tests that hold, as bits.
    truths: BitRows,
    /// For each test why it has no value in some state.
    faulty: Vec<Option<String>>,
    exploration: Exploration,
}

/// Rows of bits, all of one length.
struct BitRows {
    n_words: usize,
    words: Vec<u64>,
}

impl BitRows {
    fn new(n_bits: usize) -> Self {
        BitRows { n_words: n_bits.div_ceil(64), words: Vec::new() }
    }

    fn push(&mut self) -> &mut [u64] {
        let start = self.words.len();
        self.words.resize(start + self.n_words, 0);
        &mut self.words[start..]
    }

    fn row(&self, at: usize) -> &[u64] {
        &self.words[at * self.n_words..(at + 1) * self.n_words]
    }
}

fn set(row: &mut [u64], bit: usize) {
    row[bit / 64] |= 1 << (bit % 64);
}

fn has(row: &[u64], bit: usize) -> bool {
    row[bit / 64] >> (bit % 64) & 1 == 1
}

impl<const W: usize> StateGraph<W> {
    /// Explores the program.
    pub fn build(machine: &Machine<'_>, predicates: &Predicates, meter: &Meter<'_>) -> Result<Self, StopReason> {
        let mut builder = Builder {
            machine,
            predicates,
            graph: StateGraph {
                states: Vec::new(),
                n_initial: 0,
                starts: vec![0],
                edges: Vec::new(),
                classes: Vec::new(),
                still: BitRows::new(machine.codec.model.processes.len()),
                truths: BitRows::new(predicates.states.len()),
                faulty: vec![None; predicates.states.len()],
                exploration: Exploration {
                    states: 0,
                    transitions: 0,
                    deadlocks: 0,
                    errors: 0,
                    depth: 0,
                    complete: true,
                },
            },
            known: HashTable::new(),
            class_ids: FxHashMap::default(),
            shown: Vec::new(),
            counted_bytes: 0,
        };
        builder.explore(meter)?;
        Ok(builder.graph)
    }

    /// What was explored.
    pub fn exploration(&self) -> Exploration {
        self.exploration.clone()
    }

    /// The steps out of a state.
    pub fn edges(&self, state: usize) -> &[Edge] {
        &self.edges[self.starts[state]..self.starts[state + 1]]
    }

    /// Whether a test holds in a state.
    pub fn holds(&self, state: usize, test: usize) -> bool {
        has(self.truths.row(state), test)
    }

    /// The processes that may stand still in a state, as bits.
    pub fn still(&self, state: usize) -> &[u64] {
        self.still.row(state)
    }

    /// Why a test has no value in some state.
    pub fn fault_of(&self, test: usize) -> Option<&str> {
        self.faulty[test].as_deref()
    }
}

struct Builder<'b, const W: usize> {
    machine: &'b Machine<'b>,
    predicates: &'b Predicates,
    graph: StateGraph<W>,
    known: HashTable<u32>,
    class_ids: FxHashMap<Move, u32>,
    /// For each class the tests that its steps show to hold.
    shown: Vec<Vec<usize>>,
    /// What the meter knows of.
    counted_bytes: u64,
}

/// What leaves one state.
#[derive(Default)]
struct Found<const W: usize> {
    successors: Vec<(Move, Packed<W>)>,
    n_faults: u64,
    /// The step whose paths are told.
    action: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    /// What it goes on with.
    then: Vec<Link>,
    out_of_stacks: bool,
}

impl<const W: usize> Sink<W> for Found<W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.action = Some((action, partner));
    }

    fn goes_on(&mut self, then: &[Link]) {
        self.then = then.to_vec();
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let (action, partner) = self.action.expect("a step begins before it leads anywhere");
        self.successors.push((Move { process, action, partner, then: std::mem::take(&mut self.then) }, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.n_faults += n_faults;
        Flow::Continue(())
    }

    fn out_of_stacks(&mut self) {
        self.out_of_stacks = true;
    }
}

impl<const W: usize> Builder<'_, W> {
    fn explore(&mut self, meter: &Meter<'_>) -> Result<(), StopReason> {
        for (nth, state) in InitialStates::<W>::new(self.machine.codec).enumerate() {
            self.number(&state)?;
            if nth % CHECK_EVERY == 0 {
                self.check(meter)?;
            }
        }
        self.graph.n_initial = self.graph.states.len();
        let scratch = self.machine.scratch();
        let mut found = Found::default();
        let (mut at, mut level_end) = (0, self.graph.n_initial);
        while at < self.graph.states.len() {
            if at == level_end {
                level_end = self.graph.states.len();
                self.graph.exploration.depth += 1;
                meter.enter_level(self.graph.exploration.depth);
            }
            self.expand(at, &scratch, &mut found)?;
            at += 1;
            if at % CHECK_EVERY == 0 {
                meter.expanded(CHECK_EVERY as u64);
                self.check(meter)?;
            }
        }
        self.check(meter)?;
        self.graph.exploration.states = self.graph.states.len() as u64;
        Ok(())
    }

    fn check(&mut self, meter: &Meter<'_>) -> Result<(), StopReason> {
        let graph = &self.graph;
        let bytes = (graph.states.capacity() * size_of::<Packed<W>>()
            + graph.starts.capacity() * size_of::<usize>()
            + graph.edges.capacity() * size_of::<Edge>()
            + (graph.still.words.capacity() + graph.truths.words.capacity()) * size_of::<u64>()
            + self.known.capacity() * 5) as u64
            + self.machine.stack_bytes();
        meter.add(bytes - self.counted_bytes.min(bytes));
        self.counted_bytes = bytes;
        meter.stored(graph.states.len() as u64 - meter.n_states().min(graph.states.len() as u64));
        if meter.may_go_on(0) { Ok(()) } else { Err(meter.reason().unwrap_or(StopReason::Cancelled)) }
    }

    /// The number of a state, which may be new.
    fn number(&mut self, state: &Packed<W>) -> Result<u32, StopReason> {
        let states = &self.graph.states;
        let code = hash(state);
        if let Some(&known) = self.known.find(code, |&number| states[number as usize] == *state) {
            return Ok(known);
        }
        let number = u32::try_from(states.len()).map_err(|_| too_many_states())?;
        self.known.insert_unique(code, number, |&number| hash(&states[number as usize]));
        self.graph.states.push(*state);
        Ok(number)
    }

    /// Stores what leaves a state, and what is true in it.
    fn expand(&mut self, at: usize, scratch: &Scratch<W>, found: &mut Found<W>) -> Result<(), StopReason> {
        let state = self.graph.states[at];
        found.successors.clear();
        found.n_faults = 0;
        let moved = self.machine.expand(&state, scratch, found);
        if found.out_of_stacks {
            return Err(Unsupported::about(Feature::Numbers, "call stacks").into());
        }
        if moved == std::ops::ControlFlow::Continue(false) && self.machine.somebody_waits(&state) {
            self.graph.exploration.deadlocks += 1;
        }
        self.graph.exploration.errors += found.n_faults;
        self.graph.exploration.transitions += found.successors.len() as u64;
        let first_edge = self.graph.edges.len();
        for (by, next) in &found.successors {
            let target = self.number(next)?;
            let class = self.class(by);
            self.graph.edges.push(Edge { target, class });
        }
        self.graph.starts.push(self.graph.edges.len());
        match found.n_faults {
            0 => self.look_at_edges(first_edge, &state),
            // A fault is an enabled step without an edge: only `eval` knows whose, and who can move besides.
            _ => self.look_with_eval(&state),
        }
        self.evaluate(at, &state, scratch);
        Ok(())
    }

    fn class(&mut self, by: &Move) -> u32 {
        if let Some(&class) = self.class_ids.get(by) {
            return class;
        }
        let class = self.graph.classes.len() as u32;
        let (model, turn) = (self.machine.codec.model, Turn::Step(by.clone()));
        let tests = self.predicates.states.iter().enumerate();
        self.shown.push(tests.filter(|(_, test)| test.is_shown_by(model, &turn)).map(|(at, _)| at).collect());
        self.graph.classes.push(turn);
        self.class_ids.insert(by.clone(), class);
        class
    }

    /// Who may stand still and who is able, from the edges of the state that was just expanded.
    fn look_at_edges(&mut self, first_edge: usize, state: &Packed<W>) {
        let still = self.graph.still.push();
        let truths = self.graph.truths.push();
        let n_processes = self.machine.codec.model.processes.len();
        let mut moves = vec![false; n_processes];
        for edge in &self.graph.edges[first_edge..] {
            self.shown[edge.class as usize].iter().for_each(|&test| set(truths, test));
            self.graph.classes[edge.class as usize].first_processes().for_each(|process| moves[process.index()] = true);
        }
        for process in (0..n_processes).map(ProcessId::new) {
            if !moves[process.index()] || self.machine.is_idle(process, state) {
                set(still, process.index());
            }
        }
    }

    fn look_with_eval(&mut self, state: &Packed<W>) {
        let model = self.machine.codec.model;
        let state = self.machine.codec.unpack(state);
        let still = self.graph.still.push();
        for (turn, _) in eval::likely_turns(model, &state, None) {
            if let Turn::StandStill(process) = turn {
                set(still, process.index());
            }
        }
        let truths = self.graph.truths.push();
        for (at, test) in self.predicates.states.iter().enumerate() {
            let holds = match test {
                StateTest::Term(_) => false,
                StateTest::Able(process, None) => eval::able(model, &state, *process),
                StateTest::Able(process, Some(labels)) => eval::able_by(model, &state, *process, labels),
                StateTest::SomebodyAble => model.processes.ids().any(|process| eval::able(model, &state, process)),
            };
            if holds {
                set(truths, at);
            }
        }
    }

    /// The tests that are expressions.
    fn evaluate(&mut self, at: usize, state: &Packed<W>, scratch: &Scratch<W>) {
        let n_words = self.graph.truths.n_words;
        let truths = &mut self.graph.truths.words[at * n_words..];
        for (nth, test) in self.predicates.states.iter().enumerate() {
            let StateTest::Term(term) = test else { continue };
            match self.machine.test(*term, state, scratch) {
                Ok(true) => set(truths, nth),
                Ok(false) => {}
                Err(_) => drop(self.graph.faulty[nth].get_or_insert_with(|| "an error".to_owned())),
            }
        }
    }
}

fn too_many_states() -> StopReason {
    Unsupported::about(Feature::Numbers, "states").into()
}
