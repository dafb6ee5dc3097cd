//! Why a graph has no fair run: ranks that never rise along an edge, and for each rank what is missing among its nodes.
//!
//! In: a graph with conditions, as `emptiness.rs` searches it. Out: a [`RankTree`] of all nodes that can be reached, or that there is
//! none because some run is fair. The method is Tarjan's: components are complete in an order in which no edge leads to a later
//! one, so that order is the rank. A component lacks an edge, a demanded mark, or the mark of a pair; then the nodes that are free of
//! the pair are ranked by themselves.

use base::StopReason;
use evidence::certificate::{RankReason, RankTree};

use crate::emptiness::FairGraph;
use engine::meter::Meter;

/// The nodes that can be reached, with their ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// Their ranks.
    pub tree: RankTree,
}

/// The ranks of a graph without a fair run; `None` if it has one. Where a demanded mark is `own`, its absence is the reason
/// [`RankReason::Own`]; the other demanded marks are the automaton's, with the same numbers.
pub fn ranks(graph: &impl FairGraph, own: Option<usize>, meter: &Meter<'_>) -> Result<Option<Ranked>, StopReason> {
    let n_nodes = graph.n_nodes();
    let bytes = (n_nodes * 4 * size_of::<u32>()) as u64;
    meter.reserve(bytes)?;
    let mut search = RankSearch {
        graph,
        own,
        meter,
        numbers: vec![0; n_nodes],
        lowest: vec![0; n_nodes],
        regions: vec![0; n_nodes],
        ranks: vec![0; n_nodes],
        n_regions: 0,
        n_steps: 0,
    };
    let found = search.reached().and_then(|nodes| Ok((search.rank(&nodes)?, nodes)));
    meter.remove(bytes);
    let (tree, nodes) = found?;
    Ok(tree.map(|tree| Ranked { nodes, tree }))
}

struct RankSearch<'s, G> {
    graph: &'s G,
    own: Option<usize>,
    meter: &'s Meter<'s>,
    /// In the order of discovery, from 1; 0 where a node was not visited in this round.
    numbers: Vec<u32>,
    lowest: Vec<u32>,
    /// The region of each node: those that are ranked together, then those of one rank.
    regions: Vec<u32>,
    /// Room for the ranks of one round.
    ranks: Vec<u32>,
    n_regions: u32,
    n_steps: u64,
}

impl<G: FairGraph> RankSearch<'_, G> {
    /// The nodes that can be reached, ascending.
    fn reached(&mut self) -> Result<Vec<u32>, StopReason> {
        let mut seen = vec![false; self.graph.n_nodes()];
        let mut open = self.graph.initial();
        while let Some(node) = open.pop() {
            self.pause()?;
            if !std::mem::replace(&mut seen[node as usize], true) {
                open.extend((0..self.graph.n_edges(node)).map(|edge| self.graph.target(node, edge)));
            }
        }
        Ok((0..seen.len() as u32).filter(|&node| seen[node as usize]).collect())
    }

    /// The ranks of some nodes, as far as edges among them go; `None` if a run can keep to them and be fair.
    fn rank(&mut self, nodes: &[u32]) -> Result<Option<RankTree>, StopReason> {
        let region = self.new_region(nodes);
        nodes.iter().for_each(|&node| self.numbers[node as usize] = 0);
        let (mut classes, mut reasons): (Vec<Vec<u32>>, Vec<RankReason>) = (Vec::new(), Vec::new());
        let mut visit = ComponentVisit::default();
        for &root in nodes {
            if self.regions[root as usize] == region && self.numbers[root as usize] == 0 {
                visit.enter(self, root);
            }
            while let Some(class) = visit.next_component(self, region)? {
                let Some(reason) = self.reason(&class)? else { return Ok(None) };
                classes.push(class);
                reasons.push(reason);
            }
        }
        for (rank, class) in classes.iter().enumerate() {
            class.iter().for_each(|&node| self.ranks[node as usize] = rank as u32);
        }
        let ranks = nodes.iter().map(|&node| self.ranks[node as usize]).collect();
        Ok(Some(RankTree { ranks, reasons }))
    }

    /// Why no fair run keeps to a component; `None` if one does.
    fn reason(&mut self, class: &[u32]) -> Result<Option<RankReason>, StopReason> {
        let region = self.new_region(class);
        let graph = self.graph;
        let mut taken = vec![0; graph.n_words()];
        let mut has_edge = false;
        for &node in class {
            for edge in 0..graph.n_edges(node) {
                self.pause()?;
                if self.regions[graph.target(node, edge) as usize] == region {
                    has_edge = true;
                    graph.add_marks(node, edge, &mut taken);
                }
            }
        }
        if !has_edge {
            return Ok(Some(RankReason::Trivial));
        }
        let is_missing = |mark: &usize| taken[mark / 64] >> (mark % 64) & 1 == 0;
        let missing = (0..graph.n_demanded()).find(is_missing);
        if let Some(mark) = missing {
            return Ok(Some(if self.own == missing { RankReason::Own } else { RankReason::Missing(mark) }));
        }
        for pair in (0..graph.n_pairs()).filter(|pair| is_missing(&(graph.n_demanded() + pair))) {
            let mut free: Vec<u32> = class.iter().copied().filter(|&node| graph.is_free(node, pair)).collect();
            if free.len() < class.len() {
                free.sort_unstable();
                let below = self.rank(&free)?;
                return Ok(below.map(|tree| RankReason::Pair(pair, Box::new(tree))));
            }
        }
        Ok(None)
    }

    fn new_region(&mut self, nodes: &[u32]) -> u32 {
        self.n_regions += 1;
        nodes.iter().for_each(|&node| self.regions[node as usize] = self.n_regions);
        self.n_regions
    }

    fn pause(&mut self) -> Result<(), StopReason> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(1 << 16) && !self.meter.may_go_on(0) {
            return Err(self.meter.reason().unwrap_or(StopReason::Cancelled));
        }
        Ok(())
    }
}

/// A depth-first search that stops at each component.
#[derive(Default)]
struct ComponentVisit {
    n_visited: u32,
    /// The nodes whose component is not complete.
    open: Vec<u32>,
    /// The way to the node at hand, with the next edge of each.
    path: Vec<(u32, u32)>,
}

impl ComponentVisit {
    fn enter<G>(&mut self, search: &mut RankSearch<'_, G>, node: u32) {
        self.n_visited += 1;
        search.numbers[node as usize] = self.n_visited;
        search.lowest[node as usize] = self.n_visited;
        self.open.push(node);
        self.path.push((node, 0));
    }

    /// The next component that is complete. The caller takes its nodes out of the region.
    fn next_component<G: FairGraph>(
        &mut self,
        search: &mut RankSearch<'_, G>,
        region: u32,
    ) -> Result<Option<Vec<u32>>, StopReason> {
        while let Some(&mut (node, ref mut edge)) = self.path.last_mut() {
            if *edge < search.graph.n_edges(node) {
                let target = search.graph.target(node, *edge);
                *edge += 1;
                search.pause()?;
                if search.regions[target as usize] != region {
                    continue;
                }
                match search.numbers[target as usize] {
                    0 => self.enter(search, target),
                    number => {
                        let lowest = &mut search.lowest[node as usize];
                        *lowest = (*lowest).min(number);
                    }
                }
                continue;
            }
            self.path.pop();
            if let Some(&(parent, _)) = self.path.last() {
                let lowest = search.lowest[node as usize];
                search.lowest[parent as usize] = search.lowest[parent as usize].min(lowest);
            }
            if search.lowest[node as usize] == search.numbers[node as usize] {
                let start = self.open.iter().rposition(|&other| other == node).expect("an open node is on the list");
                return Ok(Some(self.open.split_off(start)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emptiness::fair_component;
    use base::Budget;
    use engine::Silent;
    use testkit::choices::Choices;

    /// A small graph: for each node its edges, each with its marks.
    #[derive(Clone, Debug)]
    struct Small {
        edges: Vec<Vec<(u32, u64)>>,
        n_initial: usize,
        n_demanded: usize,
        /// For each pair the nodes that are free of it.
        free: Vec<Vec<bool>>,
    }

    impl FairGraph for Small {
        fn n_nodes(&self) -> usize {
            self.edges.len()
        }
        fn initial(&self) -> Vec<u32> {
            (0..self.n_initial as u32).collect()
        }
        fn n_edges(&self, node: u32) -> u32 {
            self.edges[node as usize].len() as u32
        }
        fn target(&self, node: u32, edge: u32) -> u32 {
            self.edges[node as usize][edge as usize].0
        }
        fn add_marks(&self, node: u32, edge: u32, row: &mut [u64]) {
            // No word where there are no marks.
            row.iter_mut().for_each(|word| *word |= self.edges[node as usize][edge as usize].1);
        }
        fn n_demanded(&self) -> usize {
            self.n_demanded
        }
        fn n_pairs(&self) -> usize {
            self.free.len()
        }
        fn is_free(&self, node: u32, pair: usize) -> bool {
            self.free[pair][node as usize]
        }
    }

    impl Small {
        fn random(choices: &mut Choices) -> Small {
            let n_nodes = 1 + choices.below(9);
            let (n_demanded, n_pairs) = (choices.below(3), choices.below(4));
            let density = 1 + choices.below(3);
            let marks = |choices: &mut Choices| {
                (0..n_demanded + n_pairs).filter(|_| choices.chance(25)).map(|mark| 1 << mark).sum::<u64>()
            };
            let edge = |choices: &mut Choices| (choices.below(n_nodes) as u32, marks(choices));
            let edges =
                (0..n_nodes).map(|_| (0..choices.below(density + 2)).map(|_| edge(choices)).collect()).collect();
            let free = (0..n_pairs).map(|_| (0..n_nodes).map(|_| choices.chance(60)).collect()).collect();
            Small { edges, n_initial: 1 + choices.below(n_nodes), n_demanded, free }
        }

        fn is_empty(&self) -> bool {
            let (budget, silent) = (Budget::unlimited(), Silent);
            fair_component(self, &Meter::new(&budget, &silent)).unwrap().is_none()
        }

        fn ranked(&self) -> Option<Ranked> {
            let (budget, silent) = (Budget::unlimited(), Silent);
            ranks(self, None, &Meter::new(&budget, &silent)).unwrap()
        }

        /// Whether the ranks show that there is no fair run, by the rule of `evidence::ranks`.
        fn accepts(&self, ranked: &Ranked) -> bool {
            let is_in = |node: u32| ranked.nodes.contains(&node);
            let closed = |&node: &u32| self.edges[node as usize].iter().all(|&(target, _)| is_in(target));
            self.initial().into_iter().all(is_in)
                && ranked.nodes.iter().all(closed)
                && self.agrees(&ranked.nodes, &ranked.tree)
        }

        fn agrees(&self, nodes: &[u32], tree: &RankTree) -> bool {
            if tree.ranks.len() != nodes.len() || tree.ranks.iter().any(|&rank| rank as usize >= tree.reasons.len()) {
                return false;
            }
            let rank = |node: u32| nodes.iter().position(|&one| one == node).map(|at| tree.ranks[at]);
            let edges = || {
                nodes
                    .iter()
                    .flat_map(|&node| self.edges[node as usize].iter().map(move |&(to, marks)| (node, to, marks)))
            };
            let never_rises = edges().all(|(node, to, _)| rank(to).is_none_or(|to| Some(to) <= rank(node)));
            never_rises
                && tree.reasons.iter().enumerate().all(|(number, reason)| {
                    let number = Some(number as u32);
                    let mut inside = edges().filter(|&(node, to, _)| rank(node) == number && rank(to) == number);
                    match reason {
                        RankReason::Trivial => inside.next().is_none(),
                        RankReason::Missing(mark) => {
                            *mark < self.n_demanded && inside.all(|(.., marks)| marks >> mark & 1 == 0)
                        }
                        RankReason::Own => false,
                        RankReason::Pair(pair, below) => {
                            let Some(is_free) = self.free.get(*pair) else { return false };
                            let class = nodes.iter().copied().filter(|&node| rank(node) == number);
                            let free: Vec<u32> = class.filter(|&node| is_free[node as usize]).collect();
                            inside.all(|(.., marks)| marks >> (self.n_demanded + pair) & 1 == 0)
                                && self.agrees(&free, below)
                        }
                    }
                })
        }

        /// The graph with something changed.
        fn changed(&self, choices: &mut Choices) -> Small {
            let mut changed = self.clone();
            let node = choices.below(self.edges.len());
            match choices.below(4) {
                0 => changed.edges[node].push((choices.below(self.edges.len()) as u32, choices.below(64) as u64)),
                1 => {
                    if let Some(edge) = changed.edges[node].first_mut() {
                        edge.1 ^= 1 << choices.below(6);
                    }
                }
                2 => {
                    if let Some(edge) = changed.edges[node].last_mut() {
                        edge.0 = choices.below(self.edges.len()) as u32;
                    }
                }
                _ => {
                    if let Some(free) = changed.free.first_mut() {
                        free[node] = !free[node];
                    }
                }
            }
            changed
        }
    }

    /// The tree with something changed.
    fn changed(tree: &mut RankTree, choices: &mut Choices) {
        if tree.ranks.is_empty() || tree.reasons.is_empty() {
            return;
        }
        let (node, rank) = (choices.below(tree.ranks.len()), choices.below(tree.reasons.len()));
        match (choices.below(5), &mut tree.reasons[rank]) {
            (0, _) => tree.ranks[node] = choices.below(tree.reasons.len()) as u32,
            (1, reason) => *reason = RankReason::Trivial,
            (2, reason) => *reason = RankReason::Missing(choices.below(3)),
            (3, RankReason::Pair(pair, _)) => *pair = choices.below(3),
            (_, RankReason::Pair(_, below)) => changed(below, choices),
            _ => drop(tree.ranks.pop()),
        }
    }

    #[test]
    fn a_graph_has_ranks_or_a_fair_run() {
        let (mut n_empty, mut n_fair, mut n_nested) = (0, 0, 0);
        for seed in 0..20_000 {
            let graph = Small::random(&mut Choices::from_seed(seed));
            match graph.ranked() {
                Some(ranked) => {
                    assert!(graph.is_empty() && graph.accepts(&ranked), "seed {seed}: {graph:?} {ranked:?}");
                    let is_nested = |reason: &RankReason| matches!(reason, RankReason::Pair(..));
                    n_nested += u32::from(ranked.tree.reasons.iter().any(is_nested));
                    n_empty += 1;
                }
                None => {
                    assert!(!graph.is_empty(), "seed {seed}: {graph:?}");
                    n_fair += 1;
                }
            }
        }
        assert!(n_empty > 2000 && n_fair > 2000 && n_nested > 500, "{n_empty} {n_fair} {n_nested}");
    }

    #[test]
    fn ranks_of_a_graph_with_a_fair_run_are_never_accepted() {
        let (mut n_accepted, mut n_refused) = (0, 0);
        for seed in 0..20_000 {
            let mut choices = Choices::from_seed(seed);
            let graph = Small::random(&mut choices);
            let Some(ranked) = graph.ranked() else { continue };
            for _ in 0..4 {
                let other = graph.changed(&mut choices);
                let mut claimed = ranked.clone();
                if choices.chance(50) {
                    changed(&mut claimed.tree, &mut choices);
                }
                if other.accepts(&claimed) {
                    assert!(other.is_empty(), "seed {seed}: {other:?} {claimed:?}");
                    n_accepted += 1;
                } else {
                    n_refused += 1;
                }
            }
        }
        assert!(n_accepted > 1000 && n_refused > 5000, "{n_accepted} {n_refused}");
    }
}
