//! Runs: at each point one process is scheduled (has its *turn*); and what fairness says about turns.
//!
//! In: a state. Out: the turns that can be taken there, each with the state after it. The scheduled process takes an
//! enabled step, alone or in a rendezvous; only where it has none, or at `idle`, it may stutter. After a faulty step
//! there is nothing: it is no turn, and the process may not stutter instead.

use std::collections::BTreeSet;

use super::step::has_step;
use super::{Link, Move, State, Step, StepFault, Viewpoint, able, able_by, is_idle, likely_steps_of, steps};
use crate::Model;
use crate::control::ActionId;
use crate::fairness::{EdgePredicate, StatePredicate};
use crate::process::ProcessId;

/// Which process was scheduled, and what it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// A step was taken.
    Step(Move),
    /// The process stuttered.
    StandStill(ProcessId),
}

impl Turn {
    /// The scheduled process; of a rendezvous, the sender.
    pub fn process(&self) -> ProcessId {
        match self {
            Turn::Step(by) => by.process,
            Turn::StandStill(process) => *process,
        }
    }

    /// The step, if one was taken.
    pub fn step(&self) -> Option<&Move> {
        match self {
            Turn::Step(by) => Some(by),
            Turn::StandStill(_) => None,
        }
    }

    /// The processes that had a part in it.
    pub fn processes(&self) -> BTreeSet<ProcessId> {
        match self {
            Turn::Step(by) => by.links().flat_map(Link::processes).collect(),
            Turn::StandStill(process) => BTreeSet::from([*process]),
        }
    }

    /// The action of a process with which a step begins, alone or in a rendezvous: by which the process was enabled.
    pub fn first_action_of(&self, process: ProcessId) -> Option<ActionId> {
        self.step()?.first().action_of(process)
    }

    /// The processes with which it begins: those of the first link of a step, which are enabled by themselves.
    pub fn first_processes(&self) -> impl Iterator<Item = ProcessId> {
        let partner = self.step().and_then(|by| by.partner).map(|(partner, _)| partner);
        std::iter::once(self.process()).chain(partner)
    }

    /// The actions of a process in it, if it took part.
    pub fn actions_of(&self, process: ProcessId) -> impl Iterator<Item = ActionId> {
        self.step().into_iter().flat_map(move |by| by.actions_of(process))
    }
}

/// All turns that can be taken in a state, with the state after each: steps in the order of [`steps`], then stutters.
pub fn turns(model: &Model, state: &State) -> Vec<(Turn, State)> {
    with_stand_stills(model, state, steps(model, state))
}

/// Turns that can be taken in a state: all of them, but where `any` chooses from too many values to go through, those with likely
/// ones. See [`likely_steps_of`].
pub fn likely_turns(model: &Model, state: &State, aim: Option<&State>) -> Vec<(Turn, State)> {
    let likely = model.processes.ids().flat_map(|process| likely_steps_of(model, state, process, aim));
    with_stand_stills(model, state, likely.collect())
}

fn with_stand_stills(model: &Model, state: &State, enabled: Vec<Step>) -> Vec<(Turn, State)> {
    // A process that has a part in a step only because another's step goes on is not enabled by itself.
    let takes_part = |process: ProcessId| {
        // Of steps that are not among the likely ones there may be some.
        enabled.iter().any(|step| step.by.first().action_of(process).is_some())
            || has_step(model, state, process, |_| true)
    };
    let still: Vec<ProcessId> =
        model.processes.ids().filter(|&process| !takes_part(process) || is_idle(model, state, process)).collect();
    let moved = enabled.into_iter().filter_map(|step| Some((Turn::Step(step.by), step.result.ok()?)));
    let stood = still.into_iter().map(|process| (Turn::StandStill(process), state.clone()));
    moved.chain(stood).collect()
}

/// Whether a predicate of a fairness assumption holds in a state.
pub fn holds(model: &Model, state: &State, predicate: &StatePredicate) -> Result<bool, StepFault> {
    match predicate {
        StatePredicate::Holds(expr) => Viewpoint::new(model, state, None).truth(expr),
        StatePredicate::Fails(expr) => Viewpoint::new(model, state, None).truth(expr).map(|holds| !holds),
        StatePredicate::Unable(process, None) => Ok(!able(model, state, *process)),
        StatePredicate::Unable(process, Some(labels)) => Ok(!able_by(model, state, *process, labels)),
        StatePredicate::NobodyAble => Ok(!model.processes.ids().any(|process| able(model, state, process))),
    }
}

/// Whether a predicate of a fairness assumption is true of a turn taken in a state.
pub fn is_true_of(model: &Model, before: &State, turn: &Turn, predicate: &EdgePredicate) -> Result<bool, StepFault> {
    match predicate {
        EdgePredicate::Before(predicate) => holds(model, before, predicate),
        EdgePredicate::Scheduled(process) => Ok(turn.processes().contains(process)),
        EdgePredicate::Moves(process, labels) => Ok(turn.actions_of(*process).any(|action| {
            let carried = &model.actions[action].labels;
            labels.as_ref().is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
        })),
        EdgePredicate::SomebodyMoves => Ok(turn.step().is_some()),
    }
}
