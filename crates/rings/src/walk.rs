//! Closed walks of windows: what a state of some size would be.
//!
//! In: windows with their states, which of these are allowed, what has to be shown on the way, and flows. Out: whether there is a closed walk that
//! shows it. Each step of a walk goes one to the right, to a window that agrees on all that both see; where types distinguish the first
//! process, a walk passes it once; the weights on the way sum up to the totals of the flows.

use base::{Budget, StopReason};
use evidence::rings::RingValue;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::windows::Windows;

/// A window in one of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    /// The window.
    pub shape: usize,
    /// The state.
    pub state: usize,
}

/// The weights of a flow on the way.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Of each state of each window: what is counted with its first process.
    pub here: Vec<Vec<u64>>,
    /// Of each state of each window: what is counted with the shared cells, once for a walk.
    pub shared: Vec<Vec<u64>>,
    /// What they sum up to.
    pub total: u64,
    /// Whether they may sum up to more.
    pub at_least: bool,
}

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which states a walk may pass.
    pub allowed: Vec<Vec<bool>>,
    /// What each state shows; a walk shows everything, each at another of its windows.
    pub signs: Vec<Vec<Vec<bool>>>,
    /// The flows that it obeys.
    pub flows: Vec<Weights>,
}

/// The states of windows by what they share with those to their left.
struct Neighbourhood<'w, 'a> {
    windows: &'w Windows<'a>,
    /// For each pair of windows, one to the right of the other: the states of the right one by what both see.
    right: Vec<FxHashMap<Vec<RingValue>, Vec<usize>>>,
    /// The pairs of each window.
    pairs: Vec<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Situation {
    node: Node,
    shown: u32,
    sums: Vec<u64>,
}

/// Whether there is such a walk; where that would take too long to find out, there may be.
///
/// # Errors
/// A limit.
pub fn exists(windows: &Windows<'_>, wanted: &Wanted, budget: &Budget) -> Result<bool, StopReason> {
    let around = Neighbourhood::new(windows);
    for start in starts(windows, wanted) {
        budget.check(0)?;
        if around.closes(start, wanted, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where walks may start: at the first process, where that shows, and else where they show the first sign.
fn starts(windows: &Windows<'_>, wanted: &Wanted) -> Vec<Node> {
    let mut found = Vec::new();
    for (shape, set) in windows.theta.iter().enumerate() {
        let marked = windows.ring.distances.is_marked(windows.shapes[shape].word[0]);
        for state in 0..set.states.len() {
            let begins = match (marked, wanted.signs.first()) {
                (Some(marked), _) => marked,
                (None, Some(sign)) => sign[shape][state],
                (None, None) => true,
            };
            if begins && wanted.allowed[shape][state] {
                found.push(Node { shape, state });
            }
        }
    }
    found
}

impl<'w, 'a> Neighbourhood<'w, 'a> {
    fn new(windows: &'w Windows<'a>) -> Neighbourhood<'w, 'a> {
        let mut right = Vec::new();
        let mut pairs = vec![Vec::new(); windows.shapes.len()];
        for (at, pair) in windows.next.iter().enumerate() {
            let mut by_key: FxHashMap<Vec<RingValue>, Vec<usize>> = FxHashMap::default();
            for (state, values) in windows.theta[pair.there].states.iter().enumerate() {
                by_key.entry(Windows::key(pair, None, Some(values))).or_default().push(state);
            }
            right.push(by_key);
            pairs[pair.here].push(at);
        }
        Neighbourhood { windows, right, pairs }
    }

    /// The states of windows one to the right that agree.
    fn after(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let values = &self.windows.theta[node.shape].states[node.state];
        self.pairs[node.shape].iter().flat_map(move |&at| {
            let pair = &self.windows.next[at];
            let states = self.right[at].get(&Windows::key(pair, Some(values), None));
            states.into_iter().flatten().map(|&state| Node { shape: pair.there, state })
        })
    }

    fn closes(&self, start: Node, wanted: &Wanted, budget: &Budget) -> Result<bool, StopReason> {
        let all = (1u32 << wanted.signs.len()) - 1;
        let mut open: Vec<Situation> = Vec::new();
        let mut known: FxHashSet<Situation> = FxHashSet::default();
        let nothing = vec![0; wanted.flows.len()];
        for found in arrive(start, (0, &nothing), wanted) {
            known.insert(found.clone());
            open.push(found);
        }
        while let Some(situation) = open.pop() {
            budget.check(0)?;
            if known.len() > self.windows.ring.config.window_situations {
                return Ok(true);
            }
            for node in self.after(situation.node) {
                if !wanted.allowed[node.shape][node.state] {
                    continue;
                }
                if node == start && situation.shown == all && is_full(start, &situation.sums, wanted) {
                    return Ok(true);
                }
                if self.windows.ring.distances.is_marked(self.windows.shapes[node.shape].word[0]) == Some(true) {
                    continue;
                }
                for found in arrive(node, (situation.shown, &situation.sums), wanted) {
                    if known.insert(found.clone()) {
                        open.push(found);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// The situations on arrival at a window: it shows nothing, or one of the signs that were not shown yet.
fn arrive(node: Node, (shown, sums): (u32, &[u64]), wanted: &Wanted) -> Vec<Situation> {
    let sum = |(sum, flow): (&u64, &Weights)| {
        let sum = sum + flow.here[node.shape][node.state];
        if flow.at_least { sum.min(flow.total) } else { sum }
    };
    let sums: Vec<u64> = sums.iter().zip(&wanted.flows).map(sum).collect();
    if sums.iter().zip(&wanted.flows).any(|(sum, flow)| *sum > flow.total) {
        return Vec::new();
    }
    let mut found = vec![Situation { node, shown, sums: sums.clone() }];
    for (at, sign) in wanted.signs.iter().enumerate() {
        if shown & 1 << at == 0 && sign[node.shape][node.state] {
            found.push(Situation { node, shown: shown | 1 << at, sums: sums.clone() });
        }
    }
    found
}

/// Whether the weights sum up to the totals.
fn is_full(start: Node, sums: &[u64], wanted: &Wanted) -> bool {
    sums.iter().zip(&wanted.flows).all(|(sum, flow)| {
        let sum = sum + flow.shared[start.shape][start.state];
        sum == flow.total || flow.at_least && sum > flow.total
    })
}
