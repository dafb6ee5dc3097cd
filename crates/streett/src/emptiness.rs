//! Whether a graph has a fair run: a reachable component that meets all demands.
//!
//! In: a graph with marks on edges. Some marks are *demanded*; the others belong to **Streett pairs**: a run must take edges with
//! the mark again and again, or stay for ever in nodes that are free of it. Out: a component in which a run can do both. The method
//! is recursive decomposition (Emerson and Lei; Duret-Lutz, Poitrenaud and Couvreur): a strongly connected component without a
//! demanded mark is out; where the mark of a pair is missing, the nodes that are not free of it are taken away, and what is left is
//! decomposed again.

use base::StopReason;

use engine::meter::Meter;

/// A graph with conditions.
pub trait FairGraph {
    /// How many nodes there are, reachable or not.
    fn n_nodes(&self) -> usize;

    /// Where runs begin.
    fn initial(&self) -> Vec<u32>;

    /// How many edges leave a node.
    fn n_edges(&self, node: u32) -> u32;

    /// Where an edge leads.
    fn target(&self, node: u32, edge: u32) -> u32;

    /// Adds the marks of an edge to a row of bits: first those that are demanded, then one for each pair.
    fn add_marks(&self, node: u32, edge: u32, row: &mut [u64]);

    /// How many marks are demanded.
    fn n_demanded(&self) -> usize;

    /// How many pairs there are.
    fn n_pairs(&self) -> usize;

    /// Whether a node is free of a pair's demand.
    fn is_free(&self, node: u32, pair: usize) -> bool;

    /// How many words a row of marks has.
    fn n_words(&self) -> usize {
        (self.n_demanded() + self.n_pairs()).div_ceil(64)
    }
}

/// A component in which a run can be fair.
pub struct Component {
    /// By node of the graph, the region that it is in; those of the component, and only those, are in `region`.
    pub regions: Vec<u32>,
    /// See `regions`.
    pub region: u32,
    /// The marks that a run must take in it: all that are demanded, and those of pairs whose nodes are not all free.
    pub needed: Vec<u64>,
}

/// A fair component, if there is one.
pub fn fair_component(graph: &impl FairGraph, meter: &Meter<'_>) -> Result<Option<Component>, StopReason> {
    let n_nodes = graph.n_nodes();
    let bytes = (n_nodes * 3 * size_of::<u32>()) as u64;
    meter.reserve(bytes)?;
    let mut search = EmptinessSearch {
        graph,
        meter,
        numbers: vec![0; n_nodes],
        lowest: vec![0; n_nodes],
        regions: vec![0; n_nodes],
        n_regions: 0,
        n_steps: 0,
    };
    let found = search.decompose(graph.initial(), 0);
    meter.remove(bytes);
    let found = found?;
    Ok(found.map(|(region, needed)| Component { regions: search.regions, region, needed }))
}

struct EmptinessSearch<'s, G> {
    graph: &'s G,
    meter: &'s Meter<'s>,
    /// In the order of discovery, from 1; 0 where a node was not visited in this round.
    numbers: Vec<u32>,
    lowest: Vec<u32>,
    /// The region of each node; a round looks at the nodes of one region, and leaves those of each component in a new one.
    regions: Vec<u32>,
    n_regions: u32,
    n_steps: u64,
}

/// The region of a component, and the marks that are needed in it.
type Accepted = (u32, Vec<u64>);

impl<G: FairGraph> EmptinessSearch<'_, G> {
    /// Tarjan's components of a region, from some roots, each looked at when it is complete.
    fn decompose(&mut self, roots: Vec<u32>, region: u32) -> Result<Option<Accepted>, StopReason> {
        let mut n_visited = 0;
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        for root in roots {
            if self.regions[root as usize] != region || self.numbers[root as usize] != 0 {
                continue;
            }
            self.visit(root, &mut n_visited, &mut open, &mut path);
            while let Some(&mut (node, ref mut edge)) = path.last_mut() {
                if *edge < self.graph.n_edges(node) {
                    let target = self.graph.target(node, *edge);
                    *edge += 1;
                    self.pause()?;
                    if self.regions[target as usize] != region {
                        continue;
                    }
                    match self.numbers[target as usize] {
                        0 => self.visit(target, &mut n_visited, &mut open, &mut path),
                        number => {
                            let lowest = &mut self.lowest[node as usize];
                            *lowest = (*lowest).min(number);
                        }
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.lowest[parent as usize] = self.lowest[parent as usize].min(self.lowest[node as usize]);
                }
                if self.lowest[node as usize] == self.numbers[node as usize] {
                    let start = open.iter().rposition(|&other| other == node).expect("an open node is on the list");
                    let component = open.split_off(start);
                    if let Some(accepted) = self.judge(component)? {
                        return Ok(Some(accepted));
                    }
                }
            }
        }
        Ok(None)
    }

    fn visit(&mut self, node: u32, n_visited: &mut u32, open: &mut Vec<u32>, path: &mut Vec<(u32, u32)>) {
        *n_visited += 1;
        self.numbers[node as usize] = *n_visited;
        self.lowest[node as usize] = *n_visited;
        open.push(node);
        path.push((node, 0));
    }

    fn new_region(&mut self, nodes: &[u32]) -> u32 {
        self.n_regions += 1;
        nodes.iter().for_each(|&node| self.regions[node as usize] = self.n_regions);
        self.n_regions
    }

    /// Whether a run can be fair in a component; takes nodes away and decomposes the rest where that may help.
    fn judge(&mut self, nodes: Vec<u32>) -> Result<Option<Accepted>, StopReason> {
        let region = self.new_region(&nodes);
        let graph = self.graph;
        let mut taken = vec![0; graph.n_words()];
        let mut has_edge = false;
        for &node in &nodes {
            for edge in 0..graph.n_edges(node) {
                self.pause()?;
                if self.regions[graph.target(node, edge) as usize] == region {
                    has_edge = true;
                    graph.add_marks(node, edge, &mut taken);
                }
            }
        }
        let is_taken = |mark: usize| taken[mark / 64] >> (mark % 64) & 1 == 1;
        if !has_edge || !(0..graph.n_demanded()).all(is_taken) {
            return Ok(None);
        }
        let missing: Vec<usize> = (0..graph.n_pairs()).filter(|&pair| !is_taken(graph.n_demanded() + pair)).collect();
        let is_free = |&node: &u32| missing.iter().all(|&pair| graph.is_free(node, pair));
        let (left, removed): (Vec<u32>, Vec<u32>) = nodes.iter().copied().partition(is_free);
        if removed.is_empty() {
            return Ok(Some((region, self.needed(&left, &taken))));
        }
        self.new_region(&removed);
        left.iter().for_each(|&node| self.numbers[node as usize] = 0);
        self.decompose(left, region)
    }

    /// Marks that a run has to take: a pair of which all nodes are free needs none.
    fn needed(&self, nodes: &[u32], taken: &[u64]) -> Vec<u64> {
        let mut needed = taken.to_vec();
        for pair in 0..self.graph.n_pairs() {
            if nodes.iter().all(|&node| self.graph.is_free(node, pair)) {
                let mark = self.graph.n_demanded() + pair;
                needed[mark / 64] &= !(1 << (mark % 64));
            }
        }
        needed
    }

    fn pause(&mut self) -> Result<(), StopReason> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(1 << 16) && !self.meter.may_go_on(0) {
            return Err(self.meter.reason().unwrap_or(StopReason::Cancelled));
        }
        Ok(())
    }
}
