//! The graph of all reachable states: every turn of every run, stored once.
//!
//! In: a compiled program and the tests that matter. Out: states by number in breadth-first order; for each its steps, as edges to
//! numbers with a class, the processes that may stand still there, and the truth of each test (`turns.rs` finds them).

use base::{Feature, StopReason, Unsupported};
use evidence::Exploration;
use hashbrown::HashTable;
use model::eval::Turn;

use super::predicates::Predicates;
use super::turns::{Leaving, Turns, has};
use engine::meter::Meter;
use packed::hash::hash;
use packed::initial::InitialStates;
use packed::machine::{Machine, Scratch};
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
    /// For each test whether it has no value in some state.
    faulty: Vec<bool>,
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

    fn row(&self, at: usize) -> &[u64] {
        &self.words[at * self.n_words..(at + 1) * self.n_words]
    }
}

impl<const W: usize> StateGraph<W> {
    /// Explores the program.
    pub fn build(machine: &Machine<'_>, predicates: &Predicates, meter: &Meter<'_>) -> Result<Self, StopReason> {
        let mut builder = Builder {
            machine,
            turns: Turns::new(machine, predicates),
            graph: StateGraph {
                states: Vec::new(),
                n_initial: 0,
                starts: vec![0],
                edges: Vec::new(),
                classes: Vec::new(),
                still: BitRows::new(machine.codec.model.processes.len()),
                truths: BitRows::new(predicates.states.len()),
                faulty: vec![false; predicates.states.len()],
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
            counted_bytes: 0,
        };
        builder.explore(meter)?;
        builder.graph.classes = builder.turns.classes;
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

    /// Whether a test has no value in some state.
    pub fn is_faulty(&self, test: usize) -> bool {
        self.faulty[test]
    }
}

struct Builder<'b, const W: usize> {
    machine: &'b Machine<'b>,
    turns: Turns<'b>,
    graph: StateGraph<W>,
    known: HashTable<u32>,
    /// What the meter knows of.
    counted_bytes: u64,
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
        let mut leaving = Leaving::default();
        let (mut at, mut level_end) = (0, self.graph.n_initial);
        while at < self.graph.states.len() {
            if at == level_end {
                level_end = self.graph.states.len();
                self.graph.exploration.depth += 1;
                meter.enter_level(self.graph.exploration.depth);
            }
            self.expand(at, &scratch, &mut leaving)?;
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
    fn expand(&mut self, at: usize, scratch: &Scratch<W>, leaving: &mut Leaving<W>) -> Result<(), StopReason> {
        let state = self.graph.states[at];
        self.turns.take(&state, scratch, leaving)?;
        self.graph.exploration.deadlocks += u64::from(leaving.is_deadlock);
        self.graph.exploration.errors += leaving.n_faults;
        self.graph.exploration.transitions += leaving.steps.len() as u64;
        for (class, next) in &leaving.steps {
            let target = self.number(next)?;
            self.graph.edges.push(Edge { target, class: *class });
        }
        self.graph.starts.push(self.graph.edges.len());
        self.graph.still.words.extend_from_slice(&leaving.still);
        self.graph.truths.words.extend_from_slice(&leaving.truths);
        leaving.faulty.iter().for_each(|&test| self.graph.faulty[test] = true);
        Ok(())
    }
}

fn too_many_states() -> StopReason {
    Unsupported::about(Feature::Numbers, "states").into()
}
