//! Statements and blocks.

use super::{Assigned, Domain, Expr, Ident, Range};
use base::Span;

/// `{ … }`: statements one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements, in the order of the text.
    pub statements: Vec<Statement>,
    /// Braces included; for an `else` that is missing, the empty span after the `if`.
    pub span: Span,
}

/// A statement with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The labels in front of it; nearly always none or one.
    pub labels: Vec<Ident>,
    /// Whether `end` stands before its label: who waits there for ever is not stuck.
    pub may_end: bool,
    /// What it does.
    pub kind: StatementKind,
    /// The statement from its first word, labels not included, to its semicolon or closing brace.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `skip;`
    Skip,
    /// `idle;`
    Idle,
    /// `x = e;`, `a, b = e1, e2;`, `x = any;`: as many targets as values, at least one.
    Assign {
        /// What is written: names, elements, fields, in any depth. Whether they are variables the checker finds out.
        targets: Vec<Expr>,
        /// What is stored in each.
        values: Vec<Assigned>,
    },
    /// `await e;`
    Await(Expr),
    /// `assert e;`
    Assert(Expr),
    /// `acquire m;`
    Acquire(Expr),
    /// `release m;`
    Release(Expr),
    /// `call f(e, …);` and `x = call f(e, …);`
    Call {
        /// Where the result goes.
        target: Option<Expr>,
        /// The procedure.
        procedure: Ident,
        /// The arguments.
        arguments: Vec<Expr>,
    },
    /// `return;` and `return e;`
    Return(Option<Expr>),
    /// `goto label;`
    Goto(Ident),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `if e { … } else { … }`. An `else if` is an `else` block with that one statement.
    If {
        /// The test.
        condition: Expr,
        /// What happens where it holds.
        then: Block,
        /// What happens where it does not hold.
        otherwise: Option<Block>,
    },
    /// `either { … } or { … }` and `if * { … } else { … }`: a free choice; at least two branches (a missing `else` of
    /// `if *` is an empty one).
    Either {
        /// The branches, in the order of the text.
        branches: Vec<Block>,
    },
    /// `while e { … }`
    While {
        /// The test.
        condition: Expr,
        /// What is repeated.
        body: Block,
    },
    /// `loop { … }`; never empty
    Loop(Block),
    /// `for k in 0..<N { … }`
    For {
        /// The constant that counts.
        variable: Ident,
        /// Its values.
        range: Range,
        /// What is repeated.
        body: Block,
    },
    /// `for k in P { … }`, `for k in s { … }`: for each process of a family, or each element of a set.
    ForEach {
        /// The constant that counts.
        variable: Ident,
        /// A family or a set.
        domain: Domain,
        /// What is repeated.
        body: Block,
    },
    /// `atomic { … }`
    Atomic(Block),
    /// `either { … } or { … } else { … }`: the last branch where no other one can begin.
    Guarded {
        /// The branches, in the order of the text.
        branches: Vec<Block>,
        /// What happens where none of them can begin.
        otherwise: Block,
        /// Where the word `else` stands.
        word: Span,
    },
    /// `some k in R where e { … }`: one step for each value that fits.
    Choose {
        /// The chosen value.
        variable: Ident,
        /// What it is chosen from.
        domain: Domain,
        /// Which values fit.
        condition: Option<Expr>,
        /// What happens, in one step.
        body: Block,
    },
    /// `let x = e;` inside `atomic`.
    Let {
        /// The name.
        name: Ident,
        /// What it stands for to the end of the block.
        value: Expr,
    },
    /// `send c(e, …);`
    Send {
        /// The channel.
        channel: Expr,
        /// The parts of the message.
        values: Vec<Expr>,
    },
    /// `receive c(x, = e, _);` and `peek c(…);`
    Receive {
        /// The channel.
        channel: Expr,
        /// What becomes of each part.
        patterns: Vec<Pattern>,
        /// Whether the message stays in the channel.
        keeps: bool,
    },
    /// `insert s(e);` and `remove s(e);`
    Change {
        /// The set.
        set: Expr,
        /// The element.
        element: Expr,
        /// Whether it is in the set afterwards.
        inserts: bool,
    },
}

/// What a receiver does with one part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `x`: stores it.
    Into(Expr),
    /// `= e`: takes the message only where the part is equal to this.
    Equal(Expr),
    /// `_`
    Ignored(Span),
    /// `Msg(= ask, from)`, `Msg(kind: = ask, from: who)`: a pattern for each field.
    Struct {
        /// The struct.
        name: Ident,
        /// What becomes of each field.
        fields: Vec<FieldPattern>,
        /// The whole pattern.
        span: Span,
    },
}

/// What a receiver does with one field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPattern {
    /// Which field, if that is written.
    pub name: Option<Ident>,
    /// What becomes of it.
    pub pattern: Pattern,
}

impl Pattern {
    /// Visits the expressions in it: where parts are stored (`true`), and what they are compared with (`false`).
    pub fn for_each_expr<'a>(&'a self, visit: &mut impl FnMut(&'a Expr, bool)) {
        match self {
            Pattern::Into(target) => visit(target, true),
            Pattern::Equal(value) => visit(value, false),
            Pattern::Ignored(_) => {}
            Pattern::Struct { fields, .. } => fields.iter().for_each(|field| field.pattern.for_each_expr(visit)),
        }
    }
}
