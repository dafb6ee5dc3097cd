//! The ranks of an abstract process as a claim: its nodes named by the rows of the split invariant.
//!
//! In: the ranks of a product. Out: the same in the order of the rows, at every depth of the tree.

use evidence::certificate::{Focus, RankReason, RankTree};
use model::process::ProcessId;

use super::product::FocusProduct;
use streett::emptiness::FairGraph;
use streett::ranks::Ranked;

/// Ranks that are not in the order of rows yet.
pub struct Claimable {
    /// For each node the view state of the focus, in the order of stores, and the state of the automaton.
    nodes: Vec<(u32, u32)>,
    tree: Ordered,
}

/// A tree that knows its nodes.
struct Ordered {
    /// Positions in the list of all nodes.
    nodes: Vec<usize>,
    ranks: Vec<u32>,
    reasons: Vec<Why>,
}

enum Why {
    Plain(RankReason),
    Pair(usize, Ordered),
}

impl Claimable {
    /// The ranks of a product.
    pub fn new<const W: usize>(product: &FocusProduct<'_, '_, W>, ranked: &Ranked) -> Self {
        let nodes = ranked
            .nodes
            .iter()
            .map(|&node| (product.base(node).index() as u32, product.automaton_state(node)))
            .collect();
        let is_free = |at: usize, pair: usize| product.is_free(ranked.nodes[at], pair);
        let tree = Ordered::new((0..ranked.nodes.len()).collect(), &ranked.tree, &is_free);
        Claimable { nodes, tree }
    }

    /// The claim; `places` are the positions of the view states of the focus among the rows.
    pub fn focus(mut self, process: ProcessId, places: &[u32]) -> Focus {
        self.nodes.iter_mut().for_each(|(node, _)| *node = places[*node as usize]);
        let ranks = self.tree.sorted(&self.nodes);
        self.nodes.sort_unstable();
        Focus { process, nodes: self.nodes, ranks }
    }
}

impl Ordered {
    fn new(nodes: Vec<usize>, tree: &RankTree, is_free: &impl Fn(usize, usize) -> bool) -> Self {
        let reason = |(rank, reason): (u32, &RankReason)| match reason {
            RankReason::Pair(pair, child) => {
                let of_rank = nodes.iter().zip(&tree.ranks).filter(|(_, other)| **other == rank);
                let free = of_rank.map(|(&node, _)| node).filter(|&node| is_free(node, *pair)).collect();
                Why::Pair(*pair, Ordered::new(free, child, is_free))
            }
            other => Why::Plain(other.clone()),
        };
        let reasons = (0..).zip(&tree.reasons).map(reason).collect();
        Ordered { reasons, ranks: tree.ranks.clone(), nodes }
    }

    /// The ranks in the order of the nodes' names.
    fn sorted(self, names: &[(u32, u32)]) -> RankTree {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_unstable_by_key(|&at| names[self.nodes[at]]);
        let reason = |why| match why {
            Why::Plain(reason) => reason,
            Why::Pair(pair, child) => RankReason::Pair(pair, Box::new(child.sorted(names))),
        };
        let ranks = order.iter().map(|&at| self.ranks[at]).collect();
        RankTree { ranks, reasons: self.reasons.into_iter().map(reason).collect() }
    }
}
