//! Properties, fairness assumptions and hints.

use super::{Doc, Expr, Ident, Places};
use base::Span;

/// `invariant NAME: e …;` and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// What is claimed.
    pub kind: PropertyKind,
    /// Its name: always there for `invariant`, `property` and `reachable`, never for `no_errors` and `deadlock_free`.
    pub name: Option<Ident>,
    /// `under …`: only with [`PropertyKind::Temporal`].
    pub under: Option<Under>,
    /// `expect …`
    pub expect: Option<Expectation>,
    /// The whole of it.
    pub span: Span,
}

/// What a property claims.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyKind {
    /// `invariant NAME: e;`
    Invariant(Expr),
    /// `property NAME: e;`: a formula of linear temporal logic.
    Temporal(Expr),
    /// `reachable NAME: e;`
    Reachable(Expr),
    /// `race_free x;`, one declaration per variable of `race_free x, y;`. The expression is a name, an element or a
    /// field; a `P[*].x` speaks of all processes.
    RaceFree(Expr),
    /// `no_errors;`
    NoErrors,
    /// `deadlock_free;`
    DeadlockFree,
}

/// `expect violated` or `expect holds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Whether `holds` is expected.
    pub holds: bool,
    /// Where it stands, the word `expect` included.
    pub span: Span,
}

/// `under …` or `under none`.
#[derive(Clone, Debug, PartialEq)]
pub struct Under {
    /// The assumptions; `None` for `under none`, which cancels the `default` set.
    pub assumptions: Option<Assumptions>,
    /// Where it stands, the word `under` included.
    pub span: Span,
}

/// Fairness assumptions combined by commas (all of them) and `or` (one of them); `or` binds tighter.
#[derive(Clone, Debug, PartialEq)]
pub enum Assumptions {
    /// One assumption.
    One(FairnessItem),
    /// `a, b`: at least two.
    All(Vec<Assumptions>),
    /// `a or b`: at least two.
    Either(Vec<Assumptions>),
}

/// `fairness NAME { weak P[*]; strong P[*]@half; }`
#[derive(Clone, Debug, PartialEq)]
pub struct FairnessDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name; `default` is the one that properties without `under` use.
    pub name: Ident,
    /// All of these are assumed.
    pub items: Vec<FairnessItem>,
    /// The whole of it.
    pub span: Span,
}

/// One fairness assumption.
#[derive(Clone, Debug, PartialEq)]
pub struct FairnessItem {
    /// Which one.
    pub kind: FairnessKind,
    /// The whole of it.
    pub span: Span,
}

/// The forms of a fairness assumption. `weak x` names a process where the program declares a process `x`, and otherwise
/// is the predicate; `weak (P[0]@l)` with its parentheses is the predicate always.
#[derive(Clone, Debug, PartialEq)]
pub enum FairnessKind {
    /// `progress`
    Progress,
    /// `every P[*]`
    Every(ProcessPattern),
    /// `weak P[*]`, `weak P[*]@l`
    Weak {
        /// Whose.
        process: ProcessPattern,
        /// Only the steps at these places.
        places: Option<Places>,
    },
    /// `weak p`: again and again p.
    WeakPredicate(Expr),
    /// `strong P[*]`, `strong P[*]@l`
    Strong {
        /// Whose.
        process: ProcessPattern,
        /// Only the steps at these places.
        places: Option<Places>,
    },
    /// `strong p => q`: if again and again p, then again and again q.
    StrongPredicates {
        /// The left predicate.
        condition: Expr,
        /// The right predicate.
        response: Expr,
    },
    /// The name of a `fairness` declaration.
    Set(Ident),
}

/// `P[*]`, `P[0]`, `Monitor`: one process, or all of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessPattern {
    /// The family or single process.
    pub name: Ident,
    /// Which of the family. Without it the name is that of a single process; for a family the checker refuses it.
    pub index: Option<PatternIndex>,
    /// The whole of it.
    pub span: Span,
}

/// Which members of a family.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternIndex {
    /// `[*]`
    All,
    /// `[e]`
    One(Expr),
}

/// `hint expose P[*]@crit, P[*].x;`
#[derive(Clone, Debug, PartialEq)]
pub struct HintDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// The facts that the proof may look at: predicates or locals, in which `P[*]` stands for each process of the
    /// family.
    pub exposed: Vec<Expr>,
    /// The whole of it.
    pub span: Span,
}
