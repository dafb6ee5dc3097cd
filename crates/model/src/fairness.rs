//! Fairness, in one representation: a list of pairs over the edges of a run.
//!
//! A pair says `FG p or GF q`: from some point on `p` holds in every state, or edges of `q` are taken again and again. Every
//! form of the language is such a pair: `every P` is (false, P is scheduled); `weak P` is (false, P is not enabled before, or
//! takes a step); `strong P` is (P is not enabled, P takes a step); `strong p => q` is (not p, q before).

use base::{Id, Span};

use crate::expr::{Domain, Expr, ExprKind};
use crate::process::ProcessId;
use crate::visit::each_part;

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

impl FairnessPair {
    /// The expressions of its predicates on states.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let before = self.often.iter().filter_map(|often| match often {
            EdgePredicate::Before(predicate) => Some(predicate),
            _ => None,
        });
        self.always.iter().chain(before).filter_map(|predicate| match predicate {
            StatePredicate::Holds(expr) | StatePredicate::Fails(expr) => Some(expr),
            StatePredicate::Unable(..) | StatePredicate::NobodyAble => None,
        })
    }

    /// Whether one of its predicates can be a fault at some size of the program, whatever it is at this one: beside what [`Expr::can_fault`] says,
    /// where a number names a process, or is made of one, or a quantifier goes through numbers.
    pub fn can_fault_at_some_size(&self) -> bool {
        let depends = |part: &Expr| match &part.kind {
            ExprKind::ToProcess(..) | ExprKind::IndexOf(_) | ExprKind::Parameter(_) => true,
            ExprKind::Quantified(quantified) => {
                quantified.bindings.iter().any(|binding| matches!(binding.domain, Domain::Range(..)))
            }
            _ => false,
        };
        self.expressions().any(|expr| {
            let mut can = expr.can_fault();
            each_part(expr, &mut |part| can |= depends(part));
            can
        })
    }
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
