//! A run to nodes that can start fair runs and round among them, turn by turn on the reference semantics.
//!
//! In: a product and the nodes of it that can start fair runs. Out: a trace with a loop in a terminal component of them: the way to it is shortest; in
//! it, the nearest edge that meets a demand which is still open is taken, again and again, then a way back. Nearby edges are found
//! by looking, far ones along rings of diagrams. Where the way back is long, the run goes round once more before its loop
//! begins: what was in the way is then done.

use std::collections::{BTreeSet, HashMap, VecDeque};

use base::StopReason;
use evidence::{Trace, TraceEnd};
use ltl::Letter;
use model::eval::{State, Turn, Viewpoint, is_true_of, turns};
use temporal::Violation;

use crate::fair::{Demand, Graph, Layers, Nodes, is_nothing};
use crate::system::System;

/// So many successors are looked at before diagrams are asked.
const NEARBY: usize = 3000;

/// What a run is looked for in.
pub struct Lasso<'l, 'm> {
    /// The program.
    pub system: &'l System<'m>,
    /// What the run must do.
    pub violation: &'l Violation,
    /// The product with the whole automaton.
    pub whole: &'l Graph<'l>,
    /// The product with the component of the automaton in which the run goes round.
    pub part: &'l Graph<'l>,
    /// The demands there: mark by mark of the automaton, `None` for one that every move carries, then fairness pair by pair.
    pub demands: &'l [Option<Demand>],
}

/// A state of the program with a state of the automaton.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    at: usize,
}

/// An edge that leaves a node.
#[derive(Clone)]
struct Taken {
    turn: Turn,
    to: Node,
    /// The marks and pairs that it meets: first the automaton's marks, then the pairs.
    meets: Vec<usize>,
}

/// A node with the edge that is taken from it.
type Leg = (Node, Taken);

/// A stem and a loop; `None` where diagrams and reference semantics differ.
type Found = Option<(Vec<Leg>, Vec<Leg>)>;

impl Lasso<'_, '_> {
    /// A trace through these nodes.
    pub fn through(&self, fair: &Nodes) -> Result<Trace, StopReason> {
        let mut start = self.whole.nothing();
        start[self.violation.automaton.initial.index()] = self.system.initial.clone();
        let mut layers = Layers::new(start);
        let Some((_, met)) = layers.first_within(self.whole, fair)? else { return Ok(self.cut_short()) };
        let component = self.part.terminal(fair, self.part.one_of(&met)?)?;
        let Some((depth, met)) = layers.first_within(self.whole, &component)? else { return Ok(self.cut_short()) };
        let Some(head) = self.pick(&met) else { return Ok(self.cut_short()) };
        let Some(stem) = self.stem(&layers, depth, &head)? else { return Ok(self.cut_short()) };
        let inside = Inside { needed: self.needed(&component)?, lasso: self, component };
        match inside.round(stem, head)? {
            Some((stem, turning)) => Ok(trace(stem, turning)),
            None => Ok(self.cut_short()),
        }
    }

    /// Diagrams are compared with the reference semantics for ever; should they differ, `audit` refuses this.
    fn cut_short(&self) -> Trace {
        let first = self.system.pick(&self.system.initial);
        Trace { states: first.into_iter().collect(), turns: Vec::new(), end: TraceEnd::Loop, loop_from: None }
    }

    fn pick(&self, nodes: &Nodes) -> Option<Node> {
        let one = |(at, set)| Some(Node { state: self.system.pick(set)?, at });
        nodes.iter().enumerate().find_map(one)
    }

    /// The marks and pairs that a run must meet in a component: a pair of which all nodes are free need not be.
    fn needed(&self, component: &Nodes) -> Result<BTreeSet<usize>, StopReason> {
        let mut needed = BTreeSet::new();
        for (nth, demand) in self.demands.iter().enumerate() {
            let is_free = match demand.as_ref().and_then(|demand| demand.free.as_ref()) {
                None => false,
                Some(free) => is_nothing(&self.part.minus(component, &vec![free.clone(); component.len()])?),
            };
            if !is_free {
                needed.insert(nth);
            }
        }
        Ok(needed)
    }

    /// The shortest way to a node, back along the layers.
    fn stem(&self, layers: &Layers, depth: usize, head: &Node) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut stem: Vec<Leg> = Vec::new();
        let mut next = head.clone();
        for layer in layers.layers[..depth].iter().rev() {
            let before = self.whole.one_before((&self.system.vector(&next.state), next.at), layer)?;
            let Some((vector, at)) = before else { return Ok(None) };
            let node = Node { state: self.system.decode(&vector), at };
            let Some(taken) = self.edges(&node).into_iter().find(|taken| taken.to == next) else { return Ok(None) };
            stem.push((node.clone(), taken));
            next = node;
        }
        stem.reverse();
        Ok(Some(stem))
    }

    /// The edges that leave a node.
    fn edges(&self, node: &Node) -> Vec<Taken> {
        let (model, violation) = (self.system.model, self.violation);
        let mut found = turns(model, &node.state);
        if violation.real_steps_only && found.iter().any(|(turn, _)| turn.step().is_some()) {
            found.retain(|(turn, _)| turn.step().is_some());
        }
        // What has no value in a reachable state was refused before.
        let holds = |nth: &usize| {
            let proposition = &violation.propositions[*nth];
            let mut view = Viewpoint::of_instance(model, &node.state, &proposition.bound);
            view.truth(&proposition.expr).unwrap_or(false)
        };
        let letter: Letter = (0..violation.propositions.len()).filter(holds).collect();
        let automaton = &violation.automaton;
        let moves: Vec<_> =
            automaton.states.as_slice()[node.at].edges.iter().filter(|edge| edge.label.contains(&letter)).collect();
        let mut edges = Vec::new();
        for (turn, state) in found {
            let meets_pair = |nth: &usize| {
                let pair = &model.fairness[violation.fairness[*nth]];
                pair.often.iter().any(|often| is_true_of(model, &node.state, &turn, often).unwrap_or(false))
            };
            let pairs: Vec<usize> = (0..violation.fairness.len()).filter(meets_pair).collect();
            for edge in &moves {
                let pairs = pairs.iter().map(|nth| automaton.n_marks + nth);
                let to = Node { state: state.clone(), at: edge.target.index() };
                edges.push(Taken { turn, to, meets: edge.marks.iter().chain(pairs).collect() });
            }
        }
        edges
    }
}

/// The component in which a run goes round.
struct Inside<'l, 'm> {
    lasso: &'l Lasso<'l, 'm>,
    component: Nodes,
    needed: BTreeSet<usize>,
}

impl Inside<'_, '_> {
    /// The stem, maybe longer, and a loop.
    fn round(&self, mut stem: Vec<Leg>, head: Node) -> Result<Found, StopReason> {
        let Some(mut turning) = self.collect(&head)? else { return Ok(None) };
        let mut head = head;
        for is_last in [false, true] {
            let end = turning.last().map_or(&head, |(_, taken)| &taken.to).clone();
            if end == head && !turning.is_empty() {
                return Ok(Some((stem, turning)));
            }
            if let Some(back) = self.nearby(&end, |taken| taken.to == head) {
                turning.extend(back);
                return Ok(Some((stem, turning)));
            }
            if is_last {
                let Some(back) = self.back(&end, &head)? else { return Ok(None) };
                turning.extend(back);
                return Ok(Some((stem, turning)));
            }
            stem.append(&mut turning);
            head = end;
            let Some(again) = self.collect(&head)? else { return Ok(None) };
            turning = again;
        }
        unreachable!("the last attempt ends")
    }

    /// Edges from a node on that meet all that is needed.
    fn collect(&self, from: &Node) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut legs: Vec<Leg> = Vec::new();
        let mut missing = self.needed.clone();
        let mut at = from.clone();
        while !missing.is_empty() {
            let meets = |taken: &Taken| taken.meets.iter().any(|mark| missing.contains(mark));
            let way = match self.nearby(&at, meets) {
                Some(way) => way,
                None => match self.far(&at, &missing)? {
                    Some(way) => way,
                    None => return Ok(None),
                },
            };
            for (node, taken) in way {
                missing.retain(|mark| !taken.meets.contains(mark));
                at = taken.to.clone();
                legs.push((node, taken));
            }
        }
        Ok(Some(legs))
    }

    fn contains(&self, node: &Node) -> bool {
        self.component[node.at].contains(&self.lasso.system.vector(&node.state))
    }

    /// The edges that stay inside; those that change nothing first.
    fn edges(&self, node: &Node) -> Vec<Taken> {
        let mut edges = self.lasso.edges(node);
        edges.retain(|taken| taken.to == *node || self.contains(&taken.to));
        edges.sort_by_key(|taken| taken.to != *node);
        edges
    }

    /// The shortest way whose last edge is wanted, if there is one not far from here.
    fn nearby(&self, from: &Node, wanted: impl Fn(&Taken) -> bool) -> Option<Vec<Leg>> {
        let mut before: HashMap<Node, Option<Leg>> = HashMap::from([(from.clone(), None)]);
        let mut open = VecDeque::from([from.clone()]);
        let mut n_seen = 0;
        while let Some(node) = open.pop_front() {
            let edges = self.edges(&node);
            n_seen += edges.len();
            if let Some(taken) = edges.iter().find(|taken| wanted(taken)) {
                let mut way = vec![(node.clone(), taken.clone())];
                let mut at = node;
                while let Some(Some(leg)) = before.get(&at) {
                    at = leg.0.clone();
                    way.push(leg.clone());
                }
                way.reverse();
                return Some(way);
            }
            if n_seen > NEARBY {
                return None;
            }
            for taken in edges {
                if !before.contains_key(&taken.to) {
                    before.insert(taken.to.clone(), Some((node.clone(), taken.clone())));
                    open.push_back(taken.to);
                }
            }
        }
        None
    }

    /// A way to an edge that meets something missing, along rings.
    fn far(&self, from: &Node, missing: &BTreeSet<usize>) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut target = self.lasso.part.nothing();
        for demand in missing.iter().filter_map(|&nth| self.lasso.demands[nth].as_ref()) {
            self.add_sources(demand, &mut target)?;
        }
        let Some(mut way) = self.along_rings(from, target)? else { return Ok(None) };
        let end = way.last().map_or(from, |(_, taken)| &taken.to).clone();
        let meets = |taken: &Taken| taken.meets.iter().any(|mark| missing.contains(mark));
        let Some(taken) = self.edges(&end).into_iter().find(|taken| meets(taken)) else { return Ok(None) };
        way.push((end, taken));
        Ok(Some(way))
    }

    fn add_sources(&self, demand: &Demand, target: &mut Nodes) -> Result<(), StopReason> {
        let part = self.lasso.part;
        for way in &demand.ways {
            let sources = part.sources_of(&self.component, way)?;
            for (target, sources) in target.iter_mut().zip(&sources) {
                *target = part.bdd(part.space.or(target, sources))?;
            }
        }
        Ok(())
    }

    /// A way back along rings.
    fn back(&self, from: &Node, head: &Node) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut legs = Vec::new();
        let mut from = from.clone();
        if from == *head {
            let Some(taken) = self.edges(&from).pop() else { return Ok(None) };
            legs.push((from, taken.clone()));
            from = taken.to;
        }
        let mut target = self.lasso.part.nothing();
        target[head.at] = self.lasso.part.single(&self.lasso.system.vector(&head.state))?;
        let Some(way) = self.along_rings(&from, target)? else { return Ok(None) };
        legs.extend(way);
        Ok(Some(legs))
    }

    /// A way to a node of the target.
    fn along_rings(&self, from: &Node, target: Nodes) -> Result<Option<Vec<Leg>>, StopReason> {
        let vector = self.lasso.system.vector(&from.state);
        let rings = self.lasso.part.rings(target, &self.component, (&vector, from.at))?;
        let ring_of = |node: &Node| {
            let vector = self.lasso.system.vector(&node.state);
            rings.partition_point(|ring| !ring[node.at].contains(&vector))
        };
        let mut way: Vec<Leg> = Vec::new();
        let mut at = from.clone();
        let mut ring = ring_of(&at);
        while ring > 0 {
            let nearest = self.edges(&at).into_iter().min_by_key(|taken| ring_of(&taken.to));
            let Some(taken) = nearest.filter(|taken| ring_of(&taken.to) < ring) else { return Ok(None) };
            ring = ring_of(&taken.to);
            way.push((at, taken.clone()));
            at = taken.to;
        }
        Ok(Some(way))
    }
}

fn trace(stem: Vec<Leg>, turning: Vec<Leg>) -> Trace {
    let n_stem = stem.len();
    let head = turning[0].0.state.clone();
    let (mut states, mut turns): (Vec<State>, Vec<Turn>) =
        stem.into_iter().chain(turning).map(|(node, taken)| (node.state, taken.turn)).unzip();
    states.push(head);
    turns.shrink_to_fit();
    Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(n_stem) }
}
