//! Places for the nodes and edges of a small graph, in layers (after Sugiyama, Tagawa and Toda, 1981).
//!
//! In: the sizes of nodes and pairs of nodes. Out: the position of each node and the points that each edge goes through.
//! A node's layer is its distance from the initial ones, so an edge leads at most one layer down; one that leads back
//! over several gets a point in each of them. Layers are ordered by the mean place of neighbours, a few times down
//! and up; nodes of a layer never overlap, nor do layers.

use std::collections::BTreeMap;

/// The space between layers.
pub const GAP_Y: f64 = 70.0;
/// The space between nodes of a layer.
pub const GAP_X: f64 = 52.0;
/// How much room an edge has that passes a layer.
const THIN: f64 = 10.0;
/// How often layers are ordered anew.
const SWEEPS: usize = 12;

/// A graph to be placed.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// Width and height of each node.
    pub sizes: Vec<[f64; 2]>,
    /// From which node to which.
    pub edges: Vec<[usize; 2]>,
    /// How many of the nodes are initial; they come first.
    pub n_initial: usize,
}

/// A placed graph.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The middle of each node.
    pub nodes: Vec<[f64; 2]>,
    /// The points of each edge, from its source to its target.
    pub edges: Vec<Vec<[f64; 2]>>,
    /// The size of the whole.
    pub size: [f64; 2],
}

/// Something with a place in a layer: a node, or where an edge passes.
struct Slot {
    layer: usize,
    size: [f64; 2],
    x: f64,
}

struct Placer<'a> {
    graph: &'a Diagram,
    /// Nodes first, then passing points.
    items: Vec<Slot>,
    /// For each edge that passes layers, its points from the upper end to the lower one.
    passes: BTreeMap<usize, Vec<usize>>,
    /// Neighbours in adjacent layers.
    neighbours: Vec<Vec<usize>>,
    /// The items of each layer, from left to right.
    layers: Vec<Vec<usize>>,
}

/// Places a graph.
pub fn place(graph: &Diagram) -> Placement {
    if graph.sizes.is_empty() {
        return Placement::default();
    }
    let mut placer = Placer::new(graph);
    placer.order();
    placer.spread();
    placer.finish()
}

impl<'a> Placer<'a> {
    fn new(graph: &'a Diagram) -> Self {
        let layer = distances(graph);
        let items = graph.sizes.iter().zip(&layer).map(|(&size, &layer)| Slot { layer, size, x: 0.0 }).collect();
        let mut placer = Placer {
            graph,
            items,
            passes: BTreeMap::new(),
            neighbours: vec![Vec::new(); graph.sizes.len()],
            layers: Vec::new(),
        };
        for (at, &[from, to]) in graph.edges.iter().enumerate() {
            let (upper, lower) = if layer[from] <= layer[to] { (from, to) } else { (to, from) };
            let mut chain = vec![upper];
            for between in layer[upper] + 1..layer[lower] {
                placer.items.push(Slot { layer: between, size: [THIN, 0.0], x: 0.0 });
                placer.neighbours.push(Vec::new());
                chain.push(placer.items.len() - 1);
            }
            chain.push(lower);
            if layer[upper] != layer[lower] {
                for pair in chain.windows(2) {
                    placer.neighbours[pair[0]].push(pair[1]);
                    placer.neighbours[pair[1]].push(pair[0]);
                }
            }
            placer.passes.insert(at, chain[1..chain.len() - 1].to_vec());
        }
        let n_layers = placer.items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
        placer.layers = vec![Vec::new(); n_layers];
        for (at, item) in placer.items.iter().enumerate() {
            placer.layers[item.layer].push(at);
        }
        placer
    }

    /// Orders each layer by the mean position of neighbours in the layer before, then after, a few times.
    fn order(&mut self) {
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let n_layers = self.layers.len();
            let order: Vec<usize> =
                if down { (1..n_layers).collect() } else { (0..n_layers.saturating_sub(1)).rev().collect() };
            for layer in order {
                let beside = if down { layer - 1 } else { layer + 1 };
                let position: BTreeMap<usize, usize> =
                    self.layers[beside].iter().enumerate().map(|(position, &item)| (item, position)).collect();
                let current: BTreeMap<usize, usize> =
                    self.layers[layer].iter().enumerate().map(|(position, &item)| (item, position)).collect();
                let mean = |item: &usize| {
                    let found: Vec<f64> = self.neighbours[*item]
                        .iter()
                        .filter_map(|other| position.get(other))
                        .map(|&at| at as f64)
                        .collect();
                    if found.is_empty() { current[item] as f64 } else { found.iter().sum::<f64>() / found.len() as f64 }
                };
                let mut keyed: Vec<(f64, usize, usize)> =
                    self.layers[layer].iter().map(|item| (mean(item), current[item], *item)).collect();
                keyed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                self.layers[layer] = keyed.into_iter().map(|(_, _, item)| item).collect();
            }
        }
    }

    /// Gives items their places: near the mean of their neighbours, as far as the ones beside them leave room.
    fn spread(&mut self) {
        for layer in &self.layers {
            for pair in layer.windows(2) {
                self.items[pair[1]].x = self.items[pair[0]].x + self.apart(pair[0], pair[1]);
            }
            let middle = layer.last().map_or(0.0, |&item| self.items[item].x / 2.0);
            layer.iter().for_each(|&item| self.items[item].x -= middle);
        }
        for sweep in 0..SWEEPS {
            let n_layers = self.layers.len();
            let order: Vec<usize> =
                if sweep % 2 == 0 { (0..n_layers).collect() } else { (0..n_layers).rev().collect() };
            order.into_iter().for_each(|layer| self.pull(layer));
        }
    }

    /// Moves the items of a layer towards their neighbours, first from the left, then from the right, and keeps them
    /// apart.
    fn pull(&mut self, layer: usize) {
        let row = self.layers[layer].clone();
        let wanted: Vec<f64> = row
            .iter()
            .map(|&item| {
                let others = &self.neighbours[item];
                let sum: f64 = others.iter().map(|&other| self.items[other].x).sum();
                if others.is_empty() { self.items[item].x } else { sum / others.len() as f64 }
            })
            .collect();
        let mut from_left = wanted.clone();
        for at in 1..row.len() {
            from_left[at] = from_left[at].max(from_left[at - 1] + self.apart(row[at - 1], row[at]));
        }
        let mut from_right = wanted;
        for at in (1..row.len()).rev() {
            from_right[at - 1] = from_right[at - 1].min(from_right[at] - self.apart(row[at - 1], row[at]));
        }
        // The mean of two orders that keep all items apart keeps them apart.
        for (at, &item) in row.iter().enumerate() {
            self.items[item].x = (from_left[at] + from_right[at]) / 2.0;
        }
    }

    /// How far the middles of neighbours in a layer are apart at least; edges that pass need less room than nodes.
    fn apart(&self, one: usize, other: usize) -> f64 {
        let n_nodes = self.graph.sizes.len();
        let gap = if one < n_nodes && other < n_nodes { GAP_X } else { GAP_X / 3.0 };
        (self.items[one].size[0] + self.items[other].size[0]) / 2.0 + gap
    }

    fn finish(self) -> Placement {
        let loops = self.graph.edges.iter().any(|[from, to]| from == to);
        let left = self.items.iter().map(|item| item.x - item.size[0] / 2.0).fold(f64::INFINITY, f64::min);
        let right = self.items.iter().map(|item| item.x + item.size[0] / 2.0).fold(f64::NEG_INFINITY, f64::max);
        let margin = if loops { 34.0 } else { 14.0 };
        let mut tops = Vec::new();
        let mut y = 14.0;
        for layer in &self.layers {
            let height = layer.iter().map(|&item| self.items[item].size[1]).fold(0.0, f64::max);
            tops.push((y, height));
            y += height + GAP_Y;
        }
        let at = |item: usize| {
            let (top, height) = tops[self.items[item].layer];
            [self.items[item].x - left + margin, top + height / 2.0]
        };
        let nodes: Vec<[f64; 2]> = (0..self.graph.sizes.len()).map(at).collect();
        let mut edges: Vec<Vec<[f64; 2]>> = Vec::new();
        for (nth, &[from, to]) in self.graph.edges.iter().enumerate() {
            let mut between: Vec<[f64; 2]> = self.passes[&nth].iter().map(|&item| at(item)).collect();
            if self.items[from].layer > self.items[to].layer {
                between.reverse();
            }
            edges.push([vec![nodes[from]], between, vec![nodes[to]]].concat());
        }
        self.ports(&nodes, &mut edges);
        Placement { nodes, edges, size: [right - left + 2.0 * margin, y - GAP_Y + 34.0] }
    }

    /// Moves the ends of edges to the borders of nodes, side by side in the order of where they lead.
    fn ports(&self, nodes: &[[f64; 2]], edges: &mut [Vec<[f64; 2]>]) {
        let mut ends: BTreeMap<Border, Vec<End>> = BTreeMap::new();
        for (nth, &[from, to]) in self.graph.edges.iter().enumerate() {
            if from == to {
                continue;
            }
            let (a, b) = (self.items[from].layer, self.items[to].layer);
            // Within a layer edges hang below it.
            let (from_below, to_below) = (a <= b, a >= b);
            let points = &edges[nth];
            ends.entry((from, from_below)).or_default().push((points[1][0], nth, false));
            ends.entry((to, to_below)).or_default().push((points[points.len() - 2][0], nth, true));
        }
        for ((node, below), mut list) in ends {
            list.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            let [width, height] = self.graph.sizes[node];
            let room = (width - 24.0).max(0.0).min(26.0 * (list.len() - 1) as f64);
            for (position, &(_, edge, is_last)) in list.iter().enumerate() {
                let part = if list.len() > 1 { position as f64 / (list.len() - 1) as f64 - 0.5 } else { 0.0 };
                let y = nodes[node][1] + if below { height / 2.0 } else { -height / 2.0 };
                let end = if is_last { edges[edge].len() - 1 } else { 0 };
                edges[edge][end] = [nodes[node][0] + part * room, y];
            }
        }
    }
}

/// A node, and whether its lower border is meant.
type Border = (usize, bool);
/// Where an edge leads, the edge, and whether this is its last point.
type End = (f64, usize, bool);

/// How far each node is from the initial ones; 0 for those that are not reached.
fn distances(graph: &Diagram) -> Vec<usize> {
    let n_nodes = graph.sizes.len();
    let mut found: Vec<Option<usize>> = vec![None; n_nodes];
    let mut open: Vec<usize> = (0..graph.n_initial.clamp(1, n_nodes)).collect();
    open.iter().for_each(|&node| found[node] = Some(0));
    let mut next = 0;
    while next < open.len() {
        let node = open[next];
        next += 1;
        let distance = found[node].unwrap_or(0) + 1;
        for &[from, to] in &graph.edges {
            if from == node && found[to].is_none() {
                found[to] = Some(distance);
                open.push(to);
            }
        }
    }
    found.into_iter().map(|distance| distance.unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small graph from a few numbers, the same for the same seed.
    fn random(seed: u64) -> Diagram {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % limit as u64) as usize
        };
        let n_nodes = 1 + draw(40);
        let sizes = (0..n_nodes).map(|_| [40.0 + draw(120) as f64, 24.0 + draw(50) as f64]).collect();
        let edges = (0..draw(120)).map(|_| [draw(n_nodes), draw(n_nodes)]).collect();
        Diagram { sizes, edges, n_initial: 1 + draw(3) }
    }

    #[test]
    fn nodes_never_overlap_and_edges_end_at_their_nodes() {
        for seed in 0..300 {
            let graph = random(seed);
            let layout = place(&graph);
            let [width, height] = layout.size;
            for (at, &[x, y]) in layout.nodes.iter().enumerate() {
                let [w, h] = graph.sizes[at];
                assert!(
                    x - w / 2.0 >= 0.0 && x + w / 2.0 <= width && y - h / 2.0 >= 0.0 && y + h / 2.0 <= height,
                    "seed {seed}"
                );
                for (other, &[u, v]) in layout.nodes.iter().enumerate().take(at) {
                    let [p, q] = graph.sizes[other];
                    let apart = (x - u).abs() >= (w + p) / 2.0 - 1e-6 || (y - v).abs() >= (h + q) / 2.0 - 1e-6;
                    assert!(apart, "seed {seed}: {at} and {other} overlap");
                }
            }
            for (points, &[from, to]) in layout.edges.iter().zip(&graph.edges) {
                for (point, node) in [(points[0], from), (points[points.len() - 1], to)] {
                    let ([x, y], [w, h]) = (layout.nodes[node], graph.sizes[node]);
                    let near = (point[0] - x).abs() <= w / 2.0 + 1e-6 && (point[1] - y).abs() <= h / 2.0 + 1e-6;
                    assert!(near, "seed {seed}: an edge of {node} ends elsewhere");
                }
            }
        }
    }

    #[test]
    fn a_chain_goes_straight_down_and_nothing_is_placed_nowhere() {
        let graph = Diagram { sizes: vec![[50.0, 20.0]; 3], edges: vec![[0, 1], [1, 2], [2, 0]], n_initial: 1 };
        let layout = place(&graph);
        assert!(layout.nodes.windows(2).all(|pair| pair[1][1] > pair[0][1]));
        assert_eq!(layout.edges[2].len(), 3, "the way back passes the layer between");
        assert!(place(&Diagram::default()).nodes.is_empty());
    }
}
