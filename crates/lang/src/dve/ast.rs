//! The syntax tree of a `.dve` file, as written: names not looked up, constants not computed.

use base::Span;
use model::machine::MachineOp;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub variables: Vec<Variable>,
    pub channels: Vec<Channel>,
    pub processes: Vec<Process>,
    /// The `system` line; one is demanded.
    pub system: Option<System>,
}

/// `system async property P;`
#[derive(Clone, Debug)]
pub(super) struct System {
    pub is_async: bool,
    pub property: Option<Name>,
    pub span: Span,
}

/// The types of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

/// `const byte a[3] = {1, 2};`, one name of it.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub is_const: bool,
    pub ty: Type,
    pub name: Name,
    /// The length of an array.
    pub size: Option<Expr>,
    pub init: Option<Init>,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub(super) enum Init {
    Value(Expr),
    List(Vec<Expr>, Span),
}

/// `channel c;` or `channel {byte, int} c[2];`, one name of it.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub name: Name,
    /// The types of the values and the length of the buffer; `None` for an untyped channel.
    pub typed: Option<(Vec<Type>, Expr)>,
}

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub name: Name,
    pub variables: Vec<Variable>,
    pub locations: Vec<Name>,
    /// The `init` lines; one is demanded.
    pub initial: Vec<Name>,
    pub committed: Vec<Name>,
    pub accepting: Vec<Name>,
    pub asserts: Vec<Assert>,
    pub transitions: Vec<Transition>,
    /// Its name and all that follows.
    pub span: Span,
}

/// `assert l: e`, one of the list.
#[derive(Clone, Debug)]
pub(super) struct Assert {
    pub location: Name,
    pub condition: Expr,
    pub span: Span,
}

/// A transition.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub source: Name,
    pub target: Name,
    /// All of them hold.
    pub guards: Vec<Expr>,
    pub sync: Option<Sync>,
    pub effects: Vec<Assignment>,
    pub span: Span,
}

/// `sync c!e` or `sync c?x`.
#[derive(Clone, Debug)]
pub(super) struct Sync {
    pub channel: Name,
    pub side: Side,
    pub span: Span,
}

/// What is done with a channel.
#[derive(Clone, Debug)]
pub(super) enum Side {
    Send(Vec<Expr>),
    Receive(Vec<Target>),
}

/// `x = e`.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub target: Target,
    pub value: Expr,
    pub span: Span,
}

/// What can be assigned: `x` or `a[e]`.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub name: Name,
    pub index: Option<Expr>,
    pub span: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// How high its tree is.
    pub height: usize,
}

/// The shapes of expressions.
#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Number(i64),
    Truth(bool),
    /// `x`, `a[e]`, `P->x`, `P->a[e]`.
    Read {
        owner: Option<Name>,
        name: Name,
        index: Option<Box<Expr>>,
    },
    /// `P.l`.
    At {
        process: Name,
        location: Name,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOp {
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `not`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Imply,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Machine(MachineOp),
}
