//! A run of packed states, in the user's terms.
//!
//! In: states and who moves between them, as some search found them, and what the last one shows. Out: a trace. Which step a process took is asked of
//! `eval`, so that a run that packed code made up would not get past here.

use std::ops::ControlFlow;

use evidence::{Trace, TraceEnd};
use model::eval::{self, Move, State};
use model::process::ProcessId;

use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::StateGoal;

/// A run: states, and who moves between them.
pub struct StateRun<const W: usize> {
    /// The states, from an initial one on.
    pub states: Vec<Packed<W>>,
    /// Who moves from each but the last.
    pub movers: Vec<ProcessId>,
    /// Who takes the step at the end, where that is a fault.
    pub last: Option<ProcessId>,
}

impl<const W: usize> StateRun<W> {
    /// The run to a goal in the user's terms.
    pub fn shown(&self, machine: &Machine<'_>, goal: &StateGoal) -> Trace {
        let codec = machine.codec;
        let model = codec.model;
        let states: Vec<State> = self.states.iter().map(|state| codec.unpack(state)).collect();
        let step = |(pair, &mover): (&[State], &ProcessId)| -> Move {
            let steps = eval::likely_steps_of(model, &pair[0], mover, Some(&pair[1]));
            let taken = steps.into_iter().find(|step| step.result.as_ref() == Ok(&pair[1]));
            taken.expect("packed steps are those of `eval`").by
        };
        let moves = states.windows(2).zip(&self.movers).map(step).collect();
        let last = states.last().expect("a run has a state");
        let end = match goal {
            StateGoal::State(..) => TraceEnd::State,
            StateGoal::Deadlock => TraceEnd::Deadlock,
            StateGoal::Race(var, _) => {
                TraceEnd::Race(eval::race(model, last, *var).expect("the race was found by `eval`"))
            }
            StateGoal::Fault => {
                let mover = self.last.expect("somebody takes the faulty step");
                let steps = eval::likely_steps_of(model, last, mover, None).into_iter();
                let fault = steps.filter_map(|step| step.result.err().map(|fault| (step.by, fault))).next();
                let (by, fault) = fault.expect("packed faults are those of `eval`");
                TraceEnd::Fault { by, fault }
            }
        };
        Trace::finite(states, moves, end)
    }
}

/// Whether nobody can move in a state, and somebody waits.
pub fn is_deadlock<const W: usize>(machine: &Machine<'_>, state: &Packed<W>, scratch: &Scratch<W>) -> bool {
    machine.somebody_waits(state) && machine.expand(state, scratch, &mut IgnoreSteps) == ControlFlow::Continue(false)
}

/// Takes nothing: only whether there is a step matters.
struct IgnoreSteps;

impl<const W: usize> Sink<W> for IgnoreSteps {
    fn successor(&mut self, _process: ProcessId, _next: &Packed<W>) -> Flow {
        Flow::Break(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        Flow::Break(())
    }
}
