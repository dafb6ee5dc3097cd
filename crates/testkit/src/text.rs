//! Statements of a draft, before they become places and actions.

use base::Span;
use model::control::{ActionKind, ChannelId, LoopId, ProcedureId, ReceivePattern, Stmt, StmtKind, Sync, SyncSide};
use model::expr::{Access, Expr};

/// A statement of a process or procedure.
#[derive(Clone, Debug)]
pub enum TextStatement {
    /// One step.
    Step(Box<StepText>),
    /// `if e { } else { }`, the test a step of its own.
    If(Option<String>, Expr, Vec<TextStatement>, Vec<TextStatement>),
    /// `while e { }`
    While(Option<String>, Expr, Vec<TextStatement>),
    /// `either { } or { }`; each branch begins with a step.
    Either(Vec<Vec<TextStatement>>),
    /// `loop { }`; it begins with a step.
    Loop(Vec<TextStatement>),
    /// `for k in … { }`, the counter declared by [`Draft::counter`](crate::Draft::counter).
    For(LoopId, Vec<TextStatement>),
    /// `break;` out of the innermost `while`, `loop` or `for`.
    Break,
    /// `continue;` with the innermost `while`, `loop` or `for`.
    Continue,
}

/// One step, with the parts of its action.
#[derive(Clone, Debug)]
pub struct StepText {
    /// The label of the place before it.
    pub label: Option<String>,
    /// `await e` as a guard.
    pub guard: Option<Expr>,
    /// Its side of a rendezvous.
    pub sync: Option<Sync>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// What kind of step it is.
    pub kind: ActionKind,
}

impl TextStatement {
    /// Puts a label before the statement.
    pub fn label(mut self, name: &str) -> TextStatement {
        match &mut self {
            TextStatement::Step(step) => step.label = Some(name.to_string()),
            TextStatement::If(label, ..) | TextStatement::While(label, ..) => *label = Some(name.to_string()),
            _ => panic!("a draft labels steps and tests only"),
        }
        self
    }

    /// Gives the step a guard.
    pub fn when(mut self, guard: Expr) -> TextStatement {
        match &mut self {
            TextStatement::Step(step) => step.guard = Some(guard),
            _ => panic!("a draft guards steps only"),
        }
        self
    }
}

fn step(body: Vec<Stmt>, kind: ActionKind) -> TextStatement {
    TextStatement::Step(Box::new(StepText { label: None, guard: None, sync: None, body, kind }))
}

/// `skip;`
pub fn skip() -> TextStatement {
    step(Vec::new(), ActionKind::Plain)
}

/// `idle;`
pub fn idle() -> TextStatement {
    step(Vec::new(), ActionKind::Idle)
}

/// `await e;`
pub fn wait(test: Expr) -> TextStatement {
    skip().when(test)
}

/// One statement as a step of its own, or several as `atomic`.
pub fn atomic(body: Vec<Stmt>) -> TextStatement {
    step(body, ActionKind::Plain)
}

/// `x = e;`
pub fn assign(target: Access, value: Expr) -> TextStatement {
    atomic(vec![set(target, value)])
}

/// `call f(e, …);`, `x = call f(e, …);`
pub fn call(procedure: ProcedureId, arguments: Vec<Expr>, result: Option<Access>) -> TextStatement {
    step(Vec::new(), ActionKind::Call { procedure, arguments, result, entry: None, site: None })
}

/// `return;`, `return e;`
pub fn give(value: Option<Expr>) -> TextStatement {
    step(Vec::new(), ActionKind::Return { value })
}

/// Sends values on a channel.
pub fn send(channel: ChannelId, values: Vec<Expr>, body: Vec<Stmt>) -> TextStatement {
    synced(Sync { channel, side: SyncSide::Send(values) }, body)
}

/// Receives values on a channel.
pub fn receive(channel: ChannelId, targets: Vec<Access>, body: Vec<Stmt>) -> TextStatement {
    synced(Sync { channel, side: SyncSide::Receive(targets.into_iter().map(ReceivePattern::Into).collect()) }, body)
}

fn synced(sync: Sync, body: Vec<Stmt>) -> TextStatement {
    TextStatement::Step(Box::new(StepText {
        label: None,
        guard: None,
        sync: Some(sync),
        body,
        kind: ActionKind::Plain,
    }))
}

/// A statement within a step.
pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default() }
}

/// `x = e;` within a step.
pub fn set(target: Access, value: Expr) -> Stmt {
    stmt(StmtKind::Assign(vec![(target, value)]))
}
