//! A run of the program that shows something.
//!
//! **Rule.** The first state is initial; each state follows from the one before by the turn between them; what
//! [`TraceEnd`] says is true of the last state. Where `loop_from` is given, the last state equals the one at that position,
//! and the run goes round from there for ever. In a finite run every turn is a step; in a lasso, processes may stutter.

use model::Model;
use model::eval::{self, Move, Race, State, StepFault, Turn};
use model::property::PropertyKind;

/// A finite run, or a lasso.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The states; there is at least one.
    pub states: Vec<State>,
    /// `turns[k]` leads from `states[k]` to `states[k + 1]`.
    pub turns: Vec<Turn>,
    /// What is shown at the end.
    pub end: TraceEnd,
    /// For a lasso, the position to which the last state returns.
    pub loop_from: Option<usize>,
}

/// What is true of the last state of a trace.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEnd {
    /// The property's expression is decided there: an `invariant` is false, a `reachable` is true.
    State,
    /// A step from it is a fault.
    Fault {
        /// The step and its processes.
        by: Move,
        /// What is wrong with it.
        fault: StepFault,
    },
    /// No process is enabled, and some process is blocked.
    Deadlock,
    /// Two processes can access one cell at once.
    Race(Race),
    /// The run goes round for ever, and is a fair one on which a temporal property is false.
    Loop,
}

impl Trace {
    /// A finite run by these steps.
    pub fn finite(states: Vec<State>, steps: Vec<Move>, end: TraceEnd) -> Self {
        Trace { states, turns: steps.into_iter().map(Turn::Step).collect(), end, loop_from: None }
    }

    /// How many turns there are; in a finite run all are steps.
    pub fn n_steps(&self) -> usize {
        self.turns.len()
    }

    /// How many turns are followed by a turn of another process.
    pub fn n_context_switches(&self) -> usize {
        self.turns.windows(2).filter(|pair| pair[0].process() != pair[1].process()).count()
    }
}

/// The run through these states as a trace for a property, with the turns and the end that the reference semantics gives; `None`
/// where two states are not a step apart, or nothing that decides the property is true of the last one.
pub fn trace_through(model: &Model, states: Vec<State>, property: &PropertyKind) -> Option<Trace> {
    let likely = |state: &State, aim: Option<&State>| -> Vec<eval::Step> {
        model.processes.ids().flat_map(|process| eval::likely_steps_of(model, state, process, aim)).collect()
    };
    let moves = states.windows(2).map(|pair| {
        let mut steps = likely(&pair[0], Some(&pair[1])).into_iter();
        steps.find(|step| step.result.as_ref() == Ok(&pair[1])).map(|step| step.by)
    });
    let moves = moves.collect::<Option<Vec<Move>>>()?;
    let last = states.last()?;
    let end = match property {
        PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => TraceEnd::State,
        PropertyKind::NoErrors => {
            let mut steps = likely(last, None).into_iter();
            steps.find_map(|step| step.result.err().map(|fault| TraceEnd::Fault { by: step.by, fault }))?
        }
        PropertyKind::DeadlockFree => eval::is_deadlock(model, last).then_some(TraceEnd::Deadlock)?,
        PropertyKind::RaceFree(var) => TraceEnd::Race(eval::race(model, last, *var)?),
        PropertyKind::Temporal(_) => return None,
    };
    Some(Trace::finite(states, moves, end))
}
