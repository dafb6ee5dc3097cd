//! Components of random graphs against brute force: all sets of edges, each examined by itself.

use super::*;

/// Pseudo-random numbers, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn random(numbers: &mut Numbers) -> (MarkedGraph, EdgeBits, Vec<StreettPair>) {
    let n_nodes = 1 + numbers.below(4);
    let n_edges = numbers.below(9);
    let arcs: Vec<GraphArc> = (0..n_edges)
        .map(|_| GraphArc { from: numbers.below(n_nodes) as u32, to: numbers.below(n_nodes) as u32 })
        .collect();
    let mut subset = |percent: usize| {
        let mut chosen = EdgeBits::none(n_edges);
        (0..n_edges).for_each(|edge| {
            if numbers.below(100) < percent {
                chosen.insert(edge);
            }
        });
        chosen
    };
    let within = subset(85);
    let often: Vec<EdgeBits> = (0..3).map(|_| subset(30)).collect();
    let n_conditions = numbers.below(4);
    let condition = |often: EdgeBits| {
        let stays = (numbers.below(4) > 0).then(|| (0..n_nodes).map(|_| numbers.below(100) < 60).collect());
        StreettPair { stays, often }
    };
    let conditions = often.into_iter().take(n_conditions).map(condition).collect();
    (MarkedGraph::new(n_nodes, arcs), within, conditions)
}

/// Whether a run can take all of these edges again and again, and only them, and is fair.
fn is_fair(graph: &MarkedGraph, edges: &EdgeBits, conditions: &[StreettPair]) -> bool {
    let list: Vec<GraphArc> = edges.iter().map(|edge| graph.arc(edge)).collect();
    let reaches = |from: u32, to: u32| {
        let mut seen = vec![from];
        let mut at = 0;
        while at < seen.len() {
            for arc in list.iter().filter(|arc| arc.from == seen[at]).copied().collect::<Vec<_>>() {
                if !seen.contains(&arc.to) {
                    seen.push(arc.to);
                }
            }
            at += 1;
        }
        seen.contains(&to)
    };
    let connected = list.iter().all(|one| list.iter().all(|other| reaches(one.to, other.from)));
    let meets = |condition: &StreettPair| {
        let stays = |stays: &Vec<bool>| list.iter().all(|arc| stays[arc.from as usize] && stays[arc.to as usize]);
        condition.often.meets(edges) || condition.stays.as_ref().is_some_and(stays)
    };
    !edges.is_empty() && connected && conditions.iter().all(meets)
}

#[test]
fn fair_components_are_the_maximal_fair_sets() {
    let mut numbers = Numbers(7);
    let (mut n_found, mut n_cut) = (0, 0);
    for round in 0..3_000 {
        let (graph, within, conditions) = random(&mut numbers);
        let found = graph.fair_components(&within, &conditions);
        let n_edges = graph.n_edges();
        let subsets = (0..1_usize << n_edges).map(|bits| EdgeBits::where_true(n_edges, |edge| bits >> edge & 1 == 1));
        let fair: Vec<EdgeBits> =
            subsets.filter(|set| set.is_subset(&within) && is_fair(&graph, set, &conditions)).collect();
        for component in &found {
            assert!(fair.contains(component), "round {round}: {component:?} is not fair");
        }
        for set in &fair {
            assert_eq!(
                found.iter().filter(|component| set.is_subset(component)).count(),
                1,
                "round {round}: {set:?} lies in one of {found:?}"
            );
        }
        n_found += found.len();
        n_cut += usize::from(graph.components(&within).len() != found.len());
    }
    assert!(n_found > 1_000 && n_cut > 500, "{n_found} found, {n_cut} where fairness matters");
}
