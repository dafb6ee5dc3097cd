//! The product of the graph with one automaton, and the demands of one set of fairness assumptions.
//!
//! A node is a state of the program with a state of the automaton, which reads the program's state with each turn that leaves it.
//! Nothing is stored for a node: its edges are those of the state, each with those of the automaton that read its letter.

use base::{Feature, StopReason, Unsupported};
use ltl::Bits;
use model::Model;
use model::eval::Turn;
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use temporal::Violation;

use super::graph::StateGraph;
use super::predicates::{Literal, Pair, Predicates};
use streett::emptiness::FairGraph;

/// The product.
pub struct Product<'p, const W: usize> {
    /// The states of the program.
    pub graph: &'p StateGraph<W>,
    pairs: Vec<&'p Pair>,
    /// How many states the automaton has, how many marks, and where it begins.
    n_automaton: usize,
    n_marks: usize,
    initial: u32,
    /// For each state of the program its letter, by number.
    letters: Vec<u32>,
    /// For each letter and state of the automaton where it goes, and with which marks.
    moves: Vec<Vec<(u32, Vec<usize>)>>,
    /// For each class of edges the pairs whose demand it meets.
    met_by_class: Vec<Vec<usize>>,
    /// For each process the pairs whose demand it meets by standing still.
    met_by_still: Vec<Vec<usize>>,
    /// Whether it matters who stands still.
    tells_who: bool,
    /// Whether processes stand still only where there is no step.
    real_steps_only: bool,
}

impl<'p, const W: usize> Product<'p, W> {
    /// The product for a violation.
    pub fn new(
        model: &Model,
        graph: &'p StateGraph<W>,
        predicates: &'p Predicates,
        violation: &Violation,
    ) -> Result<Self, StopReason> {
        let (atoms, pairs) = (predicates.atoms(violation), predicates.pairs(violation));
        let literals = pairs.iter().flat_map(|pair| pair.always.iter().chain(&pair.before)).map(|literal| literal.test);
        if let Some(fault) = atoms.iter().copied().chain(literals).find_map(|test| graph.fault_of(test)) {
            return Err(StopReason::PropertyError(format!("evaluating it fails in a reachable state: {fault}")));
        }
        let automaton = &violation.automaton;
        let n_nodes = graph.states.len() as u64 * automaton.states.len() as u64;
        if n_nodes >= u64::from(u32::MAX) {
            let about = "states of the product with the property's automaton";
            return Err(Unsupported::about(Feature::Numbers, about).into());
        }
        let (mut letters, mut moves) = (Vec::with_capacity(graph.states.len()), Vec::new());
        let mut known = FxHashMap::<Bits, u32>::default();
        for state in 0..graph.states.len() {
            let letter: Bits = (0..atoms.len()).filter(|&atom| graph.holds(state, atoms[atom])).collect();
            let n_known = known.len() as u32;
            let number = *known.entry(letter).or_insert_with_key(|letter| {
                moves.extend(automaton.states.iter().map(|from| {
                    let edges = from.edges.iter().filter(|edge| edge.label.contains(letter));
                    edges.map(|edge| (edge.target.index() as u32, edge.marks.iter().collect())).collect()
                }));
                n_known
            });
            letters.push(number);
        }
        let met = |turn: &Turn| -> Vec<usize> {
            let meets = |pair: &Pair| pair.turns.iter().any(|&test| predicates.turns[test].is_true_of(model, turn));
            (0..pairs.len()).filter(|&pair| meets(pairs[pair])).collect()
        };
        let met_by_class = graph.classes.iter().map(met).collect();
        let met_by_still = model.processes.ids().map(|process| met(&Turn::StandStill(process))).collect();
        Ok(Product {
            graph,
            n_automaton: automaton.states.len(),
            n_marks: automaton.n_marks,
            initial: automaton.initial.index() as u32,
            letters,
            moves,
            met_by_class,
            met_by_still,
            tells_who: pairs.iter().any(|pair| pair.turns.iter().any(|&test| predicates.turns[test].tells_who())),
            real_steps_only: violation.real_steps_only,
            pairs,
        })
    }

    /// The state of the program in a node.
    pub fn state_of(&self, node: u32) -> usize {
        node as usize / self.n_automaton
    }

    /// The turn of an edge.
    pub fn turn(&self, node: u32, edge: u32) -> Turn {
        let (state, nth) = (self.state_of(node), edge as usize / self.automaton_moves(node).len());
        match self.graph.edges(state).get(nth) {
            Some(step) => self.graph.classes[step.class as usize].clone(),
            None => Turn::StandStill(self.nth_still(state, nth - self.graph.edges(state).len())),
        }
    }

    /// What the automaton can do in a node.
    fn automaton_moves(&self, node: u32) -> &[(u32, Vec<usize>)] {
        let letter = self.letters[self.state_of(node)] as usize;
        &self.moves[letter * self.n_automaton + node as usize % self.n_automaton]
    }

    /// How many ways to stand still are told apart in a state.
    fn n_still(&self, state: usize) -> usize {
        if self.real_steps_only && !self.graph.edges(state).is_empty() {
            return 0;
        }
        let n_still: u32 = self.graph.still(state).iter().map(|word| word.count_ones()).sum();
        if self.tells_who { n_still as usize } else { n_still.min(1) as usize }
    }

    fn nth_still(&self, state: usize, mut nth: usize) -> ProcessId {
        for (at, &word) in self.graph.still(state).iter().enumerate() {
            let n_here = word.count_ones() as usize;
            if nth < n_here {
                let rest = (0..nth).fold(word, |rest, _| rest & (rest - 1));
                return ProcessId::new(at * 64 + rest.trailing_zeros() as usize);
            }
            nth -= n_here;
        }
        unreachable!("an edge is one of those that were counted")
    }

    fn is_true(&self, state: usize, literal: &Literal) -> bool {
        self.graph.holds(state, literal.test) == literal.wanted
    }
}

impl<const W: usize> FairGraph for Product<'_, W> {
    fn n_nodes(&self) -> usize {
        self.graph.states.len() * self.n_automaton
    }

    fn initial(&self) -> Vec<u32> {
        (0..self.graph.n_initial).map(|state| (state * self.n_automaton) as u32 + self.initial).collect()
    }

    fn n_edges(&self, node: u32) -> u32 {
        let state = self.state_of(node);
        let n_moves = self.automaton_moves(node).len();
        if n_moves == 0 {
            return 0;
        }
        ((self.graph.edges(state).len() + self.n_still(state)) * n_moves) as u32
    }

    fn target(&self, node: u32, edge: u32) -> u32 {
        let (state, moves) = (self.state_of(node), self.automaton_moves(node));
        let (nth, choice) = (edge as usize / moves.len(), edge as usize % moves.len());
        let next = self.graph.edges(state).get(nth).map_or(state, |step| step.target as usize);
        (next * self.n_automaton) as u32 + moves[choice].0
    }

    fn add_marks(&self, node: u32, edge: u32, row: &mut [u64]) {
        let (state, moves) = (self.state_of(node), self.automaton_moves(node));
        let (nth, choice) = (edge as usize / moves.len(), edge as usize % moves.len());
        let mut add = |mark: usize| row[mark / 64] |= 1 << (mark % 64);
        moves[choice].1.iter().for_each(|&mark| add(mark));
        let met = match self.graph.edges(state).get(nth) {
            Some(step) => &self.met_by_class[step.class as usize],
            None => &self.met_by_still[self.nth_still(state, nth - self.graph.edges(state).len()).index()],
        };
        met.iter().for_each(|&pair| add(self.n_marks + pair));
        for (at, pair) in self.pairs.iter().enumerate() {
            if pair.before.iter().any(|literal| self.is_true(state, literal)) {
                add(self.n_marks + at);
            }
        }
    }

    fn n_demanded(&self) -> usize {
        self.n_marks
    }

    fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    fn is_free(&self, node: u32, pair: usize) -> bool {
        let always = &self.pairs[pair].always;
        always.as_ref().is_some_and(|literal| self.is_true(self.state_of(node), literal))
    }
}
