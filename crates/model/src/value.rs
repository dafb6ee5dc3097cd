//! Values: what a cell holds and what an expression yields.

use std::fmt;

use crate::process::ProcessId;
use crate::types::EnumId;

/// A scalar value. Values of different kinds are never equal; lowering makes each conversion explicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A value of an enumeration, by its position.
    Enum(EnumId, u32),
    /// No process.
    None,
    /// A process.
    Process(ProcessId),
}

/// What went wrong in evaluating an expression or taking a step: an error of the user's program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A value that its variable's type does not have.
    OutOfRange {
        /// The variable, as the user writes it.
        target: String,
        /// The value, as the user writes it.
        value: String,
    },
    /// An index outside its array, or a number that is no process of the family.
    BadIndex {
        /// What is indexed, as the user writes it.
        target: String,
        /// The index.
        index: i64,
        /// How many elements there are.
        len: usize,
    },
    /// `/` or `%` by zero.
    DivisionByZero,
    /// A number beyond 64 bits.
    Overflow,
    /// A shift by fewer than no bits, or by more than a number has.
    BadShift {
        /// By how many bits.
        by: i64,
    },
    /// `none` where a number or a process is needed.
    NoneUsed,
    /// A false `assert`.
    AssertFailed,
    /// Releasing a lock that the process does not hold.
    NotHeld {
        /// The lock, as the user writes it.
        lock: String,
    },
    /// Releasing a semaphore that is at its bound.
    SemaphoreFull {
        /// The semaphore, as the user writes it.
        semaphore: String,
    },
    /// A procedure with a result that ran off its end.
    NoResult {
        /// The procedure.
        procedure: String,
    },
    /// A step that goes on for ever: it comes back to a state that it has passed.
    Endless,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::OutOfRange { target, value } => write!(f, "{value} is outside the type of `{target}`"),
            Fault::BadIndex { target, index, len } => {
                write!(f, "index {index} is outside `{target}`, which has {len} elements")
            }
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::Overflow => write!(f, "a number beyond 64 bits"),
            Fault::BadShift { by } => write!(f, "a shift by {by} bits"),
            Fault::NoneUsed => write!(f, "`none` used as a number or a process"),
            Fault::AssertFailed => write!(f, "the assertion is false"),
            Fault::NotHeld { lock } => write!(f, "`{lock}` is released by a process that does not hold it"),
            Fault::SemaphoreFull { semaphore } => write!(f, "`{semaphore}` is released over its bound"),
            Fault::NoResult { procedure } => write!(f, "procedure `{procedure}` ends without a result"),
            Fault::Endless => write!(f, "the step goes on for ever"),
        }
    }
}
