//! Why a property of states follows from the invariants of a certificate: the parts of which it is made, each with the processes
//! from whose invariants it follows.
//!
//! **Rule.** An invariant (a `reachable` with its truth reversed) is taken apart into [`Clause`]s: *in every state in which the
//! conditions hold, evaluated in turn, the claim holds*; a condition without a value violates its clause, and so does a claim. `a && b`
//! follows from `a` and `b`, or from `a` and `b` under the condition `a`; `a => b` from `b` under the condition `a`; `forall` from its
//! instances, each under its filter; what holds under the condition that some instance holds, from the same under each instance as
//! the condition; `count(i: e) <= n` from clauses which say that each instance has a value and that of any `n + 1` one is false. How far a
//! property is taken apart is for whoever proves it to choose; a checker looks for a derivation of the property from the clauses
//! that are stated.
//!
//! A clause follows from some processes if no combination of values for them, of which every `k` are in their member, violates it.
//! The other properties have a part for each step, or two steps, that could break them. Where the invariants stand for their images
//! and the property is its own image, a part stands for its images, too.

use model::process::ProcessId;

/// A part of a property, and from whose invariants it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The part.
    pub part: Part,
    /// The processes, ascending.
    pub from: Vec<ProcessId>,
}

/// What has to be so in every reachable state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A clause of an invariant.
    Clause(Clause),
    /// No step of the process, or of both in a rendezvous (who sends first), fails.
    NoFault(Vec<ProcessId>),
    /// No steps of one and of the other access one cell at once, one of them writing.
    NoRace(Vec<ProcessId>, Vec<ProcessId>),
    /// Some process can move, or none is stuck.
    NoDeadlock,
}

/// In every state in which the conditions hold, evaluated in turn, the claim holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Clause {
    /// What is assumed.
    pub conditions: Vec<Literal>,
    /// What is demanded.
    pub claim: Literal,
}

/// A demand on one instance of a part of the property's expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    /// The way to the part from the whole expression, by operands: of `!` 0; of a binary operator 0 and 1; of `if` 0, 1 and 2; of a
    /// quantifier 0 is the body and 1 the filter.
    pub path: Vec<usize>,
    /// The values of the variables bound around it, outermost first, as the user writes them.
    pub bound: Vec<String>,
    /// What is demanded.
    pub demand: Demand,
}

/// What is demanded of a boolean expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Demand {
    /// It is true.
    True,
    /// It is false.
    False,
    /// It can be evaluated.
    HasValue,
}

impl Demand {
    /// What is demanded of `!e` where this is demanded of `e`.
    #[must_use]
    pub fn negated(self) -> Demand {
        match self {
            Demand::True => Demand::False,
            Demand::False => Demand::True,
            Demand::HasValue => Demand::HasValue,
        }
    }
}

impl Implied {
    /// The whole property, as one clause.
    pub fn whole(demand: Demand, from: Vec<ProcessId>) -> Self {
        let claim = Literal { path: Vec::new(), bound: Vec::new(), demand };
        Implied { part: Part::Clause(Clause { conditions: Vec::new(), claim }), from }
    }
}
