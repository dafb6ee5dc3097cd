//! Expressions without side effects, as the checker leaves them: names resolved, conversions explicit.
//!
//! Quantifiers are kept, not unrolled, so that a symmetric program stays recognisable. An expression
//! of a process's text is evaluated *for* a process (`Myself`); one of a property is evaluated for none and names
//! processes by `Whose::Of`.

use std::hash::{Hash, Hasher};

use base::Span;

use crate::control::PlaceId;
use crate::machine::MachineOp;
use crate::process::FamilyId;
use crate::size::ParameterId;
use crate::types::EnumId;
use crate::value::Value;
use crate::variable::VarId;

/// An expression and its place in the text. Two expressions are equal if they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its span in the text.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl Expr {
    /// Whether evaluating the expression can be a fault: it divides, computes with large numbers, indexes, or converts.
    pub fn can_fault(&self) -> bool {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
            ExprKind::Read(access) => {
                !access.indices.is_empty() || matches!(&access.whose, Whose::Of(who) if who.may_be_nobody())
            }
            ExprKind::At { who, .. } => who.may_be_nobody(),
            ExprKind::Not(inner) => inner.can_fault(),
            ExprKind::ToProcess(_, inner) => !matches!(inner.kind, ExprKind::Bound(_) | ExprKind::Const(_)),
            ExprKind::IndexOf(inner) => !matches!(inner.kind, ExprKind::Bound(_) | ExprKind::Myself),
            ExprKind::Negate(_) => true,
            ExprKind::Binary(op, a, b) => op.computes() || a.can_fault() || b.can_fault(),
            ExprKind::If(test, yes, no) => test.can_fault() || yes.can_fault() || no.can_fault(),
            ExprKind::Quantified(inner) => {
                let faulty_domain = |binding: &Binding| match &binding.domain {
                    Domain::Range(lo, hi) => lo.can_fault() || hi.can_fault(),
                    Domain::Family(_) | Domain::Enum(_) => false,
                };
                inner.bindings.iter().any(faulty_domain)
                    || inner.body.can_fault()
                    || inner.filter.as_ref().is_some_and(Expr::can_fault)
            }
        }
    }

    /// Whether an expression that should yield a process can be a fault, or yield `none`.
    fn may_be_nobody(&self) -> bool {
        !matches!(self.kind, ExprKind::Const(Value::Process(_)) | ExprKind::Bound(_) | ExprKind::Myself)
    }
}

/// Names a variable bound by a quantifier or by a `for` inside `atomic`: its depth among the enclosing binders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundVar(pub u32);

/// The shapes of expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A constant.
    Const(Value),
    /// The value of a parameter of the program. Only in templates: an instance has constants instead.
    Parameter(ParameterId),
    /// The process that evaluates (the `i` of `process P[i in …]`).
    Myself,
    /// A bound variable.
    Bound(BoundVar),
    /// The content of a cell; of a lock, its owner or `none`.
    Read(Access),
    /// Whether the top frame of a process is at one of the places.
    At {
        /// The process: an expression that yields `Value::Process`.
        who: Box<Expr>,
        /// The places that carry the label or labels.
        places: Vec<PlaceId>,
        /// The labels, as the user wrote them.
        labels: Vec<String>,
    },
    /// `!e`.
    Not(Box<Expr>),
    /// `-e`.
    Negate(Box<Expr>),
    /// A binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `forall`, `exists`, `count`.
    Quantified(Box<Quantified>),
    /// A process's index as a number; of `none`, a fault.
    IndexOf(Box<Expr>),
    /// A number or process as a process of the family; a fault where it is none of them. `none` stays `none`.
    ToProcess(FamilyId, Box<Expr>),
}

/// Binary operators. `And`, `Or`, `Implies` do not evaluate their right side where the left decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `=>`
    Implies,
    /// `<=>`
    Iff,
    /// `==` on values of one kind.
    Equal,
    /// `!=` on values of one kind.
    NotEqual,
    /// `<` on numbers.
    Less,
    /// `<=` on numbers.
    LessEqual,
    /// `>` on numbers.
    Greater,
    /// `>=` on numbers.
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, Euclidean.
    Divide,
    /// `%`, Euclidean.
    Remainder,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// An operator as C computes it, for languages that have those.
    Machine(MachineOp),
}

impl BinaryOp {
    /// Whether it computes a number that may not fit, or may not exist; the others have a value wherever both sides have one.
    pub fn computes(self) -> bool {
        use BinaryOp::{Add, Divide, Machine, Multiply, Remainder, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Remainder | Machine(_))
    }

    /// The comparison with the same truth when its sides are swapped; anything else as it is.
    pub fn mirrored(self) -> BinaryOp {
        match self {
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            other => other,
        }
    }
}

/// What a quantifier makes of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// All instances hold.
    Forall,
    /// Some instance holds.
    Exists,
    /// How many instances hold.
    Count,
}

/// A quantified expression: the bindings nest, the first outermost; instances that fail the filter are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantified {
    /// What is asked.
    pub quantifier: Quantifier,
    /// The bound variables.
    pub bindings: Vec<Binding>,
    /// `i != j` and the like.
    pub filter: Option<Expr>,
    /// The body.
    pub body: Expr,
}

/// A bound variable and what it ranges over. Its name does not matter to the meaning.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The variable.
    pub var: BoundVar,
    /// Its name in the text.
    pub name: String,
    /// Its values.
    pub domain: Domain,
}

impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        (self.var, &self.domain) == (other.var, &other.domain)
    }
}

impl Eq for Binding {}

impl Hash for Binding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.var, &self.domain).hash(state);
    }
}

/// What a bound variable or a loop counter ranges over, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// The processes of a family. Also used for a written range that is the family's own (`0..<N`).
    Family(FamilyId),
    /// The numbers from the first to the second, both included; constant in each process, loop copy and instance.
    Range(Box<Expr>, Box<Expr>),
    /// The values of an enumeration.
    Enum(EnumId),
}

/// Whose copy of a variable is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// The shared variable.
    Shared,
    /// The copy of the process that evaluates.
    Mine,
    /// The copy in the top frame of the process that evaluates.
    Frame,
    /// The copy of the process that the expression yields.
    Of(Box<Expr>),
}

/// A scalar part of a variable: `level[i]`, `P[k].x`, `m`.
#[derive(Clone, Debug)]
pub struct Access {
    /// The variable.
    pub var: VarId,
    /// Whose copy.
    pub whose: Whose,
    /// One number for each dimension.
    pub indices: Vec<Expr>,
    /// Its span in the text.
    pub span: Span,
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        (self.var, &self.whose, &self.indices) == (other.var, &other.whose, &other.indices)
    }
}

impl Eq for Access {}

impl Hash for Access {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.var, &self.whose, &self.indices).hash(state);
    }
}
