//! A run of the program that shows something.
//!
//! **Rule.** The first state is initial; each state follows from the one before by the move between them; what
//! [`TraceEnd`] says is true of the last state. Where `loop_from` is given, the last state equals the one at that position,
//! and the run goes round from there for ever.

use model::eval::{Move, Race, State, StepFault};

/// A finite run, or a lasso.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The states; there is at least one.
    pub states: Vec<State>,
    /// `moves[k]` leads from `states[k]` to `states[k + 1]`.
    pub moves: Vec<Move>,
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
        /// Who takes the step, and which.
        by: Move,
        /// What is wrong with it.
        fault: StepFault,
    },
    /// Nobody can move, and somebody is stuck.
    Deadlock,
    /// Two processes can access one cell at once.
    Race(Race),
}

impl Trace {
    /// How many steps there are.
    pub fn n_steps(&self) -> usize {
        self.moves.len()
    }

    /// How often the step after a step is another process's.
    pub fn n_context_switches(&self) -> usize {
        self.moves.windows(2).filter(|pair| pair[0].process != pair[1].process).count()
    }
}
