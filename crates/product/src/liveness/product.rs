//! The product of the graph with one automaton, and the demands of one set of fairness assumptions.
//!
//! A node is a state of the program with a state of the automaton, which reads the program's state with each turn that leaves it.
//! Nothing is stored for a node: its edges are those of the state, each with those of the automaton that read its letter (`rules.rs`).

use base::{Feature, StopReason, Unsupported};
use model::Model;
use model::eval::Turn;
use temporal::Violation;

use super::graph::StateGraph;
use super::predicates::Predicates;
use super::rules::{AutomatonMove, Rules, nth_still};
use streett::emptiness::FairGraph;

/// The product.
pub struct Product<'p, const W: usize> {
    /// The states of the program.
    pub graph: &'p StateGraph<W>,
    rules: Rules<'p>,
    n_automaton: usize,
    /// For each state of the program its letter, by number.
    letters: Vec<u32>,
    /// For each class of edges the pairs whose demand it meets.
    met_by_class: Vec<Vec<usize>>,
    /// For each process the pairs whose demand it meets by standing still.
    met_by_still: Vec<Vec<usize>>,
}

impl<'p, const W: usize> Product<'p, W> {
    /// The product for a violation.
    pub fn new(
        model: &Model,
        graph: &'p StateGraph<W>,
        predicates: &'p Predicates,
        violation: &'p Violation,
    ) -> Result<Self, StopReason> {
        let mut rules = Rules::new(predicates, violation);
        if rules.tests().any(|test| graph.is_faulty(test)) {
            return Err(super::no_value());
        }
        let n_automaton = rules.n_automaton();
        let n_nodes = graph.states.len() as u64 * n_automaton as u64;
        if n_nodes >= u64::from(u32::MAX) {
            let about = "states of the product with the property's automaton";
            return Err(Unsupported::about(Feature::Numbers, about).into());
        }
        let letters = (0..graph.states.len()).map(|state| rules.letter(|test| graph.holds(state, test))).collect();
        let met = |turn: &Turn| rules.met_by(model, turn);
        let met_by_class = graph.classes.iter().map(met).collect();
        let met_by_still = model.processes.ids().map(|process| met(&Turn::StandStill(process))).collect();
        Ok(Product { graph, n_automaton, letters, met_by_class, met_by_still, rules })
    }

    /// The state of the program in a node.
    pub fn state_of(&self, node: u32) -> usize {
        node as usize / self.n_automaton
    }

    /// The turn of an edge.
    pub fn turn(&self, node: u32, edge: u32) -> Turn {
        let (state, nth) = (self.state_of(node), edge as usize / self.automaton_moves(node).len());
        let edges = self.graph.edges(state);
        match edges.get(nth) {
            Some(step) => self.graph.classes[step.class as usize].clone(),
            None => Turn::StandStill(nth_still(self.graph.still(state), nth - edges.len())),
        }
    }

    /// What the automaton can do in a node.
    fn automaton_moves(&self, node: u32) -> &[AutomatonMove] {
        self.rules.moves(self.letters[self.state_of(node)], node % self.n_automaton as u32)
    }

    /// How many ways to stand still are told apart in a state.
    fn n_still(&self, state: usize) -> usize {
        self.rules.n_still(self.graph.still(state), self.graph.edges(state).len())
    }
}

impl<const W: usize> FairGraph for Product<'_, W> {
    fn n_nodes(&self) -> usize {
        self.graph.states.len() * self.n_automaton
    }

    fn initial(&self) -> Vec<u32> {
        (0..self.graph.n_initial).map(|state| (state * self.n_automaton) as u32 + self.rules.initial()).collect()
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
        let (edges, n_marks) = (self.graph.edges(state), self.rules.n_marks());
        let met = match edges.get(nth) {
            Some(step) => &self.met_by_class[step.class as usize],
            None => &self.met_by_still[nth_still(self.graph.still(state), nth - edges.len()).index()],
        };
        met.iter().for_each(|&pair| add(n_marks + pair));
        self.rules.met_before(|test| self.graph.holds(state, test)).for_each(|pair| add(n_marks + pair));
    }

    fn n_demanded(&self) -> usize {
        self.rules.n_marks()
    }

    fn n_pairs(&self) -> usize {
        self.rules.n_pairs()
    }

    fn is_free(&self, node: u32, pair: usize) -> bool {
        let state = self.state_of(node);
        self.rules.is_free(pair, |test| self.graph.holds(state, test))
    }
}
