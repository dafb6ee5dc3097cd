//! Local state graphs of the whole product: each state and step, as each process sees it.

use model::control::ActionId;
use model::process::ProcessId;

use super::actions::{ActionNumber, Actions};
use super::graph::{ProcessGraph, step_of};
use crate::sets::Rows;
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Sink};
use packed::packing::Packed;
use packed::words::and;

/// The budget is checked after so many states.
const CHECK_EVERY: usize = 1024;

/// The graphs of all processes, as far as the meter lets the search go.
pub fn graphs<const W: usize>(machine: &Machine<'_>, actions: &Actions<W>, meter: &Meter<'_>) -> Vec<ProcessGraph<W>> {
    let graphs =
        actions.masks.iter().enumerate().map(|(at, &mask)| ProcessGraph::new(ProcessId::new(at), mask)).collect();
    let mut search =
        ProjectionSearch { machine, actions, graphs, states: Rows::default(), found: Vec::new(), action: None };
    let _stopped = search.run(meter);
    search.graphs
}

/// The search of the product.
struct ProjectionSearch<'s, const W: usize> {
    machine: &'s Machine<'s>,
    actions: &'s Actions<W>,
    graphs: Vec<ProcessGraph<W>>,
    /// The states of the whole program.
    states: Rows<W>,
    /// The transitions of the state at hand.
    found: Vec<(ProcessId, Option<ActionPair>, Packed<W>)>,
    /// The step whose transitions come next.
    action: Option<ActionPair>,
}

/// An action, and the partner with its action.
type ActionPair = (ActionId, Option<(ProcessId, ActionId)>);

impl<const W: usize> ProjectionSearch<'_, W> {
    fn run(&mut self, meter: &Meter<'_>) -> Flow {
        for state in InitialStates::<W>::new(self.machine.codec) {
            self.states.insert(state);
            self.graphs.iter_mut().for_each(|graph| {
                graph.number(&state);
            });
            if self.states.len().is_multiple_of(CHECK_EVERY) && !meter.may_go_on(self.bytes()) {
                return Flow::Break(());
            }
        }
        self.graphs.iter_mut().for_each(|graph| graph.n_initial = graph.states.len());
        let scratch = self.machine.scratch::<W>();
        let mut at = 0;
        while at < self.states.len() {
            let state = *self.states.row(at as u32);
            self.machine.expand(&state, &scratch, self)?;
            for (process, step, next) in std::mem::take(&mut self.found) {
                self.states.insert(next);
                let action = self.number(process, step, &state);
                self.project(action, &state, &next);
            }
            at += 1;
            if at.is_multiple_of(CHECK_EVERY) {
                meter.stored(CHECK_EVERY as u64);
                if !meter.may_go_on(self.bytes()) {
                    return Flow::Break(());
                }
            }
        }
        meter.add(self.bytes());
        Flow::Continue(())
    }

    fn bytes(&self) -> u64 {
        let graph = |graph: &ProcessGraph<W>| graph.states.bytes() + 24 * graph.n_transitions();
        self.states.bytes() + self.graphs.iter().map(graph).sum::<u64>()
    }

    fn number(&self, process: ProcessId, step: Option<ActionPair>, state: &Packed<W>) -> ActionNumber {
        let (action, partner) = step.expect("a step begins before it leads anywhere");
        let own = step_of(self.machine, process, state, action);
        match partner {
            None => own,
            Some((other, theirs)) => self.actions.meeting(own, step_of(self.machine, other, state, theirs)),
        }
    }

    fn project(&mut self, action: ActionNumber, state: &Packed<W>, next: &Packed<W>) {
        for (at, graph) in self.graphs.iter_mut().enumerate() {
            let target = graph.number(next);
            if self.actions.takes_part(at, action) || self.actions.is_external(at, action) {
                let from = graph.states.position(&and(state, &graph.mask)).expect("it was projected when it was found");
                graph.add_external(from, action, target);
            }
        }
    }
}

impl<const W: usize> Sink<W> for ProjectionSearch<'_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.action = Some((action, partner));
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push((process, self.action, *next));
        Flow::Continue(())
    }
}
