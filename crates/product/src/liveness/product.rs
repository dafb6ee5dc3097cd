//! The product of the graph with one automaton, and the demands of one set of fairness assumptions.
//!
//! A node is a state of the program with a state of the automaton, which reads the program's state with each turn that leaves it.
//! Nothing is stored for a node: its edges are those of the state, each with those of the automaton that read its letter (`rules.rs`).

use base::{Feature, StopReason, Unsupported};
use ltl::{Automaton, Bits};
use model::Model;
use model::eval::Turn;
use temporal::Violation;

use super::graph::StateGraph;
use super::predicates::Predicates;
use super::rules::{AutomatonMove, ViolationRules, nth_still};
use super::turns::set;
use streett::emptiness::FairGraph;

/// The product.
pub struct LivenessProduct<'p, const W: usize> {
    /// The states of the program.
    pub graph: &'p StateGraph<W>,
    rules: ViolationRules<'p>,
    n_automaton: usize,
    /// For each state of the program its letter, by number.
    letters: Vec<u32>,
    /// For each state of the automaton its component, if a run that stays there can be accepted.
    parts: Vec<Option<u32>>,
    /// For each state of the automaton whether another component in which runs can be accepted is reached from it.
    leads_on: Vec<bool>,
    /// How many words a row of marks has.
    n_words: usize,
    /// For each class of edges a row: the marks of the pairs whose demand it meets.
    met_by_class: Vec<u64>,
    /// For each process a row: the marks of the pairs whose demand it meets by standing still.
    met_by_still: Vec<u64>,
}

impl<'p, const W: usize> LivenessProduct<'p, W> {
    /// The product for a violation.
    pub fn new(
        model: &Model,
        graph: &'p StateGraph<W>,
        predicates: &'p Predicates,
        violation: &'p Violation,
    ) -> Result<Self, StopReason> {
        let mut rules = ViolationRules::new(predicates, violation);
        if rules.tests().any(|test| graph.is_faulty(test)) {
            return Err(super::no_value());
        }
        let n_automaton = rules.n_automaton();
        let n_nodes = graph.states.len() as u64 * n_automaton as u64;
        if n_nodes >= u64::from(u32::MAX) {
            let about = "states of the product with the property's automaton";
            return Err(Unsupported::about(Feature::Numbers, about).into());
        }
        let expanded = 0..graph.n_expanded();
        let mut letters: Vec<u32> = expanded.map(|state| rules.letter(|test| graph.holds(state, test))).collect();
        // Where there are no edges, letters do not matter.
        letters.resize(graph.states.len(), 0);
        let n_words = (rules.n_marks() + rules.n_pairs()).div_ceil(64);
        let met = |turn: &Turn| -> Vec<u64> {
            let mut row = vec![0; n_words];
            rules.met_by(model, turn).into_iter().for_each(|pair| set(&mut row, rules.n_marks() + pair));
            row
        };
        let met_by_class = graph.classes.iter().flat_map(met).collect();
        let met_by_still = model.processes.ids().flat_map(|process| met(&Turn::StandStill(process))).collect();
        let (parts, leads_on) = parts_of(&violation.automaton);
        Ok(LivenessProduct { graph, n_automaton, letters, parts, leads_on, n_words, met_by_class, met_by_still, rules })
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

    fn met_by<'r>(&self, rows: &'r [u64], at: usize) -> &'r [u64] {
        &rows[at * self.n_words..(at + 1) * self.n_words]
    }

    /// Adds the marks of pairs whose demand is met before a turn in a state.
    fn add_before(&self, state: usize, row: &mut [u64]) {
        let met = self.rules.met_before(|test| self.graph.holds(state, test));
        met.for_each(|pair| set(row, self.rules.n_marks() + pair));
    }
}

impl<const W: usize> FairGraph for LivenessProduct<'_, W> {
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
        moves[choice].1.iter().for_each(|&mark| set(row, mark));
        let met = match self.graph.edges(state).get(nth) {
            Some(step) => self.met_by(&self.met_by_class, step.class as usize),
            None => {
                let process = nth_still(self.graph.still(state), nth - self.graph.edges(state).len());
                self.met_by(&self.met_by_still, process.index())
            }
        };
        row.iter_mut().zip(met).for_each(|(word, met)| *word |= met);
        self.add_before(state, row);
    }

    fn part(&self, node: u32) -> Option<u32> {
        self.parts[node as usize % self.n_automaton]
    }

    fn entries(&self) -> Vec<u32> {
        Entries::of(self)
    }

    fn add_targets(&self, node: u32, targets: &mut Vec<u32>) {
        let (state, n_automaton) = (self.state_of(node), self.n_automaton as u32);
        let moves = self.automaton_moves(node);
        for step in self.graph.edges(state) {
            targets.extend(moves.iter().map(|(next, _)| step.target * n_automaton + next));
        }
        if self.n_still(state) > 0 {
            targets.extend(moves.iter().map(|(next, _)| node / n_automaton * n_automaton + next));
        }
    }

    fn add_marks_inside(&self, node: u32, inside: impl Fn(u32) -> bool, row: &mut [u64]) -> bool {
        let (state, n_automaton) = (self.state_of(node), self.n_automaton as u32);
        let edges = self.graph.edges(state);
        let n_still = self.n_still(state);
        let mut has_edge = false;
        for (next, marks) in self.automaton_moves(node) {
            let mut is_taken = false;
            for step in edges.iter().filter(|step| inside(step.target * n_automaton + next)) {
                is_taken = true;
                let met = self.met_by(&self.met_by_class, step.class as usize);
                row.iter_mut().zip(met).for_each(|(word, met)| *word |= met);
            }
            if n_still > 0 && inside(node / n_automaton * n_automaton + next) {
                is_taken = true;
                for process in (0..n_still).map(|nth| nth_still(self.graph.still(state), nth)) {
                    let met = self.met_by(&self.met_by_still, process.index());
                    row.iter_mut().zip(met).for_each(|(word, met)| *word |= met);
                }
            }
            if is_taken {
                marks.iter().for_each(|&mark| set(row, mark));
            }
            has_edge |= is_taken;
        }
        if has_edge {
            self.add_before(state, row);
        }
        has_edge
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

/// For each state of an automaton its component, if its inner edges have all marks, and whether another one of these is reached.
pub fn parts_of(automaton: &Automaton) -> (Vec<Option<u32>>, Vec<bool>) {
    let n_states = automaton.states.len();
    let mut reaches = vec![Bits::new(); n_states];
    for from in automaton.states.ids() {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for edge in &automaton.states[at].edges {
                if !reaches[from.index()].contains(edge.target.index()) {
                    reaches[from.index()].insert(edge.target.index());
                    open.push(edge.target);
                }
            }
        }
    }
    let is_same =
        |one: usize, other: usize| one == other || (reaches[one].contains(other) && reaches[other].contains(one));
    let all = Bits::below(automaton.n_marks);
    let part = |state: usize| {
        // The first state of a component stands for it.
        let first = (0..n_states).find(|&first| is_same(first, state))?;
        let mut seen: Option<Bits> = None;
        for (from, state) in automaton.states.entries().filter(|(from, _)| is_same(from.index(), first)) {
            for edge in state.edges.iter().filter(|edge| reaches[edge.target.index()].contains(from.index())) {
                seen = Some(seen.unwrap_or_default().union(&edge.marks));
            }
        }
        seen.is_some_and(|seen| all.is_subset(&seen)).then_some(first as u32)
    };
    let parts: Vec<Option<u32>> = (0..n_states).map(part).collect();
    let leads_on =
        |state: usize| reaches[state].iter().any(|next| parts[next].is_some() && parts[next] != parts[state]);
    let leads_on = (0..n_states).map(leads_on).collect();
    (parts, leads_on)
}

/// A search for the nodes by which runs enter parts; of the nodes in a part it follows only those from which another part is reached.
struct Entries<'e, 'p, const W: usize> {
    product: &'e LivenessProduct<'p, W>,
    is_known: Vec<bool>,
    open: Vec<u32>,
    found: Vec<u32>,
}

impl<'e, 'p, const W: usize> Entries<'e, 'p, W> {
    fn of(product: &'e LivenessProduct<'p, W>) -> Vec<u32> {
        let mut entries =
            Entries { product, is_known: vec![false; product.n_nodes()], open: Vec::new(), found: Vec::new() };
        product.initial().into_iter().for_each(|node| entries.reach(None, node));
        let first = product.rules.initial() as usize;
        let n_automaton = product.n_automaton;
        let stays = |of_letter: &[Vec<AutomatonMove>]| of_letter[first].iter().any(|&(next, _)| next as usize == first);
        let mut targets = Vec::new();
        if product.rules.by_letter().all(stays) {
            // The automaton can wait in its first state, whatever it reads: each state of the program is reached there.
            entries.open.clear();
            for state in 0..product.graph.states.len() {
                entries.is_known[state * n_automaton + first] = true;
            }
            for node in (0..product.graph.states.len()).map(|state| (state * n_automaton + first) as u32) {
                if product.automaton_moves(node).iter().any(|&(next, _)| next as usize != first) {
                    targets.clear();
                    product.add_targets(node, &mut targets);
                    targets.iter().for_each(|&target| entries.reach(product.part(node), target));
                }
            }
        }
        while let Some(node) = entries.open.pop() {
            targets.clear();
            product.add_targets(node, &mut targets);
            targets.iter().for_each(|&target| entries.reach(product.part(node), target));
        }
        entries.found
    }

    /// A node is reached from a part, or from outside.
    fn reach(&mut self, from: Option<u32>, node: u32) {
        if std::mem::replace(&mut self.is_known[node as usize], true) {
            return;
        }
        let part = self.product.part(node);
        if part.is_some() && part != from {
            self.found.push(node);
        }
        if self.product.leads_on[node as usize % self.product.n_automaton] {
            self.open.push(node);
        }
    }
}
