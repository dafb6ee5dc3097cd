//! Which actions do not commute, read from local state graphs.
//!
//! In: the graphs, which have every reachable local state and step. Out: for each action of some processes the actions of others that it
//! depends on. Two actions of different processes are independent if neither sees what the other may write; or if, wherever
//! in a graph both can happen, the one leads from where the other has led to where both together lead: its changes and the
//! other's, bit by bit. A fault counts as a place where a step leads. Actions that never can happen in one local state do
//! not disturb each other. Steps of two processes are independent of what does not touch what they touch.

use rustc_hash::FxHashSet;

use base::{Budget, CancelToken};
use engine::Silent;
use engine::meter::Meter;
use local::graphs::{ActionNumber, Actions, ProcessGraph, Rounds, refuse_stacks};
use packed::machine::Machine;
use packed::packing::Packed;
use packed::width::{ForWidth, with_coarse_width};
use packed::words::{and, is_zero, or};

/// What local state graphs may take before they are given up.
#[derive(Clone, Copy, Debug)]
pub struct GraphLimits {
    /// In bytes.
    most_bytes: u64,
    /// In looks at their budget.
    most_looks: u64,
    /// In joint states.
    most_pairs: u64,
}

impl GraphLimits {
    /// A few milliseconds of work.
    pub const SMALL: GraphLimits = GraphLimits { most_bytes: 300_000, most_looks: 300, most_pairs: 10_000 };

    /// About a tenth of a second of work.
    pub const LARGE: GraphLimits = GraphLimits { most_bytes: 3_000_000, most_looks: 1_000, most_pairs: 200_000 };
}

/// Two actions, the lesser number first.
pub type ActionPair = (ActionNumber, ActionNumber);

/// The pairs of actions of different processes that depend on each other; `None` where the graphs take too much work, or do not follow the program.
pub fn dependent_pairs(machine: &Machine<'_>, budget: &Budget, limits: GraphLimits) -> Option<FxHashSet<ActionPair>> {
    let model = machine.codec.model;
    if model.goes_on() || machine.code.has_marks || !model.initially.is_empty() || refuse_stacks(model).is_err() {
        return None;
    }
    with_coarse_width(machine.codec.layout.n_words, GraphWork { machine, budget, limits }).ok().flatten()
}

struct GraphWork<'w> {
    machine: &'w Machine<'w>,
    budget: &'w Budget,
    limits: GraphLimits,
}

impl ForWidth for GraphWork<'_> {
    type Output = Option<FxHashSet<ActionPair>>;

    fn run<const W: usize>(self) -> Self::Output {
        let GraphLimits { most_bytes, most_looks, most_pairs } = self.limits;
        let budget = Budget::new(self.budget.time_left(), Some(most_bytes), CancelToken::default());
        let budget = budget.with_looks(most_looks);
        let meter = Meter::new(&budget, &Silent);
        let actions = Actions::<W>::new(self.machine);
        let rounds = Rounds::new(self.machine, &actions, &meter).at_most(most_pairs).run(false, 1);
        // Graphs that a limit cut do not have every local state. What a rendezvous fails by they do not show.
        if meter.reason().is_some() || rounds.joints.iter().any(|joint| joint.faults) {
            return None;
        }
        Some(dependent(&actions, &rounds.graphs))
    }
}

fn dependent<const W: usize>(actions: &Actions<W>, graphs: &[ProcessGraph<W>]) -> FxHashSet<ActionPair> {
    let mut found: FxHashSet<(ActionNumber, ActionNumber)> = FxHashSet::default();
    for (process, graph) in graphs.iter().enumerate() {
        let mut scan = GraphScan { actions, graph, process, found: &mut found };
        (0..graph.n_expanded() as u32).for_each(|state| scan.state(state));
    }
    found.into_iter().map(|(one, other)| (one.min(other), one.max(other))).collect()
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
