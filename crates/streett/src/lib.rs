//! Fair components: all maximal parts of a graph in which a fair run can stay for ever.
//!
//! In: a graph, a set of its edges, and Streett conditions: from some point on always at certain nodes, or again and again an edge of a
//! certain kind. Out: sets of edges, each strongly connected, such that the edges that a fair run takes again and again lie in
//! one of them; and in each there is a fair run that takes all of its edges again and again.
//!
//! The method is the recursive one (Emerson and Lei 1987; Lichtenstein and Pnueli 1985): take the strongly connected components; where a
//! condition's edges are missing, keep the nodes that it allows, and decompose again.
//!
//! Over implicit graphs ([`emptiness::FairGraph`]): [`emptiness`] finds one fair component, [`lasso`] a run through it, and
//! [`ranks`] why there is none.

mod edges;
pub mod emptiness;
pub mod lasso;
pub mod ranks;

pub use edges::EdgeBits;

/// An edge of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphArc {
    /// The node that it leaves.
    pub from: u32,
    /// The node that it leads to.
    pub to: u32,
}

/// A graph whose nodes and edges have numbers.
#[derive(Clone, Debug)]
pub struct MarkedGraph {
    arcs: Vec<GraphArc>,
    /// The edges that leave node `n` are `leaving[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    leaving: Vec<u32>,
}

/// From some point on only at the nodes of `stays`, or again and again an edge of `often`.
#[derive(Clone, Debug)]
pub struct StreettPair {
    /// By node; `None` where no node will do.
    pub stays: Option<Vec<bool>>,
    /// The edges.
    pub often: EdgeBits,
}

impl MarkedGraph {
    /// A graph with nodes below `n_nodes`.
    ///
    /// # Panics
    /// If an edge leaves or enters no such node.
    pub fn new(n_nodes: usize, arcs: Vec<GraphArc>) -> Self {
        let mut first = vec![0_u32; n_nodes + 1];
        for arc in &arcs {
            assert!((arc.to as usize) < n_nodes, "edges lead to nodes");
            first[arc.from as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut leaving = vec![0; arcs.len()];
        for (edge, arc) in arcs.iter().enumerate() {
            let place = &mut next[arc.from as usize];
            leaving[*place as usize] = edge as u32;
            *place += 1;
        }
        MarkedGraph { arcs, first, leaving }
    }

    /// How many nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.arcs.len()
    }

    /// An edge.
    pub fn arc(&self, edge: usize) -> GraphArc {
        self.arcs[edge]
    }

    /// The edges that leave a node.
    pub fn leaving(&self, node: usize) -> &[u32] {
        &self.leaving[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// All fair components of a set of edges.
    pub fn fair_components(&self, within: &EdgeBits, conditions: &[StreettPair]) -> Vec<EdgeBits> {
        let mut found = Vec::new();
        let mut open = vec![within.clone()];
        while let Some(edges) = open.pop() {
            for component in self.components(&edges) {
                match self.restricted(&component, conditions) {
                    Restricted::Fair => found.push(component),
                    Restricted::Empty => {}
                    Restricted::To(smaller) => open.push(smaller),
                }
            }
        }
        found.sort_by_key(|component| component.iter().next());
        found
    }

    /// What the conditions whose edges are missing leave of a component.
    fn restricted(&self, component: &EdgeBits, conditions: &[StreettPair]) -> Restricted {
        let mut left: Option<EdgeBits> = None;
        for condition in conditions.iter().filter(|condition| !condition.often.meets(component)) {
            let Some(stays) = &condition.stays else { return Restricted::Empty };
            let leaves = |edge: &usize| {
                let GraphArc { from, to } = self.arcs[*edge];
                !(stays[from as usize] && stays[to as usize])
            };
            for edge in component.iter().filter(leaves) {
                left.get_or_insert_with(|| component.clone()).remove(edge);
            }
        }
        left.map_or(Restricted::Fair, Restricted::To)
    }

    /// The edges of each strongly connected component of a set of edges; components without edges are left out (Tarjan 1972).
    pub fn components(&self, within: &EdgeBits) -> Vec<EdgeBits> {
        let mut search = ComponentSearch {
            graph: self,
            within,
            index: vec![0; self.n_nodes()],
            low: vec![0; self.n_nodes()],
            component: vec![OPEN; self.n_nodes()],
            stack: Vec::new(),
            n_seen: 0,
            n_components: 0,
        };
        for edge in within.iter() {
            search.visit(self.arcs[edge].from as usize);
        }
        let ComponentSearch { component, n_components, .. } = search;
        let mut position = vec![usize::MAX; n_components as usize];
        let mut found: Vec<EdgeBits> = Vec::new();
        for edge in within.iter() {
            let GraphArc { from, to } = self.arcs[edge];
            let own = component[from as usize];
            if own == component[to as usize] {
                let place = &mut position[own as usize];
                if *place == usize::MAX {
                    *place = found.len();
                    found.push(EdgeBits::none(self.n_edges()));
                }
                found[*place].insert(edge);
            }
        }
        found
    }
}

enum Restricted {
    /// No condition takes anything away.
    Fair,
    /// Some condition cannot be satisfied here.
    Empty,
    /// Only these edges are left.
    To(EdgeBits),
}

/// The component of a node that has none yet.
const OPEN: u32 = u32::MAX;

struct ComponentSearch<'g> {
    graph: &'g MarkedGraph,
    within: &'g EdgeBits,
    /// When each node was first seen, counted from 1; 0 where it was not.
    index: Vec<u32>,
    /// The earliest node on the stack that is known to be reached from it.
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<usize>,
    n_seen: u32,
    n_components: u32,
}

impl ComponentSearch<'_> {
    /// Depth first, without recursion: each entry is a node and how many of its edges were followed.
    fn visit(&mut self, root: usize) {
        if self.index[root] != 0 {
            return;
        }
        let mut path = vec![(root, 0)];
        self.open(root);
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            match self.graph.leaving(node).get(*at) {
                Some(&edge) => {
                    *at += 1;
                    if !self.within.contains(edge as usize) {
                        continue;
                    }
                    let to = self.graph.arcs[edge as usize].to as usize;
                    if self.index[to] == 0 {
                        self.open(to);
                        path.push((to, 0));
                    } else if self.component[to] == OPEN {
                        self.low[node] = self.low[node].min(self.index[to]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(above, _)) = path.last() {
                        self.low[above] = self.low[above].min(self.low[node]);
                    }
                    if self.low[node] == self.index[node] {
                        self.close(node);
                    }
                }
            }
        }
    }

    fn open(&mut self, node: usize) {
        self.n_seen += 1;
        self.index[node] = self.n_seen;
        self.low[node] = self.n_seen;
        self.stack.push(node);
    }

    fn close(&mut self, root: usize) {
        while let Some(node) = self.stack.pop() {
            self.component[node] = self.n_components;
            if node == root {
                break;
            }
        }
        self.n_components += 1;
    }
}

#[cfg(test)]
mod tests;
