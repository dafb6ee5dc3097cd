//! A short run to a component and round in it, with all that the component needs.
//!
//! In: a graph and a fair component. Out: a lasso: edges to the component, then edges that return to where they started and carry
//! every mark that is needed. The way to the component is shortest; in it, the nearest edge with a mark that is still missing
//! is taken, again and again, and then the shortest way back.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::emptiness::{Component, FairGraph};

/// An edge with the node that it leaves.
pub type TakenEdge = (u32, u32);

/// A run that goes round for ever.
#[derive(Clone, Debug)]
pub struct FairLasso {
    /// The edges before the loop.
    pub stem: Vec<TakenEdge>,
    /// The edges of the loop, at least one.
    pub turning: Vec<TakenEdge>,
}

/// A lasso through a component.
pub fn through(graph: &impl FairGraph, component: &Component) -> FairLasso {
    let inside = |node: u32| component.regions[node as usize] == component.region;
    let stem = path(graph, &graph.initial(), |_| true, |node, _| inside(node));
    let start = stem.end;
    let mut turning: Vec<TakenEdge> = Vec::new();
    let mut missing = component.needed.clone();
    let mut at = start;
    while missing.iter().any(|&word| word != 0) {
        let carries = |node: u32, edge: u32| {
            let mut row = vec![0; missing.len()];
            graph.add_marks(node, edge, &mut row);
            inside(graph.target(node, edge)) && row.iter().zip(&missing).any(|(&has, &needs)| has & needs != 0)
        };
        let way = path(graph, &[at], inside, |node, edge| edge.is_some_and(|edge| carries(node, edge)));
        for &(node, edge) in way.edges.iter().chain(&way.last) {
            let mut row = vec![0; missing.len()];
            graph.add_marks(node, edge, &mut row);
            missing.iter_mut().zip(&row).for_each(|(needs, &has)| *needs &= !has);
            turning.push((node, edge));
            at = graph.target(node, edge);
        }
    }
    if turning.is_empty() || at != start {
        let returns = |node: u32, edge: u32| graph.target(node, edge) == start;
        let way = path(graph, &[at], inside, |node, edge| edge.is_some_and(|edge| returns(node, edge)));
        turning.extend(way.edges.iter().chain(&way.last));
    }
    FairLasso { stem: stem.edges, turning }
}

/// A shortest way.
struct ShortestPath {
    edges: Vec<TakenEdge>,
    /// The edge that was searched for, where one was.
    last: Option<TakenEdge>,
    /// The node at its end, before `last`.
    end: u32,
}

/// The shortest way through allowed nodes to a node (asked without an edge) or an edge that is wanted; there must be one.
fn path(
    graph: &impl FairGraph,
    from: &[u32],
    allowed: impl Fn(u32) -> bool,
    wanted: impl Fn(u32, Option<u32>) -> bool,
) -> ShortestPath {
    let mut before: FxHashMap<u32, Option<TakenEdge>> = from.iter().map(|&node| (node, None)).collect();
    let mut open: VecDeque<u32> = from.iter().copied().collect();
    while let Some(node) = open.pop_front() {
        let found = match wanted(node, None) {
            true => Some(None),
            false => (0..graph.n_edges(node)).find(|&edge| wanted(node, Some(edge))).map(|edge| Some((node, edge))),
        };
        if let Some(last) = found {
            let mut edges = Vec::new();
            let mut at = node;
            while let Some(&Some((source, edge))) = before.get(&at) {
                edges.push((source, edge));
                at = source;
            }
            edges.reverse();
            return ShortestPath { edges, last, end: node };
        }
        for edge in 0..graph.n_edges(node) {
            let target = graph.target(node, edge);
            if allowed(target) && !before.contains_key(&target) {
                before.insert(target, Some((node, edge)));
                open.push_back(target);
            }
        }
    }
    unreachable!("components are reachable and strongly connected")
}
