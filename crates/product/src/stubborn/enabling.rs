//! What has to happen before an action can, read from local state graphs.
//!
//! In: an action that is not enabled in a state, and where the processes are. Out: a **necessary enabling set**: on every run from
//! the state, one of its actions is taken before the action is. A process that stands elsewhere has to leave its place first. One
//! that stands there waits for others: its graph is followed along their steps, up to states that have the action.

use rustc_hash::FxHashMap;

use local::graphs::{ActionNumber, Actions, ProcessGraph};
use packed::machine::Machine;
use packed::packing::Packed;

/// Where everybody is.
pub struct ProcessPositions {
    /// By process: its local state.
    pub locals: Vec<u32>,
    /// By process: its control point.
    pub points: Vec<u32>,
}

/// Finds necessary enabling sets, and remembers them.
pub struct Enabling<'e, const W: usize> {
    actions: &'e Actions<W>,
    graphs: &'e [ProcessGraph<W>],
    /// By step: the process, and the control point where it is taken.
    step_points: Vec<(u32, u32)>,
    /// By process and control point: the actions that the process can take part in there.
    at_point: Vec<Vec<Vec<ActionNumber>>>,
    /// By process, local state and action: what the process waits for.
    known: FxHashMap<(u32, u32, ActionNumber), Vec<ActionNumber>>,
}

impl<'e, const W: usize> Enabling<'e, W> {
    /// Nothing known yet.
    pub fn new(machine: &Machine<'_>, actions: &'e Actions<W>, graphs: &'e [ProcessGraph<W>]) -> Self {
        let mut step_points = vec![(0, 0); machine.code.steps.len()];
        let mut at_point: Vec<Vec<Vec<ActionNumber>>> = Vec::new();
        for (process, points) in machine.code.points.iter().enumerate() {
            for (point, steps) in points.iter().enumerate() {
                for step in steps.first..steps.end {
                    step_points[step as usize] = (process as u32, point as u32);
                }
            }
            at_point.push(vec![Vec::new(); points.len()]);
        }
        for (action, &(step, partner)) in actions.steps.iter().enumerate() {
            for step in std::iter::once(step).chain(partner) {
                let (process, point) = step_points[step as usize];
                at_point[process as usize][point as usize].push(action as u32);
            }
        }
        Enabling { actions, graphs, step_points, at_point, known: FxHashMap::default() }
    }

    /// The actions that a process can take part in where it stands.
    pub fn at(&self, process: usize, standing: &ProcessPositions) -> &[ActionNumber] {
        &self.at_point[process][standing.points[process] as usize]
    }

    /// Adds a necessary enabling set of an action that is not enabled.
    pub fn add(&mut self, action: ActionNumber, standing: &ProcessPositions, set: &mut Vec<ActionNumber>) {
        let (step, partner) = self.actions.steps[action as usize];
        let sides = || std::iter::once(step).chain(partner);
        for side in sides() {
            let (process, point) = self.step_points[side as usize];
            if standing.points[process as usize] != point {
                set.extend(self.at(process as usize, standing));
                return;
            }
        }
        for side in sides() {
            let process = self.step_points[side as usize].0;
            let local = standing.locals[process as usize];
            if !has(&self.graphs[process as usize], local, action) {
                let key = (process, local, action);
                if !self.known.contains_key(&key) {
                    let awaited = self.awaited(process as usize, local, action);
                    self.known.insert(key, awaited);
                }
                set.extend(&self.known[&key]);
                return;
            }
        }
        // Both could, and cannot together: whatever changes what one of them sees may be needed.
        for side in sides() {
            let process = self.step_points[side as usize].0 as usize;
            set.extend(self.at(process, standing).iter().filter(|&&other| other != action));
            let seen = (0..self.actions.n_actions() as u32).filter(|&other| self.actions.is_external(process, other));
            set.extend(seen);
        }
    }

    /// What a process waits for that stands where the action is taken.
    fn awaited(&self, process: usize, local: u32, action: ActionNumber) -> Vec<ActionNumber> {
        let graph = &self.graphs[process];
        let mut found = Vec::new();
        let mut can_move = false;
        let mut seen = rustc_hash::FxHashSet::from_iter([local]);
        let mut open = vec![local];
        while let Some(state) = open.pop() {
            can_move |= !graph.own(state).is_empty() || !graph.faulty(state).is_empty();
            for &(other, target) in &graph.external[state as usize] {
                if self.actions.takes_part(process, other) {
                    can_move = true;
                } else if has(graph, target, action) {
                    found.push(other);
                } else if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        if can_move {
            let (step, partner) = self.actions.steps[action as usize];
            let side = std::iter::once(step).chain(partner).map(|step| self.step_points[step as usize]);
            for (_, point) in side.filter(|side| side.0 as usize == process) {
                found.extend(self.at_point[process][point as usize].iter().filter(|&&other| other != action));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Where everybody is in a state of the whole program.
    pub fn standing(&self, machine: &Machine<'_>, state: &Packed<W>) -> ProcessPositions {
        let local = |graph: &ProcessGraph<W>| {
            let seen = packed::words::and(state, &graph.mask);
            graph.states.position(&seen).expect("local state graphs have every reachable local state")
        };
        let point = |process: usize| machine.codec.layout.control[process].raw(state) as u32;
        ProcessPositions {
            locals: self.graphs.iter().map(local).collect(),
            points: (0..self.graphs.len()).map(point).collect(),
        }
    }
}

/// Whether a local state has a transition by an action that the process takes part in, or a fault.
fn has<const W: usize>(graph: &ProcessGraph<W>, state: u32, action: ActionNumber) -> bool {
    graph.own(state).iter().any(|edge| edge.0 == action)
        || !graph.external_by(state, action).is_empty()
        || graph.faulty(state).contains(&action)
}
