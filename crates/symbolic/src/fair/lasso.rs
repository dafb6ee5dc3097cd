//! A run to nodes that can start fair runs and round among them, edge by edge.
//!
//! In: a graph and the nodes of it that can start fair runs. Out: a lasso with its loop in a terminal component of them.
//! The way to the component is shortest; in it, the nearest edge that satisfies a condition which is still open is taken, again
//! and again, then a way back. Nearby edges are found by enumeration, far ones along rings of diagrams. Where the way back is
//! long, the run goes round once more before its loop begins: what was in the way is then done.

use std::collections::{BTreeSet, HashMap, VecDeque};

use base::StopReason;

use super::{EdgeFilter, EdgeRelation, FairnessCondition, GuardedMove, Layers, NodeSets, SymbolicGraph, is_nothing};
use crate::bdd::Bdd;
use crate::change::DiagramUpdate;

/// So many of the values that an edge can carry are tried before diagrams are used.
const FEW_VALUES: usize = 4;

/// So many nodes are visited before diagrams are used.
const NEARBY: usize = 2000;

/// A vector with a state of the automaton.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProductVector {
    /// The vector.
    pub vector: Vec<bool>,
    /// The state of the automaton.
    pub state: usize,
}

/// A node, and the edge that is taken from it.
#[derive(Clone, Debug)]
pub struct Leg {
    /// The node.
    pub node: ProductVector,
    /// The number of the edge's relation.
    pub edge: usize,
}

/// A run that goes round for ever.
#[derive(Clone, Debug)]
pub struct SymbolicLasso {
    /// What comes before the loop.
    pub stem: Vec<Leg>,
    /// The loop, with at least one edge; after it comes its first node again.
    pub turning: Vec<Leg>,
}

/// Where a lasso is searched for.
pub struct LassoSearch<'l> {
    /// The product with the whole automaton.
    pub whole: &'l SymbolicGraph<'l>,
    /// Where runs begin.
    pub start: NodeSets,
    /// The product with the component of the automaton in which the run goes round.
    pub part: &'l SymbolicGraph<'l>,
    /// What a run must do there; `None` for a mark that every move carries.
    pub conditions: &'l [Option<FairnessCondition>],
}

/// An edge that leaves a node.
#[derive(Clone)]
struct LeavingEdge {
    edge: usize,
    step: usize,
    to: ProductVector,
}

impl LassoSearch<'_> {
    /// A lasso through these nodes; `None` where diagrams contradict each other.
    pub fn through(&self, fair: &NodeSets) -> Result<Option<SymbolicLasso>, StopReason> {
        let mut layers = Layers::new(self.start.clone());
        let Some((_, common)) = layers.first_within(self.whole, fair)? else { return Ok(None) };
        let component = self.part.terminal(fair, self.part.one_of(&common)?)?;
        let Some((depth, common)) = layers.first_within(self.whole, &component)? else { return Ok(None) };
        let pick = |(state, set)| Some(ProductVector { vector: self.whole.space.pick(set)?, state });
        let Some(head) = common.iter().enumerate().find_map(pick) else { return Ok(None) };
        let Some(stem) = self.stem(&layers, depth, &head)? else { return Ok(None) };
        let inside = LassoComponent {
            part: self.part,
            conditions: self.conditions,
            needed: self.needed(&component)?,
            component,
        };
        inside.round(stem, head)
    }

    /// The conditions that a run must satisfy in a component: one of which all nodes are free need not be.
    fn needed(&self, component: &NodeSets) -> Result<BTreeSet<usize>, StopReason> {
        let mut needed = BTreeSet::new();
        for (nth, condition) in self.conditions.iter().enumerate() {
            let is_free = match condition.as_ref().and_then(|condition| condition.free.as_ref()) {
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
    fn stem(&self, layers: &Layers, depth: usize, head: &ProductVector) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut stem: Vec<Leg> = Vec::new();
        let mut next = head.clone();
        for layer in layers.layers[..depth].iter().rev() {
            let Some((vector, state)) = self.whole.one_before((&next.vector, next.state), layer)? else {
                return Ok(None);
            };
            let node = ProductVector { vector, state };
            let Some(edge) = self.whole.between(&node, &next) else { return Ok(None) };
            stem.push(Leg { node: node.clone(), edge });
            next = node;
        }
        stem.reverse();
        Ok(Some(stem))
    }
}

impl SymbolicGraph<'_> {
    /// The automaton's moves that a node allows, by number.
    fn open_moves(&self, node: &ProductVector) -> Vec<usize> {
        let is_open = |step: &GuardedMove| step.from == node.state && step.label.contains(&node.vector);
        (0..self.moves.len()).filter(|&nth| is_open(&self.moves[nth])).collect()
    }

    /// An edge from one node to another, by number.
    fn between(&self, from: &ProductVector, to: &ProductVector) -> Option<usize> {
        self.open_moves(from).iter().find(|&&step| self.moves[step].to == to.state)?;
        let leads = |edge: &EdgeRelation| match &edge.update {
            None => edge.guard.contains(&from.vector) && from.vector == to.vector,
            Some(change) => change.leads(&edge.guard, &from.vector, &to.vector),
        };
        self.edges.iter().position(leads)
    }

    /// The edges that leave a node for nodes given; of those that carry values, which can be very many, a few.
    fn leaving(&self, node: &ProductVector, within: &NodeSets) -> Result<Vec<LeavingEdge>, StopReason> {
        let open = self.open_moves(node);
        let mut leaving = Vec::new();
        for (nth, edge) in self.edges.iter().enumerate().filter(|_| !open.is_empty()) {
            let to =
                |step: usize, vector: &Vec<bool>| ProductVector { vector: vector.clone(), state: self.moves[step].to };
            match &edge.update {
                Some(change) if change.is_carrying() => {
                    let ahead = self.ahead(edge, node)?;
                    for &step in &open {
                        let mut rest = self.bdd(self.space.and(&ahead, &within[self.moves[step].to]))?;
                        for _ in 0..FEW_VALUES {
                            let Some(vector) = self.space.pick(&rest) else { break };
                            leaving.push(LeavingEdge { edge: nth, step, to: to(step, &vector) });
                            rest = self.bdd(self.space.minus(&rest, &self.single(&vector)?))?;
                        }
                    }
                }
                update if edge.guard.contains(&node.vector) => {
                    let vector = update.as_ref().map_or_else(|| node.vector.clone(), |one| one.after(&node.vector));
                    let is_within =
                        |step: &&usize| vector == node.vector || within[self.moves[**step].to].contains(&vector);
                    let steps = open.iter().filter(is_within);
                    leaving.extend(steps.map(|&step| LeavingEdge { edge: nth, step, to: to(step, &vector) }));
                }
                _ => {}
            }
        }
        Ok(leaving)
    }

    /// The vectors after an edge that carries values.
    fn ahead(&self, edge: &EdgeRelation, node: &ProductVector) -> Result<Bdd, StopReason> {
        let Some(change) = &edge.update else { return self.single(&node.vector) };
        let here = self.single(&node.vector)?;
        self.bdd(change.image(self.space, &here, &edge.guard))
    }
}

impl EdgeFilter {
    fn contains(&self, vector: &[bool], taken: &LeavingEdge) -> bool {
        self.from.as_ref().is_none_or(|from| from.contains(vector))
            && self.edges.as_ref().is_none_or(|list| list.contains(&taken.edge))
            && self.moves.as_ref().is_none_or(|list| list.contains(&taken.step))
    }
}

/// The component in which a run goes round.
struct LassoComponent<'l> {
    part: &'l SymbolicGraph<'l>,
    conditions: &'l [Option<FairnessCondition>],
    component: NodeSets,
    needed: BTreeSet<usize>,
}

impl LassoComponent<'_> {
    /// The stem, maybe longer, and a loop.
    fn round(&self, mut stem: Vec<Leg>, mut head: ProductVector) -> Result<Option<SymbolicLasso>, StopReason> {
        let Some((mut turning, mut end)) = self.collect(&head)? else { return Ok(None) };
        for is_last in [false, true] {
            if end == head && !turning.is_empty() {
                return Ok(Some(SymbolicLasso { stem, turning }));
            }
            let back = match self.nearby(&end, |_, taken| taken.to == head)? {
                Some((back, _)) => Some(back),
                None if is_last => self.back(&end, &head)?,
                None => None,
            };
            if let Some(back) = back {
                turning.extend(back);
                return Ok(Some(SymbolicLasso { stem, turning }));
            }
            if is_last {
                break;
            }
            stem.append(&mut turning);
            head = end;
            let Some(again) = self.collect(&head)? else { return Ok(None) };
            (turning, end) = again;
        }
        Ok(None)
    }

    fn satisfies(&self, condition: usize, node: &ProductVector, taken: &LeavingEdge) -> bool {
        let condition = self.conditions[condition].as_ref();
        condition.is_none_or(|condition| condition.filters.iter().any(|filter| filter.contains(&node.vector, taken)))
    }

    /// Edges from a node on that satisfy all that is needed, and where they end.
    fn collect(&self, from: &ProductVector) -> Result<Option<(Vec<Leg>, ProductVector)>, StopReason> {
        let mut legs: Vec<Leg> = Vec::new();
        let mut missing = self.needed.clone();
        let mut at = from.clone();
        while !missing.is_empty() {
            let wanted =
                |node: &ProductVector, taken: &LeavingEdge| missing.iter().any(|&nth| self.satisfies(nth, node, taken));
            let path = match self.nearby(&at, wanted)? {
                Some(path) => Some(path),
                None => self.far(&at, &missing)?,
            };
            let Some((path, last)) = path else { return Ok(None) };
            let node = path.last().map_or(&at, |leg| &leg.node).clone();
            missing.retain(|&nth| !self.satisfies(nth, &node, &last));
            legs.extend(path);
            at = last.to;
        }
        Ok(Some((legs, at)))
    }

    /// The edges that stay inside; those that change nothing first.
    fn edges(&self, node: &ProductVector) -> Result<Vec<LeavingEdge>, StopReason> {
        let mut edges = self.part.leaving(node, &self.component)?;
        edges.retain(|taken| taken.to == *node || self.component[taken.to.state].contains(&taken.to.vector));
        edges.sort_by_key(|taken| taken.to != *node);
        Ok(edges)
    }

    /// The edges that carry values, each with one that leads as far ahead as possible along rings.
    fn carrying(&self, node: &ProductVector, rings: &[NodeSets]) -> Result<Vec<LeavingEdge>, StopReason> {
        let mut found = Vec::new();
        let open = self.part.open_moves(node);
        let carries = |edge: &EdgeRelation| edge.update.as_ref().is_some_and(DiagramUpdate::is_carrying);
        for (nth, edge) in self.part.edges.iter().enumerate().filter(|(_, edge)| carries(edge)) {
            let ahead = self.part.ahead(edge, node)?;
            for &step in &open {
                let state = self.part.moves[step].to;
                let mut nearest = None;
                for ring in rings {
                    let common = self.part.bdd(self.part.space.and(&ahead, &ring[state]))?;
                    if let Some(vector) = self.part.space.pick(&common) {
                        nearest = Some(vector);
                        break;
                    }
                }
                found.extend(nearest.map(|vector| LeavingEdge {
                    edge: nth,
                    step,
                    to: ProductVector { vector, state },
                }));
            }
        }
        Ok(found)
    }

    /// The shortest way whose last edge is wanted, and that edge, if there is one not far from here.
    fn nearby(
        &self,
        from: &ProductVector,
        wanted: impl Fn(&ProductVector, &LeavingEdge) -> bool,
    ) -> Result<Option<(Vec<Leg>, LeavingEdge)>, StopReason> {
        let mut before: HashMap<ProductVector, Option<Leg>> = HashMap::from([(from.clone(), None)]);
        let mut open = VecDeque::from([from.clone()]);
        while let Some(node) = open.pop_front() {
            let edges = self.edges(&node)?;
            if let Some(taken) = edges.iter().find(|taken| wanted(&node, taken)) {
                let mut path = vec![Leg { node: node.clone(), edge: taken.edge }];
                let mut at = node;
                while let Some(Some(leg)) = before.get(&at) {
                    at = leg.node.clone();
                    path.push(leg.clone());
                }
                path.reverse();
                return Ok(Some((path, taken.clone())));
            }
            if before.len() > NEARBY {
                return Ok(None);
            }
            for taken in edges {
                if !before.contains_key(&taken.to) {
                    before.insert(taken.to.clone(), Some(Leg { node: node.clone(), edge: taken.edge }));
                    open.push_back(taken.to);
                }
            }
        }
        Ok(None)
    }

    /// A path to an edge that satisfies something missing, along rings, and that edge.
    fn far(
        &self,
        from: &ProductVector,
        missing: &BTreeSet<usize>,
    ) -> Result<Option<(Vec<Leg>, LeavingEdge)>, StopReason> {
        let mut target = self.part.nothing();
        for condition in missing.iter().filter_map(|&nth| self.conditions[nth].as_ref()) {
            for filter in &condition.filters {
                let sources = self.part.sources_of(&self.component, filter)?;
                for (target, sources) in target.iter_mut().zip(&sources) {
                    *target = self.part.bdd(self.part.space.or(target, sources))?;
                }
            }
        }
        let Some((mut path, end)) = self.along_rings(from, target)? else { return Ok(None) };
        let satisfies = |taken: &LeavingEdge| missing.iter().any(|&nth| self.satisfies(nth, &end, taken));
        let Some(taken) = self.edges(&end)?.into_iter().find(|taken| satisfies(taken)) else { return Ok(None) };
        path.push(Leg { node: end, edge: taken.edge });
        Ok(Some((path, taken)))
    }

    /// A way back along rings, of at least one edge.
    fn back(&self, from: &ProductVector, head: &ProductVector) -> Result<Option<Vec<Leg>>, StopReason> {
        let mut legs = Vec::new();
        let mut from = from.clone();
        if from == *head {
            let Some(taken) = self.edges(&from)?.pop() else { return Ok(None) };
            legs.push(Leg { node: from, edge: taken.edge });
            from = taken.to;
        }
        let mut target = self.part.nothing();
        target[head.state] = self.part.single(&head.vector)?;
        let Some((path, _)) = self.along_rings(&from, target)? else { return Ok(None) };
        legs.extend(path);
        Ok(Some(legs))
    }

    /// A way to a node of the target, and that node.
    fn along_rings(
        &self,
        from: &ProductVector,
        target: NodeSets,
    ) -> Result<Option<(Vec<Leg>, ProductVector)>, StopReason> {
        let rings = self.part.rings(target, &self.component, (&from.vector, from.state))?;
        let ring_of = |node: &ProductVector| rings.partition_point(|ring| !ring[node.state].contains(&node.vector));
        let mut path: Vec<Leg> = Vec::new();
        let mut at = from.clone();
        let mut ring = ring_of(&at);
        while ring > 0 {
            let ahead = self.edges(&at)?.into_iter().chain(self.carrying(&at, &rings)?);
            let nearest = ahead.min_by_key(|taken| ring_of(&taken.to));
            let Some(taken) = nearest.filter(|taken| ring_of(&taken.to) < ring) else { return Ok(None) };
            ring = ring_of(&taken.to);
            path.push(Leg { node: at, edge: taken.edge });
            at = taken.to;
        }
        Ok(Some((path, at)))
    }
}
