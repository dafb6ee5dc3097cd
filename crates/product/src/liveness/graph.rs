//! The graph of all reachable states: every turn of every run, stored once.
//!
//! In: a compiled program and the tests that matter. Out: states by number in breadth-first order; for each its steps, as edges to
//! numbers with a class (`turns.rs`), the processes that may stand still there, and the truth of each test. Questions about states and steps are decided on the way, level by level,
//! as by a search that stores no edges: the product is explored once for both kinds of properties.

use base::{Feature, StopReason, Unsupported};
use evidence::Exploration;
use hashbrown::HashTable;
use model::eval::Turn;

use super::predicates::Predicates;
use super::turns::{LeavingTurns, TurnTaker, has};
use crate::expand::{OpenQuestions, StepsShow};
use crate::findings::{Findings, QuestionFinding, Reached};
use crate::path::LevelStates;
use crate::waning::WaningLevels;
use engine::meter::Meter;
use packed::hash::hash;
use packed::initial::InitialStates;
use packed::machine::{Machine, Scratch};
use packed::packing::Packed;
use packed::questions::{Hits, StateQuestion};

/// Limits are looked at after so many states.
const CHECK_EVERY: usize = 256;

/// An edge: a step.
#[derive(Clone, Copy, Debug)]
pub struct StateEdge {
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
    edges: Vec<StateEdge>,
    /// The turn of each class.
    pub classes: Vec<Turn>,
    /// For each state the processes that may stand still, as bits.
    still: BitRows,
    /// For each state the tests that hold, as bits.
    truths: BitRows,
    /// The tests that have no value in some state.
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
    /// What was explored.
    pub fn exploration(&self) -> Exploration {
        Exploration { states: self.states.len() as u64, ..self.exploration.clone() }
    }

    /// How many states were expanded, the first ones; the others have no edges yet.
    pub fn n_expanded(&self) -> usize {
        self.starts.len() - 1
    }

    /// The steps out of a state.
    pub fn edges(&self, state: usize) -> &[StateEdge] {
        match self.starts.get(state + 1) {
            Some(&end) => &self.edges[self.starts[state]..end],
            None => &[],
        }
    }

    /// Whether a test holds in a state that was expanded.
    pub fn holds(&self, state: usize, test: usize) -> bool {
        has(self.truths.row(state), test)
    }

    /// The processes that may stand still in a state, as bits; nobody in one that was not expanded.
    pub fn still(&self, state: usize) -> &[u64] {
        if state < self.n_expanded() { self.still.row(state) } else { &[] }
    }

    /// Whether a test has no value in some state.
    pub fn is_faulty(&self, test: usize) -> bool {
        self.faulty[test]
    }
}

/// A graph in the making: breadth first, as far as is wanted.
pub struct Explorer<'b, const W: usize> {
    machine: &'b Machine<'b>,
    turns: TurnTaker<'b>,
    /// What was explored so far.
    pub graph: StateGraph<W>,
    known: HashTable<u32>,
    /// Where the states of each level begin, and the next one's will.
    level_starts: Vec<usize>,
    waning: WaningLevels,
    /// What the questions about states and steps are, and what is known about them.
    findings: Findings<'b>,
    /// Those that are open, and what the level at hand shows of them.
    open: OpenQuestions<'b>,
    hits: Hits<W>,
    scratch: Scratch<W>,
    leaving: LeavingTurns<W>,
    /// What the meter knows of.
    counted_bytes: u64,
}

impl<'b, const W: usize> Explorer<'b, W> {
    /// Nothing is explored yet.
    pub fn new(
        machine: &'b Machine<'b>,
        predicates: &'b Predicates,
        questions: &'b [StateQuestion],
        meter: &'b Meter<'b>,
    ) -> Self {
        let findings = Findings::new(machine, questions, meter);
        Explorer {
            machine,
            turns: TurnTaker::new(machine, predicates),
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
                    complete: false,
                },
            },
            known: HashTable::new(),
            level_starts: vec![0],
            waning: WaningLevels::default(),
            open: findings.open(),
            findings,
            hits: Hits::new(questions.len()),
            scratch: machine.scratch(),
            leaving: LeavingTurns::default(),
            counted_bytes: 0,
        }
    }
}

impl<const W: usize> Explorer<'_, W> {
    /// What is known about each question.
    pub fn findings(&self) -> &[Option<QuestionFinding>] {
        &self.findings.known
    }

    /// Which questions have no value in a state that was found, and why.
    pub fn without_value(&self) -> &[Option<StopReason>] {
        &self.findings.without_value
    }

    /// Goes on until so many states were expanded; whether everything is explored now.
    pub fn explore(&mut self, most_states: usize, meter: &Meter<'_>) -> Result<bool, StopReason> {
        let explored = self.expand_up_to(most_states, meter);
        match explored {
            Ok(true) => self.findings.end(),
            Ok(false) => {}
            // What was seen of the level may have decided something.
            Err(_) => self.decide_level(),
        }
        let n_known = self.graph.classes.len();
        self.graph.classes.extend_from_slice(&self.turns.classes[n_known..]);
        explored
    }

    fn expand_up_to(&mut self, most_states: usize, meter: &Meter<'_>) -> Result<bool, StopReason> {
        if self.graph.states.is_empty() {
            for (nth, state) in InitialStates::<W>::new(self.machine.codec).enumerate() {
                self.number(&state)?;
                if nth % CHECK_EVERY == 0 {
                    self.check(meter)?;
                }
            }
            self.graph.n_initial = self.graph.states.len();
            self.level_starts.push(self.graph.n_initial);
            let levels = GraphLevels { states: &self.graph.states, starts: &self.level_starts };
            let explored = self.graph.exploration();
            self.findings.decide_states(&self.hits, 0, Reached { levels: &levels, explored: &explored });
            self.open = self.findings.open();
            self.hits = Hits::new(self.hits.decided.len());
        }
        let mut at = self.graph.n_expanded();
        while at < self.graph.states.len() {
            if at >= most_states {
                return Ok(false);
            }
            if at == self.level_end() {
                self.decide_level();
                let (first, n_states) = (self.level_end(), self.graph.states.len());
                self.level_starts.push(n_states);
                self.waning.enter((n_states - first) as u64, n_states as u64, meter);
                self.graph.exploration.depth += 1;
                meter.enter_level(self.graph.exploration.depth);
            }
            self.expand(at)?;
            at += 1;
            if at.is_multiple_of(CHECK_EVERY) {
                meter.expanded(CHECK_EVERY as u64);
                self.check(meter)?;
            }
        }
        self.check(meter)?;
        self.decide_level();
        self.graph.exploration.complete = true;
        Ok(true)
    }

    /// Where the states of the next level begin.
    fn level_end(&self) -> usize {
        self.level_starts.last().copied().unwrap_or(0)
    }

    /// Notes what the steps of the level at hand decide, and the states after them.
    fn decide_level(&mut self) {
        let is_hit = self.hits.decided.contains(&true) || self.hits.faulty.iter().any(Option::is_some);
        let Some(depth) = self.level_starts.len().checked_sub(2).filter(|_| is_hit) else { return };
        let levels = GraphLevels { states: &self.graph.states, starts: &self.level_starts };
        let explored = self.graph.exploration();
        self.findings.decide_steps(&self.hits, depth, Reached { levels: &levels, explored: &explored });
        self.open = self.findings.open();
        self.hits = Hits::new(self.hits.decided.len());
    }

    fn check(&mut self, meter: &Meter<'_>) -> Result<(), StopReason> {
        let graph = &self.graph;
        let bytes = (graph.states.capacity() * size_of::<Packed<W>>()
            + graph.starts.capacity() * size_of::<usize>()
            + graph.edges.capacity() * size_of::<StateEdge>()
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
        self.open.look(state, &mut self.hits, (self.machine, &self.scratch));
        Ok(number)
    }

    /// Stores what leaves a state, and what is true in it.
    fn expand(&mut self, at: usize) -> Result<(), StopReason> {
        let state = self.graph.states[at];
        let mut leaving = std::mem::take(&mut self.leaving);
        self.turns.take(&state, &self.scratch, &mut leaving)?;
        let shown = StepsShow { is_deadlock: leaving.is_deadlock, has_fault: leaving.n_faults > 0 };
        self.open.look_at_steps((&state, shown), &mut self.hits, (self.machine, &self.scratch));
        self.graph.exploration.deadlocks += u64::from(leaving.is_deadlock);
        self.graph.exploration.errors += leaving.n_faults;
        self.graph.exploration.transitions += leaving.steps.len() as u64;
        for (class, next) in &leaving.steps {
            let target = self.number(next)?;
            self.graph.edges.push(StateEdge { target, class: *class });
        }
        self.graph.starts.push(self.graph.edges.len());
        self.graph.still.words.extend_from_slice(&leaving.still);
        self.graph.truths.words.extend_from_slice(&leaving.truths);
        leaving.faulty.iter().for_each(|&test| self.graph.faulty[test] = true);
        self.leaving = leaving;
        Ok(())
    }
}

/// The states of a graph by level; the last level goes to the end.
struct GraphLevels<'g, const W: usize> {
    states: &'g [Packed<W>],
    starts: &'g [usize],
}

impl<const W: usize> LevelStates<W> for GraphLevels<'_, W> {
    fn states<'s>(&'s self, depth: usize) -> Box<dyn Iterator<Item = Result<Packed<W>, StopReason>> + 's> {
        let end = self.starts.get(depth + 1).copied().unwrap_or(self.states.len());
        Box::new(self.states[self.starts[depth]..end].iter().map(|state| Ok(*state)))
    }
}

fn too_many_states() -> StopReason {
    Unsupported::about(Feature::Numbers, "states").into()
}
