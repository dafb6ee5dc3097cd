//! Edges compared with ranks, by the rule of `evidence::ranks`.
//!
//! In: all edges of an abstract process, and the ranks that are claimed. Out: nothing, or the first thing that is wrong.

use evidence::certificate::{RankReason, RankTree};
use rustc_hash::FxHashMap;

use crate::certificate::named::Named;

/// What an edge carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Carried {
    /// The automaton's marks that it carries.
    pub marks: Vec<usize>,
    /// Whether it is a turn of the focus with the mark that the variant asks for.
    pub own: bool,
    /// The fairness pairs whose mark it carries.
    pub pairs: Vec<usize>,
}

/// An abstract process.
#[derive(Default)]
pub(super) struct Graph {
    /// For each node the edges that leave it, by number, each once.
    edges: Vec<Vec<(u32, u32)>>,
    /// For each node which pairs it is free of.
    free: Vec<Vec<bool>>,
    /// What edges carry, each once.
    carried: Vec<Carried>,
    known: FxHashMap<Carried, u32>,
}

/// What is wrong with ranks.
pub(super) enum Wrong {
    /// They are not ranks of these nodes.
    Shape(String),
    /// An edge that there may not be.
    Edge {
        from: usize,
        to: usize,
        /// What has to be so.
        what: String,
    },
}

impl Graph {
    /// Adds a node.
    pub fn open(&mut self, free: Vec<bool>) {
        self.free.push(free);
        self.edges.push(Vec::new());
    }

    /// The number of what edges carry: edges that carry the same share it.
    pub fn carries(&mut self, carries: Carried) -> u32 {
        let carried = &mut self.carried;
        *self.known.entry(carries).or_insert_with_key(|carries| {
            carried.push(carries.clone());
            carried.len() as u32 - 1
        })
    }

    /// Adds an edge that leaves the last node.
    pub fn add(&mut self, to: u32, carries: u32) {
        self.edges.last_mut().expect("a node is open").push((to, carries));
    }

    /// All edges of the last node are there: each is kept once.
    pub fn close(&mut self) {
        let edges = self.edges.last_mut().expect("a node is open");
        edges.sort_unstable();
        edges.dedup();
    }
}

/// Compares the ranks of all nodes with the edges.
pub(super) fn check(graph: &Graph, named: &Named, tree: &RankTree) -> Result<(), Wrong> {
    let nodes: Vec<u32> = (0..graph.edges.len() as u32).collect();
    check_tree((graph, named), &nodes, tree)
}

fn check_tree((graph, named): (&Graph, &Named), nodes: &[u32], tree: &RankTree) -> Result<(), Wrong> {
    if tree.ranks.len() != nodes.len() {
        let (found, wanted) = (tree.ranks.len(), nodes.len());
        return Err(Wrong::Shape(format!("there are {found} ranks for {wanted} nodes")));
    }
    let n_ranks = tree.reasons.len();
    if let Some(rank) = tree.ranks.iter().find(|&&rank| rank as usize >= n_ranks) {
        return Err(Wrong::Shape(format!("there is no reason for rank {rank}")));
    }
    let ranks: FxHashMap<u32, u32> = nodes.iter().copied().zip(tree.ranks.iter().copied()).collect();
    let mut classes: Vec<Vec<u32>> = vec![Vec::new(); n_ranks];
    for (&node, &rank) in nodes.iter().zip(&tree.ranks) {
        classes[rank as usize].push(node);
        for &(to, carried) in &graph.edges[node as usize] {
            let Some(&there) = ranks.get(&to) else { continue };
            let wrong = |what: &str| Err(Wrong::Edge { from: node as usize, to: to as usize, what: what.to_owned() });
            if there > rank {
                return wrong("ranks must not rise");
            }
            let edge = &graph.carried[carried as usize];
            if there == rank && !is_excused(edge, named, &tree.reasons[rank as usize]) {
                return wrong(&demanded(&tree.reasons[rank as usize]));
            }
        }
    }
    for (class, reason) in classes.iter().zip(&tree.reasons) {
        match reason {
            RankReason::Missing(mark) if named.mark(*mark).is_none() => {
                return Err(Wrong::Shape(format!("a reason names mark {mark}, which its table has not")));
            }
            RankReason::Trivial | RankReason::Missing(_) | RankReason::Own => {}
            RankReason::Pair(pair, below) => {
                if let Some(node) = class.iter().find(|&&node| *pair >= graph.free[node as usize].len()) {
                    let n_pairs = graph.free[*node as usize].len();
                    return Err(Wrong::Shape(format!("a reason names fairness assumption {pair} of {n_pairs}")));
                }
                let is_free = |node: &u32| graph.free[*node as usize][*pair];
                let free: Vec<u32> = class.iter().copied().filter(is_free).collect();
                check_tree((graph, named), &free, below)?;
            }
        }
    }
    Ok(())
}

/// Whether an edge may join two nodes of one rank.
fn is_excused(edge: &Carried, named: &Named, reason: &RankReason) -> bool {
    match reason {
        RankReason::Trivial => false,
        RankReason::Missing(mark) => named.mark(*mark).is_some_and(|own| !edge.marks.contains(&own)),
        RankReason::Own => !edge.own,
        RankReason::Pair(pair, _) => !edge.pairs.contains(pair),
    }
}

/// What has to be so of the nodes of one rank.
fn demanded(reason: &RankReason) -> String {
    match reason {
        RankReason::Trivial => "no turn may stay at this rank".to_owned(),
        RankReason::Missing(mark) => format!("no turn at this rank may carry mark {mark} of its table"),
        RankReason::Own => "no turn of its own at this rank may carry acceptance".to_owned(),
        RankReason::Pair(pair, _) => format!("no turn at this rank may be what fairness assumption {pair} asks for"),
    }
}
