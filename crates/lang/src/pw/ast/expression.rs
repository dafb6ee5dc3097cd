//! Expressions: values, state formulas and temporal formulas.

use super::{Ident, Range};
use base::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which one.
    pub kind: ExprKind,
    /// Where it stands, its parentheses included.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// A number; never negative (a minus sign is an operator).
    Int(i64),
    /// `none`: nobody, or an enum value of that name.
    None,
    /// A word: a variable, a constant, a parameter, an index, an enum value, an enum, a process, a definition.
    Name(Ident),
    /// `a[i]`, `P[i]`
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// The index; [`ExprKind::Star`] only in hints and `race_free`.
        index: Box<Expr>,
    },
    /// `P[k].x`, `m.owner`, `Vote.none`
    Field {
        /// What stands before the dot.
        base: Box<Expr>,
        /// What stands after it.
        field: Ident,
    },
    /// `P[i]@crit`, `P[i]@{a, b}`, `Monitor@busy`, `@crit`
    At {
        /// Whose control; nobody is named in `@crit`, which speaks of the process itself.
        process: Option<Box<Expr>>,
        /// The labels, at one of which it is.
        places: Places,
    },
    /// The `*` of `P[*]`: every index. Only as an index, and only in hints and `race_free`.
    Star,
    /// An operator before its operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// An operator between its operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// Its left operand.
        left: Box<Expr>,
        /// Its right operand.
        right: Box<Expr>,
    },
    /// `if c then a else b`
    If {
        /// The test.
        condition: Box<Expr>,
        /// The value where it holds.
        then: Box<Expr>,
        /// The value where it does not hold.
        otherwise: Box<Expr>,
    },
    /// `forall i: e`, `exists i != j: e`, `count(r in 0..<R: e)`
    Quantified {
        /// Which quantifier.
        quantifier: Quantifier,
        /// What it binds.
        binders: Box<Binders>,
        /// What it is about.
        body: Box<Expr>,
    },
    /// `min(a, b)`, `max(a, b, c)`: at least one operand.
    Extremum {
        /// Which of the two.
        extremum: Extremum,
        /// The values to choose from.
        operands: Vec<Expr>,
    },
    /// `busy(k)`: a definition with its arguments.
    Apply {
        /// The definition.
        name: Ident,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// `Msg(kind: ask, from: i)`: a struct by the names of its fields.
    Record {
        /// The struct.
        name: Ident,
        /// The values, at least one.
        fields: Vec<NamedField>,
    },
    /// `e as pid`, `e as pid(P)`
    AsPid {
        /// The number.
        operand: Box<Expr>,
        /// The family, if it is written.
        family: Option<Ident>,
    },
    /// `[a, b, c]`: an array by its elements.
    Array(Vec<Expr>),
    /// `[k: e]`: an array by its indices, as an initial value.
    ByIndex {
        /// The index.
        variable: Ident,
        /// The element at it.
        value: Box<Expr>,
    },
    /// `x in s`, `x in {a, b}`, `x in 0..<3`
    In {
        /// What is looked for.
        element: Box<Expr>,
        /// Where.
        members: Members,
    },
    /// `{a, b}`: a set by its elements.
    Set(Vec<Expr>),
    /// `[e; n]`: an array of equal elements.
    Repeat {
        /// The element.
        value: Box<Expr>,
        /// How many.
        length: Box<Expr>,
    },
}

/// `kind: ask`, in a struct by the names of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedField {
    /// The field.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
}

/// What stands after `in`.
#[derive(Clone, Debug, PartialEq)]
pub enum Members {
    /// A set variable, or `{a, b}`.
    Set(Box<Expr>),
    /// `0..<3`
    Range(Box<Range>),
}

/// `crit` or `{crit, leave}` after an `@`.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// The labels; at least one.
    pub labels: Vec<Ident>,
    /// The label, or the braces and what they hold.
    pub span: Span,
}

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`, `not`
    Not,
    /// `-`
    Negate,
    /// `always`, `G`, `[]`
    Always,
    /// `eventually`, `F`, `<>`
    Eventually,
    /// `next`, `X`
    Next,
}

/// Operators between their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `=>`, `implies`
    Implies,
    /// `<=>`, `iff`
    Iff,
    /// `~>`, `leadsto`: always (left implies eventually right)
    LeadsTo,
    /// `until`, `U`: left until right, and right does come
    Until,
    /// `weakuntil`, `W`: left until right, or left for ever
    WeakUntil,
    /// `releases`, `R`, `V`: right up to and including the point where left holds, or right for ever
    Releases,
    /// `M`: right up to and including the point where left holds, and that point does come
    StrongReleases,
    /// `xor`
    Xor,
    /// `||`, `or`
    Or,
    /// `&&`, `and`
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// What is said of the values of bound variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`: the body holds for all.
    ForAll,
    /// `exists`: the body holds for some.
    Exists,
    /// `count(…)`: for how many the body holds.
    Count,
    /// `sum(…)`: the body's values, added.
    Sum,
    /// `min(k in R: e)`: the least of the body's values.
    Least,
    /// `max(k in R: e)`: the greatest of the body's values.
    Greatest,
}

impl Quantifier {
    /// The word that it is written with, and whether its binders and body stand in parentheses.
    pub fn word(self) -> (&'static str, bool) {
        match self {
            Quantifier::ForAll => ("forall", false),
            Quantifier::Exists => ("exists", false),
            Quantifier::Count => ("count", true),
            Quantifier::Sum => ("sum", true),
            Quantifier::Least => ("min", true),
            Quantifier::Greatest => ("max", true),
        }
    }
}

/// Which of several values is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extremum {
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// `i`, `i, j`, `i != j`, `j != i`, `v, w in 0..<W`: what stands between a quantifier and its colon.
#[derive(Clone, Debug, PartialEq)]
pub struct Binders {
    /// The names, at least one. The first is bound; each further one is bound unless `distinct` and it names something
    /// in scope already.
    pub names: Vec<Ident>,
    /// Whether they were joined by `!=`: then all have different values.
    pub distinct: bool,
    /// The expressions after a `!=` that are no plain names, as in `k != 0` and `k != turn[1]`: the names that are
    /// bound have other values than these.
    pub other_than: Vec<Expr>,
    /// What the names range over; without it, the program's one process family.
    pub domain: Option<Domain>,
    /// From the first name to the end of the domain.
    pub span: Span,
}

/// What bound variables range over.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// `in 0..<N`
    Range(Range),
    /// `in P`: the indices of a process family; or the elements of a set variable of that name.
    Family(Ident),
    /// `in P[i].seen`: the elements of a set.
    Set(Box<Expr>),
}

impl UnaryOp {
    /// Whether the operator speaks of other points of the run.
    pub fn is_temporal(self) -> bool {
        matches!(self, UnaryOp::Always | UnaryOp::Eventually | UnaryOp::Next)
    }
}

impl BinaryOp {
    /// Whether the operator speaks of other points of the run.
    pub fn is_temporal(self) -> bool {
        use BinaryOp::*;
        matches!(self, LeadsTo | Until | WeakUntil | Releases | StrongReleases)
    }
}

impl Expr {
    /// Calls `visit` with each expression directly below this one, in the order of the text.
    pub fn for_each_child<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::None | ExprKind::Name(_) | ExprKind::Star => {}
            ExprKind::Index { base, index } => [base, index].into_iter().for_each(|e| visit(e)),
            ExprKind::Field { base, .. } => visit(base),
            ExprKind::At { process, .. } => process.iter().for_each(|e| visit(e)),
            ExprKind::Unary { operand, .. } | ExprKind::AsPid { operand, .. } => visit(operand),
            ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| visit(e)),
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|e| visit(e));
            }
            ExprKind::Quantified { binders, body, .. } => {
                binders.other_than.iter().for_each(&mut visit);
                match &binders.domain {
                    Some(Domain::Range(range)) => [&range.low, &range.high].into_iter().for_each(&mut visit),
                    Some(Domain::Set(set)) => visit(set),
                    Some(Domain::Family(_)) | None => {}
                }
                visit(body);
            }
            ExprKind::Extremum { operands: parts, .. }
            | ExprKind::Apply { arguments: parts, .. }
            | ExprKind::Array(parts)
            | ExprKind::Set(parts) => parts.iter().for_each(visit),
            ExprKind::ByIndex { value, .. } => visit(value),
            ExprKind::Record { fields, .. } => fields.iter().for_each(|field| visit(&field.value)),
            ExprKind::In { element, members } => {
                visit(element);
                match members {
                    Members::Set(set) => visit(set),
                    Members::Range(range) => [&range.low, &range.high].into_iter().for_each(visit),
                }
            }
            ExprKind::Repeat { value, length } => [value, length].into_iter().for_each(|e| visit(e)),
        }
    }

    /// Whether a temporal operator stands in it. What a definition stands for is not looked at.
    pub fn is_temporal(&self) -> bool {
        let here = match &self.kind {
            ExprKind::Unary { op, .. } => op.is_temporal(),
            ExprKind::Binary { op, .. } => op.is_temporal(),
            _ => false,
        };
        let mut found = here;
        self.for_each_child(|child| found = found || child.is_temporal());
        found
    }
}
