//! Refutation round the ring: why no fair run violates a temporal property at any process, whatever the size.
//!
//! In: the graphs of windows, and a temporal property about each process. Out: whether every way to violate it is excluded. A *node* is a word with a fair
//! component of its edges: that what a window with this word does again and again lies within it. If it does, what its neighbours do again and again lies
//! within fair components of the edges that are compatible, and so on round the ring.
//!
//! *R*: no closed walk to the right (left) comes back to the word with something fair in common, passes the first process once, and has
//! the weights of the flows: then there is no such window. *P*: what is not compatible with any component of a neighbour is lost; each fair
//! component of the rest is a node, and if all are excluded, so is the whole. Each excluded node is a lemma for those that follow. Nothing is assumed
//! of a neighbour that was not shown, so no question of circularity arises. In trees `finite` takes the place of *R*. Every rule succeeds where more is excluded, so the order does not matter.

mod finite;

use std::rc::Rc;

use base::{Budget, StopReason};
use engine::PropertyId;
use evidence::plain::{ReferenceAutomaton, violations};
use evidence::rings::Network;
use model::Model;
use model::eval::Viewpoint;
use model::fairness::FairnessId;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use streett::{EdgeBits, GraphArc, MarkedGraph, StreettPair};

use crate::config::Config;
use crate::question::touched;
use crate::runs::{Runs, Side};
use crate::walk::Weights;
use crate::windows::{Failure, Shape, Windows};

/// Whether windows exclude every violation of a temporal property about each process.
///
/// # Errors
/// A limit.
pub fn is_refuted(
    windows: &Windows<'_>,
    (model, property): (&Model, PropertyId),
    flows: &[Weights],
    budget: &Budget,
) -> Result<bool, StopReason> {
    let mut actions = windows.sizes.instances.iter().map(|instance| instance.model.actions.len());
    let first = actions.next();
    if actions.any(|n| Some(n) != first) {
        return Ok(false);
    }
    let runs = match Runs::new(windows, budget) {
        Ok(Some(runs)) => runs,
        Ok(None) | Err(Failure::Outside) => return Ok(false),
        Err(Failure::Stopped(reason)) => return Err(reason),
    };
    let assumed = &model.properties[property].under.any_of;
    // A run of which an assumption has no value decides nothing, and windows do not look at it.
    if assumed.iter().flatten().any(|&pair| model.fairness[pair].can_fault_at_some_size()) {
        return Ok(false);
    }
    let Some(goals) = goals(&runs, property, assumed) else { return Ok(false) };
    for goal in goals {
        let shapes = 0..windows.shapes.len();
        let conditions = shapes.map(|shape| runs.conditions(shape, model, &goal.fairness)).collect();
        let mut refuter = Refuter::new(&runs, flows, conditions, budget);
        if !refuter.refutes(&goal)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The ways to violate a property under one set of assumptions: for each word those of its first process.
struct Goal {
    /// The assumptions.
    fairness: Vec<FairnessId>,
    /// Automata with the truth of their atoms at each state, by word.
    automata: Vec<Vec<Read>>,
}

/// An automaton, and for each of its atoms its truth at each state of a window.
type Read = (Rc<ReferenceAutomaton>, Vec<Vec<bool>>);

/// All ways to violate a property; `None` where windows do not see what it speaks of, or it has no value.
fn goals(runs: &Runs<'_, '_>, property: PropertyId, assumed: &[Vec<FairnessId>]) -> Option<Vec<Goal>> {
    let windows = runs.windows;
    let mut goals: Vec<Goal> =
        assumed.iter().map(|fairness| Goal { fairness: fairness.clone(), automata: Vec::new() }).collect();
    for (shape, window) in windows.shapes.iter().enumerate() {
        let Shape { instance, stand, .. } = window;
        let instance = &windows.sizes.instances[*instance];
        let asked = &instance.model.properties[property];
        let PropertyKind::Temporal(formula) = &asked.kind else { return None };
        // The assumptions are those of the program at hand, at whatever size.
        if asked.under.any_of != assumed {
            return None;
        }
        let me = Value::Process(ProcessId::new(stand.at));
        let all = violations(&instance.model, asked, formula).ok()?;
        let mine: Vec<_> = all.iter().filter(|one| matches!(&one.instance[..], [(_, who)] if *who == me)).collect();
        // Each part of what is said about the process, under each set of assumptions.
        if mine.is_empty() || !mine.len().is_multiple_of(goals.len()) {
            return None;
        }
        for goal in &mut goals {
            let mut automata = Vec::new();
            for violation in mine.iter().filter(|one| one.fairness == goal.fairness) {
                automata.push((violation.automaton.clone(), truths(windows, shape, &violation.automaton)?));
            }
            goal.automata.push(automata);
        }
    }
    Some(goals)
}

/// The truth of the atoms of an automaton at each state of a window.
fn truths(windows: &Windows<'_>, shape: usize, automaton: &ReferenceAutomaton) -> Option<Vec<Vec<bool>>> {
    let window = &windows.shapes[shape];
    let instance = &windows.sizes.instances[window.instance];
    let mut found = Vec::new();
    for atom in &automaton.atoms {
        if !touched(instance, &atom.expr, &atom.bound)?.iter().all(|part| window.parts.contains(part)) {
            return None;
        }
        let truth = |state: &crate::windows::WindowState| {
            let whole = instance.filled(&window.parts, state, window.stand);
            Viewpoint::of_instance(&instance.model, &whole, &atom.bound).truth(&atom.expr).ok()
        };
        found.push(windows.theta[shape].states.iter().map(truth).collect::<Option<Vec<bool>>>()?);
    }
    Some(found)
}

/// A word with a fair component of its edges.
struct Node {
    shape: usize,
    edges: EdgeBits,
    is_dead: bool,
    /// What it falls apart into, by the neighbours.
    parts: Option<Vec<usize>>,
    /// The components of neighbours on each side, where they were computed.
    beside: Vec<Option<Vec<usize>>>,
    /// The least and the greatest weight of each flow.
    weights: Vec<(u64, u64)>,
}

struct Refuter<'r, 'w, 'a> {
    runs: &'r Runs<'w, 'a>,
    flows: Vec<&'r Weights>,
    conditions: Vec<Vec<StreettPair>>,
    nodes: Vec<Node>,
    numbers: FxHashMap<(usize, EdgeBits), usize>,
    /// Whether two nodes of one word have something fair in common.
    meets: FxHashMap<(usize, usize), bool>,
    budget: &'r Budget,
}

/// Somewhere on a walk.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Step {
    node: usize,
    has_passed: bool,
    sums: Vec<(u64, u64)>,
}

impl<'r, 'w, 'a> Refuter<'r, 'w, 'a> {
    fn new(
        runs: &'r Runs<'w, 'a>,
        flows: &'r [Weights],
        conditions: Vec<Vec<StreettPair>>,
        budget: &'r Budget,
    ) -> Self {
        // What all share is counted once, which components do not say.
        let is_local = |flow: &&Weights| flow.shared.iter().flatten().all(|&weight| weight == 0);
        let flows = flows.iter().filter(is_local).collect();
        let (numbers, meets) = Default::default();
        Refuter { runs, flows, conditions, nodes: Vec::new(), numbers, meets, budget }
    }

    fn config(&self) -> &Config {
        &self.runs.windows.ring.config
    }

    fn refutes(&mut self, goal: &Goal) -> Result<bool, StopReason> {
        let mut wanted = Vec::new();
        for (shape, automata) in goal.automata.iter().enumerate() {
            for (automaton, truths) in automata {
                for component in self.violating(shape, automaton, truths) {
                    wanted.push(self.node(shape, component));
                }
            }
        }
        for _ in 0..self.config().window_rounds {
            // What is in no finite tree is excluded first: parts of the others are dear.
            while self.is_tree() && self.prune()? {}
            if wanted.iter().all(|&node| self.nodes[node].is_dead) {
                return Ok(true);
            }
            let mut is_new = false;
            let mut at = 0;
            while at < self.nodes.len() {
                self.budget.check(0)?;
                if self.nodes.len() > self.config().window_components {
                    return Ok(false);
                }
                if !self.nodes[at].is_dead {
                    is_new |= self.look_at(at)?;
                }
                at += 1;
            }
            if !is_new {
                return Ok(wanted.iter().all(|&node| self.nodes[node].is_dead));
            }
        }
        Ok(wanted.iter().all(|&node| self.nodes[node].is_dead))
    }

    /// The fair components of the product of a window with an automaton, as edges of the window.
    fn violating(&self, shape: usize, automaton: &ReferenceAutomaton, truths: &[Vec<bool>]) -> Vec<EdgeBits> {
        let graph = &self.runs.graphs[shape].graph;
        let mut nodes: Vec<(usize, usize)> = self.runs.windows.initial[shape].iter().map(|&state| (state, 0)).collect();
        let mut numbers: FxHashMap<(usize, usize), usize> = nodes.iter().copied().zip(0..).collect();
        let (mut arcs, mut base, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(&(row, state)) = nodes.get(at) {
            let readings = automaton.states[state].iter();
            for reading in readings.filter(|one| one.literals.iter().all(|&(atom, is)| truths[atom][row] == is)) {
                for &edge in graph.leaving(row) {
                    let target = (graph.arc(edge as usize).to as usize, reading.target);
                    let to = *numbers.entry(target).or_insert_with(|| {
                        nodes.push(target);
                        nodes.len() - 1
                    });
                    arcs.push(GraphArc { from: at as u32, to: to as u32 });
                    base.push(edge as usize);
                    marks.push(reading.marks.as_slice());
                }
            }
            at += 1;
        }
        let lifted = |one: &StreettPair| StreettPair {
            stays: one.stays.as_ref().map(|stays| nodes.iter().map(|node| stays[node.0]).collect()),
            often: EdgeBits::where_true(base.len(), |edge| one.often.contains(base[edge])),
        };
        let marked = |mark: usize| StreettPair {
            stays: None,
            often: EdgeBits::where_true(base.len(), |edge| marks[edge].contains(&mark)),
        };
        let conditions: Vec<StreettPair> =
            self.conditions[shape].iter().map(lifted).chain((0..automaton.n_marks).map(marked)).collect();
        let product = MarkedGraph::new(nodes.len(), arcs);
        let all = EdgeBits::all(base.len());
        let project = |component: EdgeBits| {
            let mut edges = EdgeBits::none(graph.n_edges());
            component.iter().for_each(|edge| edges.insert(base[edge]));
            edges
        };
        product.fair_components(&all, &conditions).into_iter().map(project).collect()
    }

    fn fair(&self, shape: usize, set: &EdgeBits) -> Vec<EdgeBits> {
        self.runs.graphs[shape].graph.fair_components(set, &self.conditions[shape])
    }

    fn node(&mut self, shape: usize, edges: EdgeBits) -> usize {
        if let Some(&known) = self.numbers.get(&(shape, edges.clone())) {
            return known;
        }
        let graph = &self.runs.graphs[shape].graph;
        let range = |flow: &&Weights| {
            let weights = edges.iter().map(|edge| flow.here[shape][graph.arc(edge).from as usize]);
            weights.fold((u64::MAX, 0), |(least, most), weight| (least.min(weight), most.max(weight)))
        };
        let weights = self.flows.iter().map(range).collect();
        self.numbers.insert((shape, edges.clone()), self.nodes.len());
        let beside = vec![None; self.sides(shape).len()];
        self.nodes.push(Node { shape, edges, is_dead: false, parts: None, beside, weights });
        self.nodes.len() - 1
    }

    fn is_tree(&self) -> bool {
        self.runs.windows.ring.network == Network::Tree
    }

    /// On which sides of a window there are others.
    fn sides(&self, shape: usize) -> Vec<Side> {
        if self.is_tree() { self.branches(shape) } else { vec![Side::Right(1), Side::Left(1)] }
    }

    /// The components of neighbours on a side, as they are known now: in parts, and without those that are excluded.
    fn beside(&mut self, node: usize, side: usize) -> Vec<usize> {
        if self.nodes[node].beside[side].is_none() {
            let (shape, edges) = (self.nodes[node].shape, self.nodes[node].edges.clone());
            let mut found = Vec::new();
            for (other, compatible) in self.runs.beside(shape, &edges, self.sides(shape)[side]) {
                for component in self.fair(other, &compatible) {
                    found.push(self.node(other, component));
                }
            }
            self.nodes[node].beside[side] = Some(found);
        }
        let all = self.nodes[node].beside[side].clone().unwrap_or_default();
        let mut live = Vec::new();
        all.into_iter().for_each(|node| self.live(node, &mut live));
        live.sort_unstable();
        live.dedup();
        live
    }

    /// A node that is not excluded, or its parts that are not.
    fn live(&self, node: usize, into: &mut Vec<usize>) {
        match &self.nodes[node] {
            Node { is_dead: true, .. } => {}
            Node { parts: Some(parts), .. } => parts.iter().for_each(|&part| self.live(part, into)),
            _ => into.push(node),
        }
    }

    /// Tries all rules on a node; whether something new is known.
    fn look_at(&mut self, node: usize) -> Result<bool, StopReason> {
        if self.is_within_dead(node) || self.nodes[node].parts.is_some() && self.has_dead_parts(node) {
            self.nodes[node].is_dead = true;
            return Ok(true);
        }
        // Its parts say more.
        if self.nodes[node].parts.is_some() {
            return Ok(false);
        }
        let n_sides = self.nodes[node].beside.len();
        for side in 0..n_sides {
            if !self.is_tree() && !self.comes_back(node, side)? {
                self.nodes[node].is_dead = true;
                return Ok(true);
            }
        }
        for side in 0..n_sides {
            if let Some(parts) = self.parts(node, side) {
                self.nodes[node].parts = Some(parts);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_dead_parts(&self, node: usize) -> bool {
        let mut live = Vec::new();
        self.live(node, &mut live);
        live.is_empty()
    }

    fn is_within_dead(&self, node: usize) -> bool {
        let Node { shape, edges, .. } = &self.nodes[node];
        self.nodes.iter().any(|other| other.is_dead && other.shape == *shape && edges.is_subset(&other.edges))
    }

    /// Rule P: the fair components of what each component of a neighbour leaves; `None` where one leaves all.
    fn parts(&mut self, node: usize, side: usize) -> Option<Vec<usize>> {
        let mut parts = Vec::new();
        for other in self.beside(node, side) {
            let Node { shape, edges, .. } = &self.nodes[node];
            let theirs = &self.nodes[other];
            let mut left = self.runs.back((*shape, theirs.shape), &theirs.edges, self.sides(*shape)[side]);
            left.intersect(edges);
            let (shape, components) = (*shape, self.fair(*shape, &left));
            if components.contains(edges) {
                return None;
            }
            for component in components {
                parts.push(self.node(shape, component));
            }
        }
        parts.sort_unstable();
        parts.dedup();
        Some(parts)
    }

    /// Rule R: whether some walk to a side comes back.
    fn comes_back(&mut self, start: usize, side: usize) -> Result<bool, StopReason> {
        let first = self.step((start, false), &vec![(0, 0); self.flows.len()]);
        let Some(first) = first else { return Ok(false) };
        let mut known: FxHashSet<Step> = FxHashSet::from_iter([first.clone()]);
        let mut open = vec![first];
        while let Some(step) = open.pop() {
            self.budget.check(0)?;
            for node in self.beside(step.node, side) {
                if self.closes(start, node, &step) {
                    return Ok(true);
                }
                if let Some(next) = self.step((node, step.has_passed), &step.sums)
                    && known.insert(next.clone())
                {
                    open.push(next);
                }
            }
            if self.nodes.len() > self.config().window_components {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the windows of a node begin with the first process; `None` where that does not show.
    fn is_marked(&self, node: usize) -> Option<bool> {
        let windows = self.runs.windows;
        windows.ring.distances.is_marked(windows.shapes[self.nodes[node].shape].word[0])
    }

    /// On to a node; `None` where the first process was passed before, or the weights are too great.
    fn step(&self, (node, has_passed): (usize, bool), sums: &[(u64, u64)]) -> Option<Step> {
        let passes = self.is_marked(node) == Some(true);
        if passes && has_passed {
            return None;
        }
        let mut next = Vec::new();
        for ((sum, weight), flow) in sums.iter().zip(&self.nodes[node].weights).zip(&self.flows) {
            let (least, most) = (sum.0.saturating_add(weight.0), sum.1.saturating_add(weight.1));
            if least > flow.total && !flow.at_least {
                return None;
            }
            next.push((least.min(flow.total), most.min(flow.total)));
        }
        Some(Step { node, has_passed: has_passed || passes, sums: next })
    }

    /// Whether a walk that goes on to a node is closed there.
    fn closes(&mut self, start: usize, node: usize, step: &Step) -> bool {
        let is_round = self.is_marked(start).is_none() || step.has_passed;
        let has_weights = step.sums.iter().zip(&self.flows).all(|(sum, flow)| sum.1 >= flow.total);
        if !is_round || !has_weights || self.nodes[node].shape != self.nodes[start].shape {
            return false;
        }
        if let Some(&known) = self.meets.get(&(start, node)) {
            return known;
        }
        let mut both = self.nodes[start].edges.clone();
        both.intersect(&self.nodes[node].edges);
        let meets = !self.fair(self.nodes[start].shape, &both).is_empty();
        self.meets.insert((start, node), meets);
        meets
    }
}
