//! Whether a graph has a fair run: a reachable component that satisfies all conditions.
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

    /// The part of the graph that a node is in, if a run that stays there can take all demanded marks. No cycle leaves a part, and none outside of
    /// all parts takes all demanded marks.
    fn part(&self, _node: u32) -> Option<u32> {
        Some(0)
    }

    /// Reachable nodes in parts from which every other reachable node of their part is reached inside it.
    fn entries(&self) -> Vec<u32> {
        self.initial()
    }

    /// Appends where the edges of a node lead, each node at least once.
    fn add_targets(&self, node: u32, targets: &mut Vec<u32>) {
        targets.extend((0..self.n_edges(node)).map(|edge| self.target(node, edge)));
    }

    /// Adds the marks of all edges of a node that lead inside; whether there are any.
    fn add_marks_inside(&self, node: u32, inside: impl Fn(u32) -> bool, row: &mut [u64]) -> bool {
        let mut has_edge = false;
        for edge in (0..self.n_edges(node)).filter(|&edge| inside(self.target(node, edge))) {
            has_edge = true;
            self.add_marks(node, edge, row);
        }
        has_edge
    }

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
    let mut search =
        EmptinessSearch { graph, meter, nodes: vec![NodeVisit::default(); n_nodes], n_regions: 0, n_steps: 0 };
    let found = search.decompose(graph.entries(), 0);
    meter.remove(bytes);
    let found = found?;
    let regions = |search: EmptinessSearch<'_, _>| search.nodes.iter().map(|visit| visit.region).collect();
    Ok(found.map(|(region, needed)| Component { regions: regions(search), region, needed }))
}

/// What is known of a node.
#[derive(Clone, Copy, Default)]
struct NodeVisit {
    /// In the order of discovery, from 1; 0 where a node was not visited in this round.
    number: u32,
    /// The earliest node that it is known to reach.
    lowest: u32,
    /// Its region; a round visits the nodes of one region, and leaves those of each component in a new one.
    region: u32,
}

struct EmptinessSearch<'s, G> {
    graph: &'s G,
    meter: &'s Meter<'s>,
    nodes: Vec<NodeVisit>,
    n_regions: u32,
    n_steps: u64,
}

/// The region of a component, and the marks that are needed in it.
type Accepted = (u32, Vec<u64>);

/// Tarjan's search of one region.
#[derive(Default)]
struct RegionSearch {
    n_visited: u32,
    /// Nodes whose component is not complete.
    open: Vec<u32>,
    /// The path to the node that is visited: nodes, and where their targets begin.
    path: Vec<(u32, usize)>,
    /// Targets of the nodes on the path that were not visited, the next one last.
    targets: Vec<u32>,
}

impl<G: FairGraph> EmptinessSearch<'_, G> {
    /// Tarjan's components of a region, from some roots, each examined when it is complete.
    fn decompose(&mut self, roots: Vec<u32>, region: u32) -> Result<Option<Accepted>, StopReason> {
        let mut round = RegionSearch::default();
        for root in roots {
            let visit = self.nodes[root as usize];
            if visit.region != region || visit.number != 0 {
                continue;
            }
            let part = self.graph.part(root);
            self.visit(root, &mut round);
            while let Some(&(node, first)) = round.path.last() {
                if round.targets.len() > first {
                    let Some(target) = round.targets.pop() else { break };
                    let visit = self.nodes[target as usize];
                    if visit.region != region || (visit.number == 0 && self.graph.part(target) != part) {
                        continue;
                    }
                    if visit.number == 0 {
                        self.pause(first)?;
                        self.visit(target, &mut round);
                    } else {
                        let lowest = &mut self.nodes[node as usize].lowest;
                        *lowest = (*lowest).min(visit.number);
                    }
                    continue;
                }
                round.path.pop();
                let visit = self.nodes[node as usize];
                if let Some(&(parent, _)) = round.path.last() {
                    let above = &mut self.nodes[parent as usize].lowest;
                    *above = (*above).min(visit.lowest);
                }
                if visit.lowest == visit.number {
                    let open = &mut round.open;
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

    fn visit(&mut self, node: u32, round: &mut RegionSearch) {
        round.n_visited += 1;
        let visit = &mut self.nodes[node as usize];
        (visit.number, visit.lowest) = (round.n_visited, round.n_visited);
        round.open.push(node);
        let first = round.targets.len();
        self.graph.add_targets(node, &mut round.targets);
        round.targets[first..].reverse();
        round.path.push((node, first));
    }

    fn new_region(&mut self, nodes: &[u32]) -> u32 {
        self.n_regions += 1;
        nodes.iter().for_each(|&node| self.nodes[node as usize].region = self.n_regions);
        self.n_regions
    }

    /// Whether a run can be fair in a component; takes nodes away and decomposes the rest where that may help.
    fn judge(&mut self, nodes: Vec<u32>) -> Result<Option<Accepted>, StopReason> {
        let region = self.new_region(&nodes);
        let graph = self.graph;
        let mut taken = vec![0; graph.n_words()];
        let mut has_edge = false;
        for &node in &nodes {
            self.pause(0)?;
            let inside = |target: u32| self.nodes[target as usize].region == region;
            has_edge |= graph.add_marks_inside(node, inside, &mut taken);
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
        left.iter().for_each(|&node| self.nodes[node as usize].number = 0);
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

    fn pause(&mut self, n_targets: usize) -> Result<(), StopReason> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(1 << 14) {
            // The lists of one round, which are short but for targets on long ways.
            let bytes = (n_targets * size_of::<u32>()) as u64;
            self.meter.reserve(bytes)?;
            self.meter.remove(bytes);
            if !self.meter.may_go_on(0) {
                return Err(self.meter.reason().unwrap_or(StopReason::Cancelled));
            }
        }
        Ok(())
    }
}
