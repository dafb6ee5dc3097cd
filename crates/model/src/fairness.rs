//! Fairness, in one representation: a list of pairs over the edges of a run.
//!
//! A pair says `FG p or GF q`: from some point on `p` holds in every state, or edges of `q` are taken again and again. Every
//! form of the language is such a pair: `every P` is (false, P is scheduled); `weak P` is (false, P is not enabled before, or
//! takes a step); `strong P` is (P is not enabled, P takes a step); `strong p => q` is (not p, q before).

use base::{Id, Span};

use crate::expr::Expr;
use crate::process::ProcessId;

/// A pair `FG always or GF often`.
#[derive(Clone, Debug)]
pub struct FairnessPair {
    /// The process that the assumption is about; `None` for predicates and `progress`.
    pub owner: Option<ProcessId>,
    /// From some point on, always; `None` is false.
    pub always: Option<StatePredicate>,
    /// Again and again: an edge that satisfies one of these; empty is no edge.
    pub often: Vec<EdgePredicate>,
    /// As the user would write it: `strong P[0]@trying`.
    pub name: String,
    /// Its span in the text.
    pub span: Span,
}

/// Names a fairness pair.
pub type FairnessId = Id<FairnessPair>;

/// A predicate on states that may speak of what a process can do.
#[derive(Clone, Debug)]
pub enum StatePredicate {
    /// A boolean expression.
    Holds(Expr),
    /// A boolean expression is false.
    Fails(Expr),
    /// The process has no enabled step other than leaving `idle` (with labels: none that carries one of them).
    Unable(ProcessId, Option<Vec<String>>),
    /// No process has an enabled step other than leaving `idle`.
    NobodyAble,
}

/// A predicate on edges: which process was scheduled, by which step, from which state.
#[derive(Clone, Debug)]
pub enum EdgePredicate {
    /// The state before the edge.
    Before(StatePredicate),
    /// The process was scheduled, whether it took a step or stuttered.
    Scheduled(ProcessId),
    /// The process took a real step (with labels: one that carries one of them).
    Moves(ProcessId, Option<Vec<String>>),
    /// Some process took a step, and did not stutter.
    SomebodyMoves,
}

/// What a property assumes: a disjunction of sets of pairs. One empty set assumes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumptions {
    /// A run is fair if it satisfies all pairs of one of these.
    pub any_of: Vec<Vec<FairnessId>>,
}

impl Assumptions {
    /// Assumes nothing.
    pub fn none() -> Self {
        Assumptions { any_of: vec![Vec::new()] }
    }
}
