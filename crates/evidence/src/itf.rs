//! Traces on disk: the Informal Trace Format of Apalache and Quint (`.itf.json`).
//!
//! Shared variables are variables of the trace; each family is one, a map from index to a record with the place (`at`), the
//! process's variables and, inside procedures, its `stack`. The process that took the step, and its statement, are in each state's `#meta` and,
//! for tools that drive tests, as `mbt::actionTaken` and `mbt::nondetPicks`. The file's own `#meta` names the program, its
//! parameters and a fingerprint, so that a trace of another program or instance is refused.
//!
//! [`to_itf`] and [`from_itf`] are inverse to each other. A file that says less about its steps (edited by hand, or written by
//! another tool) is read by [`read`]; `audit` finds the missing part.

pub(crate) mod names;
mod read;
pub(crate) mod value;
mod write;

use std::fmt;

use model::eval::{State, Turn};
use model::process::ProcessId;

use crate::{Trace, TraceEnd};

pub use read::{from_itf, parameters, read};
pub use write::{to_itf, to_text};

/// Files larger than this are refused.
pub const MOST_BYTES: usize = 128 << 20;

/// The version of what is under `piecewise` in a file's `#meta`.
const VERSION: u64 = 1;

/// A trace from a file: the states, and what the file says about the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct ItfTrace {
    /// The name of the property that it decides.
    pub property: Option<String>,
    /// The states; there is at least one.
    pub states: Vec<State>,
    /// What is known of the step between two states; one fewer than states.
    pub moves: Vec<MoveHint>,
    /// What is shown at the end.
    pub end: Option<TraceEnd>,
    /// For a lasso, the position to which the last state returns.
    pub loop_from: Option<usize>,
}

/// What a file says about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveHint {
    /// All of it.
    Exactly(Turn),
    /// The process that takes it.
    By(ProcessId),
    /// Nothing.
    Any,
}

impl ItfTrace {
    /// The trace, where the file leaves nothing open.
    pub fn exact(&self) -> Option<Trace> {
        let turns = self.moves.iter().map(|hint| match hint {
            MoveHint::Exactly(turn) => Some(turn.clone()),
            MoveHint::By(_) | MoveHint::Any => None,
        });
        Some(Trace {
            turns: turns.collect::<Option<Vec<Turn>>>()?,
            states: self.states.clone(),
            end: self.end.clone()?,
            loop_from: self.loop_from,
        })
    }
}

/// Why a file is not a trace of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItfError {
    /// It is larger than [`MOST_BYTES`].
    TooLarge(usize),
    /// It is not JSON, or nested too deep.
    NotJson(String),
    /// It is JSON, and not a trace.
    NotATrace(String),
    /// It is a trace of another program or of another instance of this one.
    AnotherProgram(String),
    /// A state or step does not fit the program.
    DoesNotFit {
        /// The state, from 0; `None` for the file's head.
        state: Option<usize>,
        /// What is wrong.
        what: String,
    },
    /// It leaves open what only [`read`] accepts.
    Incomplete,
}

impl fmt::Display for ItfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ItfError::TooLarge(size) => {
                write!(f, "the file has {} MB; traces of more than {} MB are not read", size >> 20, MOST_BYTES >> 20)
            }
            ItfError::NotJson(what) => write!(f, "not a JSON file: {what}"),
            ItfError::NotATrace(what) => write!(f, "not a trace in the Informal Trace Format: {what}"),
            ItfError::AnotherProgram(what) => write!(f, "the trace belongs to another program: {what}"),
            ItfError::DoesNotFit { state: Some(state), what } => {
                write!(f, "state {state} does not fit the program: {what}")
            }
            ItfError::DoesNotFit { state: None, what } => write!(f, "the trace does not fit the program: {what}"),
            ItfError::Incomplete => write!(f, "the trace does not say for each step who moves by which statement"),
        }
    }
}

impl std::error::Error for ItfError {}

#[cfg(test)]
mod tests;
