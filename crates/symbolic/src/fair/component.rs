//! A terminal component of a set of nodes: once there, a run cannot leave it without leaving the set.
//!
//! In: the nodes that can start fair runs, and one of them. Out: a strongly connected set of them that no edge leaves.
//! Every condition that is not satisfied in it is one of which all its nodes are free, so it has a fair run.

use base::StopReason;

use super::{NodeSets, SymbolicGraph, is_nothing};
use crate::bdd::Bdd;

impl SymbolicGraph<'_> {
    /// A terminal component that can be reached from a node, which is given as a set with a vector in one place.
    pub fn terminal(&self, nodes: &NodeSets, from: NodeSets) -> Result<NodeSets, StopReason> {
        let mut from = from;
        loop {
            let ahead = self.forward(from.clone(), Some(nodes))?;
            let mut returning = from.clone();
            let mut rest = self.minus(&ahead, &from)?;
            self.pull(&mut returning, &mut rest, |_, _, _| Ok(false))?;
            if is_nothing(&rest) {
                return Ok(ahead);
            }
            from = self.one_of(&rest)?;
        }
    }

    /// A set of one node of the set, which is not empty.
    pub fn one_of(&self, nodes: &NodeSets) -> Result<NodeSets, StopReason> {
        let mut one = self.nothing();
        let found = nodes.iter().enumerate().find_map(|(state, set)| Some((state, self.space.pick(set)?)));
        if let Some((state, vector)) = found {
            one[state] = self.single(&vector)?;
        }
        Ok(one)
    }

    /// The set of one vector.
    pub fn single(&self, vector: &[bool]) -> Result<Bdd, StopReason> {
        self.bdd(self.space.single(vector))
    }
}
