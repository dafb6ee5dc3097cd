//! Properties: what is asked of a program.

use base::Span;

use crate::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier};
use crate::fairness::Assumptions;
use crate::variable::VarId;

/// A question with the answer that its author expects.
#[derive(Clone, Debug)]
pub struct Property {
    /// The name: the user's, or `no_errors`, `deadlock_free`, `race_free x`.
    pub name: String,
    /// What is asked.
    pub kind: PropertyKind,
    /// The fairness that temporal properties assume.
    pub under: Assumptions,
    /// What the author expects.
    pub expected: Expected,
    /// The question as the user wrote it, without its name; empty for the built-in ones.
    pub text: String,
    /// What the user wrote about it (`///`).
    pub doc: String,
    /// Its span in the text; empty for built-in ones that are not written down.
    pub span: Span,
}

/// The kinds of questions.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// True in every reachable state.
    Invariant(Expr),
    /// True in some reachable state.
    Reachable(Expr),
    /// True of every fair run.
    Temporal(Formula),
    /// No two processes can be about to access the same cell of the variable, one of them writing.
    RaceFree(VarId),
    /// No reachable step is a fault.
    NoErrors,
    /// No reachable state in which no process is enabled and some process is stuck.
    DeadlockFree,
}

impl PropertyKind {
    /// The keyword, as in the language and in the result document.
    pub fn keyword(&self) -> &'static str {
        match self {
            PropertyKind::Invariant(_) => "invariant",
            PropertyKind::Reachable(_) => "reachable",
            PropertyKind::Temporal(_) => "property",
            PropertyKind::RaceFree(_) => "race_free",
            PropertyKind::NoErrors => "no_errors",
            PropertyKind::DeadlockFree => "deadlock_free",
        }
    }
}

/// The verdict that the author expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `expect holds`, or nothing.
    Holds,
    /// `expect violated`.
    Violated,
}

/// A linear-time formula over boolean expressions. Quantifiers are outside or inside.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A boolean expression about the present state.
    Now(Expr),
    /// `!f`
    Not(Box<Formula>),
    /// `f op g` for a boolean operator.
    Boolean(BooleanOp, Box<Formula>, Box<Formula>),
    /// `always f` and the like.
    Unary(UnaryTemporal, Box<Formula>),
    /// `f until g` and the like.
    Binary(BinaryTemporal, Box<Formula>, Box<Formula>),
    /// `forall i: f`, `exists i: f`; never `Count`.
    Quantified {
        /// `Forall` or `Exists`.
        quantifier: Quantifier,
        /// The bound variables.
        bindings: Vec<Binding>,
        /// Instances that fail it are left out.
        filter: Option<Expr>,
        /// The body.
        body: Box<Formula>,
    },
    /// No run is accepted by the automaton.
    NeverAccepts(Box<Automaton>),
}

impl Formula {
    /// The same formula, in which `eventually always` is inside of conjunctions: from some point on always all of them, or each of
    /// finitely many from some point on always, is the same. Its parts can then be treated one by one.
    pub fn spread(&self) -> Formula {
        match self {
            Formula::Boolean(BooleanOp::And, left, right) => {
                Formula::Boolean(BooleanOp::And, Box::new(left.spread()), Box::new(right.spread()))
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => Formula::Quantified {
                quantifier: Quantifier::Forall,
                bindings: bindings.clone(),
                filter: filter.clone(),
                body: Box::new(body.spread()),
            },
            Formula::Unary(UnaryTemporal::Always, inner) => {
                Formula::Unary(UnaryTemporal::Always, Box::new(inner.spread()))
            }
            Formula::Unary(UnaryTemporal::Eventually, inner) => match &**inner {
                Formula::Unary(UnaryTemporal::Always, body) => eventually_always(body),
                _ => self.clone(),
            },
            _ => self.clone(),
        }
    }
}

impl Formula {
    /// A formula that implies this one and falls apart into more parts: conditions of which each is true from some point on always are, from some point on, true
    /// together, so that they are together eventually. `None` where nothing falls apart. That all processes end, for one, is so if each of them does.
    pub fn stronger(&self) -> Option<Formula> {
        match self {
            Formula::Boolean(BooleanOp::And, left, right) => {
                let (one, other) = (left.stronger(), right.stronger());
                if one.is_none() && other.is_none() {
                    return None;
                }
                let part =
                    |stronger: Option<Formula>, part: &Formula| Box::new(stronger.unwrap_or_else(|| part.clone()));
                Some(Formula::Boolean(BooleanOp::And, part(one, left), part(other, right)))
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => {
                Some(Formula::Quantified {
                    quantifier: Quantifier::Forall,
                    bindings: bindings.clone(),
                    filter: filter.clone(),
                    body: Box::new(body.stronger()?),
                })
            }
            Formula::Unary(UnaryTemporal::Eventually, inner) => {
                let lasting = eventually_always(inner);
                let falls_apart = matches!(lasting, Formula::Boolean(..) | Formula::Quantified { .. });
                falls_apart.then_some(lasting)
            }
            _ => None,
        }
    }
}

/// `eventually always` of each part of a conjunction that cannot be a fault.
fn eventually_always(formula: &Formula) -> Formula {
    match formula {
        Formula::Boolean(BooleanOp::And, left, right) => {
            Formula::Boolean(BooleanOp::And, Box::new(eventually_always(left)), Box::new(eventually_always(right)))
        }
        Formula::Now(Expr { kind: ExprKind::Quantified(inner), .. })
            if inner.quantifier == Quantifier::Forall && inner.filter.is_none() && !inner.body.can_fault() =>
        {
            let fixed = |binding: &Binding| !matches!(binding.domain, Domain::Range(..));
            if inner.bindings.iter().all(fixed) {
                let body = eventually_always(&Formula::Now(inner.body.clone()));
                let bindings = inner.bindings.clone();
                return Formula::Quantified {
                    quantifier: Quantifier::Forall,
                    bindings,
                    filter: None,
                    body: Box::new(body),
                };
            }
            whole(formula)
        }
        Formula::Now(Expr { kind: ExprKind::Binary(BinaryOp::And, left, right), .. })
            if !left.can_fault() && !right.can_fault() =>
        {
            let part = |expr: &Expr| Box::new(eventually_always(&Formula::Now(expr.clone())));
            Formula::Boolean(BooleanOp::And, part(left), part(right))
        }
        _ => whole(formula),
    }
}

fn whole(formula: &Formula) -> Formula {
    let always = Formula::Unary(UnaryTemporal::Always, Box::new(formula.clone()));
    Formula::Unary(UnaryTemporal::Eventually, Box::new(always))
}

/// A Büchi automaton that reads a run state by state: its first edge reads the first state. Where no process is enabled, the last
/// state is read again and again. A run is accepted if the automaton can read all of it and be at accepting locations infinitely
/// often.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The name, as the user wrote it.
    pub name: String,
    /// The locations.
    pub locations: Vec<AutomatonLocation>,
    /// The position of the location in which it starts.
    pub initial: usize,
    /// The edges, in the order of the text.
    pub edges: Vec<AutomatonEdge>,
}

/// A control location of an automaton.
#[derive(Clone, Debug)]
pub struct AutomatonLocation {
    /// The name.
    pub name: String,
    /// Whether runs that see it again and again are accepted.
    pub accepting: bool,
}

/// A step of an automaton.
#[derive(Clone, Debug)]
pub struct AutomatonEdge {
    /// The position of the location that it leaves.
    pub source: usize,
    /// The position of the location that it leads to.
    pub target: usize,
    /// What the state that it reads satisfies; `None` is true.
    pub guard: Option<Expr>,
    /// Its span in the text.
    pub span: Span,
}

/// Boolean connectives of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BooleanOp {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `=>`
    Implies,
    /// `<=>`
    Iff,
}

/// Temporal operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryTemporal {
    /// At the next point of the run, stutters included.
    Next,
    /// Now and for ever.
    Always,
    /// Now or later.
    Eventually,
}

/// Temporal operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryTemporal {
    /// The right one comes, the left one holds until then.
    Until,
    /// The left one holds until the right one comes, or for ever.
    WeakUntil,
    /// The right one holds up to and including the point at which the left one comes, or for ever.
    Releases,
    /// As `Releases`, and the left one comes.
    StrongReleases,
    /// Always, the left one is followed by the right one, now or later.
    LeadsTo,
}
