//! A program with names looked up: variables as leaves, expressions over them, bodies as trees of operations.
//!
//! This is what `resolve.rs` makes of the syntax tree, and what `graph.rs` and the elaboration work on. A **leaf** is one variable of a basic
//! type: a `typedef` is taken apart, and a leaf has all the dimensions on the way to it, so that `s[1].f[2]` is the leaf `s.f` with indices
//! 1 and 2.

use base::Span;

use super::ast::{Basic, BinaryOp, MtypeKind, Query};

/// Names a leaf, in [`Program::leaves`].
pub(super) type LeafId = usize;
/// Names a proctype, in [`Program::proctypes`].
pub(super) type ProctypeId = usize;

/// The priority of a process for which the text gives none.
pub(super) const DEFAULT_PRIORITY: i64 = 1;

/// A whole program.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub leaves: Vec<Leaf>,
    pub proctypes: Vec<Proctype>,
    pub mtypes: Vec<MessageName>,
    pub claims: Vec<Claim>,
    pub trace: Option<Trace>,
    /// Where `pc_value` stands first.
    pub asks_state_numbers: Option<Span>,
}

/// The order of sends and receives that a program says: all runs have it (`trace`), or none (`notrace`).
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// Its basic statements are [`Op::Event`]s.
    pub body: Vec<Stmt>,
    pub is_negated: bool,
    pub span: Span,
}

/// A name of a message.
#[derive(Clone, Debug)]
pub(super) struct MessageName {
    pub kind: MtypeKind,
    pub name: String,
    pub value: i64,
}

/// One variable of a basic type, or an array of such.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub name: String,
    pub ty: Basic,
    /// The lengths of the arrays on the way to it, outermost first.
    pub dims: Vec<usize>,
    /// Whether it is declared as an array itself; its length is then the last of `dims`.
    pub is_array: bool,
    /// The proctype that it is a variable of; `None` for a global one.
    pub owner: Option<ProctypeId>,
    pub init: Start,
    pub is_parameter: bool,
    pub span: Span,
}

impl Leaf {
    /// How many elements it has.
    pub fn n_elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// The numbers that it can hold: arrays of `bit` and `bool` have eight bits for each element. In an array of structures such a field has one.
    pub fn bounds(&self) -> (i64, i64) {
        match self.ty {
            Basic::Bit | Basic::Bool if self.is_array => (0, 255),
            ty => bounds(ty),
        }
    }
}

/// The numbers that a field of a message holds: a single field has eight bits at least.
pub(super) fn field_bounds(fields: &[Basic], at: usize) -> (i64, i64) {
    match fields {
        [Basic::Bit | Basic::Bool] => (0, 255),
        _ => fields.get(at).map_or((0, 0), |&ty| bounds(ty)),
    }
}

/// The numbers that a type has outside arrays.
pub(super) fn bounds(ty: Basic) -> (i64, i64) {
    match ty {
        Basic::Bit | Basic::Bool => (0, 1),
        Basic::Byte | Basic::Pid | Basic::Mtype(_) | Basic::Chan => (0, 255),
        Basic::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Basic::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Basic::Unsigned(width) => (0, (1 << width) - 1),
    }
}

/// What a leaf starts with.
#[derive(Clone, Debug)]
pub(super) enum Start {
    Zero,
    /// Every element with this.
    Value(Expr),
    /// The elements in order; those that are not given are 0.
    List(Vec<Expr>),
    /// Each element with a new channel.
    Channel {
        capacity: usize,
        fields: Vec<Basic>,
    },
}

/// A proctype, or `init`.
#[derive(Clone, Debug)]
pub(super) struct Proctype {
    pub name: String,
    pub is_init: bool,
    /// Whether it is an error that more than one of its statements can be executed.
    pub is_deterministic: bool,
    /// How many exist at the start.
    pub n_active: usize,
    /// The leaves of its parameters, in order.
    pub parameters: Vec<LeafId>,
    /// All its leaves, in the order in which they are declared.
    pub leaves: Vec<LeafId>,
    /// The priority of those that exist at the start.
    pub priority: i64,
    pub provided: Option<Expr>,
    pub body: Vec<Stmt>,
    /// The number of the end of the text.
    pub end_number: usize,
    pub span: Span,
}

/// A question besides asserts and end states.
#[derive(Clone, Debug)]
pub(super) enum Claim {
    Ltl { name: String, formula: Formula, span: Span },
    Never { name: String, body: Vec<Stmt>, span: Span },
}

/// A formula.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Now(Expr),
    Not(Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Binary(super::ast::TemporalOp, Box<Formula>, Box<Formula>),
}

/// A leaf, or an element of it.
#[derive(Clone, Debug)]
pub(super) struct Ref {
    pub leaf: LeafId,
    pub indices: Vec<Expr>,
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Const(i64),
    Read(Ref),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Query(Query, Ref),
    Poll {
        channel: Ref,
        is_random: bool,
        patterns: Vec<Pattern>,
    },
    Timeout,
    NonProgress,
    NrPr,
    /// The pid of who moved last.
    Last,
    Pid,
    /// The pid of the process that the statement starts.
    Started,
    /// Whether the process with this pid has an executable statement.
    Enabled(Box<Expr>),
    /// The number that SPIN gives to the place where the process with this pid is.
    StateNumber(Box<Expr>),
    /// The priority of the process with this pid, or of the one that asks.
    Priority(Option<Box<Expr>>),
    At {
        proctype: ProctypeId,
        pid: Option<Box<Expr>>,
        label: String,
    },
    Remote {
        proctype: ProctypeId,
        pid: Option<Box<Expr>>,
        variable: Ref,
    },
}

/// What a receive does with one field of a message.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Store(Ref),
    Match(Expr),
    Ignore,
}

/// A statement with its labels.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub labels: Vec<String>,
    pub kind: StmtKind,
    pub span: Span,
    pub text: String,
    /// Its first number among those that SPIN gives to what stands in its body; 0 until they are counted (`numbers.rs`).
    pub number: usize,
}

impl Stmt {
    /// A statement without labels.
    pub fn new(kind: StmtKind, span: Span, text: impl Into<String>) -> Stmt {
        Stmt { labels: Vec::new(), kind, span, text: text.into(), number: 0 }
    }
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Op(Op),
    Else,
    Goto(String),
    Break,
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    Block(Vec<Stmt>),
    Unless(Vec<Stmt>, Vec<Stmt>),
}

/// What is stored when a process is started: its pid, or an expression in which that stands as [`ExprKind::Started`].
#[derive(Clone, Debug)]
pub(super) struct RunResult {
    pub target: Ref,
    pub value: Expr,
}

/// What one step does.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Skip,
    /// A text that is printed.
    Print,
    /// Waits until it is not 0.
    Guard(Expr),
    /// All values are computed before the first one is stored.
    Assign(Vec<(Ref, Expr)>),
    Assert(Expr),
    Run {
        proctype: ProctypeId,
        arguments: Vec<Expr>,
        result: Option<Box<RunResult>>,
        priority: i64,
    },
    /// Gives the process with this pid, or the one that moves, another priority.
    SetPriority {
        pid: Option<Box<Expr>>,
        value: Box<Expr>,
    },
    Send {
        channel: Ref,
        is_sorted: bool,
        values: Vec<Expr>,
    },
    Receive {
        channel: Ref,
        is_random: bool,
        is_copy: bool,
        patterns: Vec<Pattern>,
    },
    /// A send or receive in a trace; no process does this.
    Event {
        is_send: bool,
        channel: Ref,
        patterns: Vec<Pattern>,
    },
}

impl Expr {
    /// A number.
    pub fn number(value: i64, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), span }
    }

    /// Calls `visit` for it and all its parts.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        let walk_ref = |one: &Ref, visit: &mut _| one.indices.iter().for_each(|index| index.walk(visit));
        match &self.kind {
            ExprKind::Read(one) | ExprKind::Query(_, one) => walk_ref(one, visit),
            ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::Complement(inner) => inner.walk(visit),
            ExprKind::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| part.walk(visit)),
            ExprKind::Poll { channel, patterns, .. } => {
                walk_ref(channel, visit);
                patterns.iter().for_each(|pattern| pattern.walk(visit));
            }
            ExprKind::At { pid, .. } | ExprKind::Priority(pid) => pid.iter().for_each(|pid| pid.walk(visit)),
            ExprKind::Enabled(pid) | ExprKind::StateNumber(pid) => pid.walk(visit),
            ExprKind::Remote { pid, variable, .. } => {
                pid.iter().for_each(|pid| pid.walk(visit));
                walk_ref(variable, visit);
            }
            ExprKind::Const(_)
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::NrPr
            | ExprKind::Last
            | ExprKind::Pid
            | ExprKind::Started => {}
        }
    }

    /// The same where the process that the statement starts gets this pid.
    pub fn with_started(&self, pid: i64) -> Expr {
        let again = |inner: &Expr| Box::new(inner.with_started(pid));
        let kind = match &self.kind {
            ExprKind::Started => ExprKind::Const(pid),
            ExprKind::Read(one) => {
                let indices = one.indices.iter().map(|index| index.with_started(pid)).collect();
                ExprKind::Read(Ref { indices, ..one.clone() })
            }
            ExprKind::Not(inner) => ExprKind::Not(again(inner)),
            ExprKind::Negate(inner) => ExprKind::Negate(again(inner)),
            ExprKind::Complement(inner) => ExprKind::Complement(again(inner)),
            ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, again(left), again(right)),
            ExprKind::If(test, yes, no) => ExprKind::If(again(test), again(yes), again(no)),
            other => other.clone(),
        };
        Expr { kind, span: self.span }
    }
}

impl Pattern {
    fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        match self {
            Pattern::Store(one) => one.indices.iter().for_each(|index| index.walk(visit)),
            Pattern::Match(expr) => expr.walk(visit),
            Pattern::Ignore => {}
        }
    }
}

impl Op {
    /// Calls `visit` for all expressions and their parts.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        let walk_ref = |one: &Ref, visit: &mut _| one.indices.iter().for_each(|index| index.walk(visit));
        match self {
            Op::Skip | Op::Print => {}
            Op::Guard(expr) | Op::Assert(expr) => expr.walk(visit),
            Op::SetPriority { pid, value } => {
                pid.iter().for_each(|pid| pid.walk(visit));
                value.walk(visit);
            }
            Op::Assign(pairs) => pairs.iter().for_each(|(target, value)| {
                walk_ref(target, visit);
                value.walk(visit);
            }),
            Op::Run { arguments, result, .. } => {
                arguments.iter().for_each(|argument| argument.walk(visit));
                if let Some(result) = result {
                    walk_ref(&result.target, visit);
                    result.value.walk(visit);
                }
            }
            Op::Send { channel, values, .. } => {
                walk_ref(channel, visit);
                values.iter().for_each(|value| value.walk(visit));
            }
            Op::Receive { channel, patterns, .. } | Op::Event { channel, patterns, .. } => {
                walk_ref(channel, visit);
                patterns.iter().for_each(|pattern| pattern.walk(visit));
            }
        }
    }
}

impl Formula {
    /// Calls `visit` for all its expressions.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        match self {
            Formula::Now(expr) => expr.walk(visit),
            Formula::Not(inner) | Formula::Next(inner) | Formula::Always(inner) | Formula::Eventually(inner) => {
                inner.walk(visit);
            }
            Formula::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
        }
    }

    /// Whether `X` stands in it.
    pub fn has_next(&self) -> bool {
        match self {
            Formula::Now(_) => false,
            Formula::Next(_) => true,
            Formula::Not(inner) | Formula::Always(inner) | Formula::Eventually(inner) => inner.has_next(),
            Formula::Binary(_, left, right) => left.has_next() || right.has_next(),
        }
    }
}
