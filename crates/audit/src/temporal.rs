//! Temporal properties of small products: whether some fair run violates one.
//!
//! In: the reachable states and a property. Out: whether it is violated. The formula is guessed along the run: a node is a state of the
//! program with a truth value for each temporal part, and an edge must make the guesses true. Of the nodes that such a run can visit, fair runs are what is left when
//! every node is taken away that cannot go on, or cannot reach what must happen again and again (Kesten, Pnueli and Raviv).
//! No automaton is built, no component searched: nothing here is shared with an engine. Which turns there are and which meet a fairness
//! assumption is asked once ([`TurnGraph`]), whatever the number of formulas; what is left is bounded by the edges that are looked at.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use model::Model;
use model::eval::{State, StepFault, Turn, Viewpoint, holds, is_initial, is_true_of, turns};
use model::expr::{Binding, Expr, Quantifier};
use model::fairness::{Assumptions, EdgePredicate, FairnessId};
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::value::Value;
use rustc_hash::FxHashMap;

/// More nodes than this are not looked at.
const MOST_NODES: usize = 40_000;

/// Edges are looked at no more often than this for one formula: a fraction of a second.
const MOST_LOOKS: u64 = 20_000_000;

/// The turns of a small product, and which of them meet a fairness assumption. Nothing of it depends on a formula.
pub struct TurnGraph {
    /// For each state its turns, and the state that each leads to.
    edges: Vec<Vec<(Turn, usize)>>,
    /// The states in which a run can begin.
    initial: Vec<bool>,
    /// What is known of each assumption that somebody asked for.
    fairness: RefCell<HashMap<FairnessId, Arc<FairnessMarks>>>,
    /// Edges are looked at no more often than this for one formula.
    most_looks: u64,
}

/// A fairness assumption: from some point on only states are visited that are free of it, or edges that meet it are taken again and again.
struct FairnessMarks {
    /// For each state whether it is free of the assumption.
    free: Vec<bool>,
    /// For each edge of each state whether it meets the assumption.
    met: Vec<Vec<bool>>,
}

impl TurnGraph {
    /// The turns between these states, which are all that are reachable.
    pub fn new(model: &Model, states: &[State]) -> Self {
        let index: FxHashMap<&State, usize> = states.iter().enumerate().map(|(at, state)| (state, at)).collect();
        let edges = |state| {
            let found = turns(model, state).into_iter();
            found.filter_map(|(turn, next)| Some((turn, *index.get(&next)?))).collect()
        };
        TurnGraph {
            edges: states.iter().map(edges).collect(),
            initial: states.iter().map(|state| is_initial(model, state)).collect(),
            fairness: RefCell::default(),
            most_looks: MOST_LOOKS,
        }
    }

    /// The same, with less effort for each formula.
    pub fn looking_at_most(self, most_looks: u64) -> Self {
        TurnGraph { most_looks, ..self }
    }

    /// The same as [`is_violated`], for one formula of several; the states are those that the graph was made of.
    pub fn is_violated(
        &self,
        (model, states): (&Model, &[State]),
        formula: &Formula,
        under: &Assumptions,
    ) -> Result<Option<bool>, StepFault> {
        if has_automaton(formula) {
            return Ok(None);
        }
        let looks = Cell::new(0);
        let mut conjuncts = Vec::new();
        Parts::new(model, states).conjuncts(formula, &[], &mut conjuncts)?;
        for (conjunct, bound) in conjuncts {
            let mut parts = Parts::new(model, states);
            let root = parts.add(conjunct, &bound)?;
            let most_guesses = MOST_NODES / states.len().max(1);
            if parts.temporal.len() > most_guesses.max(1).ilog2() as usize {
                return Ok(None);
            }
            let graph = Graph { turn_graph: self, parts, looks: &looks };
            for fairness in &under.any_of {
                match graph.has_fair_run(root, fairness)? {
                    Some(false) => {}
                    found => return Ok(found),
                }
            }
        }
        Ok(Some(false))
    }

    /// What there is to know of a fairness assumption. What it says of a state is asked once for each state, not for each of its edges.
    fn fairness(&self, (model, states): (&Model, &[State]), id: FairnessId) -> Result<Arc<FairnessMarks>, StepFault> {
        if let Some(known) = self.fairness.borrow().get(&id) {
            return Ok(Arc::clone(known));
        }
        let pair = &model.fairness[id];
        let (mut free, mut met) = (Vec::new(), Vec::new());
        for (state, edges) in states.iter().zip(&self.edges) {
            free.push(pair.always.as_ref().map_or(Ok(false), |always| holds(model, state, always))?);
            let mut meets = vec![false; edges.len()];
            for often in &pair.often {
                if meets.iter().all(|&is_met| is_met) {
                    break;
                }
                match often {
                    EdgePredicate::Before(before) => {
                        let is_met = holds(model, state, before)?;
                        meets.iter_mut().for_each(|meets| *meets |= is_met);
                    }
                    _ => {
                        for (is_met, (turn, _)) in meets.iter_mut().zip(edges) {
                            *is_met = *is_met || is_true_of(model, state, turn, often)?;
                        }
                    }
                }
            }
            met.push(meets);
        }
        let found = Arc::new(FairnessMarks { free, met });
        self.fairness.borrow_mut().insert(id, Arc::clone(&found));
        Ok(found)
    }
}

/// Whether some fair run through these states, which are all that are reachable, violates the formula; `None` where there are
/// too many to tell. An error where an expression has no value.
pub fn is_violated(
    model: &Model,
    states: &[State],
    formula: &Formula,
    under: &Assumptions,
) -> Result<Option<bool>, StepFault> {
    if has_automaton(formula) {
        return Ok(None);
    }
    TurnGraph::new(model, states).is_violated((model, states), formula, under)
}

/// Whether a part of the formula is an automaton, whose runs are not guessed here.
fn has_automaton(formula: &Formula) -> bool {
    match formula {
        Formula::Now(_) => false,
        Formula::Not(inner) | Formula::Unary(_, inner) | Formula::Quantified { body: inner, .. } => {
            has_automaton(inner)
        }
        Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
            has_automaton(left) || has_automaton(right)
        }
        Formula::NeverAccepts(_) => true,
    }
}

/// A part of the formula, in a few operators.
enum Part {
    /// True in these states.
    Now(Vec<bool>),
    Not(usize),
    And(usize, usize),
    /// The guess with this number.
    Next(usize, usize),
    Until(usize, usize, usize),
}

struct Parts<'a> {
    model: &'a Model,
    states: &'a [State],
    nodes: Vec<Part>,
    /// The positions of `Next` and `Until`, by the number of the guess.
    temporal: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn new(model: &'a Model, states: &'a [State]) -> Self {
        Parts { model, states, nodes: Vec::new(), temporal: Vec::new() }
    }

    /// Formulas with the values of their variables that are all true of a run where this one is: a run violates it if it violates one
    /// of them, and each has fewer parts to guess.
    fn conjuncts<'f>(
        &self,
        formula: &'f Formula,
        bound: &[Value],
        found: &mut Vec<(&'f Formula, Vec<Value>)>,
    ) -> Result<(), StepFault> {
        match formula {
            Formula::Boolean(BooleanOp::And, left, right) => {
                self.conjuncts(left, bound, found)?;
                self.conjuncts(right, bound, found)
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => {
                for instance in self.instances(bindings, filter.as_ref(), bound)? {
                    self.conjuncts(body, &instance, found)?;
                }
                Ok(())
            }
            _ => {
                found.push((formula, bound.to_vec()));
                Ok(())
            }
        }
    }

    fn push(&mut self, part: Part) -> usize {
        self.nodes.push(part);
        self.nodes.len() - 1
    }

    fn now(&mut self, expr: &Expr, bound: &[Value]) -> Result<usize, StepFault> {
        let truth = |state| Viewpoint::of_instance(self.model, state, bound).truth(expr);
        let truths = self.states.iter().map(truth).collect::<Result<Vec<bool>, _>>()?;
        Ok(self.push(Part::Now(truths)))
    }

    fn constant(&mut self, truth: bool) -> usize {
        self.push(Part::Now(vec![truth; self.states.len()]))
    }

    fn not(&mut self, inner: usize) -> usize {
        self.push(Part::Not(inner))
    }

    fn or(&mut self, left: usize, right: usize) -> usize {
        let (left, right) = (self.not(left), self.not(right));
        let both = self.push(Part::And(left, right));
        self.not(both)
    }

    fn until(&mut self, left: usize, right: usize) -> usize {
        let guess = self.temporal.len();
        let part = self.push(Part::Until(guess, left, right));
        self.temporal.push(part);
        part
    }

    fn eventually(&mut self, inner: usize) -> usize {
        let always = self.constant(true);
        self.until(always, inner)
    }

    fn always(&mut self, inner: usize) -> usize {
        let not = self.not(inner);
        let eventually = self.eventually(not);
        self.not(eventually)
    }

    fn add(&mut self, formula: &Formula, bound: &[Value]) -> Result<usize, StepFault> {
        Ok(match formula {
            Formula::Now(expr) => self.now(expr, bound)?,
            Formula::Not(inner) => {
                let inner = self.add(inner, bound)?;
                self.not(inner)
            }
            Formula::Boolean(op, left, right) => {
                let (left, right) = (self.add(left, bound)?, self.add(right, bound)?);
                match op {
                    BooleanOp::And => self.push(Part::And(left, right)),
                    BooleanOp::Or => self.or(left, right),
                    BooleanOp::Implies => {
                        let left = self.not(left);
                        self.or(left, right)
                    }
                    BooleanOp::Iff => {
                        let both = self.push(Part::And(left, right));
                        let some = self.or(left, right);
                        let neither = self.not(some);
                        self.or(both, neither)
                    }
                }
            }
            Formula::Unary(op, inner) => {
                let inner = self.add(inner, bound)?;
                match op {
                    UnaryTemporal::Eventually => self.eventually(inner),
                    UnaryTemporal::Always => self.always(inner),
                    UnaryTemporal::Next => {
                        let guess = self.temporal.len();
                        let part = self.push(Part::Next(guess, inner));
                        self.temporal.push(part);
                        part
                    }
                }
            }
            Formula::Binary(op, left, right) => {
                let (left, right) = (self.add(left, bound)?, self.add(right, bound)?);
                self.binary(*op, left, right)
            }
            Formula::NeverAccepts(_) => unreachable!("formulas with automata are not looked at"),
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let is_forall = *quantifier == Quantifier::Forall;
                let mut all = self.constant(is_forall);
                for instance in self.instances(bindings, filter.as_ref(), bound)? {
                    let instance = self.add(body, &instance)?;
                    all = if is_forall { self.push(Part::And(all, instance)) } else { self.or(all, instance) };
                }
                all
            }
        })
    }

    fn binary(&mut self, op: BinaryTemporal, left: usize, right: usize) -> usize {
        match op {
            BinaryTemporal::Until => self.until(left, right),
            BinaryTemporal::WeakUntil => {
                let (until, always) = (self.until(left, right), self.always(left));
                self.or(until, always)
            }
            BinaryTemporal::Releases => {
                let (left, right) = (self.not(left), self.not(right));
                let until = self.until(left, right);
                self.not(until)
            }
            BinaryTemporal::StrongReleases => {
                let both = self.push(Part::And(left, right));
                self.until(right, both)
            }
            BinaryTemporal::LeadsTo => {
                let (not, comes) = (self.not(left), self.eventually(right));
                let answered = self.or(not, comes);
                self.always(answered)
            }
        }
    }

    /// The values of a quantifier's variables, after those that are bound around it.
    fn instances(
        &self,
        rest: &[Binding],
        filter: Option<&Expr>,
        bound: &[Value],
    ) -> Result<Vec<Vec<Value>>, StepFault> {
        let some_state = &self.states[0];
        let mut view = Viewpoint::of_instance(self.model, some_state, bound);
        let Some((binding, inner)) = rest.split_first() else {
            let is_meant = filter.map_or(Ok(true), |filter| view.truth(filter))?;
            return Ok(if is_meant { vec![bound.to_vec()] } else { Vec::new() });
        };
        let mut found = Vec::new();
        for value in view.domain(&binding.domain)? {
            let mut bound = bound[..binding.var.0 as usize].to_vec();
            bound.push(value);
            found.extend(self.instances(inner, filter, &bound)?);
        }
        Ok(found)
    }

    /// The truth of a part in a node.
    fn truth(&self, part: usize, node: Node) -> bool {
        match &self.nodes[part] {
            Part::Now(truths) => truths[node.state],
            Part::Not(inner) => !self.truth(*inner, node),
            Part::And(left, right) => self.truth(*left, node) && self.truth(*right, node),
            Part::Next(guess, _) | Part::Until(guess, ..) => node.guesses >> guess & 1 == 1,
        }
    }

    /// What a node's guesses say, and what must come next for them to be true.
    fn told(&self, node: Node) -> NodeClaims {
        let mut told = NodeClaims { guesses: node.guesses, claims: node.guesses, cares: 0, fails: false };
        for &part in &self.temporal {
            match self.nodes[part] {
                Part::Next(guess, inner) => {
                    told.cares |= 1 << guess;
                    told.claims = told.claims & !(1 << guess) | usize::from(self.truth(inner, node)) << guess;
                }
                Part::Until(guess, left, right) => {
                    let is_guessed = node.guesses >> guess & 1 == 1;
                    match (self.truth(right, node), self.truth(left, node)) {
                        (true, _) => told.fails |= !is_guessed,
                        (false, false) => told.fails |= is_guessed,
                        (false, true) => told.cares |= 1 << guess,
                    }
                }
                _ => unreachable!("only these are guessed"),
            }
        }
        told
    }
}

/// What a node says about itself and about the next one, one bit for each guess.
struct NodeClaims {
    guesses: usize,
    /// For each guess about the next node, whether what is guessed there is true here; for others, the guess.
    claims: usize,
    /// The guesses that depend on the next node.
    cares: usize,
    /// Whether a guess is wrong whatever comes next.
    fails: bool,
}

impl NodeClaims {
    /// Whether all guesses are true if the run goes on with the other node.
    fn agrees(&self, next: &NodeClaims) -> bool {
        !self.fails && (self.guesses ^ next.claims) & self.cares == 0
    }
}

/// A state with a guess for each temporal part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    state: usize,
    guesses: usize,
}

struct Graph<'a> {
    turn_graph: &'a TurnGraph,
    parts: Parts<'a>,
    /// How often an edge was looked at for the formula so far.
    looks: &'a Cell<u64>,
}

/// The nodes that a run which violates the formula can visit, by number, with their edges.
#[derive(Default)]
struct NodeGraph {
    nodes: Vec<Node>,
    /// For each node where its edges begin; and where the last one's end.
    starts: Vec<usize>,
    edges: Vec<NodeEdge>,
}

/// An edge of a node.
struct NodeEdge {
    /// The position of the turn among those of its state.
    turn: usize,
    /// The number of the node that it leads to.
    next: usize,
}

impl NodeGraph {
    fn edges_of(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }
}

/// What must happen again and again.
struct Demand {
    /// For each node whether it is free of it.
    free: Vec<bool>,
    /// For each edge whether it meets it.
    met: Vec<bool>,
}

impl Graph<'_> {
    fn n_guesses(&self) -> usize {
        1 << self.parts.temporal.len()
    }

    /// Whether a fair run violates the root; `None` where that takes too long to tell.
    fn has_fair_run(&self, root: usize, fairness: &[FairnessId]) -> Result<Option<bool>, StepFault> {
        let graph = self.visited(root);
        let demands = self.demands(&graph, fairness)?;
        Ok(self.fair_nodes(&graph, &demands).map(|fair| fair.contains(&true)))
    }

    /// The nodes that a run can visit which begins where the root is guessed to be false, as long as no guess is wrong.
    fn visited(&self, root: usize) -> NodeGraph {
        let n_guesses = self.n_guesses();
        let node = |index: usize| Node { state: index / n_guesses, guesses: index % n_guesses };
        let told: Vec<NodeClaims> =
            (0..self.parts.states.len() * n_guesses).map(|index| self.parts.told(node(index))).collect();
        let mut numbers: Vec<Option<usize>> = vec![None; told.len()];
        let mut found: Vec<usize> = Vec::new();
        let mut number = |index: usize, found: &mut Vec<usize>| {
            *numbers[index].get_or_insert_with(|| {
                found.push(index);
                found.len() - 1
            })
        };
        let begins = |&index: &usize| {
            let node = node(index);
            self.turn_graph.initial[node.state] && !told[index].fails && !self.parts.truth(root, node)
        };
        for index in (0..told.len()).filter(begins) {
            number(index, &mut found);
        }
        let mut graph = NodeGraph::default();
        while let Some(&index) = found.get(graph.nodes.len()) {
            graph.nodes.push(node(index));
            graph.starts.push(graph.edges.len());
            for (turn, &(_, state)) in self.turn_graph.edges[node(index).state].iter().enumerate() {
                for next in state * n_guesses..(state + 1) * n_guesses {
                    if !told[next].fails && told[index].agrees(&told[next]) {
                        graph.edges.push(NodeEdge { turn, next: number(next, &mut found) });
                    }
                }
            }
        }
        graph.starts.push(graph.edges.len());
        graph
    }

    /// What the guesses and the fairness assumptions demand.
    fn demands(&self, graph: &NodeGraph, fairness: &[FairnessId]) -> Result<Vec<Demand>, StepFault> {
        let mut demands: Vec<Demand> = Vec::new();
        let on_edges = |is_met: &dyn Fn(Node, &NodeEdge) -> bool| -> Vec<bool> {
            let of_node = |(at, &node): (usize, &Node)| {
                graph.edges[graph.edges_of(at)].iter().map(move |edge| is_met(node, edge))
            };
            graph.nodes.iter().enumerate().flat_map(of_node).collect()
        };
        for &part in &self.parts.temporal {
            if let Part::Until(_, _, right) = self.parts.nodes[part] {
                let is_met = |node, _: &NodeEdge| !self.parts.truth(part, node) || self.parts.truth(right, node);
                demands.push(Demand { free: vec![false; graph.nodes.len()], met: on_edges(&is_met) });
            }
        }
        for &id in fairness {
            let found = self.turn_graph.fairness((self.parts.model, self.parts.states), id)?;
            let free = graph.nodes.iter().map(|node| found.free[node.state]).collect();
            demands.push(Demand { free, met: on_edges(&|node, edge| found.met[node.state][edge.turn]) });
        }
        Ok(demands)
    }

    /// For each node whether a fair run can go on from it for ever among such nodes; `None` where that takes too long to tell.
    fn fair_nodes(&self, graph: &NodeGraph, demands: &[Demand]) -> Option<Vec<bool>> {
        let n_nodes = graph.nodes.len();
        let mut before_them: Vec<Vec<usize>> = vec![Vec::new(); n_nodes];
        for index in 0..n_nodes {
            graph.edges[graph.edges_of(index)].iter().for_each(|edge| before_them[edge.next].push(index));
        }
        let mut left = vec![true; n_nodes];
        loop {
            // Each demand looks at every edge at most twice, forwards and backwards.
            self.looks.set(self.looks.get() + graph.edges.len() as u64 * (1 + 2 * demands.len() as u64));
            if self.looks.get() > self.turn_graph.most_looks {
                return None;
            }
            let before = left.clone();
            for index in 0..n_nodes {
                left[index] = left[index] && graph.edges[graph.edges_of(index)].iter().any(|edge| left[edge.next]);
            }
            for Demand { free, met } in demands {
                let meets = |index: usize| {
                    left[index] && graph.edges_of(index).any(|edge| met[edge] && left[graph.edges[edge].next])
                };
                let mut reaches = vec![false; n_nodes];
                let mut open: Vec<usize> = (0..n_nodes).filter(|&index| meets(index)).collect();
                while let Some(index) = open.pop() {
                    if left[index] && !std::mem::replace(&mut reaches[index], true) {
                        open.extend(&before_them[index]);
                    }
                }
                for index in 0..n_nodes {
                    left[index] = left[index] && (free[index] || reaches[index]);
                }
            }
            if left == before {
                return Some(left);
            }
        }
    }
}
