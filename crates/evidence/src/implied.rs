//! How the invariants of a few processes imply a property: which part of it follows from which of them.
//!
//! An invariant of states, or the negation of a `reachable`, is a conjunction of *clauses*, each about few processes. A proof names each
//! clause by the way to it through the text of the property ([`Cut`]), together with the processes whose invariants imply it. Nothing of
//! this is agreed between the engine and the checker: at each place of the text the checker knows which cuts there can be and
//! which of them together say all that is demanded there, and rejects a proof that leaves one out or names one that there is not.
//! Where processes can be permuted and the property is symmetric, of cuts that are images of each other one is enough.
//!
//! **Rule.** A *demand* is a list of conditions, evaluated in order, and a claim: where all conditions hold, the claim is true (or false, as
//! it may be negated on the way) and has a value. The property is a demand without conditions. `a` is the left operand of the
//! outermost operator of the claim, `b` the right one; negations are skipped.
//!
//! | the claim says | cuts that say the same |
//! |---|---|
//! | both `a` and `b` | `Left`; and `Right`, or `RightUnderLeft` and what follows from `a` for `b` |
//! | where `a` holds, `b` does (`=>`, `\|\|`) | what follows from `a` for `b` |
//! | `a <=> b`; `if` | `Left`: where `a` (the test) is true; `Right`: where it is false; each followed by what follows from it |
//! | `forall`, `!exists` | an `Instance` for all values that the filter admits; a filter that depends on the state is a condition |
//! | `count(…) <= n`, without a filter | `HasValue` for each instance, and `NotAll` for any `n + 1` of them |
//!
//! What follows from a condition is `Then`: the condition is one of the demand; or, where it says that some instance holds, a `Case` for
//! each instance and what follows from that one. A demand may be left whole anywhere.

use model::process::ProcessId;
use serde::{Deserialize, Serialize};

/// Values of the variables that a quantifier binds, by name, as the user writes them.
pub type Choice = Vec<(String, String)>;

/// A step of the way from a property to one of its clauses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The left side, or what is demanded where the left side is true.
    Left,
    /// The right side, or what is demanded where the left side is false.
    Right,
    /// The right side, which is evaluated only where the left one is as it should be.
    RightUnderLeft,
    /// The claim, where the condition holds.
    Then,
    /// One instance of a claim about all.
    Instance(Choice),
    /// The condition that some instance holds, because this one does.
    Case(Choice),
    /// An instance that is counted has a value.
    HasValue(Choice),
    /// Of these instances that are counted one is false.
    NotAll(Vec<Choice>),
}

/// A part of a property, and the processes whose invariants imply it: all members of the split invariant whose processes are among
/// these are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Implied {
    /// A clause of an invariant or of the negation of a `reachable`.
    Clause {
        /// The way to it; none where the property is left whole.
        cuts: Vec<Cut>,
        /// The processes, ascending.
        from: Vec<ProcessId>,
    },
    /// No step of these movers fails.
    NoFault {
        /// A process, or the sender and the receiver of a rendezvous.
        movers: Vec<ProcessId>,
        /// The processes, ascending.
        from: Vec<ProcessId>,
    },
    /// Steps of these movers do not touch a cell at once, one of them writing it.
    NoRace {
        /// Each a process, or the sender and the receiver of a rendezvous.
        movers: [Vec<ProcessId>; 2],
        /// The processes, ascending.
        from: Vec<ProcessId>,
    },
    /// There is no deadlock.
    NoDeadlock {
        /// The members that are joined, by their processes.
        from: Vec<Vec<ProcessId>>,
    },
}
