//! Layers of nodes by their distance: from where runs begin, and to a goal.
//!
//! In: a graph and a set of nodes. Out: layers ahead, each one edge further, made as far as the caller needs them, so that paths
//! are shortest; or rings behind, one for each image that brought something, so that paths are found soon.

use base::StopReason;

use super::{NodeSets, SymbolicGraph, is_nothing};

/// Layers from where runs begin.
pub struct Layers {
    /// The nodes at each distance.
    pub layers: Vec<NodeSets>,
    seen: NodeSets,
}

impl Layers {
    /// The first layer.
    pub fn new(from: NodeSets) -> Self {
        Layers { seen: from.clone(), layers: vec![from] }
    }

    /// The number of the first layer that intersects the nodes, and the nodes in both; `None` where no layer does.
    pub fn first_within(
        &mut self,
        graph: &SymbolicGraph<'_>,
        nodes: &NodeSets,
    ) -> Result<Option<(usize, NodeSets)>, StopReason> {
        let mut at = 0;
        loop {
            let common = graph.both(&self.layers[at], nodes)?;
            if !is_nothing(&common) {
                return Ok(Some((at, common)));
            }
            at += 1;
            if at == self.layers.len() && !self.extend(graph)? {
                return Ok(None);
            }
        }
    }

    /// Adds a layer; says whether there was one.
    fn extend(&mut self, graph: &SymbolicGraph<'_>) -> Result<bool, StopReason> {
        let last = &self.layers[self.layers.len() - 1];
        let mut next = graph.nothing();
        for edge in 0..graph.edges.len() {
            for (from, set) in last.iter().enumerate() {
                graph.push(set, (edge, from), &mut next, None)?;
            }
            (graph.pause)()?;
        }
        let next = graph.minus(&next, &self.seen)?;
        if is_nothing(&next) {
            return Ok(false);
        }
        for (seen, new) in self.seen.iter_mut().zip(&next) {
            *seen = graph.bdd(graph.space.or(seen, new))?;
        }
        self.layers.push(next);
        Ok(true)
    }
}

impl SymbolicGraph<'_> {
    /// Rings around a target, growing, each with all before it, until one contains a node: its vector and state of the automaton.
    /// From each node of a ring but the first, some edge leads into an earlier one.
    pub fn rings(
        &self,
        target: NodeSets,
        within: &NodeSets,
        until: (&[bool], usize),
    ) -> Result<Vec<NodeSets>, StopReason> {
        let mut rings = vec![target.clone()];
        let mut found = target;
        let mut rest = self.minus(within, &found)?;
        if !found[until.1].contains(until.0) {
            self.pull(&mut found, &mut rest, |_, found, _| {
                rings.push(found.clone());
                Ok(found[until.1].contains(until.0))
            })?;
        }
        Ok(rings)
    }

    /// The node before the one given, in an earlier set, as a vector and a state of the automaton.
    pub fn one_before(
        &self,
        (vector, state): (&[bool], usize),
        earlier: &NodeSets,
    ) -> Result<Option<(Vec<bool>, usize)>, StopReason> {
        let here = self.single(vector)?;
        for edge in 0..self.edges.len() {
            let mut before = None;
            for step in self.moves.iter().filter(|step| step.to == state) {
                let from = self.bdd(self.space.and(&earlier[step.from], &self.edges[edge].guard))?;
                let found = self.leading(from, (edge, step), &here, &mut before)?;
                if let Some(vector) = self.space.pick(&found) {
                    return Ok(Some((vector, step.from)));
                }
            }
        }
        Ok(None)
    }
}
