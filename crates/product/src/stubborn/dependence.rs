//! Which actions do not commute, read from local state graphs.
//!
//! In: the graphs, which have every reachable local state and step. Out: for each action of some processes the actions of others that it
//! depends on. Two actions of different processes are independent if neither sees what the other may write; or if, wherever
//! in a graph both can happen, the one leads from where the other has led to where both together lead: its changes and the
//! other's, bit by bit. A fault counts as a place where a step leads. Actions that never can happen in one local state do
//! not disturb each other. Steps of two processes are independent of what does not touch what they touch.

use rustc_hash::FxHashSet;

use local::graphs::{ActionNumber, Actions, ProcessGraph};
use packed::packing::Packed;
use packed::words::{and, is_zero, or};

/// By action: the actions of other processes that it depends on, ascending.
pub fn dependents<const W: usize>(actions: &Actions<W>, graphs: &[ProcessGraph<W>]) -> Vec<Vec<ActionNumber>> {
    let mut found: FxHashSet<(ActionNumber, ActionNumber)> = FxHashSet::default();
    for (process, graph) in graphs.iter().enumerate() {
        let mut scan = GraphScan { actions, graph, process, found: &mut found };
        (0..graph.n_expanded() as u32).for_each(|state| scan.state(state));
    }
    let mut lists = vec![Vec::new(); actions.n_actions()];
    for (one, other) in found {
        lists[one as usize].push(other);
        lists[other as usize].push(one);
    }
    for list in &mut lists {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

/// One graph, looked through.
struct GraphScan<'s, const W: usize> {
    actions: &'s Actions<W>,
    graph: &'s ProcessGraph<W>,
    process: usize,
    found: &'s mut FxHashSet<(ActionNumber, ActionNumber)>,
}

impl<const W: usize> GraphScan<'_, W> {
    fn state(&mut self, state: u32) {
        let mut own: Vec<ActionNumber> = self.graph.own(state).iter().map(|edge| edge.0).collect();
        own.extend(self.graph.faulty(state));
        own.sort_unstable();
        own.dedup();
        let edges = &self.graph.external[state as usize];
        for &(action, target) in edges {
            if self.actions.takes_part(self.process, action) {
                continue;
            }
            for &mine in &own {
                if !self.found.contains(&(mine, action)) && !self.commute(state, mine, target) {
                    self.found.insert((mine, action));
                }
            }
            let meetings = edges.iter().map(|edge| edge.0).filter(|&met| self.actions.takes_part(self.process, met));
            for met in meetings {
                if !self.touch_nothing_in_common(met, action) {
                    self.found.insert((met, action));
                }
            }
        }
    }

    /// Whether an own action from where another has led leads to where both together lead.
    fn commute(&self, state: u32, mine: ActionNumber, after_other: u32) -> bool {
        let graph = self.graph;
        let faults = |state: u32| graph.faulty(state).contains(&mine);
        if faults(state) != faults(after_other) {
            return false;
        }
        let (before, other) = (graph.states.row(state), graph.states.row(after_other));
        let targets = |from: u32| {
            let own = graph.own(from).iter().filter(move |edge| edge.0 == mine);
            own.map(|&(_, target)| graph.states.row(target))
        };
        let mut expected: Vec<Packed<W>> = targets(state).map(|after| both(before, after, other)).collect();
        let mut actual: Vec<Packed<W>> = targets(after_other).copied().collect();
        expected.sort_unstable();
        expected.dedup();
        actual.sort_unstable();
        actual.dedup();
        expected == actual
    }

    fn touch_nothing_in_common(&self, one: ActionNumber, other: ActionNumber) -> bool {
        let of = |action: ActionNumber| {
            let (reads, writes) = (&self.actions.reads[action as usize], self.actions.writes[action as usize]);
            (or(reads, &writes), writes)
        };
        let ((touched, written), (their_touched, their_written)) = (of(one), of(other));
        is_zero(&and(&written, &their_touched)) && is_zero(&and(&their_written, &touched))
    }
}

/// The bits after two changes of a state: each bit that one of them changes is changed.
fn both<const W: usize>(before: &Packed<W>, one: &Packed<W>, other: &Packed<W>) -> Packed<W> {
    std::array::from_fn(|word| before[word] ^ ((before[word] ^ one[word]) | (before[word] ^ other[word])))
}
