//! The syntax tree of a Promela program, as it is written.
//!
//! `for`, `select`, `x++` and calls of `inline`s are written out by the parser; everything else is here as it stands in the text. Spans
//! are places in the [`SourceMap`](super::sources::SourceMap).

use base::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    pub span: Span,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub units: Vec<Unit>,
}

/// One part of a program at the top level.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    /// `mtype = { a, b }` or `mtype:kind = { a, b }`.
    Mtype {
        kind: MtypeKind,
        names: Vec<Name>,
    },
    Typedef {
        name: Name,
        fields: Vec<Declaration>,
    },
    Global(Declaration),
    Proctype(Proctype),
    Ltl(Ltl),
    /// `trace { … }`, or `notrace { … }`.
    Trace {
        body: Vec<Stmt>,
        is_negated: bool,
        span: Span,
    },
    Never {
        body: Vec<Stmt>,
        span: Span,
        name: Option<Name>,
    },
}

/// A `proctype`, or `init`.
#[derive(Clone, Debug)]
pub(super) struct Proctype {
    pub name: Name,
    /// How many instances exist at the start: `active [n]`.
    pub active: Option<Option<Expr>>,
    pub is_init: bool,
    /// `D_proctype`: of its statements never more than one can be executed.
    pub is_deterministic: bool,
    pub parameters: Vec<Declaration>,
    /// `priority n`.
    pub priority: Option<i64>,
    pub provided: Option<Expr>,
    /// Names that mean global variables here also where a local one is declared: SPIN takes a global's name that is the name of a parameter of an
    /// inline behind it so.
    pub global_names: Vec<String>,
    pub body: Vec<Stmt>,
}

/// An `ltl` block.
#[derive(Clone, Debug)]
pub(super) struct Ltl {
    pub name: Option<Name>,
    pub formula: Formula,
    pub span: Span,
}

/// A formula of an `ltl` block.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub kind: FormulaKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum FormulaKind {
    Now(Expr),
    Not(Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Binary(TemporalOp, Box<Formula>, Box<Formula>),
}

/// A binary operator of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemporalOp {
    And,
    Or,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Basic(Basic),
    /// A `typedef`, by its name.
    Named(Name),
}

/// Numbers the kinds of names of messages; 0 is that without a name.
pub(super) type MtypeKind = u16;

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Basic {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// A name of a message, of a kind: those of `mtype` itself are the first, `mtype:kind` others.
    Mtype(MtypeKind),
    Chan,
    /// `unsigned x : n`.
    Unsigned(u8),
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub ty: Type,
    pub name: Name,
    /// The length of an array.
    pub len: Option<Expr>,
    pub init: Option<Init>,
    pub is_hidden: bool,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub(super) enum Init {
    Value(Expr),
    List(Vec<Expr>),
    /// `[capacity] of { types }`.
    Channel {
        capacity: Expr,
        fields: Vec<Type>,
        span: Span,
    },
}

/// A variable, an element or a part of one: `x`, `a[i]`, `s.f[2].g`.
#[derive(Clone, Debug)]
pub(super) struct VarRef {
    pub parts: Vec<Part>,
    pub span: Span,
}

/// One name of a [`VarRef`].
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: Name,
    pub index: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Number(i64),
    Var(VarRef),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(…)`, with the `priority` behind it.
    Run(Name, Vec<Expr>, Option<i64>),
    /// `len(q)`, `full(q)` and their family.
    Query(Query, VarRef),
    /// `q?[…]`.
    Poll {
        channel: VarRef,
        is_random: bool,
        arguments: Vec<Argument>,
    },
    Timeout,
    NonProgress,
    NrPr,
    /// `_last`.
    Last,
    Pid,
    /// `enabled(e)`.
    Enabled(Box<Expr>),
    /// `pc_value(e)`.
    StateNumber(Box<Expr>),
    /// `get_priority(e)`, or `_priority`.
    Priority(Option<Box<Expr>>),
    /// `P@l`, `P[e]@l`.
    At {
        process: Name,
        pid: Option<Box<Expr>>,
        label: Name,
    },
    /// `P:x`, `P[e]:x`.
    Remote {
        process: Name,
        pid: Option<Box<Expr>>,
        variable: VarRef,
    },
}

/// A question about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    Len,
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

/// A binary operator of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An argument of a receive.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// A variable that takes the value.
    Store(VarRef),
    /// `eval(e)` or a constant: the value must be equal.
    Match(Expr),
    /// `_`.
    Ignore,
}

/// A statement with the labels before it.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub labels: Vec<Name>,
    pub kind: StmtKind,
    pub span: Span,
    /// As it is shown, on one line.
    pub text: String,
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Declare(Vec<Declaration>),
    Expr(Expr),
    Else,
    Assign(VarRef, Expr),
    /// A text to print: no effect.
    Print,
    Assert(Expr),
    /// `set_priority(p, e)`, or `_priority = e`.
    SetPriority(Option<Expr>, Expr),
    Goto(Name),
    Break,
    Send {
        channel: VarRef,
        is_sorted: bool,
        values: Vec<Expr>,
    },
    Receive {
        channel: VarRef,
        is_random: bool,
        is_copy: bool,
        arguments: Vec<Argument>,
    },
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    Block(Vec<Stmt>),
    Unless(Vec<Stmt>, Vec<Stmt>),
    /// `for (i in a)`: the variable, the array or channel, the body.
    ForIn {
        variable: VarRef,
        container: VarRef,
        body: Vec<Stmt>,
    },
}
