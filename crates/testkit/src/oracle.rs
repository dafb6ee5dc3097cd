//! Brute force: the whole product of a small Model, state by state, by `model::eval` and a hash table.
//!
//! In: a Model and a limit. Out: its reachable states in breadth-first order with their edges and faults, and what follows
//! from them: counts, distances, fewest context switches among shortest runs. Engines are compared with it.

use std::collections::HashMap;

use model::Model;
use model::eval::{Move, State, StepFault, initial_states, is_deadlock, steps_up_to};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

/// The reachable part of a Model.
#[derive(Clone, Debug)]
pub struct Product {
    /// The reachable states, in breadth-first order.
    pub states: Vec<State>,
    /// How many steps each is away from an initial state, at least.
    pub depths: Vec<usize>,
    /// The steps out of each state that have a successor.
    pub edges: Vec<Vec<(Move, usize)>>,
    /// The steps out of each state that fail.
    pub faults: Vec<Vec<(Move, StepFault)>>,
    /// The states in which no process is enabled and some process is stuck.
    pub deadlocks: Vec<usize>,
}

/// A shortest way to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoalDistance {
    /// How many steps it takes.
    pub n_steps: usize,
    /// How often the process that steps changes, at least, among runs with so many steps.
    pub n_switches: usize,
}

/// Chains that go round in a loop with choices have very many ways to do so; a state with more is given up.
const MOST_CHAINS: usize = 1_000;

impl Product {
    /// Explores the whole product; `None` where there are more than `limit` states, or very many chains from one state.
    pub fn explore(model: &Model, limit: usize) -> Option<Product> {
        let mut product = Product { states: vec![], depths: vec![], edges: vec![], faults: vec![], deadlocks: vec![] };
        let mut known: FxHashMap<State, usize> = FxHashMap::default();
        for state in initial_states(model) {
            product.visit(&mut known, state, 0, limit)?;
        }
        let most_steps = if model.goes_on() { MOST_CHAINS } else { usize::MAX };
        let mut at = 0;
        while at < product.states.len() {
            let state = product.states[at].clone();
            let (mut edges, mut faults) = (Vec::new(), Vec::new());
            for step in steps_up_to(model, &state, most_steps)? {
                match step.result {
                    Ok(successor) => {
                        let depth = product.depths[at] + 1;
                        edges.push((step.by, product.visit(&mut known, successor, depth, limit)?));
                    }
                    Err(fault) => faults.push((step.by, fault)),
                }
            }
            // A state with a step is no deadlock; asking only at the others saves most of the time.
            if edges.is_empty() && faults.is_empty() && is_deadlock(model, &state) {
                product.deadlocks.push(at);
            }
            product.edges.push(edges);
            product.faults.push(faults);
            at += 1;
        }
        Some(product)
    }

    fn visit(
        &mut self,
        known: &mut FxHashMap<State, usize>,
        state: State,
        depth: usize,
        limit: usize,
    ) -> Option<usize> {
        if let Some(&at) = known.get(&state) {
            return Some(at);
        }
        if self.states.len() == limit {
            return None;
        }
        known.insert(state.clone(), self.states.len());
        self.states.push(state);
        self.depths.push(depth);
        Some(self.states.len() - 1)
    }

    /// How many steps have a successor, counted as distinct (state, process, statement, successor).
    pub fn n_transitions(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// How many steps fail.
    pub fn n_faults(&self) -> usize {
        self.faults.iter().map(Vec::len).sum()
    }

    /// The greatest distance of a state from the initial ones.
    pub fn depth(&self) -> usize {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// A shortest run to a state: the states, and the steps between them.
    pub fn run_to(&self, state_idx: usize) -> (Vec<State>, Vec<Move>) {
        let (mut states, mut moves) = (vec![self.states[state_idx].clone()], Vec::new());
        let mut at = state_idx;
        while self.depths[at] > 0 {
            let is_before = |before: usize| self.depths[before] + 1 == self.depths[at];
            let edge_from = |before: usize| {
                self.edges[before].iter().find(|edge| edge.1 == at).map(|edge| (before, edge.0.clone()))
            };
            let (before, by) = (0..at).filter(|&before| is_before(before)).find_map(edge_from).expect("it was reached");
            states.push(self.states[before].clone());
            moves.push(by);
            at = before;
        }
        states.reverse();
        moves.reverse();
        (states, moves)
    }

    /// The shortest way to a state with this property.
    pub fn distance_to(&self, wanted: impl Fn(&State) -> bool) -> Option<GoalDistance> {
        let costs = self.switches();
        let reached = (0..self.states.len()).filter(|&at| wanted(&self.states[at]));
        let cheapest = |at: usize| costs[at].values().copied().min().unwrap_or(0);
        reached.map(|at| GoalDistance { n_steps: self.depths[at], n_switches: cheapest(at) }).min()
    }

    /// The shortest way to a fault, its own step included.
    pub fn distance_to_fault(&self) -> Option<GoalDistance> {
        let costs = self.switches();
        let faults =
            self.faults.iter().enumerate().flat_map(|(at, faults)| faults.iter().map(move |f| (at, f.0.clone())));
        let distance = |(at, by): (usize, Move)| GoalDistance {
            n_steps: self.depths[at] + 1,
            n_switches: continued(&costs[at], by.process),
        };
        faults.map(distance).min()
    }

    /// For each state and last mover the fewest switches on a shortest way there; nothing at initial states.
    fn switches(&self) -> Vec<HashMap<ProcessId, usize>> {
        let mut costs: Vec<HashMap<ProcessId, usize>> = vec![HashMap::new(); self.states.len()];
        // States are in breadth-first order, so all shortest ways to a state are known when it is expanded.
        for at in 0..self.states.len() {
            for (by, target) in &self.edges[at] {
                if self.depths[*target] == self.depths[at] + 1 {
                    let cost = continued(&costs[at], by.process);
                    let best = costs[*target].entry(by.process).or_insert(cost);
                    *best = cost.min(*best);
                }
            }
        }
        costs
    }
}

/// The fewest switches when `process` steps next.
fn continued(costs: &HashMap<ProcessId, usize>, process: ProcessId) -> usize {
    costs.iter().map(|(&last, &cost)| cost + usize::from(last != process)).min().unwrap_or(0)
}
